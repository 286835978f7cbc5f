//! The names of a load file: stored once each, checked, and expanded for a client.
//!
//! A name is stored in its final form except for the client's number: relative, with `/` between
//! components. In place of `client1` in the load file, the stored form has [`CLIENT`], a byte that
//! no name can have.

use std::collections::HashMap;

/// Maximum length of a name (PATH_MAX without its NUL).
pub(super) const LONGEST_NAME: usize = 4_095;
/// Maximum length of a component of a name (NAME_MAX).
pub(super) const LONGEST_COMPONENT: usize = 255;
/// Placeholder for `client<id>` in stored names.
const CLIENT: u8 = 0;
/// Name of the client in load files.
const PLACEHOLDER: &[u8] = b"client1";
/// Maximum number of digits of a client's number.
const MOST_DIGITS: usize = 10;

/// Index of a name in the table.
pub(super) type NameId = u32;

#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    len: u16,
    /// Position of the first [`CLIENT`]; `len` if there is none.
    client: u16,
    has_slots: bool,
    /// Whether it was moved below [`CLIENTS`].
    is_moved: bool,
}

/// The names of a load.
#[derive(Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl Names {
    /// Stores a name; `None` if the table is full.
    pub(super) fn add(&mut self, name: &[u8], has_slots: bool) -> Option<NameId> {
        let id = NameId::try_from(self.entries.len()).ok()?;
        let start = u32::try_from(self.bytes.len()).ok()?;
        replace_placeholder(name, &mut self.bytes, |bytes| bytes.push(CLIENT));
        let (_, kept) = self.bytes.split_at(start as usize);
        let len = u16::try_from(kept.len()).ok()?;
        let client = kept.iter().position(|byte| *byte == CLIENT);
        self.entries.push(Entry {
            start,
            len,
            client: client.map_or(len, |at| at as u16),
            has_slots,
            is_moved: false,
        });
        Some(id)
    }

    /// Marks the last name as moved below [`CLIENTS`].
    pub(super) fn mark_moved(&mut self) {
        if let Some(entry) = self.entries.last_mut() {
            entry.is_moved = true;
        }
    }

    /// Moves names back that were moved below [`CLIENTS`].
    pub(super) fn put_back(&mut self) {
        let prefix = CLIENTS.len() as u16 + 1;
        for entry in self.entries.iter_mut().filter(|entry| entry.is_moved) {
            // The directory under test itself was replaced by CLIENTS, without a slash.
            let cut = prefix.min(entry.len);
            entry.start += u32::from(cut);
            entry.len -= cut;
            entry.client = entry.client.saturating_sub(cut);
            entry.is_moved = false;
        }
    }

    /// Returns the memory use in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.entries.len() * size_of::<Entry>()
    }

    /// Releases unused capacity.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.entries.shrink_to_fit();
    }

    /// Whether the name has random strings.
    pub(super) fn has_slots(&self, id: NameId) -> bool {
        self.entries
            .get(id as usize)
            .is_some_and(|entry| entry.has_slots)
    }

    fn kept(&self, entry: Entry) -> &[u8] {
        let start = entry.start as usize;
        self.bytes
            .get(start..start + usize::from(entry.len))
            .unwrap_or_default()
    }

    /// Writes the name into `out` with `client` in place of `client1`.
    #[inline]
    pub(super) fn expand(&self, id: NameId, client: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let Some(entry) = self.entries.get(id as usize) else {
            return;
        };
        let (head, rest) = self.kept(*entry).split_at(usize::from(entry.client));
        out.extend_from_slice(head);
        for part in rest.split(|byte| *byte == CLIENT).skip(1) {
            out.extend_from_slice(client);
            out.extend_from_slice(part);
        }
    }

    /// Returns the name as in the load file.
    pub(super) fn template(&self, id: NameId) -> Vec<u8> {
        let mut name = Vec::new();
        self.expand(id, PLACEHOLDER, &mut name);
        name
    }
}

/// Copies `name`, and calls `instead` at every `client1`.
pub(super) fn replace_placeholder(name: &[u8], out: &mut Vec<u8>, instead: impl Fn(&mut Vec<u8>)) {
    let mut rest = name;
    while let Some((first, tail)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(PLACEHOLDER) {
            instead(out);
            rest = after;
        } else {
            out.push(*first);
            rest = tail;
        }
    }
}

/// Reason why a name cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameError {
    /// A component is `.` or `..`.
    Dots,
    /// The name has a NUL byte.
    Nul,
    /// The name has more than [`LONGEST_NAME`] bytes.
    Long,
    /// A component has more than [`LONGEST_COMPONENT`] bytes.
    LongComponent,
}

impl NameError {
    /// Returns a description that follows the name.
    pub(super) const fn what(self) -> &'static str {
        match self {
            NameError::Dots => "has a component \".\" or \"..\"",
            NameError::Nul => "has a NUL byte",
            NameError::Long => "is longer than 4,095 bytes",
            NameError::LongComponent => "has a component longer than 255 bytes",
        }
    }
}

