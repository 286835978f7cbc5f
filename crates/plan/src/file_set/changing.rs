//! The directories with changing names, one for each kind of object.

use filestone_workload::operation::{ObjectName, OpKind};

/// A directory with names that operations create and remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VolatileDirectory {
    /// Files created by CREATE.
    Created,
    /// Hard links to data files, created by LINK.
    Links,
    /// Symbolic links created by SYMLINK, and the permanent ones.
    SymbolicLinks,
    /// Pipes created by MKNOD.
    Nodes,
    /// Directories created by MKDIR.
    Directories,
}

impl VolatileDirectory {
    /// All directories, in the order of the file table.
    pub const ALL: [VolatileDirectory; 5] = [
        VolatileDirectory::Created,
        VolatileDirectory::Links,
        VolatileDirectory::SymbolicLinks,
        VolatileDirectory::Nodes,
        VolatileDirectory::Directories,
    ];

    /// Returns the name of the directory in a client's directory.
    pub const fn directory(self) -> &'static str {
        match self {
            VolatileDirectory::Created => "new",
            VolatileDirectory::Links => "lin",
            VolatileDirectory::SymbolicLinks => "sym",
            VolatileDirectory::Nodes => "nod",
            VolatileDirectory::Directories => "dir",
        }
    }

    /// Returns the first letter of the names in the directory.
    pub const fn letter(self) -> u8 {
        match self {
            VolatileDirectory::Created => b'f',
            VolatileDirectory::Links => b'l',
            VolatileDirectory::SymbolicLinks => b's',
            VolatileDirectory::Nodes => b'p',
            VolatileDirectory::Directories => b'd',
        }
    }

    /// Returns the name in the directory with this number.
    pub const fn name(self, number: u64) -> ObjectName {
        let letter = self.letter();
        ObjectName::Numbered { letter, number }
    }

    /// Returns the name with this number as text: the letter, and sixteen hexadecimal digits.
    pub fn file_name(self, number: u64) -> String {
        format!("{}{number:016x}", char::from(self.letter()))
    }

    /// Returns the number of a name that was created by [`VolatileDirectory::name`].
    pub fn number_of(self, name: &[u8]) -> Option<u64> {
        let (letter, digits) = name.split_first()?;
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if *letter != self.letter() || digits.len() != 16 || !digits.iter().all(is_digit) {
            return None;
        }
        u64::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()
    }

    /// Whether operations of these kinds create or remove names in the directory.
    pub fn is_changed_by(self, kinds: &[OpKind]) -> bool {
        let changing: &[OpKind] = match self {
            VolatileDirectory::Created => &[OpKind::Create, OpKind::Remove, OpKind::Rename],
            VolatileDirectory::Links => &[OpKind::Link],
            VolatileDirectory::SymbolicLinks => &[OpKind::SymLink],
            VolatileDirectory::Nodes => &[OpKind::MkNod],
            VolatileDirectory::Directories => &[OpKind::MkDir, OpKind::RmDir],
        };
        changing.iter().any(|kind| kinds.contains(kind))
    }

    /// Whether operations of these kinds need the directory at all.
    pub fn is_needed_by(self, kinds: &[OpKind]) -> bool {
        self.is_changed_by(kinds)
            || self == VolatileDirectory::SymbolicLinks && kinds.contains(&OpKind::ReadLink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_ours_is_known_again_and_no_other() {
        let created = VolatileDirectory::Created;
        assert_eq!(created.number_of(b"f00000000000000ff"), Some(255));
        assert_eq!(created.number_of(b"fffffffffffffffff"), Some(u64::MAX));
        let name = VolatileDirectory::Links.file_name(255);
        assert_eq!(name, "l00000000000000ff");
        assert_eq!(
            VolatileDirectory::Links.number_of(name.as_bytes()),
            Some(255)
        );
        for name in [
            &b""[..],
            b"f",
            b"f0",
            b"l00000000000000ff",
            b"f00000000000000FF",
            b"f+0000000000000ff",
            b"f00000000000000fff",
            b"f0000000000000\xc3\xbf",
        ] {
            assert_eq!(created.number_of(name), None, "{name:?}");
        }
    }

    #[test]
    fn only_what_the_kinds_need_is_needed() {
        let needed = |kinds: &[OpKind]| -> Vec<&str> {
            let all = VolatileDirectory::ALL.into_iter();
            all.filter(|changing| changing.is_needed_by(kinds))
                .map(VolatileDirectory::directory)
                .collect()
        };
        assert!(needed(&[OpKind::Null, OpKind::Read, OpKind::Commit]).is_empty());
        assert_eq!(needed(&[OpKind::ReadLink]), ["sym"]);
        assert!(!VolatileDirectory::SymbolicLinks.is_changed_by(&[OpKind::ReadLink]));
        assert_eq!(needed(&[OpKind::Remove]), ["new"]);
        assert_eq!(needed(&[OpKind::RmDir]), ["dir"]);
        assert_eq!(needed(OpKind::STATELESS).len(), 5);
    }
}
