//! Figures from a run record printed by filestone, parsed as any other program would.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::process::Output;

/// The run record printed by `filestone probe --format json`.
pub struct Record(Value);

impl From<Value> for Record {
    fn from(record: Value) -> Self {
        Self(record)
    }
}

/// Whether a run does not count only because its sends were late.
pub fn is_late(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    let has_failed = ["error: ", "ended otherwise than expected"];
    let has_failed = has_failed.iter().any(|words| said.contains(words));
    output.status.code() == Some(3)
        && !has_failed
        && said.contains("the load generator sent operations")
}

impl Record {
    /// Parses the record; an error includes the standard error output. A run that does not count
    /// because other programs of this host delayed its sends has the same outcomes as any other,
    /// and is accepted.
    pub fn read(output: &Output) -> Result<Self> {
        if !output.status.success() && !is_late(output) {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("filestone ended with {}: {}", output.status, said.trim());
        }
        Self::parse(output)
    }

    /// Parses the record of a run that ended normally, whether or not it counts.
    pub fn read_ended(output: &Output) -> Result<Self> {
        match output.status.code() {
            Some(3) => Self::parse(output),
            _ => Self::read(output),
        }
    }

    fn parse(output: &Output) -> Result<Self> {
        let record = serde_json::from_slice(&output.stdout).map(Self);
        let said = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
        record.with_context(|| format!("filestone printed no run record: {}", said()))
    }

    /// Returns the number at this JSON pointer.
    pub fn number(&self, pointer: &str) -> Result<f64> {
        self.0
            .pointer(pointer)
            .and_then(Value::as_f64)
            .with_context(|| format!("the run record has no number at {pointer}"))
    }

    /// Returns the text at this JSON pointer.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.0.pointer(pointer).and_then(Value::as_str)
    }

    /// Returns the list at this JSON pointer; empty if there is none.
    pub fn list(&self, pointer: &str) -> &[Value] {
        self.0
            .pointer(pointer)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the kinds of operations with failures, and their failures.
    pub fn failures(&self) -> Vec<&Value> {
        let kinds = self.list("/totals/kinds").iter();
        kinds
            .filter(|kind| !kind["failures"].as_array().is_none_or(Vec::is_empty))
            .collect()
    }

    /// Fails if a line of a replay had another result than expected, or a client was lost.
    pub fn is_as_expected(&self) -> Result<()> {
        if self.number("/replay/mismatch_count")? > 0.0 || self.holds("clients-lost") {
            let mismatches = self.list("/replay/mismatches");
            bail!("{mismatches:?}, {:?}", self.list("/caveats"));
        }
        Ok(())
    }

    /// Whether the record contains this text.
    pub fn holds(&self, text: &str) -> bool {
        self.0.to_string().contains(text)
    }

    /// Returns the bytes of one call and of one reply of the measured kind on the wire.
    pub fn message_lens(&self) -> Result<(usize, usize)> {
        let calls = self.number("/totals/kinds/0/calls")?;
        let sent = self.number("/totals/kinds/0/bytes_sent")?;
        let received = self.number("/totals/kinds/0/bytes_received")?;
        Ok((
            (sent / calls).round() as usize,
            (received / calls).round() as usize,
        ))
    }
}
