//! The live page from outside, over TCP.

mod hostile;
mod protocol;
mod served;
mod windows;
