//! The minimum that a program must do to exchange these bytes over one socket.
//!
//! filestone is compared with this client, which has no clock per operation, no histogram, and no
//! check of a reply except for its length. It is not handicapped: buffers are reused, calls are
//! encoded before the start, with several in flight one `recv` reads all replies that have arrived
//! and one `send` answers them, and it polls for replies before it sleeps, as filestone does.

use crate::smb_exchange::{self, MESSAGE_ID_AT};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use filestone_interop::exchange::{self, Procedure};
use filestone_interop::times;
use filestone_wire::nfs3::{self, getattr, read};
use filestone_wire::smb2::codec::Decode as _;
use filestone_wire::smb2::{Header, Status};
use filestone_wire::xdr::Decode;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

/// File of the export that the built-in server has.
const FILE: &str = "file";
/// Largest number of bytes that one recv takes, but room for one whole reply: larger buffers leave
/// the processor's cache and are slower.
const BUFFER: usize = 64 << 10;
/// Number of turns between two readings of the clock.
const TURNS_PER_LOOK: u32 = 16;

/// The measured operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Asked {
    /// NFSPROC3_NULL.
    Null,
    /// NFSPROC3_GETATTR of the file.
    Getattr,
    /// NFSPROC3_READ through the file, from the start again at its end.
    Read,
    /// ECHO of SMB2.
    SmbEcho,
    /// READ of SMB2 through the file, from the start again at its end.
    SmbRead,
}

/// Polling time before sleeping, as in filestone.
const LOOK: Duration = Duration::from_micros(100);

/// Options of `cargo xtask raw-client`.
#[derive(Debug, Clone, Args)]
pub struct RawClient {
    /// The measured operation
    #[arg(value_enum)]
    pub asked: Asked,
    /// Port of a server that answers both NFS and MOUNT, on the loopback interface
    #[arg(long)]
    pub port: u16,
    /// Calls in flight
    #[arg(long, default_value_t = 1)]
    pub in_flight: usize,
    /// Bytes per READ
    #[arg(long, default_value_t = 128 << 10)]
    pub len: u32,
    /// Length of the measured window in seconds
    #[arg(long, default_value_t = 2.0)]
    pub seconds: f64,
    /// Length of the warm-up before it in seconds
    #[arg(long, default_value_t = 0.2)]
    pub warm_up: f64,
}

/// Result of a run, printed as one line of JSON.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct RawResult {
    pub ops_per_s: f64,
    pub data_bytes_per_s: f64,
    pub cpu_ns_per_op: f64,
    pub call_len: usize,
    pub reply_len: usize,
}

/// Calls encoded before the start, with the first `in_flight` of them repeated at the end, so that
/// any run of that many calls is contiguous.
struct Calls {
    bytes: Vec<u8>,
    call_len: usize,
    count: usize,
    next: usize,
    /// Message ID of the next call, for SMB.
    next_id: Option<u64>,
}

impl Calls {
    fn new(calls: &[Vec<u8>], in_flight: usize) -> Self {
        let repeated = calls.iter().cycle().take(calls.len() + in_flight);
        Self {
            bytes: repeated.flatten().copied().collect(),
            call_len: calls[0].len(),
            count: calls.len(),
            next: 0,
            next_id: None,
        }
    }

    /// Returns the next `n` calls; `n` is at most `in_flight`.
    fn take(&mut self, n: usize) -> &[u8] {
        let start = self.next * self.call_len;
        self.next = (self.next + n) % self.count;
        let taken = &mut self.bytes[start..start + n * self.call_len];
        if let Some(next_id) = &mut self.next_id {
            for call in taken.chunks_exact_mut(self.call_len) {
                call[MESSAGE_ID_AT..][..8].copy_from_slice(&next_id.to_le_bytes());
                *next_id += 1;
            }
        }
        taken
    }
}

/// A connection with its prepared calls and buffers.
struct Prepared {
    stream: TcpStream,
    calls: Calls,
    reply_len: usize,
    data_len: u32,
    in_flight: usize,
    buffer: Vec<u8>,
    /// Time spent polling without a reply.
    spun: Duration,
}

/// Counts of one window.
struct Counts {
    replies: u64,
    elapsed: Duration,
    cpu: Duration,
}

/// Measures and prints the result as JSON.
pub fn run(options: &RawClient) -> Result<bool> {
    println!("{}", serde_json::to_string(&measure(options)?)?);
    Ok(true)
}

/// Warms up, then measures.
pub fn measure(options: &RawClient) -> Result<RawResult> {
    let mut prepared = prepare(options)?;
    let turn = if options.in_flight == 1 {
        Prepared::ping_pong
    } else {
        Prepared::pipeline
    };
    prepared.start()?;
    turn(&mut prepared, Duration::from_secs_f64(options.warm_up))?;
    let counts = turn(&mut prepared, Duration::from_secs_f64(options.seconds))?;
    let replies = counts.replies as f64;
    Ok(RawResult {
        ops_per_s: replies / counts.elapsed.as_secs_f64(),
        data_bytes_per_s: replies * f64::from(prepared.data_len) / counts.elapsed.as_secs_f64(),
        cpu_ns_per_op: counts.cpu.as_nanos() as f64 / replies,
        call_len: prepared.calls.call_len,
        reply_len: prepared.reply_len,
    })
}

