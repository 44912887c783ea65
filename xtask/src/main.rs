//! Build, stage, demo and test tasks.

mod codegen;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("codegen") => codegen::run(args.next().as_deref() == Some("--check")),
        _ => Ok(()),
    }
}
