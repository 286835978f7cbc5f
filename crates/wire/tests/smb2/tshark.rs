//! What tshark reads in our messages, field by field: the standard's names stand where the
//! standard has them. Where there is no tshark, nothing is tried.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::Command as Process;
use std::{env, fs, process};

use filestone_wire::smb2::codec::{Array, Encode, Text};
use filestone_wire::smb2::compound;
use filestone_wire::smb2::create::{
    self, DurableRequestV2, LeaseV2, RequestContext, ResponseContext,
};
use filestone_wire::smb2::frame::FrameMark;
use filestone_wire::smb2::info::{self, FileInfoClass, FsInfoClass, InfoClass};
use filestone_wire::smb2::ioctl::{self, ControlCode};
use filestone_wire::smb2::lock::{LockElement, LockFlags};
use filestone_wire::smb2::negotiate::{
    Cipher, CompressionAlgorithm, Context, HashAlgorithm, SigningAlgorithm,
};
use filestone_wire::smb2::oplock_break::{
    Acknowledgment, LeaseAcknowledgment, LeaseBreak, Notification, OplockBreak,
};
use filestone_wire::smb2::*;

/// A field as tshark names it, and what it is to say; numbers in either notation.
type Field = (&'static str, &'static str);

struct Case {
    frame: Vec<u8>,
    is_response: bool,
    fields: Vec<Field>,
}

const FILE: FileId = FileId {
    persistent: 0x1112_1314_1516_1718,
    volatile: 0x2122_2324_2526_2728,
};
/// How tshark writes that.
const FILE_SHOWN: &str = "15161718-1314-1112-2827-262524232221";

const TIME: FileTime = FileTime::from_unix(1_700_000_000, 0);
const TIME_SHOWN: &str = "Nov 14, 2023 22:13:20.000000000 UTC";

fn header(command: Command, message_id: u64) -> Header {
    Header {
        credit_charge: 3,
        credits: 33,
        route: Route::Sync {
            process_id: 0xfeff,
            tree_id: 0x4142,
        },
        session_id: 0x5152_5354,
        ..Header::request(command, message_id)
    }
}

fn case(header: Header, body: &impl Encode, fields: &[Field]) -> Case {
    let mut frame = Vec::new();
    compound::append(&mut frame, &header, body);
    Case {
        frame,
        is_response: header.is_response(),
        fields: fields.to_vec(),
    }
}

fn request(command: Command, id: u64, body: &impl Encode, fields: &[Field]) -> Case {
    case(header(command, id), body, fields)
}

fn response(command: Command, id: u64, body: &impl Encode, fields: &[Field]) -> Case {
    let flags = HeaderFlags::RESPONSE;
    case(
        Header {
            flags,
            ..header(command, id)
        },
        body,
        fields,
    )
}

