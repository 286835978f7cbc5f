//! One thread's way from a call to its reply: the service, what is counted, faults and the queue.
//!
//! Without faults and queue a call goes straight through to [`Service`]. With them the reply is
//! made apart, spoilt as the rules say, and handed back with the time at which it is due.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::counters::Tally;
use crate::dispatch::{Caller, Ends, Service, Transport};
use crate::faults::{FaultSource, Verdict};
use crate::queue::Queue;
use crate::reply::ReplySink;

/// What became of a call.
#[derive(Debug)]
pub enum Outcome {
    /// Its reply, if it has one, is in the sink.
    Answered,
    /// Its reply is to be sent when so much time has passed since the start.
    Later(Duration, Box<ReplySink>),
    /// The connection is to be closed.
    Disconnect,
}

/// How long before a reply of the queue is due its thread stops sleeping and looks again and
/// again: a kernel wakes a sleeper that much late, and lateness would add to the service time.
const SPIN: Duration = Duration::from_micros(50);

/// What keeps a call from going straight through, and its reply from leaving at once.
#[derive(Debug)]
pub struct Detour {
    faults: Option<FaultSource>,
    /// One for all threads.
    queue: Option<Arc<Mutex<Queue>>>,
    /// When the last bytes were received, since the start.
    arrival: Duration,
}

impl Detour {
    /// `None` if there is nothing of the kind, so that serving without it costs one look.
    pub fn new(faults: Option<FaultSource>, queue: Option<Arc<Mutex<Queue>>>) -> Option<Self> {
        let is_any = faults.is_some() || queue.is_some();
        is_any.then_some(Self {
            faults,
            queue,
            arrival: Duration::ZERO,
        })
    }

    /// When the service of a call ends that came with the last bytes received.
    fn queued_until(&self) -> Option<Duration> {
        let mut queue = self
            .queue
            .as_ref()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Some(queue.admit(self.arrival))
    }
}

/// Answers calls for one thread.
#[derive(Debug)]
pub struct Responder {
    service: Arc<Service>,
    pub tally: Arc<Tally>,
    detour: Option<Box<Detour>>,
    start: Instant,
    now: u64,
}

impl Responder {
    pub fn new(
        service: Arc<Service>,
        tally: Arc<Tally>,
        detour: Option<Detour>,
        start: Instant,
    ) -> Self {
        Self {
            service,
            tally,
            detour: detour.map(Box::new),
            start,
            now: 0,
        }
    }

    /// Reads the clock once for all that is received in one go.
    #[inline]
    pub fn refresh_clock(&mut self) {
        self.now = crate::clock::now();
    }

    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Notes when bytes were received, for the queue: all calls in them arrived by then.
    #[inline]
    pub fn note_arrival(&mut self) {
        if let Some(detour) = &mut self.detour {
            detour.arrival = self.start.elapsed();
        }
    }

    /// Whether replies may have to leave later than they are made, or be spoilt.
    pub fn has_detour(&self) -> bool {
        self.detour.is_some()
    }

    /// How long before a reply is due it must not be slept any more.
    pub fn spin(&self) -> Duration {
        let detour = self.detour.as_ref();
        let has_queue = detour.is_some_and(|detour| detour.queue.is_some());
        if has_queue { SPIN } else { Duration::ZERO }
    }

    /// Time since the server's start, by which rules and delays go.
    pub fn since_start(&self) -> Duration {
        self.start.elapsed()
    }

    /// How long everything is to stand still from now on.
    pub fn frozen_for(&self) -> Option<Duration> {
        let faults = self.detour.as_ref()?.faults.as_ref()?;
        let now = self.since_start();
        faults
            .frozen_until(now)
            .map(|until| until.saturating_sub(now))
    }

    /// Answers one call.
    #[inline]
    pub fn respond(&mut self, call: &[u8], ends: &Ends, sink: &mut ReplySink) -> Outcome {
        if self.detour.is_some() {
            return self.respond_by_detour(call, ends, sink);
        }
        self.service.serve(call, self.caller(ends), sink);
        Outcome::Answered
    }

    #[inline]
    fn caller<'a>(&'a self, ends: &'a Ends) -> Caller<'a> {
        Caller {
            ends,
            tally: &self.tally,
            now: self.now,
        }
    }

    #[cold]
    fn respond_by_detour(&mut self, call: &[u8], ends: &Ends, sink: &mut ReplySink) -> Outcome {
        let since_start = self.since_start();
        let procedure = Service::procedure_of(call);
        let (Some(procedure), Some(detour)) = (procedure, self.detour.as_mut()) else {
            self.service.serve(call, self.caller(ends), sink);
            return Outcome::Answered;
        };
        let faults = detour.faults.as_mut();
        let verdict = faults.map_or_else(Verdict::default, |faults| {
            faults.judge(procedure, since_start)
        });
        if verdict.is_disconnected {
            return Outcome::Disconnect;
        }
        if verdict.is_dropped {
            return Outcome::Answered;
        }
        let queued_until = detour.queued_until();
        let mut reply = Box::<ReplySink>::default();
        match verdict.error {
            Some(status) => self.service.refuse(call, status, &self.tally, &mut reply),
            None => self.service.serve(call, self.caller(ends), &mut reply),
        }
        self.spoil(verdict, ends.transport, &mut reply);
        if queued_until.is_none() && verdict.delay.is_zero() {
            sink.append(&mut reply);
            return Outcome::Answered;
        }
        Outcome::Later(queued_until.unwrap_or(since_start) + verdict.delay, reply)
    }

    fn spoil(&mut self, mut verdict: Verdict, transport: Transport, reply: &mut ReplySink) {
        // A datagram has no mark that could be too large.
        verdict.is_oversize &= transport == Transport::Tcp;
        let is_spoilt = verdict.truncate > 0 || verdict.corrupt > 0 || verdict.is_oversize;
        if reply.is_empty() || !(is_spoilt || verdict.is_unasked) {
            return;
        }
        let mut bytes = reply.to_vec();
        reply.clear();
        if verdict.is_unasked {
            let mut stranger = bytes.clone();
            // Callers count their xids up, so the complement is far from all in use.
            for byte in stranger.iter_mut().skip(4).take(4) {
                *byte = !*byte;
            }
            reply.extend(&stranger);
        }
        let detour = self.detour.as_mut();
        if let Some(faults) = detour.and_then(|detour| detour.faults.as_mut()) {
            faults.spoil(&verdict, &mut bytes);
        }
        reply.extend(&bytes);
    }
}
