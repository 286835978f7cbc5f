//! Entries of a directory (MS-FSCC, sections 2.4.7 to 2.4.23 and 2.4.33): six classes that differ
//! in the fields before the name.

use alloc::vec::Vec;

use super::FileInfoClass;
use crate::smb2::codec::{
    Chain, Decode, DecodeError, Encode, Linked, Reader, Text, Writer, length32,
};
use crate::smb2::{FileAttributes, FileTime};

/// An information class of directory listings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DirectoryClass {
    /// FileDirectoryInformation.
    Directory,
    /// FileFullDirectoryInformation.
    FullDirectory,
    /// FileBothDirectoryInformation.
    BothDirectory,
    /// FileIdBothDirectoryInformation.
    IdBothDirectory,
    /// FileIdFullDirectoryInformation.
    IdFullDirectory,
    /// FileNamesInformation: only the name.
    Names,
}

impl DirectoryClass {
    /// Returns the class with this number, if it is a class of directory listings.
    pub const fn of(class: FileInfoClass) -> Option<Self> {
        match class {
            FileInfoClass::DIRECTORY => Some(Self::Directory),
            FileInfoClass::FULL_DIRECTORY => Some(Self::FullDirectory),
            FileInfoClass::BOTH_DIRECTORY => Some(Self::BothDirectory),
            FileInfoClass::ID_BOTH_DIRECTORY => Some(Self::IdBothDirectory),
            FileInfoClass::ID_FULL_DIRECTORY => Some(Self::IdFullDirectory),
            FileInfoClass::NAMES => Some(Self::Names),
            _ => None,
        }
    }

    /// Returns the number of the class.
    pub const fn number(self) -> FileInfoClass {
        match self {
            Self::Directory => FileInfoClass::DIRECTORY,
            Self::FullDirectory => FileInfoClass::FULL_DIRECTORY,
            Self::BothDirectory => FileInfoClass::BOTH_DIRECTORY,
            Self::IdBothDirectory => FileInfoClass::ID_BOTH_DIRECTORY,
            Self::IdFullDirectory => FileInfoClass::ID_FULL_DIRECTORY,
            Self::Names => FileInfoClass::NAMES,
        }
    }

    const fn has_ea_size(self) -> bool {
        !matches!(self, Self::Directory | Self::Names)
    }

    const fn has_short_name(self) -> bool {
        matches!(self, Self::BothDirectory | Self::IdBothDirectory)
    }

    /// Reserved bytes before FileId, which align it to eight bytes, if present.
    const fn gap_before_file_id(self) -> Option<usize> {
        match self {
            Self::IdBothDirectory => Some(2),
            Self::IdFullDirectory => Some(4),
            Self::Directory | Self::FullDirectory | Self::BothDirectory | Self::Names => None,
        }
    }

    /// Returns the format of the links of entries.
    const fn linked(self) -> Linked {
        match self {
            Self::Names => Linked {
                least: 12,
                ..LINKED
            },
            _ => LINKED,
        }
    }
}

const LINKED: Linked = Linked {
    field: "NextEntryOffset",
    at: 0,
    least: 64,
    align: 8,
};

layout! {
    /// An 8.3 name.
    #[derive(Default)]
    pub struct ShortName {
        /// ShortNameLength: length of the name, in bytes.
        pub len: u8, reserved 1;
        /// ShortName: UTF-16.
        pub units: [u8; 24];
    }
}

/// An entry of a directory; fields that its class lacks are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// FileIndex.
    pub file_index: u32,
    /// CreationTime.
    pub creation_time: FileTime,
    /// LastAccessTime.
    pub last_access_time: FileTime,
    /// LastWriteTime.
    pub last_write_time: FileTime,
    /// ChangeTime.
    pub change_time: FileTime,
    /// EndOfFile.
    pub end_of_file: u64,
    /// AllocationSize.
    pub allocation_size: u64,
    /// FileAttributes.
    pub file_attributes: FileAttributes,
    /// EaSize.
    pub ea_size: u32,
    /// ShortNameLength and ShortName.
    pub short_name: ShortName,
    /// FileId.
    pub file_id: u64,
    /// FileName.
    pub name: Text<'a>,
}

impl<'a> Entry<'a> {
    /// Returns an entry with only the name set.
    const fn named(file_index: u32, name: Text<'a>) -> Self {
        let no_time = FileTime { ticks: 0 };
        Self {
            file_index,
            creation_time: no_time,
            last_access_time: no_time,
            last_write_time: no_time,
            change_time: no_time,
            end_of_file: 0,
            allocation_size: 0,
            file_attributes: FileAttributes::NONE,
            ea_size: 0,
            short_name: ShortName {
                len: 0,
                units: [0; 24],
            },
            file_id: 0,
            name,
        }
    }

    fn encode(&self, class: DirectoryClass, out: &mut Writer<'_>) {
        out.u32(0);
        out.u32(self.file_index);
        if class == DirectoryClass::Names {
            out.u32(length32(self.name.len()));
            return self.name.encode(out);
        }
        self.creation_time.encode(out);
        self.last_access_time.encode(out);
        self.last_write_time.encode(out);
        self.change_time.encode(out);
        out.u64(self.end_of_file);
        out.u64(self.allocation_size);
        self.file_attributes.encode(out);
        out.u32(length32(self.name.len()));
        if class.has_ea_size() {
            out.u32(self.ea_size);
        }
        if class.has_short_name() {
            self.short_name.encode(out);
        }
        if let Some(gap) = class.gap_before_file_id() {
            out.zeros(gap);
            out.u64(self.file_id);
        }
        self.name.encode(out);
    }

