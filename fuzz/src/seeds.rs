//! Writes the seeds of every fuzz target into `corpus/`, from the list of all
//! messages: `cargo run --example seeds` in this folder.

use std::path::{Path, PathBuf};
use std::{fs, io};

use filestone_fuzz::conversation::{READ_REPLY, REPLY};
use filestone_fuzz::list::{Kind, Message, messages};
use filestone_fuzz::smb2_again::INFORMATION;
use filestone_fuzz::{mount, nfs3_call, nfs3_reply, nlm, portmap, smb2_conversation};
use filestone_wire::nfs3;
use filestone_wire::record::RecordMark;

/// A load file of every generation.
const LOADS: &[&str] = &[
    "SMBopenX REQUEST Size 0 Path \\A\nSMBopenX REPLY Handle 1 Size 9\nSMBwrite REQUEST Handle 1 ByteCount 1 Offset 7\nCREATE REQUEST Path \\B Size 5\n",
    "NTCreateX \\clients\\client1\\a 0x40 0x2 12\nWriteX 12 0 10 10\nFIND_FIRST \\clients\\client1\\FILLER\"*\nClose 12\n",
    "0.5 NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 7 NT_STATUS_OK\nLOOP 3\nREPEAT 2\nReadX 7 *%0x1000/512 100 99 *\nSLEEP 10\nENDLOOP\nClose 7 0x0\n",
    "RANDOMSTRING 1 \"/test[0123].file\"\nWRITEPATTERN abc\nCREATE3 $1 *\nWRITE3 $1 +child +num_children 2 0x0\nSETSP 1\nWAITSP 0 1\nSYMLINK3 \"/clients/client1/s\" \"$1\" 0x11\n",
    "MKDIR \"/client1\" *\nOPEN \"/client1/a\" 0x2c SUCCESS\nRANDOMSTRING 1 \"/f[01]\"\nOPEN $1 0x0c ERROR\nREPEAT 2\nWRITE \"/client1/a\" +4096 100000 SUCCESS\nREAD \"/client1/a\" *%0x1000 +1 ERROR\n0.5 CLOSE \"/client1/a\" *\nREADDIR \"/\" *\nDeltree \"/\" *\n",
];

/// A mix file of every form.
const MIXES: &[&str] = &[
    "Server nfs:\ncalls badcalls\n9 0\nnull getattr setattr root lookup readlink read\n0 0% 1 13% 2 1% 0 0% 3 34% 0 0% 4 22%\nwrcache write create remove rename link symlink\n0 0% 5 15% 0 2% 0 1% 0 0% 0 0% 0 0%\nmkdir rmdir readdir fsstat\n0 0% 0 0% 6 3% 7 1%\n",
    "Server rpc stats:\ncalls badcalls\n9 0\n\nClient nfs v4:\nnull read write commit open\n4 0% 123456789100% 5 1% 6 0% 7 0%\n\nServer nfs v4:\nnull compound\n1 0% 2 0%\n\nServer nfs v4 operations:\nop0-unused access putfh\n0 0% 8 9% 9 9%\n",
    "nfs v3 server total: 100\n------------- ------------- --------\nnfs v3 server getattr: 90\nnfs v3 server read: 10\n",
    "Server NFSv3:\ncalls badcalls\n3 0\nVersion 2: (3 calls)\nnull getattr setattr root lookup readlink read\n0 0% 1 0% 0 0% 0 0% 0 0% 0 0% 0 0%\nwrcache write create remove rename link symlink\n0 0% 1 0% 0 0% 0 0% 0 0% 0 0% 0 0%\nmkdir rmdir readdir statfs\n0 0% 0 0% 0 0% 1 0%\n",
    "Client Info:\nRpc Counts:\n Getattr Setattr Lookup Readlink Read Write Create Remove\n 1 2 3 4 5 6 7 8\n Rename Link Symlink Mkdir Rmdir Readdir RdirPlus Access\n 1 2 3 4 5 6 7 8\n Mknod Fsstat Fsinfo PathConf Commit\n 1 2 3 4 5\nRpc Info:\n TimedOut X Replies\n 0 0\n",
    "net 0 0 0 0\nrpc 9 0 0\nproc3 22 0 1 2 3 4 5 6 7 8 9 0 0 0 0 0 0 0 0 0 0 0 0\nproc4 5 0 1 2 3 4\n",
    "rc 0 0 0\nproc4 2 1 2\nproc4ops 10 0 0 0 5 6 7 8 9 10 11\n",
    "device /dev/sda1 mounted on / with fstype ext4\ndevice s:/a mounted on /a\\040b with fstype nfs statvers=1.1\n\topts:\trw,vers=3\n\tper-op statistics\n\tGETATTR: 1 1 0 1 1 0 1 1\n\tREAD: 2 2 0 1 1 0 1 1 0\n",
    "# ours\n[mix]\nname = \"a # b\"\nread = 1_8.5\nwrite: 2 # two\nroot 0\n",
    "read 22.5%\nlookup 77.5 %\n",
];

