//! Bodies of requests, byte for byte, so that any field of them can be wrong.

use filestone_wire::smb2::codec::{Array, Encode};
use filestone_wire::smb2::lock::{LockElement, LockFlags};
use filestone_wire::smb2::{FileId, OplockLevel, lock};

use super::super::requests::{create_of, read_of, write_of};

/// Where the fields of bodies stand, from the body's first byte.
pub mod at {
    pub const READ_LENGTH: usize = 4;
    pub const READ_OFFSET: usize = 8;
    pub const READ_CHANNEL: usize = 36;
    pub const WRITE_DATA_OFFSET: usize = 2;
    pub const WRITE_LENGTH: usize = 4;
    pub const WRITE_OFFSET: usize = 8;
    pub const LOCK_COUNT: usize = 2;
    pub const CREATE_IMPERSONATION: usize = 4;
    pub const CREATE_ACCESS: usize = 24;
    pub const CREATE_ATTRIBUTES: usize = 28;
    pub const CREATE_SHARE: usize = 32;
    pub const CREATE_DISPOSITION: usize = 36;
    pub const CREATE_OPTIONS: usize = 40;
    pub const CREATE_NAME_OFFSET: usize = 44;
    pub const CREATE_NAME_LENGTH: usize = 46;
    pub const CREATE_CONTEXTS_OFFSET: usize = 48;
    pub const CREATE_CONTEXTS_LENGTH: usize = 52;
    pub const SETUP_FLAGS: usize = 2;
    pub const SETUP_BUFFER_OFFSET: usize = 12;
    pub const SETUP_BUFFER_LENGTH: usize = 14;
    pub const TREE_PATH_OFFSET: usize = 4;
    pub const NEGOTIATE_COUNT: usize = 2;
    pub const NEGOTIATE_CONTEXTS_OFFSET: usize = 28;
    pub const NEGOTIATE_CONTEXTS_COUNT: usize = 32;
    pub const IOCTL_INPUT_OFFSET: usize = 24;
    pub const IOCTL_FLAGS: usize = 48;
}

/// Where those of a header stand.
pub mod header {
    pub const STRUCTURE_SIZE: usize = 4;
    pub const CHARGE: usize = 6;
    pub const COMMAND: usize = 12;
    pub const CREDITS: usize = 14;
    pub const FLAGS: usize = 16;
    pub const NEXT: usize = 20;
    pub const MESSAGE_ID: usize = 24;
    pub const SESSION_ID: usize = 40;
    pub const SIGNATURE: usize = 48;

    pub const RESPONSE: u8 = 1;
    pub const ASYNC: u8 = 2;
    pub const RELATED: u8 = 4;
    pub const SIGNED: u8 = 8;
}

/// The same bytes with others at a place.
pub fn with(mut bytes: Vec<u8>, at: usize, value: &[u8]) -> Vec<u8> {
    bytes[at..at + value.len()].copy_from_slice(value);
    bytes
}

/// NEGOTIATE, without contexts.
pub fn negotiate(dialects: &[u16]) -> Vec<u8> {
    let mut body = vec![36, 0];
    body.extend((dialects.len() as u16).to_le_bytes());
    body.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    body.extend([7; 16]);
    body.extend([0; 8]);
    body.extend(dialects.iter().flat_map(|dialect| dialect.to_le_bytes()));
    body
}

/// NEGOTIATE for 3.1.1, with these contexts.
pub fn negotiate_3_1_1(contexts: &[Vec<u8>]) -> Vec<u8> {
    let mut body = negotiate(&[0x0311]);
    body.resize(40, 0);
    for (index, context) in contexts.iter().enumerate() {
        if index > 0 {
            body.resize(body.len().next_multiple_of(8), 0);
        }
        body.extend(context);
    }
    let body = with(body, at::NEGOTIATE_CONTEXTS_OFFSET, &104_u32.to_le_bytes());
    let count = (contexts.len() as u16).to_le_bytes();
    with(body, at::NEGOTIATE_CONTEXTS_COUNT, &count)
}

fn context(context_type: u16, data: &[u8]) -> Vec<u8> {
    let mut context = context_type.to_le_bytes().to_vec();
    context.extend((data.len() as u16).to_le_bytes());
    context.extend([0; 4]);
    context.extend(data);
    context
}

fn words(words: &[u16]) -> impl Iterator<Item = u8> {
    words.iter().flat_map(|word| word.to_le_bytes())
}

/// SMB2_PREAUTH_INTEGRITY_CAPABILITIES.
pub fn hashes(algorithms: &[u16]) -> Vec<u8> {
    let mut data = (algorithms.len() as u16).to_le_bytes().to_vec();
    data.extend([4, 0]);
    data.extend(words(algorithms));
    data.extend([9; 4]);
    context(1, &data)
}

/// SMB2_ENCRYPTION_CAPABILITIES.
pub fn ciphers(ciphers: &[u16]) -> Vec<u8> {
    let mut data = (ciphers.len() as u16).to_le_bytes().to_vec();
    data.extend(words(ciphers));
    context(2, &data)
}

