//! Leases and oplocks over sockets: what is taken back from whom, in which steps, and who waits
//! for that. The answers are those of MS-SMB2, sections 3.3.1.4, 3.3.5.9.8, 3.3.5.9.11 and
//! 3.3.5.22.2, and where it leaves a choice, of Windows.

use filestone_server::Running;
use filestone_wire::smb2::codec::{Array, Encode, Text};
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::create::{
    Contexts, CreateDisposition, CreateOptions, Lease, LeaseV2, RequestContext, ResponseContext,
    ShareAccess,
};
use filestone_wire::smb2::info::{
    FileAllocationInformation, FileInfoClass, FileRenameInformation, InfoClass,
};
use filestone_wire::smb2::oplock_break::{
    Acknowledgment, LeaseAcknowledgment, Notification, OplockBreak,
};
use filestone_wire::smb2::{
    AccessMask, Command, Dialect, FileId, LeaseFlags, LeaseState, OplockLevel, Status, create,
    negotiate, set_info,
};

use super::smb::{Client, close_of, create_of, negotiate_of, start, write_of};

fn state(letters: &str) -> LeaseState {
    letters.chars().fold(LeaseState::NONE, |state, letter| {
        state.with(match letter {
            'R' => LeaseState::READ_CACHING,
            'H' => LeaseState::HANDLE_CACHING,
            _ => LeaseState::WRITE_CACHING,
        })
    })
}

/// A client of SMB 3.0 with a name of its own.
fn client(server: &Running, name: u8) -> Client {
    let negotiate = negotiate::Request {
        client_guid: [name; 16],
        dialects: Array::from(&[Dialect::SMB_3_0]),
        ..negotiate_of()
    };
    Client::mounted_by(server, &negotiate)
}

