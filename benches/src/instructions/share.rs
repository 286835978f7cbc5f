//! A client of a share, in a session without a logon exchange, and its responses.

use super::canned::Reply;
use super::{FILE, SECOND, table};
use filestone_plan::plan::SmbProtection;
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::client::smb2::{
    ChannelPosition, ClientState, ConnectOptions, ConnectionSetup, HandlePolicy, OpenKey,
    OperationOptions, ShareFiles, Smb2Client, Smb2ClientOptions, SmbHandle, operating,
};
use filestone_protocol::session::smb2::{
    AuthMechanism, ChannelSequence, Established, Mechanisms, NegotiatedSummary, Smb2Session,
    SmbTransferLimits,
};
use filestone_wire::pattern;
use filestone_wire::smb2::codec::Encode;
use filestone_wire::smb2::frame::{FRAME_MAX, FrameMark};
use filestone_wire::smb2::{
    Command, Dialect, FileId, Header, HeaderFlags, Route, compound, echo, read,
};
use filestone_workload::language::Operations;
use filestone_workload::operation::OpKind;
use std::ops::Range;
use std::sync::Arc;

/// A client of a share.
pub type Operator = Smb2Client<Operations>;

/// Data of a READ.
pub const READ_LEN: u32 = 64 << 10;
const SESSION: u64 = 1;
const TREE: u32 = 2;
/// Positions of the credits, which are granted as requested, and of MessageId, after the mark of a
/// frame.
const NUMBERS: &[Range<usize>] = &[18..20, 28..36];

/// Returns a client that is connected, logged on, and has the file open.
pub fn client(in_flight: u32) -> Operator {
    let way = Arc::new(ConnectionSetup::new(terms()));
    let state = ClientState::new(Arc::clone(&way));
    let opened = FileId {
        persistent: 3,
        volatile: 4,
    };
    state
        .opens
        .insert(OpenKey::Held(FILE), SmbHandle::plain(opened));
    let mut paths = ServerHandles::default();
    paths.add("file".into());
    let options = OperationOptions {
        files: Arc::new(ShareFiles {
            table: Arc::new(table(READ_LEN)),
            paths,
        }),
        holds_files: true,
        keeping: HandlePolicy::default(),
    };
    let client_options = Smb2ClientOptions {
        way,
        pattern: pattern::table().into(),
        timeout_nanos: 60 * SECOND,
        lane: ChannelPosition::ALONE,
    };
    let session_options = Operator::session_options(in_flight, 60 * SECOND, FRAME_MAX);
    let mut session = Smb2Session::new(session_options);
    session.establish(established());
    let actors = operating(&options, 0..in_flight, &state);
    Smb2Client::over(session, client_options, actors)
}

fn established() -> Established {
    let most = 1 << 20;
    Established {
        session_id: SESSION,
        tree_id: TREE,
        keys: None,
        signs: false,
        encrypts: false,
        large_mtu: true,
        charges: true,
        limits: SmbTransferLimits {
            read: most,
            write: most,
            transact: most,
        },
        agreed: NegotiatedSummary {
            dialect: Dialect::SMB_3_1_1,
            cipher: None,
            signing: None,
            is_guest: true,
            is_anonymous: false,
        },
        session_key: None,
        sequence: ChannelSequence::default(),
    }
}

fn terms() -> ConnectOptions {
    ConnectOptions {
        dialects: ConnectOptions::DIALECTS.to_vec(),
        ciphers: Vec::new(),
        client_guid: [0; 16],
        salt: [0; 32],
        signing: SmbProtection::Off,
        encryption: SmbProtection::Off,
        mechanisms: Arc::new(Nobody),
        share: String::new(),
        server: String::new(),
        channels: 1,
    }
}

/// Authentication mechanisms that must never start.
#[derive(Debug)]
struct Nobody;

impl Mechanisms for Nobody {
    fn start(&self) -> Box<dyn AuthMechanism> {
        unreachable!("the session is there already")
    }
}

/// Returns a response as a frame.
pub fn reply(kind: OpKind) -> Reply {
    let data = vec![0; READ_LEN as usize];
    let bytes = match kind {
        OpKind::Read => {
            let response = read::Response {
                data_remaining: 0,
                flags: 0,
                data: &data,
            };
            frame(Command::Read, &response)
        }
        _ => frame(Command::Echo, &echo::Response::default()),
    };
    Reply {
        bytes,
        taken_over: NUMBERS,
    }
}

fn frame(command: Command, body: &impl Encode) -> Vec<u8> {
    let header = Header {
        credit_charge: 1,
        flags: HeaderFlags::RESPONSE,
        session_id: SESSION,
        route: Route::Sync {
            process_id: 0xfeff,
            tree_id: TREE,
        },
        ..Header::request(command, 0)
    };
    let mut bytes = Vec::new();
    let start = FrameMark::open(&mut bytes);
    compound::append(&mut bytes, &header, body);
    FrameMark::close(&mut bytes, start, 0);
    bytes
}
