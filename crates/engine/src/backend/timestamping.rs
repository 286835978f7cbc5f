//! Kernel timestamps of a sample of a connection's calls (SO_TIMESTAMPING).
//!
//! Incoming packets carry timestamps while this is on, which costs one reading of the clock for
//! each packet of the host. Outgoing packets carry timestamps for one call in [`EVERY_NANOS`], so
//! all other calls use the same system calls as without timestamps. With only one call in flight
//! each packet can be assigned to its call.
//!
//! All timestamps are in the host's time of day, both the kernel's and filestone's.

use filestone_measure::measure::stamps::StampedCall;
use filestone_workload::time::Timestamp;
use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, TimestampingFlag, Timestamps, recvmsg, setsockopt, sockopt,
};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::time::{ClockId, clock_gettime};
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

/// Shortest time between two calls with timestamps.
const EVERY_NANOS: u64 = 2_000_000;
/// Maximum number of calls with timestamps that are stored.
const CALLS_MAX: usize = 1 << 16;
/// Most timestamps read from a socket's error queue at a time; one is expected.
const WAITING_MAX: usize = 16;

const INCOMING: TimestampingFlag = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
    .union(TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE);
const BOTH: TimestampingFlag = INCOMING
    .union(TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE)
    .union(TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY);

/// Timestamps of a connection's calls.
#[derive(Debug)]
pub struct Timestamping {
    next: Timestamp,
    under_way: Option<UnderWay>,
    calls: Vec<StampedCall>,
    control: Vec<u8>,
}

/// A call whose timestamps are being collected.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    sent: Timestamp,
    sent_ns: i64,
    transmitted_ns: Option<i64>,
    arrived_ns: Option<i64>,
}

impl Timestamping {
    /// Enables timestamps for incoming packets of this socket; `None` if the kernel does not
    /// support them.
    pub fn start(socket: &OwnedFd) -> Option<Self> {
        setsockopt(socket, sockopt::Timestamping, &INCOMING).ok()?;
        Some(Self {
            next: Timestamp::ZERO,
            under_way: None,
            calls: Vec::with_capacity(CALLS_MAX),
            control: cmsg_space!(Timestamps, [u8; 64]),
        })
    }

    /// Returns the calls with timestamps.
    pub fn calls(&self) -> &[StampedCall] {
        &self.calls
    }

    /// A call is about to be sent, with `in_flight` calls outstanding, itself included.
    #[inline]
    pub fn before_send(&mut self, socket: &OwnedFd, now: Timestamp, in_flight: u32) {
        // The timestamps of a retransmission, or of one of several calls, are ambiguous.
        self.under_way = None;
        if now >= self.next && in_flight == 1 && self.calls.len() < CALLS_MAX {
            self.ask(socket, now);
        }
    }

    #[cold]
    fn ask(&mut self, socket: &OwnedFd, now: Timestamp) {
        self.next = now.after_nanos(EVERY_NANOS);
        // A late timestamp belongs to an earlier call that was dropped.
        while self.transmitted(socket).is_some() {}
        if setsockopt(socket, sockopt::Timestamping, &BOTH).is_ok() {
            self.under_way = Some(UnderWay {
                sent: now,
                sent_ns: time_of_day_ns(),
                transmitted_ns: None,
                arrived_ns: None,
            });
        }
    }

    /// The call was sent; `is_whole`: all of it.
    #[inline]
    pub fn after_send(&mut self, socket: &OwnedFd, is_whole: bool) {
        if self.under_way.is_some() {
            self.asked(socket, is_whole);
        }
    }

    #[cold]
    fn asked(&mut self, socket: &OwnedFd, is_whole: bool) {
        // Outgoing timestamps are for this call only.
        let _ = setsockopt(socket, sockopt::Timestamping, &INCOMING);
        let transmitted_ns = self.transmitted(socket);
        self.under_way = self.under_way.filter(|_| is_whole).map(|it| UnderWay {
            transmitted_ns,
            ..it
        });
    }

    /// Returns whether the next bytes must be received by [`Timestamping::receive`].
    #[inline]
    pub fn is_due(&self) -> bool {
        self.under_way.is_some()
    }

