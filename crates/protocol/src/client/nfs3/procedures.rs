//! Mapping between operation kinds and NFSv3 procedures.

use crate::client::Unsupported;
use filestone_wire::nfs3::Procedure;
use filestone_workload::kind::OpKind;

macro_rules! procedures {
    ($($procedure:ident = $kind:ident;)*) => {
        /// Returns the operation kind of a procedure.
        pub const fn kind_of(procedure: Procedure) -> OpKind {
            match procedure { $(Procedure::$procedure => OpKind::$kind,)* }
        }

        /// Returns the procedure of a kind; `None` if NFSv3 has no such procedure.
        pub fn procedure_of(kind: OpKind) -> Option<Procedure> {
            const OF_KINDS: &[(OpKind, Procedure)] = &[$((OpKind::$kind, Procedure::$procedure),)*];
            OF_KINDS
                .iter()
                .find(|(of, _)| *of == kind)
                .map(|(_, procedure)| *procedure)
        }
    };
}

procedures! {
    Null = Null;
    Getattr = GetAttr;
    Setattr = SetAttr;
    Lookup = Lookup;
    Access = Access;
    Readlink = ReadLink;
    Read = Read;
    Write = Write;
    Create = Create;
    Mkdir = MkDir;
    Symlink = SymLink;
    Mknod = MkNod;
    Remove = Remove;
    Rmdir = RmDir;
    Rename = Rename;
    Link = Link;
    Readdir = ReadDir;
    Readdirplus = ReadDirPlus;
    Fsstat = FsStat;
    Fsinfo = FsInfo;
    Pathconf = PathConf;
    Commit = Commit;
}

/// Returns an error with the reason if NFSv3 has no operations of this kind.
pub fn supports(kind: OpKind) -> Result<(), Unsupported> {
    let name = kind.name();
    match kind {
        _ if procedure_of(kind).is_some() => Ok(()),
        OpKind::Lock | OpKind::Unlock => Err(Unsupported(format!(
            "NFSv3 has no {name}: locks belong to its Network Lock Manager (NLM)"
        ))),
        OpKind::SessionSetup | OpKind::TreeConnect | OpKind::Notify => Err(Unsupported(format!(
            "NFSv3 has no {name}: it is an exchange of SMB2"
        ))),
        OpKind::Copy => Err(Unsupported(format!(
            "NFSv3 has no {name}: SMB2 and NFSv4.2 have servers copy"
        ))),
        _ => Err(Unsupported(format!(
            "NFSv3 has no {name}: it keeps no state of open files"
        ))),
    }
}

/// Returns the kinds that are procedures of NFSv3, by number.
pub fn kinds() -> impl Iterator<Item = OpKind> {
    Procedure::ALL.into_iter().map(kind_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures_and_kinds_have_the_same_names() {
        for procedure in Procedure::ALL {
            assert_eq!(procedure.name(), kind_of(procedure).name());
            assert_eq!(procedure_of(kind_of(procedure)), Some(procedure));
        }
        assert_eq!(kinds().collect::<Vec<_>>(), OpKind::STATELESS);
        assert_eq!(procedure_of(OpKind::Open), None);
        assert_eq!(supports(OpKind::Read), Ok(()));
        assert!(supports(OpKind::Lock).is_err_and(|error| error.0.contains("NLM")));
        assert!(supports(OpKind::Notify).is_err_and(|error| error.0.contains("SMB2")));
        assert!(supports(OpKind::Copy).is_err_and(|error| error.0.contains("SMB2")));
        assert!(supports(OpKind::Open).is_err_and(|error| error.0.contains("open files")));
    }
}
