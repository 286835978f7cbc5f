//! The `filestone` command.
fn main() {}
