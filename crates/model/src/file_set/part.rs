//! The directories in a client's directory, known by their names, and what may be in each.

use super::{Changing, file_of, files_directory_of, link_of};

/// A directory in a client's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// One of those that data files are in.
    Files,
    /// One in which names come and go.
    Changing(Changing),
}

impl Part {
    /// Which one has this name; `None` if we give no such name.
    pub fn of(name: &[u8]) -> Option<Self> {
        if files_directory_of(name).is_some() {
            return Some(Part::Files);
        }
        let mut all = Changing::ALL.into_iter();
        all.find(|changing| changing.directory().as_bytes() == name)
            .map(Part::Changing)
    }

    /// Whether we give such a name in it.
    pub fn gives(self, name: &[u8]) -> bool {
        match self {
            Part::Files => file_of(name).is_some(),
            Part::Changing(Changing::SymbolicLinks) if link_of(name).is_some() => true,
            Part::Changing(changing) => changing.number_of(name).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_set::{file_name, files_directory, link_name};

    #[test]
    fn a_directory_gives_its_own_names_and_no_others() {
        let files = Part::of(files_directory(3).as_bytes()).expect("ours");
        let links = Part::of(b"sym").expect("ours");
        let created = Part::of(b"new").expect("ours");
        let (file, link) = (file_name(7), link_name(7));
        let given = |name: &[u8]| [files, links, created].map(|part| part.gives(name));
        assert_eq!(given(file.as_bytes()), [true, false, false]);
        assert_eq!(given(link.as_bytes()), [false, true, false]);
        assert_eq!(given(b"s0000000000000001"), [false, true, false]);
        assert_eq!(given(b"f0000000000000001"), [false, false, true]);
        assert_eq!(given(b"letter.txt"), [false; 3]);
        for name in [&b"files"[..], b"files00", b"old", b"..", b""] {
            assert_eq!(Part::of(name), None);
        }
    }
}
