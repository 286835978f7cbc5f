//! Ladders: from the emptiest call to those that change a directory, what each operation takes and
//! costs, and what each step adds to the one below.
//!
//! A ladder is a sweep over its rungs, so its order, repeats and directory are that of
//! [`sweep`](crate::sweep). Here is which rungs there are ([`rung`]), what is told of each
//! ([`figure`]), and what its runs come to, also beside those of another rung ([`tally`]).

pub mod figure;
pub mod rung;
pub mod tally;
mod value;

pub use figure::LadderFigure;
pub use rung::{RUNGS, Rung};
pub use tally::{LadderValue, RungPair, RungTally, difference, difference_of_steps};
pub use value::RungValue;
