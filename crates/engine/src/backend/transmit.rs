//! Sends a client's output: one system call per batch if possible.

use filestone_protocol::client::Output;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, send as send_bytes, sendmsg};
use std::io::IoSlice;
use std::os::fd::OwnedFd;

/// Pieces of one vectored write; well below the system's limit of 1024.
const PIECES_MAX: usize = 64;

/// Sends the rest of `output` after `sent` bytes. Returns whether all of it was sent.
#[inline]
pub fn send(
    socket: &OwnedFd,
    output: &Output,
    sent: &mut usize,
    pattern: &[u8],
) -> Result<bool, Errno> {
    if !output.datagrams.is_empty() {
        return send_datagrams(socket, output, sent);
    }
    if !output.splices.is_empty() {
        return send_spliced(socket, output, sent, pattern);
    }
    while *sent < output.bytes.len() {
        match send_bytes(socket, &output.bytes[*sent..], flags()) {
            Ok(len) => *sent += len,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[inline]
fn flags() -> SendFlags {
    SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL)
}

/// Sends each datagram by itself. Datagrams beyond the send buffer stay queued; a refusal by the
/// peer counts as loss, which retransmission handles.
fn send_datagrams(socket: &OwnedFd, output: &Output, sent: &mut usize) -> Result<bool, Errno> {
    let before = *sent;
    for end in output
        .datagrams
        .iter()
        .copied()
        .skip_while(|end| *end <= before)
    {
        loop {
            match send_bytes(socket, &output.bytes[*sent..end], flags()) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                // The kernel reports the pending refusal once; the next try sends.
                Err(Errno::CONNREFUSED) => {}
                Err(Errno::AGAIN | Errno::NOBUFS) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        *sent = end;
    }
    Ok(true)
}

fn send_spliced(
    socket: &OwnedFd,
    output: &Output,
    sent: &mut usize,
    pattern: &[u8],
) -> Result<bool, Errno> {
    let total = output.total_len();
    while *sent < total {
        let mut pieces = [IoSlice::new(&[]); PIECES_MAX];
        let count = gather(output, *sent, pattern, &mut pieces);
        match sendmsg(
            socket,
            &pieces[..count],
            &mut SendAncillaryBuffer::default(),
            flags(),
        ) {
            Ok(len) => *sent += len,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Fills `pieces` with the output after its first `skip` bytes.
fn gather<'o>(
    output: &'o Output,
    mut skip: usize,
    pattern: &'o [u8],
    pieces: &mut [IoSlice<'o>],
) -> usize {
    let mut count = 0;
    let mut add = |piece: &'o [u8]| {
        let skipped = skip.min(piece.len());
        skip -= skipped;
        if skipped < piece.len()
            && let Some(place) = pieces.get_mut(count)
        {
            *place = IoSlice::new(&piece[skipped..]);
            count += 1;
        }
    };
    let mut at = 0;
    for splice in &output.splices {
        add(&output.bytes[at..splice.at]);
        add(&pattern[splice.start..splice.start + splice.len]);
        at = splice.at;
    }
    add(&output.bytes[at..]);
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_protocol::client::output::DataSegment;

    #[test]
    fn pieces_come_in_the_order_of_the_stream_wherever_it_was_cut() {
        let output = Output {
            bytes: b"headtailmore".to_vec(),
            splices: vec![
                DataSegment {
                    at: 4,
                    start: 1,
                    len: 3,
                },
                DataSegment {
                    at: 8,
                    start: 0,
                    len: 2,
                },
            ],
            datagrams: vec![],
        };
        let pattern = b"0123456789";
        let whole = b"head123tail01more";
        assert_eq!(output.total_len(), whole.len());
        for skip in 0..whole.len() {
            let mut pieces = [IoSlice::new(&[]); PIECES_MAX];
            let count = gather(&output, skip, pattern, &mut pieces);
            let joined: Vec<u8> = pieces[..count]
                .iter()
                .flat_map(|piece| piece.iter().copied())
                .collect();
            assert_eq!(joined, &whole[skip..]);
        }
    }
}
