//! The least a program can do to answer messages of one length with messages of another: the peer
//! of [`raw_client`](crate::raw_client) where a protocol's own server is measured, too.
//!
//! It looks at nothing but the number of bytes. As the client, it takes all that came with one
//! `recv` and answers it with one `send`; it sleeps as soon as nothing is there, as the built-in
//! server does.

use anyhow::{Context, Result, ensure};
use clap::Args;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// Bytes taken by one recv.
const TAKEN: usize = 64 << 10;
/// Bytes given to one send at most, but one whole reply.
const GIVEN: usize = 256 << 10;

/// Options of `cargo xtask raw-server`.
#[derive(Debug, Clone, Args)]
pub struct RawServer {
    /// Port to listen on, on the loopback interface
    #[arg(long)]
    pub port: u16,
    /// Bytes of each call
    #[arg(long)]
    pub call_len: usize,
    /// Bytes of each reply
    #[arg(long)]
    pub reply_len: usize,
}

/// Serves one connection after the other until it is ended.
pub fn run(options: &RawServer) -> Result<bool> {
    ensure!(
        options.call_len > 0 && options.reply_len > 0,
        "messages of no bytes cannot be told apart"
    );
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
        .with_context(|| format!("127.0.0.1:{} cannot be listened on", options.port))?;
    loop {
        let (mut stream, _) = listener.accept().context("no connection was accepted")?;
        stream.set_nodelay(true)?;
        // A client that goes is the end of its connection and of nothing else.
        let _ = serve(&mut stream, options.call_len, options.reply_len);
    }
}

/// Answers until the client has ended.
fn serve(stream: &mut TcpStream, call_len: usize, reply_len: usize) -> std::io::Result<()> {
    let mut taken = vec![0; TAKEN];
    let at_once = (GIVEN / reply_len).max(1);
    let replies = vec![0; at_once * reply_len];
    let mut received = 0;
    loop {
        match stream.read(&mut taken)? {
            0 => return Ok(()),
            len => received += len,
        }
        let mut whole = received / call_len;
        received %= call_len;
        while whole > 0 {
            let now = whole.min(at_once);
            stream.write_all(&replies[..now * reply_len])?;
            whole -= now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_gets_its_reply_however_it_is_cut() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            serve(&mut stream, 10, 300_000)
        });
        let mut client = TcpStream::connect(address).expect("it listens");
        client.write_all(&[0; 15]).expect("one call and a half");
        let mut replies = vec![1; 300_000];
        client.read_exact(&mut replies).expect("one reply");
        client.write_all(&[0; 5]).expect("the rest");
        client.read_exact(&mut replies).expect("the other");
        assert!(replies.iter().all(|byte| *byte == 0));
        drop(client);
        serving.join().expect("no panic").expect("it ends in order");
    }
}
