//! QUERY_INFO (MS-SMB2, section 3.3.5.20; MS-FSCC, sections 2.4 and 2.5).

use filestone_wire::smb2::codec::{Encode, Text, Writer};
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::info::{
    FileBasicInformation, FileFsFullSizeInformation, FileFsSizeInformation, FileInfoClass,
    FileInternalInformation, FileNetworkOpenInformation, FileStandardInformation, FsInfoClass,
    InfoClass,
};
use filestone_wire::smb2::query_info::Request;
use filestone_wire::smb2::{AccessMask, Dialect, OutputBuffer, Status};

use super::connection::Open;
use super::exchange::{Answered, CommandFailure, Exchange, put};
use super::metadata::{FileMetadata, UNIT, VOLUME, file_time};
use super::names::short_name;
use crate::reply::ReplySink;
use crate::tree::Tree;

/// Information classes without a structure in wire, by their numbers in MS-FSCC.
mod class {
    pub const ACCESS: u8 = 8;
    pub const NAME: u8 = 9;
    pub const POSITION: u8 = 14;
    pub const FULL_EA: u8 = 15;
    pub const MODE: u8 = 16;
    pub const ALIGNMENT: u8 = 17;
    pub const ALTERNATE_NAME: u8 = 21;
    pub const COMPRESSION: u8 = 28;
    pub const ATTRIBUTE_TAG: u8 = 35;
    pub const NORMALIZED_NAME: u8 = 48;
    pub const ID: u8 = 59;
    pub const FS_CONTROL: u8 = 6;
    pub const FS_OBJECT_ID: u8 = 8;
}

/// A response, and whether it may be truncated if the buffer is too short.
struct Information {
    bytes: Vec<u8>,
    /// Bytes that have to fit; the rest is truncated with STATUS_BUFFER_OVERFLOW.
    fixed: usize,
}

impl Information {
    fn fixed(value: &impl Encode) -> Self {
        let bytes = value.to_bytes();
        let fixed = bytes.len();
        Self { bytes, fixed }
    }

    fn plain(bytes: Vec<u8>) -> Self {
        let fixed = bytes.len();
        Self { bytes, fixed }
    }
}

impl Exchange<'_> {
    pub fn query_info(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: Request<'_> = message.body()?;
        let asked = request.output_buffer_length;
        let shared = self.shared;
        let agreed = self.connection.agreed.as_ref();
        let has_normalized = agreed.is_some_and(|agreed| agreed.dialect >= Dialect::SMB_3_1_1);
        let (id, open) = self.open(request.file_id)?;
        if asked > shared.options.transact_max {
            return Err(Status::INVALID_PARAMETER.into());
        }
        let mut information = match request.class {
            InfoClass::File(class) => {
                let open_table = shared.open_table();
                let file = open_table.file(open.number);
                let is_doomed = file.is_some_and(|file| {
                    let mut holders = file.holders.iter();
                    let own = holders.find(|holder| holder.open == id);
                    file.is_delete_pending() || own.is_some_and(|own| own.deletes_on_close)
                });
                let reserved = open_table.reserved(open.number);
                drop(open_table);
                if class == FileInfoClass(class::NORMALIZED_NAME) && !has_normalized {
                    return Err(Status::NOT_SUPPORTED.into());
                }
                let facts = FileMetadata::of(&shared.tree(), open.number)?.reserving(reserved);
                file_information(class, open, &facts, is_doomed)?
            }
            InfoClass::FileSystem(class) => {
                let start = shared.start;
                file_system_information(class, &shared.tree(), file_time(0).max(start))?
            }
            InfoClass::Security(_) => {
                if !open.access.contains(AccessMask::READ_CONTROL) {
                    return Err(Status::ACCESS_DENIED.into());
                }
                let descriptor = security_descriptor(request.additional_information);
                if descriptor.len() > asked as usize {
                    let needed = descriptor.len() as u32;
                    let needed = needed.to_le_bytes().to_vec();
                    return Err(CommandFailure::WithData(Status::BUFFER_TOO_SMALL, needed));
                }
                Information::plain(descriptor)
            }
            InfoClass::Quota(_) => return Err(Status::NOT_SUPPORTED.into()),
        };
        let asked = asked as usize;
        if information.fixed > asked {
            return Err(Status::INFO_LENGTH_MISMATCH.into());
        }
        let is_cut = information.bytes.len() > asked;
        information.bytes.truncate(asked);
        put(
            sink,
            &OutputBuffer {
                data: &information.bytes,
            },
        )?;
        Ok(if is_cut {
            Status::BUFFER_OVERFLOW
        } else {
            Status::SUCCESS
        })
    }
}

fn basic(facts: &FileMetadata) -> FileBasicInformation {
    FileBasicInformation {
        creation_time: facts.creation_time,
        last_access_time: facts.last_access_time,
        last_write_time: facts.last_write_time,
        change_time: facts.change_time,
        file_attributes: facts.attributes,
    }
}

