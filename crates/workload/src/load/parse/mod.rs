//! Compiler for the lines of a load file, for all generations.
//!
//! Lines are passed one at a time, from any source; only the compiled form is stored. The first
//! decisive line determines the generation; a few earlier lines are queued.

mod by_path;
mod dbench1;
mod directive;
mod emit;
mod existence;
mod handles;
mod name;
mod operation;
mod tokens;

use super::code::CodeWriter;
use super::compiled::Load;
use super::diagnostic::{Diagnostics, LoadError, LoadErrors, shown};
use super::generation::Generation;
use super::names::{Interner, Names};
use super::number::Number;
use super::status;
use super::verb::{self, FileAddressing, VerbSet};
use crate::operation::OpKind;
use existence::PossibleNames;
use handles::{ParsedHandles, SourcePosition};
use std::collections::HashMap;

/// Maximum length of a line: 64 KiB. No program wrote longer ones.
pub const LONGEST_LINE: usize = 1 << 16;

/// Maximum number of lines that are queued until the generation is known.
const WAITING_LINES: usize = 16;

/// Number of lines without a known verb after which a file is not considered a load file.
const STRANGE_LINES: u64 = 3;

/// Grammar of the lines.
#[derive(Debug)]
enum Grammar {
    /// Not known yet; contains the queued lines with their numbers.
    Undecided(Vec<(u32, Vec<u8>)>),
    /// REQUEST and REPLY lines.
    Dbench1,
    /// Operations without quotes and statuses.
    Dbench2,
    /// Operations with quotes and statuses.
    Current,
}

/// A LOOP that waits for its ENDLOOP.
#[derive(Debug)]
struct OpenLoop {
    spot: SourcePosition,
    /// Position of the end marker in the code.
    place: usize,
    times: u64,
    /// Whether an iteration has an instruction for the runner.
    hands_out: bool,
}

