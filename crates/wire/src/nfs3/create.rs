//! CREATE: create a file (RFC 1813, section 3.3.8).

use super::{DirOpArgs, PostOpAttr, PostOpHandle, ReplyFail, Sattr3, Verifier, WccData};
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

/// `createhow3`: a union switched on `createmode3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateHow {
    /// UNCHECKED: use an existing file.
    Unchecked(Sattr3),
    /// GUARDED: fail with NFS3ERR_EXIST if the file exists.
    Guarded(Sattr3),
    /// EXCLUSIVE: as guarded, but a repeat with the same verifier succeeds.
    Exclusive(Verifier),
}

impl Encode for CreateHow {
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Self::Unchecked(attributes) => {
                out.u32(0);
                attributes.encode(out);
            }
            Self::Guarded(attributes) => {
                out.u32(1);
                attributes.encode(out);
            }
            Self::Exclusive(verifier) => {
                out.u32(2);
                verifier.encode(out);
            }
        }
    }
}

impl<'a> Decode<'a> for CreateHow {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        match reader.u32()? {
            0 => Ok(Self::Unchecked(Sattr3::decode(reader)?)),
            1 => Ok(Self::Guarded(Sattr3::decode(reader)?)),
            2 => Ok(Self::Exclusive(Verifier::decode(reader)?)),
            value => Err(DecodeError::BadDiscriminant {
                field: "createmode3",
                value,
            }),
        }
    }
}

message! {
    /// `CREATE3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// `where`: the directory, and the name of the new file.
        pub where_: DirOpArgs<'a>,
        /// Handling of an existing file, and attributes of a new one.
        pub how: CreateHow,
    }
}

message! {
    /// `CREATE3resok`.
    #[derive(Copy)]
    pub struct ReplyOk<'a> {
        /// The new object, if the server returns it.
        pub obj: PostOpHandle<'a>,
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// `dir_wcc`, with the attributes that the server returns.
        pub dir_wcc: WccData,
    }
}

/// `CREATE3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail<WccData>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs3::FileHandle;

    #[test]
    fn an_exclusive_create_carries_a_verifier_and_no_attributes() {
        let dir = FileHandle::new(&[9; 4]).unwrap();
        let how = CreateHow::Exclusive(*b"verifier");
        let args = Args {
            where_: DirOpArgs { dir, name: b"f" },
            how,
        };
        #[rustfmt::skip]
        let expected = [
            0, 0, 0, 4, 9, 9, 9, 9,
            0, 0, 0, 1, b'f', 0, 0, 0,
            0, 0, 0, 2, b'v', b'e', b'r', b'i', b'f', b'i', b'e', b'r',
        ];
        assert_eq!(args.to_bytes(), expected);
        assert_eq!(Args::from_bytes(&expected), Ok(args));
    }

    #[test]
    fn another_mode_is_named() {
        assert_eq!(
            CreateHow::from_bytes(&[0, 0, 0, 3]),
            Err(DecodeError::BadDiscriminant {
                field: "createmode3",
                value: 3
            })
        );
    }
}
