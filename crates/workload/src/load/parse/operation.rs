//! Lines of dbench 2 to 5 and smbtorture: one operation each.

use super::super::action;
use super::super::code::{CompiledOperation, NAMES, NUMBERS, Operand};
use super::super::expected::Expected;
use super::super::names::NameLocation;
use super::super::number::{self, Number};
use super::super::safety;
use super::super::status;
use super::super::verb::{self, FileAddressing, Verb, VerbSet};
use super::emit::{self, ColumnSpans};
use super::handles::SourcePosition;
use super::tokens::{self, LineToken, Words};
use super::{Compiler, shown};
use crate::operation::OpKind;
use std::time::Duration;

/// Limit for FIND_FIRST of dbench 2, which has none: the maximum number of entries of a directory
/// there.
const FIND_FIRST_MAX: u64 = 65_535;

impl Compiler {
    /// Parses one line: `[stamp] verb argument… [status]`, or a directive.
    pub(super) fn operation_line(&mut self, line: &[u8], is_current: bool) {
        if is_current && self.directive_line(line) {
            return;
        }
        let words = match tokens::words(line, is_current) {
            Ok(words) => words,
            Err(bad) => return self.wrong(bad.column, bad.what.to_owned(), None),
        };
        let (stamp, words) = self.stamp(&words, is_current);
        let Some((word, arguments)) = words.split_first() else {
            return self.wrong(1, "a time stamp without an operation".to_owned(), None);
        };
        let Some(verb) = self.verb(word, arguments) else {
            return;
        };
        self.check_family(verb, word.column);
        if is_current {
            self.current(stamp, verb, word, arguments);
        } else {
            self.of_dbench2(verb, word, arguments);
        }
    }

