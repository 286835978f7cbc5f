//! The ranks of a job as seen by rank 0: descriptions, messages, clock offsets.

use crate::clocks::ClockExchanges;
use crate::hello::{Hello, wall_ns};
use crate::job_error::JobError;
use crate::message::{FromRank, ToRank, decode, encode};
use crate::options::JobOptions;
use crate::transport::Transport;
use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// Number of exchanges for a clock offset.
const EXCHANGES: u32 = 32;
/// Initial timeout of one exchange; doubled after each timeout, up to the watchdog.
const EXCHANGE_TIMEOUT: Duration = Duration::from_millis(200);
/// Poll interval of the coordinator's messages.
pub const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Poll interval of the coordinator and of ranks during a measurement: the load needs the CPUs, and
/// messages are then mostly intervals.
pub const LOOK_WHILE_MEASURING: Duration = Duration::from_millis(20);

/// Description and time of day of a rank.
#[derive(Debug, Clone)]
pub struct RankInfo {
    pub hello: Option<Hello>,
    pub wall_ahead_ns: i64,
}

/// The ranks as seen by rank 0.
pub struct Members {
    pub transport: Box<dyn Transport>,
    pub options: JobOptions,
    pub known: Vec<RankInfo>,
    pub lost: BTreeSet<u32>,
    /// Messages that arrived while another one was awaited.
    pub inbox: VecDeque<(u32, FromRank)>,
    pings: Vec<u64>,
}

impl Members {
    /// Creates the list of ranks of this transport.
    pub fn new(transport: Box<dyn Transport>, options: JobOptions) -> Self {
        let size = transport.size() as usize;
        let mut known = vec![
            RankInfo {
                hello: None,
                wall_ahead_ns: 0,
            };
            size
        ];
        if let Some(own) = known.first_mut() {
            own.hello = Some(Hello::here(&options.version));
        }
        Self {
            transport,
            options,
            known,
            lost: BTreeSet::new(),
            inbox: VecDeque::new(),
            pings: vec![0; size],
        }
    }

    /// Returns the ranks that generate load and are not lost.
    pub fn makers(&self) -> Vec<u32> {
        let first = u32::from(self.options.coordinator_only);
        let all = first..self.transport.size();
        all.filter(|rank| !self.lost.contains(rank)).collect()
    }

    /// Waits until all ranks have reported, and refuses those that differ too much.
    pub fn greet(&mut self) -> Result<(), JobError> {
        let begun = Instant::now();
        let unknown = |known: &RankInfo| known.hello.is_none();
        while let Some(rank) = self.known.iter().position(unknown) {
            self.receive();
            if begun.elapsed() > self.options.greeting {
                return Err(JobError::NotThere {
                    rank: rank as u32,
                    seconds: self.options.greeting.as_secs(),
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
        for rank in 1..self.transport.size() {
            if !self.lost.contains(&rank) {
                self.exchange(rank);
                self.refuse_unlike(rank)?;
            }
        }
        Ok(())
    }

    fn refuse_unlike(&self, rank: u32) -> Result<(), JobError> {
        let of = |rank: u32| self.known.get(rank as usize);
        let (Some(own), Some(other)) = (of(0), of(rank)) else {
            return Ok(());
        };
        let (Some(here), Some(there)) = (&own.hello, &other.hello) else {
            return Ok(());
        };
        match there.unlike(here, other.wall_ahead_ns) {
            None => Ok(()),
            Some(what) => Err(JobError::Unlike {
                host: there.host.clone(),
                rank,
                what,
            }),
        }
    }

    /// Returns the name of a rank's host.
    pub fn host_of(&self, rank: u32) -> String {
        let hello = self.hello_of(rank);
        hello.map_or_else(|| format!("of rank {rank}"), |hello| hello.host.clone())
    }

    /// Returns the description that a rank has sent, if any.
    pub fn hello_of(&self, rank: u32) -> Option<&Hello> {
        let known = self.known.get(rank as usize)?;
        known.hello.as_ref()
    }

    /// Continues without these ranks. Sends each an eviction message in case it wakes up.
    pub fn evict(&mut self, lost: Vec<u32>) {
        for rank in &lost {
            self.tell(*rank, &ToRank::Evicted);
        }
        self.lost.extend(lost);
    }

    /// Moves received messages into the inbox; greetings are stored at once.
    pub fn receive(&mut self) {
        while let Some((from, bytes)) = self.transport.receive() {
            let Some(message) = decode::<FromRank>(&bytes) else {
                continue;
            };
            match (message, self.known.get_mut(from as usize)) {
                (FromRank::Hello(hello), Some(known)) => known.hello = Some(*hello),
                (message, Some(_)) => self.inbox.push_back((from, message)),
                (_, None) => {}
            }
        }
    }

    /// Sends a message to one rank.
    pub fn tell(&mut self, rank: u32, message: &ToRank) {
        if let Some(bytes) = encode(message) {
            // A rank that has ended is silent, too, and is detected by that.
            let _ = self.transport.send(rank, &bytes);
        }
    }

    /// Sends a message to all ranks other than this one and the lost ones.
    pub fn tell_all(&mut self, message: &ToRank) {
        let Some(bytes) = encode(message) else {
            return;
        };
        for rank in 1..self.transport.size() {
            if !self.lost.contains(&rank) {
                let _ = self.transport.send(rank, &bytes);
            }
        }
    }

    /// Measures the clock offsets of a rank.
    pub fn exchange(&mut self, rank: u32) -> ClockExchanges {
        let mut exchanges = ClockExchanges::default();
        let Some(ping) = encode(&ToRank::Ping) else {
            return exchanges;
        };
        let begun = Instant::now();
        let mut timeout = EXCHANGE_TIMEOUT;
        for _ in 0..EXCHANGES {
            let sent_ns = self.transport.now_ns();
            if self.transport.send(rank, &ping).is_err() {
                break;
            }
            if let Some(pings) = self.pings.get_mut(rank as usize) {
                *pings += 1;
            }
            let Some((clock_ns, wall_there)) = self.pong(rank, timeout) else {
                // A rank that is slow for a short time is not lost.
                let left = self.options.watchdog.saturating_sub(begun.elapsed());
                timeout = timeout.saturating_mul(2).min(left);
                if timeout.is_zero() {
                    break;
                }
                continue;
            };
            let received_ns = self.transport.now_ns();
            exchanges.add(sent_ns, clock_ns, received_ns);
            let ahead = i128::from(wall_there) - i128::from(wall_ns());
            if let Some(known) = self.known.get_mut(rank as usize) {
                known.wall_ahead_ns = ahead.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            }
        }
        self.tell(rank, &ToRank::PingAck);
        exchanges
    }

    /// Waits for the reply to the last ping. Polls without sleeping, because any sleep would add to
    /// the uncertainty.
    fn pong(&mut self, rank: u32, timeout: Duration) -> Option<(u64, u64)> {
        let wanted = self.pings.get(rank as usize).copied()?;
        let sent = Instant::now();
        while sent.elapsed() < timeout {
            self.receive();
            let mut answer = None;
            self.inbox.retain(|(from, message)| match message {
                FromRank::Pong {
                    count,
                    clock_ns,
                    wall_ns,
                } if *from == rank => {
                    if *count == wanted {
                        answer = Some((*clock_ns, *wall_ns));
                    }
                    false
                }
                _ => true,
            });
            if answer.is_some() {
                return answer;
            }
            std::thread::yield_now();
        }
        None
    }
}
