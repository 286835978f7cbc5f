//! The part of the list that is NFSv3.

use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::mknod::{DeviceData, MknodData};
use filestone_wire::nfs3::symlink::SymlinkData;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    self, DirOpArgs, Fattr3, FileHandle, FileType, Nfstime3, PostOpAttr, Procedure, ReplyFail,
    Sattr3, SetTime, Specdata3, Status, Verifier, WccAttr, WccData,
};

use super::{Kind, Message, message};
use Kind::{Nfs3Args as Args, Nfs3Reply as Reply};

const TIME: Nfstime3 = Nfstime3 {
    seconds: 1_700_000_000,
    nseconds: 999_999_999,
};
const VERIFIER: Verifier = [1, 2, 3, 4, 5, 6, 7, 8];

fn handle() -> FileHandle<'static> {
    FileHandle::new(b"a handle that is not of 64 bytes").unwrap()
}

fn named(name: &'static [u8]) -> DirOpArgs<'static> {
    DirOpArgs {
        dir: handle(),
        name,
    }
}

const ATTRIBUTES: Fattr3 = Fattr3 {
    file_type: FileType::Regular,
    mode: 0o644,
    nlink: 1,
    uid: 1000,
    gid: 100,
    size: 0x0102_0304_0506_0708,
    used: 4096,
    rdev: Specdata3 { major: 8, minor: 1 },
    fsid: 0x1112_1314_1516_1718,
    fileid: 0x2122_2324_2526_2728,
    atime: TIME,
    mtime: TIME,
    ctime: TIME,
};

const POST: PostOpAttr = Some(ATTRIBUTES);
const WCC: WccData = WccData {
    before: Some(WccAttr {
        size: 9,
        mtime: TIME,
        ctime: TIME,
    }),
    after: POST,
};
const NO_WCC: WccData = WccData {
    before: None,
    after: None,
};

const SET: Sattr3 = Sattr3 {
    mode: Some(0o600),
    uid: Some(1),
    gid: Some(2),
    size: Some(3),
    atime: SetTime::ServerTime,
    mtime: SetTime::ClientTime(TIME),
};
const SET_NOTHING: Sattr3 = Sattr3 {
    mode: None,
    uid: None,
    gid: None,
    size: None,
    atime: SetTime::DontChange,
    mtime: SetTime::DontChange,
};

/// Arguments of every procedure.
pub fn args() -> Vec<Message> {
    let mut all = vec![
        message(Args(Procedure::Null), ()),
        message(Args(Procedure::Getattr), handle()),
        setattr(SET, Some(TIME)),
        setattr(SET_NOTHING, None),
        message(Args(Procedure::Lookup), named(b"name")),
        message(
            Args(Procedure::Access),
            nfs3::access::Args {
                object: handle(),
                access: nfs3::access::ALL,
            },
        ),
        message(Args(Procedure::Readlink), handle()),
        message(
            Args(Procedure::Read),
            nfs3::read::Args {
                file: handle(),
                offset: 1 << 40,
                count: 4096,
            },
        ),
        message(
            Args(Procedure::Mkdir),
            nfs3::mkdir::Args {
                where_: named(b"directory"),
                attributes: SET,
            },
        ),
        message(Args(Procedure::Symlink), symlink()),
        message(Args(Procedure::Remove), named(b"file")),
        message(Args(Procedure::Rmdir), named(b"directory")),
        message(
            Args(Procedure::Rename),
            nfs3::rename::Args {
                from: named(b"old"),
                to: named(b"newer"),
            },
        ),
        message(
            Args(Procedure::Link),
            nfs3::link::Args {
                file: handle(),
                link: named(b"alias"),
            },
        ),
        message(Args(Procedure::Readdir), readdir()),
        message(Args(Procedure::Readdirplus), readdirplus()),
        message(Args(Procedure::Fsstat), handle()),
        message(Args(Procedure::Fsinfo), handle()),
        message(Args(Procedure::Pathconf), handle()),
        message(
            Args(Procedure::Commit),
            nfs3::commit::Args {
                file: handle(),
                offset: 1 << 40,
                count: 0,
            },
        ),
    ];
    all.extend(
        [
            StableHow::Unstable,
            StableHow::DataSync,
            StableHow::FileSync,
        ]
        .map(write),
    );
    all.extend(
        [
            CreateHow::Unchecked(SET),
            CreateHow::Guarded(SET_NOTHING),
            CreateHow::Exclusive(VERIFIER),
        ]
        .map(create),
    );
    let device = DeviceData {
        dev_attributes: SET,
        spec: Specdata3 { major: 1, minor: 3 },
    };
    all.extend(
        [
            MknodData::CharacterDevice(device),
            MknodData::BlockDevice(device),
            MknodData::Socket(SET),
            MknodData::Fifo(SET_NOTHING),
            MknodData::Regular,
            MknodData::Directory,
            MknodData::Symlink,
        ]
        .map(mknod),
    );
    all
}

fn setattr(new_attributes: Sattr3, guard: Option<Nfstime3>) -> Message {
    let args = nfs3::setattr::Args {
        object: handle(),
        new_attributes,
        guard,
    };
    message(Args(Procedure::Setattr), args)
}

fn symlink() -> nfs3::symlink::Args<'static> {
    let symlink = SymlinkData {
        symlink_attributes: SET,
        symlink_data: b"../elsewhere",
    };
    nfs3::symlink::Args {
        where_: named(b"link"),
        symlink,
    }
}

fn write(stable: StableHow) -> Message {
    let args = nfs3::write::Args {
        file: handle(),
        offset: 7,
        count: 5,
        stable,
        data: b"bytes",
    };
    message(Args(Procedure::Write), args)
}

