#![expect(
    clippy::result_large_err,
    reason = "replies are as large as the standard has them"
)]

use filestone_wire::mount::{self, DirPath, ExportReply, MntFail, MntReply, MountStatus};
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::mknod::{DeviceData, MknodData};
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    self, DirOpArgs, FileType, Handle, Sattr3, Specdata3, access, commit, create, fsinfo, fsstat,
    getattr, link, lookup, mkdir, mknod, pathconf, read, readdir, readdirplus, readlink, remove,
    rename, rmdir, setattr, symlink, write,
};
use filestone_wire::nlm::{self, LockRange, NetObject, test::TestOutcome};
use filestone_wire::portmap::{self, Mapping, UniversalAddress, rpcbind};
use filestone_wire::rpc::{AuthSys, Gids, OpaqueAuth, ReplyBody};

mod permissions;

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::*;
use crate::tree::InitialTree;

const PORT: u16 = 2049;
const NONE: Sattr3 = Sattr3 {
    mode: None,
    uid: None,
    gid: None,
    size: None,
    atime: nfs3::SetTime::DontChange,
    mtime: nfs3::SetTime::DontChange,
};

/// A service and the state of its caller.
struct Bench {
    service: Service,
    tally: ThreadCounters,
    ends: Endpoints,
    grants: Grants,
    caller: AuthSys<'static>,
}

/// Collects grants for later settlement.
#[derive(Debug, Clone, Default)]
struct Grants(Arc<Mutex<Vec<Grant>>>);

impl Grants {
    fn take(&self) -> Vec<Grant> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl GrantSink for Grants {
    fn submit(&self, grant: Grant) {
        self.0.lock().unwrap().push(grant);
    }
}

fn v4(ip: [u8; 4], port: u16) -> SocketAddr {
    SocketAddr::from((ip, port))
}

fn bench_with(conduct: ServiceOptions) -> Bench {
    let initial = InitialTree {
        file_size: 3 << 20,
        small_file_count: 2,
        small_file_size: 100,
        uid: CALLER.uid,
        gid: CALLER.gid,
    };
    let tree = initial.plant(77, 64 << 20, conduct.discard, 1_000_000_000);
    let grants = Grants::default();
    let addresses = vec![
        v4([0, 0, 0, 0], PORT),
        SocketAddr::from((Ipv6Addr::UNSPECIFIED, PORT)),
    ];
    let sink = Box::new(grants.clone());
    Bench {
        service: Service::new(
            Arc::new(RwLock::new(tree)),
            *b"verifier",
            addresses,
            conduct,
            sink,
        ),
        tally: ThreadCounters::default(),
        ends: Endpoints {
            transport: CallTransport::Tcp,
            local: v4([192, 0, 2, 1], PORT),
            peer: v4([192, 0, 2, 7], 700),
        },
        grants,
        caller: CALLER,
    }
}

fn bench() -> Bench {
    bench_with(ServiceOptions::default())
}

/// The caller in all tests other than those of permissions: the owner of the initial tree.
const CALLER: AuthSys<'static> = AuthSys {
    stamp: 0,
    machine_name: b"client",
    uid: 1000,
    gid: 100,
    gids: Gids::EMPTY,
};

fn header(program: u32, version: u32, procedure: u32) -> CallHeader<'static> {
    CallHeader {
        xid: 42,
        program,
        version,
        procedure,
        credential: Credential::Sys(CALLER),
        verifier: OpaqueAuth::NONE,
    }
}

impl Bench {
    /// Serves the bytes of a record and returns those of the reply, without its mark.
    fn serve(&self, call: &[u8]) -> Vec<u8> {
        let mut sink = ReplySink::default();
        let caller = Caller {
            ends: &self.ends,
            tally: &self.tally,
            now: 5_000_000_000,
            loops: false,
        };
        self.service.serve(call, caller, &mut sink);
        let reply = sink.to_vec();
        let Some((mark, reply)) = reply.split_first_chunk() else {
            return Vec::new();
        };
        assert_eq!(
            u32::from_be_bytes(*mark),
            reply.len() as u32 | 0x8000_0000,
            "the mark tells the length"
        );
        reply.to_vec()
    }

    fn header(&self, program: u32, version: u32, procedure: u32) -> CallHeader<'static> {
        CallHeader {
            credential: Credential::Sys(self.caller),
            ..header(program, version, procedure)
        }
    }

    fn body(&self, header: &CallHeader<'_>, arguments: &impl Encode) -> (ReplyBody, Vec<u8>) {
        let mut call = header.to_bytes();
        arguments.encode(&mut Writer::new(&mut call));
        let reply = self.serve(&call);
        let mut reader = Reader::new(&reply);
        let head = ReplyHeader::decode(&mut reader).unwrap();
        assert_eq!(head.xid, header.xid);
        (head.body, reader.rest().to_vec())
    }

    /// Calls a procedure that succeeds; returns the results.
    fn results(&self, program: u32, version: u32, number: u32, arguments: &impl Encode) -> Vec<u8> {
        let (body, results) = self.body(&self.header(program, version, number), arguments);
        assert_eq!(body, ReplyBody::SUCCESS);
        results
    }

    fn nfs3(&self, procedure: Procedure, arguments: &impl Encode) -> Vec<u8> {
        self.results(nfs3::PROGRAM, 3, procedure.number(), arguments)
    }

    fn mount(&self, path: &[u8]) -> Result<Handle, MountStatus> {
        let results = self.results(mount::PROGRAM, 3, 1, &DirPath(path));
        match MntReply::from_bytes(&results).unwrap() {
            Ok(ok) => Ok(ok.fhandle.into()),
            Err(MntFail { status }) => Err(status),
        }
    }

    fn lookup(&self, directory: &Handle, name: &str) -> Result<Handle, Status> {
        let arguments = at(directory, name);
        let results = self.nfs3(Procedure::Lookup, &arguments);
        match lookup::Reply::from_bytes(&results).unwrap() {
            Ok(ok) => {
                assert!(ok.obj_attributes.is_some() && ok.dir_attributes.is_some());
                Ok(ok.object.into())
            }
            Err(fail) => Err(fail.status),
        }
    }

    fn create(&self, directory: &Handle, name: &str, how: CreateHow) -> Result<Handle, Status> {
        let arguments = create::Args {
            where_: at(directory, name),
            how,
        };
        let results = self.nfs3(Procedure::Create, &arguments);
        match create::Reply::from_bytes(&results).unwrap() {
            Ok(ok) => Ok(ok.obj.unwrap().into()),
            Err(fail) => Err(fail.status),
        }
    }

    fn write(&self, file: &Handle, offset: u64, data: &[u8]) -> write::Reply {
        let arguments = write::Args {
            file: file.borrow(),
            offset,
            count: data.len() as u32,
            stable: StableHow::DataSync,
            data,
        };
        write::Reply::from_bytes(&self.nfs3(Procedure::Write, &arguments)).unwrap()
    }

    fn read(&self, file: &Handle, offset: u64, count: u32) -> Result<(Vec<u8>, bool), Status> {
        let arguments = read::Args {
            file: file.borrow(),
            offset,
            count,
        };
        let results = self.nfs3(Procedure::Read, &arguments);
        match read::Reply::from_bytes(&results).unwrap() {
            Ok(ok) => {
                assert_eq!(ok.count as usize, ok.data.len());
                Ok((ok.data.to_vec(), ok.eof))
            }
            Err(fail) => Err(fail.status),
        }
    }
}