    /// Receives, and stores the timestamp of the first part of a reply.
    #[cold]
    pub fn receive(
        &mut self,
        socket: &OwnedFd,
        buffer: &mut [u8],
        flags: RecvFlags,
    ) -> Result<usize, Errno> {
        let flags = MsgFlags::from_bits_truncate(flags.bits().cast_signed());
        let mut parts = [IoSliceMut::new(buffer)];
        let received = received(socket, &mut parts, &mut self.control, flags)?;
        if let Some(under_way) = &mut self.under_way {
            under_way.arrived_ns = under_way.arrived_ns.or(received.stamp_ns);
        }
        Ok(received.bytes)
    }

    /// Bytes were received, and `in_flight` calls are outstanding since.
    #[cold]
    pub fn taken(&mut self, socket: &OwnedFd, in_flight: u32) {
        if in_flight > 0 {
            return;
        }
        let taken_ns = time_of_day_ns();
        let Some(mut call) = self.under_way.take() else {
            return;
        };
        if call.transmitted_ns.is_none() {
            call.transmitted_ns = self.transmitted(socket);
        }
        self.calls.extend(call.stamped(taken_ns));
    }

    /// Returns the timestamp of a sent packet, if one is queued.
    fn transmitted(&mut self, socket: &OwnedFd) -> Option<i64> {
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let mut last = None;
        for _ in 0..WAITING_MAX {
            match received(socket, &mut [], &mut self.control, flags) {
                Ok(received) => last = received.stamp_ns.or(last),
                Err(_) => break,
            }
        }
        last
    }
}

impl UnderWay {
    /// Returns the parts of the call's time; `None` if a timestamp is missing or belongs to another
    /// call.
    fn stamped(self, taken_ns: i64) -> Option<StampedCall> {
        let (transmitted_ns, arrived_ns) = (self.transmitted_ns?, self.arrived_ns?);
        let part = |from: i64, to: i64| u64::try_from(to.checked_sub(from)?).ok();
        Some(StampedCall {
            sent: self.sent,
            out_ns: part(self.sent_ns, transmitted_ns)?,
            beyond_ns: part(transmitted_ns, arrived_ns)?,
            in_ns: part(arrived_ns, taken_ns)?,
        })
    }
}

/// Result of one receive.
struct Receipt {
    bytes: usize,
    stamp_ns: Option<i64>,
}

fn received(
    socket: &OwnedFd,
    parts: &mut [IoSliceMut<'_>],
    control: &mut [u8],
    flags: MsgFlags,
) -> Result<Receipt, Errno> {
    let descriptor = socket.as_fd().as_raw_fd();
    let message = recvmsg::<()>(descriptor, parts, Some(control), flags)
        .map_err(|error| Errno::from_raw_os_error(error as i32))?;
    let stamps = message.cmsgs().into_iter().flatten();
    let mut stamps = stamps.filter_map(|part| match part {
        ControlMessageOwned::ScmTimestampsns(stamps) => Some(stamps),
        _ => None,
    });
    Ok(Receipt {
        bytes: message.bytes,
        stamp_ns: stamps.next().and_then(software_ns),
    })
}

/// Returns the software timestamp; a zero means that there is none.
fn software_ns(stamps: Timestamps) -> Option<i64> {
    let (seconds, nanos) = (stamps.system.tv_sec(), stamps.system.tv_nsec());
    (seconds > 0).then(|| seconds * 1_000_000_000 + nanos)
}

fn time_of_day_ns() -> i64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under_way(transmitted_ns: Option<i64>, arrived_ns: Option<i64>) -> UnderWay {
        UnderWay {
            sent: Timestamp::from_nanos(5),
            sent_ns: 1000,
            transmitted_ns,
            arrived_ns,
        }
    }

    #[test]
    fn the_parts_are_between_the_stamps() {
        let found = under_way(Some(1200), Some(9200)).stamped(9500);
        let expected = StampedCall {
            sent: Timestamp::from_nanos(5),
            out_ns: 200,
            beyond_ns: 8000,
            in_ns: 300,
        };
        assert_eq!(found, Some(expected));
        // Without one of the timestamps, and with one of another call.
        assert_eq!(under_way(None, Some(9200)).stamped(9500), None);
        assert_eq!(under_way(Some(1200), None).stamped(9500), None);
        assert_eq!(under_way(Some(900), Some(9200)).stamped(9500), None);
        assert_eq!(under_way(Some(1200), Some(1100)).stamped(9500), None);
    }
}
