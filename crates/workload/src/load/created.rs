//! The names below `clients` that the lines of loads create, for all clients.
//!
//! A name is a template with [`CLIENT`] in place of the client's name, in lower case. Its
//! directories are created names, too. A name with random strings is a pattern: each character is a
//! constant, or one of a set.

use super::code::{self, Instruction, Position};
use super::compiled::Load;
use super::names::{self, NameId, handle_of, replace_placeholder};
use super::random_string::{SLOTS, slots};
use super::safety;
use crate::operation::OpKind;
use std::collections::{BTreeSet, HashSet};
use std::ops::Bound;
use std::sync::Arc;

/// Placeholder for `client<number>` in templates; no name has this byte.
pub const CLIENT: u8 = 0;
/// Maximum number of patterns of one load. Objects of further lines are unknown, and are not
/// removed.
const PATTERNS_MAX: usize = 4096;
/// Maximum number of choices of random strings for one name.
const CHOICES_MAX: usize = 256;
/// Maximum number of names that renamed directories add.
const RENAMED_MAX: usize = 1 << 20;
/// Maximum number of successive renames of a directory.
const RENAME_ROUNDS: usize = 8;

/// The names that loads create.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Created {
    /// The names of the loads, for messages.
    loads: String,
    names: BTreeSet<Vec<u8>>,
    patterns: Vec<Pattern>,
}

/// A name with some random characters.
type Pattern = Vec<Element>;

/// A character of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Element {
    Byte(u8),
    OneOf(Box<[u8]>),
}

impl Element {
    /// Whether a character can match both.
    fn meets(&self, other: &Self) -> bool {
        match other {
            Self::Byte(byte) => self.matches(*byte),
            Self::OneOf(set) => set.iter().any(|byte| self.matches(*byte)),
        }
    }

    fn matches(&self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => *own == byte,
            Self::OneOf(set) => set.contains(&byte),
        }
    }
}

