//! A relay between filestone and Samba that sees every message of one direction.

use anyhow::Result;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// Offsets in the header of a message (MS-SMB2, section 2.2.1.2).
pub const COMMAND: usize = 12;
const NEXT: usize = 20;
/// First bytes of a message, and the length of its header.
pub const PROTOCOL: &[u8] = b"\xfeSMB";
pub const HEADER_LEN: usize = 64;

/// Direction of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Requests,
    Responses,
}

/// Looks at every message of a direction on its way, and may change it.
pub trait Inspector: Send + Sync + 'static {
    const DIRECTION: Direction;

    /// Returns whether to cut the connection instead of forwarding the message.
    fn inspect(&self, message: &mut [u8]) -> bool;
}

/// Starts a relay in front of a server, which runs until this process ends. Returns its port.
pub fn start<I: Inspector>(server: u16, inspector: &Arc<I>) -> Result<u16> {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let inspector = Arc::clone(inspector);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // A connection that cannot be relayed is closed.
            let _ = relay(client, server, &inspector);
        }
    });
    Ok(port)
}

/// Relays a connection in two threads.
fn relay<I: Inspector>(client: TcpStream, server: SocketAddr, inspector: &Arc<I>) -> Result<()> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (from, to) = match I::DIRECTION {
        Direction::Requests => (client, server),
        Direction::Responses => (server, client),
    };
    let (mut other_from, mut other_to) = (to.try_clone()?, from.try_clone()?);
    std::thread::spawn(move || {
        // Either side may close at any time.
        let _ = std::io::copy(&mut other_from, &mut other_to);
        let _ = other_to.shutdown(Shutdown::Write);
    });
    let inspector = Arc::clone(inspector);
    std::thread::spawn(move || {
        let _ = forward(&from, &to, &*inspector);
        for stream in [&from, &to] {
            let _ = stream.shutdown(Shutdown::Both);
        }
    });
    Ok(())
}

/// Forwards frames until one is cut off.
fn forward(
    mut from: &TcpStream,
    mut to: &TcpStream,
    inspector: &impl Inspector,
) -> std::io::Result<()> {
    let (mut mark, mut frame) = ([0; 4], Vec::new());
    loop {
        from.read_exact(&mut mark)?;
        // The first byte is the message type, which is 0 (MS-SMB2, section 2.1).
        frame.resize(u32::from_be_bytes(mark) as usize, 0);
        from.read_exact(&mut frame)?;
        if inspect_frame(&mut frame, inspector) {
            return Ok(());
        }
        to.write_all(&mark)?;
        to.write_all(&frame)?;
    }
}

/// Inspects every message of a compound, which each have a header that can be read.
pub fn inspect_frame(mut messages: &mut [u8], inspector: &impl Inspector) -> bool {
    while messages.len() >= HEADER_LEN && messages.starts_with(PROTOCOL) {
        let next = number::<4>(messages, NEXT) as usize;
        let end = if next == 0 { messages.len() } else { next };
        if !(HEADER_LEN..=messages.len()).contains(&end) {
            return false;
        }
        let (message, rest) = messages.split_at_mut(end);
        if inspector.inspect(message) {
            return true;
        }
        messages = rest;
    }
    false
}

/// Returns the little-endian number at this offset of a message.
pub fn number<const LEN: usize>(message: &[u8], at: usize) -> u64 {
    let bytes = message[at..at + LEN].iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}