/// SMB2_SIGNING_CAPABILITIES.
pub fn signing(algorithms: &[u16]) -> Vec<u8> {
    let mut data = (algorithms.len() as u16).to_le_bytes().to_vec();
    data.extend(words(algorithms));
    context(8, &data)
}

pub fn read(file_id: FileId) -> Vec<u8> {
    read_of(file_id, 100).to_bytes()
}

pub fn write(file_id: FileId) -> Vec<u8> {
    write_of(file_id, b"hello").to_bytes()
}

pub fn create(name: &str) -> Vec<u8> {
    create_of(name, OplockLevel::NONE).to_bytes()
}

/// CREATE with these bytes for its contexts.
pub fn create_with_contexts(contexts: &[u8]) -> Vec<u8> {
    let mut body = create("made");
    body.resize(body.len().next_multiple_of(8), 0);
    let offset = (64 + body.len()) as u32;
    body.extend(contexts);
    let body = with(body, at::CREATE_CONTEXTS_OFFSET, &offset.to_le_bytes());
    let length = (contexts.len() as u32).to_le_bytes();
    with(body, at::CREATE_CONTEXTS_LENGTH, &length)
}

/// A context of CREATE of this name, without data: of 24 bytes.
pub fn create_context(next: u32, name: [u8; 4], data_length: u32) -> Vec<u8> {
    let mut context = next.to_le_bytes().to_vec();
    context.extend([16, 0, 4, 0, 0, 0, 24, 0]);
    context.extend(data_length.to_le_bytes());
    context.extend(name);
    context.resize(24, 0);
    context
}

/// LOCK of one range.
pub fn lock(file_id: FileId, offset: u64, length: u64, flags: u32) -> Vec<u8> {
    let elements = [LockElement {
        offset,
        length,
        flags: LockFlags(flags),
    }];
    lock::Request {
        lock_sequence: 0,
        file_id,
        locks: Array::from(&elements),
    }
    .to_bytes()
}

/// Both halves of a FileId.
pub fn id(file_id: FileId) -> Vec<u8> {
    [
        file_id.persistent.to_le_bytes(),
        file_id.volatile.to_le_bytes(),
    ]
    .concat()
}

/// QUERY_INFO.
pub fn query_info(file_id: FileId, info_type: u8, class: u8, len: u32) -> Vec<u8> {
    let mut body = vec![41, 0, info_type, class];
    body.extend(len.to_le_bytes());
    body.extend([0; 16]);
    body.extend(id(file_id));
    body.push(0);
    body
}

/// SET_INFO of a file.
pub fn set_info(file_id: FileId, class: u8, buffer: &[u8]) -> Vec<u8> {
    let mut body = vec![33, 0, 1, class];
    body.extend((buffer.len() as u32).to_le_bytes());
    body.extend([96, 0, 0, 0, 0, 0, 0, 0]);
    body.extend(id(file_id));
    body.extend(buffer);
    body
}

/// FileRenameInformation.
pub fn rename(name: &str, said: Option<u32>) -> Vec<u8> {
    let units: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut information = vec![1, 0, 0, 0, 0, 0, 0, 0];
    information.extend([0; 8]);
    information.extend(said.unwrap_or(units.len() as u32).to_le_bytes());
    information.extend(units);
    information.resize(information.len().max(24), 0);
    information
}

/// QUERY_DIRECTORY.
pub fn query_directory(file_id: FileId, class: u8, pattern: &str, len: u32) -> Vec<u8> {
    let units: Vec<u8> = pattern.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut body = vec![33, 0, class, 0, 0, 0, 0, 0];
    body.extend(id(file_id));
    body.extend([96, 0]);
    body.extend((units.len() as u16).to_le_bytes());
    body.extend(len.to_le_bytes());
    body.extend(units);
    body
}

/// IOCTL with this input.
pub fn ioctl(file_id: FileId, code: u32, input: &[u8]) -> Vec<u8> {
    let mut body = vec![57, 0, 0, 0];
    body.extend(code.to_le_bytes());
    body.extend(id(file_id));
    body.extend(120_u32.to_le_bytes());
    body.extend((input.len() as u32).to_le_bytes());
    body.extend([0; 12]);
    body.extend(4096_u32.to_le_bytes());
    body.extend(1_u32.to_le_bytes());
    body.extend([0; 4]);
    body.extend(input);
    body
}

/// SESSION_SETUP with this token.
pub fn setup(token: &[u8]) -> Vec<u8> {
    super::super::requests::setup_of(token).to_bytes()
}

/// TREE_CONNECT to this path.
pub fn tree_connect(path: &str) -> Vec<u8> {
    let units: Vec<u8> = path.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut body = vec![9, 0, 0, 0, 72, 0];
    body.extend((units.len() as u16).to_le_bytes());
    body.extend(units);
    body
}
