//! LOOKUP: look up a file name (RFC 1813, section 3.3.3).

use super::{DirOpArgs, FileHandle, PostOpAttr, ReplyFail};

/// `LOOKUP3args`: the directory, and the name to find in it.
pub type Args<'a> = DirOpArgs<'a>;

message! {
    /// `LOOKUP3resok`.
    #[derive(Copy)]
    pub struct ReplyOk<'a> {
        /// Handle of the object with that name.
        pub object: FileHandle<'a>,
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// `dir_attributes`, if the server gives them.
        pub dir_attributes: PostOpAttr,
    }
}

/// `LOOKUP3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail<PostOpAttr>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs3::Status;
    use crate::xdr::{Decode, Encode};

    #[test]
    fn a_failure_carries_the_attributes_of_the_directory() {
        let reply = Reply::Err(ReplyFail {
            status: Status::NOENT,
            attributes: None,
        });
        let expected = [0, 0, 0, 2, 0, 0, 0, 0];
        assert_eq!(reply.to_bytes(), expected);
        assert_eq!(Reply::from_bytes(&expected), Ok(reply));
    }

    #[test]
    fn a_handle_and_a_name_are_asked_with() {
        let dir = FileHandle::new(&[1, 2, 3, 4]).unwrap();
        let args = Args {
            dir,
            name: b"a.txt",
        };
        #[rustfmt::skip]
        let expected = [
            0, 0, 0, 4, 1, 2, 3, 4,
            0, 0, 0, 5, b'a', b'.', b't', b'x', b't', 0, 0, 0,
        ];
        assert_eq!(args.to_bytes(), expected);
        assert_eq!(Args::from_bytes(&expected), Ok(args));
    }
}
