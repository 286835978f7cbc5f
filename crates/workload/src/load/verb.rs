//! The verbs of load files: their arguments, their programs, and their order in dbench's tables.

use super::diagnostic::suggestion;
use super::generation::Generation;
use crate::operation::OpKind;

/// The kinds that load files do not have, as a pattern.
macro_rules! not_in_loads {
    () => {
        OpKind::Null | OpKind::MkNod | OpKind::ReadDir | OpKind::Open | $crate::only_in_probes!()
    };
}

/// Family of a verb: the backend of a program that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VerbSet {
    /// The CIFS-style verbs of dbench's fileio and sockio backends.
    Cifs,
    /// The verbs of dbench's nfs backend.
    Nfs,
    /// The verbs of dbench's smb backend, which name open files by path.
    Smb,
    /// CIFS-style and NFS.
    Either,
}

/// A verb.
#[derive(Debug)]
pub(super) struct Verb {
    pub(super) word: &'static str,
    pub(super) family: VerbSet,
    pub(super) kind: OpKind,
    /// Names of its name arguments.
    pub(super) names: &'static [&'static str],
    /// Names of its number arguments.
    pub(super) numbers: &'static [&'static str],
    /// Number of mandatory number arguments.
    pub(super) needed: usize,
    /// Number of number arguments in dbench 2; `None` if dbench 2 lacks the verb.
    pub(super) in_dbench2: Option<usize>,
}

const PATH: &[&str] = &["path"];
const HANDLE: &[&str] = &["handle"];
const LEVEL: &[&str] = &["handle", "level"];
const TRANSFER: &[&str] = &["handle", "offset", "size", "transferred"];
const RANGE: &[&str] = &["handle", "offset", "size"];
const NLM_RANGE: &[&str] = &["offset", "size"];

const fn cifs(
    word: &'static str,
    kind: OpKind,
    names: &'static [&'static str],
    numbers: &'static [&'static str],
) -> Verb {
    Verb {
        word,
        family: VerbSet::Cifs,
        kind,
        names,
        numbers,
        needed: numbers.len(),
        in_dbench2: None,
    }
}

const fn nfs(
    word: &'static str,
    kind: OpKind,
    names: &'static [&'static str],
    numbers: &'static [&'static str],
) -> Verb {
    Verb {
        family: VerbSet::Nfs,
        ..cifs(word, kind, names, numbers)
    }
}

impl Verb {
    const fn needing(self, needed: usize) -> Verb {
        Verb { needed, ..self }
    }

    const fn with_in_dbench2(self, numbers: usize) -> Verb {
        Verb {
            in_dbench2: Some(numbers),
            ..self
        }
    }

    const fn operands(&self) -> (usize, usize) {
        (self.names.len(), self.numbers.len())
    }

    /// Returns the syntax of a line with the verb.
    pub(super) fn usage(&self) -> String {
        let mut line = self.word.to_owned();
        for name in self.names {
            line.push_str(&format!(" \"{name}\""));
        }
        for number in self.numbers {
            line.push(' ');
            line.push_str(number);
        }
        line.push_str(" status");
        line
    }
}