fn at<'a>(directory: &'a Handle, name: &'a str) -> DirOpArgs<'a> {
    DirOpArgs {
        dir: directory.borrow(),
        name: name.as_bytes(),
    }
}

#[test]
fn null_answers_and_is_counted() {
    let bench = bench();
    assert_eq!(bench.nfs3(Procedure::Null, &()), []);
    let mut sum = crate::ServerCounters::default();
    bench.tally.add_to(&mut sum);
    assert_eq!((sum.calls(Procedure::Null), sum.calls_total()), (1, 1));
}

#[test]
fn getattr_setattr_and_access_go_together() {
    let bench = bench();
    let file = bench.mount(b"/export/file").unwrap();
    let arguments = file.borrow();
    let results = bench.nfs3(Procedure::Getattr, &arguments);
    let before = getattr::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!(before.file_type, FileType::Regular);
    assert_eq!(
        (before.size, before.mode, before.nlink),
        (3 << 20, 0o666, 1)
    );

    let arguments = setattr::Args {
        object: file.borrow(),
        new_attributes: Sattr3 {
            mode: Some(0o400),
            ..NONE
        },
        guard: Some(before.ctime),
    };
    let results = bench.nfs3(Procedure::Setattr, &arguments);
    let wcc = setattr::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!(wcc.before.unwrap().ctime, before.ctime);
    assert_eq!(wcc.after.unwrap().mode, 0o400);
    let results = bench.nfs3(Procedure::Setattr, &arguments);
    let fail = setattr::Reply::from_bytes(&results).unwrap().unwrap_err();
    assert_eq!(fail.status, Status::NOT_SYNC);
    assert_eq!(fail.attributes.after, wcc.after);

    let arguments = access::Args {
        object: file.borrow(),
        access: access::ALL,
    };
    let results = bench.nfs3(Procedure::Access, &arguments);
    let reply = access::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!(reply.access, access::READ);
}

#[test]
fn lookup_and_readlink_find_their_way() {
    let bench = bench();
    let export = bench.mount(b"/export").unwrap();
    let files = bench.lookup(&export, "files").unwrap();
    assert_eq!(bench.lookup(&files, ".."), Ok(export));
    assert_eq!(bench.lookup(&files, "file0002"), Err(Status::NOENT));
    let link = bench.lookup(&export, "link").unwrap();
    let arguments = link.borrow();
    let results = bench.nfs3(Procedure::Readlink, &arguments);
    let reply = readlink::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!(reply.data, b"file");
    let arguments = files.borrow();
    let results = bench.nfs3(Procedure::Readlink, &arguments);
    let fail = readlink::Reply::from_bytes(&results).unwrap().unwrap_err();
    assert_eq!(fail.status, Status::INVAL);
}

#[test]
fn read_gives_the_pattern_and_says_where_the_file_ends() {
    let bench = bench();
    let file = bench.mount(b"/export/file").unwrap();
    for (offset, count) in [(0, 10), (12_345, 131_072), (1 << 20, 1 << 20), (7, 4097)] {
        let (data, is_eof) = bench.read(&file, offset, count).unwrap();
        assert_eq!((data.len(), is_eof), (count as usize, false));
        assert_eq!(filestone_wire::pattern::first_mismatch(offset, &data), None);
    }
    let (data, is_eof) = bench.read(&file, (3 << 20) - 5, 100).unwrap();
    assert_eq!((data.len(), is_eof), (5, true));
    assert_eq!(bench.read(&file, 1 << 40, 100), Ok((Vec::new(), true)));
    // A length above rtmax gets a short reply.
    assert_eq!(bench.read(&file, 0, u32::MAX).unwrap().0.len(), 1 << 20);
    let export = bench.mount(b"/export").unwrap();
    assert_eq!(bench.read(&export, 0, 1), Err(Status::ISDIR));
}

#[test]
fn what_is_written_is_read_and_committed() {
    let bench = bench();
    let export = bench.mount(b"/export").unwrap();
    let file = bench
        .create(&export, "new", CreateHow::Guarded(NONE))
        .unwrap();
    let data: Vec<u8> = (0..200_001_u32).map(|index| index as u8).collect();
    let ok = bench.write(&file, 5, &data).unwrap();
    assert_eq!((ok.count, ok.committed), (200_001, StableHow::DataSync));
    assert_eq!(ok.verf, *b"verifier");
    assert_eq!(ok.file_wcc.before.unwrap().size, 0);
    assert_eq!(ok.file_wcc.after.unwrap().size, 200_006);
    let (got, is_eof) = bench.read(&file, 5, 1 << 20).unwrap();
    assert!(got == data && is_eof);
    let arguments = commit::Args {
        file: file.borrow(),
        offset: 0,
        count: 0,
    };
    let results = bench.nfs3(Procedure::Commit, &arguments);
    let reply = commit::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!(reply.verf, ok.verf);
    assert_eq!(reply.file_wcc.after.unwrap().size, 200_006);
    // A count larger than the data.
    let arguments = write::Args {
        file: file.borrow(),
        offset: 0,
        count: 10,
        stable: StableHow::Unstable,
        data: b"short",
    };
    let results = bench.nfs3(Procedure::Write, &arguments);
    let fail = write::Reply::from_bytes(&results).unwrap().unwrap_err();
    assert_eq!(fail.status, Status::INVAL);
}