fn connection() -> Vec<Case> {
    let offered = [
        Context::PreauthIntegrity {
            hash_algorithms: Array::from(&[HashAlgorithm::SHA_512]),
            salt: &[0x77; 5],
        },
        Context::Encryption(Array::from(&[Cipher::AES_256_GCM, Cipher::AES_128_CCM])),
        Context::Signing(Array::from(&[SigningAlgorithm::AES_GMAC])),
        Context::Netname(Text::from("bench")),
        Context::Compression {
            flags: 1,
            algorithms: Array::from(&[CompressionAlgorithm::PATTERN_V1]),
        },
    ];
    let dialects = [Dialect::SMB_2_1, Dialect::SMB_3_1_1];
    let negotiate = negotiate::Request {
        security_mode: SecurityMode::SIGNING_REQUIRED,
        capabilities: Capabilities::LARGE_MTU.with(Capabilities::ENCRYPTION),
        client_guid: [0x99; 16],
        dialects: Array::from(&dialects),
        contexts: offered.as_slice().into(),
    };
    let negotiated = negotiate::Response {
        security_mode: SecurityMode::SIGNING_ENABLED,
        dialect: Dialect::SMB_3_1_1,
        server_guid: [0x98; 16],
        capabilities: Capabilities::LEASING,
        max_transact_size: 0x10001,
        max_read_size: 0x10002,
        max_write_size: 0x10003,
        system_time: TIME,
        server_start_time: FileTime::from_unix(1_600_000_000, 0),
        security_buffer: &[],
        contexts: offered[..1].into(),
    };
    let setup = session_setup::Request {
        flags: session_setup::SetupFlags::BINDING,
        security_mode: SecurityMode::SIGNING_ENABLED,
        capabilities: Capabilities::DFS,
        channel: 0,
        previous_session_id: 0x6162_6364_6566_6768,
        security_buffer: b"NTLMSSP\0\x01\0\0\0\x02\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    };
    let set_up = session_setup::Response {
        session_flags: session_setup::SessionFlags::ENCRYPT_DATA,
        security_buffer: &[],
    };
    let tree = tree_connect::Request {
        flags: tree_connect::ConnectFlags::CLUSTER_RECONNECT,
        path: Text::from(r"\\server\share"),
    };
    let connected = tree_connect::Response {
        share_type: tree_connect::ShareType::DISK,
        share_flags: tree_connect::ShareFlags::ENCRYPT_DATA,
        capabilities: tree_connect::ShareCapabilities::SCALEOUT,
        maximal_access: AccessMask::READ_DATA.with(AccessMask::DELETE),
    };
    vec![
        request(
            Command::Negotiate,
            0,
            &negotiate,
            &[
                ("smb2.credit.charge", "3"),
                ("smb2.credits.requested", "33"),
                ("smb2.msg_id", "0"),
                ("smb2.tid", "0x4142"),
                ("smb2.sesid", "0x51525354"),
                ("smb2.sec_mode", "2"),
                ("smb2.capabilities", "0x44"),
                ("smb2.dialect", "0x0210,0x0311"),
                ("smb2.negotiate_context.count", "5"),
                ("smb2.negotiate_context.salt", "7777777777"),
                ("smb2.negotiate_context.hash_algorithm", "1"),
                ("smb2.negotiate_context.cipher_id", "4,1"),
                ("smb2.negotiate_context.signing_id", "2"),
                ("smb2.negotiate_context.netname", "bench"),
                ("smb2.negotiate_context.comp_alg_id", "4"),
                ("smb2.negotiate_context.comp_alg_flags", "1"),
            ],
        ),
        response(
            Command::Negotiate,
            0,
            &negotiated,
            &[
                ("smb2.credits.granted", "33"),
                ("smb2.sec_mode", "1"),
                ("smb2.dialect", "0x0311"),
                ("smb2.capabilities", "2"),
                ("smb2.max_trans_size", "0x10001"),
                ("smb2.max_read_size", "0x10002"),
                ("smb2.max_write_size", "0x10003"),
                ("smb2.current_time", TIME_SHOWN),
                ("smb2.boot_time", "Sep 13, 2020 12:26:40.000000000 UTC"),
                ("smb2.negotiate_context.count", "1"),
            ],
        ),
        request(
            Command::SessionSetup,
            1,
            &setup,
            &[
                ("smb2.ses_req_flags", "1"),
                ("smb2.sec_mode", "1"),
                ("smb2.capabilities", "1"),
                ("smb2.previous_sesid", "0x6162636465666768"),
                ("ntlmssp.messagetype", "1"),
            ],
        ),
        response(
            Command::SessionSetup,
            1,
            &set_up,
            &[("smb2.session_flags", "4")],
        ),
        request(
            Command::TreeConnect,
            2,
            &tree,
            &[("smb2.tc.flags", "1"), ("smb2.tree", r"\\server\share")],
        ),
        response(
            Command::TreeConnect,
            2,
            &connected,
            &[
                ("smb2.share_type", "1"),
                ("smb2.share_flags", "0x8000"),
                ("smb2.share_caps", "0x20"),
                ("smb.access_mask", "0x10001"),
            ],
        ),
        request(
            Command::Echo,
            3,
            &echo::Request::default(),
            &[("smb2.cmd", "13")],
        ),
        response(
            Command::Echo,
            3,
            &echo::Response::default(),
            &[("smb2.cmd", "13")],
        ),
        request(
            Command::Cancel,
            4,
            &cancel::Request::default(),
            &[("smb2.cmd", "12")],
        ),
    ]
}

fn files() -> Vec<Case> {
    let lease = LeaseV2 {
        key: [0xab; 16],
        state: LeaseState::READ_CACHING.with(LeaseState::WRITE_CACHING),
        flags: LeaseFlags::PARENT_LEASE_KEY_SET,
        duration: 0,
        parent_key: [0xcd; 16],
        epoch: 9,
    };
    let durable = DurableRequestV2 {
        timeout: 12_345,
        flags: create::DurableFlags::PERSISTENT,
        create_guid: [0xef; 16],
    };
    let asked = [
        RequestContext::LeaseV2(lease),
        RequestContext::DurableRequestV2(durable),
        RequestContext::MaximalAccess(None),
        RequestContext::QueryOnDiskId,
    ];
    let open = create::Request {
        oplock_level: OplockLevel::LEASE,
        impersonation_level: create::ImpersonationLevel::IMPERSONATION,
        desired_access: AccessMask::READ_DATA.with(AccessMask::WRITE_DATA),
        file_attributes: FileAttributes::HIDDEN,
        share_access: create::ShareAccess::READ.with(create::ShareAccess::DELETE),
        disposition: create::CreateDisposition::OVERWRITE_IF,
        options: create::CreateOptions::NON_DIRECTORY_FILE,
        name: Text::from(r"dir\file"),
        contexts: asked.as_slice().into(),
    };
    let given = [
        ResponseContext::LeaseV2(lease),
        ResponseContext::MaximalAccess {
            query_status: Status::SUCCESS,
            access: AccessMask::EXECUTE,
        },
    ];
    let opened = create::Response {
        oplock_level: OplockLevel::BATCH,
        flags: 0,
        action: create::CreateAction::CREATED,
        creation_time: TIME,
        last_access_time: TIME,
        last_write_time: TIME,
        change_time: TIME,
        allocation_size: 8192,
        end_of_file: 5000,
        file_attributes: FileAttributes::ARCHIVE,
        file_id: FILE,
        contexts: given.as_slice().into(),
    };
    let read = read::Request {
        padding: read::Request::PADDING,
        flags: read::ReadFlags::UNBUFFERED,
        length: 0x12345,
        offset: 0x0001_0002_0003,
        file_id: FILE,
        minimum_count: 7,
        channel: Channel::NONE,
        remaining_bytes: 8,
        channel_info: &[],
    };
    let data = read::Response {
        data_remaining: 0,
        flags: 0,
        data: b"data",
    };
    let write = write::Request {
        offset: 0x0001_0002_0004,
        file_id: FILE,
        channel: Channel::NONE,
        remaining_bytes: 9,
        flags: write::WriteFlags::WRITE_THROUGH,
        channel_info: &[],
        data: b"written",
    };
    let lock = [LockElement {
        offset: 0x100,
        length: 0x200,
        flags: LockFlags::EXCLUSIVE_LOCK.with(LockFlags::FAIL_IMMEDIATELY),
    }];
    let locks = lock::Request {
        lock_sequence: 0,
        file_id: FILE,
        locks: Array::from(&lock),
    };
    let close = close::Request {
        flags: close::CloseFlags::POSTQUERY_ATTRIB,
        file_id: FILE,
    };
    let closed = close::Response {
        flags: close::CloseFlags::POSTQUERY_ATTRIB,
        end_of_file: 6000,
        allocation_size: 8192,
        creation_time: TIME,
        ..close::Response::default()
    };
    vec![
        request(
            Command::Create,
            10,
            &open,
            &[
                ("smb2.create.oplock", "255"),
                ("smb2.impersonation.level", "2"),
                ("smb.access_mask", "3"),
                ("smb2.file_attribute", "2"),
                ("smb.share_access", "5"),
                ("smb2.create.disposition", "5"),
                ("smb2.filename", r"dir\file"),
                ("smb2.tag", "RqLs,DH2Q,MxAc,QFid"),
                (
                    "smb2.lease.lease_key",
                    "abababab-abab-abab-abab-abababababab",
                ),
                ("smb2.lease.lease_state", "5"),
                ("smb2.lease.lease_flags", "4"),
                ("smb2.lease.lease_oplock", "9"),
                ("smb2.dh2x.timeout", "12345"),
                ("smb2.dh2x.flags", "2"),
                (
                    "smb2.dh2x.create_guid",
                    "efefefef-efef-efef-efef-efefefefefef",
                ),
            ],
        ),
        response(
            Command::Create,
            10,
            &opened,
            &[
                ("smb2.create.oplock", "9"),
                ("smb2.create.action", "2"),
                ("smb2.create.time", TIME_SHOWN),
                ("smb2.allocation_size", "8192"),
                ("smb2.eof", "5000"),
                ("smb2.fid", FILE_SHOWN),
                ("smb2.tag", "RqLs,MxAc"),
                ("smb2.mxac_status", "0"),
                ("smb.access_mask", "0x20"),
            ],
        ),
        request(
            Command::Read,
            11,
            &read,
            &[
                ("smb2.read_padding", "0x50"),
                ("smb2.read_flags", "1"),
                ("smb2.read_length", "0x12345"),
                ("smb2.file_offset", "0x100020003"),
                ("smb2.fid", FILE_SHOWN),
                ("smb2.min_count", "7"),
                ("smb2.remaining_bytes", "8"),
            ],
        ),
        response(Command::Read, 11, &data, &[("data.data", "64617461")]),
        request(
            Command::Write,
            12,
            &write,
            &[
                ("smb2.write_length", "7"),
                ("smb2.file_offset", "0x100020004"),
                ("smb2.remaining_bytes", "9"),
                ("smb2.write.flags", "1"),
                ("data.data", "7772697474656e"),
            ],
        ),
        response(
            Command::Write,
            12,
            &write::Response {
                count: 7,
                remaining: 0,
            },
            &[("smb2.write.count", "7")],
        ),
        request(
            Command::Lock,
            13,
            &locks,
            &[
                ("smb2.lock_count", "1"),
                ("smb2.file_offset", "0x100"),
                ("smb2.lock_length", "0x200"),
                ("smb2.lock_flags", "0x12"),
            ],
        ),
        response(Command::Lock, 13, &lock::Response::default(), &[]),
        request(
            Command::Flush,
            14,
            &flush::Request { file_id: FILE },
            &[("smb2.fid", FILE_SHOWN)],
        ),
        response(Command::Flush, 14, &flush::Response::default(), &[]),
        request(
            Command::Close,
            15,
            &close,
            &[("smb2.close.flags", "1"), ("smb2.fid", FILE_SHOWN)],
        ),
        response(
            Command::Close,
            15,
            &closed,
            &[("smb2.eof", "6000"), ("smb2.create.time", TIME_SHOWN)],
        ),
    ]
}

fn breaks() -> Vec<Case> {
    let oplock = OplockBreak {
        level: OplockLevel::II,
        file_id: FILE,
    };
    let lease = LeaseBreak {
        new_epoch: 4,
        flags: LeaseFlags::ACK_REQUIRED,
        lease_key: [0xab; 16],
        current_state: LeaseState(7),
        new_state: LeaseState::READ_CACHING,
        reason: 0,
        access_mask_hint: AccessMask::NONE,
        share_mask_hint: 0,
    };
    let let_go = LeaseAcknowledgment {
        flags: LeaseFlags::NONE,
        lease_key: [0xab; 16],
        state: LeaseState::READ_CACHING,
        duration: 0,
    };
    let command = Command::OplockBreak;
    let key = (
        "smb2.lease.lease_key",
        "abababab-abab-abab-abab-abababababab",
    );
    vec![
        response(
            command,
            UNASKED,
            &Notification::Oplock(oplock),
            &[
                ("smb2.msg_id", "18446744073709551615"),
                ("smb2.create.oplock", "1"),
                ("smb2.fid", FILE_SHOWN),
            ],
        ),
        request(
            command,
            20,
            &Acknowledgment::Oplock(oplock),
            &[("smb2.create.oplock", "1")],
        ),
        response(
            command,
            20,
            &Acknowledgment::Oplock(oplock),
            &[("smb2.create.oplock", "1")],
        ),
        response(
            command,
            UNASKED,
            &Notification::Lease(lease),
            &[
                key,
                ("smb2.lease.lease_flags", "1"),
                ("smb2.lease.lease_state", "7,1"),
            ],
        ),
        request(
            command,
            21,
            &Acknowledgment::Lease(let_go),
            &[key, ("smb2.lease.lease_state", "1")],
        ),
        response(command, 21, &Acknowledgment::Lease(let_go), &[key]),
    ]
}

fn controls() -> Vec<Case> {
    let request_of = |control_code, input| ioctl::Request {
        control_code,
        file_id: FILE,
        max_input_response: 0,
        max_output_response: 0x1234,
        flags: ioctl::Request::IS_FSCTL,
        input,
    };
    let response_of = |control_code, output| ioctl::Response {
        control_code,
        file_id: FILE,
        flags: 0,
        input: &[],
        output,
    };
    let chunk = [ioctl::Chunk {
        source_offset: 0x1111,
        target_offset: 0x2222,
        length: 0x3333,
    }];
    let copy = ioctl::CopychunkCopy {
        source_key: [0x55; 24],
        chunks: Array::from(&chunk),
    };
    let copied = ioctl::CopychunkResponse {
        chunks_written: 1,
        chunk_bytes_written: 0,
        total_bytes_written: 0x3333,
    };
    let interface = ioctl::NetworkInterface {
        index: 5,
        capability: ioctl::InterfaceCapability::RSS,
        link_speed: 25_000_000_000,
        address: ioctl::InterfaceAddress::Ip(IpAddr::V4(Ipv4Addr::new(10, 1, 2, 3))),
    };
    let mut interfaces = Vec::new();
    ioctl::encode_interfaces(&[interface], &mut codec::Writer::new(&mut interfaces));
    let dialects = [Dialect::SMB_3_0];
    let validate = ioctl::ValidateNegotiateRequest {
        capabilities: Capabilities::LARGE_MTU,
        guid: [0x99; 16],
        security_mode: SecurityMode::SIGNING_REQUIRED,
        dialects: Array::from(&dialects),
    };
    let command = Command::Ioctl;
    vec![
        request(
            command,
            30,
            &request_of(ControlCode::SRV_COPYCHUNK, &copy.to_bytes()),
            &[
                ("smb2.ioctl.function", "0x1440f2"),
                ("smb2.max_ioctl_out_size", "0x1234"),
                ("smb2.ioctl.is_fsctl", "1"),
                ("smb2.fsctl.cchunk.count", "1"),
                ("smb2.fsctl.cchunk.src_offset", "0x1111"),
                ("smb2.fsctl.cchunk.dst_offset", "0x2222"),
                ("smb2.fsctl.cchunk.xfer_len", "0x3333"),
            ],
        ),
        response(
            command,
            30,
            &response_of(ControlCode::SRV_COPYCHUNK, &copied.to_bytes()),
            &[
                ("smb2.fsctl.cchunk.chunks_written", "1"),
                ("smb2.fsctl.cchunk.total_written", "0x3333"),
            ],
        ),
        request(
            command,
            31,
            &request_of(ControlCode::QUERY_NETWORK_INTERFACE_INFO, &[]),
            &[],
        ),
        response(
            command,
            31,
            &response_of(ControlCode::QUERY_NETWORK_INTERFACE_INFO, &interfaces),
            &[
                ("smb2.ioctl.network_interfaces.index", "5"),
                ("smb2.ioctl.network_interfaces.capabilities", "1"),
                ("smb2.ioctl.network_interfaces.link_speed", "25000000000"),
                ("smb2.windows.sockaddr.in.addr", "10.1.2.3"),
            ],
        ),
        request(
            command,
            32,
            &request_of(ControlCode::VALIDATE_NEGOTIATE_INFO, &validate.to_bytes()),
            &[
                ("smb2.capabilities", "4"),
                ("smb2.sec_mode", "2"),
                ("smb2.dialect", "0x0300"),
            ],
        ),
    ]
}

fn information() -> Vec<Case> {
    let query = |class| query_info::Request {
        class,
        output_buffer_length: 0x1234,
        additional_information: 0,
        flags: 0,
        file_id: FILE,
        input: &[],
    };
    let set = |class, buffer| set_info::Request {
        class: InfoClass::File(class),
        additional_information: 0,
        file_id: FILE,
        buffer,
    };
    let basic = info::FileBasicInformation {
        creation_time: TIME,
        file_attributes: FileAttributes::READONLY,
        ..info::FileBasicInformation::default()
    };
    let standard = info::FileStandardInformation {
        allocation_size: 4096,
        end_of_file: 77,
        number_of_links: 2,
        delete_pending: false,
        directory: true,
    };
    let rename = info::FileRenameInformation {
        replace_if_exists: true,
        name: Text::from(r"new\name"),
    };
    let end_of_file = info::FileEndOfFileInformation { end_of_file: 1234 };
    let disposition = info::FileDispositionInformation {
        delete_pending: true,
    };
    let size = info::FileFsFullSizeInformation {
        total_allocation_units: 1000,
        caller_available_allocation_units: 900,
        actual_available_allocation_units: 950,
        sectors_per_allocation_unit: 8,
        bytes_per_sector: 512,
    };
    let (queried, changed) = (Command::QueryInfo, Command::SetInfo);
    let file = |class| query(InfoClass::File(class));
    vec![
        request(
            queried,
            40,
            &file(FileInfoClass::BASIC),
            &[
                ("smb2.class", "1"),
                ("smb2.file_info.infolevel", "4"),
                ("smb2.max_response_size", "0x1234"),
            ],
        ),
        response(
            queried,
            40,
            &OutputBuffer {
                data: &basic.to_bytes(),
            },
            &[
                ("smb2.create.time", TIME_SHOWN),
                ("smb2.file_attribute", "1"),
            ],
        ),
        request(
            queried,
            41,
            &file(FileInfoClass::STANDARD),
            &[("smb2.file_info.infolevel", "5")],
        ),
        response(
            queried,
            41,
            &OutputBuffer {
                data: &standard.to_bytes(),
            },
            &[
                ("smb.alloc_size64", "4096"),
                ("smb.end_of_file", "77"),
                ("smb.link_count", "2"),
                ("smb.delete_pending", "0"),
                ("smb.is_directory", "1"),
            ],
        ),
        request(
            queried,
            42,
            &query(InfoClass::FileSystem(FsInfoClass::FULL_SIZE)),
            &[("smb2.class", "2"), ("smb2.fs_info.infolevel", "7")],
        ),
        response(
            queried,
            42,
            &OutputBuffer {
                data: &size.to_bytes(),
            },
            &[("smb.caller_free_alloc_units", "900")],
        ),
        request(
            changed,
            43,
            &set(FileInfoClass::RENAME, &rename.to_bytes()),
            &[
                ("smb2.file_info.infolevel", "10"),
                ("smb2.rename.replace_if", "1"),
                ("smb2.filename", r"new\name"),
            ],
        ),
        response(changed, 43, &set_info::Response, &[]),
        request(
            changed,
            44,
            &set(FileInfoClass::END_OF_FILE, &end_of_file.to_bytes()),
            &[("smb.end_of_file", "1234")],
        ),
        request(
            changed,
            45,
            &set(FileInfoClass::DISPOSITION, &disposition.to_bytes()),
            &[("smb2.disposition.delete_on_close", "1")],
        ),
    ]
}

fn directories() -> Vec<Case> {
    let class = info::DirectoryClass::IdBothDirectory;
    let list = query_directory::Request {
        class: class.number(),
        flags: query_directory::QueryDirectoryFlags::RESTART_SCANS,
        file_index: 0x0a0b,
        file_id: FILE,
        output_buffer_length: 0x10000,
        pattern: Text::from("*.dat"),
    };
    let entry = |name| info::Entry {
        file_index: 0,
        creation_time: TIME,
        last_access_time: TIME,
        last_write_time: TIME,
        change_time: TIME,
        end_of_file: 55,
        allocation_size: 4096,
        file_attributes: FileAttributes::ARCHIVE,
        ea_size: 6,
        short_name: info::ShortName::default(),
        file_id: 0x0102_0304,
        name: Text::from(name),
    };
    let mut entries = Vec::new();
    let mut writer = info::DirectoryWriter::new(&mut entries, class, 0x10000);
    assert!(writer.append(&entry("one")) && writer.append(&entry("two")));

    let watch = change_notify::Request {
        flags: change_notify::NotifyFlags::WATCH_TREE,
        output_buffer_length: 0x2000,
        file_id: FILE,
        completion_filter: change_notify::CompletionFilter::SIZE,
    };
    let change = |action, name| change_notify::Change {
        action,
        name: Text::from(name),
    };
    let seen = [
        change(change_notify::Action::RENAMED_OLD_NAME, "old"),
        change(change_notify::Action::RENAMED_NEW_NAME, "new"),
    ];
    let mut changes = Vec::new();
    change_notify::encode_changes(seen, &mut codec::Writer::new(&mut changes));
    let (listed, watched) = (Command::QueryDirectory, Command::ChangeNotify);
    vec![
        request(
            listed,
            50,
            &list,
            &[
                ("smb2.find.infolevel", "37"),
                ("smb2.find.flags", "1"),
                ("smb2.file_index", "0x0a0b"),
                ("smb2.output_buffer_len", "0x10000"),
                ("smb2.find.pattern", "*.dat"),
            ],
        ),
        response(
            listed,
            50,
            &OutputBuffer { data: &entries },
            &[
                ("smb2.filename", "one,two"),
                ("smb2.eof", "55,55"),
                ("smb2.ea_size", "6,6"),
                ("smb2.file_id", "0x01020304,0x01020304"),
            ],
        ),
        request(
            watched,
            51,
            &watch,
            &[
                ("smb2.notify.flags", "1"),
                ("smb2.output_buffer_len", "0x2000"),
            ],
        ),
        response(
            watched,
            51,
            &OutputBuffer { data: &changes },
            &[("smb2.notify.action", "4,5"), ("smb2.filename", "old,new")],
        ),
    ]
}

/// A capture of the frames on one connection, as pcap of raw IP.
fn capture(cases: &[Case]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 0x10_0000, 101_u32] {
        file.extend(word.to_le_bytes());
    }
    let mut sent = [1_u32; 2];
    for case in cases {
        let mut payload = Vec::new();
        let start = FrameMark::open(&mut payload);
        payload.extend(&case.frame);
        FrameMark::close(&mut payload, start, 0);
        let side = usize::from(case.is_response);
        let packet = packet(side, sent, &payload);
        sent[side] += payload.len() as u32;
        for word in [1, 0, packet.len() as u32, packet.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(packet);
    }
    file
}

/// A segment of TCP from the client (0) or the server (1).
fn packet(side: usize, sent: [u32; 2], payload: &[u8]) -> Vec<u8> {
    let (ports, hosts) = ([50_000_u16, 445], [1_u8, 2]);
    let mut packet = vec![0x45, 0];
    packet.extend((40 + payload.len() as u16).to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, 6, 0, 0]);
    packet.extend([10, 0, 0, hosts[side], 10, 0, 0, hosts[1 - side]]);
    packet.extend(ports[side].to_be_bytes());
    packet.extend(ports[1 - side].to_be_bytes());
    packet.extend(sent[side].to_be_bytes());
    packet.extend(sent[1 - side].to_be_bytes());
    packet.extend([0x50, 0x18, 0x40, 0, 0, 0, 0, 0]);
    packet.extend(payload);
    packet
}

