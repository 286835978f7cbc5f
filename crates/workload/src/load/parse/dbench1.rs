//! Lines of dbench 1: a sniffer's REQUEST and REPLY lines.
//!
//! Names are in lower case in the compiled form, and those outside `clients` are moved below it:
//! the traced machine had other files next to it. A request waits for its reply if its execution
//! needs data from the reply.

use super::super::action;
use super::super::code::{CompiledOperation, NAMES, NUMBERS, Operand};
use super::super::expected::Expected;
use super::super::names::{self, NameId};
use super::super::number::c_number;
use super::super::safety;
use super::tokens::{self, LineToken};
use super::{Compiler, shown};
use crate::operation::OpKind;

/// The handle that dbench 1 uses for CREATE.
const CREATE_HANDLE: u64 = 5_000;

/// Requests that wait for their replies.
#[derive(Debug, Default)]
pub(super) struct PendingTraceRequests {
    opened: Option<NameId>,
    unlinked: Option<NameId>,
    looked_at: Option<NameId>,
}

/// Verbs of the trace that dbench 1 ignores.
const PASSED_OVER: &[&str] = &[
    "SMBtrans2",
    "SMBfindclose",
    "SMBlockingX",
    "SMBflush",
    "SMBdskattr",
    "SMBlseek",
    "SMBsetatr",
];

/// Verbs whose reply has no data that execution needs.
const OF_REQUEST: &[&str] = &[
    "CREATE",
    "SMBclose",
    "SMBmkdir",
    "SMBrmdir",
    "SMBmv",
    "SMBwrite",
    "SMBwritebraw",
    "SMBread",
    "SMBreadbraw",
];

impl Compiler {
    /// Parses one line: `verb REQUEST|REPLY keyword value…`.
    pub(super) fn sniffed_line(&mut self, line: &[u8]) {
        let words = match tokens::words(line, false) {
            Ok(words) => words,
            Err(bad) => return self.wrong(bad.column, bad.what.to_owned(), None),
        };
        let (verb, side, values) = match words.all() {
            [verb, side, values @ ..] => (verb, side, values),
            [verb, ..] => {
                let column = verb.column;
                return self.wrong(column, "neither REQUEST nor REPLY".to_owned(), None);
            }
            [] => return,
        };
        let is_request = match side.text {
            b"REQUEST" => true,
            b"REPLY" => false,
            other => {
                let what = format!("\"{}\" is neither REQUEST nor REPLY", shown(other));
                return self.wrong(side.column, what, None);
            }
        };
        let is_failure = values
            .first()
            .is_some_and(|word| word.text.starts_with(b"ERR"));
        match (verb.text, is_request) {
            (b"SMBopenX", true) => self.sniffed.opened = self.sniffed_name(verb, values, "Path"),
            (b"SMBunlink", true) => self.sniffed.unlinked = self.sniffed_name(verb, values, "Path"),
            (b"SMBgetatr", true) => {
                self.sniffed.looked_at = self.sniffed_name(verb, values, "Path")
            }
            (b"SMBopenX", false) => {
                let name = self.sniffed.opened.take().filter(|_| !is_failure);
                self.open_reply(verb, values, name);
            }
            (b"SMBunlink", false) => {
                let name = self.sniffed.unlinked.take().filter(|_| !is_failure);
                self.on_name(OpKind::Unlink, name);
            }
            (b"SMBgetatr", false) => {
                let name = self.sniffed.looked_at.take().filter(|_| !is_failure);
                self.on_name(OpKind::QueryPathInformation, name);
            }
            (_, true) => self.request(verb, values),
            (_, false) => {}
        }
        self.recognise(verb);
    }

    fn recognise(&mut self, verb: &LineToken<'_>) {
        let words = ["SMBopenX", "SMBunlink", "SMBgetatr"]
            .iter()
            .chain(PASSED_OVER)
            .chain(OF_REQUEST);
        if words.clone().any(|word| word.as_bytes() == verb.text) {
            self.recognised += 1;
            return;
        }
        let meant = super::super::diagnostic::suggestion(verb.text, words.copied());
        self.wrong(
            verb.column,
            format!("dbench 1 has no \"{}\"", shown(verb.text)),
            meant.map(|meant| format!("did you mean {meant}?")),
        );
    }

