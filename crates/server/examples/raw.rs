//! How fast the server is by itself: a client of plain sockets that does nothing with the replies.
//!
//! `raw [SECONDS]` prints NULL with 1 and 128 in flight and READ of 4 and 128 KiB with 8.
#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use filestone_server::{Options, Server};
use filestone_wire::mount::{self, DirPath, MntReply};
use filestone_wire::nfs3::{self, Handle, Procedure, read, write};
use filestone_wire::rpc::{CallHeader, Credential, OpaqueAuth, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode, Reader};

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args()
        .nth(1)
        .map_or(Ok(1.0), |text| text.parse())?;
    let time = Duration::from_secs_f64(seconds);
    let discard = std::env::args().nth(2).is_some();
    let server = Server::start(Options {
        discard,
        ..Options::default()
    })?;
    let mut client = TcpStream::connect(server.address())?;
    client.set_nodelay(true)?;
    let file = mount(&mut client, b"/export/file")?;
    let null = record(nfs3::PROGRAM, Procedure::Null.number(), &());
    run(&mut client, "NULL, 1 in flight", &null, 1, time)?;
    run(&mut client, "NULL, 128 in flight", &null, 128, time)?;
    for (name, count) in [
        ("READ 4 KiB, 8 in flight", 4 << 10),
        ("READ 128 KiB, 8 in flight", 128 << 10),
    ] {
        let arguments = read::Args {
            file: file.borrow(),
            offset: 0,
            count,
        };
        let call = record(nfs3::PROGRAM, Procedure::Read.number(), &arguments);
        run(&mut client, name, &call, 8, time)?;
    }
    let data = vec![7; 128 << 10];
    let arguments = write::Args {
        file: file.borrow(),
        offset: 0,
        count: 128 << 10,
        stable: write::StableHow::Unstable,
        data: &data,
    };
    let call = record(nfs3::PROGRAM, Procedure::Write.number(), &arguments);
    run(&mut client, "WRITE 128 KiB, 1 in flight", &call, 1, time)?;
    let arguments = read::Args {
        file: file.borrow(),
        offset: 0,
        count: 128 << 10,
    };
    let call = record(nfs3::PROGRAM, Procedure::Read.number(), &arguments);
    run(
        &mut client,
        "READ 128 KiB written, 8 in flight",
        &call,
        8,
        time,
    )?;
    println!("{:?}", server.stop());
    Ok(())
}

fn record(program: u32, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
    let header = CallHeader {
        xid: 1,
        program,
        version: 3,
        procedure,
        credential: Credential::None,
        verifier: OpaqueAuth::NONE,
    };
    let mut bytes = header.to_bytes();
    bytes.extend(arguments.to_bytes());
    let mark = (bytes.len() as u32 | 1 << 31).to_be_bytes();
    [mark.as_slice(), &bytes].concat()
}

fn receive(client: &mut TcpStream) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut mark = [0; 4];
    client.read_exact(&mut mark)?;
    let mut reply = vec![0; (u32::from_be_bytes(mark) & !(1 << 31)) as usize];
    client.read_exact(&mut reply)?;
    Ok(reply)
}

fn mount(client: &mut TcpStream, path: &[u8]) -> Result<Handle, Box<dyn Error>> {
    let procedure = mount::Procedure::Mnt.number();
    client.write_all(&record(mount::PROGRAM, procedure, &DirPath(path)))?;
    let reply = receive(client)?;
    let mut reader = Reader::new(&reply);
    ReplyHeader::decode(&mut reader)?;
    let reply = MntReply::decode(&mut reader)?.map_err(|fail| fail.status.to_string())?;
    Ok(Handle::from(reply.fhandle))
}

/// Keeps `in_flight` copies of `call` on their way, as replies of one known length come back.
fn run(
    client: &mut TcpStream,
    name: &str,
    call: &[u8],
    in_flight: usize,
    time: Duration,
) -> Result<(), Box<dyn Error>> {
    client.write_all(call)?;
    let reply_len = receive(client)?.len() + 4;
    let calls = call.repeat(in_flight);
    client.write_all(&calls)?;
    let mut buffer = vec![0; 512 << 10];
    let (mut received, mut answered) = (0_u64, 0_u64);
    let start = Instant::now();
    while start.elapsed() < time {
        received += client.read(&mut buffer)? as u64;
        let now = received / reply_len as u64;
        let fresh = (now - answered) as usize;
        answered = now;
        client.write_all(&calls[..fresh * call.len()])?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let mut rest = (answered + in_flight as u64) * reply_len as u64 - received;
    while rest > 0 {
        rest -= client.read(&mut buffer)? as u64;
    }
    println!(
        "{name:36} {:12.0} calls/s {:8.2} GB/s received, {:6.2} GB/s sent",
        answered as f64 / seconds,
        received as f64 / seconds / 1e9,
        answered as f64 * call.len() as f64 / seconds / 1e9,
    );
    Ok(())
}