    fn stamp<'w, 'l>(
        &mut self,
        words: &'w Words<'l>,
        is_current: bool,
    ) -> (Option<Duration>, &'w [LineToken<'l>]) {
        let all = words.all();
        let Some((first, rest)) = all.split_first() else {
            return (None, all);
        };
        if !is_current || !first.text.first().is_some_and(u8::is_ascii_digit) {
            return (None, all);
        }
        let stamp = number::stamp(first.text);
        if stamp.is_none() {
            self.wrong(
                first.column,
                format!("\"{}\" is no time stamp", shown(first.text)),
                Some("seconds with a fraction, such as 12.250000, up to 1000000000".to_owned()),
            );
        }
        (stamp, rest)
    }

    /// Returns the verb of a word, or the most similar one.
    fn verb(&mut self, word: &LineToken<'_>, arguments: &[LineToken<'_>]) -> Option<&'static Verb> {
        let is_name = arguments.first().is_some_and(tokens::LineToken::is_name);
        let is_foreign = self.family.is_none();
        let without_status = arguments.len().saturating_sub(1);
        if let Some(backend) =
            verb::foreign(word.text, is_name, without_status).filter(|_| is_foreign)
        {
            let what = format!(
                "{} is a verb of {backend}, whose load files are not supported",
                shown(word.text)
            );
            let help = "files with CIFS-style verbs (NTCreateX, ReadX, …), NFS verbs (READ3, …) or SMB verbs with paths (OPEN, READ, …) can be replayed";
            self.abort(word.column, &what, Some(help.to_owned()));
            return None;
        }
        let found = match self.naming {
            Some(FileAddressing::ByPath) => {
                verb::find_by_path(word.text).or_else(|| verb::find(word.text))
            }
            _ => verb::find(word.text).or_else(|| verb::find_by_path(word.text)),
        };
        self.recognised += u64::from(found.is_some());
        if found.is_some() {
            return found;
        }
        self.strange += 1;
        let meant = verb::meant(word.text);
        self.wrong(
            word.column,
            format!("there is no operation \"{}\"", shown(word.text)),
            meant.map(|meant| format!("did you mean {meant}?")),
        );
        // The verb that was probably intended still opens handles and creates files.
        meant.and_then(|meant| verb::find(meant.as_bytes()))
    }

    /// Checks that all verbs of a file belong to one backend.
    fn check_family(&mut self, verb: &'static Verb, column: u32) {
        // These verbs belong to both backends.
        let is_common = verb.family == VerbSet::Either
            || matches!(verb.kind, OpKind::MkDir | OpKind::RmDir | OpKind::Unlink);
        match self.family {
            None if !is_common || verb.family == VerbSet::Nfs => {
                self.family = Some((verb.family, verb.word, self.line));
            }
            Some((family, word, line))
                if verb.family != VerbSet::Either && family != verb.family && !self.is_mixed =>
            {
                self.is_mixed = true;
                self.wrong(
                    column,
                    format!(
                        "{} is {}, but {word} on line {line} is {}",
                        verb.word,
                        whose(verb.family),
                        whose(family)
                    ),
                    Some(
                        "a load file has the verbs of one kind; Deltree alone belongs to both"
                            .to_owned(),
                    ),
                );
            }
            _ => {}
        }
    }

    fn current(
        &mut self,
        stamp: Option<Duration>,
        verb: &'static Verb,
        word: &LineToken<'_>,
        arguments: &[LineToken<'_>],
    ) {
        let (arguments, expected) = self.status(verb, word, arguments);
        let needed = verb.names.len() + verb.needed;
        let most = verb.names.len() + verb.numbers.len();
        if !(needed..=most).contains(&arguments.len()) {
            let column = arguments
                .get(most)
                .map_or(word.column, |extra| extra.column);
            self.wrong_count(verb, column, arguments.len());
        }
        match verb.family {
            VerbSet::Smb => self.operation_by_path(stamp, verb, arguments, expected),
            VerbSet::Cifs | VerbSet::Nfs | VerbSet::Either => {
                self.operation(stamp, verb, arguments, expected);
            }
        }
    }

    /// Splits off the status.
    fn status<'w, 'l>(
        &mut self,
        verb: &Verb,
        word: &LineToken<'_>,
        arguments: &'w [LineToken<'l>],
    ) -> (&'w [LineToken<'l>], Expected) {
        let missing = arguments.len() <= verb.names.len() + verb.needed;
        let (column, text) = match arguments.split_last() {
            Some((last, rest)) => {
                if let Some(expected) =
                    status::expected(last.text, verb.family).filter(|_| !last.is_quoted)
                {
                    return (rest, expected);
                }
                if !missing || (status::looks_like_status(last.text) && !last.is_quoted) {
                    self.wrong(
                        last.column,
                        format!("\"{}\" is no status", shown(last.text)),
                        Some(status::help(last.text, verb.family)),
                    );
                    return (rest, Expected::Anything);
                }
                (last.column + last.text.len() as u32, last.text)
            }
            None => (word.column, word.text),
        };
        self.wrong(
            column,
            format!("the status is missing after \"{}\"", shown(text)),
            Some(format!("a line reads: {}", verb.usage())),
        );
        (arguments, Expected::Anything)
    }

    fn wrong_count(&mut self, verb: &Verb, column: u32, count: usize) {
        let least = verb.names.len() + verb.needed;
        let most = verb.names.len() + verb.numbers.len();
        let wanted = if least == most {
            format!("{most}")
        } else {
            format!("{least} to {most}")
        };
        self.wrong(
            column,
            format!("{} takes {wanted} arguments, not {count}", verb.word),
            Some(format!("a line reads: {}", verb.usage())),
        );
    }

    fn of_dbench2(
        &mut self,
        verb: &'static Verb,
        word: &LineToken<'_>,
        arguments: &[LineToken<'_>],
    ) {
        let Some(numbers) = verb.in_dbench2 else {
            let what = format!("dbench 2 has no {}", verb.word);
            let help = "this file is read as one of dbench 2, because its first lines have neither quotes nor a status";
            return self.wrong(word.column, what, Some(help.to_owned()));
        };
        let count = verb.names.len() + numbers;
        if arguments.len() != count {
            self.wrong(
                word.column,
                format!("{} takes {count} arguments in a dbench 2 load file, not {}", verb.word, arguments.len()),
                Some("this file is read as one of dbench 2, because its first lines have neither quotes nor a status".to_owned()),
            );
        }
        let handle = arguments.get(3).map(|handle| handle.text);
        let expected = match verb.kind {
            OpKind::NtCreateX if handle == Some(b"-1") => Expected::Failure,
            OpKind::NtCreateX
            | OpKind::Close
            | OpKind::ReadX
            | OpKind::WriteX
            | OpKind::Rename
            | OpKind::Unlink => Expected::Success,
            _ => Expected::Anything,
        };
        self.operation(None, verb, arguments, expected);
    }

    /// Parses an operation, its arguments and its expected result.
    fn operation(
        &mut self,
        stamp: Option<Duration>,
        verb: &'static Verb,
        arguments: &[LineToken<'_>],
        expected: Expected,
    ) {
        let (names, numbers) = arguments
            .split_at_checked(verb.names.len())
            .unwrap_or((arguments, &[]));
        let mut columns = ColumnSpans::default();
        let mut step = CompiledOperation {
            kind: verb.kind,
            expected,
            stamp,
            names: [0; NAMES],
            numbers: [Operand::Literal(0); NUMBERS],
        };
        if verb.in_dbench2.is_some() && matches!(self.grammar, super::Grammar::Dbench2) {
            let [_, max, ..] = &mut step.numbers;
            if verb.kind == OpKind::FindFirst {
                *max = Operand::Literal(FIND_FIRST_MAX);
            }
        }
        let places = step.numbers.iter_mut().zip(&mut columns.numbers);
        for (place, (word, (operand, column))) in numbers.iter().zip(places).enumerate() {
            *column = word.column;
            *operand = self.operand(verb.kind, place, word);
        }
        let place = self.names_of(&mut step, names, &mut columns);
        if verb.kind == OpKind::Access {
            self.check_access(&step, &columns);
        }
        if names.len() == verb.names.len() {
            self.follow_handles(&step, place, &columns);
            self.follow_files(&step, &columns);
        }
        self.emit(&step);
        self.count(verb.kind);
    }

    /// Enters the names of an operation. Returns the location of the first one.
    pub(super) fn names_of(
        &mut self,
        step: &mut CompiledOperation,
        names: &[LineToken<'_>],
        columns: &mut ColumnSpans,
    ) -> Option<NameLocation> {
        let mut first = None;
        for (place, word) in names.iter().enumerate() {
            let is_text = step.kind == OpKind::SymLink && place == 1;
            let before = self.diagnostics.count();
            let id = if is_text {
                self.link_text(word)
            } else {
                self.name(word)
            };
            if let (Some(name), Some(column)) =
                (step.names.get_mut(place), columns.names.get_mut(place))
            {
                (*name, *column) = (id, word.column);
            }
            if is_text || self.diagnostics.count() > before {
                continue;
            }
            let changes = emit::changes(step, place);
            let found = self.check_place(step.kind, changes, id, word.column);
            if step.kind == OpKind::Deltree && found == Some(NameLocation::Clients) {
                step.names = [self.keep_name(safety::OWN_TREE, false), 0];
            }
            if place == 0 {
                first = found;
            }
        }
        first
    }

    /// Returns the number of a word. After an error, returns zero.
    pub(super) fn operand(&mut self, kind: OpKind, place: usize, word: &LineToken<'_>) -> Operand {
        if self.checked_slots(word) {
            return self.expression(word, Number::Text(word.text.into()));
        }
        let is_opened = kind == OpKind::NtCreateX && place == 2;
        let parsed = match word.text.strip_prefix(b"-") {
            // Captures contain -1 for the handle of an open that failed.
            Some(digits) if is_opened => {
                number::c_number(digits).map(|value| Number::Literal(value.wrapping_neg()))
            }
            _ => Number::parse(word.text),
        };
        match parsed {
            Ok(Number::Literal(value)) => {
                if let Err(what) = action::check(kind, place, value) {
                    self.wrong(word.column, what, None);
                }
                Operand::Literal(value)
            }
            Ok(number) => self.expression(word, number),
            Err(fault) => {
                let help = "a number as in C (10, 0xa, 012), or * or + with their qualifiers, such as *%0x100000/4096";
                self.wrong(
                    word.column,
                    format!("\"{}\" {}", shown(word.text), fault.what()),
                    Some(help.to_owned()),
                );
                Operand::Literal(0)
            }
        }
    }

    fn expression(&mut self, word: &LineToken<'_>, number: Number) -> Operand {
        if let Some(index) = self.seen_expressions.get(word.text) {
            return Operand::Expression(*index);
        }
        let index = self.expressions.len() as u32;
        self.expressions.push(number);
        self.seen_expressions.insert(word.text.into(), index);
        Operand::Expression(index)
    }

    fn check_access(&mut self, step: &CompiledOperation, columns: &ColumnSpans) {
        let [wanted, granted, ..] = step.numbers;
        let [_, column, ..] = columns.numbers;
        if let (Operand::Literal(wanted), Operand::Literal(granted)) = (wanted, granted)
            && granted & !wanted != 0
        {
            self.wrong(
                column,
                format!("{granted:#x} cannot be granted when only {wanted:#x} is asked for"),
                Some(
                    "the second mask has only bits of the first (RFC 1813, section 3.3.4)"
                        .to_owned(),
                ),
            );
        }
    }

    /// Returns the position of the verb of a line.
    pub(super) fn spot(&self, column: u32) -> SourcePosition {
        SourcePosition {
            line: self.line,
            column,
        }
    }
}

const fn whose(family: VerbSet) -> &'static str {
    match family {
        VerbSet::Cifs => "a verb of CIFS-style load files",
        VerbSet::Nfs => "a verb of NFS load files",
        VerbSet::Smb => "a verb of SMB load files with paths",
        VerbSet::Either => "a verb of several",
    }
}