#[test]
fn all_that_makes_and_removes_names() {
    let bench = bench();
    let export = bench.mount(b"/export").unwrap();
    let arguments = mkdir::Args {
        where_: at(&export, "d"),
        attributes: NONE,
    };
    let results = bench.nfs3(Procedure::Mkdir, &arguments);
    let ok = mkdir::Reply::from_bytes(&results).unwrap().unwrap();
    let made = ok.obj_attributes.unwrap();
    assert_eq!((made.uid, made.gid, made.mode), (1000, 100, 0o755));
    assert!(ok.dir_wcc.before.unwrap().mtime != ok.dir_wcc.after.unwrap().mtime);
    let directory = Handle::from(ok.obj.unwrap());

    let arguments = symlink::Args {
        where_: at(&directory, "s"),
        symlink: symlink::SymlinkData {
            symlink_attributes: NONE,
            symlink_data: b"target",
        },
    };
    let results = bench.nfs3(Procedure::Symlink, &arguments);
    let ok = symlink::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!(ok.obj_attributes.unwrap().file_type, FileType::Symlink);

    let device = DeviceData {
        dev_attributes: NONE,
        spec: Specdata3 { major: 1, minor: 3 },
    };
    let kinds = [
        ("c", MknodData::CharacterDevice(device), Err(Status::PERM)),
        ("b", MknodData::BlockDevice(device), Err(Status::PERM)),
        ("k", MknodData::Socket(NONE), Ok(FileType::Socket)),
        ("p", MknodData::Fifo(NONE), Ok(FileType::Fifo)),
        ("r", MknodData::Regular, Err(Status::BADTYPE)),
    ];
    for (name, what, expected) in kinds {
        let arguments = mknod::Args {
            where_: at(&directory, name),
            what,
        };
        let results = bench.nfs3(Procedure::Mknod, &arguments);
        let reply = mknod::Reply::from_bytes(&results).unwrap();
        let got = reply
            .map(|ok| ok.obj_attributes.unwrap().file_type)
            .map_err(|fail| fail.status);
        assert_eq!(got, expected);
    }

    let file = bench
        .create(&directory, "f", CreateHow::Exclusive([9; 8]))
        .unwrap();
    let arguments = link::Args {
        file: file.borrow(),
        link: at(&export, "hard"),
    };
    let results = bench.nfs3(Procedure::Link, &arguments);
    let ok = link::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!(ok.file_attributes.unwrap().nlink, 2);

    let arguments = rename::Args {
        from: at(&export, "hard"),
        to: at(&directory, "moved"),
    };
    let results = bench.nfs3(Procedure::Rename, &arguments);
    let ok = rename::Reply::from_bytes(&results).unwrap().unwrap();
    assert!(ok.fromdir_wcc.before.unwrap() != (&ok.fromdir_wcc.after.unwrap()).into());
    assert!(ok.todir_wcc.before.unwrap() != (&ok.todir_wcc.after.unwrap()).into());
    assert_eq!(bench.lookup(&directory, "moved"), Ok(file));

    let rmdir = |name| {
        let arguments = at(&export, name);
        let results = bench.nfs3(Procedure::Rmdir, &arguments);
        rmdir::Reply::from_bytes(&results)
            .unwrap()
            .map_err(|fail| fail.status)
    };
    assert_eq!(rmdir("d").err(), Some(Status::NOTEMPTY));
    for name in ["s", "k", "p", "f", "moved"] {
        let arguments = at(&directory, name);
        let results = bench.nfs3(Procedure::Remove, &arguments);
        assert!(remove::Reply::from_bytes(&results).unwrap().is_ok());
    }
    assert!(rmdir("d").is_ok());
    assert_eq!(bench.lookup(&directory, "."), Err(Status::STALE));
}

#[test]
fn readdir_and_readdirplus_list_in_pieces() {
    let bench = bench();
    let export = bench.mount(b"/export").unwrap();
    let mut names = Vec::new();
    let (mut cookie, mut cookieverf) = (0, [0; 8]);
    loop {
        let arguments = readdir::Args {
            dir: export.borrow(),
            cookie,
            cookieverf,
            count: 180,
        };
        let results = bench.nfs3(Procedure::Readdir, &arguments);
        assert!(results.len() <= 184);
        let ok = readdir::Reply::from_bytes(&results).unwrap().unwrap();
        cookieverf = ok.cookieverf;
        for entry in &ok.entries {
            names.push(String::from_utf8(entry.name.to_vec()).unwrap());
            cookie = entry.cookie;
        }
        if ok.eof {
            break;
        }
        assert!(!ok.entries.is_empty());
    }
    assert_eq!(names, [".", "..", "file", "files", "link"]);

    let arguments = readdirplus::Args {
        dir: export.borrow(),
        cookie: 1,
        cookieverf,
        dircount: 4096,
        maxcount: 4096,
    };
    let results = bench.nfs3(Procedure::Readdirplus, &arguments);
    let ok = readdirplus::Reply::from_bytes(&results).unwrap().unwrap();
    assert!(ok.eof);
    let listed: Vec<&[u8]> = ok.entries.iter().map(|entry| entry.name).collect();
    assert_eq!(listed, [&b".."[..], b"file", b"files", b"link"]);
    for entry in &ok.entries {
        assert_eq!(entry.name_attributes.unwrap().fileid, entry.fileid);
        assert!(
            bench
                .service
                .tree()
                .resolve(entry.name_handle.unwrap().as_bytes())
                .is_ok()
        );
    }

    let small = readdirplus::Args {
        maxcount: 100,
        ..arguments
    };
    let results = bench.nfs3(Procedure::Readdirplus, &small);
    let fail = readdirplus::Reply::from_bytes(&results)
        .unwrap()
        .unwrap_err();
    assert_eq!(fail.status, Status::TOOSMALL);
}