/// All verbs, the most frequent first.
pub(super) const VERBS: &[Verb] = &[
    cifs("ReadX", OpKind::ReadX, &[], TRANSFER).with_in_dbench2(4),
    cifs(
        "NTCreateX",
        OpKind::NtCreateX,
        PATH,
        &["options", "disposition", "handle"],
    )
    .with_in_dbench2(3),
    cifs(
        "QUERY_PATH_INFORMATION",
        OpKind::QueryPathInformation,
        PATH,
        &["level"],
    )
    .with_in_dbench2(0),
    cifs("Close", OpKind::Close, &[], HANDLE).with_in_dbench2(1),
    cifs("WriteX", OpKind::WriteX, &[], TRANSFER).with_in_dbench2(4),
    cifs(
        "FIND_FIRST",
        OpKind::FindFirst,
        &["pattern"],
        &["level", "max", "count"],
    )
    .with_in_dbench2(0),
    cifs("Unlink", OpKind::Unlink, PATH, &["attributes"])
        .needing(0)
        .with_in_dbench2(0),
    cifs(
        "QUERY_FS_INFORMATION",
        OpKind::QueryFsInformation,
        &[],
        &["level"],
    )
    .with_in_dbench2(1),
    cifs(
        "QUERY_FILE_INFORMATION",
        OpKind::QueryFileInformation,
        &[],
        LEVEL,
    )
    .with_in_dbench2(1),
    cifs(
        "SET_FILE_INFORMATION",
        OpKind::SetFileInformation,
        &[],
        LEVEL,
    ),
    cifs("Flush", OpKind::Flush, &[], HANDLE).with_in_dbench2(1),
    cifs("Rename", OpKind::Rename, &["old", "new"], &[]).with_in_dbench2(0),
    cifs("LockX", OpKind::LockX, &[], RANGE),
    cifs("UnlockX", OpKind::UnlockX, &[], RANGE),
    cifs("Mkdir", OpKind::MkDir, PATH, &[]).with_in_dbench2(0),
    cifs("Rmdir", OpKind::RmDir, PATH, &[]).with_in_dbench2(0),
    // smbtorture's SMBwrite.
    cifs("Write", OpKind::WriteX, &[], TRANSFER),
    Verb {
        family: VerbSet::Either,
        ..cifs("Deltree", OpKind::Deltree, PATH, &[])
    }
    .with_in_dbench2(0),
    nfs("READ3", OpKind::Read, PATH, &["offset", "size"]),
    nfs("WRITE3", OpKind::Write, PATH, &["offset", "size", "stable"]),
    nfs("GETATTR3", OpKind::GetAttr, PATH, &[]),
    nfs("LOOKUP3", OpKind::Lookup, PATH, &[]),
    nfs("ACCESS3", OpKind::Access, PATH, &["wanted", "granted"]).needing(0),
    nfs("CREATE3", OpKind::Create, PATH, &[]),
    nfs("SETATTR3", OpKind::SetAttr, PATH, &[]),
    nfs("READLINK3", OpKind::ReadLink, PATH, &[]),
    nfs("COMMIT3", OpKind::Commit, PATH, &[]),
    nfs("REMOVE3", OpKind::Remove, PATH, &[]),
    nfs("MKDIR3", OpKind::MkDir, PATH, &[]),
    nfs("RMDIR3", OpKind::RmDir, PATH, &[]),
    nfs("RENAME3", OpKind::Rename, &["old", "new"], &[]),
    nfs("SYMLINK3", OpKind::SymLink, &["new", "target"], &[]),
    nfs("LINK3", OpKind::Link, &["new", "existing"], &[]),
    nfs("READDIRPLUS3", OpKind::ReadDirPlus, PATH, &[]),
    nfs("FSSTAT3", OpKind::FsStat, &[], &[]),
    nfs("FSINFO3", OpKind::FsInfo, &[], &[]),
    nfs("PATHCONF3", OpKind::PathConf, PATH, &[]),
    nfs("LOCK4", OpKind::Lock4, PATH, NLM_RANGE),
    nfs("UNLOCK4", OpKind::Unlock4, PATH, NLM_RANGE),
    nfs("TEST4", OpKind::Test4, PATH, NLM_RANGE),
];

const fn smb(word: &'static str, kind: OpKind, numbers: &'static [&'static str]) -> Verb {
    Verb {
        family: VerbSet::Smb,
        ..cifs(word, kind, PATH, numbers)
    }
}

/// The verbs of dbench's smb backend, in the order of its table. Each is written with a path, and
/// compiled into an operation of its kind with the handle for the path.
const BY_PATH: [Verb; 9] = [
    smb("Deltree", OpKind::Deltree, &[]),
    smb("CLOSE", OpKind::Close, &[]),
    smb("MKDIR", OpKind::MkDir, &[]),
    smb("OPEN", OpKind::NtCreateX, &["flags"]),
    smb("READ", OpKind::ReadX, &["offset", "size"]),
    smb("READDIR", OpKind::ReadDirPlus, &[]),
    smb("RMDIR", OpKind::RmDir, &[]),
    smb("UNLINK", OpKind::Unlink, &[]),
    smb("WRITE", OpKind::WriteX, &["offset", "size"]),
];

/// Returns the verb of a word, case-insensitively, in a load that names open files by path.
pub(super) fn find_by_path(word: &[u8]) -> Option<&'static Verb> {
    static VERBS_BY_PATH: [Verb; 9] = BY_PATH;
    VERBS_BY_PATH
        .iter()
        .find(|verb| verb.word.as_bytes().eq_ignore_ascii_case(word))
}

/// Addressing of open files in a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAddressing {
    /// By numbers, or each time by path without an open.
    ByHandle,
    /// By path, as in their open.
    ByPath,
}

