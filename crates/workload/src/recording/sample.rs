//! The times of one operation.
//!
//! ```text
//!   due ──slot wait──▶ ready ──dispatch delay──▶ sent ──service time──▶ done
//!   └───────────────────────── response time ──────────────────────────────┘
//! ```

pub use crate::kind::Role;

use crate::operation::{Completion, OpKind};
use crate::time::Timestamp;
use core::time::Duration;

/// The times of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Kind of operation.
    pub kind: OpKind,
    /// Whether the operation is measured.
    pub role: Role,
    /// Scheduled start of the operation. In a closed loop: the time when its slot became free.
    pub due: Timestamp,
    /// Time when a slot was free: `due`, or later.
    pub ready: Timestamp,
    /// Completion as the backend reported it, with `sent` and `done`.
    pub completion: Completion,
}

impl Sample {
    /// Returns the time from when this operation was due to when the end of its last reply was
    /// read.
    ///
    /// Includes any wait for a free slot, so a stalling server is visible even though the client
    /// waits for it. For the exchange alone, see [`Sample::service_time`].
    pub fn response_time(&self) -> Duration {
        self.completion.done.since(self.due)
    }

    /// Returns the time from the transfer to the operating system to the end of the last reply.
    pub fn service_time(&self) -> Duration {
        self.completion.done.since(self.completion.sent)
    }

    /// Returns the wait because every slot was taken, or the connection was down, which the server
    /// causes.
    pub fn slot_wait(&self) -> Duration {
        self.ready.since(self.due)
    }

    /// Returns the wait because filestone was late.
    pub fn dispatch_delay(&self) -> Duration {
        self.completion.sent.since(self.ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::SlotId;

    #[test]
    fn the_three_parts_add_up_to_the_response_time() {
        let at = Timestamp::from_nanos;
        let sample = Sample {
            kind: OpKind::Null,
            role: Role::Measured,
            due: at(100),
            ready: at(250),
            completion: Completion {
                bytes_sent: 44,
                bytes_received: 28,
                ..Completion::success(SlotId { client: 0, slot: 0 }, at(260), at(1000))
            },
        };
        assert_eq!(sample.response_time(), Duration::from_nanos(900));
        assert_eq!(
            sample.response_time(),
            sample.slot_wait() + sample.dispatch_delay() + sample.service_time()
        );
    }
}
