//! Compounds over sockets: what related requests are about, and what they get if there is nothing
//! (MS-SMB2, section 3.3.5.2.7.2).

use filestone_wire::smb2::change_notify::{self, CompletionFilter, NotifyFlags};
use filestone_wire::smb2::codec::Encode;
use filestone_wire::smb2::compound::{self, Message, Messages};
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions};
use filestone_wire::smb2::frame::FrameMark;
use filestone_wire::smb2::{
    Command, FileId, Header, HeaderFlags, OplockLevel, Status, create, echo, ioctl,
};

use super::smb::{Client, close_of, create_of, read_of, start, write_of};

/// A request in a compound: whether it is related, what it asks, and of which session.
struct Part {
    is_related: bool,
    command: Command,
    body: Vec<u8>,
    session_id: Option<u64>,
}

fn part(is_related: bool, command: Command, body: &impl Encode) -> Part {
    Part {
        is_related,
        command,
        body: body.to_bytes(),
        session_id: None,
    }
}

/// Bytes that are a body already.
struct Body<'b>(&'b [u8]);

impl Encode for Body<'_> {
    fn encode(&self, out: &mut filestone_wire::smb2::codec::Writer<'_>) {
        out.bytes(self.0);
    }
}

/// A frame of these requests, and where the last one begins.
fn compound_of(client: &mut Client, parts: &[Part]) -> (Vec<u8>, usize) {
    let mut frame = Vec::new();
    let start = FrameMark::open(&mut frame);
    let mut last = None;
    for part in parts {
        if let Some(last) = last {
            compound::link(&mut frame, last);
        }
        let header = client.header(part.command);
        let flags = if part.is_related {
            HeaderFlags::RELATED
        } else {
            HeaderFlags::NONE
        };
        let header = Header {
            flags,
            session_id: part.session_id.unwrap_or(header.session_id),
            ..header
        };
        last = Some(compound::append(&mut frame, &header, &Body(&part.body)));
    }
    FrameMark::close(&mut frame, start, 0);
    (frame, last.unwrap_or(start))
}

fn statuses(client: &mut Client, parts: &[Part]) -> Vec<Status> {
    let (frame, _) = compound_of(client, parts);
    std::io::Write::write_all(&mut client.socket, &frame).unwrap();
    let answers = client.frame().unwrap();
    let messages = Messages::of(&answers);
    messages
        .map(|message| message.unwrap().header.status)
        .collect()
}

fn notify_of(file_id: FileId) -> change_notify::Request {
    change_notify::Request {
        flags: NotifyFlags::NONE,
        output_buffer_length: 4096,
        file_id,
        completion_filter: CompletionFilter::FILE_NAME,
    }
}

fn object_id_of(file_id: FileId) -> ioctl::Request<'static> {
    ioctl::Request {
        control_code: ioctl::ControlCode::CREATE_OR_GET_OBJECT_ID,
        file_id,
        max_input_response: 0,
        max_output_response: 64,
        flags: ioctl::Request::IS_FSCTL,
        input: &[],
    }
}

const PREVIOUS: FileId = FileId::OF_PREVIOUS;

#[test]
fn what_is_related_to_nothing_is_refused() {
    let server = start();
    let mut client = Client::mounted(&server);
    let file = client.create("f", CreateDisposition::CREATE);
    let refused = Status::INVALID_PARAMETER;
    let got = statuses(
        &mut client,
        &[
            part(true, Command::Read, &read_of(file, 1)),
            part(true, Command::Close, &close_of(file)),
            part(false, Command::Close, &close_of(PREVIOUS)),
        ],
    );
    assert_eq!(got, [refused, refused, Status::FILE_CLOSED]);
    // A session that is not there is handed on to nobody; nor is a file by who had none.
    let stranger = Part {
        session_id: Some(u64::MAX),
        ..part(false, Command::Close, &close_of(PREVIOUS))
    };
    let got = statuses(
        &mut client,
        &[
            stranger,
            part(true, Command::Close, &close_of(PREVIOUS)),
            part(true, Command::Close, &close_of(file)),
            part(false, Command::Echo, &echo::Request {}),
            part(true, Command::Close, &close_of(PREVIOUS)),
        ],
    );
    assert_eq!(
        got,
        [
            Status::USER_SESSION_DELETED,
            refused,
            refused,
            Status::SUCCESS,
            Status::INVALID_HANDLE,
        ]
    );
}