fn prepare(options: &RawClient) -> Result<Prepared> {
    let address = (Ipv4Addr::LOCALHOST, options.port);
    let mut stream = TcpStream::connect(address)
        .with_context(|| format!("127.0.0.1:{} does not answer", options.port))?;
    stream.set_nodelay(true)?;
    if matches!(options.asked, Asked::SmbEcho | Asked::SmbRead) {
        return prepare_smb(options, stream);
    }
    let handle = exchange::handle_of(&mut stream, "/export", &[FILE])?;
    let attributes = exchange::call(
        Procedure::nfs(nfs3::Procedure::Getattr),
        3,
        &handle.borrow(),
    );
    let calls = match options.asked {
        Asked::Null => vec![exchange::call(
            Procedure::nfs(nfs3::Procedure::Null),
            3,
            &(),
        )],
        Asked::Getattr => vec![attributes],
        Asked::Read => {
            let reply = exchange::exchange(&mut stream, &attributes)?;
            let Ok(ok) = getattr::Reply::decode(&mut exchange::results(&reply)?)? else {
                bail!("{FILE}: GETATTR failed");
            };
            reads(handle, ok.size, options.len)?
        }
        Asked::SmbEcho | Asked::SmbRead => bail!("that is asked over SMB"),
    };
    let reply = exchange::exchange(&mut stream, &calls[0])?;
    let data_len = check(options, &reply)?;
    Ok(prepared(options, stream, &calls, reply.len() + 4, data_len))
}

/// Prepares SMB requests, which have increasing message IDs.
fn prepare_smb(options: &RawClient, mut stream: TcpStream) -> Result<Prepared> {
    let credits = u16::try_from(options.in_flight + 1)?;
    let mut opened = smb_exchange::open(&mut stream, "export", FILE, credits)?;
    let (frames, data_len) = if options.asked == Asked::SmbEcho {
        (vec![opened.echo()], 0)
    } else {
        let count = opened.file_len / u64::from(options.len.max(1));
        let read = |index| opened.read(index * u64::from(options.len), options.len);
        ((0..count).map(read).collect(), options.len)
    };
    let mut first = frames
        .first()
        .context("the file is shorter than a READ")?
        .clone();
    opened.number(&mut first);
    let response = smb_exchange::exchange(&mut stream, &first)?;
    let status = Header::from_bytes(&response)?.status;
    if status != Status::SUCCESS || response.len() < data_len as usize {
        bail!("{:?} was answered {status}", options.asked);
    }
    let mut prepared = prepared(options, stream, &frames, response.len() + 4, data_len);
    prepared.calls.next_id = Some(opened.next_id);
    Ok(prepared)
}

/// Prepares the calls; a single distinct call is copied once per call in flight.
fn prepared(
    options: &RawClient,
    stream: TcpStream,
    calls: &[Vec<u8>],
    reply_len: usize,
    data_len: u32,
) -> Prepared {
    let calls = match calls {
        [one] => &vec![one.clone(); options.in_flight],
        _ => calls,
    };
    Prepared {
        stream,
        calls: Calls::new(calls, options.in_flight),
        reply_len,
        data_len,
        in_flight: options.in_flight,
        buffer: vec![0; BUFFER.max(reply_len)],
        spun: Duration::ZERO,
    }
}

/// Returns READs of the whole file in order; a remainder is omitted, so that all replies have the
/// same length.
fn reads(handle: nfs3::Handle, file_len: u64, len: u32) -> Result<Vec<Vec<u8>>> {
    let count = file_len / u64::from(len.max(1));
    if count == 0 {
        bail!("the file of {file_len} bytes is shorter than a READ of {len}");
    }
    let call = |index| {
        let args = read::Args {
            file: handle.borrow(),
            offset: index * u64::from(len),
            count: len,
        };
        exchange::call(Procedure::nfs(nfs3::Procedure::Read), 3, &args)
    };
    Ok((0..count).map(call).collect())
}

/// Checks one reply, so that a run cannot consist of errors. Returns the bytes of file data.
fn check(options: &RawClient, reply: &[u8]) -> Result<u32> {
    let mut reader = exchange::results(reply)?;
    match options.asked {
        Asked::Null | Asked::SmbEcho | Asked::SmbRead => Ok(0),
        Asked::Getattr => match getattr::Reply::decode(&mut reader)? {
            Ok(_) => Ok(0),
            Err(fail) => bail!("GETATTR answered {}", fail.status),
        },
        Asked::Read => match read::Reply::decode(&mut reader)? {
            Ok(ok) if ok.data.len() == options.len as usize => Ok(options.len),
            Ok(ok) => bail!("READ of {} bytes gave {}", options.len, ok.data.len()),
            Err(fail) => bail!("READ answered {}", fail.status),
        },
    }
}

