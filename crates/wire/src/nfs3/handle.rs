//! File handles, and names in directories (RFC 1813, section 2.6).

use core::fmt;

use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

/// NFS3_FHSIZE: longest file handle, in bytes.
pub const HANDLE_MAX: usize = 64;

/// `nfs_fh3`, borrowed: opaque to the client, at most [`HANDLE_MAX`] bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileHandle<'a>(&'a [u8]);

/// `post_op_fh3`: an optional handle.
pub type PostOpHandle<'a> = Option<FileHandle<'a>>;

impl<'a> FileHandle<'a> {
    /// Creates a handle from bytes; `None` if there are more than [`HANDLE_MAX`].
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() <= HANDLE_MAX {
            Some(Self(bytes))
        } else {
            None
        }
    }

    /// Returns the bytes.
    #[inline]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }
}

impl Encode for FileHandle<'_> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.opaque(self.0);
    }
}

impl<'a> Decode<'a> for FileHandle<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self(reader.opaque(HANDLE_MAX)?))
    }
}

impl fmt::Debug for FileHandle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileHandle(")?;
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// `nfs_fh3`, owned and in place.
///
/// Bytes after the length are zero, so that equal handles are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    len: u8,
    bytes: [u8; HANDLE_MAX],
}

impl Handle {
    /// The empty handle, which refers to no file.
    pub const EMPTY: Self = Self {
        len: 0,
        bytes: [0; HANDLE_MAX],
    };

    /// Creates a handle from bytes; `None` if there are more than [`HANDLE_MAX`].
    #[inline]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        FileHandle::new(bytes).map(Self::from)
    }

    /// Returns the bytes.
    #[inline]
    pub const fn as_bytes(&self) -> &[u8] {
        // `len` never exceeds the array; the split makes that visible to the compiler.
        match self.bytes.split_at_checked(self.len as usize) {
            Some((bytes, _)) => bytes,
            None => &self.bytes,
        }
    }

    /// Borrows the handle.
    #[inline]
    pub const fn borrow(&self) -> FileHandle<'_> {
        FileHandle(self.as_bytes())
    }
}

impl From<FileHandle<'_>> for Handle {
    #[inline]
    fn from(handle: FileHandle<'_>) -> Self {
        let mut owned = Self::EMPTY;
        for (place, byte) in owned.bytes.iter_mut().zip(handle.0) {
            *place = *byte;
        }
        // A `FileHandle` is never over 64 bytes.
        owned.len = handle.0.len() as u8;
        owned
    }
}

impl<'a> From<&'a Handle> for FileHandle<'a> {
    #[inline]
    fn from(handle: &'a Handle) -> Self {
        handle.borrow()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.borrow().fmt(f)
    }
}

impl Encode for Handle {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        self.borrow().encode(out);
    }
}

impl<'a> Decode<'a> for Handle {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        FileHandle::decode(reader).map(Self::from)
    }
}

message! {
    /// `diropargs3`: a name in a directory.
    #[derive(Copy)]
    pub struct DirOpArgs<'a> {
        /// The directory.
        pub dir: FileHandle<'a>,
        /// The name in it.
        pub name: &'a [u8],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_has_at_most_64_bytes() {
        assert!(FileHandle::new(&[1; 64]).is_some());
        assert!(Handle::new(&[1; 65]).is_none());
        assert_eq!(
            FileHandle::from_bytes(&[0, 0, 0, 65]),
            Err(DecodeError::TooLong {
                at: 0,
                len: 65,
                limit: 64
            })
        );
    }

    #[test]
    fn an_owned_handle_is_the_borrowed_one() {
        for len in 0..=64 {
            let bytes = [7; 64];
            let borrowed = FileHandle::new(&bytes[..len]).unwrap();
            let owned = Handle::from(borrowed);
            assert_eq!(owned.borrow(), borrowed);
            assert_eq!(owned.to_bytes(), borrowed.to_bytes());
        }
    }
}
