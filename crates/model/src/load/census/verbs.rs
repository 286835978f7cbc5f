//! How load files call the kinds of operations, and in which order dbench's own
//! tables list them.

use crate::load::Generation;
use crate::operation::OpKind;

/// The order of the table of dbench's file backend; 1.x's open at the end.
const CIFS_ORDER: &[OpKind] = &[
    OpKind::Deltree,
    OpKind::Flush,
    OpKind::Close,
    OpKind::LockX,
    OpKind::RmDir,
    OpKind::MkDir,
    OpKind::Rename,
    OpKind::ReadX,
    OpKind::WriteX,
    OpKind::Unlink,
    OpKind::UnlockX,
    OpKind::FindFirst,
    OpKind::SetFileInformation,
    OpKind::QueryFileInformation,
    OpKind::QueryPathInformation,
    OpKind::QueryFsInformation,
    OpKind::NtCreateX,
    OpKind::OpenX,
];

/// The order of the table of dbench's NFS backend.
const NFS_ORDER: &[OpKind] = &[
    OpKind::Deltree,
    OpKind::Access,
    OpKind::Commit,
    OpKind::Create,
    OpKind::FsInfo,
    OpKind::FsStat,
    OpKind::GetAttr,
    OpKind::Link,
    OpKind::Lookup,
    OpKind::MkDir,
    OpKind::PathConf,
    OpKind::Read,
    OpKind::ReadDirPlus,
    OpKind::ReadLink,
    OpKind::Remove,
    OpKind::Rename,
    OpKind::RmDir,
    OpKind::SetAttr,
    OpKind::SymLink,
    OpKind::Write,
    OpKind::Lock4,
    OpKind::Unlock4,
    OpKind::Test4,
];

/// The kinds that a load of this generation can have, in the order in which
/// dbench lists them.
pub const fn table_order(generation: Generation) -> &'static [OpKind] {
    match generation {
        Generation::Dbench1 | Generation::Dbench2 | Generation::Cifs => CIFS_ORDER,
        Generation::Nfs => NFS_ORDER,
    }
}

/// What a load file of this generation calls a kind of operation.
pub const fn verb(generation: Generation, kind: OpKind) -> &'static str {
    match (generation, kind) {
        (Generation::Nfs, OpKind::MkDir) => "MKDIR3",
        (Generation::Nfs, OpKind::RmDir) => "RMDIR3",
        (Generation::Nfs, OpKind::Rename) => "RENAME3",
        (_, kind) => verb_of(kind),
    }
}

const fn verb_of(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Null => "NULL3",
        OpKind::GetAttr => "GETATTR3",
        OpKind::SetAttr => "SETATTR3",
        OpKind::Lookup => "LOOKUP3",
        OpKind::Access => "ACCESS3",
        OpKind::ReadLink => "READLINK3",
        OpKind::Read => "READ3",
        OpKind::Write => "WRITE3",
        OpKind::Create => "CREATE3",
        OpKind::MkDir => "Mkdir",
        OpKind::SymLink => "SYMLINK3",
        OpKind::MkNod => "MKNOD3",
        OpKind::Remove => "REMOVE3",
        OpKind::RmDir => "Rmdir",
        OpKind::Rename => "Rename",
        OpKind::Link => "LINK3",
        OpKind::ReadDir => "READDIR3",
        OpKind::ReadDirPlus => "READDIRPLUS3",
        OpKind::FsStat => "FSSTAT3",
        OpKind::FsInfo => "FSINFO3",
        OpKind::PathConf => "PATHCONF3",
        OpKind::Commit => "COMMIT3",
        OpKind::Deltree => "Deltree",
        OpKind::Flush => "Flush",
        OpKind::Close => "Close",
        OpKind::LockX => "LockX",
        OpKind::ReadX => "ReadX",
        OpKind::WriteX => "WriteX",
        OpKind::Unlink => "Unlink",
        OpKind::UnlockX => "UnlockX",
        OpKind::FindFirst => "FIND_FIRST",
        OpKind::SetFileInformation => "SET_FILE_INFORMATION",
        OpKind::QueryFileInformation => "QUERY_FILE_INFORMATION",
        OpKind::QueryPathInformation => "QUERY_PATH_INFORMATION",
        OpKind::QueryFsInformation => "QUERY_FS_INFORMATION",
        OpKind::NtCreateX => "NTCreateX",
        OpKind::OpenX => "SMBopenX",
        OpKind::Lock4 => "LOCK4",
        OpKind::Unlock4 => "UNLOCK4",
        OpKind::Test4 => "TEST4",
        // No load file has them.
        OpKind::Open => "Open",
        OpKind::Lock => "Lock",
        OpKind::Unlock => "Unlock",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_of_a_table_are_called_alike() {
        for generation in [Generation::Cifs, Generation::Nfs] {
            let mut verbs: Vec<&str> = table_order(generation)
                .iter()
                .map(|kind| verb(generation, *kind))
                .collect();
            let rows = verbs.len();
            verbs.sort_unstable();
            verbs.dedup();
            assert_eq!(verbs.len(), rows, "{generation:?}");
        }
    }
}
