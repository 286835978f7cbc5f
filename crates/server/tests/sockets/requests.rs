//! What a client of SMB says, for tests and as the seeds of what is fuzzed.

use filestone_wire::smb2::codec::{Array, Encode, Text};
use filestone_wire::smb2::create::{
    Contexts, CreateDisposition, CreateOptions, ImpersonationLevel, ShareAccess,
};
use filestone_wire::smb2::info::{FileInfoClass, FileRenameInformation, FsInfoClass, InfoClass};
use filestone_wire::smb2::lock::{LockElement, LockFlags};
use filestone_wire::smb2::negotiate::{self, Contexts as NegotiateContexts};
use filestone_wire::smb2::oplock_break::{Acknowledgment, OplockBreak};
use filestone_wire::smb2::query_directory::{self, QueryDirectoryFlags};
use filestone_wire::smb2::session_setup::SetupFlags;
use filestone_wire::smb2::tree_connect::ConnectFlags;
use filestone_wire::smb2::{
    AccessMask, Capabilities, Channel, Command, Dialect, FileAttributes, FileId, OplockLevel,
    SecurityMode, close, create, echo, lock, query_info, read, session_setup, set_info,
    tree_connect, write,
};

/// NEGOTIATE_MESSAGE and AUTHENTICATE_MESSAGE of nobody (MS-NLMP, section 2.2.1).
pub fn ntlm_negotiate() -> Vec<u8> {
    let mut message = [
        &b"NTLMSSP\0"[..],
        &[1, 0, 0, 0],
        &0xa008_8205_u32.to_le_bytes(),
    ]
    .concat();
    message.resize(32, 0);
    message
}

pub fn ntlm_authenticate() -> Vec<u8> {
    let mut message = [&b"NTLMSSP\0"[..], &[3, 0, 0, 0]].concat();
    for _ in 0..6 {
        message.extend_from_slice(&[0, 0, 0, 0, 64, 0, 0, 0]);
    }
    message.extend_from_slice(&0xa008_8a05_u32.to_le_bytes());
    message
}

pub fn write_of(file_id: FileId, data: &[u8]) -> write::Request<'_> {
    write::Request {
        offset: 0,
        file_id,
        channel: Channel::NONE,
        remaining_bytes: 0,
        flags: write::WriteFlags::NONE,
        channel_info: &[],
        data,
    }
}

pub fn read_of(file_id: FileId, length: u32) -> read::Request<'static> {
    read::Request {
        padding: read::Request::PADDING,
        flags: read::ReadFlags::NONE,
        length,
        offset: 0,
        file_id,
        minimum_count: 0,
        channel: Channel::NONE,
        remaining_bytes: 0,
        channel_info: &[],
    }
}

pub fn close_of(file_id: FileId) -> close::Request {
    close::Request {
        flags: close::CloseFlags::NONE,
        file_id,
    }
}

pub fn create_of(name: &str, oplock_level: OplockLevel) -> create::Request<'_> {
    create::Request {
        oplock_level,
        impersonation_level: ImpersonationLevel::IMPERSONATION,
        desired_access: AccessMask(0x001f_01ff),
        file_attributes: FileAttributes::NONE,
        share_access: ShareAccess(7),
        disposition: CreateDisposition::OPEN_IF,
        options: CreateOptions::NONE,
        name: Text::from(name),
        contexts: Contexts::default(),
    }
}

pub fn negotiate_of() -> negotiate::Request<'static> {
    negotiate::Request {
        security_mode: SecurityMode::SIGNING_ENABLED,
        capabilities: Capabilities::NONE,
        client_guid: [7; 16],
        dialects: Array::from(&[Dialect::SMB_2_1]),
        contexts: NegotiateContexts::default(),
    }
}

pub fn setup_of(token: &[u8]) -> session_setup::Request<'_> {
    session_setup::Request {
        flags: SetupFlags::NONE,
        security_mode: SecurityMode::SIGNING_ENABLED,
        capabilities: Capabilities::NONE,
        channel: 0,
        previous_session_id: 0,
        security_buffer: token,
    }
}

pub fn tree_connect_of() -> tree_connect::Request<'static> {
    tree_connect::Request {
        flags: ConnectFlags::NONE,
        path: Text::from("\\\\localhost\\EXPORT"),
    }
}

/// What a client asks, with as many opens as there can have been.
pub fn bodies(open: u64) -> Vec<(Command, Vec<u8>)> {
    let file_id = FileId {
        persistent: open,
        volatile: open,
    };
    let elements = [LockElement {
        offset: 0,
        length: 10,
        flags: LockFlags::EXCLUSIVE_LOCK,
    }];
    let lock = lock::Request {
        lock_sequence: 0,
        file_id,
        locks: Array::from(&elements),
    };
    let listing = query_directory::Request {
        class: FileInfoClass::ID_BOTH_DIRECTORY,
        flags: QueryDirectoryFlags::NONE,
        file_index: 0,
        file_id,
        output_buffer_length: 4096,
        pattern: Text::from("*"),
    };
    let query = |class| query_info::Request {
        class,
        output_buffer_length: 4096,
        additional_information: 7,
        flags: 0,
        file_id,
        input: &[],
    };
    let rename = FileRenameInformation {
        replace_if_exists: true,
        name: Text::from("renamed"),
    }
    .to_bytes();
    let set = |class, buffer| set_info::Request {
        class: InfoClass::File(class),
        additional_information: 0,
        file_id,
        buffer,
    };
    let broken = Acknowledgment::Oplock(OplockBreak {
        level: OplockLevel::II,
        file_id,
    });
    let levels = [OplockLevel::NONE, OplockLevel::BATCH];
    let mut bodies = vec![
        (Command::Echo, echo::Request {}.to_bytes()),
        (Command::Write, write_of(file_id, b"hello").to_bytes()),
        (Command::Read, read_of(file_id, 100).to_bytes()),
        (Command::Close, close_of(file_id).to_bytes()),
        (Command::Lock, lock.to_bytes()),
        (Command::QueryDirectory, listing.to_bytes()),
        (
            Command::QueryInfo,
            query(InfoClass::File(FileInfoClass::ALL)).to_bytes(),
        ),
        (
            Command::QueryInfo,
            query(InfoClass::FileSystem(FsInfoClass::VOLUME)).to_bytes(),
        ),
        (Command::QueryInfo, query(InfoClass::Security(0)).to_bytes()),
        (
            Command::SetInfo,
            set(FileInfoClass::RENAME, &rename).to_bytes(),
        ),
        (
            Command::SetInfo,
            set(FileInfoClass::BASIC, &[1; 40]).to_bytes(),
        ),
        (
            Command::SetInfo,
            set(FileInfoClass::DISPOSITION, &[1]).to_bytes(),
        ),
        (
            Command::SetInfo,
            set(FileInfoClass::END_OF_FILE, &[9, 0, 0, 0, 0, 0, 0, 0]).to_bytes(),
        ),
        (Command::OplockBreak, broken.to_bytes()),
        (Command::Ioctl, vec![57; 60]),
        (Command::Cancel, echo::Request {}.to_bytes()),
        (Command::Logoff, echo::Request {}.to_bytes()),
        (Command::TreeDisconnect, echo::Request {}.to_bytes()),
    ];
    for name in ["a", "A", "files", "files\\file0000", "link", "d\\e", ""] {
        for level in levels {
            bodies.push((Command::Create, create_of(name, level).to_bytes()));
        }
    }
    bodies
}
