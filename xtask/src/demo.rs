//! `cargo xtask demo`: the face detector on a backend that is loaded at run time.

use anyhow::Result;

use crate::{
    stage,
    workspace::{self, cargo, root, target},
};

/// Stages CpuRef, and runs the demo with nothing but that.
pub fn run() -> Result<()> {
    let backends = target().join("staging/demo");
    stage::stage(&[("cpu-ref-dynamic", "Arm", "CpuRef")], &backends)?;
    let assets = root().join("demo/assets");
    workspace::run(
        cargo(["run", "--quiet", "--package", "face-detection-demo", "--"])
            .arg(backends)
            .arg(assets.join("face_detection_short_range.tflite"))
            .arg(assets.join("astronaut.png"))
            .arg(target().join("face.png")),
    )
}