#[test]
fn cookies_that_were_never_given_out_are_bad() {
    let bench = bench();
    let export = bench.mount(b"/export").unwrap();
    let status = |cookie, cookieverf: Verifier| {
        let arguments = readdir::Args {
            dir: export.borrow(),
            cookie,
            cookieverf,
            count: 4096,
        };
        let results = bench.nfs3(Procedure::Readdir, &arguments);
        let reply = readdir::Reply::from_bytes(&results).unwrap();
        reply.map(|ok| ok.entries.len()).map_err(|fail| fail.status)
    };
    assert_eq!(status(0, [0; 8]), Ok(5));
    assert_eq!(status(3, *b"verifier"), Ok(2));
    assert_eq!(status(3, [0; 8]), Err(Status::BAD_COOKIE));
    assert_eq!(status(6, *b"verifier"), Err(Status::BAD_COOKIE));
}

#[test]
fn fsstat_fsinfo_and_pathconf_tell_the_limits() {
    let mut bench = bench();
    let root = bench.mount(b"/").unwrap();
    let fsroot = root.borrow();
    let results = bench.nfs3(Procedure::Fsstat, &fsroot);
    let ok = fsstat::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!(ok.tbytes, 64 << 20);
    assert!(ok.fbytes < ok.tbytes && ok.ffiles < ok.tfiles);
    let results = bench.nfs3(Procedure::Fsinfo, &fsroot);
    let ok = fsinfo::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!(
        (ok.rtmax, ok.wtmax, ok.dtpref),
        (1 << 20, 1 << 20, 64 << 10)
    );
    assert_eq!(ok.maxfilesize, i64::MAX as u64);
    assert_eq!(ok.properties, 0x1b);
    bench.ends.transport = CallTransport::Udp;
    let results = bench.nfs3(Procedure::Fsinfo, &fsroot);
    let ok = fsinfo::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!((ok.rtmax, ok.rtpref), (32 << 10, 32 << 10));
    let results = bench.nfs3(Procedure::Pathconf, &fsroot);
    let ok = pathconf::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!((ok.name_max, ok.no_trunc), (255, true));
}

#[test]
fn discarded_writes_change_size_and_times_only() {
    let bench = bench_with(ServiceOptions {
        discard: true,
        ..ServiceOptions::default()
    });
    let export = bench.mount(b"/export").unwrap();
    let file = bench
        .create(&export, "new", CreateHow::Guarded(NONE))
        .unwrap();
    let used = bench.service.tree().memory_used();
    let ok = bench.write(&file, 1000, &[1; 5000]).unwrap();
    assert_eq!(ok.file_wcc.after.unwrap().size, 6000);
    assert_eq!(bench.service.tree().memory_used(), used);
    let (data, is_eof) = bench.read(&file, 1000, 10_000).unwrap();
    assert_eq!((data.len(), is_eof), (5000, true));
    assert_eq!(filestone_wire::pattern::first_mismatch(1000, &data), None);
}

#[test]
fn mount_walks_anywhere_unless_it_is_strict() {
    let bench = bench();
    assert!(bench.mount(b"/export/files/file0001").is_ok());
    assert_eq!(bench.mount(b"/export/nothing"), Err(MountStatus::NOENT));
    assert_eq!(bench.mount(b"/export/file/x"), Err(MountStatus::NOTDIR));
    assert_eq!(bench.mount(b"export"), Err(MountStatus::NOENT));
    assert_eq!(bench.mount(&[b'/'; 1024]), bench.mount(b"/"));
    let strict = bench_with(ServiceOptions {
        strict_mount: true,
        ..ServiceOptions::default()
    });
    for path in [&b"/"[..], b"/export", b"/export/"] {
        assert!(strict.mount(path).is_ok());
    }
    assert_eq!(strict.mount(b"/export/files"), Err(MountStatus::ACCES));
    assert_eq!(strict.mount(b"/export/file"), Err(MountStatus::ACCES));
    assert_eq!(strict.mount(b"/nothing"), Err(MountStatus::NOENT));
}

#[test]
fn mounts_are_listed_until_they_are_given_up() {
    let bench = bench();
    let call = |procedure: mount::Procedure, arguments: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        arguments(&mut bytes);
        let number = procedure.number();
        bench.results(mount::PROGRAM, 3, number, &Raw(bytes))
    };
    let dump = || {
        let results = call(mount::Procedure::Dump, &|_| {});
        let entries = mount::DumpReply::from_bytes(&results).unwrap();
        entries
            .iter()
            .map(|entry| (entry.hostname.0.to_vec(), entry.directory.0.to_vec()))
            .collect::<Vec<_>>()
    };
    bench.mount(b"/").unwrap();
    bench.mount(b"/export").unwrap();
    bench.mount(b"/export").unwrap();
    assert_eq!(dump().len(), 2);
    call(mount::Procedure::Umnt, &|out| {
        DirPath(b"/").encode(&mut Writer::new(out));
    });
    assert_eq!(dump(), [(b"client".to_vec(), b"/export".to_vec())]);
    call(mount::Procedure::UmntAll, &|_| {});
    assert_eq!(dump(), []);
    let results = call(mount::Procedure::Export, &|_| {});
    let exports = ExportReply::from_bytes(&results).unwrap();
    let paths: Vec<&[u8]> = exports.iter().map(|entry| entry.directory.0).collect();
    assert_eq!(paths, [&b"/"[..], b"/export"]);
}

/// Already encoded arguments.
struct Raw(Vec<u8>);

impl Encode for Raw {
    fn encode(&self, out: &mut Writer<'_>) {
        out.fixed(&self.0);
    }
}

