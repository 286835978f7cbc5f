//! A rank that waits for parts of jobs and runs them.

use crate::hello::{Hello, wall_ns};
use crate::members::{LOOK_EVERY, LOOK_WHILE_MEASURING};
use crate::message::{FromRank, ToRank, decode, encode};
use crate::rank_run::{RankRun, Runner};
use crate::transport::{Transport, TransportError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Rank of the coordinator.
pub const COORDINATOR: u32 = 0;
/// Interval of keep-alive messages while a rank runs a part.
pub const ALIVE_EVERY: Duration = Duration::from_millis(250);
/// Time after a ping during which a rank polls without sleeping: any sleep adds to the uncertainty
/// of the clock offset.
const PINGED_FOR: Duration = Duration::from_millis(50);
/// Longest wait for its release of a rank that is stopped between jobs. The coordinator, usually
/// stopped at the same time, may still be cleaning up for other ranks. A rank that leaves earlier
/// waits within MPI, also for lost ranks.
const LET_GO_WITHIN: Duration = Duration::from_secs(20);

/// Runs the parts of jobs that the coordinator assigns to this rank, until the coordinator shuts
/// down, evicts this rank, or is silent for too long during a job. `stop` ends a part in order, and
/// then the rank if the coordinator does not. Returns whether another rank was lost and must not be
/// waited for.
pub fn serve(
    transport: &mut dyn Transport,
    version: &str,
    runner: &Arc<dyn Runner>,
    stop: &AtomicBool,
) -> Result<bool, TransportError> {
    let alive = encode(&FromRank::KeepAlive);
    let mut serving = Serving {
        transport,
        runner,
        run: None,
        has_begun: false,
        pings: 0,
        pinged: None,
        heard: Instant::now(),
        said: Instant::now(),
        stopped: None,
        silence: Duration::MAX,
    };
    serving.say(&FromRank::Hello(Box::new(Hello::here(version))))?;
    loop {
        while let Some((from, bytes)) = serving.transport.receive() {
            if from == COORDINATOR
                && let Next::Leave { is_one_lost } = serving.follow(&bytes)?
            {
                return Ok(is_one_lost);
            }
        }
        serving.pass_on(stop)?;
        if let Some(alive) = &alive {
            serving.say_alive(alive)?;
        }
        if serving.is_left_alone(stop) {
            return Ok(true);
        }
        if serving.is_forsaken() {
            return Err(TransportError::Gone(COORDINATOR));
        }
        serving.rest();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Stay,
    Leave { is_one_lost: bool },
}

struct Serving<'rank> {
    transport: &'rank mut dyn Transport,
    runner: &'rank Arc<dyn Runner>,
    run: Option<RankRun>,
    /// Whether the run has received its start time.
    has_begun: bool,
    pings: u64,
    /// Time of the last ping, unless it was the last of its series.
    pinged: Option<Instant>,
    /// Time of the last message from the coordinator, and of the last one to it.
    heard: Instant,
    said: Instant,
    /// When this rank was first seen stopped and idle.
    stopped: Option<Instant>,
    silence: Duration,
}

impl Serving<'_> {
    fn say(&mut self, message: &FromRank) -> Result<(), TransportError> {
        self.said = Instant::now();
        match encode(message) {
            Some(bytes) => self.transport.send(COORDINATOR, &bytes),
            None => Ok(()),
        }
    }

    fn follow(&mut self, bytes: &[u8]) -> Result<Next, TransportError> {
        self.heard = Instant::now();
        match (decode::<ToRank>(bytes), &self.run) {
            (Some(ToRank::Ping), _) => self.answer()?,
            (Some(ToRank::PingAck), _) => self.pinged = None,
            (Some(ToRank::Shutdown { is_one_lost }), _) => return Ok(Next::Leave { is_one_lost }),
            (Some(ToRank::Evicted), _) => return Err(TransportError::GivenUp),
            (Some(ToRank::Run(order)), None) => {
                self.silence = Duration::from_millis(order.silence_ms);
                self.transport.set_patience(self.silence);
                self.has_begun = false;
                self.run = RankRun::start(&order, self.transport.rank(), self.runner);
            }
            (Some(ToRank::Start { at_ns }), Some(run)) => {
                self.has_begun = true;
                run.start_at(self.transport.instant_of(at_ns));
            }
            (Some(ToRank::Offer { load_ops_per_s }), Some(run)) => run.offer(load_ops_per_s),
            (Some(ToRank::Finish), Some(run)) => run.finish(),
            (Some(ToRank::End), Some(run)) => run.end(),
            (Some(ToRank::Stop), Some(run)) => run.stop(),
            // No action needed; or of another version, which the coordinator has refused.
            _ => {}
        }
        Ok(Next::Stay)
    }

    fn answer(&mut self) -> Result<(), TransportError> {
        self.pings += 1;
        self.pinged = Some(Instant::now());
        let pong = FromRank::Pong {
            count: self.pings,
            clock_ns: self.transport.now_ns(),
            wall_ns: wall_ns(),
        };
        self.say(&pong)
    }

    /// Forwards messages of the run to the coordinator.
    fn pass_on(&mut self, stop: &AtomicBool) -> Result<(), TransportError> {
        let Some(run) = &self.run else {
            return Ok(());
        };
        if stop.load(Ordering::Acquire) {
            run.stop();
        }
        while let Some(message) = self.run.as_ref().and_then(RankRun::told) {
            let is_over = matches!(message, FromRank::Ended(_));
            self.say(&message)?;
            if is_over {
                self.run = None;
            }
        }
        Ok(())
    }

    fn say_alive(&mut self, alive: &Arc<[u8]>) -> Result<(), TransportError> {
        if self.run.is_none() || self.said.elapsed() < ALIVE_EVERY {
            return Ok(());
        }
        self.said = Instant::now();
        self.transport.send(COORDINATOR, alive)
    }

    /// Returns whether this rank was stopped between jobs and has not been released since.
    fn is_left_alone(&mut self, stop: &AtomicBool) -> bool {
        if self.run.is_some() || !stop.load(Ordering::Acquire) {
            return false;
        }
        let stopped = self.stopped.get_or_insert_with(Instant::now);
        stopped.elapsed() > LET_GO_WITHIN
    }

    /// Returns whether the coordinator is silent during a job.
    fn is_forsaken(&self) -> bool {
        self.run.is_some() && self.heard.elapsed() > self.silence
    }

    fn rest(&mut self) {
        match self.pinged {
            Some(at) if at.elapsed() < PINGED_FOR => std::thread::yield_now(),
            _ if self.run.is_some() && self.has_begun => std::thread::sleep(LOOK_WHILE_MEASURING),
            _ => std::thread::sleep(LOOK_EVERY),
        }
    }
}
