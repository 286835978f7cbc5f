//! Whatever the values, a message decodes to what was encoded: arguments and
//! both arms of the reply of every procedure of NFSv3, RPC headers, MOUNT and
//! records.

use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::mknod::{DeviceData, MknodData};
use filestone_wire::nfs3::symlink::SymlinkData;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    self, DirOpArgs, Fattr3, FileHandle, FileType, Nfstime3, ReplyFail, Sattr3, SetTime, Specdata3,
    Status, WccAttr, WccData,
};
use filestone_wire::record::{Assembler, RecordMark};
use filestone_wire::rpc::{AuthSys, CallHeader, Credential, Gids, OpaqueAuth, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode};
use filestone_wire::{mount, pattern};
use proptest::collection::vec;
use proptest::prelude::*;

/// What messages are made of. They borrow, so it is kept beside them.
#[derive(Debug)]
struct Material {
    handles: [Vec<u8>; 2],
    names: [Vec<u8>; 2],
    data: Vec<u8>,
    words: [u32; 10],
    hypers: [u64; 7],
    flags: [bool; 4],
    verifier: [u8; 8],
    set: Sattr3,
    guard: Option<Nfstime3>,
    attributes: [Option<Fattr3>; 2],
    wcc: [WccData; 2],
    stable: StableHow,
    status: Status,
    entries: usize,
}

prop_compose! {
    fn time()(seconds: u32, nseconds: u32) -> Nfstime3 {
        Nfstime3 { seconds, nseconds }
    }
}

prop_compose! {
    fn attributes()(
        file_type in proptest::sample::select(&FileType::ALL[..]),
        [mode, nlink, uid, gid, major, minor] in any::<[u32; 6]>(),
        [size, used, fsid, fileid] in any::<[u64; 4]>(),
        (atime, mtime, ctime) in (time(), time(), time()),
    ) -> Fattr3 {
        let rdev = Specdata3 { major, minor };
        Fattr3 {
            file_type, mode, nlink, uid, gid, size, used, rdev, fsid, fileid, atime, mtime, ctime,
        }
    }
}

prop_compose! {
    fn wcc()(
        before in proptest::option::of((any::<u64>(), time(), time())),
        after in proptest::option::of(attributes()),
    ) -> WccData {
        let before = before.map(|(size, mtime, ctime)| WccAttr { size, mtime, ctime });
        WccData { before, after }
    }
}

fn set_time() -> impl Strategy<Value = SetTime> {
    prop_oneof![
        Just(SetTime::DontChange),
        Just(SetTime::ServerTime),
        time().prop_map(SetTime::ClientTime),
    ]
}

prop_compose! {
    fn set()(
        mode: Option<u32>, uid: Option<u32>, gid: Option<u32>, size: Option<u64>,
        atime in set_time(), mtime in set_time(),
    ) -> Sattr3 {
        Sattr3 { mode, uid, gid, size, atime, mtime }
    }
}

prop_compose! {
    fn material()(
        handles in [vec(any::<u8>(), 0..=64), vec(any::<u8>(), 0..=64)],
        names in [vec(any::<u8>(), 0..300), vec(any::<u8>(), 0..20)],
        data in vec(any::<u8>(), 0..2000),
        (words, hypers, flags, verifier) in any::<([u32; 10], [u64; 7], [bool; 4], [u8; 8])>(),
        set in set(),
        guard in proptest::option::of(time()),
        attributes in [proptest::option::of(attributes()), proptest::option::of(attributes())],
        wcc in [wcc(), wcc()],
        stable in proptest::sample::select(
            &[StableHow::Unstable, StableHow::DataSync, StableHow::FileSync][..],
        ),
        status in (1..=u32::MAX).prop_map(Status),
        entries in 0_usize..20,
    ) -> Material {
        Material {
            handles, names, data, words, hypers, flags, verifier, set, guard, attributes, wcc,
            stable, status, entries,
        }
    }
}

impl Material {
    fn handle(&self) -> FileHandle<'_> {
        FileHandle::new(&self.handles[0]).unwrap()
    }

    fn obj(&self) -> Option<FileHandle<'_>> {
        self.flags[0].then(|| FileHandle::new(&self.handles[1]).unwrap())
    }

    fn named(&self, which: usize) -> DirOpArgs<'_> {
        let dir = FileHandle::new(&self.handles[which]).unwrap();
        DirOpArgs {
            dir,
            name: &self.names[which],
        }
    }
}

/// Encodes the value and expects it back.
macro_rules! expect_back {
    ($type:ty, $value:expr) => {{
        let value: $type = $value;
        let bytes = value.to_bytes();
        prop_assert_eq!(bytes.len() % 4, 0);
        prop_assert_eq!(<$type>::from_bytes(&bytes), Ok(value));
    }};
}

/// A message of a procedure: fields in braces, or the value of an only field.
macro_rules! value_of {
    ($module:ident, $message:ident, { $($fields:tt)* }) => {
        nfs3::$module::$message { $($fields)* }
    };
    ($module:ident, $message:ident, [$value:expr]) => {
        $value
    };
}