/// A request for a lease of version 1; `change` makes it another one.
fn send_lease(
    client: &mut Client,
    name: &str,
    key: u8,
    asked: &str,
    change: impl Fn(&mut create::Request<'_>),
) {
    let lease = RequestContext::Lease(Lease {
        key: [key; 16],
        state: state(asked),
        flags: LeaseFlags::NONE,
        duration: 0,
    });
    send_with(client, name, lease, change);
}

fn send_lease_v2(client: &mut Client, name: &str, key: u8, asked: &str, epoch: u16) {
    let lease = RequestContext::LeaseV2(LeaseV2 {
        key: [key; 16],
        state: state(asked),
        flags: LeaseFlags::NONE,
        duration: 0,
        parent_key: [0; 16],
        epoch,
    });
    send_with(client, name, lease, |_| {});
}

fn send_with(
    client: &mut Client,
    name: &str,
    lease: RequestContext<'_>,
    change: impl Fn(&mut create::Request<'_>),
) {
    let contexts = [lease];
    let mut request = create::Request {
        contexts: Contexts::from(&contexts[..]),
        ..create_of(name, OplockLevel::LEASE)
    };
    change(&mut request);
    client.send(Command::Create, &request);
}

/// What a client was given: the open, the lease's state, whether it is being taken back, and its
/// epoch, if it has one.
#[derive(Debug, PartialEq, Eq)]
struct Given {
    file_id: FileId,
    state: LeaseState,
    is_breaking: bool,
    epoch: Option<u16>,
}

fn given(client: &mut Client) -> Given {
    let (header, frame) = client.answer();
    assert_eq!(header.status, Status::SUCCESS);
    let body: create::Response<'_> = Message::from_bytes(&frame).unwrap().body().unwrap();
    let given = |state, flags: LeaseFlags, epoch| Given {
        file_id: body.file_id,
        state,
        is_breaking: flags.contains(LeaseFlags::BREAK_IN_PROGRESS),
        epoch,
    };
    let mut leases = body.contexts.iter().filter_map(|context| match context {
        ResponseContext::Lease(lease) => Some(given(lease.state, lease.flags, None)),
        ResponseContext::LeaseV2(lease) => Some(given(lease.state, lease.flags, Some(lease.epoch))),
        _ => None,
    });
    leases.next().expect("a lease")
}

fn lease(client: &mut Client, name: &str, key: u8, asked: &str) -> Given {
    send_lease(client, name, key, asked, |_| {});
    given(client)
}

/// A lease that is taken back: whose, from what to what, whether an answer is wanted, and the
/// epoch.
fn broken(client: &mut Client) -> (u8, LeaseState, LeaseState, bool, u16) {
    let (header, frame) = client.answer();
    assert_eq!(header.command, Command::OplockBreak);
    match Message::from_bytes(&frame).unwrap().body().unwrap() {
        Notification::Lease(lease) => (
            lease.lease_key[0],
            lease.current_state,
            lease.new_state,
            lease.flags.contains(LeaseFlags::ACK_REQUIRED),
            lease.new_epoch,
        ),
        Notification::Oplock(oplock) => panic!("an oplock: {oplock:?}"),
    }
}

fn acknowledge(client: &mut Client, key: u8, kept: &str) -> Status {
    let acknowledgment = Acknowledgment::Lease(LeaseAcknowledgment {
        flags: LeaseFlags::NONE,
        lease_key: [key; 16],
        state: state(kept),
        duration: 0,
    });
    let (header, _) = client.ask(Command::OplockBreak, &acknowledgment);
    assert_eq!(header.command, Command::OplockBreak);
    header.status
}

fn is_pending(client: &mut Client) -> bool {
    client.answer().0.is_interim()
}

fn rename(client: &mut Client, file_id: FileId, to: &str) {
    let buffer = FileRenameInformation {
        replace_if_exists: true,
        name: Text::from(to),
    }
    .to_bytes();
    set(client, file_id, FileInfoClass::RENAME, &buffer);
}

fn set(client: &mut Client, file_id: FileId, class: FileInfoClass, buffer: &[u8]) {
    let request = set_info::Request {
        class: InfoClass::File(class),
        additional_information: 0,
        file_id,
        buffer,
    };
    client.send(Command::SetInfo, &request);
}

/// Opens by another lease, by a stat open and by an overwriting one, through two clients.
#[test]
fn a_lease_goes_as_far_down_as_another_needs_it() {
    let server = start();
    let (mut one, mut other) = (client(&server, 1), client(&server, 2));
    for (held, asked, left, got) in [
        ("R", "RHW", "R", "RH"),
        ("RH", "RW", "RH", "R"),
        ("RW", "RHW", "R", "RH"),
        ("RHW", "RHW", "RH", "RH"),
    ] {
        let name = format!("{held}-{asked}");
        assert_eq!(lease(&mut one, &name, 1, held).state, state(held));
        send_lease(&mut other, &name, 2, asked, |_| {});
        if held != left {
            assert!(is_pending(&mut other), "{name}");
            let told = (1, state(held), state(left), true, 0);
            assert_eq!(broken(&mut one), told);
            assert_eq!(acknowledge(&mut one, 1, left), Status::SUCCESS);
        }
        let theirs = given(&mut other);
        assert_eq!(theirs.state, state(got), "{name}");
        // More than there is room for is no more than before.
        assert_eq!(lease(&mut one, &name, 1, "RHW").state, state(left));
        // A lease is a client's: the same key is another's there.
        assert_eq!(
            lease(&mut other, &format!("{name}'"), 1, "R").state,
            state("R")
        );
        one = client(&server, 1);
        other = client(&server, 2);
    }
}

/// Who comes while a lease is being taken back waits until all of that is over, in steps of one
/// epoch; who has the lease himself does not wait, and sees that it is being taken back.
#[test]
fn a_break_has_as_many_steps_as_it_takes() {
    let server = start();
    let (mut one, mut other) = (client(&server, 1), client(&server, 2));
    let mut third = client(&server, 3);
    send_lease_v2(&mut one, "f", 1, "RHW", 0x11);
    assert_eq!(given(&mut one).epoch, Some(0x12));
    other.send_create("f", CreateDisposition::OPEN, OplockLevel::NONE);
    assert!(is_pending(&mut other));
    assert_eq!(broken(&mut one), (1, state("RHW"), state("RH"), true, 0x13));
    let again = |one: &mut Client, held: &str| {
        send_lease_v2(one, "f", 1, "RHW", 0x13);
        let again = given(one);
        assert_eq!((again.state, again.is_breaking), (state(held), true));
        assert_eq!(again.epoch, Some(0x13));
        let (closed, _) = one.ask(Command::Close, &close_of(again.file_id));
        assert_eq!(closed.status, Status::SUCCESS);
    };
    again(&mut one, "RHW");
    third.send_create("f", CreateDisposition::OVERWRITE, OplockLevel::NONE);
    assert!(is_pending(&mut third));
    again(&mut one, "RHW");
    assert_eq!(
        acknowledge(&mut one, 1, "RHW"),
        Status::REQUEST_NOT_ACCEPTED
    );
    assert_eq!(acknowledge(&mut one, 1, "RH"), Status::SUCCESS);
    assert_eq!(broken(&mut one), (1, state("RH"), state("R"), true, 0x13));
    // That a handle is closed meanwhile wakes nobody who waits for the rest.
    again(&mut one, "RH");
    assert_eq!(acknowledge(&mut one, 1, "R"), Status::SUCCESS);
    assert_eq!(broken(&mut one), (1, state("R"), state(""), false, 0x13));
    assert_eq!(acknowledge(&mut one, 1, ""), Status::UNSUCCESSFUL);
    other.created();
    third.created();
}

/// RH is given up with an answer that nobody waits for, if it is because of data.
#[test]
fn who_replaces_data_waits_only_for_what_was_written() {
    let server = start();
    let (mut one, mut other) = (client(&server, 1), client(&server, 2));
    lease(&mut one, "f", 1, "RH");
    for _ in 0..2 {
        other.send_create("f", CreateDisposition::OVERWRITE, OplockLevel::NONE);
        other.created();
    }
    assert_eq!(broken(&mut one), (1, state("RH"), state(""), true, 0));
    let again = lease(&mut one, "f", 1, "");
    assert_eq!((again.state, again.is_breaking), (state("RH"), true));
    assert_eq!(acknowledge(&mut one, 1, ""), Status::SUCCESS);
}

/// What `one` has open for itself alone, and `other` waits for.
fn held_alone(one: &mut Client, other: &mut Client) -> FileId {
    send_lease(one, "f", 1, "RHW", |create| {
        create.share_access = ShareAccess(0);
    });
    let mine = given(one);
    other.send_create("f", CreateDisposition::OPEN, OplockLevel::NONE);
    assert!(is_pending(other));
    assert_eq!(broken(one), (1, state("RHW"), state("RW"), true, 0));
    mine.file_id
}

#[test]
fn who_may_not_open_beside_a_handle_waits_until_it_is_closed() {
    let server = start();
    let (mut one, mut other) = (client(&server, 1), client(&server, 2));
    let first = held_alone(&mut one, &mut other);
    assert_eq!(acknowledge(&mut one, 1, "RW"), Status::SUCCESS);
    assert_eq!(other.answer().0.status, Status::SHARING_VIOLATION);
    one.ask(Command::Close, &close_of(first));
    // One that is closed instead is in nobody's way.
    let second = held_alone(&mut one, &mut other);
    one.ask(Command::Close, &close_of(second));
    other.created();
}

/// A file is renamed, replaced, removed, or renamed with its directory only after the handles that
/// others keep of it have been given up; one's own lease stays.
#[test]
fn names_change_when_handles_have_been_given_up() {
    let server = start();
    let (mut one, mut other) = (client(&server, 1), client(&server, 2));
    let theirs = lease(&mut other, "from", 2, "RH");
    lease(&mut one, "from", 1, "RH");
    rename(&mut other, theirs.file_id, "to");
    assert!(is_pending(&mut other));
    assert_eq!(broken(&mut one), (1, state("RH"), state("R"), true, 0));
    let looking = create::Request {
        disposition: CreateDisposition::OPEN,
        ..create_of("to", OplockLevel::NONE)
    };
    let (early, _) = one.ask(Command::Create, &looking);
    assert_eq!(early.status, Status::OBJECT_NAME_NOT_FOUND);
    assert_eq!(acknowledge(&mut one, 1, "R"), Status::SUCCESS);
    assert_eq!(other.answer().0.status, Status::SUCCESS);
    assert_eq!(lease(&mut other, "to", 2, "").state, state("RH"));
    // The file whose name it takes.
    let kept = lease(&mut one, "kept", 3, "RH");
    rename(&mut other, theirs.file_id, "kept");
    assert!(is_pending(&mut other));
    assert_eq!(broken(&mut one), (3, state("RH"), state("R"), true, 0));
    one.send(Command::Close, &close_of(kept.file_id));
    assert_eq!(one.answer().0.status, Status::SUCCESS);
    assert_eq!(other.answer().0.status, Status::SUCCESS);
    // A removal, which is waited for likewise.
    lease(&mut one, "gone", 4, "RH");
    let removal = create::Request {
        desired_access: AccessMask::DELETE,
        disposition: CreateDisposition::OPEN,
        options: CreateOptions::DELETE_ON_CLOSE,
        ..create_of("gone", OplockLevel::NONE)
    };
    other.send(Command::Create, &removal);
    assert!(is_pending(&mut other));
    assert_eq!(broken(&mut one), (4, state("RH"), state("R"), true, 0));
    assert_eq!(acknowledge(&mut one, 4, "R"), Status::SUCCESS);
    other.created();
}

#[test]
fn a_directory_is_renamed_when_nothing_is_open_in_it_any_more() {
    let server = start();
    let (mut one, mut other) = (client(&server, 1), client(&server, 2));
    let directory = create::Request {
        options: CreateOptions::DIRECTORY_FILE,
        ..create_of("d", OplockLevel::NONE)
    };
    other.send(Command::Create, &directory);
    let (theirs, _) = other.created();
    let within = lease(&mut one, "d\\f", 1, "RH");
    rename(&mut other, theirs, "e");
    assert!(is_pending(&mut other));
    assert_eq!(broken(&mut one), (1, state("RH"), state("R"), true, 0));
    one.send(Command::Close, &close_of(within.file_id));
    assert_eq!(one.answer().0.status, Status::SUCCESS);
    assert_eq!(other.answer().0.status, Status::SUCCESS);
    // What does not go away keeps it where it is.
    lease(&mut one, "e\\f", 1, "RH");
    rename(&mut other, theirs, "d");
    assert!(is_pending(&mut other));
    broken(&mut one);
    assert_eq!(acknowledge(&mut one, 1, "R"), Status::SUCCESS);
    assert_eq!(other.answer().0.status, Status::ACCESS_DENIED);
}

/// A lease is of the version that it was first asked for in, and of one file.
#[test]
fn a_lease_stays_what_it_was_first() {
    let server = start();
    let mut one = client(&server, 1);
    send_lease_v2(&mut one, "second", 1, "R", 0x4711);
    assert_eq!(given(&mut one).epoch, Some(0x4712));
    let grown = lease(&mut one, "second", 1, "RH");
    assert_eq!((grown.state, grown.epoch), (state("RH"), Some(0x4713)));
    let same = lease(&mut one, "second", 1, "R");
    assert_eq!((same.state, same.epoch), (state("RH"), Some(0x4713)));
    lease(&mut one, "first", 2, "R");
    send_lease_v2(&mut one, "first", 2, "RW", 7);
    let first = given(&mut one);
    assert_eq!((first.state, first.epoch), (state("RW"), None));
    for name in ["first", "new"] {
        send_lease(&mut one, name, 1, "R", |_| {});
        assert_eq!(one.answer().0.status, Status::INVALID_PARAMETER);
    }
    let looking = create::Request {
        disposition: CreateDisposition::OPEN,
        ..create_of("new", OplockLevel::NONE)
    };
    let (header, _) = one.ask(Command::Create, &looking);
    assert_eq!(header.status, Status::OBJECT_NAME_NOT_FOUND);
}

/// An open that only looks has a lease beside which there is no room to write.
#[test]
fn a_lease_counts_even_of_an_open_that_only_looks() {
    let server = start();
    let (mut one, mut other) = (client(&server, 1), client(&server, 2));
    let made = one.create("f", CreateDisposition::CREATE);
    let (closed, _) = one.ask(Command::Close, &close_of(made));
    assert_eq!(closed.status, Status::SUCCESS);
    send_lease(&mut one, "f", 1, "RHW", |create| {
        create.desired_access = AccessMask::READ_ATTRIBUTES;
    });
    assert_eq!(given(&mut one).state, state("RHW"));
    send_lease(&mut other, "f", 2, "RHW", |_| {});
    assert!(is_pending(&mut other));
    broken(&mut one);
    assert_eq!(acknowledge(&mut one, 1, "RH"), Status::SUCCESS);
    assert_eq!(given(&mut other).state, state("RH"));
}

/// What is written, cut or given room makes old what others have read, oplocks of level II of all
/// and leases of others.
#[test]
fn changes_take_back_what_was_read() {
    let server = start();
    let (mut one, mut other) = (client(&server, 1), client(&server, 2));
    one.send_create("f", CreateDisposition::CREATE, OplockLevel::II);
    let (file_id, level) = one.created();
    assert_eq!(level, OplockLevel::II);
    let theirs = lease(&mut other, "f", 1, "R");
    let room = FileAllocationInformation {
        allocation_size: 1 << 16,
    };
    set(
        &mut other,
        theirs.file_id,
        FileInfoClass::ALLOCATION,
        &room.to_bytes(),
    );
    assert_eq!(other.answer().0.status, Status::SUCCESS);
    let (header, frame) = one.answer();
    assert_eq!(header.command, Command::OplockBreak);
    let left = OplockBreak {
        level: OplockLevel::NONE,
        file_id,
    };
    let body: Notification = Message::from_bytes(&frame).unwrap().body().unwrap();
    assert_eq!(body, Notification::Oplock(left));
    let (written, _) = one.ask(Command::Write, &write_of(file_id, b"new"));
    assert_eq!(written.status, Status::SUCCESS);
    assert_eq!(broken(&mut other), (1, state("R"), state(""), false, 0));
}

/// What a client takes back from itself it is told before its next answer.
#[test]
fn a_break_comes_before_what_is_asked_next() {
    let server = start();
    let mut one = client(&server, 1);
    let mine = lease(&mut one, "f", 1, "RH");
    lease(&mut one, "f", 2, "RH");
    rename(&mut one, mine.file_id, "g");
    one.send_create("h", CreateDisposition::CREATE, OplockLevel::NONE);
    assert!(is_pending(&mut one));
    assert_eq!(broken(&mut one), (2, state("RH"), state("R"), true, 0));
    one.created();
    assert_eq!(acknowledge(&mut one, 2, "R"), Status::SUCCESS);
    assert_eq!(one.answer().0.status, Status::SUCCESS);
}