#[test]
fn the_port_mapper_names_our_port() {
    let bench = bench();
    let getport = |program, version, protocol| {
        let arguments = Mapping {
            program,
            version,
            protocol,
            port: 0,
        };
        let results = bench.results(portmap::PROGRAM, 2, 3, &arguments);
        u32::from_bytes(&results).unwrap()
    };
    assert_eq!(getport(nfs3::PROGRAM, 3, 6), PORT.into());
    assert_eq!(getport(mount::PROGRAM, 3, 17), PORT.into());
    assert_eq!(getport(nfs3::PROGRAM, 4, 6), 0);
    assert_eq!(getport(nlm::PROGRAM, 4, 6), PORT.into());
    assert_eq!(getport(nlm::PROGRAM, 1, 6), 0);
    let results = bench.results(portmap::PROGRAM, 2, 4, &());
    assert_eq!(portmap::DumpReply::from_bytes(&results).unwrap().len(), 12);
}

impl Bench {
    /// Returns the address of NFS from rpcbind, by GETADDR of both versions and by DUMP, which
    /// agree.
    fn address_of_nfs(&self, netid: &'static [u8]) -> Option<SocketAddr> {
        let arguments = rpcbind::Rpcb {
            program: nfs3::PROGRAM,
            version: 3,
            netid,
            address: b"",
            owner: b"",
        };
        let answers = [3, 4].map(|version| {
            let results = self.results(portmap::PROGRAM, version, 3, &arguments);
            let text = rpcbind::AddrReply::from_bytes(&results).unwrap();
            UniversalAddress::parse(text).ok().map(|address| address.0)
        });
        let dump = self.results(portmap::PROGRAM, 4, 4, &());
        let dump = rpcbind::DumpReply::from_bytes(&dump).unwrap();
        let listed = dump
            .iter()
            .find(|entry| entry.program == nfs3::PROGRAM && entry.netid == netid)
            .map(|entry| UniversalAddress::parse(entry.address).unwrap().0);
        assert_eq!(answers, [listed, listed]);
        listed
    }
}

#[test]
fn rpcbind_names_the_address_at_which_its_caller_reached_us() {
    let mut bench = bench();
    let here = v4([192, 0, 2, 1], PORT);
    assert_eq!(bench.address_of_nfs(b"tcp"), Some(here));
    assert_eq!(bench.address_of_nfs(b"udp"), Some(here));
    assert_eq!(bench.address_of_nfs(b"ticlts"), None);
    // A server bound to "any" address of the other family has no address to return to a remote
    // caller.
    assert_eq!(bench.address_of_nfs(b"tcp6"), None);
    // A datagram has no destination address here; the reply is sent from the source address of the
    // route.
    let here = v4([127, 0, 0, 1], PORT);
    bench.ends = Endpoints {
        transport: CallTransport::Udp,
        local: v4([0, 0, 0, 0], PORT),
        peer: v4([127, 0, 0, 1], 700),
    };
    assert_eq!(bench.address_of_nfs(b"tcp"), Some(here));
    let there = SocketAddr::from((Ipv6Addr::LOCALHOST, PORT));
    assert_eq!(bench.address_of_nfs(b"tcp6"), Some(there));
    // No address is returned for a family without a listener.
    bench.service.addresses = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))];
    assert_eq!(bench.address_of_nfs(b"tcp"), Some(here));
    assert_eq!(bench.address_of_nfs(b"udp6"), None);
}

#[test]
fn what_is_not_served_is_refused_by_name() {
    let bench = bench();
    let refused = |program, version, procedure| {
        let (body, rest) = bench.body(&header(program, version, procedure), &());
        assert_eq!(rest, []);
        body
    };
    let accepted = ReplyBody::Accepted;
    assert_eq!(refused(100_011, 1, 0), accepted(AcceptStatus::ProgUnavail));
    let mismatch = |low, high| accepted(AcceptStatus::ProgMismatch { low, high });
    assert_eq!(refused(nfs3::PROGRAM, 4, 0), mismatch(3, 3));
    assert_eq!(refused(mount::PROGRAM, 1, 0), mismatch(3, 3));
    assert_eq!(refused(portmap::PROGRAM, 5, 0), mismatch(2, 4));
    let no_procedure = accepted(AcceptStatus::ProcUnavail);
    assert_eq!(refused(nfs3::PROGRAM, 3, 22), no_procedure);
    assert_eq!(refused(mount::PROGRAM, 3, 6), no_procedure);
    assert_eq!(refused(portmap::PROGRAM, 2, 5), no_procedure);
    assert_eq!(refused(nlm::PROGRAM, 4, 5), no_procedure);
    assert_eq!(refused(nlm::PROGRAM, 3, 0), mismatch(4, 4));
    for procedure in 1..22 {
        let garbage = accepted(AcceptStatus::GarbageArgs);
        assert_eq!(refused(nfs3::PROGRAM, 3, procedure), garbage);
    }
}

#[test]
fn strange_headers_are_answered_as_far_as_possible() {
    let bench = bench();
    let call = header(nfs3::PROGRAM, 3, 1).to_bytes();
    let mut other_rpc = call.clone();
    other_rpc[11] = 3;
    let reply = bench.serve(&other_rpc);
    let head = ReplyHeader::decode(&mut Reader::new(&reply)).unwrap();
    let mismatch = RejectStatus::RpcMismatch { low: 2, high: 2 };
    assert_eq!(head, ReplyHeader::denied(42, mismatch));
    let mut reply_not_call = call.clone();
    reply_not_call[7] = 1;
    assert_eq!(bench.serve(&reply_not_call), []);
    for len in 0..24 {
        assert_eq!(bench.serve(&call[..len]), []);
    }
    let mut gss = header(nfs3::PROGRAM, 3, 1);
    gss.credential = Credential::Other(OpaqueAuth {
        flavor: 6,
        body: &[],
    });
    let (body, _) = bench.body(&gss, &());
    let untrusted = RejectStatus::AuthError(AuthStatus::BADCRED);
    assert_eq!(body, ReplyBody::Denied(untrusted));
}