/// Returns a path with the placeholder for each `client<number>` in it.
pub fn with_placeholder(path: &[u8], number: u64) -> Vec<u8> {
    let own = format!("client{number}").into_bytes();
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((first, tail)) = rest.split_first() {
        match rest.strip_prefix(own.as_slice()) {
            Some(after) => {
                out.push(CLIENT);
                rest = after;
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

/// Returns a fingerprint that is stable across processes.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    handle_of(bytes)
}

/// Returns the index of the name that a line of that kind creates, if any.
const fn created_place(kind: OpKind, only_opens: bool) -> Option<usize> {
    match kind {
        OpKind::NtCreateX if only_opens => None,
        OpKind::NtCreateX
        | OpKind::OpenX
        | OpKind::MkDir
        | OpKind::Create
        | OpKind::Link
        | OpKind::SymLink => Some(0),
        OpKind::Rename => Some(1),
        _ => None,
    }
}

/// Returns a path below `clients` from one below the directory under test.
fn below(name: &[u8]) -> Option<&[u8]> {
    let rest = name.strip_prefix(names::CLIENTS.as_bytes())?;
    rest.strip_prefix(b"/").filter(|rest| !rest.is_empty())
}

impl Created {
    /// Returns the names that these loads create.
    pub fn of(loads: &[Arc<Load>]) -> Self {
        let mut created = Self::default();
        for load in loads {
            let comma = if created.loads.is_empty() { "" } else { ", " };
            created.loads = format!("{}{comma}{}", created.loads, load.name());
            created.add(load);
        }
        // Limited by the space in a marker file.
        created.loads = created.loads.chars().take(200).collect();
        created
    }

    /// Returns the names of the loads.
    pub fn loads(&self) -> &str {
        &self.loads
    }

    /// Whether loads create this template.
    pub fn has(&self, template: &[u8]) -> bool {
        let is_match = |pattern: &Pattern| {
            let mut both = pattern.iter().zip(template);
            pattern.len() == template.len() && both.all(|(own, byte)| own.matches(*byte))
        };
        self.names.contains(template) || self.patterns.iter().any(is_match)
    }

    /// Returns a fingerprint of the names.
    pub fn fingerprint(&self) -> u64 {
        let mut bytes = Vec::new();
        for name in &self.names {
            bytes.extend_from_slice(name);
            bytes.push(b'\n');
        }
        for element in self.patterns.iter().flatten() {
            match element {
                Element::Byte(byte) => bytes.push(*byte),
                Element::OneOf(set) => bytes.extend_from_slice(set),
            }
        }
        fingerprint(&bytes)
    }

    fn add(&mut self, load: &Load) {
        let mut drawn: [BTreeSet<u32>; SLOTS] = Default::default();
        let (mut ids, mut renames) = (HashSet::new(), HashSet::new());
        let mut position = Position::default();
        while let Some(instruction) = code::read(&load.code, &mut position) {
            match instruction {
                Instruction::Draw { slot, text } => {
                    if let Some(texts) = drawn.get_mut(usize::from(slot)) {
                        texts.insert(text);
                    }
                }
                Instruction::Operation(step) => {
                    let place = created_place(step.kind, step.only_opens());
                    ids.extend(place.and_then(|place| step.names.get(place)));
                    if step.kind == OpKind::Rename {
                        renames.insert(step.names);
                    }
                }
                _ => {}
            }
        }
        for id in ids {
            if load.names.has_slots(id) {
                for components in paths(load, id, &drawn) {
                    self.add_path(&components);
                }
            } else if let Some(name) = template(load, id) {
                self.add_with_directories(&name);
            }
        }
        let is_plain = |ids: &[NameId; 2]| !ids.iter().any(|id| load.names.has_slots(*id));
        let plain = renames.iter().filter(|ids| is_plain(ids));
        let plain =
            plain.filter_map(|[from, to]| Some((template(load, *from)?, template(load, *to)?)));
        self.add_renamed(&plain.collect::<Vec<_>>());
        let patterns = |id| -> Vec<Pattern> {
            let paths = paths(load, id, &drawn);
            paths.iter().map(|path| pattern_of(path)).collect()
        };
        let renames = renames.iter().map(|ids| Renamed {
            from: patterns(ids[0]),
            to: patterns(ids[1]),
            is_drawn: !is_plain(ids),
        });
        self.add_renamed_patterns(&renames.collect::<Vec<_>>());
    }

    fn add_with_directories(&mut self, name: &[u8]) {
        let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for (at, _) in slashes {
            self.names.insert(name.get(..at).unwrap_or_default().into());
        }
        self.names.insert(name.into());
    }

    /// Adds the new names of objects that were created in a renamed directory.
    fn add_renamed(&mut self, renames: &[(Vec<u8>, Vec<u8>)]) {
        let mut room = RENAMED_MAX;
        for _ in 0..RENAME_ROUNDS {
            let mut new = Vec::new();
            for (from, to) in renames {
                let first = [from, b"/".as_slice()].concat();
                let inside = self
                    .names
                    .range::<[u8], _>((Bound::Included(first.as_slice()), Bound::Unbounded));
                let inside = inside.map_while(|name| name.strip_prefix(first.as_slice()));
                let moved = inside.map(|rest| [to, b"/".as_slice(), rest].concat());
                let is_new = |name: &Vec<u8>| !self.names.contains(name);
                new.extend(moved.filter(is_new).take(room));
                room = RENAMED_MAX.saturating_sub(new.len());
            }
            if new.is_empty() || room == 0 {
                return;
            }
            self.names.extend(new);
        }
    }

    /// Adds a path and its directories.
    fn add_path(&mut self, components: &[Pattern]) {
        for len in 1..=components.len() {
            self.add_pattern(pattern_of(components.get(..len).unwrap_or_default()));
        }
    }

    /// Adds a pattern. Returns whether it is new.
    fn add_pattern(&mut self, pattern: Pattern) -> bool {
        let is_new = self.patterns.len() < PATTERNS_MAX && !self.patterns.contains(&pattern);
        if is_new {
            self.patterns.push(pattern);
        }
        is_new
    }

    /// Does the same as [`add_renamed`](Self::add_renamed) for names with random strings, of
    /// objects or of directories.
    fn add_renamed_patterns(&mut self, renames: &[Renamed]) {
        if self.patterns.is_empty() && !renames.iter().any(|renamed| renamed.is_drawn) {
            return;
        }
        let plain = self.names.iter().take(PATTERNS_MAX);
        let plain: Vec<Pattern> = plain
            .map(|name| name.iter().map(|byte| Element::Byte(*byte)).collect())
            .collect();
        for _ in 0..RENAME_ROUNDS {
            let mut moved: Vec<Pattern> = Vec::new();
            for Renamed { from, to, is_drawn } in renames {
                let plain = plain.iter().filter(|_| *is_drawn);
                let all = self.patterns.iter().chain(plain);
                let rests =
                    all.flat_map(|path| from.iter().filter_map(|from| rest_below(path, from)));
                let rests: Vec<&[Element]> = rests.take(PATTERNS_MAX).collect();
                for to in to {
                    moved.extend(rests.iter().map(|rest| [to.as_slice(), *rest].concat()));
                    moved.truncate(PATTERNS_MAX);
                }
            }
            let mut is_any_new = false;
            for path in moved {
                is_any_new |= self.add_pattern(path);
            }
            if !is_any_new {
                return;
            }
        }
    }
}

/// A renamed directory: all names that it can have before and after.
struct Renamed {
    from: Vec<Pattern>,
    to: Vec<Pattern>,
    is_drawn: bool,
}

/// Returns the rest of a path that may be in a directory, with the slash.
fn rest_below<'p>(path: &'p [Element], directory: &[Element]) -> Option<&'p [Element]> {
    let (head, rest) = path.split_at_checked(directory.len())?;
    let mut both = head.iter().zip(directory);
    let is_in_it = both.all(|(one, other)| one.meets(other));
    (is_in_it && rest.first() == Some(&Element::Byte(b'/'))).then_some(rest)
}

/// Returns the components of a name of the load below `clients`, for each choice of its random
/// strings.
fn paths(load: &Load, id: NameId, drawn: &[BTreeSet<u32>; SLOTS]) -> Vec<Vec<Pattern>> {
    let text = load.names.template(id);
    let is_moved = safety::is_moved(&text, load.moved_slots);
    let mut choices: Vec<Pattern> = vec![Vec::new()];
    let mut copied = 0;
    for (at, slot) in slots(&text) {
        let plain = text.get(copied..at).unwrap_or_default();
        copied = at + 2;
        let mut next = Vec::new();
        for choice in &choices {
            for text in drawn.get(slot).into_iter().flatten() {
                let text = load.texts.get(*text as usize).map_or(&[][..], |text| text);
                let plain = plain.iter().map(|byte| Element::Byte(*byte));
                let drawn = elements(text);
                next.push(choice.iter().cloned().chain(plain).chain(drawn).collect());
            }
        }
        next.truncate(CHOICES_MAX);
        choices = next;
    }
    let rest = text.get(copied..).unwrap_or_default();
    let rest = rest.iter().map(|byte| Element::Byte(*byte));
    let whole = choices
        .into_iter()
        .map(|choice| choice.into_iter().chain(rest.clone()));
    whole
        .filter_map(|elements| below_clients(&elements.collect::<Pattern>(), is_moved))
        .collect()
}

/// Returns the components below `clients`; `None` if a path is outside and not moved.
fn below_clients(elements: &[Element], is_moved: bool) -> Option<Vec<Pattern>> {
    let mut components = components(elements)?;
    let is_below = components.first().is_some_and(|first| {
        let own = names::CLIENTS.bytes().map(Element::Byte);
        own.eq(first.iter().cloned())
    });
    if is_below {
        components.remove(0);
    }
    (is_below || is_moved).then_some(components)
}

fn pattern_of(components: &[Pattern]) -> Pattern {
    with_client(&components.join(&Element::Byte(b'/')))
}

/// Returns a name of the load below `clients`, as a template.
fn template(load: &Load, id: NameId) -> Option<Vec<u8>> {
    let name = load.names.template(id);
    let mut template = Vec::with_capacity(name.len());
    replace_placeholder(below(&name)?, &mut template, |out| out.push(CLIENT));
    template.make_ascii_lowercase();
    Some(template)
}

/// Returns the characters of a random string's text.
fn elements(text: &[u8]) -> Pattern {
    let mut elements = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let end = (*first == b'[').then(|| after.iter().position(|byte| *byte == b']'));
        match end.flatten() {
            Some(end) => {
                let set = after.get(..end).unwrap_or_default();
                elements.push(Element::OneOf(set.to_ascii_lowercase().into()));
                rest = after.get(end + 1..).unwrap_or_default();
            }
            None => elements.push(Element::Byte(*first)),
        }
    }
    elements
}

