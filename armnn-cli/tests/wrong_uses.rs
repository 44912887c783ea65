//! Wrong uses of the command: each block of `docs/command-errors.md` is run, and must say and
//! return what the page says.
//!
//! With `ARMNN_BLESS` in the environment, the page is rewritten instead; then read what changed.

#![cfg(target_os = "linux")]
#![cfg_attr(
    feature = "static-cpu-ref",
    allow(
        dead_code,
        unused_imports,
        reason = "the page is about a command without backends"
    )
)]

mod command;

use std::{fmt::Write as _, fs, path::Path};

use command::{
    command, face_detector,
    onnx::{model, tensor},
    repository, staged_backends,
};

/// What stands for the directory in which commands are run.
const DIRECTORY: &str = "/home/me";
/// How a block with one use begins.
const BEGIN: &str = "```console\n$ armnn ";
/// How it ends.
const END: &str = "\n```\n";

/// Makes the files that the page describes.
fn put_files(root: &Path, backends: &Path) {
    let put = |name: &str, content: &[u8]| fs::write(root.join(name), content).unwrap();
    std::os::unix::fs::symlink(backends, root.join("backends")).unwrap();
    fs::copy(face_detector(), root.join("face.tflite")).unwrap();
    put("add.onnx", &model("Add"));
    put("sub.onnx", &model("Sub"));
    put("unknown.onnx", &model("Frobnicate"));
    // The version of the format, and a name of the producer that never ends.
    put("damaged.onnx", b"\x08\x08\x12\x7f");
    put("notes.txt", b"Buy milk.\n");
    put("none.txt", b"# no name yet\n");
    put("bad.npz", b"no archive");
    put("bad.npy", b"no array");
    put("short.bin", &[0; 7]);
    put("a.pb", &tensor([1.0, 2.0]));
    let npy = |descr: &str, shape: &str, n: usize| {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len() + n, 0);
        bytes
    };
    put("two.npy", &npy("<f4", "(2,)", 8));
    put("three.npy", &npy("<f4", "(3,)", 12));
    put("double.npy", &npy("<f8", "(2,)", 16));
    put("steps2.npy", &npy("<f4", "(2, 2)", 16));
    put("steps3.npy", &npy("<f4", "(3, 2)", 24));
    image::RgbImage::new(8, 8)
        .save(root.join("photo.png"))
        .unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::create_dir(root.join("other")).unwrap();
    fs::write(root.join("other/output_0.pb"), tensor([1.0, 2.5])).unwrap();
    fs::create_dir_all(root.join("cases/add")).unwrap();
    fs::write(root.join("cases/add/model.onnx"), model("Add")).unwrap();
    fs::write(root.join("cases/add/out0.npy"), npy("<f4", "(2,)", 8)).unwrap();
}

/// The words of a line, of which some may stand in single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// What the command says on standard error, and its exit code, as the page has it.
fn run(line: &str, root: &Path) -> String {
    let output = command()
        .args(words(line))
        .current_dir(root)
        .output()
        .expect("the command can be started");
    let said = String::from_utf8(output.stderr).expect("standard error is text");
    let said = said.replace(root.to_str().unwrap(), DIRECTORY);
    let code = output.status.code().expect("it ended by itself");
    format!("{}\n[exit code {code}]", said.trim_end())
}

#[cfg(not(feature = "static-cpu-ref"))]
#[test]
fn each_wrong_use_of_the_page_says_what_the_page_says() {
    let Some(backends) = staged_backends() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    // Without links in it, as the command shows it.
    let directory = fs::canonicalize(root.path()).unwrap();
    put_files(&directory, &fs::canonicalize(backends).unwrap());
    let path = repository().join("docs/command-errors.md");
    let page = fs::read_to_string(&path).unwrap();

    let mut parts = page.split(BEGIN);
    let mut written = parts.next().unwrap().to_owned();
    let mut wrong = String::new();
    let mut n = 0;
    for part in parts {
        let (block, rest) = part.split_once(END).expect("each block ends");
        let (line, expected) = block.split_once('\n').unwrap_or((block, ""));
        let said = run(line, &directory);
        if said != expected {
            write!(
                wrong,
                "\n$ armnn {line}\n{said}\n--- the page has\n{expected}\n"
            )
            .unwrap();
        }
        assert!(!said.ends_with("[exit code 0]"), "no wrong use: {line}");
        write!(written, "{BEGIN}{line}\n{said}{END}{rest}").unwrap();
        n += 1;
    }
    assert!(n >= 30, "{n} wrong uses");
    if std::env::var_os("ARMNN_BLESS").is_some() {
        fs::write(path, written).unwrap();
    } else {
        assert!(wrong.is_empty(), "{wrong}");
    }
}