#[test]
fn every_procedure_can_be_made_to_fail() {
    let bench = bench();
    for procedure in Procedure::ALL {
        let mut sink = ReplySink::default();
        let call = header(nfs3::PROGRAM, 3, procedure.number()).to_bytes();
        bench
            .service
            .refuse(&call, Status::IO, &bench.tally, &mut sink);
        let reply = sink.to_vec();
        let mut reader = Reader::new(&reply[4..]);
        let head = ReplyHeader::decode(&mut reader).unwrap();
        let rest = reader.rest();
        macro_rules! status {
            ($procedure:ident) => {
                $procedure::Reply::from_bytes(rest)
                    .unwrap()
                    .unwrap_err()
                    .status
            };
        }
        let status = match procedure {
            Procedure::Null => {
                assert_eq!(head.body, ReplyBody::Accepted(AcceptStatus::SystemErr));
                continue;
            }
            Procedure::Getattr => status!(getattr),
            Procedure::Setattr => status!(setattr),
            Procedure::Lookup => status!(lookup),
            Procedure::Access => status!(access),
            Procedure::Readlink => status!(readlink),
            Procedure::Read => status!(read),
            Procedure::Write => status!(write),
            Procedure::Create => status!(create),
            Procedure::Mkdir => status!(mkdir),
            Procedure::Symlink => status!(symlink),
            Procedure::Mknod => status!(mknod),
            Procedure::Remove => status!(remove),
            Procedure::Rmdir => status!(rmdir),
            Procedure::Rename => status!(rename),
            Procedure::Link => status!(link),
            Procedure::Readdir => status!(readdir),
            Procedure::Readdirplus => status!(readdirplus),
            Procedure::Fsstat => status!(fsstat),
            Procedure::Fsinfo => status!(fsinfo),
            Procedure::Pathconf => status!(pathconf),
            Procedure::Commit => status!(commit),
        };
        assert_eq!(status, Status::IO, "{procedure}");
    }
}

#[test]
fn a_call_by_udp_that_comes_twice_is_carried_out_once() {
    let mut bench = bench();
    let export = bench.mount(b"/export").unwrap();
    let arguments = at(&export, "file");
    let mut call = header(nfs3::PROGRAM, 3, Procedure::Remove.number()).to_bytes();
    arguments.encode(&mut Writer::new(&mut call));
    bench.ends.transport = CallTransport::Udp;
    bench.ends.peer = v4([127, 0, 0, 1], 700);
    let first = bench.serve(&call);
    assert_eq!(bench.serve(&call), first);
    // Another caller with the same xid is another call.
    bench.ends.peer = v4([127, 0, 0, 1], 701);
    let results = bench.nfs3(Procedure::Remove, &arguments);
    let fail = remove::Reply::from_bytes(&results).unwrap().unwrap_err();
    assert_eq!(fail.status, Status::NOENT);
}

/// Returns one call of every procedure, as a client would send it.
fn one_of_each(directory: &Handle, file: &Handle) -> Vec<Vec<u8>> {
    let (dir, object) = (directory.borrow(), file.borrow());
    let how = CreateHow::Unchecked(NONE);
    let name = at(directory, "name");
    let (to, cookieverf) = (at(directory, "moved"), *b"verifier");
    let symlink = symlink::SymlinkData {
        symlink_attributes: NONE,
        symlink_data: b"to",
    };
    let write = write::Args {
        file: object,
        offset: 9,
        count: 8,
        stable: StableHow::Unstable,
        data: b"datadata",
    };
    let readdirplus = readdirplus::Args {
        dir,
        cookie: 0,
        cookieverf,
        dircount: 999,
        maxcount: 999,
    };
    let calls: Vec<(Procedure, Vec<u8>)> = vec![
        (Procedure::Null, Vec::new()),
        (Procedure::Getattr, object.to_bytes()),
        (
            Procedure::Setattr,
            setattr::Args {
                object,
                new_attributes: NONE,
                guard: None,
            }
            .to_bytes(),
        ),
        (Procedure::Lookup, at(directory, "file").to_bytes()),
        (
            Procedure::Access,
            access::Args { object, access: 63 }.to_bytes(),
        ),
        (Procedure::Readlink, object.to_bytes()),
        (
            Procedure::Read,
            read::Args {
                file: object,
                offset: 5,
                count: 900,
            }
            .to_bytes(),
        ),
        (Procedure::Write, write.to_bytes()),
        (
            Procedure::Create,
            create::Args { where_: name, how }.to_bytes(),
        ),
        (
            Procedure::Mkdir,
            mkdir::Args {
                where_: to,
                attributes: NONE,
            }
            .to_bytes(),
        ),
        (
            Procedure::Symlink,
            symlink::Args {
                where_: name,
                symlink,
            }
            .to_bytes(),
        ),
        (
            Procedure::Mknod,
            mknod::Args {
                where_: to,
                what: MknodData::Fifo(NONE),
            }
            .to_bytes(),
        ),
        (
            Procedure::Link,
            link::Args {
                file: object,
                link: to,
            }
            .to_bytes(),
        ),
        (
            Procedure::Rename,
            rename::Args { from: name, to }.to_bytes(),
        ),
        (Procedure::Remove, to.to_bytes()),
        (Procedure::Rmdir, to.to_bytes()),
        (
            Procedure::Readdir,
            readdir::Args {
                dir,
                cookie: 0,
                cookieverf,
                count: 999,
            }
            .to_bytes(),
        ),
        (Procedure::Readdirplus, readdirplus.to_bytes()),
        (Procedure::Fsstat, dir.to_bytes()),
        (Procedure::Fsinfo, dir.to_bytes()),
        (Procedure::Pathconf, object.to_bytes()),
        (
            Procedure::Commit,
            commit::Args {
                file: object,
                offset: 0,
                count: 0,
            }
            .to_bytes(),
        ),
    ];
    calls
        .into_iter()
        .map(|(procedure, arguments)| {
            let header = header(nfs3::PROGRAM, 3, procedure.number()).to_bytes();
            [header, arguments].concat()
        })
        .collect()
}