/// Returns how a line that begins with that word names open files; `None` if both ways are
/// possible. `is_name` tells whether the first argument is written as a name.
pub(super) fn naming(word: &[u8], is_name: bool) -> Option<FileAddressing> {
    let is = |verb: &&str| word.eq_ignore_ascii_case(verb.as_bytes());
    if DIRECTIVES.iter().any(is) || ["MKDIR", "RMDIR", "UNLINK", "Deltree"].iter().any(is) {
        return None;
    }
    let by_path =
        ["OPEN", "READDIR"].iter().any(is) || is_name && ["READ", "WRITE", "CLOSE"].iter().any(is);
    Some(if by_path {
        FileAddressing::ByPath
    } else {
        FileAddressing::ByHandle
    })
}

/// dbench 1's open, whose lines have a separate grammar.
const SNIFFED_OPEN: Verb = cifs("SMBopenX", OpKind::OpenX, PATH, &["size", "handle"]);

/// Numbers of names and of numbers of an operation, by the index of its kind.
const OPERANDS: [(usize, usize); OpKind::COUNT] = {
    let mut operands = [(0, 0); OpKind::COUNT];
    let mut index = 0;
    while index < VERBS.len() {
        operands[VERBS[index].kind.index()] = VERBS[index].operands();
        index += 1;
    }
    operands[OpKind::OpenX.index()] = SNIFFED_OPEN.operands();
    operands
};

/// Returns the numbers of names and of numbers of an operation.
#[inline]
pub(super) const fn operands(kind: OpKind) -> (usize, usize) {
    OPERANDS[kind.index()]
}

/// Returns the verbs of a kind, the most frequent first.
fn of_kind(kind: OpKind) -> impl Iterator<Item = &'static Verb> {
    let all = VERBS.iter().chain([&SNIFFED_OPEN]);
    all.filter(move |verb| verb.kind == kind)
}

/// Returns the index of the number argument `name`, if an operation has it.
pub(super) fn place_of(kind: OpKind, name: &str) -> Option<usize> {
    let verb = of_kind(kind).next()?;
    verb.numbers.iter().position(|number| *number == name)
}

/// Returns the verb of that word, case-insensitively.
#[inline]
pub(super) fn find(word: &[u8]) -> Option<&'static Verb> {
    VERBS
        .iter()
        .find(|verb| verb.word.as_bytes().eq_ignore_ascii_case(word))
}

/// FileEffect of an operation on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileEffect {
    /// Reads, by name.
    Reads,
    /// Locks or unlocks, by name.
    Locks,
    /// Opens a file, which may create or truncate it.
    Opens,
    /// Reads an open file, or closes it.
    ReadsOpenFile,
    /// Writes an open file.
    WritesOpenFile,
    /// Needs a file that is open for writing, without modifying it: stores its data, or locks.
    NeedsWriteAccess,
    /// Modifies the object with its name, or a directory.
    Modifies,
}

/// Returns the effect of an operation. Operations that load files do not have count as modifying.
pub(super) const fn effect(kind: OpKind) -> FileEffect {
    match kind {
        OpKind::GetAttr
        | OpKind::Lookup
        | OpKind::Access
        | OpKind::ReadLink
        | OpKind::Read
        | OpKind::ReadDirPlus
        | OpKind::FsStat
        | OpKind::FsInfo
        | OpKind::PathConf
        | OpKind::FindFirst
        | OpKind::QueryPathInformation
        | OpKind::QueryFsInformation
        | OpKind::Test4 => FileEffect::Reads,
        OpKind::Lock4 | OpKind::Unlock4 => FileEffect::Locks,
        OpKind::NtCreateX => FileEffect::Opens,
        OpKind::Close | OpKind::ReadX | OpKind::QueryFileInformation => FileEffect::ReadsOpenFile,
        OpKind::WriteX | OpKind::SetFileInformation => FileEffect::WritesOpenFile,
        OpKind::Flush | OpKind::LockX | OpKind::UnlockX => FileEffect::NeedsWriteAccess,
        // Among them LINK: a second name for a file outside would allow modifying it from inside.
        OpKind::SetAttr
        | OpKind::Write
        | OpKind::Create
        | OpKind::MkDir
        | OpKind::SymLink
        | OpKind::Remove
        | OpKind::RmDir
        | OpKind::Rename
        | OpKind::Link
        | OpKind::Commit
        | OpKind::Deltree
        | OpKind::Unlink
        | OpKind::OpenX
        | not_in_loads!() => FileEffect::Modifies,
    }
}