/// A gate of every form.
const GATES: &[&str] = &[
    "read.response_time.p99 > 2ms",
    "achieved < 0.98 * offered",
    "caveats",
    "(errors + skipped) / scheduled >= 0.1 %",
    "goodput / achieved != 4 KiB",
    "achieved <= 24.9k/s - 100 operations/s",
];

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (number, load) in LOADS.iter().enumerate() {
        write(&corpus, "load_file", number, load.as_bytes())?;
    }
    for (number, mix) in MIXES.iter().enumerate() {
        write(&corpus, "mix_file", number, mix.as_bytes())?;
    }
    for (number, gate) in GATES.iter().enumerate() {
        write(&corpus, "gate", number, gate.as_bytes())?;
    }
    for (number, message) in messages().iter().enumerate() {
        write(&corpus, "record", number, &record(message, number))?;
        if let Some(seed) = conversation(message, number) {
            write(&corpus, "nfs3_client", number, &seed)?;
        }
        let (target, seed) = seed(message);
        write(&corpus, target, number, &seed)?;
    }
    smb2(&corpus)?;
    for (number, seed) in smb2_conversation::seeds().iter().enumerate() {
        write(&corpus, "smb2_server", number, seed)?;
    }
    for (number, lengths) in EXCHANGES.iter().enumerate() {
        write(&corpus, "tbench", number, &requests(lengths, number))?;
    }
    Ok(())
}

/// Frames and buffers of real clients and servers, and the tokens in the frames.
fn smb2(corpus: &Path) -> io::Result<()> {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/wire/tests/vectors");
    for (file, first) in [("samba-smb2.hex", 0), ("windows-smb2.hex", 500)] {
        let text = fs::read_to_string(vectors.join(file))?;
        for (number, line) in (first..).zip(text.lines().skip(1)) {
            let frame = hex(line);
            write(corpus, "smb2_frame", number, &frame)?;
            let protected = [&[number as u8, 0, number as u8], &frame[..]].concat();
            write(corpus, "smb2_protected", number, &protected)?;
            for at in tokens(&frame) {
                write(corpus, "spnego", number, &frame[at..])?;
            }
            let ntlm = frame.windows(8).position(|bytes| bytes == b"NTLMSSP\0");
            if let Some(at) = ntlm {
                write(corpus, "ntlm", number, &frame[at..])?;
            }
        }
    }
    let text = fs::read_to_string(vectors.join("samba-fscc.hex"))?;
    for (number, line) in text.lines().skip(1).enumerate() {
        let name = |name: &&str| line.split(' ').next() == Some(name);
        let selector = INFORMATION.iter().position(|known| name(&known));
        let selector = selector.expect("a structure that is known") as u8;
        let seed = [&[selector], &hex(line)[..]].concat();
        write(corpus, "smb2_information", number, &seed)?;
    }
    Ok(())
}

/// The bytes at the end of a line.
fn hex(line: &str) -> Vec<u8> {
    let hex = line.rsplit(' ').next().unwrap_or_default();
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// Where a token of SPNEGO may begin: behind the fixed fields of a SESSION_SETUP or a NEGOTIATE.
fn tokens(frame: &[u8]) -> impl Iterator<Item = usize> {
    let is_token = |at: &usize| matches!(frame.get(*at), Some(0x60 | 0xa1));
    [72, 88, 128].into_iter().filter(is_token)
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
