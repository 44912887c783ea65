//! The `armnn` command.
fn main() {}
