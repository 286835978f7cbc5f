//! Lines of loads that name open files by path (dbench's smb backend): each is compiled to an
//! operation of its kind, with the handle for the path.
//!
//! The first line that only one kind of load can have determines the kind; earlier lines are
//! queued.

use super::super::action::OpenMode;
use super::super::action_numbers::{LONGEST_BY_PATH, open_mode};
use super::super::code::{CompiledOperation, NAMES, NUMBERS, ONLY_OPENS, Operand};
use super::super::expected::Expected;
use super::super::names;
use super::super::number::Number;
use super::super::random_string;
use super::super::verb::{self, FileAddressing, Verb};
use super::emit::ColumnSpans;
use super::tokens::{self, LineToken};
use super::{Compiler, shown};
use crate::operation::OpKind;
use std::time::Duration;

/// Maximum number of bytes of queued lines.
const WAITING_BYTES: usize = 1 << 20;

/// Returns how a line names open files; `None` if both ways are possible.
fn told_by(line: &[u8]) -> Option<FileAddressing> {
    let Ok(words) = tokens::words(line, true) else {
        return Some(FileAddressing::ByHandle);
    };
    let mut words = words.all().iter();
    let mut word = words.next()?;
    if word.text.first().is_some_and(u8::is_ascii_digit) {
        word = words.next()?;
    }
    verb::naming(word.text, words.next().is_some_and(LineToken::is_name))
}

impl Compiler {
    /// Parses a line of the current grammar.
    pub(super) fn current_line(&mut self, line: &[u8]) {
        if self.naming.is_none() {
            match told_by(line) {
                None if self.unnamed_bytes + line.len() <= WAITING_BYTES => {
                    self.unnamed_bytes += line.len();
                    self.unnamed.push((self.line, line.to_vec()));
                    return;
                }
                told => self.decide_naming(told.unwrap_or(FileAddressing::ByHandle)),
            }
        }
        self.operation_line(line, true);
    }

    /// Sets the addressing of open files in the load, and parses the queued lines.
    pub(super) fn decide_naming(&mut self, naming: FileAddressing) {
        self.naming = Some(naming);
        let now = self.line;
        for (number, line) in std::mem::take(&mut self.unnamed) {
            self.line = number;
            self.operation_line(&line, true);
        }
        self.line = now;
    }

    /// Sets the location of names: a load that modifies files works below `clients`; a read-only
    /// one uses existing files.
    pub(super) fn settle_places(&mut self) {
        if !self.changes {
            self.names.put_back();
        } else if self.naming == Some(FileAddressing::ByPath) {
            self.moved_slots = u16::MAX;
        }
    }

    /// Parses an operation, its arguments and its expected result.
    pub(super) fn operation_by_path(
        &mut self,
        stamp: Option<Duration>,
        verb: &'static Verb,
        arguments: &[LineToken<'_>],
        expected: Expected,
    ) {
        let Some((path, numbers)) = arguments.split_first() else {
            return;
        };
        let mut columns = ColumnSpans::default();
        let mut step = CompiledOperation {
            kind: verb.kind,
            expected,
            stamp,
            names: [0; NAMES],
            numbers: [Operand::Literal(0); NUMBERS],
        };
        // The numbers after the handle.
        let places = step.numbers.iter_mut().zip(&mut columns.numbers).skip(1);
        for (place, (word, (operand, column))) in numbers.iter().zip(places).enumerate() {
            *column = word.column;
            *operand = self.number_by_path(verb.kind, place + 1, word);
        }
        let mut place = None;
        let (names, _) = verb::operands(verb.kind);
        if names > 0 {
            place = self.names_of(&mut step, std::slice::from_ref(path), &mut columns);
        }
        match verb.kind {
            OpKind::NtCreateX => {
                step.numbers[2] = self.handle_by_path(path);
                columns.numbers[2] = path.column;
            }
            OpKind::Close | OpKind::ReadX | OpKind::WriteX => {
                self.checked_slots(path);
                step.numbers[0] = self.handle_by_path(path);
                columns.numbers[0] = path.column;
            }
            _ => {}
        }
        match verb.kind {
            OpKind::ReadX | OpKind::WriteX => {
                if let Operand::Literal(_) = step.numbers[2] {
                    step.numbers[3] = step.numbers[2];
                }
                if verb.kind == OpKind::ReadX && expected == Expected::Failure {
                    step.expected = Expected::FailureOrShort;
                }
            }
            _ => {}
        }
        self.follow_handles(&step, place, &columns);
        self.follow_files(&step, &columns);
        self.emit(&step);
        self.count(verb.kind);
    }

    /// Returns the number of a word: checked, and equal for all words with the same meaning.
    fn number_by_path(&mut self, kind: OpKind, place: usize, word: &LineToken<'_>) -> Operand {
        // The kind's checks of a number are for CIFS-style verbs and do not apply here.
        let operand = self.operand(OpKind::FsStat, place, word);
        let Operand::Literal(value) = operand else {
            return operand;
        };
        Operand::Literal(match (kind, place) {
            (OpKind::NtCreateX, 1) => match open_mode(value) {
                Ok(OpenMode::READING) => ONLY_OPENS,
                Ok(_) => value,
                Err(what) => {
                    self.wrong(word.column, what, None);
                    ONLY_OPENS
                }
            },
            (OpKind::ReadX | OpKind::WriteX, 2) => value.min(LONGEST_BY_PATH),
            _ => value,
        })
    }

    /// Returns the handle for a path. After an error, returns any handle.
    fn handle_by_path(&mut self, path: &LineToken<'_>) -> Operand {
        if self.slots != 0 && random_string::slots(path.text).next().is_some() {
            let key = [b"\"", path.text].concat();
            if let Some(index) = self.seen_expressions.get(key.as_slice()) {
                return Operand::Expression(*index);
            }
            let index = self.expressions.len() as u32;
            self.expressions.push(Number::Path(path.text.into()));
            self.seen_expressions.insert(key.into(), index);
            return Operand::Expression(index);
        }
        let mut relative = Vec::new();
        if let Err(fault) = names::normalise(path.text, &mut relative) {
            let what = format!("the name \"{}\" {}", shown(path.text), fault.what());
            self.wrong(path.column, what, None);
        }
        let handle = names::handle_of(&relative);
        self.named_handles
            .entry(handle)
            .or_insert_with(|| shown(path.text).into());
        Operand::Literal(handle)
    }
}
