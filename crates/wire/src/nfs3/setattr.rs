//! SETATTR: set file attributes (RFC 1813, section 3.3.2).

use super::{FileHandle, Nfstime3, ReplyFail, Sattr3, WccData};

message! {
    /// `SETATTR3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The object to change.
        pub object: FileHandle<'a>,
        /// Attributes to set.
        pub new_attributes: Sattr3,
        /// `sattrguard3`: change nothing unless the ctime has this value.
        pub guard: Option<Nfstime3>,
    }
}

/// `SETATTR3res`, whose `resok` contains only `obj_wcc`.
pub type Reply = Result<WccData, ReplyFail<WccData>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs3::SetTime;
    use crate::xdr::{Decode, Encode};

    #[test]
    fn each_attribute_is_a_union_of_its_own() {
        let args = Args {
            object: FileHandle::new(&[0xab]).unwrap(),
            new_attributes: Sattr3 {
                mode: Some(0o644),
                size: Some(5),
                atime: SetTime::ServerTime,
                mtime: SetTime::ClientTime(Nfstime3 {
                    seconds: 6,
                    nseconds: 7,
                }),
                ..Sattr3::default()
            },
            guard: Some(Nfstime3 {
                seconds: 8,
                nseconds: 9,
            }),
        };
        #[rustfmt::skip]
        let expected = [
            0, 0, 0, 1, 0xab, 0, 0, 0,             // object
            0, 0, 0, 1, 0, 0, 1, 0xa4,             // set_mode3: TRUE, 0644
            0, 0, 0, 0,                            // set_uid3: FALSE
            0, 0, 0, 0,                            // set_gid3: FALSE
            0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5,    // set_size3: TRUE, 5
            0, 0, 0, 1,                            // SET_TO_SERVER_TIME
            0, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0, 7,    // SET_TO_CLIENT_TIME
            0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 9,    // sattrguard3: TRUE, ctime
        ];
        assert_eq!(args.to_bytes(), expected);
        assert_eq!(Args::from_bytes(&expected), Ok(args));
    }
}