/// Class of the exchanges of an operation, for layers that lack some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExchangeClass {
    /// READ of an open file.
    Read,
    /// WRITE of an open file.
    Write,
    /// A listing with a pattern.
    Listing,
    /// Another CIFS-style operation.
    Cifs,
    /// Removal of a tree.
    Deltree,
    /// Locks of an open file.
    Locks,
    /// An exchange with the lock manager of NFS.
    Nlm,
    /// An exchange of NFS.
    Nfs,
}

/// Returns the class of an operation's exchanges. MKDIR, RMDIR and RENAME are also verbs of NFS.
pub(super) const fn exchange_class(kind: OpKind) -> ExchangeClass {
    match kind {
        OpKind::ReadX => ExchangeClass::Read,
        OpKind::WriteX => ExchangeClass::Write,
        OpKind::FindFirst => ExchangeClass::Listing,
        OpKind::NtCreateX
        | OpKind::OpenX
        | OpKind::Close
        | OpKind::Flush
        | OpKind::Unlink
        | OpKind::MkDir
        | OpKind::RmDir
        | OpKind::Rename
        | OpKind::QueryPathInformation
        | OpKind::QueryFileInformation
        | OpKind::SetFileInformation
        | OpKind::QueryFsInformation => ExchangeClass::Cifs,
        OpKind::Deltree => ExchangeClass::Deltree,
        OpKind::LockX | OpKind::UnlockX => ExchangeClass::Locks,
        OpKind::Lock4 | OpKind::Unlock4 | OpKind::Test4 => ExchangeClass::Nlm,
        OpKind::GetAttr
        | OpKind::SetAttr
        | OpKind::Lookup
        | OpKind::Access
        | OpKind::ReadLink
        | OpKind::Read
        | OpKind::Write
        | OpKind::Create
        | OpKind::SymLink
        | OpKind::Remove
        | OpKind::Link
        | OpKind::ReadDirPlus
        | OpKind::FsStat
        | OpKind::FsInfo
        | OpKind::PathConf
        | OpKind::Commit
        | not_in_loads!() => ExchangeClass::Nfs,
    }
}

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

/// The order of the table of dbench's smb backend.
const SMB_ORDER: [OpKind; BY_PATH.len()] = {
    let mut order = [OpKind::Deltree; BY_PATH.len()];
    let mut place = 0;
    while place < order.len() {
        order[place] = BY_PATH[place].kind;
        place += 1;
    }
    order
};

/// Returns the kinds that a load of this generation can have, in dbench's order.
pub const fn table_order(generation: Generation) -> &'static [OpKind] {
    match generation {
        Generation::Dbench1 | Generation::Dbench2 | Generation::Cifs => CIFS_ORDER,
        Generation::Nfs => NFS_ORDER,
        Generation::Smb => &SMB_ORDER,
    }
}

/// Returns the name of a kind of operation in load files of this generation.
pub fn word_of(generation: Generation, kind: OpKind) -> &'static str {
    let family = match generation {
        Generation::Dbench1 | Generation::Dbench2 | Generation::Cifs => VerbSet::Cifs,
        Generation::Nfs => VerbSet::Nfs,
        Generation::Smb => VerbSet::Smb,
    };
    if let Some(verb) = BY_PATH
        .iter()
        .find(|verb| verb.kind == kind && verb.family == family)
    {
        return verb.word;
    }
    let own = of_kind(kind).find(|verb| verb.family == family);
    let verb = own.or_else(|| of_kind(kind).next());
    // Kinds that load files do not have are named as in records.
    verb.map_or(kind.name(), |verb| verb.word)
}

/// Words that begin a directive.
pub(super) const DIRECTIVES: &[&str] = &[
    "LOOP",
    "ENDLOOP",
    "REPEAT",
    "SLEEP",
    "SETSP",
    "WAITSP",
    "WRITEPATTERN",
    "RANDOMSTRING",
];

/// Returns the verb or directive that is most similar to an unknown word.
pub(super) fn meant(word: &[u8]) -> Option<&'static str> {
    let words = VERBS.iter().map(|verb| verb.word);
    suggestion(word, words.chain(DIRECTIVES.iter().copied()))
}

