//! Writes the seeds of every fuzz target into `corpus/`, from the list of all
//! messages: `cargo run --example seeds` in this folder.

use std::path::{Path, PathBuf};
use std::{fs, io};

use filestone_fuzz::conversation::{READ_REPLY, REPLY};
use filestone_fuzz::list::{Kind, Message, messages};
use filestone_fuzz::{mount, nlm, nfs3_call, nfs3_reply, portmap};
use filestone_wire::nfs3;
use filestone_wire::record::RecordMark;

/// A load file of every generation.
const LOADS: &[&str] = &[
    "SMBopenX REQUEST Size 0 Path \\A\nSMBopenX REPLY Handle 1 Size 9\nSMBwrite REQUEST Handle 1 ByteCount 1 Offset 7\nCREATE REQUEST Path \\B Size 5\n",
    "NTCreateX \\clients\\client1\\a 0x40 0x2 12\nWriteX 12 0 10 10\nFIND_FIRST \\clients\\client1\\FILLER\"*\nClose 12\n",
    "0.5 NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 7 NT_STATUS_OK\nLOOP 3\nREPEAT 2\nReadX 7 *%0x1000/512 100 99 *\nSLEEP 10\nENDLOOP\nClose 7 0x0\n",
    "RANDOMSTRING 1 \"/test[0123].file\"\nWRITEPATTERN abc\nCREATE3 $1 *\nWRITE3 $1 +child +num_children 2 0x0\nSETSP 1\nWAITSP 0 1\nSYMLINK3 \"/clients/client1/s\" \"$1\" 0x11\n",
];

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (number, load) in LOADS.iter().enumerate() {
        write(&corpus, "load_file", number, load.as_bytes())?;
    }
    for (number, message) in messages().iter().enumerate() {
        write(&corpus, "record", number, &record(message, number))?;
        if let Some(seed) = conversation(message, number) {
            write(&corpus, "nfs3_client", number, &seed)?;
        }
        let (target, seed) = seed(message);
        write(&corpus, target, number, &seed)?;
    }
    for (number, lengths) in EXCHANGES.iter().enumerate() {
        write(&corpus, "tbench", number, &requests(lengths, number))?;
    }
    Ok(())
}

fn write(corpus: &Path, target: &str, number: usize, seed: &[u8]) -> io::Result<()> {
    let folder: PathBuf = corpus.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("message-{number:03}")), seed)
}

/// Lengths of requests and replies that follow each other on one connection.
const EXCHANGES: [&[(u32, u32)]; 4] = [
    &[(8, 8)],
    &[(8, 8), (94, 87), (300, 55), (47, 39)],
    &[(59, 4155), (59, u32::MAX)],
    &[(7, 8), (8, 8)],
];

/// A stream of requests, to be read in steps.
fn requests(lengths: &[(u32, u32)], number: usize) -> Vec<u8> {
    let mut stream = vec![5 * number as u8, 40];
    for (request_len, reply_len) in lengths {
        let end = stream.len() + *request_len as usize;
        stream.extend((request_len - 4).to_be_bytes());
        stream.extend((reply_len - 4).to_be_bytes());
        stream.resize(end, 0xee);
    }
    stream
}

/// A conversation with a client of 22 slots in which this is the reply.
fn conversation(message: &Message, number: usize) -> Option<Vec<u8>> {
    let Kind::Nfs3Reply(procedure) = message.kind else {
        return None;
    };
    let (flags, slots) = (number as u8 % 8, 21);
    let pieces = (number as u8 / 8 % 8) << 3;
    let slot = procedure.number() as u8;
    let len = (message.bytes.len() as u16).to_be_bytes();
    let reply = [&[REPLY | pieces, slot], &len[..], &message.bytes].concat();
    let read = [READ_REPLY | pieces, nfs3::Procedure::Read.number() as u8];
    Some([&[flags, slots][..], &reply, &read, &reply].concat())
}

/// The target a message is for, and the input that makes the target read it.
fn seed(message: &Message) -> (&'static str, Vec<u8>) {
    let (target, kind): (_, fn(u8) -> Kind) = match message.kind {
        Kind::CallHeader => return ("rpc_call", message.bytes.clone()),
        Kind::ReplyHeader => return ("rpc_reply", message.bytes.clone()),
        Kind::Nfs3Args(_) => ("nfs3_call", nfs3_call),
        Kind::Nfs3Reply(_) => ("nfs3_reply", nfs3_reply),
        Kind::MountArgs(_) | Kind::MountReply(_) => ("mount", mount),
        Kind::NlmArgs(_) | Kind::NlmReply(_) => ("nlm", nlm),
        Kind::PortmapArgs(_)
        | Kind::PortmapReply(_)
        | Kind::RpcbindArgs(_)
        | Kind::RpcbindReply(_) => ("portmap", portmap),
    };
    let selector = (0..=u8::MAX)
        .find(|selector| kind(*selector) == message.kind)
        .expect("some selector stands for every kind");
    (target, [&[selector], message.bytes.as_slice()].concat())
}

/// The message as a record of one or two fragments, to be read in steps.
fn record(message: &Message, number: usize) -> Vec<u8> {
    let (front, back) = message
        .bytes
        .split_at(message.bytes.len() / 2 * (number % 2));
    let mut stream = vec![(number % 23) as u8];
    for (last, data) in [(false, front), (true, back)] {
        stream.extend(
            RecordMark {
                last,
                len: data.len() as u32,
            }
            .to_bytes(),
        );
        stream.extend(data);
    }
    stream
}
