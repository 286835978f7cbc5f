//! Gates: conditions under which a run counts as failed, `read.response_time.p99 > 2ms`.
//!
//! A gate comes from a command line or a stored plan. Its text is parsed into a [`Condition`] with
//! consistent units. `plan::check` checks whether the figures are available in a plan;
//! `measure::gates` evaluates them for a run.

mod dimension;
mod error;
mod expression;
mod lexer;
mod name;
mod parse;

pub use dimension::{Arithmetic, Dimension};
pub use error::{GateError, TextSpan};
pub use expression::{Condition, Expression, Relation};
pub use name::{GateFigure, RunTotal};

use crate::JsonSchema;
use filestone_workload::text::printable;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Maximum length of the text of a gate, in bytes.
pub const TEXT_MAX: usize = 256;
/// Maximum depth of parentheses.
pub const DEPTH_MAX: usize = 16;
/// Maximum number of gates of a plan.
pub const GATES_MAX: usize = 64;

/// A condition under which a run counts as failed, with its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Gate {
    text: String,
    condition: Condition,
}

/// The gates of a plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GatesPlan {
    /// Conditions under which a run counts as failed; one is enough.
    pub fail_if: Vec<Gate>,
    /// Whether an inconclusive gate also counts as failed.
    #[serde(default)]
    pub strict: bool,
}

impl Gate {
    /// Returns the parsed condition.
    pub const fn condition(&self) -> &Condition {
        &self.condition
    }

    /// Creates an error about the gate as a whole.
    pub fn error_in_all(&self, what: impl Into<String>) -> GateError {
        let end = self.text.len();
        self.error(TextSpan { start: 0, end }, what)
    }

    /// Creates an error about a part of the gate.
    pub fn error(&self, place: TextSpan, what: impl Into<String>) -> GateError {
        GateError::at(&self.text, place, what)
    }
}

impl GatesPlan {
    /// Whether there are no gates.
    pub fn is_none(&self) -> bool {
        self.fail_if.is_empty() && !self.strict
    }
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let text = text.trim();
        Ok(Self {
            condition: parse::condition(text)?,
            text: text.into(),
        })
    }
}

impl TryFrom<String> for Gate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
            .map_err(|error: GateError| format!("gate \"{}\": {error}", printable(&text)))
    }
}

impl From<Gate> for String {
    fn from(gate: Gate) -> Self {
        gate.text
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
