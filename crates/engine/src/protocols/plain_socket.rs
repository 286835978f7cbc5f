//! Exchanges the same bytes over a plain socket: the rate of a client that only counts the bytes it
//! receives.

use super::Rate;
use crate::backend::adaptive_spin::AdaptiveSpin;
use filestone_host::error::RunError;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::ClockId;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Bytes received at a time.
const BUFFER_LEN: usize = 1 << 20;
/// Maximum time to wait for a reply before the measurement is aborted.
pub const TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of the record mark before every message; its lower bits contain the length.
pub const MARK_LEN: usize = 4;
const LENGTH_BITS: u32 = 0x7fff_ffff;

/// A call that is repeated, and the expected size of its replies.
pub struct EncodedCall {
    /// Encoded call, with the record mark.
    pub call: Vec<u8>,
    /// Bytes of each reply, with the record mark.
    pub reply_len: usize,
    /// Bytes of file data in each exchange.
    pub data_bytes: u32,
    /// Calls in flight.
    pub in_flight: u32,
    /// Sequence numbers in the calls, for servers that reject identical calls.
    pub numbers: Option<SequenceField>,
}

/// Little-endian 8-byte sequence numbers that increase from call to call.
pub struct SequenceField {
    /// Offset of the number in a call.
    pub at: usize,
    /// Number of the next call.
    pub next: u64,
    /// Difference between consecutive numbers.
    pub step: u64,
}

impl SequenceField {
    fn put(&mut self, calls: &mut [u8], call_len: usize) {
        for call in calls.chunks_exact_mut(call_len) {
            let place = call.get_mut(self.at..);
            if let Some(place) = place.and_then(|tail| tail.first_chunk_mut()) {
                *place = self.next.to_le_bytes();
            }
            self.next = self.next.wrapping_add(self.step);
        }
    }
}

/// As many encoded calls as may be in flight, back to back.
struct Calls {
    bytes: Vec<u8>,
    call_len: usize,
    in_flight: usize,
    numbers: Option<SequenceField>,
}

impl Calls {
    /// Returns the next `count` calls, at most as many as may be in flight.
    fn take(&mut self, count: usize) -> &[u8] {
        let len = count.min(self.in_flight) * self.call_len;
        let calls = self.bytes.get_mut(..len).unwrap_or_default();
        if let Some(numbers) = &mut self.numbers {
            numbers.put(calls, self.call_len);
        }
        calls
    }
}

/// Repeats the call for `time`.
pub fn exchange(socket: &OwnedFd, repeated: EncodedCall, time: Duration) -> Result<Rate, RunError> {
    exchanged(socket, repeated, time).map_err(|error| RunError::System {
        what: "exchange messages over a plain socket".into(),
        source: error.into(),
    })
}

fn exchanged(socket: &OwnedFd, repeated: EncodedCall, time: Duration) -> Result<Rate, Errno> {
    let timeout = rustix::net::sockopt::Timeout::Recv;
    rustix::net::sockopt::set_socket_timeout(socket, timeout, Some(TIMEOUT))?;
    let in_flight = repeated.in_flight.max(1) as usize;
    let mut calls = Calls {
        bytes: repeated.call.repeat(in_flight),
        call_len: repeated.call.len(),
        in_flight,
        numbers: repeated.numbers,
    };
    let mut buffer = vec![0; BUFFER_LEN];
    let (mut replies, mut partial) = (0u64, 0usize);
    let mut looking = AdaptiveSpin::default();
    let cpu_before = processor_nanos();
    let begin = Instant::now();
    send_all(socket, calls.take(in_flight))?;
    while begin.elapsed() < time {
        let received = receive(socket, &mut buffer, &mut looking)?;
        if received == 0 {
            return Err(Errno::CONNRESET);
        }
        if replies == 0 && partial == 0 {
            check_mark(&buffer, repeated.reply_len)?;
        }
        partial += received;
        let whole = partial / repeated.reply_len;
        partial %= repeated.reply_len;
        replies += whole as u64;
        if whole > 0 {
            send_all(socket, calls.take(whole))?;
        }
    }
    let elapsed = begin.elapsed().as_secs_f64();
    let cpu = (processor_nanos() - cpu_before).saturating_sub(looking.spun_nanos());
    Ok(Rate {
        ops_per_s: replies as f64 / elapsed,
        cpu_ns_per_op: cpu as f64 / replies.max(1) as f64,
        data_bytes_per_s: replies as f64 * f64::from(repeated.data_bytes) / elapsed,
    })
}

/// Checks the length of a reply. Replies are only counted, so after a reply of another length all
/// counts would be wrong.
fn check_mark(received: &[u8], reply_len: usize) -> Result<(), Errno> {
    let mark = received.first_chunk().copied().unwrap_or_default();
    let len = (u32::from_be_bytes(mark) & LENGTH_BITS) as usize;
    if len.saturating_add(MARK_LEN) == reply_len {
        Ok(())
    } else {
        Err(Errno::PROTO)
    }
}

/// Waits for bytes as the worker does.
fn receive(
    socket: &OwnedFd,
    buffer: &mut [u8],
    looking: &mut AdaptiveSpin,
) -> Result<usize, Errno> {
    let Some(look) = looking.start() else {
        return recv(socket, buffer, RecvFlags::empty()).map(|(_, len)| len);
    };
    let began = Instant::now();
    let mut spun = 0;
    while spun < look.nanos {
        match recv(socket, &mut *buffer, RecvFlags::DONTWAIT) {
            Err(Errno::AGAIN) => {}
            received => {
                looking.end(look, spun, true);
                looking.count(spun);
                return received.map(|(_, len)| len);
            }
        }
        std::hint::spin_loop();
        spun = began.elapsed().as_nanos() as u64;
    }
    looking.end(look, spun, false);
    looking.count(spun);
    recv(socket, buffer, RecvFlags::empty()).map(|(_, len)| len)
}

fn send_all(socket: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let sent = send(socket, bytes, SendFlags::NOSIGNAL)?;
        bytes = &bytes[sent..];
    }
    Ok(())
}

fn processor_nanos() -> u64 {
    let spent = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_numbered_through_however_many_are_taken() {
        let mut calls = Calls {
            bytes: [0; 10].repeat(3),
            call_len: 10,
            in_flight: 3,
            numbers: Some(SequenceField {
                at: 2,
                next: 7,
                step: 2,
            }),
        };
        let mut numbers = |count| -> Vec<u8> {
            let calls = calls.take(count).chunks_exact(10);
            calls.map(|call| call[2]).collect()
        };
        assert_eq!(numbers(3), [7, 9, 11]);
        assert_eq!(numbers(1), [13]);
        assert_eq!(numbers(5), [15, 17, 19]);
    }

    #[test]
    fn a_reply_of_another_length_is_none() {
        assert_eq!(check_mark(&[0x80, 0, 0, 24], 28), Ok(()));
        assert_eq!(check_mark(&[0, 0, 0, 73], 72), Err(Errno::PROTO));
        assert_eq!(check_mark(&[], 72), Err(Errno::PROTO));
    }
}
