//! A client that does one thing at a time and waits for nothing longer than ten seconds.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use filestone_server::{InitialTree, Options, Running, Server};
use filestone_wire::mount::{self, DirPath, MntReply};
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    self, DirOpArgs, Handle, Procedure, Sattr3, Status, create, mkdir, read, remove, write,
};
use filestone_wire::rpc::{CallHeader, Credential, OpaqueAuth, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode, Reader};

const PATIENCE: Duration = Duration::from_secs(10);

pub fn small_tree() -> InitialTree {
    InitialTree {
        file_size: 4 << 20,
        small_file_count: 10,
        small_file_size: 4096,
        ..InitialTree::default()
    }
}

pub fn options() -> Options {
    Options {
        initial_tree: small_tree(),
        ..Options::default()
    }
}

pub fn start() -> Running {
    Server::start(options()).unwrap()
}

pub fn start_with(faults: &[&str]) -> Running {
    Server::start(Options {
        faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
        ..options()
    })
    .unwrap()
}

pub fn call(xid: u32, program: u32, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
    let header = CallHeader {
        xid,
        program,
        version: 3,
        procedure,
        credential: Credential::None,
        verifier: OpaqueAuth::NONE,
    };
    [header.to_bytes(), arguments.to_bytes()].concat()
}

pub fn null(xid: u32) -> Vec<u8> {
    call(xid, nfs3::PROGRAM, 0, &())
}

/// The record that `payload` makes.
pub fn record(payload: &[u8]) -> Vec<u8> {
    let mark = (payload.len() as u32 | 1 << 31).to_be_bytes();
    [&mark, payload].concat()
}

/// The results behind the header of a reply, which must be a success.
pub fn results(reply: &[u8], xid: u32) -> Vec<u8> {
    let mut reader = Reader::new(reply);
    let header = ReplyHeader::decode(&mut reader).unwrap();
    assert_eq!((header.xid, header.body), (xid, ReplyBody::SUCCESS));
    reader.rest().to_vec()
}

pub struct Client {
    pub stream: TcpStream,
    pub xid: u32,
}

impl Client {
    pub fn new(server: &Running) -> Self {
        Self::connect(server.address())
    }

    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream, xid: 1 }
    }

    /// Sends a call; its xid.
    pub fn send(&mut self, program: u32, procedure: u32, arguments: &impl Encode) -> u32 {
        self.xid += 1;
        let call = call(self.xid, program, procedure, arguments);
        self.stream.write_all(&record(&call)).unwrap();
        self.xid
    }

    pub fn send_null(&mut self) -> u32 {
        self.send(nfs3::PROGRAM, 0, &())
    }

    /// The next record, of one fragment.
    pub fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut mark = [0; 4];
        self.stream.read_exact(&mut mark)?;
        let mut reply = vec![0; (u32::from_be_bytes(mark) & 0x7fff_ffff) as usize];
        self.stream.read_exact(&mut reply)?;
        Ok(reply)
    }

    pub fn receive_xid(&mut self) -> u32 {
        u32::from_bytes(&self.receive().unwrap()[..4]).unwrap()
    }

    pub fn nfs3(&mut self, procedure: Procedure, arguments: &impl Encode) -> Vec<u8> {
        let xid = self.send(nfs3::PROGRAM, procedure.number(), arguments);
        results(&self.receive().unwrap(), xid)
    }

    pub fn null(&mut self) {
        assert_eq!(self.nfs3(Procedure::Null, &()), []);
    }

    pub fn mount(&mut self, path: &str) -> Handle {
        let xid = self.send(mount::PROGRAM, 1, &DirPath(path.as_bytes()));
        let results = results(&self.receive().unwrap(), xid);
        MntReply::from_bytes(&results)
            .unwrap()
            .unwrap()
            .fhandle
            .into()
    }

    pub fn create(&mut self, directory: &Handle, name: &str) -> Result<Handle, Status> {
        let arguments = create::Args {
            where_: at(directory, name),
            how: CreateHow::Guarded(Sattr3::default()),
        };
        let results = self.nfs3(Procedure::Create, &arguments);
        match create::Reply::from_bytes(&results).unwrap() {
            Ok(ok) => Ok(ok.obj.unwrap().into()),
            Err(fail) => Err(fail.status),
        }
    }

    pub fn mkdir(&mut self, directory: &Handle, name: &str) -> Handle {
        let arguments = mkdir::Args {
            where_: at(directory, name),
            attributes: Sattr3::default(),
        };
        let results = self.nfs3(Procedure::Mkdir, &arguments);
        let ok = mkdir::Reply::from_bytes(&results).unwrap().unwrap();
        ok.obj.unwrap().into()
    }

    pub fn remove(&mut self, directory: &Handle, name: &str) -> Result<(), Status> {
        let arguments = at(directory, name);
        let results = self.nfs3(Procedure::Remove, &arguments);
        let reply = remove::Reply::from_bytes(&results).unwrap();
        reply.map(|_| ()).map_err(|fail| fail.status)
    }

    #[expect(
        clippy::result_large_err,
        reason = "the reply is as large as the standard has it"
    )]
    pub fn write(&mut self, file: &Handle, offset: u64, data: &[u8]) -> write::Reply {
        let arguments = write::Args {
            file: file.borrow(),
            offset,
            count: data.len() as u32,
            stable: StableHow::FileSync,
            data,
        };
        write::Reply::from_bytes(&self.nfs3(Procedure::Write, &arguments)).unwrap()
    }

    pub fn read(&mut self, file: &Handle, offset: u64, count: u32) -> Result<Vec<u8>, Status> {
        let results = self.nfs3(Procedure::Read, &read_arguments(file, offset, count));
        match read::Reply::from_bytes(&results).unwrap() {
            Ok(ok) => Ok(ok.data.to_vec()),
            Err(fail) => Err(fail.status),
        }
    }
}

pub fn at<'a>(directory: &'a Handle, name: &'a str) -> DirOpArgs<'a> {
    DirOpArgs {
        dir: directory.borrow(),
        name: name.as_bytes(),
    }
}

pub fn read_arguments(file: &Handle, offset: u64, count: u32) -> read::Args<'_> {
    read::Args {
        file: file.borrow(),
        offset,
        count,
    }
}

/// A UDP socket that talks to one address of the server.
pub struct Datagrams(UdpSocket);

impl Datagrams {
    pub fn new(server: SocketAddr) -> Self {
        let any: IpAddr = match server {
            SocketAddr::V4(_) => [127, 0, 0, 1].into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        };
        let socket = UdpSocket::bind((any, 0)).unwrap();
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(socket)
    }

    pub fn send(&self, payload: &[u8]) {
        self.0.send(payload).unwrap();
    }

    pub fn receive(&self) -> Vec<u8> {
        let mut buffer = vec![0; 65_536];
        let count = self.0.recv(&mut buffer).unwrap();
        buffer.truncate(count);
        buffer
    }
}