/// What tshark says of these fields, a line for each frame.
fn dissect(path: &PathBuf, fields: &[&str]) -> Vec<Vec<String>> {
    let mut tshark = Process::new("tshark");
    tshark.arg("-r").arg(path);
    tshark.args(["-Tfields", "-Eseparator=/t", "-Eaggregator=,"]);
    for field in fields {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().expect("tshark starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().map(line).collect()
}

/// A list of numbers in one notation; of anything else, the text as it is.
fn plain(text: &str) -> String {
    let number = |word: &str| {
        let hex = word
            .strip_prefix("0x")
            .map(|hex| u64::from_str_radix(hex, 16));
        hex.unwrap_or_else(|| word.parse())
            .map_or_else(|_| word.to_owned(), |number| number.to_string())
    };
    text.split(',').map(number).collect::<Vec<_>>().join(",")
}

#[test]
fn tshark_reads_our_messages_as_they_are_meant() {
    if Process::new("tshark").arg("--version").output().is_err() {
        return;
    }
    let parts = [
        connection(),
        files(),
        breaks(),
        controls(),
        information(),
        directories(),
    ];
    let cases: Vec<Case> = parts.into_iter().flatten().collect();
    let path = env::temp_dir().join(format!("filestone-smb2-{}.pcap", process::id()));
    fs::write(&path, capture(&cases)).unwrap();
    let faults = ["_ws.malformed", "_ws.expert.message"].map(|name| (name, ""));
    let all = cases.iter().flat_map(|case| &case.fields).chain(&faults);
    let names: Vec<&str> = BTreeSet::from_iter(all.map(|(name, _)| *name))
        .into_iter()
        .collect();
    let dissected = dissect(&path, &names);
    assert_eq!(dissected.len(), cases.len());
    let mut wrong = Vec::new();
    for (number, (case, shown)) in (1..).zip(cases.iter().zip(&dissected)) {
        for (name, expected) in case.fields.iter().chain(&faults) {
            let shown = &shown[names.iter().position(|other| other == name).unwrap()];
            if plain(shown) != plain(expected) {
                wrong.push(format!("frame {number}: {name} is {shown}, not {expected}"));
            }
        }
    }
    fs::remove_file(&path).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
