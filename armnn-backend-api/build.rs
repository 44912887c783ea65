//! Records the compiler and target, so that a backend's note can name its toolchain.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_default();
    let target = std::env::var("TARGET").unwrap_or_default();
    // The note has room for 95 bytes.
    let mut toolchain = format!("{} {target}", version.trim());
    toolchain.truncate(95);
    println!("cargo:rustc-env=ARMNN_TOOLCHAIN={toolchain}");
}
