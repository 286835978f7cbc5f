//! CREATE: create a file (RFC 1813, section 3.3.8).

use super::{DirOpArgs, PostOpAttr, PostOpHandle, Sattr3, Status, Verifier, WccData};
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

/// `createhow3`: a union switched on `createmode3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateHow {
    /// UNCHECKED: take the file if it is there already.
    Unchecked(Sattr3),
    /// GUARDED: fail with NFS3ERR_EXIST if it is there already.
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
        /// What if it is there already, and its attributes if not.
        pub how: CreateHow,
    }
}

message! {
    /// `CREATE3resok`.
    #[derive(Copy)]
    pub struct ReplyOk<'a> {
        /// The new object, if the server gives it.
        pub obj: PostOpHandle<'a>,
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// `dir_wcc`, as far as the server gives it.
        pub dir_wcc: WccData,
    }
}

message! {
    /// The failing arms of `CREATE3res`.
    #[derive(Copy)]
    pub struct ReplyFail {
        /// Why.
        pub status: Status,
        /// `dir_wcc`, as far as the server gives it.
        pub dir_wcc: WccData,
    }
}

/// `CREATE3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail>;