#[test]
fn calls_with_any_bytes_changed_are_answered_or_ignored() {
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    let mut random = rand_xoshiro::SplitMix64::seed_from_u64(5);
    for discard in [false, true] {
        let bench = bench_with(ServiceOptions {
            discard,
            ..ServiceOptions::default()
        });
        let directory = bench.mount(b"/export").unwrap();
        let file = bench.mount(b"/export/file").unwrap();
        let calls = one_of_each(&directory, &file);
        let mut draw = |below: usize| (random.next_u64() % below as u64) as usize;
        for _ in 0..30_000 {
            let mut call = calls[draw(calls.len())].clone();
            for _ in 0..=draw(3) {
                let place = draw(call.len());
                call[place] = [0, 1, 2, 3, 255, 127, 128, draw(256) as u8][draw(8)];
            }
            if draw(8) == 0 {
                call.truncate(draw(call.len()));
            }
            bench.serve(&call);
            bench.service.sufficient_len(&call);
        }
        // The tree is still consistent: listed names can be looked up.
        let tree = bench.service.tree();
        let export = tree.walk(b"/export").unwrap();
        for (_, name, number) in tree.directory(export).unwrap().entries_after(0) {
            assert_eq!(tree.lookup(export, name), Ok(number));
            assert!(tree.inode(number).is_ok());
        }
    }
}

fn locked(file: &Handle, svid: i32, offset: u64, len: u64) -> LockRange<'_> {
    LockRange {
        caller_name: NetObject(b"client"),
        fh: NetObject(file.as_bytes()),
        owner: NetObject(b"owner"),
        svid,
        offset,
        len,
    }
}

impl Bench {
    fn lock(&self, alock: LockRange<'_>) -> nlm::Status {
        self.lock_or_wait(alock, false)
    }

    fn lock_or_wait(&self, alock: LockRange<'_>, block: bool) -> nlm::Status {
        let arguments = nlm::lock::Args {
            cookie: NetObject(b"lock"),
            block,
            exclusive: true,
            alock,
            reclaim: false,
            state: 0,
        };
        let results = self.results(nlm::PROGRAM, 4, 2, &arguments);
        let reply = nlm::StatusReply::from_bytes(&results).unwrap();
        assert_eq!(reply.cookie, arguments.cookie);
        reply.stat
    }

    fn unlock(&self, alock: LockRange<'_>) -> nlm::Status {
        let cookie = NetObject(b"");
        let arguments = nlm::unlock::Args { cookie, alock };
        let results = self.results(nlm::PROGRAM, 4, 4, &arguments);
        nlm::StatusReply::from_bytes(&results).unwrap().stat
    }

    fn cancel(&self, alock: LockRange<'_>) -> nlm::Status {
        let arguments = nlm::cancel::Args {
            cookie: NetObject(b""),
            block: true,
            exclusive: true,
            alock,
        };
        let results = self.results(nlm::PROGRAM, 4, 3, &arguments);
        nlm::StatusReply::from_bytes(&results).unwrap().stat
    }

    /// Returns the grants since the last call, with the process of each.
    fn granted(&self) -> Vec<(i32, Grant)> {
        let grants = self.grants.take().into_iter();
        grants
            .map(|grant| (grant.waiter.owner.svid, grant))
            .collect()
    }
}

#[test]
fn a_lock_of_somebody_else_is_denied_and_named_until_it_is_free() {
    let bench = bench();
    let file = bench.mount(b"/export/file").unwrap();
    assert_eq!(bench.lock(locked(&file, 1, 10, 5)), nlm::Status::GRANTED);
    assert_eq!(bench.lock(locked(&file, 2, 14, 1)), nlm::Status::DENIED);
    let test = nlm::test::Args {
        cookie: NetObject(b"test"),
        exclusive: true,
        alock: locked(&file, 2, 0, 0),
    };
    let results = bench.results(nlm::PROGRAM, 4, 1, &test);
    let reply = nlm::test::Reply::from_bytes(&results).unwrap();
    let TestOutcome::Denied(holder) = reply.outcome else {
        panic!("{reply:?}");
    };
    assert_eq!((holder.svid, holder.offset, holder.len), (1, 10, 5));
    assert_eq!(bench.unlock(locked(&file, 1, 0, 0)), nlm::Status::GRANTED);
    assert_eq!(bench.lock(locked(&file, 2, 14, 1)), nlm::Status::GRANTED);
}

#[test]
fn nobody_locks_a_file_that_is_not_there() {
    let bench = bench();
    let nothing = Handle::new(b"nothing").unwrap();
    assert_eq!(bench.lock(locked(&nothing, 1, 0, 0)), nlm::Status::STALE_FH);
}

const GRANTED: nlm::Status = nlm::Status::GRANTED;
const DENIED: nlm::Status = nlm::Status::DENIED;
const BLOCKED: nlm::Status = nlm::Status::BLOCKED;

#[test]
fn who_waits_for_a_lock_is_told_in_turn() {
    let bench = bench();
    let file = bench.mount(b"/export/file").unwrap();
    let all = |svid| locked(&file, svid, 0, 0);
    assert_eq!(bench.lock(all(1)), GRANTED);
    assert_eq!(bench.lock_or_wait(all(2), true), BLOCKED);
    assert_eq!(bench.lock_or_wait(all(3), true), BLOCKED);
    // A repeated call keeps its position.
    assert_eq!(bench.lock_or_wait(all(2), true), BLOCKED);
    assert_eq!(bench.lock(all(4)), DENIED, "who does not wait");
    assert_eq!(bench.granted(), []);

    assert_eq!(bench.unlock(all(1)), GRANTED);
    let [(2, grant)] = &bench.granted()[..] else {
        panic!("the first of the line, and nobody else");
    };
    assert_eq!(grant.waiter.ends, bench.ends);
    assert_eq!(grant.waiter.cookie(), NetObject(b"lock"));
    assert_eq!(grant.waiter.alock(file.as_bytes()), all(2));
    assert_eq!(bench.lock(all(1)), DENIED, "it is locked before it is told");
    bench.service.finalize(grant, true);
    assert_eq!(bench.granted(), []);
    assert_eq!(bench.unlock(all(2)), GRANTED);
    assert!(matches!(&bench.granted()[..], [(3, _)]));
}