fn create(how: CreateHow) -> Message {
    message(
        Args(Procedure::Create),
        nfs3::create::Args {
            where_: named(b"file"),
            how,
        },
    )
}

fn mknod(what: MknodData) -> Message {
    message(
        Args(Procedure::Mknod),
        nfs3::mknod::Args {
            where_: named(b"device"),
            what,
        },
    )
}

fn readdir() -> nfs3::readdir::Args<'static> {
    nfs3::readdir::Args {
        dir: handle(),
        cookie: 5,
        cookieverf: VERIFIER,
        count: 8192,
    }
}

fn readdirplus() -> nfs3::readdirplus::Args<'static> {
    let (dircount, maxcount) = (1024, 8192);
    nfs3::readdirplus::Args {
        dir: handle(),
        cookie: 5,
        cookieverf: VERIFIER,
        dircount,
        maxcount,
    }
}

/// Both arms of the reply of every procedure.
macro_rules! reply {
    ($all:ident, $variant:ident, $module:ident, { $($ok:tt)* }, $attributes:expr) => {
        reply!($all, $variant, $module, (nfs3::$module::ReplyOk { $($ok)* }), $attributes);
    };
    ($all:ident, $variant:ident, $module:ident, ($ok:expr), $attributes:expr) => {
        let ok = $ok;
        let fail = ReplyFail { status: Status::STALE, attributes: $attributes };
        $all.push(message(Reply(Procedure::$variant), nfs3::$module::Reply::Ok(ok)));
        $all.push(message(Reply(Procedure::$variant), nfs3::$module::Reply::Err(fail)));
    };
}

/// Replies to every procedure.
pub fn replies() -> Vec<Message> {
    let mut all = vec![message(Reply(Procedure::Null), ())];
    reply!(all, Getattr, getattr, (ATTRIBUTES), ());
    reply!(all, Setattr, setattr, (WCC), NO_WCC);
    reply!(all, Lookup, lookup,
        { object: handle(), obj_attributes: POST, dir_attributes: None },
        POST);
    reply!(all, Access, access, { obj_attributes: POST, access: 0x1f }, None);
    reply!(all, Readlink, readlink,
        { symlink_attributes: POST, data: b"../elsewhere" }, POST);
    reply!(all, Read, read,
        { file_attributes: POST, count: 5, eof: true, data: b"bytes" }, None);
    reply!(all, Write, write,
        { file_wcc: WCC, count: 5, committed: StableHow::FileSync, verf: VERIFIER },
        WCC);
    reply!(all, Create, create,
        { obj: Some(handle()), obj_attributes: POST, dir_wcc: WCC }, NO_WCC);
    reply!(all, Mkdir, mkdir,
        { obj: None, obj_attributes: None, dir_wcc: NO_WCC }, WCC);
    reply!(all, Symlink, symlink,
        { obj: Some(handle()), obj_attributes: None, dir_wcc: WCC }, WCC);
    reply!(all, Mknod, mknod,
        { obj: None, obj_attributes: POST, dir_wcc: WCC }, WCC);
    reply!(all, Remove, remove, (WCC), WCC);
    reply!(all, Rmdir, rmdir, (WCC), NO_WCC);
    reply!(all, Rename, rename,
        { fromdir_wcc: WCC, todir_wcc: NO_WCC }, nfs3::rename::ReplyOk { fromdir_wcc: NO_WCC, todir_wcc: WCC });
    reply!(all, Link, link,
        { file_attributes: POST, linkdir_wcc: WCC }, nfs3::link::ReplyOk { file_attributes: None, linkdir_wcc: WCC });
    reply!(all, Readdir, readdir, {
        dir_attributes: POST,
        cookieverf: VERIFIER,
        entries: vec![entry(1, b"."), entry(2, b".."), entry(3, b"file")],
        eof: true,
    }, POST);
    reply!(all, Readdirplus, readdirplus, {
        dir_attributes: None,
        cookieverf: VERIFIER,
        entries: vec![entry_plus(1, b".", POST), entry_plus(2, b"file", None)],
        eof: false,
    }, POST);
    all.extend(file_system_replies());
    all
}

fn file_system_replies() -> Vec<Message> {
    let mut all = vec![];
    reply!(all, Fsstat, fsstat, {
        obj_attributes: POST,
        tbytes: 1 << 40, fbytes: 1 << 39, abytes: 1 << 38,
        tfiles: 3000, ffiles: 2000, afiles: 1000,
        invarsec: 1,
    }, POST);
    reply!(all, Fsinfo, fsinfo, {
        obj_attributes: None,
        rtmax: 1 << 20, rtpref: 1 << 17, rtmult: 4096,
        wtmax: 1 << 20, wtpref: 1 << 17, wtmult: 512,
        dtpref: 8192,
        maxfilesize: u64::MAX,
        time_delta: Nfstime3 { seconds: 0, nseconds: 1 },
        properties: 0x1b,
    }, POST);
    reply!(all, Pathconf, pathconf, {
        obj_attributes: POST,
        linkmax: 1024, name_max: 255,
        no_trunc: true, chown_restricted: true, case_insensitive: false, case_preserving: true,
    }, POST);
    reply!(all, Commit, commit, { file_wcc: WCC, verf: VERIFIER }, WCC);
    all
}

fn entry(cookie: u64, name: &'static [u8]) -> nfs3::readdir::Entry<'static> {
    nfs3::readdir::Entry {
        fileid: cookie + 100,
        name,
        cookie,
    }
}

fn entry_plus(
    cookie: u64,
    name: &'static [u8],
    name_attributes: PostOpAttr,
) -> nfs3::readdirplus::EntryPlus<'static> {
    let name_handle = name_attributes.map(|_| handle());
    nfs3::readdirplus::EntryPlus {
        fileid: cookie,
        name,
        cookie,
        name_attributes,
        name_handle,
    }
}