/// What fails leaves the file as it was, for those who come after it.
#[test]
fn a_file_is_handed_on_past_failures() {
    let server = start();
    let mut client = Client::mounted(&server);
    let file = client.create("f", CreateDisposition::CREATE);
    client.ask(Command::Write, &write_of(file, b"hello"));
    let reading = create::Request {
        desired_access: filestone_wire::smb2::AccessMask::READ_DATA,
        ..create_of("f", OplockLevel::NONE)
    };
    let got = statuses(
        &mut client,
        &[
            part(false, Command::Create, &reading),
            part(true, Command::Read, &read_of(PREVIOUS, 5)),
            part(true, Command::Write, &write_of(PREVIOUS, b"no")),
            part(true, Command::Read, &read_of(PREVIOUS, 5)),
            part(true, Command::Close, &close_of(PREVIOUS)),
            part(true, Command::Close, &close_of(PREVIOUS)),
        ],
    );
    let (fine, closed) = (Status::SUCCESS, Status::FILE_CLOSED);
    assert_eq!(got, [fine, fine, Status::ACCESS_DENIED, fine, fine, closed]);
}

/// Whether there is the file comes first, even where what is asked of it is not offered.
#[test]
fn what_is_not_offered_is_refused_of_files_that_are_there() {
    let server = start();
    let mut client = Client::mounted(&server);
    let missing = create::Request {
        disposition: CreateDisposition::OPEN,
        ..create_of("nothing", OplockLevel::NONE)
    };
    let unknown = ioctl::Request {
        control_code: ioctl::ControlCode(0xffff_ffff),
        ..object_id_of(PREVIOUS)
    };
    let not_found = Status::OBJECT_NAME_NOT_FOUND;
    let got = statuses(
        &mut client,
        &[
            part(false, Command::Create, &missing),
            part(true, Command::ChangeNotify, &notify_of(PREVIOUS)),
            part(true, Command::Ioctl, &unknown),
            part(false, Command::Ioctl, &unknown),
            part(true, Command::Close, &close_of(PREVIOUS)),
        ],
    );
    let closed = Status::FILE_CLOSED;
    assert_eq!(got, [not_found, not_found, not_found, closed, closed]);
    let directory = create::Request {
        options: CreateOptions::DIRECTORY_FILE,
        ..create_of("d", OplockLevel::NONE)
    };
    let got = statuses(
        &mut client,
        &[
            part(false, Command::Create, &directory),
            part(true, Command::ChangeNotify, &notify_of(PREVIOUS)),
            part(true, Command::Ioctl, &unknown),
            part(false, Command::Create, &create_of("f", OplockLevel::NONE)),
            part(true, Command::ChangeNotify, &notify_of(PREVIOUS)),
        ],
    );
    assert_eq!(
        got,
        [
            Status::SUCCESS,
            Status::NOT_SUPPORTED,
            Status::INVALID_DEVICE_REQUEST,
            Status::SUCCESS,
            Status::INVALID_PARAMETER,
        ]
    );
}

/// A command that there is not is answered as what came before it is, and nobody hangs up.
#[test]
fn nonsense_behind_a_request_is_refused() {
    let server = start();
    let mut client = Client::mounted(&server);
    let file = client.create("f", CreateDisposition::CREATE);
    let parts = [
        part(false, Command::Read, &read_of(file, 1)),
        part(true, Command::Flush, &echo::Request {}),
    ];
    let (mut frame, last) = compound_of(&mut client, &parts);
    frame[last + 12..last + 14].copy_from_slice(&[0xff, 0]);
    std::io::Write::write_all(&mut client.socket, &frame).unwrap();
    let mut answers = client.frame().unwrap();
    let second = u32::from_le_bytes(*answers[20..].first_chunk().unwrap()) as usize;
    assert_eq!(answers[second + 12..second + 14], [0xff, 0]);
    answers[second + 12..second + 14].copy_from_slice(&[7, 0]);
    let statuses: Vec<Status> = Messages::of(&answers)
        .map(|message| message.unwrap().header.status)
        .collect();
    assert_eq!(statuses, [Status::END_OF_FILE, Status::INVALID_PARAMETER]);
    assert!(client.is_served());
}

/// FSCTL_CREATE_OR_GET_OBJECT_ID: 64 bytes, the same for one file and others for another.
#[test]
fn a_file_has_an_object_id() {
    let server = start();
    let mut client = Client::mounted(&server);
    let files = ["a", "A", "b"].map(|name| client.create(name, CreateDisposition::OPEN_IF));
    let ids = files.map(|file| {
        let (header, frame) = client.ask(Command::Ioctl, &object_id_of(file));
        assert_eq!(header.status, Status::SUCCESS);
        let body: ioctl::Response<'_> = Message::from_bytes(&frame).unwrap().body().unwrap();
        body.output.to_vec()
    });
    assert_eq!(ids[0].len(), 64);
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
}
