#!/usr/bin/env python3
"""The time of an inference on a backend, beside that of LiteRT's kernels.

    cargo xtask stage
    cargo build --release --package armnn-cli
    pip install ai-edge-litert numpy
    bench/litert.py --armnn target/release/armnn --backends target/staging/backends CASE...

A CASE is a folder with `model.tflite` and its inputs `in0*.npy`, `in1*.npy`, …; where `meta.json` says
`"steps"` above 1, the first axis of each input counts inferences on one state, and the first is run
again and again. A folder of such folders stands for all of them whose model is a TFLite file.

Both sides run on one thread, by turns, so that a machine that others use, or that changes its speed,
changes both. Each turn is long enough to be told from noise, and has a median; the ratio that is
printed is the median of the ratios of the turns, and the times are the medians of the turns' medians.
Without `ai_edge_litert` only the backend is timed.

`--kernels` says which of LiteRT's kernels: `reference` (the default), `builtin` (optimized, without
XNNPACK) or `default` (what its users get).
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    sys.exit("needs numpy")
try:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
except ImportError:
    Interpreter = None


def main():
    arguments = parse_arguments()
    print(f"| model | {arguments.compute} ms | LiteRT {arguments.kernels} ms | ratio |")
    print("|---|---|---|---|")
    for case in cases(arguments.case):
        try:
            print(measure(case, arguments), flush=True)
        except subprocess.CalledProcessError as error:
            print(f"| {case.name} | {error.stderr.strip().splitlines()[-1]} | | |")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--armnn", default="armnn", help="the command armnn")
    parser.add_argument("--backends", required=True, help="directory of backends")
    parser.add_argument("--compute", default="CpuRef", help="the backend")
    parser.add_argument(
        "--kernels", default="reference", choices=["reference", "builtin", "default"]
    )
    parser.add_argument("--turns", type=int, default=9, help="turns of each side")
    parser.add_argument("--turn-ms", type=float, default=200, help="length of a turn")
    parser.add_argument("case", nargs="+", type=pathlib.Path)
    return parser.parse_args()


def cases(folders):
    for folder in folders:
        if (folder / "model.tflite").exists():
            yield folder
        else:
            yield from sorted(path.parent for path in folder.glob("*/model.tflite"))


def measure(case, arguments):
    inputs = read_inputs(case)
    with tempfile.TemporaryDirectory() as directory:
        data = []
        for number, array in enumerate(inputs):
            file = pathlib.Path(directory) / f"in{number}.npy"
            numpy.save(file, array)
            data += ["-d", str(file)]
        report = pathlib.Path(directory) / "report.json"
        command = [arguments.armnn, "execute-network", "-m", str(case / "model.tflite")]
        command += ["-b", arguments.backends, "-c", arguments.compute, "--strict"]
        command += ["--number-of-threads", "1", "--report", str(report), *data]
        peer = interpreter(case, inputs, arguments.kernels)

        def ours(iterations):
            warmup = max(1, iterations // 10)
            counts = ["-I", str(iterations), "--warmup", str(warmup)]
            subprocess.run(command + counts, check=True, capture_output=True, text=True)
            timings = json.loads(report.read_text())["timings_ms"]
            return timings["statistics"]["median"]

        iterations = count(ours(3), arguments.turn_ms)
        if peer is None:
            own = [ours(iterations) for _ in range(arguments.turns)]
            return f"| {case.name} | {statistics.median(own):.3f} | - | - |"
        peer_iterations = count(timed(peer, 3), arguments.turn_ms)
        own, others = [], []
        for _ in range(arguments.turns):
            own.append(ours(iterations))
            others.append(timed(peer, peer_iterations))
        ratio = statistics.median(a / b for a, b in zip(own, others))
        times = f"{statistics.median(own):.3f} | {statistics.median(others):.3f}"
        return f"| {case.name} | {times} | {ratio:.2f} |"


def read_inputs(case):
    meta = case / "meta.json"
    steps = json.loads(meta.read_text()).get("steps", 1) if meta.exists() else 1
    inputs = []
    while files := sorted(case.glob(f"in{len(inputs)}[_.]*")):
        array = numpy.load(files[0])
        inputs.append(array[0] if steps > 1 else array)
    return inputs


def interpreter(case, inputs, kernels):
    """LiteRT with the inputs set; nothing where it is not installed or refuses the model."""
    if Interpreter is None:
        return None
    resolvers = {
        "reference": OpResolverType.BUILTIN_REF,
        "builtin": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        "default": OpResolverType.AUTO,
    }
    try:
        peer = Interpreter(
            model_path=str(case / "model.tflite"),
            num_threads=1,
            experimental_op_resolver_type=resolvers[kernels],
        )
        for detail, array in zip(peer.get_input_details(), inputs):
            if list(detail["shape"]) != list(array.shape):
                peer.resize_tensor_input(detail["index"], array.shape)
        peer.allocate_tensors()
        for detail, array in zip(peer.get_input_details(), inputs):
            peer.set_tensor(detail["index"], array)
        peer.invoke()
    except (RuntimeError, ValueError):
        return None
    return peer


def timed(peer, iterations):
    """The median of so many inferences, in milliseconds."""
    times = []
    for _ in range(iterations):
        start = time.perf_counter()
        peer.invoke()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def count(milliseconds, turn):
    return max(3, min(2000, int(turn / max(milliseconds, 1e-3))))


if __name__ == "__main__":
    main()
