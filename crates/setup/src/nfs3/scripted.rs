//! A server for one connection with answers, valid or not, from a test.

use super::calls::NfsConnection;
use crate::driver::{Endpoint, Retry, RpcConnection};
use filestone_host::connect::Dial;
use filestone_plan::plan::{CreateModes, TransportKind};
use filestone_protocol::session::rpc::Credentials;
use filestone_wire::nfs3::{Fattr3, FileType, Nfstime3, Specdata3};
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{AcceptStatus, CallHeader, Gids, OpaqueAuth, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode, Reader, Writer};
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

/// A received call.
pub struct Call {
    /// Transaction identifier.
    pub xid: u32,
    /// Program number.
    pub program: u32,
    /// Procedure number.
    pub procedure: u32,
}

/// Connects to an NFS server that answers with `answer`. The thread returns the procedures called,
/// once the connection is closed.
pub fn nfs(
    answer: impl FnMut(&Call, &mut TcpStream) -> io::Result<()> + Send + 'static,
) -> (NfsConnection, JoinHandle<Vec<u32>>) {
    let (connection, server) = connection(answer);
    (NfsConnection::over(connection), server)
}

/// Connects to a server of any program that answers with `answer`; otherwise like [`nfs`].
pub fn connection(
    answer: impl FnMut(&Call, &mut TcpStream) -> io::Result<()> + Send + 'static,
) -> (RpcConnection, JoinHandle<Vec<u32>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let dial = Dial {
        address: listener.local_addr().expect("it listens"),
        transport: TransportKind::Tcp,
        reserved_port: false,
        source: None,
    };
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("the client connects");
        serve(stream, answer)
    });
    let credentials = Credentials {
        machine_name: "test".into(),
        uid: 0,
        gid: 0,
        gids: Gids::EMPTY,
        stamp: 0,
        modes: CreateModes::OWN,
    };
    let endpoint = Endpoint {
        dial,
        credentials,
        timeout: Duration::from_millis(200),
        retry: Retry::default(),
        has_answered: false,
    };
    let connection = RpcConnection::connect(endpoint, 1 << 20);
    (connection.expect("it is there"), server)
}

/// Serves one connection and returns the procedures called.
pub fn serve(
    mut stream: TcpStream,
    mut answer: impl FnMut(&Call, &mut TcpStream) -> io::Result<()>,
) -> Vec<u32> {
    let mut seen = Vec::new();
    let mut mark = [0; 4];
    while stream.read_exact(&mut mark).is_ok() {
        let mut bytes = vec![0; RecordMark::from_bytes(mark).len as usize];
        stream.read_exact(&mut bytes).expect("a whole call");
        let header = CallHeader::decode(&mut Reader::new(&bytes)).expect("a call");
        let call = Call {
            xid: header.xid,
            program: header.program,
            procedure: header.procedure,
        };
        seen.push(call.procedure);
        if answer(&call, &mut stream).is_err() {
            break;
        }
    }
    seen
}

/// Encodes a successful reply with its record mark.
pub fn reply(xid: u32, results: &[u8]) -> Vec<u8> {
    accepted(xid, AcceptStatus::Success, results)
}

/// Encodes a reply that rejects a call.
pub fn refusal(xid: u32, status: AcceptStatus) -> Vec<u8> {
    accepted(xid, status, &[])
}

fn accepted(xid: u32, status: AcceptStatus, results: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let start = RecordMark::open(&mut out);
    let header = ReplyHeader {
        xid,
        verifier: OpaqueAuth::NONE,
        body: ReplyBody::Accepted(status),
    };
    header.encode(&mut Writer::new(&mut out));
    out.extend_from_slice(results);
    RecordMark::close(&mut out, start, 0);
    out
}

/// Returns attributes with this type and file system; the other values are arbitrary.
pub fn attributes(file_type: FileType, fsid: u64) -> Fattr3 {
    let never = Nfstime3::default();
    Fattr3 {
        file_type,
        mode: 0o755,
        nlink: 2,
        uid: 0,
        gid: 0,
        size: 0,
        used: 0,
        rdev: Specdata3::default(),
        fsid,
        fileid: 1,
        atime: never,
        mtime: never,
        ctime: never,
    }
}
