//! Single statuses over sockets that smbtorture asks for.

use filestone_wire::smb2::codec::Array;
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::create::{
    Contexts, CreateDisposition, CreateOptions, RequestContext, UnknownContext,
};
use filestone_wire::smb2::info::{FileInfoClass, FsInfoClass, InfoClass};
use filestone_wire::smb2::lock::{LockElement, LockFlags};
use filestone_wire::smb2::session_setup::SetupFlags;
use filestone_wire::smb2::{
    AccessMask, Command, FileAttributes, FileId, OplockLevel, OutputBuffer, Status, create, lock,
    query_info, session_setup, set_info,
};

use super::requests::{create_of, ntlm_negotiate, setup_of};
use super::smb::{Client, start};

/// The status of a query, and how many bytes there are.
fn query(client: &mut Client, file_id: FileId, class: InfoClass, room: u32) -> (Status, usize) {
    let request = query_info::Request {
        class,
        output_buffer_length: room,
        additional_information: 0,
        flags: 0,
        file_id,
        input: &[],
    };
    let (header, frame) = client.ask(Command::QueryInfo, &request);
    let body = Message::from_bytes(&frame).unwrap();
    let len = body
        .body()
        .map_or(0, |body: OutputBuffer<'_>| body.data.len());
    (header.status, len)
}

/// Less room than the fixed part of an answer is an error; less than all of it cuts it.
#[test]
fn buffers_that_are_too_short() {
    let server = start();
    let mut client = Client::mounted(&server);
    let file = client.create("file.txt", CreateDisposition::CREATE);
    let volume = |class| InfoClass::FileSystem(FsInfoClass(class));
    let of_file = |class| InfoClass::File(FileInfoClass(class));
    // Volume, control, attributes; all, streams.
    for (class, fixed, is_cut) in [
        (volume(1), 24, true),
        (volume(6), 48, false),
        (volume(5), 16, true),
        (of_file(18), 104, true),
        (of_file(22), 32, true),
        (of_file(4), 40, false),
    ] {
        let mismatch = (Status::INFO_LENGTH_MISMATCH, 0);
        assert_eq!(query(&mut client, file, class, fixed - 1).0, mismatch.0);
        let status = if is_cut {
            Status::BUFFER_OVERFLOW
        } else {
            Status::SUCCESS
        };
        let got = query(&mut client, file, class, fixed);
        assert_eq!(got, (status, fixed as usize), "{class:?}");
        assert_eq!(query(&mut client, file, class, 4096).0, Status::SUCCESS);
    }
    // FileNormalizedNameInformation is of 3.1.1.
    let (status, _) = query(&mut client, file, of_file(48), 4096);
    assert_eq!(status, Status::NOT_SUPPORTED);
}

#[test]
fn what_is_asked_of_a_file_needs_its_right() {
    let server = start();
    let mut client = Client::mounted(&server);
    let mut opened = |access| {
        let create = create::Request {
            desired_access: access,
            ..create_of("f", OplockLevel::NONE)
        };
        client.send(Command::Create, &create);
        client.created().0
    };
    let blind = opened(AccessMask::SYNCHRONIZE);
    let seeing = opened(AccessMask::READ_ATTRIBUTES.with(AccessMask::READ_EA));
    let (tag, eas) = (FileInfoClass(35), FileInfoClass(15));
    for (file, class, status) in [
        (blind, tag, Status::ACCESS_DENIED),
        (blind, eas, Status::ACCESS_DENIED),
        (seeing, tag, Status::SUCCESS),
        (seeing, eas, Status::NO_EAS_ON_FILE),
    ] {
        assert_eq!(
            query(&mut client, file, InfoClass::File(class), 100).0,
            status
        );
    }
}

fn create_status(client: &mut Client, change: impl Fn(&mut create::Request<'_>)) -> Status {
    let mut create = create_of("made", OplockLevel::NONE);
    change(&mut create);
    client.ask(Command::Create, &create).0.status
}

#[test]
fn which_of_two_wrong_fields_counts() {
    let server = start();
    let mut client = Client::mounted(&server);
    let volume = FileAttributes(8);
    let status = create_status(&mut client, |create| {
        create.file_attributes = volume;
        create.desired_access = AccessMask(0x0800_0000);
    });
    assert_eq!(status, Status::ACCESS_DENIED);
    let status = create_status(&mut client, |create| {
        create.desired_access = AccessMask::ACCESS_SYSTEM_SECURITY;
    });
    assert_eq!(status, Status::PRIVILEGE_NOT_HELD);
    // FILE_CREATE_TREE_CONNECTION.
    let status = create_status(&mut client, |create| create.options = CreateOptions(0x80));
    assert_eq!(status, Status::NOT_SUPPORTED);
    for (name, status) in [
        (&b"xxx"[..], Status::INVALID_PARAMETER),
        (b"xxxx", Status::SUCCESS),
    ] {
        let contexts = [RequestContext::Unknown(UnknownContext { name, data: &[] })];
        let create = create::Request {
            contexts: Contexts::from(&contexts[..]),
            ..create_of("made", OplockLevel::NONE)
        };
        assert_eq!(client.ask(Command::Create, &create).0.status, status);
    }
}

/// What files have of attributes, besides those that every file system has.
#[test]
fn a_file_may_be_temporary_and_offline() {
    let server = start();
    let mut client = Client::mounted(&server);
    let create = create::Request {
        file_attributes: FileAttributes::TEMPORARY.with(FileAttributes::OFFLINE),
        ..create_of("f", OplockLevel::NONE)
    };
    let (_, frame) = client.ask(Command::Create, &create);
    let body: create::Response<'_> = Message::from_bytes(&frame).unwrap().body().unwrap();
    let kept = create.file_attributes.with(FileAttributes::ARCHIVE);
    assert_eq!(body.file_attributes, kept);
}

/// Room that is asked for is there as long as the file is open.
#[test]
fn a_file_has_the_room_that_it_is_given() {
    let server = start();
    let mut client = Client::mounted(&server);
    let contexts = [RequestContext::AllocationSize(1 << 20)];
    let create = create::Request {
        contexts: Contexts::from(&contexts[..]),
        ..create_of("f", OplockLevel::NONE)
    };
    let (_, frame) = client.ask(Command::Create, &create);
    let body: create::Response<'_> = Message::from_bytes(&frame).unwrap().body().unwrap();
    assert_eq!((body.allocation_size, body.end_of_file), (1 << 20, 0));
    let file_id = body.file_id;
    let mut set = |class, buffer: &[u8]| {
        let request = set_info::Request {
            class: InfoClass::File(class),
            additional_information: 0,
            file_id,
            buffer,
        };
        client.ask(Command::SetInfo, &request).0.status
    };
    let room = 5000_u64.to_le_bytes();
    assert_eq!(set(FileInfoClass::ALLOCATION, &room), Status::SUCCESS);
    // FileModeInformation: FILE_DIRECTORY_FILE is none.
    let mode = |mode: u32| mode.to_le_bytes();
    assert_eq!(set(FileInfoClass(16), &mode(1)), Status::INVALID_PARAMETER);
    assert_eq!(set(FileInfoClass(16), &mode(2)), Status::SUCCESS);
    let opened = create_of("f", OplockLevel::NONE);
    let (_, frame) = client.ask(Command::Create, &opened);
    let body: create::Response<'_> = Message::from_bytes(&frame).unwrap().body().unwrap();
    assert_eq!((body.allocation_size, body.end_of_file), (8192, 0));
}

/// Section 3.3.5.14.2: of several ranges none may wait.
#[test]
fn each_of_several_locks_fails_at_once() {
    let server = start();
    let mut client = Client::mounted(&server);
    let file_id = client.create("f", CreateDisposition::CREATE);
    let (shared, at_once) = (LockFlags::SHARED_LOCK, LockFlags::FAIL_IMMEDIATELY);
    for (flags, status) in [
        ([shared.with(at_once), shared], Status::INVALID_PARAMETER),
        ([shared.with(at_once); 2], Status::SUCCESS),
    ] {
        let elements = flags.map(|flags| LockElement {
            offset: 0,
            length: 1,
            flags,
        });
        let lock = lock::Request {
            lock_sequence: 0,
            file_id,
            locks: Array::from(&elements),
        };
        assert_eq!(client.ask(Command::Lock, &lock).0.status, status);
    }
}

/// Section 3.3.5.5: who cannot bind refuses it, whichever session is meant.
#[test]
fn a_session_is_not_bound() {
    let server = start();
    let (one, mut other) = (Client::mounted(&server), Client::mounted(&server));
    let token = ntlm_negotiate();
    let setup = session_setup::Request {
        flags: SetupFlags::BINDING,
        ..setup_of(&token)
    };
    for id in [other.session_id, one.session_id, 77] {
        other.session_id = id;
        let (header, _) = other.ask(Command::SessionSetup, &setup);
        assert_eq!(header.status, Status::REQUEST_NOT_ACCEPTED);
    }
}
