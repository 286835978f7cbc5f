//! Decodes, encodes and decodes again: what every test of a message asks of it, and the fuzz
//! targets too. Not a test itself.

use filestone_wire::smb2::codec::{Decode, DecodeError, Encode, Writer};
use filestone_wire::smb2::compound::{self, Message, Messages};
use filestone_wire::smb2::spnego::{NegTokenInit, NegTokenResp, TokenError};
use filestone_wire::smb2::{
    Command, ErrorResponse, Header, cancel, change_notify, close, create, echo, flush,
    has_own_body, info, ioctl, lock, logoff, negotiate, oplock_break, query_directory, query_info,
    read, session_setup, set_info, tree_connect, tree_disconnect, write,
};

/// Appends what the body encodes to, once it has been shown that this decodes to the same body.
macro_rules! again {
    ($type:ty, $message:expr, $out:expr) => {{
        let body: $type = $message.body()?;
        let start = compound::append($out, &$message.header, &body);
        let again = Message::from_bytes(&$out[start..])?;
        assert_eq!(again.header, $message.header);
        assert_eq!(again.body::<$type>().as_ref(), Ok(&body));
    }};
}

type Again<T> = Result<T, DecodeError>;

/// The frame that the messages of this one encode to.
pub fn frame(bytes: &[u8]) -> Again<Vec<u8>> {
    let mut out = Vec::new();
    let mut last = None;
    for message in Messages::of(bytes) {
        let message = message?;
        if let Some(last) = last {
            compound::link(&mut out, last);
        }
        last = Some(out.len());
        append_again(&message, &mut out)?;
    }
    Ok(out)
}

fn append_again(message: &Message<'_>, out: &mut Vec<u8>) -> Again<()> {
    let Header {
        command, status, ..
    } = message.header;
    if !message.header.is_response() {
        return request(message, out);
    }
    // A copy that failed may say how much of it there is.
    let is_copy = command == Command::Ioctl && message.body::<ioctl::Response>().is_ok();
    if has_own_body(command, status) || is_copy {
        return response(message, out);
    }
    again!(ErrorResponse, message, out);
    Ok(())
}

fn request(message: &Message<'_>, out: &mut Vec<u8>) -> Again<()> {
    match message.header.command {
        Command::Negotiate => again!(negotiate::Request, message, out),
        Command::SessionSetup => again!(session_setup::Request, message, out),
        Command::Logoff => again!(logoff::Request, message, out),
        Command::TreeConnect => again!(tree_connect::Request, message, out),
        Command::TreeDisconnect => again!(tree_disconnect::Request, message, out),
        Command::Create => again!(create::Request, message, out),
        Command::Close => again!(close::Request, message, out),
        Command::Flush => again!(flush::Request, message, out),
        Command::Read => again!(read::Request, message, out),
        Command::Write => again!(write::Request, message, out),
        Command::Lock => again!(lock::Request, message, out),
        Command::Ioctl => again!(ioctl::Request, message, out),
        Command::QueryDirectory => again!(query_directory::Request, message, out),
        Command::ChangeNotify => again!(change_notify::Request, message, out),
        Command::QueryInfo => again!(query_info::Request, message, out),
        Command::SetInfo => again!(set_info::Request, message, out),
        Command::OplockBreak => again!(oplock_break::Acknowledgment, message, out),
        Command::Cancel => again!(cancel::Request, message, out),
        Command::Echo => again!(echo::Request, message, out),
    }
    Ok(())
}

fn response(message: &Message<'_>, out: &mut Vec<u8>) -> Again<()> {
    match message.header.command {
        Command::Negotiate => again!(negotiate::Response, message, out),
        Command::SessionSetup => again!(session_setup::Response, message, out),
        Command::Logoff => again!(logoff::Response, message, out),
        Command::TreeConnect => again!(tree_connect::Response, message, out),
        Command::TreeDisconnect => again!(tree_disconnect::Response, message, out),
        Command::Create => again!(create::Response, message, out),
        Command::Close => again!(close::Response, message, out),
        Command::Flush => again!(flush::Response, message, out),
        Command::Read => again!(read::Response, message, out),
        Command::Write => again!(write::Response, message, out),
        Command::Lock => again!(lock::Response, message, out),
        Command::Ioctl => again!(ioctl::Response, message, out),
        Command::QueryDirectory => again!(query_directory::Response, message, out),
        Command::ChangeNotify => again!(change_notify::Response, message, out),
        Command::QueryInfo => again!(query_info::Response, message, out),
        Command::SetInfo => again!(set_info::Response, message, out),
        Command::OplockBreak if message.header.is_unasked() => {
            again!(oplock_break::Notification, message, out);
        }
        Command::OplockBreak => again!(oplock_break::Acknowledgment, message, out),
        Command::Echo => again!(echo::Response, message, out),
        // There is none.
        Command::Cancel => {
            return Err(DecodeError::Undefined {
                field: "Command",
                value: 12,
            });
        }
    }
    Ok(())
}