/// Compiles the lines of a load file to a [`Load`].
#[derive(Debug)]
pub struct Compiler {
    name: String,
    line: u32,
    grammar: Grammar,
    diagnostics: Diagnostics,
    writer: CodeWriter,
    names: Names,
    seen_names: Interner,
    seen_texts: Interner,
    expressions: Vec<Number>,
    seen_expressions: HashMap<Box<[u8]>, u32>,
    texts: Vec<Box<[u8]>>,
    patterns: Vec<Box<[u8]>>,
    seen_patterns: HashMap<Box<[u8]>, u32>,
    /// Slots that a RANDOMSTRING filled, one bit each.
    slots: u16,
    moved_slots: u16,
    loops: Vec<OpenLoop>,
    repeat: Option<(SourcePosition, u64)>,
    /// Addressing of open files in the load, once a line has determined it.
    naming: Option<FileAddressing>,
    /// Queued lines with their numbers, and their total bytes.
    unnamed: Vec<(u32, Vec<u8>)>,
    unnamed_bytes: usize,
    /// The paths of handles.
    named_handles: HashMap<u64, Box<str>>,
    /// Whether any line may modify an object.
    changes: bool,
    /// The first verb that belongs to one family only, and its line.
    family: Option<(VerbSet, &'static str, u32)>,
    is_mixed: bool,
    /// Numbers of lines that began with a known and with an unknown word.
    recognised: u64,
    strange: u64,
    sniffed: dbench1::PendingTraceRequests,
    handles: ParsedHandles,
    existence: PossibleNames,
    operations: u64,
    has_stamps: bool,
    lines_by_kind: [u64; OpKind::COUNT],
}

impl Compiler {
    /// Creates a compiler for the file with that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            line: 0,
            grammar: Grammar::Undecided(Vec::new()),
            diagnostics: Diagnostics::default(),
            writer: CodeWriter::default(),
            names: Names::default(),
            seen_names: Interner::default(),
            seen_texts: Interner::default(),
            expressions: Vec::new(),
            seen_expressions: HashMap::new(),
            texts: Vec::new(),
            patterns: Vec::new(),
            seen_patterns: HashMap::new(),
            slots: 0,
            moved_slots: 0,
            loops: Vec::new(),
            repeat: None,
            naming: None,
            unnamed: Vec::new(),
            unnamed_bytes: 0,
            named_handles: HashMap::new(),
            changes: false,
            family: None,
            is_mixed: false,
            recognised: 0,
            strange: 0,
            sniffed: dbench1::PendingTraceRequests::default(),
            handles: ParsedHandles::default(),
            existence: PossibleNames::default(),
            operations: 0,
            has_stamps: false,
            lines_by_kind: [0; OpKind::COUNT],
        }
    }

    /// Whether the file is not a load file, so that reading can stop.
    pub fn is_hopeless(&self) -> bool {
        self.diagnostics.is_hopeless()
    }

    /// Compiles the next line, with or without its terminator.
    pub fn line(&mut self, line: &[u8]) {
        if self.is_hopeless() {
            return;
        }
        let Some(number) = self.line.checked_add(1) else {
            self.abort(1, "more than 4,294,967,295 lines", None);
            return;
        };
        self.line = number;
        let line = without_end(line, number == 1);
        if line.len() > LONGEST_LINE {
            self.line_too_long();
        } else if let Some(at) = line.iter().position(|byte| *byte < b' ' && *byte != b'\t') {
            let byte = line.get(at).copied().unwrap_or_default();
            let what = format!("not a load file: byte 0x{byte:02x} is not text");
            self.abort(at as u32 + 1, &what, None);
        } else {
            self.text(line);
        }
    }

    /// Reports that the next line is longer than [`LONGEST_LINE`], so the file is not a load file.
    pub fn line_too_long(&mut self) {
        let what = format!("not a load file: a line is longer than {LONGEST_LINE} bytes");
        self.abort(1, &what, None);
    }

    fn text(&mut self, line: &[u8]) {
        let begin = line.trim_ascii_start();
        if begin.is_empty() || begin.starts_with(b"#") {
            return;
        }
        if let Grammar::Undecided(waiting) = &mut self.grammar {
            if let Some(grammar) = told_by(line) {
                self.decide(grammar);
            } else {
                waiting.push((self.line, line.to_vec()));
                if waiting.len() >= WAITING_LINES {
                    self.decide(Grammar::Dbench2);
                }
                return;
            }
        }
        self.line_of_known_grammar(line);
    }

    fn line_of_known_grammar(&mut self, line: &[u8]) {
        match self.grammar {
            Grammar::Dbench1 => self.sniffed_line(line),
            Grammar::Dbench2 => self.operation_line(line, false),
            Grammar::Current | Grammar::Undecided(_) => self.current_line(line),
        }
    }

    /// Sets the grammar, and compiles the queued lines.
    fn decide(&mut self, grammar: Grammar) {
        let now = self.line;
        if let Grammar::Undecided(waiting) = std::mem::replace(&mut self.grammar, grammar) {
            for (number, line) in waiting {
                self.line = number;
                self.line_of_known_grammar(&line);
            }
        }
        self.line = now;
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<Load, LoadErrors> {
        if matches!(self.grammar, Grammar::Undecided(_)) {
            self.decide(Grammar::Dbench2);
        }
        if self.naming.is_none() {
            self.decide_naming(FileAddressing::ByHandle);
        }
        self.check_end();
        self.settle_places();
        let Self {
            name, diagnostics, ..
        } = self;
        if let Some(errors) = diagnostics.finish(&name) {
            return Err(errors);
        }
        self.names.shrink();
        Ok(Load {
            generation: match (&self.grammar, self.family) {
                (Grammar::Dbench1, _) => Generation::Dbench1,
                (Grammar::Dbench2, _) => Generation::Dbench2,
                _ if self.naming == Some(FileAddressing::ByPath) => Generation::Smb,
                (_, Some((VerbSet::Nfs, ..))) => Generation::Nfs,
                _ => Generation::Cifs,
            },
            name,
            lines: self.line,
            operations: self.operations,
            has_stamps: self.has_stamps,
            code: self.writer.finish(),
            names: self.names,
            expressions: self.expressions,
            texts: self.texts,
            patterns: self.patterns,
            moved_slots: self.moved_slots,
            lines_by_kind: self.lines_by_kind,
        })
    }

    fn check_end(&mut self) {
        if self.recognised == 0 && self.strange >= STRANGE_LINES {
            self.line = 0;
            let help = "a line is an operation, its arguments and its status, such as: Unlink \"\\clients\\client1\\a\" 0x6 NT_STATUS_OK";
            let what = "not a load file: no line begins with an operation";
            self.abort(0, what, Some(help.to_owned()));
            return;
        }
        self.repeat_without_operation();
        for open in std::mem::take(&mut self.loops) {
            self.wrong_at(open.spot, "LOOP without ENDLOOP".to_owned(), None);
        }
        self.end_of_loops();
        if let Some((spot, line)) = self.handles.end() {
            self.wrong_at(
                spot,
                format!("this may write to the file outside clients/ that line {line} opens"),
                Some("write through handles that are plain numbers".to_owned()),
            );
        }
        if self.operations == 0 && self.diagnostics.count() == 0 {
            self.line = 0;
            self.abort(0, "not a load file: there is no operation in it", None);
        }
    }

    /// Reports an error at a column of the current line.
    fn wrong(&mut self, column: u32, what: String, help: Option<String>) {
        let line = self.line;
        self.wrong_at(SourcePosition { line, column }, what, help);
    }

    fn wrong_at(&mut self, spot: SourcePosition, what: String, help: Option<String>) {
        self.diagnostics.add(LoadError {
            line: spot.line,
            column: spot.column,
            message: what,
            help,
        });
    }

    fn abort(&mut self, column: u32, what: &str, help: Option<String>) {
        self.diagnostics.abort(LoadError {
            line: self.line,
            column,
            message: what.to_owned(),
            help,
        });
    }

    fn is_in_loop(&self) -> bool {
        !self.loops.is_empty()
    }
}

/// Returns a line without its terminator, and the first one without a byte order mark.
fn without_end(line: &[u8], is_first: bool) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) if is_first => rest,
        _ => line,
    }
}

/// Returns the only grammar that a line can belong to, if it is decisive.
fn told_by(line: &[u8]) -> Option<Grammar> {
    let mut words = line
        .split(|byte| matches!(byte, b' ' | b'\t'))
        .filter(|word| !word.is_empty());
    let first = words.next()?;
    let second = words.next();
    if matches!(second, Some(b"REQUEST" | b"REPLY")) || first.starts_with(b"SMB") {
        return Some(Grammar::Dbench1);
    }
    let Some(verb) = verb::find(first) else {
        return Some(Grammar::Current);
    };
    if second.is_some_and(|second| second.starts_with(b"\"")) {
        return Some(Grammar::Current);
    }
    let arguments = usize::from(second.is_some()) + words.clone().count();
    let last = words.next_back().or(second);
    // A 0x at the end may also be the argument of a line without status.
    let has_status =
        arguments > verb.names.len() + verb.needed && last.is_some_and(status::looks_like_status);
    match verb.in_dbench2 {
        Some(_) if !has_status && verb.family != VerbSet::Nfs => None,
        _ => Some(Grammar::Current),
    }
}

#[cfg(test)]
mod tests;