fn standard(facts: &FileMetadata, is_doomed: bool) -> FileStandardInformation {
    FileStandardInformation {
        allocation_size: facts.allocation_size,
        end_of_file: facts.end_of_file,
        number_of_links: facts.links.saturating_sub(u32::from(is_doomed)),
        delete_pending: is_doomed,
        directory: facts.is_directory,
    }
}

fn file_information(
    class: FileInfoClass,
    open: &Open,
    facts: &FileMetadata,
    is_doomed: bool,
) -> Result<Information, Status> {
    let number = |value: u32| Information::plain(value.to_le_bytes().to_vec());
    let needs_attributes = matches!(
        class,
        FileInfoClass::BASIC
            | FileInfoClass::ALL
            | FileInfoClass::NETWORK_OPEN
            | FileInfoClass(class::ATTRIBUTE_TAG)
    );
    if needs_attributes && !open.access.contains(AccessMask::READ_ATTRIBUTES) {
        return Err(Status::ACCESS_DENIED);
    }
    Ok(match class {
        FileInfoClass::BASIC => Information::fixed(&basic(facts)),
        FileInfoClass::STANDARD => Information::fixed(&standard(facts, is_doomed)),
        FileInfoClass::INTERNAL => Information::fixed(&FileInternalInformation {
            index_number: facts.index,
        }),
        FileInfoClass::EA => number(0),
        FileInfoClass(class::FULL_EA) if !open.access.contains(AccessMask::READ_EA) => {
            return Err(Status::ACCESS_DENIED);
        }
        // Linux, and with it `cp -a`, treats any other failure as an I/O error.
        FileInfoClass(class::FULL_EA) => return Err(Status::NO_EAS_ON_FILE),
        FileInfoClass(class::ACCESS) => number(open.access.0),
        FileInfoClass(class::MODE) => number(open.mode),
        FileInfoClass(class::ALIGNMENT) => number(0),
        FileInfoClass(class::POSITION) => Information::plain(open.position.to_le_bytes().into()),
        FileInfoClass(class::COMPRESSION) => {
            let mut bytes = facts.allocation_size.to_le_bytes().to_vec();
            bytes.resize(16, 0);
            Information::plain(bytes)
        }
        FileInfoClass(class::ATTRIBUTE_TAG) => {
            let mut bytes = facts.attributes.to_bytes();
            bytes.resize(8, 0);
            Information::plain(bytes)
        }
        FileInfoClass(class::ID) => {
            let mut bytes = u64::from(VOLUME).to_le_bytes().to_vec();
            bytes.extend_from_slice(&facts.index.to_le_bytes());
            bytes.resize(24, 0);
            Information::plain(bytes)
        }
        FileInfoClass(class::NAME) => named(Vec::new(), &format!("\\{}", open.path)),
        FileInfoClass(class::NORMALIZED_NAME) => named(Vec::new(), &open.path),
        FileInfoClass(class::ALTERNATE_NAME) => named(Vec::new(), &alternate_name(open)?),
        FileInfoClass::ALL => all(facts, open, is_doomed),
        FileInfoClass::NETWORK_OPEN => Information::fixed(&FileNetworkOpenInformation {
            creation_time: facts.creation_time,
            last_access_time: facts.last_access_time,
            last_write_time: facts.last_write_time,
            change_time: facts.change_time,
            allocation_size: facts.allocation_size,
            end_of_file: facts.end_of_file,
            file_attributes: facts.attributes,
        }),
        FileInfoClass::STREAM => stream(facts),
        _ => return Err(Status::INVALID_INFO_CLASS),
    })
}

/// Appends a name and its length.
fn named(mut bytes: Vec<u8>, name: &str) -> Information {
    let text = Text::from(name);
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    // Structures of MS-FSCC are padded to eight bytes, and the padded length has to fit.
    let fixed = bytes.len().next_multiple_of(8);
    text.encode(&mut Writer::new(&mut bytes));
    let fixed = fixed.min(bytes.len());
    Information { bytes, fixed }
}

/// Returns the 8.3 name: the name itself if it has that form.
fn alternate_name(open: &Open) -> Result<String, Status> {
    let name = open.path.rsplit('\\').next().unwrap_or_default();
    if name.is_empty() {
        return Err(Status::OBJECT_NAME_NOT_FOUND);
    }
    Ok(short_name(name).unwrap_or_else(|| name.to_ascii_uppercase()))
}

/// FileAllInformation, section 2.4.2.
fn all(facts: &FileMetadata, open: &Open, is_doomed: bool) -> Information {
    let mut bytes = basic(facts).to_bytes();
    bytes.extend(standard(facts, is_doomed).to_bytes());
    bytes.extend_from_slice(&facts.index.to_le_bytes());
    bytes.extend_from_slice(&0_u32.to_le_bytes());
    bytes.extend_from_slice(&open.access.0.to_le_bytes());
    bytes.extend_from_slice(&open.position.to_le_bytes());
    bytes.extend_from_slice(&open.mode.to_le_bytes());
    bytes.extend_from_slice(&0_u32.to_le_bytes());
    named(bytes, &format!("\\{}", open.path))
}

