//! Mapping of operations of NFSv2, NFSv4 and SMB2 to NFSv3, by the names that systems use for them.

use filestone_workload::operation::OpKind;

/// Meaning of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameMapping {
    /// A procedure of NFSv3, or an equivalent of one.
    Procedure(OpKind),
    /// A call of NFSv2 without an equivalent, with the reason.
    Refused(&'static str),
    /// COMPOUND: a call whose operations are counted separately elsewhere.
    Compound,
    /// A counted operation without an equivalent in NFSv3.
    Unlike,
}

/// Version of the protocol that a name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    /// RFC 1094.
    V2,
    /// RFC 1813; also used if a system counts all versions under the names of NFSv3.
    V3,
    /// RFC 7530 and 8881: calls of a client, one COMPOUND each.
    V4,
    /// RFC 7530 and 8881: operations within a server's COMPOUNDs.
    V4Operations,
    /// MS-SMB2, by the names of Samba's counters.
    Smb2,
}

impl Version {
    /// Returns the name in notes.
    pub(super) fn name(self) -> &'static str {
        match self {
            Version::V2 => "NFSv2",
            Version::V3 => "NFSv3",
            Version::V4 | Version::V4Operations => "NFSv4",
            Version::Smb2 => "SMB2",
        }
    }
}

/// The procedures of NFSv2 in the order of their numbers, RFC 1094, section 2.2.
pub(super) const V2: [&str; 18] = [
    "null", "getattr", "setattr", "root", "lookup", "readlink", "read", "wrcache", "write",
    "create", "remove", "rename", "link", "symlink", "mkdir", "rmdir", "readdir", "fsstat",
];

/// Linux counters of an NFSv4 client, separated by blanks, in the order of NFSPROC4_CLNT_* in its
/// nfs4.h.
pub(super) const V4_CLIENT: &str = "\
    null read write commit open open_confirm open_noattr open_downgrade close setattr fsinfo \
    renew setclientid setclientid_confirm lock lockt locku access getattr lookup lookup_root \
    remove rename link symlink create pathconf statfs readlink readdir server_caps delegreturn \
    getacl setacl fs_locations release_lockowner secinfo fsid_present exchange_id create_session \
    destroy_session sequence get_lease_time reclaim_complete layoutget getdeviceinfo \
    layoutcommit layoutreturn secinfo_no_name test_stateid free_stateid getdevicelist \
    bind_conn_to_session destroy_clientid seek allocate deallocate layoutstats clone copy \
    offload_cancel lookupp layouterror copy_notify getxattr setxattr listxattrs removexattr";

/// The operations of NFSv4, separated by blanks, in the order of their numbers: RFC 7531, RFC 5662,
/// RFC 7863, RFC 8276.
/// Numbers 0 to 2 are unused.
pub(super) const V4_OPERATIONS: &str = "\
    op0 op1 op2 access close commit create delegpurge delegreturn getattr getfh link lock lockt \
    locku lookup lookupp nverify open openattr open_confirm open_downgrade putfh putpubfh \
    putrootfh read readdir readlink remove rename renew restorefh savefh secinfo setattr \
    setclientid setclientid_confirm verify write release_lockowner backchannel_ctl \
    bind_conn_to_session exchange_id create_session destroy_session free_stateid \
    get_dir_delegation getdeviceinfo getdevicelist layoutcommit layoutget layoutreturn \
    secinfo_no_name sequence set_ssv test_stateid want_delegation destroy_clientid \
    reclaim_complete allocate copy copy_notify deallocate io_advise layouterror layoutstats \
    offload_cancel offload_status read_plus seek write_same clone getxattr setxattr listxattrs \
    removexattr";

/// Samba's counters with an equivalent: requests, and system calls that result from a certain kind
/// of SET_INFO or CREATE.
pub(super) const SMB2: [(&str, OpKind); 12] = [
    ("smb2_keepalive", OpKind::Null),
    ("smb2_getinfo", OpKind::GetAttr),
    ("smb2_setinfo", OpKind::SetAttr),
    ("smb2_create", OpKind::Lookup),
    ("smb2_read", OpKind::Read),
    ("smb2_write", OpKind::Write),
    ("syscall_mkdirat", OpKind::MkDir),
    ("syscall_unlinkat", OpKind::Remove),
    ("syscall_renameat", OpKind::Rename),
    ("syscall_linkat", OpKind::Link),
    // A listing includes attributes.
    ("smb2_find", OpKind::ReadDirPlus),
    ("smb2_flush", OpKind::Commit),
];

/// Returns the meaning of a name in that version, case-insensitively.
pub(super) fn meaning(version: Version, name: &str) -> NameMapping {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    if version == Version::Smb2 {
        let like = SMB2.iter().find(|(known, _)| is(known));
        return like.map_or(NameMapping::Unlike, |(_, kind)| {
            NameMapping::Procedure(*kind)
        });
    }
    let is_v4 = matches!(version, Version::V4 | Version::V4Operations);
    if version == Version::V2 && is("root") {
        return NameMapping::Refused(
            "NFSPROC_ROOT is obsolete (RFC 1094, section 2.2.4): MOUNT gives the root's handle",
        );
    }
    if version == Version::V2 && is("wrcache") {
        return NameMapping::Refused(
            "NFSPROC_WRITECACHE was never specified (RFC 1094, section 2.2.8)",
        );
    }
    if is("compound") {
        return NameMapping::Compound;
    }
    // CREATE of NFSv4 creates objects other than regular files (RFC 7530, section 16.4), in nearly
    // all cases directories; OPEN creates files. FreeBSD prints both in one table.
    if is("v4create") || (is_v4 && is("create")) {
        return NameMapping::Procedure(OpKind::MkDir);
    }
    let like = [
        ("statfs", OpKind::FsStat),
        ("rdirplus", OpKind::ReadDirPlus),
        ("lookupp", OpKind::Lookup),
        ("read_plus", OpKind::Read),
        ("readplus", OpKind::Read),
    ];
    if let Some((_, kind)) = like.into_iter().find(|(other, _)| is(other)) {
        return NameMapping::Procedure(kind);
    }
    procedure(name).map_or(NameMapping::Unlike, NameMapping::Procedure)
}

/// Returns the procedure of NFSv3 of that name.
pub(super) fn procedure(name: &str) -> Option<OpKind> {
    OpKind::from_name(name).filter(|kind| OpKind::STATELESS.contains(kind))
}
