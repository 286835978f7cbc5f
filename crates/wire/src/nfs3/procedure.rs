//! The procedures by name and number (RFC 1813, section 3.3).

use core::fmt;

procedures! {
    /// A procedure of NFSv3.
    pub enum Procedure: u32 {
        /// Do nothing, section 3.3.0.
        Null = 0, "null";
        /// Get file attributes, section 3.3.1.
        Getattr = 1, "getattr";
        /// Set file attributes, section 3.3.2.
        Setattr = 2, "setattr";
        /// Look up a file name, section 3.3.3.
        Lookup = 3, "lookup";
        /// Check access permission, section 3.3.4.
        Access = 4, "access";
        /// Read from a symbolic link, section 3.3.5.
        Readlink = 5, "readlink";
        /// Read from a file, section 3.3.6.
        Read = 6, "read";
        /// Write to a file, section 3.3.7.
        Write = 7, "write";
        /// Create a file, section 3.3.8.
        Create = 8, "create";
        /// Create a directory, section 3.3.9.
        Mkdir = 9, "mkdir";
        /// Create a symbolic link, section 3.3.10.
        Symlink = 10, "symlink";
        /// Create a special device, section 3.3.11.
        Mknod = 11, "mknod";
        /// Remove a file, section 3.3.12.
        Remove = 12, "remove";
        /// Remove a directory, section 3.3.13.
        Rmdir = 13, "rmdir";
        /// Rename a file or directory, section 3.3.14.
        Rename = 14, "rename";
        /// Create a link to a file, section 3.3.15.
        Link = 15, "link";
        /// Read from a directory, section 3.3.16.
        Readdir = 16, "readdir";
        /// Extended read from a directory, section 3.3.17.
        Readdirplus = 17, "readdirplus";
        /// Get dynamic file system information, section 3.3.18.
        Fsstat = 18, "fsstat";
        /// Get static file system information, section 3.3.19.
        Fsinfo = 19, "fsinfo";
        /// Get POSIX information, section 3.3.20.
        Pathconf = 20, "pathconf";
        /// Commit cached data to stable storage, section 3.3.21.
        Commit = 21, "commit";
    }
}

impl fmt::Display for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_count_from_null_to_commit() {
        for (number, procedure) in (0..).zip(Procedure::ALL) {
            assert_eq!(procedure.number(), number);
            assert_eq!(Procedure::from_number(number), Some(procedure));
            assert_eq!(Procedure::from_name(procedure.name()), Some(procedure));
        }
        assert_eq!(Procedure::from_number(22), None);
        assert_eq!(Procedure::from_name("READ"), None);
    }
}
