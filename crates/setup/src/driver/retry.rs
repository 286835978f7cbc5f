//! Retries of calls: after a reply that the server is not ready, and over a new connection after a
//! disconnect.
//!
//! For NFS3ERR_JUKEBOX, the reply of a server that is not ready, the standard requires: "the client
//! should wait and then try the request with a new RPC transaction ID" (RFC 1813, section 2.6).
//! After a disconnect, a call is sent again unchanged, with the same transaction ID, as NFS clients
//! do: a server with a duplicate-request cache does not execute it twice.
//!
//! All pauses grow up to a bound, have a total limit, and end at once with the run. The measured
//! calls of `probe` and `mix` do not use this module: for them such a reply is a result, and
//! `backend` handles disconnects.

use super::call::CallError;
use filestone_host::control::Cancellation;
use filestone_protocol::session::backoff::BackoffSchedule;
use std::time::{Duration, Instant};

/// Pauses for a limited time.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    end: Instant,
    pauses: BackoffSchedule,
    attempt: u32,
}

impl Backoff {
    fn new(pauses: BackoffSchedule, timeout: Duration) -> Self {
        Self {
            end: Instant::now() + timeout,
            pauses,
            attempt: 0,
        }
    }

    /// Starts the pauses before a call is repeated because the server was not ready.
    pub fn busy(timeout: Duration) -> Self {
        Self::new(BackoffSchedule::BUSY, timeout)
    }

    /// Starts the pauses before a lock held by another client is requested again.
    pub fn lock(timeout: Duration) -> Self {
        Self::new(BackoffSchedule::LOCK, timeout)
    }

    /// Starts the pauses before attempts to reconnect.
    pub fn reconnection(timeout: Duration) -> Self {
        Self::new(BackoffSchedule::RECONNECTION, timeout)
    }

    /// Returns the pause before the next attempt; `None` if the time is used up.
    pub fn next_pause(&mut self) -> Option<Duration> {
        let pause = self.pauses.before(self.attempt);
        self.attempt = self.attempt.saturating_add(1);
        (Instant::now() + pause < self.end).then_some(pause)
    }
}

/// Time limits of waiting for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryLimit {
    /// Time limit of a call.
    pub timeout: Duration,
    /// Longest time of reconnection attempts after a disconnect; zero: none.
    pub reconnect: Duration,
}

/// Limit of reconnection attempts after a disconnect, and the cancellation that ends them early.
#[derive(Debug, Clone, Default)]
pub struct Retry {
    /// Longest time of reconnection attempts after a disconnect; zero: none.
    pub reconnect: Duration,
    /// Ends all waiting when set.
    pub cancellation: Cancellation,
}

impl Retry {
    /// Reconnects after `loss` until that works, with the pauses of `backoff`. Several losses in a
    /// row share one `backoff`, so that a server that accepts connections and drops them is given
    /// up, too.
    pub fn connect<T>(
        &self,
        backoff: &mut Backoff,
        loss: CallError,
        mut connect: impl FnMut() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let mut last = loss;
        loop {
            let Some(pause) = backoff.next_pause() else {
                return Err(self.given_up(last));
            };
            if !self.cancellation.pause(pause) {
                return Err(CallError::Stopped);
            }
            match connect() {
                Err(error) if error.is_loss() => last = error,
                connected => return connected,
            }
        }
    }

    /// Returns the pauses of attempts that start now.
    pub fn backoff(&self) -> Backoff {
        Backoff::reconnection(self.reconnect)
    }

    /// Connects; if the server does not accept connections, retries for as long as after a
    /// disconnect.
    pub fn connect_first<T>(
        &self,
        mut connect: impl FnMut() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        match connect() {
            Err(error) if error.is_loss() => self.connect(&mut self.backoff(), error, connect),
            connected => connected,
        }
    }

    fn given_up(&self, loss: CallError) -> CallError {
        if self.reconnect.is_zero() {
            return loss;
        }
        CallError::Gone {
            loss: Box::new(loss),
            tried: self.reconnect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    const HOUR: Duration = Duration::from_secs(3600);

    fn millis(mut backoff: Backoff, count: usize) -> Vec<u128> {
        let pauses = std::iter::from_fn(|| backoff.next_pause());
        let millis = pauses.take(count).map(|pause| pause.as_millis());
        millis.collect()
    }

    #[test]
    fn pauses_double_up_to_a_bound_and_end_with_their_time() {
        let busy = millis(Backoff::busy(HOUR), 6);
        assert_eq!(busy, [100, 200, 400, 800, 1000, 1000]);
        let reconnection = millis(Backoff::reconnection(HOUR), 9);
        assert_eq!(reconnection, [0, 10, 20, 40, 80, 160, 320, 500, 500]);
        assert_eq!(Backoff::busy(Duration::ZERO).next_pause(), None);
        assert_eq!(Backoff::reconnection(Duration::ZERO).next_pause(), None);
    }

    #[test]
    fn a_server_is_tried_until_it_is_there_or_the_time_is_over() {
        let refused = || CallError::System(ErrorKind::ConnectionRefused.into());
        let retry = Retry {
            reconnect: HOUR,
            ..Retry::default()
        };
        let mut attempts = 0;
        let connected = retry.connect_first(|| {
            attempts += 1;
            if attempts < 3 { Err(refused()) } else { Ok(7) }
        });
        assert_eq!((connected.ok(), attempts), (Some(7), 3));
        let impatient = Retry::default();
        let error = impatient.connect_first(|| Err::<(), _>(refused()));
        assert!(matches!(error, Err(CallError::System(_))), "{error:?}");
        retry.cancellation.cancel();
        let stopped = retry.connect_first(|| Err::<(), _>(refused()));
        assert!(matches!(stopped, Err(CallError::Stopped)), "{stopped:?}");
        let other = retry.connect_first(|| Err::<(), _>(CallError::TimedOut(HOUR)));
        assert!(matches!(other, Err(CallError::TimedOut(_))), "not a loss");
    }
}