    /// Parses a request that is executed independent of the reply.
    fn request(&mut self, verb: &LineToken<'_>, values: &[LineToken<'_>]) {
        match verb.text {
            b"SMBmkdir" | b"SMBrmdir" => {
                let name = self.sniffed_name(verb, values, "Path");
                let kind = if verb.text == b"SMBmkdir" {
                    OpKind::MkDir
                } else {
                    OpKind::RmDir
                };
                self.on_name(kind, name);
            }
            b"SMBmv" => self.rename(verb, values),
            b"SMBclose" => {
                if let Some(handle) = self.value(verb, values, "Handle") {
                    self.on_handle(OpKind::Close, [handle, 0, 0, 0]);
                }
            }
            b"SMBwrite" => self.transfer(OpKind::WriteX, verb, values, "ByteCount"),
            b"SMBwritebraw" => self.transfer(OpKind::WriteX, verb, values, "DataSize"),
            b"SMBread" => self.transfer(OpKind::ReadX, verb, values, "ByteCount"),
            b"SMBreadbraw" => self.transfer(OpKind::ReadX, verb, values, "MaxCount"),
            b"CREATE" => self.create(verb, values),
            _ => {}
        }
    }

    fn open_reply(&mut self, verb: &LineToken<'_>, values: &[LineToken<'_>], name: Option<NameId>) {
        let Some(name) = name else { return };
        let handle = self.value(verb, values, "Handle");
        let size = self.value(verb, values, "Size");
        if let (Some(handle), Some(size)) = (handle, size) {
            self.open(name, size, handle);
            self.count(OpKind::OpenX);
        }
    }

    fn open(&mut self, name: NameId, size: u64, handle: u64) {
        // A shorter file is extended to that length by writing.
        self.check_length(OpKind::OpenX, 0, size);
        self.handles.open(handle, self.line, false, false);
        self.existence.made(name);
        self.sniffed_step(
            OpKind::OpenX,
            [name, 0],
            [size, handle, 0, 0],
            Expected::Success,
        );
    }

    fn check_length(&mut self, kind: OpKind, place: usize, len: u64) {
        if let Err(what) = action::check(kind, place, len) {
            self.wrong(1, what, None);
        }
    }

    /// Parses a CREATE: one line and one operation, although it opens and closes.
    fn create(&mut self, verb: &LineToken<'_>, values: &[LineToken<'_>]) {
        let name = self.sniffed_name(verb, values, "Path");
        let size = self.value(verb, values, "Size");
        if let (Some(name), Some(size)) = (name, size) {
            self.open(name, size, CREATE_HANDLE);
            self.count(OpKind::OpenX);
            let close = [CREATE_HANDLE, 0, 0, 0];
            self.handles.close(CREATE_HANDLE, self.line, false);
            self.sniffed_step(OpKind::Close, [0, 0], close, Expected::Success);
        }
    }

    fn transfer(
        &mut self,
        kind: OpKind,
        verb: &LineToken<'_>,
        values: &[LineToken<'_>],
        size: &str,
    ) {
        let handle = self.value(verb, values, "Handle");
        let offset = self.value(verb, values, "Offset");
        let len = self.value(verb, values, size);
        if let (Some(handle), Some(offset), Some(len)) = (handle, offset, len) {
            self.on_handle(kind, [handle, offset, len, len]);
        }
    }

    fn on_handle(&mut self, kind: OpKind, numbers: [u64; NUMBERS]) {
        let [handle, _, len, _] = numbers;
        self.check_length(kind, 2, len);
        // The trace does not contain the number of bytes that a read returned, and dbench 1 only
        // warned about operations on handles that the trace does not open.
        let expected = if self.handles.is_open(handle) && kind != OpKind::ReadX {
            Expected::Success
        } else {
            Expected::Anything
        };
        if kind == OpKind::Close {
            self.handles.close(handle, self.line, false);
        }
        self.sniffed_step(kind, [0, 0], numbers, expected);
        self.count(kind);
    }

    /// Writes an operation on one name, if there is one.
    fn on_name(&mut self, kind: OpKind, name: Option<NameId>) {
        let Some(name) = name else { return };
        let expected = match kind {
            OpKind::MkDir | OpKind::RmDir => Expected::Anything,
            _ => self.expected_of(name),
        };
        if kind == OpKind::MkDir {
            self.existence.made(name);
        }
        self.sniffed_step(kind, [name, 0], [0; NUMBERS], expected);
        self.count(kind);
    }

    /// Returns the expected result. The trace contains a success, but only objects that the trace
    /// created exist.
    fn expected_of(&self, name: NameId) -> Expected {
        if self.existence.is_made_and_own(name) {
            Expected::Success
        } else {
            Expected::Anything
        }
    }

    fn rename(&mut self, verb: &LineToken<'_>, values: &[LineToken<'_>]) {
        let from = self.sniffed_name(verb, values, "OldPath");
        let to = self.sniffed_name(verb, values, "NewPath");
        if let (Some(from), Some(to)) = (from, to) {
            let expected = self.expected_of(from);
            self.existence.made_with_content(to);
            self.sniffed_step(OpKind::Rename, [from, to], [0; NUMBERS], expected);
            self.count(OpKind::Rename);
        }
    }

    fn sniffed_step(
        &mut self,
        kind: OpKind,
        names: [NameId; NAMES],
        numbers: [u64; NUMBERS],
        expected: Expected,
    ) {
        let step = CompiledOperation {
            kind,
            expected,
            stamp: None,
            names,
            numbers: numbers.map(Operand::Literal),
        };
        self.emit(&step);
    }

    /// Returns the number after a keyword.
    fn value(
        &mut self,
        verb: &LineToken<'_>,
        values: &[LineToken<'_>],
        keyword: &str,
    ) -> Option<u64> {
        let word = self.after(verb, values, keyword)?;
        match c_number(word.text) {
            Ok(value) => Some(value),
            Err(fault) => {
                let what = format!("{keyword} \"{}\" {}", shown(word.text), fault.what());
                self.wrong(word.column, what, None);
                None
            }
        }
    }

    /// Returns the name after a keyword.
    fn sniffed_name(
        &mut self,
        verb: &LineToken<'_>,
        values: &[LineToken<'_>],
        keyword: &str,
    ) -> Option<NameId> {
        let word = self.after(verb, values, keyword)?;
        if let Some(id) = self.seen_names.find(word.text) {
            return Some(id);
        }
        let mut relative = Vec::new();
        if let Err(fault) = names::normalise(&word.text.to_ascii_lowercase(), &mut relative) {
            let what = format!("the name \"{}\" {}", shown(word.text), fault.what());
            self.wrong(word.column, what, None);
            return None;
        }
        let relative = safety::moved(relative);
        if names::place(&relative) == names::NameLocation::Marker {
            self.wrong(
                word.column,
                "this name is the run's own mark".to_owned(),
                None,
            );
            return None;
        }
        let id = self.keep_name(&relative, false);
        self.seen_names.remember(word.text, id);
        Some(id)
    }

    fn after<'w, 'l>(
        &mut self,
        verb: &LineToken<'_>,
        values: &'w [LineToken<'l>],
        keyword: &str,
    ) -> Option<&'w LineToken<'l>> {
        let is_keyword = |word: &LineToken<'_>| word.text == keyword.as_bytes();
        let mut rest = values.iter().skip_while(|word| !is_keyword(word)).skip(1);
        let found = rest.next();
        if found.is_none() {
            self.wrong(
                verb.column,
                format!("{} without {keyword}", shown(verb.text)),
                None,
            );
        }
        found
    }
}
