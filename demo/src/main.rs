//! Finds a face in a picture with a backend that is loaded at run time.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use armnn_runtime::{CreationOptions, HostTensor, LoadOptions, OptimizerOptions, Runtime};
use face_detection_demo::{INPUT_SIZE, KEY_POINTS, best_face, draw, preprocess};

fn main() -> std::process::ExitCode {
    match run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [backends, model, picture, output] = &args[..] else {
        bail!("usage: face-detection-demo BACKENDS_DIRECTORY MODEL PICTURE OUTPUT");
    };

    let backends = std::path::absolute(backends)?;
    let runtime = Runtime::create(CreationOptions::new().dynamic_backends_path(backends))?;
    for backend in runtime.backend_report().backends {
        println!(
            "backend {} (interface {}): {:?}",
            backend.id, backend.version, backend.origin
        );
    }

    let network = armnn_tflite_parser::parse(model)?;
    let optimized = runtime.optimize(network, &OptimizerOptions::default())?;
    for (backend, layers) in optimized.report().layers_per_backend() {
        println!("{layers} layers on {backend}");
    }
    let loaded = runtime.load_network(optimized, LoadOptions::default())?;

    let mut picture = image::open(picture)
        .with_context(|| format!("cannot read the picture {}", picture.display()))?
        .to_rgb8();
    let size = i64::from(INPUT_SIZE);
    let input = HostTensor::from_f32([1, size, size, 3], &preprocess(&picture))?;
    let outputs = loaded.run(&[input])?;
    let floats = |i: usize| outputs.get(i).and_then(HostTensor::elements::<f32>);
    let (Some(regressors), Some(scores)) = (floats(0), floats(1)) else {
        bail!("the model does not have the two Float32 outputs of the face detector");
    };
    let face = best_face(regressors, scores)
        .context("the outputs of the model are not those of the face detector")?;

    println!(
        "face: x {:.3}, y {:.3}, width {:.3}, height {:.3}, score {:.3}",
        face.x, face.y, face.width, face.height, face.score
    );
    for (name, (x, y)) in KEY_POINTS.iter().zip(face.key_points) {
        println!("  {name}: {x:.3}, {y:.3}");
    }
    draw(&mut picture, &face);
    picture
        .save(output)
        .with_context(|| format!("cannot write {}", output.display()))?;
    println!("picture with the face: {}", output.display());
    Ok(())
}
