//! Build, stage, demo and test tasks.

mod header;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["header"] => header::run(false),
        ["header", "--check"] => header::run(true),
        _ => anyhow::bail!("usage: cargo xtask header [--check]"),
    }
}