/// Verbs of dbench's other backends: recognised, so that the error message can name the backend.
const FOREIGN: &[(&str, &[&str])] = &[
    ("dbench's block backend", &["FDATASYNC"]),
    (
        "dbench's scsi and iscsi backends",
        &[
            "TESTUNITREADY",
            "READ6",
            "READ10",
            "READ12",
            "READ16",
            "WRITE6",
            "WRITE10",
            "WRITE12",
            "WRITE16",
            "READCAPACITY10",
            "READCAPACITY16",
            "SYNCHRONIZECACHE10",
            "SYNCHRONIZECACHE16",
            "PREFETCH10",
            "PREFETCH16",
            "INQUIRY",
            "PRIN",
            "PROUT",
        ],
    ),
];

/// Returns the backend of a verb, if it is one that is not supported. READ and WRITE without a name
/// belong to the block backend.
pub(super) fn foreign(word: &[u8], is_name: bool, arguments: usize) -> Option<&'static str> {
    let is = |verb: &str| word.eq_ignore_ascii_case(verb.as_bytes());
    let [(block, _), _] = FOREIGN else {
        return None;
    };
    if !is_name && (is("READ") || (is("WRITE") && arguments < 4)) {
        return Some(block);
    }
    FOREIGN
        .iter()
        .find(|(_, verbs)| verbs.iter().any(|verb| is(verb)))
        .map(|(backend, _)| *backend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::LoadAction;
    use crate::load::code::NUMBERS;

    #[test]
    fn verbs_are_found_whatever_their_case() {
        for verb in VERBS {
            let found = find(verb.word.to_lowercase().as_bytes()).expect("it is listed");
            assert_eq!(found.word, verb.word);
            assert!(verb.names.len() <= 2 && verb.numbers.len() <= 4);
        }
        assert!(find(b"READX3").is_none());
    }

    #[test]
    fn every_verb_has_an_action() {
        for verb in VERBS {
            let action = LoadAction::from_operands(verb.kind, b"a", b"b", [1; NUMBERS]);
            let counted = action.map(|action| action.kind());
            assert_eq!(counted, Ok(verb.kind), "{}", verb.word);
        }
    }

    #[test]
    fn tables_have_every_kind_of_their_family() {
        let by_path = BY_PATH.iter().map(|verb| (VerbSet::Smb, verb.kind));
        let verbs = VERBS.iter().chain([&SNIFFED_OPEN]);
        let verbs = verbs.map(|verb| (verb.family, verb.kind));
        for (family, kind) in verbs.chain(by_path) {
            let generations = match family {
                VerbSet::Cifs => [Generation::Cifs].as_slice(),
                VerbSet::Nfs => &[Generation::Nfs],
                VerbSet::Smb => &[Generation::Smb],
                VerbSet::Either => &[Generation::Cifs, Generation::Nfs],
            };
            for generation in generations {
                let order = table_order(*generation);
                assert!(order.contains(&kind), "{generation:?} lacks {kind:?}");
            }
        }
    }

    #[test]
    fn no_two_rows_of_a_table_are_called_alike() {
        for generation in [Generation::Cifs, Generation::Nfs, Generation::Smb] {
            let mut verbs: Vec<&str> = table_order(generation)
                .iter()
                .map(|kind| word_of(generation, *kind))
                .collect();
            let rows = verbs.len();
            verbs.sort_unstable();
            verbs.dedup();
            assert_eq!(verbs.len(), rows, "{generation:?}");
        }
    }

    #[test]
    fn verbs_of_other_backends_are_known_as_theirs() {
        let whose = |word: &str, is_name, arguments| foreign(word.as_bytes(), is_name, arguments);
        assert!(whose("READ", true, 3).is_none());
        assert!(whose("Close", false, 1).is_none());
        assert!(whose("WRITE", false, 2).is_some_and(|who| who.contains("block")));
        assert!(whose("Write", false, 4).is_none());
        assert!(whose("read10", false, 4).is_some_and(|who| who.contains("iscsi")));
    }

    #[test]
    fn the_first_verb_that_only_one_kind_has_tells_how_files_are_named() {
        let told = |word: &str, is_name| naming(word.as_bytes(), is_name);
        assert_eq!(told("open", true), Some(FileAddressing::ByPath));
        assert_eq!(told("READ", true), Some(FileAddressing::ByPath));
        assert_eq!(told("Close", false), Some(FileAddressing::ByHandle));
        assert_eq!(told("Write", false), Some(FileAddressing::ByHandle));
        assert_eq!(told("READ3", true), Some(FileAddressing::ByHandle));
        for either in [
            "MKDIR",
            "Rmdir",
            "UNLINK",
            "Deltree",
            "REPEAT",
            "RANDOMSTRING",
        ] {
            assert_eq!(told(either, true), None, "{either}");
        }
    }
}
