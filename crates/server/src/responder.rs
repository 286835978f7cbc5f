//! One thread's way from a call to its reply: the service, what is counted, and the faults.
//!
//! Without faults a call goes straight through to [`Service`]. With faults the reply is made
//! apart, spoilt as the rules say, and handed back with the time at which it is due.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::counters::Tally;
use crate::dispatch::{Caller, Service, Transport};
use crate::faults::{FaultSource, Verdict};
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

/// Answers calls for one thread.
#[derive(Debug)]
pub struct Responder {
    service: Arc<Service>,
    pub tally: Arc<Tally>,
    faults: Option<Box<FaultSource>>,
    start: Instant,
    now: u64,
}

impl Responder {
    pub fn new(
        service: Arc<Service>,
        tally: Arc<Tally>,
        faults: Option<FaultSource>,
        start: Instant,
    ) -> Self {
        Self {
            service,
            tally,
            faults: faults.map(Box::new),
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

    pub fn has_faults(&self) -> bool {
        self.faults.is_some()
    }

    /// Time since the server's start, by which rules and delays go.
    pub fn since_start(&self) -> Duration {
        self.start.elapsed()
    }

    /// How long everything is to stand still from now on.
    pub fn frozen_for(&self) -> Option<Duration> {
        let faults = self.faults.as_ref()?;
        let now = self.since_start();
        faults
            .frozen_until(now)
            .map(|until| until.saturating_sub(now))
    }

    /// Answers one call.
    #[inline]
    pub fn respond(
        &mut self,
        call: &[u8],
        transport: Transport,
        peer: Option<SocketAddr>,
        sink: &mut ReplySink,
    ) -> Outcome {
        if self.faults.is_some() {
            return self.respond_with_faults(call, transport, peer, sink);
        }
        self.service.serve(call, self.caller(transport, peer), sink);
        Outcome::Answered
    }

    #[inline]
    fn caller(&self, transport: Transport, peer: Option<SocketAddr>) -> Caller<'_> {
        Caller {
            transport,
            peer,
            tally: &self.tally,
            now: self.now,
        }
    }

    #[cold]
    fn respond_with_faults(
        &mut self,
        call: &[u8],
        transport: Transport,
        peer: Option<SocketAddr>,
        sink: &mut ReplySink,
    ) -> Outcome {
        let since_start = self.since_start();
        let procedure = Service::procedure_of(call);
        let (Some(procedure), Some(faults)) = (procedure, self.faults.as_mut()) else {
            self.service.serve(call, self.caller(transport, peer), sink);
            return Outcome::Answered;
        };
        let verdict = faults.judge(procedure, since_start);
        if verdict.is_disconnected {
            return Outcome::Disconnect;
        }
        if verdict.is_dropped {
            return Outcome::Answered;
        }
        let mut reply = Box::<ReplySink>::default();
        match verdict.error {
            Some(status) => self.service.refuse(call, status, &self.tally, &mut reply),
            None => self
                .service
                .serve(call, self.caller(transport, peer), &mut reply),
        }
        self.spoil(verdict, transport, &mut reply);
        if verdict.delay.is_zero() {
            sink.append(&mut reply);
            return Outcome::Answered;
        }
        Outcome::Later(since_start + verdict.delay, reply)
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
        if let Some(faults) = self.faults.as_mut() {
            faults.spoil(&verdict, &mut bytes);
        }
        reply.extend(&bytes);
    }
}
