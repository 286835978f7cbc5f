//! The live view on a terminal (`--live=tui`): one screen of what the feed tells.
//!
//! [`state`] is what is known, [`drawing`] what is drawn of it, neither with a terminal or a clock, so
//! that tests see what people do. [`screen`] has the terminal, and gives it back on every way out.

pub mod drawing;
mod panels;
pub mod screen;
pub mod state;
mod theme;
mod words;

#[cfg(test)]
mod tests;