/// Arguments, and both arms of the reply.
macro_rules! procedure {
    ($module:ident, $args:tt, $ok:tt, { $($fail:tt)* }) => {
        expect_back!(nfs3::$module::Args, value_of!($module, Args, $args));
        expect_back!(nfs3::$module::Reply, Ok(value_of!($module, ReplyOk, $ok)));
        expect_back!(nfs3::$module::Reply, Err(ReplyFail { $($fail)* }));
    };
}

proptest! {
    #[test]
    fn procedures_on_a_file_come_back(m in material()) {
        let [offset, ..] = m.hypers;
        let [count, access, ..] = m.words;
        let [obj_attributes, _] = m.attributes;
        let ([wcc, other_wcc], status) = (m.wcc, m.status);
        if let Some(attributes) = obj_attributes {
            procedure!(getattr,
                [m.handle()], [attributes], { status, attributes: () });
        }
        procedure!(setattr,
            { object: m.handle(), new_attributes: m.set, guard: m.guard },
            [wcc], { status, attributes: other_wcc });
        procedure!(access,
            { object: m.handle(), access },
            { obj_attributes, access: count }, { status, attributes: obj_attributes });
        procedure!(readlink,
            [m.handle()],
            { symlink_attributes: obj_attributes, data: &m.data },
            { status, attributes: obj_attributes });
        procedure!(read,
            { file: m.handle(), offset, count },
            { file_attributes: obj_attributes, count, eof: m.flags[0], data: &m.data },
            { status, attributes: obj_attributes });
        procedure!(write,
            { file: m.handle(), offset, count, stable: m.stable, data: &m.data },
            { file_wcc: wcc, count, committed: m.stable, verf: m.verifier },
            { status, attributes: other_wcc });
        procedure!(commit,
            { file: m.handle(), offset, count },
            { file_wcc: wcc, verf: m.verifier }, { status, attributes: other_wcc });
    }

    #[test]
    fn procedures_that_make_an_object_come_back(m in material()) {
        let (obj, [obj_attributes, _], [wcc, other]) = (m.obj(), m.attributes, m.wcc);
        let status = m.status;
        for how in
            [CreateHow::Unchecked(m.set), CreateHow::Guarded(m.set), CreateHow::Exclusive(m.verifier)]
        {
            procedure!(create, { where_: m.named(0), how },
                { obj, obj_attributes, dir_wcc: wcc }, { status, attributes: other });
        }
        procedure!(mkdir, { where_: m.named(0), attributes: m.set },
            { obj, obj_attributes, dir_wcc: wcc }, { status, attributes: other });
        let symlink = SymlinkData { symlink_attributes: m.set, symlink_data: &m.data };
        procedure!(symlink, { where_: m.named(0), symlink },
            { obj, obj_attributes, dir_wcc: wcc }, { status, attributes: other });
        let spec = Specdata3 { major: m.words[0], minor: m.words[1] };
        let device = DeviceData { dev_attributes: m.set, spec };
        for what in [
            MknodData::CharacterDevice(device),
            MknodData::BlockDevice(device),
            MknodData::Socket(m.set),
            MknodData::Fifo(m.set),
            MknodData::Regular,
        ] {
            procedure!(mknod, { where_: m.named(0), what },
                { obj, obj_attributes, dir_wcc: wcc }, { status, attributes: other });
        }
    }

    #[test]
    fn procedures_on_a_name_come_back(m in material()) {
        let [attributes, other_attributes] = m.attributes;
        let ([wcc, other], status) = (m.wcc, m.status);
        procedure!(lookup, [m.named(0)],
            { object: m.handle(), obj_attributes: attributes, dir_attributes: other_attributes },
            { status, attributes });
        procedure!(remove, [m.named(0)], [wcc], { status, attributes: other });
        procedure!(rmdir, [m.named(1)], [wcc], { status, attributes: other });
        procedure!(rename, { from: m.named(0), to: m.named(1) },
            { fromdir_wcc: wcc, todir_wcc: other },
            { status, attributes: nfs3::rename::ReplyOk { fromdir_wcc: other, todir_wcc: wcc } });
        procedure!(link, { file: m.handle(), link: m.named(1) },
            { file_attributes: attributes, linkdir_wcc: wcc },
            {
                status,
                attributes: nfs3::link::ReplyOk { file_attributes: attributes, linkdir_wcc: other },
            });
    }

    #[test]
    fn procedures_on_a_directory_come_back(m in material()) {
        let ([cookie, fileid, ..], [count, maxcount, ..]) = (m.hypers, m.words);
        let ([dir_attributes, name_attributes], status) = (m.attributes, m.status);
        let (name, eof) = (m.names[0].as_slice(), m.flags[1]);
        let entry = nfs3::readdir::Entry { fileid, name, cookie };
        procedure!(readdir,
            { dir: m.handle(), cookie, cookieverf: m.verifier, count },
            { dir_attributes, cookieverf: m.verifier, entries: vec![entry; m.entries], eof },
            { status, attributes: dir_attributes });
        let name_handle = m.obj();
        let entry =
            nfs3::readdirplus::EntryPlus { fileid, name, cookie, name_attributes, name_handle };
        procedure!(readdirplus,
            { dir: m.handle(), cookie, cookieverf: m.verifier, dircount: count, maxcount },
            { dir_attributes, cookieverf: m.verifier, entries: vec![entry; m.entries], eof },
            { status, attributes: dir_attributes });
    }

    #[test]
    fn procedures_on_a_file_system_come_back(m in material()) {
        let ([obj_attributes, _], status) = (m.attributes, m.status);
        let [tbytes, fbytes, abytes, tfiles, ffiles, afiles, maxfilesize] = m.hypers;
        let [rtmax, rtpref, rtmult, wtmax, wtpref, wtmult, dtpref, seconds, nseconds, properties] =
            m.words;
        procedure!(fsstat, [m.handle()],
            { obj_attributes, tbytes, fbytes, abytes, tfiles, ffiles, afiles, invarsec: rtmax },
            { status, attributes: obj_attributes });
        let time_delta = Nfstime3 { seconds, nseconds };
        procedure!(fsinfo, [m.handle()], {
            obj_attributes, rtmax, rtpref, rtmult, wtmax, wtpref, wtmult, dtpref, maxfilesize,
            time_delta, properties,
        }, { status, attributes: obj_attributes });
        let [no_trunc, chown_restricted, case_insensitive, case_preserving] = m.flags;
        procedure!(pathconf, [m.handle()], {
            obj_attributes, linkmax: rtmax, name_max: rtpref, no_trunc, chown_restricted,
            case_insensitive, case_preserving,
        }, { status, attributes: obj_attributes });
    }

    #[test]
    fn headers_come_back(
        [xid, program, version, procedure, uid, gid, stamp] in any::<[u32; 7]>(),
        machine_name in vec(any::<u8>(), 0..=255),
        gids in vec(any::<u32>(), 0..=16),
        (flavor, body) in (2_u32.., vec(any::<u8>(), 0..=400)),
    ) {
        let verifier = OpaqueAuth { flavor, body: &body };
        let gids = Gids::new(&gids).unwrap();
        let sys = AuthSys { stamp, machine_name: &machine_name, uid, gid, gids };
        prop_assert_eq!(sys.to_bytes().len(), sys.encoded_len());
        for credential in [Credential::None, Credential::Sys(sys), Credential::Other(verifier)] {
            expect_back!(CallHeader, CallHeader {
                xid, program, version, procedure, credential, verifier,
            });
        }
        expect_back!(ReplyHeader, ReplyHeader { verifier, ..ReplyHeader::success(xid) });
    }

    #[test]
    fn mount_comes_back(m in material(), auth_flavors in vec(any::<u32>(), 0..10)) {
        let path = mount::DirPath(&m.names[0]);
        let fhandle = m.handle();
        expect_back!(mount::DirPath, path);
        expect_back!(mount::MntReply, Ok(mount::MntOk { fhandle, auth_flavors }));
        let name = mount::Name(&m.names[1]);
        let entry = mount::MountEntry { hostname: name, directory: path };
        expect_back!(mount::DumpReply, vec![entry; m.entries]);
        let export = mount::ExportEntry { directory: path, groups: vec![name; m.entries] };
        expect_back!(mount::ExportReply, vec![export; 3]);
    }

    #[test]
    fn records_come_back_however_they_are_sent(
        sent in vec(vec(vec(any::<u8>(), 0..100), 1..5), 0..8),
        steps in vec(1_usize..150, 1..20),
    ) {
        let mut stream = Vec::new();
        for fragments in &sent {
            for (index, data) in fragments.iter().enumerate() {
                let last = index + 1 == fragments.len();
                stream.extend(RecordMark { last, len: data.len() as u32 }.to_bytes());
                stream.extend(data);
            }
        }
        let mut assembler = Assembler::new(1000);
        let mut received = Vec::new();
        let mut rest = stream.as_slice();
        for step in steps.iter().cycle() {
            let (mut piece, after) = rest.split_at(rest.len().min(*step));
            rest = after;
            while let Some(record) = assembler.next(&mut piece).unwrap() {
                received.push(record.to_vec());
            }
            if rest.is_empty() {
                break;
            }
        }
        let expected: Vec<Vec<u8>> = sent.iter().map(|fragments| fragments.concat()).collect();
        prop_assert_eq!(received, expected);
    }

    #[test]
    fn the_pattern_is_the_same_from_any_offset(
        offset in any::<u32>(), len in 0_usize..3000, cut in 0_usize..3000,
    ) {
        let offset = u64::from(offset);
        let (mut whole, mut parts) = (vec![0; len], vec![0; len]);
        pattern::fill(offset, &mut whole);
        let cut = cut.min(len);
        pattern::fill(offset, &mut parts[..cut]);
        pattern::fill(offset + cut as u64, &mut parts[cut..]);
        prop_assert_eq!(&whole, &parts);
        prop_assert_eq!(pattern::first_mismatch(offset, &whole), None);
    }
}
