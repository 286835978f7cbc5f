//! Credits: permission to send, granted with every response (MS-SMB2, sections 3.2.4.1.2 and
//! 3.3.1.2).

/// The credits of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Credits {
    /// Credits available now.
    available: u32,
    /// Credits of sent, unanswered requests.
    out: u32,
    /// Target for the total number of credits.
    wanted: u32,
    /// MessageId of the next request.
    next_id: u64,
}

/// Maximum of the target: the limit of Windows and Samba.
const WANTED_MAX: u32 = 8192;

impl Credits {
    /// Creates the credits of a new connection that can use `wanted` credits.
    pub fn new(wanted: u32) -> Self {
        Self {
            available: 1,
            out: 0,
            wanted: wanted.min(WANTED_MAX),
            next_id: 0,
        }
    }

    /// Returns whether this number of credits is available now.
    pub fn has(&self, credits: u32) -> bool {
        self.available >= credits
    }

    /// Returns the credits available now.
    pub const fn available(&self) -> u32 {
        self.available
    }

    /// Returns the MessageId of the next request.
    pub const fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Returns whether no outstanding request can bring more credits.
    pub fn is_dry(&self) -> bool {
        self.out == 0
    }

    /// Takes credits for a request; returns its MessageId and its CreditRequest.
    #[inline]
    pub fn take(&mut self, charge: u16) -> RequestCredits {
        let charge = u32::from(charge);
        let message_id = self.next_id;
        self.next_id += u64::from(charge);
        self.available = self.available.saturating_sub(charge);
        self.out += charge;
        let missing = self.wanted.saturating_sub(self.available + self.out);
        let asked = (charge + missing).min(u32::from(u16::MAX)) as u16;
        RequestCredits {
            message_id,
            requested: asked,
        }
    }

    /// Adds the credits granted by a response.
    #[inline]
    pub fn grant(&mut self, credits: u16) {
        // No server grants more; the limit avoids overflow of the sum.
        self.available = (self.available + u32::from(credits)).min(1 << 20);
    }

    /// Ends a request that used `charge` credits.
    pub fn end(&mut self, charge: u16) {
        self.out = self.out.saturating_sub(charge.into());
    }
}

/// Header values of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestCredits {
    pub message_id: u64,
    /// CreditRequest.
    pub requested: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_on_by_what_a_request_is_charged() {
        let mut credits = Credits::new(4);
        assert!(credits.has(1) && !credits.has(2));
        let first = credits.take(1);
        assert_eq!((first.message_id, first.requested), (0, 4));
        assert!(!credits.has(1) && !credits.is_dry());
        credits.grant(4);
        credits.end(1);
        assert!(credits.is_dry());
        assert_eq!(credits.take(3).message_id, 1);
        // One credit is available, three are in use: only the rest is requested.
        let last = credits.take(1);
        assert_eq!((last.message_id, last.requested), (4, 1));
    }

    #[test]
    fn more_than_anybody_grants_does_no_harm() {
        let mut credits = Credits::new(u32::MAX);
        for _ in 0..100_000 {
            credits.grant(u16::MAX);
        }
        assert!(credits.has(1 << 20) && !credits.has((1 << 20) + 1));
    }
}
