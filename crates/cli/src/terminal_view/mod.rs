//! Live view on a terminal (`--live=tui`): one screen with the events of the feed.
//!
//! [`state`] is the state, [`drawing`] draws it; both use neither a terminal nor a clock, so that
//! tests see the same output as users. [`screen`] owns the terminal and restores it in every case.

pub mod drawing;
mod panels;
pub mod screen;
pub mod state;
mod theme;
mod words;

#[cfg(test)]
mod tests;
