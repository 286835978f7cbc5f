//! Names of a line: checks, entry in the table, and permission checks.

use super::super::names::{self, NameId, NameLocation};
use super::super::random_string;
use super::super::safety;
use super::super::verb::FileAddressing;
use super::tokens::LineToken;
use super::{Compiler, shown};
use crate::operation::OpKind;

impl Compiler {
    /// Returns the name of a word. After an error, returns any name.
    pub(super) fn name(&mut self, word: &LineToken<'_>) -> NameId {
        if let Some(id) = self.seen_names.find(word.text) {
            return id;
        }
        let mut relative = Vec::new();
        if let Err(fault) = names::normalise(word.text, &mut relative) {
            let what = format!("the name \"{}\" {}", shown(word.text), fault.what());
            self.wrong(word.column, what, None);
            return 0;
        }
        let has_slots = self.checked_slots(word);
        let id = self.keep_place(relative, has_slots);
        // The value of `$1` depends on previous lines.
        if random_string::slots(word.text).next().is_none() {
            self.seen_names.remember(word.text, id);
        }
        id
    }

    /// Enters a name into the table, moved below `clients` if the load does not use `clients`. A
    /// name that begins with a random string is moved at run time.
    fn keep_place(&mut self, relative: Vec<u8>, has_slots: bool) -> NameId {
        let is_drawn = has_slots && safety::leading_slot(&relative).is_some();
        if self.naming != Some(FileAddressing::ByPath)
            || is_drawn
            || names::place(&relative) != NameLocation::Outside
        {
            return self.keep_name(&relative, has_slots);
        }
        let moved = safety::moved(relative);
        let id = self.names.add(&moved, has_slots);
        self.names.mark_moved();
        // Its location is known at the end of the file.
        self.learned(id, b"")
    }

    /// Enters a name in its relative form into the table.
    pub(super) fn keep_name(&mut self, relative: &[u8], has_slots: bool) -> NameId {
        let id = self.names.add(relative, has_slots);
        self.learned(id, relative)
    }

    fn learned(&mut self, id: Option<NameId>, relative: &[u8]) -> NameId {
        match id {
            Some(id) => {
                self.existence.record_name(id, relative);
                id
            }
            None => {
                self.abort(1, "the names of this file take more than 4 GiB", None);
                0
            }
        }
    }

    /// Returns the target of a symbolic link. It is not a name of the directory under test, so only
    /// `\` and the client's number are replaced.
    pub(super) fn link_text(&mut self, word: &LineToken<'_>) -> NameId {
        if let Some(id) = self.seen_texts.find(word.text) {
            return id;
        }
        let slashed = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
        let text: Vec<u8> = word.text.iter().map(slashed).collect();
        if let Err(what) = safety::link_text(&text) {
            self.wrong(word.column, what.to_owned(), None);
            return 0;
        }
        let has_slots = self.checked_slots(word);
        let id = self.keep_name(&text, has_slots);
        if random_string::slots(word.text).next().is_none() {
            self.seen_texts.remember(word.text, id);
        }
        id
    }

    /// Whether a word has random strings; reports undefined ones. Before the first RANDOMSTRING a
    /// `$` is a plain character, as in names of the NetBench load.
    pub(super) fn checked_slots(&mut self, word: &LineToken<'_>) -> bool {
        if self.slots == 0 {
            return false;
        }
        let mut has_slots = false;
        for (at, slot) in random_string::slots(word.text) {
            has_slots = true;
            if self.slots & (1 << slot) == 0 {
                let column = word.column + u32::from(word.is_quoted) + at as u32;
                self.wrong(
                    column,
                    format!("${slot} is empty: no RANDOMSTRING {slot} stands before this line"),
                    None,
                );
            }
        }
        has_slots
    }

    /// Checks the operation on a name, and returns its location if it is known.
    pub(super) fn check_place(
        &mut self,
        kind: OpKind,
        changes: bool,
        id: NameId,
        column: u32,
    ) -> Option<NameLocation> {
        self.changes |= changes;
        let relative = self.names.template(id);
        let slot = safety::leading_slot(&relative).filter(|_| self.names.has_slots(id));
        if let Some(slot) = slot {
            // It is checked at run time, and moved if it is modified.
            self.moved_slots |= if changes { 1 << slot } else { 0 };
            return None;
        }
        let place = names::place(&relative);
        let fault = match place {
            NameLocation::Inside => return Some(place),
            NameLocation::Clients if safety::may_be_clients(kind) => return Some(place),
            NameLocation::Outside | NameLocation::Clients | NameLocation::Marker if !changes => {
                return Some(place);
            }
            NameLocation::Outside => "is not in clients/",
            NameLocation::Clients => "holds the trees of all clients",
            NameLocation::Marker => "is the run's own mark",
        };
        let shown = shown(&relative);
        self.wrong(
            column,
            format!("\"/{shown}\" {fault}, so {} may not change it", kind.name()),
            Some("a load changes nothing but what is below /clients, such as \"/clients/client1/file\"".to_owned()),
        );
        Some(place)
    }
}