#[test]
fn a_client_that_does_not_take_its_lock_leaves_it_to_the_next() {
    let bench = bench();
    let file = bench.mount(b"/export/file").unwrap();
    let all = |svid| locked(&file, svid, 0, 0);
    assert_eq!(bench.lock(all(1)), GRANTED);
    for svid in [2, 3] {
        assert_eq!(bench.lock_or_wait(all(svid), true), BLOCKED);
    }
    assert_eq!(bench.unlock(all(1)), GRANTED);
    for svid in [2, 3] {
        let granted = bench.granted();
        assert_eq!(granted.len(), 1);
        assert_eq!(granted[0].0, svid);
        bench.service.finalize(&granted[0].1, false);
    }
    assert_eq!(bench.granted(), []);
    assert_eq!(bench.lock(all(4)), GRANTED, "nothing is left locked");
}

#[test]
fn who_asks_again_has_its_lock_whatever_becomes_of_the_grant() {
    let bench = bench();
    let file = bench.mount(b"/export/file").unwrap();
    let all = |svid| locked(&file, svid, 0, 0);
    assert_eq!(bench.lock(all(1)), GRANTED);
    assert_eq!(bench.lock_or_wait(all(2), true), BLOCKED);
    assert_eq!(bench.unlock(all(1)), GRANTED);
    let granted = bench.granted();
    assert_eq!(bench.lock_or_wait(all(2), true), GRANTED);
    bench.service.finalize(&granted[0].1, false);
    assert_eq!(bench.lock(all(1)), DENIED);
    // The lock is not granted a second time.
    assert_eq!(bench.unlock(all(2)), GRANTED);
    assert_eq!(bench.granted(), []);
}

#[test]
fn who_cancels_waits_no_longer_and_has_no_lock() {
    let bench = bench();
    let file = bench.mount(b"/export/file").unwrap();
    let all = |svid| locked(&file, svid, 0, 0);
    assert_eq!(bench.cancel(all(2)), DENIED, "nothing waits");
    assert_eq!(bench.lock(all(1)), GRANTED);
    assert_eq!(
        bench.cancel(all(1)),
        DENIED,
        "what is held is not cancelled"
    );
    for svid in [2, 3, 4] {
        assert_eq!(bench.lock_or_wait(all(svid), true), BLOCKED);
    }
    assert_eq!(bench.cancel(all(2)), GRANTED);
    assert_eq!(bench.unlock(all(1)), GRANTED);
    assert!(matches!(&bench.granted()[..], [(3, _)]));
    // The cancel and the grant have crossed.
    assert_eq!(bench.cancel(all(3)), GRANTED);
    assert!(matches!(&bench.granted()[..], [(4, _)]));
}

#[test]
fn all_who_can_share_a_lock_are_granted_it_together() {
    let bench = bench();
    let file = bench.mount(b"/export/file").unwrap();
    let shared = |svid| {
        let arguments = nlm::lock::Args {
            cookie: NetObject(b""),
            block: true,
            exclusive: false,
            alock: locked(&file, svid, 0, 10),
            reclaim: false,
            state: 0,
        };
        let results = bench.results(nlm::PROGRAM, 4, 2, &arguments);
        nlm::StatusReply::from_bytes(&results).unwrap().stat
    };
    assert_eq!(bench.lock(locked(&file, 1, 0, 20)), GRANTED);
    assert_eq!([shared(2), shared(3)], [BLOCKED; 2]);
    assert_eq!(bench.lock_or_wait(locked(&file, 4, 15, 1), true), BLOCKED);
    // Part of the conflicting lock is released: the waiter for that part gets its lock.
    assert_eq!(bench.unlock(locked(&file, 1, 10, 10)), GRANTED);
    assert!(matches!(&bench.granted()[..], [(4, _)]));
    // Its own lock, shared from now on.
    let own = nlm::lock::Args {
        cookie: NetObject(b""),
        block: false,
        exclusive: false,
        alock: locked(&file, 1, 0, 10),
        reclaim: false,
        state: 0,
    };
    bench.results(nlm::PROGRAM, 4, 2, &own);
    assert!(matches!(&bench.granted()[..], [(2, _), (3, _)]));
}

#[test]
fn those_who_wait_cannot_fill_the_memory() {
    let bench = bench();
    let file = bench.mount(b"/export/file").unwrap();
    assert_eq!(bench.lock(locked(&file, 0, 0, 0)), GRANTED);
    let waiting = (1..=2000)
        .map(|svid| bench.lock_or_wait(locked(&file, svid, 0, 0), true))
        .take_while(|status| *status == BLOCKED)
        .count();
    assert_eq!(waiting, 1024);
    let full = bench.lock_or_wait(locked(&file, 3000, 0, 0), true);
    assert_eq!(full, nlm::Status::DENIED_NOLOCKS);
}

#[test]
fn a_write_has_as_many_data_as_it_says() {
    for discard in [false, true] {
        let bench = bench_with(ServiceOptions {
            discard,
            ..ServiceOptions::default()
        });
        let file = bench.mount(b"/export/file").unwrap();
        let written = |count, data: &[u8]| {
            let arguments = write::Args {
                file: file.borrow(),
                offset: 0,
                count,
                stable: StableHow::Unstable,
                data,
            };
            let results = bench.nfs3(Procedure::Write, &arguments);
            let reply = write::Reply::from_bytes(&results).unwrap();
            reply.map(|ok| ok.count).map_err(|fail| fail.status)
        };
        assert_eq!(written(4, b"data"), Ok(4));
        assert_eq!(written(0, b""), Ok(0));
        for count in [0, 3, 5, u32::MAX] {
            assert_eq!(written(count, b"data"), Err(Status::INVAL), "{count}");
        }
        assert_eq!(written(1, b""), Err(Status::INVAL));
    }
}
