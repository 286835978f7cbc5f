//! MPI transport: messages between ranks.
//!
//! Only point-to-point messages, polled: a rank that waits in a collective uses a full CPU, and a
//! dead rank blocks all others in the collective. For the same reason messages are sent in short
//! pieces: libraries send only the head of a long message until it is matched (the rendezvous
//! protocol), and a receiver that has matched it waits for the rest forever if the sender dies
//! before sending it.

use crate::serving::COORDINATOR;
use crate::transport::{Transport, TransportError};
use mpi::environment::Universe;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use mpi::{Tag, Threading};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Default for the longest time that the coordinator may take no message of a rank.
const TAKEN_WITHIN: Duration = Duration::from_secs(300);
/// Time limit for a rank that leaves until the coordinator has taken its messages.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);
/// Interval between polls for a taken message.
const LOOK_EVERY: Duration = Duration::from_micros(500);
/// Messages up to this length are cached because they recur.
const KEPT_BYTES: usize = 24;
/// Longest piece of a message. A message of up to this length arrives whole or not at all:
/// libraries send at least 4 KiB eagerly, their headers included (Open MPI between processes of a
/// host; other libraries more).
const PIECE_BYTES: usize = 2048;
/// Tags of the last piece of a message and of the pieces before it.
const LAST: Tag = 0;
const MORE: Tag = 1;

/// A rank of MPI_COMM_WORLD.
pub struct MpiTransport {
    // Before `universe`, because fields are dropped in this order.
    pending: Vec<Request<'static, [u8], StaticScope>>,
    world: SimpleCommunicator,
    universe: Universe,
    epoch: Instant,
    patience: Duration,
    kept: HashMap<Vec<u8>, &'static [u8]>,
    /// Last message that was sent to several ranks.
    last: Option<(Arc<[u8]>, &'static [u8])>,
    /// Pieces of incomplete messages, by sending rank.
    begun: BTreeMap<u32, Vec<u8>>,
}

/// Returns name and version of the MPI library: `Open MPI v4.1.4`, `MPICH 4.0.2`. Works without a
/// launcher.
pub fn library_version() -> String {
    let whole = mpi::environment::library_version().unwrap_or_default();
    let first = whole.lines().next().unwrap_or_default();
    let name = first.split(',').next().unwrap_or_default();
    let words = name.split_whitespace().filter(|word| *word != "Version:");
    words.collect::<Vec<_>>().join(" ")
}

impl MpiTransport {
    /// Initializes MPI; `None` if it was initialized before. Only this thread may use the
    /// transport.
    pub fn start() -> Option<Self> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        Some(Self {
            pending: Vec::new(),
            world,
            universe,
            epoch: Instant::now(),
            patience: TAKEN_WITHIN,
            kept: HashMap::new(),
            last: None,
            begun: BTreeMap::new(),
        })
    }

    /// Leaks a copy of `message`. The coordinator waits for no rank, so its messages must stay in
    /// memory until they have been taken, possibly forever. The leak is one plan per job and some
    /// bytes per start and load change; recurring messages are leaked only once.
    fn leaked(&mut self, message: &Arc<[u8]>) -> &'static [u8] {
        if let Some(kept) = self.kept.get(&**message) {
            return kept;
        }
        if let Some((last, leaked)) = &self.last
            && Arc::ptr_eq(last, message)
        {
            return leaked;
        }
        let leaked: &'static [u8] = Box::leak(message.to_vec().into_boxed_slice());
        if message.len() <= KEPT_BYTES {
            self.kept.insert(message.to_vec(), leaked);
        }
        self.last = Some((Arc::clone(message), leaked));
        leaked
    }

    fn forget_what_was_taken(&mut self) {
        for request in std::mem::take(&mut self.pending) {
            if let Err(request) = request.test() {
                self.pending.push(request);
            }
        }
    }

    /// Sleeps until a message has been taken. A buffer that MPI still reads cannot be freed, so
    /// this ends the process if the coordinator takes no message for too long.
    fn send_and_wait(&self, to: i32, message: &[u8]) {
        let process = self.world.process_at_rank(to);
        mpi::request::scope(|scope| {
            let begun = Instant::now();
            // All pieces at once: each is taken only when the coordinator polls.
            let send = |(piece, tag)| process.immediate_send_with_tag(scope, piece, tag);
            let mut untaken: Vec<_> = pieces(message).map(send).collect();
            loop {
                let requests = untaken.into_iter();
                untaken = requests
                    .filter_map(|request| request.test().err())
                    .collect();
                if untaken.is_empty() {
                    return;
                }
                if begun.elapsed() > self.patience {
                    self.world.abort(4);
                }
                std::thread::sleep(LOOK_EVERY);
            }
        });
    }
}

/// Splits a message into pieces, each with its tag.
fn pieces(message: &[u8]) -> impl Iterator<Item = (&[u8], Tag)> {
    let last = message.len().div_ceil(PIECE_BYTES).saturating_sub(1);
    let numbered = message.chunks(PIECE_BYTES).enumerate();
    numbered.map(move |(number, piece)| (piece, if number == last { LAST } else { MORE }))
}

impl Transport for MpiTransport {
    fn rank(&self) -> u32 {
        self.world.rank().unsigned_abs()
    }

    fn size(&self) -> u32 {
        self.world.size().unsigned_abs()
    }

    fn send(&mut self, to: u32, message: &Arc<[u8]>) -> Result<(), TransportError> {
        let rank = i32::try_from(to).map_err(|_| TransportError::Gone(to))?;
        if to >= self.size() {
            return Err(TransportError::Gone(to));
        }
        if self.rank() != COORDINATOR {
            self.send_and_wait(rank, message);
            return Ok(());
        }
        let leaked = self.leaked(message);
        let process = self.world.process_at_rank(rank);
        for (piece, tag) in pieces(leaked) {
            let request = process.immediate_send_with_tag(StaticScope, piece, tag);
            if let Err(request) = request.test() {
                self.pending.push(request);
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> Option<(u32, Vec<u8>)> {
        self.forget_what_was_taken();
        loop {
            let found = self.world.any_process().immediate_matched_probe()?;
            let (piece, status) = found.matched_receive_vec::<u8>();
            let from = status.source_rank().unsigned_abs();
            let message = self.begun.entry(from).or_default();
            message.extend_from_slice(&piece);
            if status.tag() == LAST {
                return Some((from, std::mem::take(message)));
            }
        }
    }

    fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    fn instant_of(&self, at_ns: u64) -> Instant {
        self.epoch + Duration::from_nanos(at_ns)
    }

    fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    fn leave(mut self: Box<Self>, is_one_lost: bool) {
        let begun = Instant::now();
        while !self.pending.is_empty() && begun.elapsed() < LEAVE_WITHIN {
            self.forget_what_was_taken();
            std::thread::sleep(LOOK_EVERY);
        }
        if is_one_lost || !self.pending.is_empty() {
            // Finalizing MPI would wait for a lost rank forever. A launcher ends the other ranks
            // when a rank ends without finalizing; Open MPI's launcher ends itself if it receives
            // an abort at that time.
            std::mem::forget(std::mem::take(&mut self.pending));
            std::mem::forget(self.universe);
            return;
        }
        drop(self.universe);
    }
}