/// FileStreamInformation, section 2.4.49: the data of a file; empty for a directory.
fn stream(facts: &FileMetadata) -> Information {
    let mut bytes = Vec::new();
    if !facts.is_directory {
        let name = Text::from("::$DATA");
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        bytes.extend_from_slice(&(name.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&facts.end_of_file.to_le_bytes());
        bytes.extend_from_slice(&facts.allocation_size.to_le_bytes());
        name.encode(&mut Writer::new(&mut bytes));
    }
    // The fixed part, padded.
    let fixed = bytes.len().min(32);
    Information { bytes, fixed }
}

fn file_system_information(
    class: FsInfoClass,
    tree: &Tree,
    created: filestone_wire::smb2::FileTime,
) -> Result<Information, Status> {
    let total = tree.memory_limit() / UNIT;
    let free = tree.memory_limit().saturating_sub(tree.memory_used()) / UNIT;
    let (sectors, sector) = (8, 512);
    Ok(match class {
        FsInfoClass::VOLUME => {
            let mut bytes = created.to_bytes();
            bytes.extend_from_slice(&VOLUME.to_le_bytes());
            let label = Text::from("export");
            bytes.extend_from_slice(&(label.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&[0, 0]);
            let fixed = bytes.len().next_multiple_of(8);
            label.encode(&mut Writer::new(&mut bytes));
            Information { bytes, fixed }
        }
        FsInfoClass::SIZE => Information::fixed(&FileFsSizeInformation {
            total_allocation_units: total,
            available_allocation_units: free,
            sectors_per_allocation_unit: sectors,
            bytes_per_sector: sector,
        }),
        FsInfoClass::FULL_SIZE => Information::fixed(&FileFsFullSizeInformation {
            total_allocation_units: total,
            caller_available_allocation_units: free,
            actual_available_allocation_units: free,
            sectors_per_allocation_unit: sectors,
            bytes_per_sector: sector,
        }),
        // FILE_DEVICE_DISK, FILE_DEVICE_IS_MOUNTED.
        FsInfoClass::DEVICE => Information::plain([7_u32, 0x20].map(u32::to_le_bytes).concat()),
        FsInfoClass::ATTRIBUTE => {
            // FILE_CASE_PRESERVED_NAMES, FILE_UNICODE_ON_DISK and FILE_SUPPORTS_SPARSE_FILES.
            let mut bytes = [0x46_u32, 255].map(u32::to_le_bytes).concat();
            bytes.extend_from_slice(&8_u32.to_le_bytes());
            Text::from("NTFS").encode(&mut Writer::new(&mut bytes));
            Information { bytes, fixed: 16 }
        }
        FsInfoClass::SECTOR_SIZE => {
            let fields = [512_u32, 4096, 4096, 4096, 0x3, 0, 0];
            Information::plain(fields.map(u32::to_le_bytes).concat())
        }
        // FileFsControlInformation: no quotas, and no limits by default.
        FsInfoClass(class::FS_CONTROL) => {
            let fields = [0, 0, 0, u64::MAX, u64::MAX, 0].map(u64::to_le_bytes);
            Information::plain(fields.concat())
        }
        FsInfoClass(class::FS_OBJECT_ID) => {
            let mut bytes = VOLUME.to_le_bytes().to_vec();
            bytes.resize(64, 0);
            Information::plain(bytes)
        }
        _ => return Err(Status::INVALID_INFO_CLASS),
    })
}

/// A self-relative SECURITY_DESCRIPTOR (MS-DTYP, section 2.4.6) with all access for Everyone.
fn security_descriptor(asked: u32) -> Vec<u8> {
    const OWNER: u32 = 1;
    const GROUP: u32 = 2;
    const DACL: u32 = 4;
    // S-1-1-0.
    const EVERYONE: [u8; 12] = [1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    const HEAD: usize = 20;
    let mut body = Vec::new();
    let mut place = |is_asked: bool, bytes: &[u8]| {
        let at = HEAD + body.len();
        if !is_asked {
            return 0;
        }
        body.extend_from_slice(bytes);
        at as u32
    };
    let owner = place(asked & OWNER != 0, &EVERYONE);
    let group = place(asked & GROUP != 0, &EVERYONE);
    // An ACL with one ACE: ACCESS_ALLOWED, all rights.
    let mut acl = vec![2, 0, 28, 0, 1, 0, 0, 0, 0, 0, 20, 0, 0xff, 0x01, 0x1f, 0];
    acl.extend_from_slice(&EVERYONE);
    let dacl = place(asked & DACL != 0, &acl);
    // SE_SELF_RELATIVE, and SE_DACL_PRESENT.
    let control: u16 = 0x8000 | if dacl == 0 { 0 } else { 4 };
    let mut descriptor = vec![1, 0];
    descriptor.extend_from_slice(&control.to_le_bytes());
    for offset in [owner, group, 0, dacl] {
        descriptor.extend_from_slice(&offset.to_le_bytes());
    }
    descriptor.extend(body);
    descriptor
}