/// Returns the components of a pattern in lower case; `None` if a set has a slash in it.
fn components(elements: &[Element]) -> Option<Vec<Pattern>> {
    let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let mut components = vec![Vec::new()];
    for element in elements {
        match element {
            Element::OneOf(set) if set.iter().any(is_slash) => return None,
            Element::Byte(byte) if is_slash(byte) => components.push(Vec::new()),
            Element::Byte(byte) => {
                let byte = byte.to_ascii_lowercase();
                components.last_mut()?.push(Element::Byte(byte));
            }
            set @ Element::OneOf(_) => components.last_mut()?.push(set.clone()),
        }
    }
    components.retain(|component| !component.is_empty());
    Some(components)
}

/// Returns the elements with the placeholder in place of `client1`.
fn with_client(elements: &[Element]) -> Pattern {
    let own: Vec<Element> = b"client1".iter().map(|byte| Element::Byte(*byte)).collect();
    let mut out = Vec::new();
    let mut rest = elements;
    while let Some((first, tail)) = rest.split_first() {
        match rest.strip_prefix(own.as_slice()) {
            Some(after) => {
                out.push(Element::Byte(CLIENT));
                rest = after;
            }
            None => {
                out.push(first.clone());
                rest = tail;
            }
        }
    }
    out
}