    fn decode(class: DirectoryClass, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.skip(4)?;
        let file_index = reader.u32()?;
        if class == DirectoryClass::Names {
            let name_len = reader.u32()?;
            let name = Text::from_units(reader.take(name_len as usize)?, "FileName")?;
            return Ok(Self::named(file_index, name));
        }
        let creation_time = FileTime::decode(reader)?;
        let last_access_time = FileTime::decode(reader)?;
        let last_write_time = FileTime::decode(reader)?;
        let change_time = FileTime::decode(reader)?;
        let (end_of_file, allocation_size) = (reader.u64()?, reader.u64()?);
        let file_attributes = FileAttributes::decode(reader)?;
        let name_len = reader.u32()?;
        let mut entry = Self {
            file_index,
            creation_time,
            last_access_time,
            last_write_time,
            change_time,
            end_of_file,
            allocation_size,
            file_attributes,
            ea_size: 0,
            short_name: ShortName::default(),
            file_id: 0,
            name: Text::from(""),
        };
        if class.has_ea_size() {
            entry.ea_size = reader.u32()?;
        }
        if class.has_short_name() {
            entry.short_name = ShortName::decode(reader)?;
        }
        if let Some(gap) = class.gap_before_file_id() {
            reader.skip(gap)?;
            entry.file_id = reader.u64()?;
        }
        entry.name = Text::from_units(reader.take(name_len as usize)?, "FileName")?;
        Ok(entry)
    }
}

/// The entries in the buffer of a response.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    class: DirectoryClass,
    chain: Chain<'a>,
}

impl<'a> Entries<'a> {
    /// Returns the entries of a response to a request for this class.
    pub const fn of(class: DirectoryClass, buffer: &'a [u8]) -> Self {
        let chain = class.linked().members(buffer);
        Self { class, chain }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.chain.next()?;
        Some(member.and_then(|member| Entry::decode(self.class, &mut Reader::new(member))))
    }
}

/// Appends entries in the format of a response's buffer, within the size that the client permits.
#[derive(Debug)]
pub struct DirectoryWriter<'b> {
    out: &'b mut Vec<u8>,
    class: DirectoryClass,
    /// Largest end offset of the buffer.
    limit: usize,
    /// Offset of the last entry.
    last: Option<usize>,
}

impl<'b> DirectoryWriter<'b> {
    /// Starts a buffer of at most `output_buffer_length` bytes at the end of `out`.
    pub const fn new(
        out: &'b mut Vec<u8>,
        class: DirectoryClass,
        output_buffer_length: u32,
    ) -> Self {
        let limit = out.len().saturating_add(output_buffer_length as usize);
        let last = None;
        Self {
            out,
            class,
            limit,
            last,
        }
    }

    /// Appends the entry if it fits; returns whether it did.
    pub fn append(&mut self, entry: &Entry<'_>) -> bool {
        let before = self.out.len();
        let mut out = Writer::new(self.out);
        if let Some(last) = self.last {
            out.pad_from(last, LINKED.align);
        }
        let start = out.position();
        entry.encode(self.class, &mut out);
        if out.position() > self.limit {
            out.truncate(before);
            return false;
        }
        if let Some(last) = self.last {
            out.patch_u32(last, length32(start - last));
        }
        self.last = Some(start);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> Entry<'_> {
        let time = FileTime { ticks: 1 };
        Entry {
            file_index: 0,
            creation_time: time,
            last_access_time: time,
            last_write_time: time,
            change_time: time,
            end_of_file: 5,
            allocation_size: 4096,
            file_attributes: FileAttributes::ARCHIVE,
            ea_size: 0,
            short_name: ShortName::default(),
            file_id: 0,
            name: Text::from(name),
        }
    }

    /// MS-FSCC: offset of FileName in each class.
    #[test]
    fn the_name_stands_where_its_class_has_it() {
        for (class, name_at) in [
            (DirectoryClass::Directory, 64),
            (DirectoryClass::FullDirectory, 68),
            (DirectoryClass::BothDirectory, 94),
            (DirectoryClass::IdBothDirectory, 104),
            (DirectoryClass::IdFullDirectory, 80),
            (DirectoryClass::Names, 12),
        ] {
            let mut buffer = Vec::new();
            let mut writer = DirectoryWriter::new(&mut buffer, class, 200);
            assert!(writer.append(&entry("a")));
            assert_eq!(buffer.len(), name_at + 2, "{class:?}");
            assert_eq!(DirectoryClass::of(class.number()), Some(class));
        }
    }

    #[test]
    fn names_alone_are_read_as_they_are_written() {
        let mut buffer = Vec::new();
        let mut writer = DirectoryWriter::new(&mut buffer, DirectoryClass::Names, 100);
        assert!(writer.append(&entry("one")) && writer.append(&entry("three")));
        let names = Entries::of(DirectoryClass::Names, &buffer);
        let names = names.map(|entry| entry.map(|entry| entry.name));
        assert!(names.eq(["one", "three"].map(|name| Ok(Text::from(name)))));
    }

    #[test]
    fn entries_are_appended_while_they_fit() {
        let class = DirectoryClass::IdBothDirectory;
        let mut buffer = alloc::vec![0xee; 3];
        let mut writer = DirectoryWriter::new(&mut buffer, class, 2 * 112 + 104 + 4);
        assert!(writer.append(&entry("one")));
        assert!(writer.append(&entry("two")));
        assert!(!writer.append(&entry("three")));
        assert!(writer.append(&entry("3")));
        assert!(!writer.append(&entry("")));
        assert_eq!(buffer.len(), 3 + 2 * 112 + 106);
        let names = Entries::of(class, &buffer[3..]).map(|entry| entry.map(|entry| entry.name));
        assert!(names.eq(["one", "two", "3"].map(|name| Ok(Text::from(name)))));
    }
}