/// Writes the relative form of `name` into `out`: `/` instead of `\`, no slash at either end, no
/// double slashes.
pub(super) fn normalise(name: &[u8], out: &mut Vec<u8>) -> Result<(), NameError> {
    out.clear();
    if name.contains(&0) {
        return Err(NameError::Nul);
    }
    let mut total = 0;
    for component in name.split(|byte| matches!(byte, b'/' | b'\\')) {
        if component.is_empty() {
            continue;
        }
        if matches!(component, b"." | b"..") {
            return Err(NameError::Dots);
        }
        let len = longest_expansion(component);
        total += len + 1;
        if len > LONGEST_COMPONENT {
            return Err(NameError::LongComponent);
        }
        if total > LONGEST_NAME + 1 {
            return Err(NameError::Long);
        }
        if !out.is_empty() {
            out.push(b'/');
        }
        out.extend_from_slice(component);
    }
    Ok(())
}

/// Returns the length of a component for the client with the highest number.
fn longest_expansion(component: &[u8]) -> usize {
    let placeholders = component
        .windows(PLACEHOLDER.len())
        .filter(|window| *window == PLACEHOLDER)
        .count();
    component.len() + placeholders * (MOST_DIGITS - 1)
}

/// Returns the handle for a path in its relative form (FNV-1a, 64 bits).
pub(super) fn handle_of(relative: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    relative.iter().fold(BASIS, mix)
}

/// Location of a name for safety checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameLocation {
    /// Below `clients`: a load may modify it.
    Inside,
    /// `clients` itself.
    Clients,
    /// The run's marker file in `clients`.
    Marker,
    /// Anywhere else: a load may only read it.
    Outside,
}

/// The directory that belongs to the run.
pub const CLIENTS: &str = "clients";
/// The marker file, which identifies a run's directory: it names the owner.
pub const MARKER: &str = "made-by-filestone";

/// Returns the location of a name in its relative form.
pub(super) fn place(name: &[u8]) -> NameLocation {
    let mut components = name.split(|byte| *byte == b'/');
    if components.next() != Some(CLIENTS.as_bytes()) {
        return NameLocation::Outside;
    }
    match components.next() {
        None => NameLocation::Clients,
        Some(second) if second.eq_ignore_ascii_case(MARKER.as_bytes()) => NameLocation::Marker,
        Some(_) => NameLocation::Inside,
    }
}

/// Cache of names that were already converted.
#[derive(Debug, Default)]
pub(super) struct Interner {
    ids: HashMap<Box<[u8]>, NameId>,
}

impl Interner {
    /// Returns the id of the name that these bytes of the file were converted to.
    #[inline]
    pub(super) fn find(&self, raw: &[u8]) -> Option<NameId> {
        self.ids.get(raw).copied()
    }

    /// Stores the id for these bytes.
    pub(super) fn remember(&mut self, raw: &[u8], id: NameId) {
        self.ids.insert(raw.into(), id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(name: &str) -> Result<String, NameError> {
        let mut out = Vec::new();
        normalise(name.as_bytes(), &mut out)?;
        Ok(String::from_utf8(out).expect("it was text"))
    }

    #[test]
    fn names_are_relative_with_single_slashes() {
        assert_eq!(normal(r"\clients\client1"), Ok("clients/client1".into()));
        assert_eq!(normal("//a///b/"), Ok("a/b".into()));
        assert_eq!(normal("/"), Ok(String::new()));
        assert_eq!(normal("/a/../b"), Err(NameError::Dots));
        assert_eq!(normal("a\0"), Err(NameError::Nul));
        assert_eq!(normal(&"x".repeat(256)), Err(NameError::LongComponent));
        assert_eq!(normal(&"x".repeat(255)), Ok("x".repeat(255)));
        assert_eq!(
            normal(&"/xyz".repeat(1_024)),
            Ok("xyz/".repeat(1_024)[..4_095].into())
        );
        assert_eq!(normal(&"/xyz".repeat(1_025)), Err(NameError::Long));
    }

    #[test]
    fn every_occurrence_of_client1_is_the_clients_own_number() {
        let mut names = Names::default();
        let id = names
            .add(b"clients/client1/of_client1", false)
            .expect("room");
        let mut out = Vec::new();
        names.expand(id, b"client0", &mut out);
        assert_eq!(out, b"clients/client0/of_client0");
        assert_eq!(names.template(id), b"clients/client1/of_client1");
        let id = names.add(b"plain", false).expect("room");
        names.expand(id, b"client0", &mut out);
        assert_eq!(out, b"plain");
    }

    #[test]
    fn what_was_moved_can_be_put_back() {
        let mut names = Names::default();
        for name in ["clients/client1/a", "clients", "clients/plain"] {
            names.add(name.as_bytes(), false).expect("room");
            names.mark_moved();
        }
        let kept = names.add(b"clients/kept", false).expect("room");
        names.put_back();
        let mut out = Vec::new();
        names.expand(0, b"client7", &mut out);
        assert_eq!(out, b"client7/a");
        assert_eq!(names.template(1), b"");
        assert_eq!(names.template(2), b"plain");
        assert_eq!(names.template(kept), b"clients/kept");
    }

    #[test]
    fn handles_of_paths_are_those_of_the_hash_published() {
        // Test vectors of the hash's authors (isthe.com/chongo/src/fnv/test_fnv.c).
        assert_eq!(handle_of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(handle_of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(handle_of(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn only_what_is_below_clients_is_inside() {
        assert_eq!(place(b"clients/client1"), NameLocation::Inside);
        assert_eq!(place(b"clients"), NameLocation::Clients);
        assert_eq!(place(b"clients/made-by-filestone"), NameLocation::Marker);
        assert_eq!(place(b"clientsx/a"), NameLocation::Outside);
        assert_eq!(place(b""), NameLocation::Outside);
    }
}