/// Returns a non-zero number of bytes; zero means the end of the connection.
fn some(len: usize) -> Result<usize> {
    if len == 0 {
        bail!("the server closed the connection");
    }
    Ok(len)
}

impl Prepared {
    /// Sends the initial calls. With one in flight each turn sends its own call.
    fn start(&mut self) -> Result<()> {
        if self.in_flight > 1 {
            self.stream.write_all(self.calls.take(self.in_flight))?;
        }
        Ok(())
    }

    /// Receives available data, or waits for data, into the buffer from `at` on.
    fn receive(&mut self, at: usize) -> Result<usize> {
        let end = if at > 0 || self.in_flight == 1 {
            self.reply_len
        } else {
            self.buffer.len()
        };
        let buffer = &mut self.buffer[at..end];
        let began = Instant::now();
        let mut looked = Duration::ZERO;
        while looked < LOOK {
            match recv(&self.stream, &mut *buffer, RecvFlags::DONTWAIT) {
                Err(Errno::AGAIN) => looked = began.elapsed(),
                received => {
                    self.spun += looked;
                    return some(received?.1);
                }
            }
            std::hint::spin_loop();
        }
        self.spun += looked;
        some(self.stream.read(buffer)?)
    }

    /// Measures with one call in flight: sends a whole call, receives a whole reply.
    fn ping_pong(&mut self, duration: Duration) -> Result<Counts> {
        self.spun = Duration::ZERO;
        let watch = Stopwatch::start();
        let mut replies = 0;
        while watch.elapsed() < duration {
            for _ in 0..TURNS_PER_LOOK {
                self.stream.write_all(self.calls.take(1))?;
                let mut received = 0;
                while received < self.reply_len {
                    received += self.receive(received)?;
                }
            }
            replies += u64::from(TURNS_PER_LOOK);
        }
        Ok(watch.stop(replies, self.spun))
    }

    /// Measures with many calls in flight: receives all available data, sends as many calls as
    /// complete replies arrived.
    fn pipeline(&mut self, duration: Duration) -> Result<Counts> {
        self.spun = Duration::ZERO;
        let watch = Stopwatch::start();
        let mut replies = 0;
        let mut received = 0;
        while watch.elapsed() < duration {
            for _ in 0..TURNS_PER_LOOK {
                received += self.receive(0)?;
                let whole = received / self.reply_len;
                if whole > 0 {
                    received -= whole * self.reply_len;
                    replies += whole as u64;
                    self.stream.write_all(self.calls.take(whole))?;
                }
            }
        }
        // The next window must start at a reply boundary, so the rest of a partial reply is
        // received first.
        if received > 0 {
            let rest = self.reply_len - received;
            self.stream.read_exact(&mut self.buffer[..rest])?;
            self.stream.write_all(self.calls.take(1))?;
        }
        Ok(watch.stop(replies, self.spun))
    }
}

/// Wall-clock time and CPU time of this thread.
struct Stopwatch {
    start: Instant,
    cpu: Duration,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            start: Instant::now(),
            cpu: times::of_thread(),
        }
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn stop(&self, replies: u64, spun: Duration) -> Counts {
        Counts {
            replies,
            elapsed: self.elapsed(),
            cpu: times::of_thread()
                .saturating_sub(self.cpu)
                .saturating_sub(spun),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_run_of_calls_in_flight_lies_in_one_piece() {
        let mut calls = Calls::new(&[vec![1], vec![2], vec![3]], 2);
        assert_eq!(calls.take(2), [1, 2]);
        assert_eq!(calls.take(2), [3, 1]);
        assert_eq!(calls.take(1), [2]);
    }

    #[test]
    fn a_client_exchanges_null_with_a_server_that_echoes_headers() {
        let server = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = server.local_addr().expect("an address");
        let answering = std::thread::spawn(move || -> std::io::Result<()> {
            let (mut stream, _) = server.accept()?;
            let mut call = [0; 44];
            while stream.read_exact(&mut call).is_ok() {
                let mut reply = [0; 28];
                reply[..4].copy_from_slice(&[0x80, 0, 0, 24]);
                reply[4..8].copy_from_slice(&call[4..8]);
                reply[11] = 1;
                stream.write_all(&reply)?;
            }
            Ok(())
        });
        let call = exchange::call(Procedure::nfs(nfs3::Procedure::Null), 3, &());
        let mut prepared = Prepared {
            stream: TcpStream::connect(address).expect("it listens"),
            calls: Calls::new(&vec![call; 4], 4),
            reply_len: 28,
            data_len: 0,
            in_flight: 4,
            buffer: vec![0; 4096],
            spun: Duration::ZERO,
        };
        prepared.start().expect("four calls are sent");
        let counts = prepared
            .pipeline(Duration::from_millis(5))
            .expect("it answers");
        assert!(counts.replies > 0);
        drop(prepared);
        let _ = answering.join();
    }
}
