//! Repeats operations of preparation and clean-up after the server has ended the session or the
//! tree connect while the connection stays, as the clients of a run do.
//!
//! The end of a session closes its handles, so a single request cannot be repeated. Instead the
//! whole operation is repeated, which begins by opening the files that it needs.

use super::connection::{Answers, ConnectedShare, REPEATS_MAX, RequestError};
use filestone_protocol::client::call_slot::ActionError;
use filestone_protocol::client::smb2::SmbCallHandle;
use filestone_workload::output::WriteData;
use std::time::{Duration, Instant};

impl ConnectedShare {
    /// Executes a whole operation, the requests of `requests`, and returns its result. When the
    /// session ends before that, `requests` runs again; objects created by the first attempt exist
    /// then.
    pub fn call<T>(
        &mut self,
        requests: impl AsyncFnMut(SmbCallHandle) -> Result<T, ActionError>,
    ) -> Result<T, RequestError> {
        self.call_with(&WriteData::PATTERN, requests)
    }

    /// Executes a whole operation like [`call`](Self::call), with `source` as the data of its
    /// writes.
    pub fn call_with<T>(
        &mut self,
        source: &WriteData,
        mut requests: impl AsyncFnMut(SmbCallHandle) -> Result<T, ActionError>,
    ) -> Result<T, RequestError> {
        self.whole(|own| own.step(source, requests(SmbCallHandle::HERE)))
    }

    /// Runs a whole operation, and repeats it over a new session whenever the server ends the session:
    /// without limit as long as the operation makes progress, else [`REPEATS_MAX`] times in a row.
    pub fn whole<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T, RequestError>,
    ) -> Result<T, RequestError> {
        let mut repeats = Repeats::default();
        loop {
            let before = self.answers();
            let ended = match work(self) {
                Err(RequestError::Answered(status)) if status.ends_session() => status,
                done => return done,
            };
            if !repeats.may_go_on(before, self.answers(), self.reaching().timeout) {
                return Err(RequestError::Answered(ended));
            }
            self.restart().map_err(RequestError::Lost)?;
        }
    }
}

/// State of repeated attempts.
#[derive(Debug, Default)]
struct Repeats {
    /// Maximum number of compound requests answered in an attempt.
    most: u64,
    /// Number of consecutive attempts without progress, and the time of the first.
    in_vain: u32,
    since: Option<Instant>,
}

impl Repeats {
    /// Whether the operation may be repeated, when the session has ended for an attempt that began
    /// at `before`.
    fn may_go_on(&mut self, before: Answers, now: Answers, timeout: Duration) -> bool {
        let chains = now.chains.saturating_sub(before.chains);
        if chains > self.most || now.changes > before.changes {
            self.most = self.most.max(chains);
            (self.in_vain, self.since) = (0, None);
        }
        self.in_vain += 1;
        let since = *self.since.get_or_insert_with(Instant::now);
        self.in_vain <= REPEATS_MAX && since.elapsed() < timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(3600);

    fn answers(chains: u64, changes: u64) -> Answers {
        Answers { chains, changes }
    }

    #[test]
    fn what_gets_no_further_is_given_up() {
        let mut repeats = Repeats::default();
        let nothing = answers(7, 3);
        for _ in 0..REPEATS_MAX {
            assert!(repeats.may_go_on(nothing, nothing, TIMEOUT));
        }
        assert!(!repeats.may_go_on(nothing, nothing, TIMEOUT));
    }

    #[test]
    fn what_gets_further_goes_on() {
        let mut repeats = Repeats::default();
        for number in 1..=100 {
            assert!(repeats.may_go_on(answers(0, 0), answers(number, 0), TIMEOUT));
        }
        for _ in 0..100 {
            assert!(repeats.may_go_on(answers(0, 0), answers(2, 1), TIMEOUT));
        }
        // Reaching the same point as before is not progress.
        for _ in 1..REPEATS_MAX {
            assert!(repeats.may_go_on(answers(0, 0), answers(100, 0), TIMEOUT));
        }
        assert!(!repeats.may_go_on(answers(0, 0), answers(100, 0), TIMEOUT));
    }

    #[test]
    fn it_takes_no_longer_than_a_request_may() {
        let mut repeats = Repeats::default();
        assert!(!repeats.may_go_on(answers(0, 0), answers(0, 0), Duration::ZERO));
    }
}
