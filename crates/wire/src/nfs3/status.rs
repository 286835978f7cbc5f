//! `nfsstat3` (RFC 1813, section 2.6).

numbered! {
    /// `nfsstat3`: what a procedure answers first.
    pub struct Status("nfsstat3") {
        /// The call succeeded.
        OK = 0, "NFS3_OK";
        /// Operation not permitted for a non-owner.
        PERM = 1, "NFS3ERR_PERM";
        /// No such file or directory.
        NOENT = 2, "NFS3ERR_NOENT";
        /// A hard error, such as of a disk.
        IO = 5, "NFS3ERR_IO";
        /// No such device or address.
        NXIO = 6, "NFS3ERR_NXIO";
        /// Permission denied.
        ACCES = 13, "NFS3ERR_ACCES";
        /// The file exists.
        EXIST = 17, "NFS3ERR_EXIST";
        /// A hard link across devices.
        XDEV = 18, "NFS3ERR_XDEV";
        /// No such device.
        NODEV = 19, "NFS3ERR_NODEV";
        /// The object is not a directory.
        NOTDIR = 20, "NFS3ERR_NOTDIR";
        /// Is a directory.
        ISDIR = 21, "NFS3ERR_ISDIR";
        /// Invalid or unsupported argument.
        INVAL = 22, "NFS3ERR_INVAL";
        /// File too large.
        FBIG = 27, "NFS3ERR_FBIG";
        /// No space left on device.
        NOSPC = 28, "NFS3ERR_NOSPC";
        /// Read-only file system.
        ROFS = 30, "NFS3ERR_ROFS";
        /// Too many hard links.
        MLINK = 31, "NFS3ERR_MLINK";
        /// The file name is too long.
        NAMETOOLONG = 63, "NFS3ERR_NAMETOOLONG";
        /// The directory is not empty.
        NOTEMPTY = 66, "NFS3ERR_NOTEMPTY";
        /// Quota exceeded.
        DQUOT = 69, "NFS3ERR_DQUOT";
        /// The handle's file no longer exists.
        STALE = 70, "NFS3ERR_STALE";
        /// Too many levels of remote in path.
        REMOTE = 71, "NFS3ERR_REMOTE";
        /// The handle is not one of the server's.
        BADHANDLE = 10001, "NFS3ERR_BADHANDLE";
        /// The guard of a SETATTR did not match.
        NOT_SYNC = 10002, "NFS3ERR_NOT_SYNC";
        /// The cookie of a READDIR or READDIRPLUS is stale.
        BAD_COOKIE = 10003, "NFS3ERR_BAD_COOKIE";
        /// The operation is not supported.
        NOTSUPP = 10004, "NFS3ERR_NOTSUPP";
        /// The buffer or request is too small.
        TOOSMALL = 10005, "NFS3ERR_TOOSMALL";
        /// An error that fits no other status.
        SERVERFAULT = 10006, "NFS3ERR_SERVERFAULT";
        /// The server does not create objects of this type.
        BADTYPE = 10007, "NFS3ERR_BADTYPE";
        /// The server needs more time; the client should retry.
        JUKEBOX = 10008, "NFS3ERR_JUKEBOX";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_status_is_shown_by_name_and_number() {
        assert_eq!(Status::STALE.to_string(), "NFS3ERR_STALE (70)");
        assert_eq!(Status(12345).to_string(), "nfsstat3 12345");
        assert_eq!(Status::from_name("NFS3ERR_JUKEBOX"), Some(Status::JUKEBOX));
    }
}
