"""Makes dynamic_shapes.txt: what ONNX Runtime computes for the models of the test data whose inputs
have unknown dimensions, with three shapes each. Needs numpy and onnxruntime (made with 1.32.0).

    python dynamic_shapes.py FOLDER_WITH_CORPUS > dynamic_shapes.txt

Inputs follow from the formulas of `elements`, which are those of dynamic_shapes.rs. Of each output,
16 elements are written, spread evenly over it, and the sum of absolute values.
"""

import pathlib
import sys

import numpy as np
import onnxruntime as ort

CASES = {
    "onnx_f32_basic_pitch": [[("wave", (n, 43844, 1))] for n in (1, 2, 3)],
    "onnx_f32_magika": [[("bytes", (n, 2048))] for n in (1, 2, 5)],
    "onnx_f32_nsnet2": [[("wave", s)] for s in ((1, 1, 161), (1, 33, 161), (3, 7, 161))],
    "onnx_f32_ppocrv4_det": [[("bars", s)] for s in ((1, 3, 64, 96), (2, 3, 32, 64), (1, 3, 96, 32))],
    "onnx_f32_silero_vad": [
        [("wave", (n, 576)), ("wave", (2, n, 128)), ("rate", ())] for n in (1, 2, 3)
    ],
    "onnx_i8w_minilm_l6": [
        [("words", s), ("mask", s), ("zeros", s)] for s in ((1, 1), (1, 12), (3, 7))
    ],
}


def elements(kind, shape):
    n = int(np.prod(shape, dtype=np.int64))
    i = np.arange(n, dtype=np.uint64)
    # The high bits of a multiplicative hash: 0 to 65535.
    hashed = ((i * np.uint64(2654435761)) % np.uint64(1 << 32)) >> np.uint64(16)
    last = shape[-1] if shape else 1
    column = i % np.uint64(last)
    row = i // np.uint64(last)
    return {
        "wave": lambda: (hashed.astype(np.float32) / np.float32(65536) - np.float32(0.5)),
        "bytes": lambda: (hashed % np.uint64(256)).astype(np.int32),
        "bars": lambda: np.where(row % np.uint64(16) < 8, np.where(column % np.uint64(5) < 2, -1, 1), 1).astype(np.float32),
        "rate": lambda: np.full(n, 16000, np.int64),
        "words": lambda: (1000 + hashed % np.uint64(20000)).astype(np.int64),
        "mask": lambda: ((row == 0) | (column < 4)).astype(np.int64),
        "zeros": lambda: np.zeros(n, np.int64),
    }[kind]().reshape(shape)


def main():
    for model, cases in CASES.items():
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        path = pathlib.Path(sys.argv[1]) / "corpus" / model / "model.onnx"
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        for inputs in cases:
            print("model", model)
            for kind, shape in inputs:
                print("input", kind, *shape)
            names = [x.name for x in session.get_inputs()]
            feeds = {name: elements(*x) for name, x in zip(names, inputs)}
            for found in session.run(None, feeds):
                flat = found.ravel().astype(np.float64)
                at = [k * (flat.size - 1) // 15 for k in range(16)]
                print("output", *found.shape)
                print("sum", f"{np.abs(flat).sum():.9g}")
                print("samples", *(f"{flat[k]:.9g}" for k in at))


main()
