//! Build, stage, demo and test tasks.
fn main() {}
