//! Names of a line: checked, put into the table, and told what may be done to
//! them.

use super::super::names::{self, NameId, Place};
use super::super::random_string;
use super::super::safety;
use super::super::verb::FileAddressing;
use super::tokens::Token;
use super::{Compiler, shown};
use crate::operation::OpKind;

impl Compiler {
    /// The name that a word is. After a problem, some name.
    pub(super) fn name(&mut self, word: &Token<'_>) -> NameId {
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
        // What `$1` is depends on the lines before.
        if random_string::slots(word.text).next().is_none() {
            self.seen_names.remember(word.text, id);
        }
        id
    }

    /// Puts a name into the table; below `clients` if the load has no `clients` of its own. One
    /// that begins with a random string is moved when it is known.
    fn keep_place(&mut self, relative: Vec<u8>, has_slots: bool) -> NameId {
        let is_drawn = has_slots && safety::leading_slot(&relative).is_some();
        if self.naming != Some(FileAddressing::ByPath)
            || is_drawn
            || names::place(&relative) != Place::Outside
        {
            return self.keep_name(&relative, has_slots);
        }
        let moved = safety::moved(relative);
        let id = self.names.add(&moved, has_slots);
        self.names.mark_moved();
        // Where it is, is known at the end of the file.
        self.learned(id, b"")
    }

    /// Puts a name in its relative form into the table.
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

    /// The text of a symbolic link: not a name of the directory under test, so it
    /// stays as it is but for `\` and the client's number.
    pub(super) fn link_text(&mut self, word: &Token<'_>) -> NameId {
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

    /// Whether random strings belong into a word, and whether there are such.
    /// Before the first RANDOMSTRING a `$` is a plain character, as it is in names
    /// of the NetBench load.
    pub(super) fn checked_slots(&mut self, word: &Token<'_>) -> bool {
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

    /// Checks what is done to a name, and says where it is if that is known.
    pub(super) fn check_place(
        &mut self,
        kind: OpKind,
        changes: bool,
        id: NameId,
        column: u32,
    ) -> Option<Place> {
        self.changes |= changes;
        let relative = self.names.template(id);
        let slot = safety::leading_slot(&relative).filter(|_| self.names.has_slots(id));
        if let Some(slot) = slot {
            // It is checked when it runs; and if it is changed, it is moved.
            self.moved_slots |= if changes { 1 << slot } else { 0 };
            return None;
        }
        let place = names::place(&relative);
        let fault = match place {
            Place::Inside => return Some(place),
            Place::Clients if safety::may_be_clients(kind) => return Some(place),
            Place::Outside | Place::Clients | Place::Marker if !changes => return Some(place),
            Place::Outside => "is not in clients/",
            Place::Clients => "holds the trees of all clients",
            Place::Marker => "is the run's own mark",
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