/// What [`information`] can take apart.
pub const INFORMATION: [&str; 22] = [
    "Change",
    "CopychunkCopy",
    "CopychunkResponse",
    "FileAllocationInformation",
    "FileBasicInformation",
    "FileBothDirectoryInformation",
    "FileDirectoryInformation",
    "FileDispositionInformation",
    "FileEndOfFileInformation",
    "FileFsFullSizeInformation",
    "FileFsSizeInformation",
    "FileFullDirectoryInformation",
    "FileIdBothDirectoryInformation",
    "FileIdFullDirectoryInformation",
    "FileInternalInformation",
    "FileNetworkOpenInformation",
    "FileRenameInformation",
    "FileStandardInformation",
    "NetworkInterface",
    "ResumeKeyResponse",
    "ValidateNegotiateRequest",
    "ValidateNegotiateResponse",
];

/// What a structure in a buffer encodes to, once it has been shown that this decodes to the same.
macro_rules! structure_again {
    ($type:ty, $bytes:expr) => {{
        let value = <$type>::from_bytes($bytes)?;
        let bytes = value.to_bytes();
        assert_eq!(<$type>::from_bytes(&bytes).as_ref(), Ok(&value));
        Ok(bytes)
    }};
}

/// The buffer that what is in this one encodes to.
pub fn information(name: &str, bytes: &[u8]) -> Again<Vec<u8>> {
    match name {
        "Change" => changes(bytes),
        "CopychunkCopy" => structure_again!(ioctl::CopychunkCopy, bytes),
        "CopychunkResponse" => structure_again!(ioctl::CopychunkResponse, bytes),
        "FileAllocationInformation" => structure_again!(info::FileAllocationInformation, bytes),
        "FileBasicInformation" => structure_again!(info::FileBasicInformation, bytes),
        "FileDispositionInformation" => structure_again!(info::FileDispositionInformation, bytes),
        "FileEndOfFileInformation" => structure_again!(info::FileEndOfFileInformation, bytes),
        "FileFsFullSizeInformation" => structure_again!(info::FileFsFullSizeInformation, bytes),
        "FileFsSizeInformation" => structure_again!(info::FileFsSizeInformation, bytes),
        "FileInternalInformation" => structure_again!(info::FileInternalInformation, bytes),
        "FileNetworkOpenInformation" => structure_again!(info::FileNetworkOpenInformation, bytes),
        "FileRenameInformation" => structure_again!(info::FileRenameInformation, bytes),
        "FileStandardInformation" => structure_again!(info::FileStandardInformation, bytes),
        "NetworkInterface" => interfaces(bytes),
        "ResumeKeyResponse" => structure_again!(ioctl::ResumeKeyResponse, bytes),
        "ValidateNegotiateRequest" => structure_again!(ioctl::ValidateNegotiateRequest, bytes),
        "ValidateNegotiateResponse" => structure_again!(ioctl::ValidateNegotiateResponse, bytes),
        directory => {
            let class = info::FileInfoClass::from_name(directory).expect("a class");
            entries(
                info::DirectoryClass::of(class).expect("of a directory"),
                bytes,
            )
        }
    }
}

fn changes(bytes: &[u8]) -> Again<Vec<u8>> {
    let changes = change_notify::changes(bytes).collect::<Again<Vec<_>>>()?;
    let mut out = Vec::new();
    change_notify::encode_changes(changes.iter().copied(), &mut Writer::new(&mut out));
    assert!(change_notify::changes(&out).eq(changes.into_iter().map(Ok)));
    Ok(out)
}

fn interfaces(bytes: &[u8]) -> Again<Vec<u8>> {
    let interfaces = ioctl::interfaces(bytes).collect::<Again<Vec<_>>>()?;
    let mut out = Vec::new();
    ioctl::encode_interfaces(&interfaces, &mut Writer::new(&mut out));
    assert!(ioctl::interfaces(&out).eq(interfaces.into_iter().map(Ok)));
    Ok(out)
}

fn entries(class: info::DirectoryClass, bytes: &[u8]) -> Again<Vec<u8>> {
    let entries = info::Entries::of(class, bytes).collect::<Again<Vec<_>>>()?;
    let mut out = Vec::new();
    let mut writer = info::DirectoryWriter::new(&mut out, class, u32::MAX);
    for entry in &entries {
        assert!(writer.append(entry));
    }
    assert!(info::Entries::of(class, &out).eq(entries.into_iter().map(Ok)));
    Ok(out)
}

/// The token that this one encodes to.
pub fn token(bytes: &[u8]) -> Result<Vec<u8>, TokenError> {
    let mut out = Vec::new();
    if let Ok(init) = NegTokenInit::from_bytes(bytes) {
        let mechanisms: Vec<_> = init.mechanisms().collect();
        NegTokenInit::encode(&mechanisms, init.mech_token, &mut out);
        let again = NegTokenInit::from_bytes(&out)?;
        assert_eq!(again.mech_token, init.mech_token);
        assert!(again.mechanisms().eq(mechanisms));
    } else {
        let response = NegTokenResp::from_bytes(bytes)?;
        response.encode(&mut out);
        assert_eq!(NegTokenResp::from_bytes(&out), Ok(response));
    }
    Ok(out)
}
