//! The directories in a client's directory, by name, and the valid names in each.

use super::{VolatileDirectory, file_of, files_directory_of, link_of};

/// A directory in a client's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetEntry {
    /// A directory with data files.
    Files,
    /// A directory with changing names.
    Changing(VolatileDirectory),
}

impl SetEntry {
    /// Returns the directory with this name; `None` if filestone does not create such a name.
    pub fn of(name: &[u8]) -> Option<Self> {
        if files_directory_of(name).is_some() {
            return Some(SetEntry::Files);
        }
        let mut all = VolatileDirectory::ALL.into_iter();
        all.find(|changing| changing.directory().as_bytes() == name)
            .map(SetEntry::Changing)
    }

    /// Whether filestone creates such a name in the directory.
    pub fn gives(self, name: &[u8]) -> bool {
        match self {
            SetEntry::Files => file_of(name).is_some(),
            SetEntry::Changing(VolatileDirectory::SymbolicLinks) if link_of(name).is_some() => true,
            SetEntry::Changing(changing) => changing.number_of(name).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_set::{file_name, files_directory, link_name};

    #[test]
    fn a_directory_gives_its_own_names_and_no_others() {
        let files = SetEntry::of(files_directory(3).as_bytes()).expect("a name of a file set");
        let links = SetEntry::of(b"sym").expect("a name of a file set");
        let created = SetEntry::of(b"new").expect("a name of a file set");
        let (file, link) = (file_name(7), link_name(7));
        let given = |name: &[u8]| [files, links, created].map(|part| part.gives(name));
        assert_eq!(given(file.as_bytes()), [true, false, false]);
        assert_eq!(given(link.as_bytes()), [false, true, false]);
        assert_eq!(given(b"s0000000000000001"), [false, true, false]);
        assert_eq!(given(b"f0000000000000001"), [false, false, true]);
        assert_eq!(given(b"letter.txt"), [false; 3]);
        for name in [&b"files"[..], b"files00", b"old", b"..", b""] {
            assert_eq!(SetEntry::of(name), None);
        }
    }
}
