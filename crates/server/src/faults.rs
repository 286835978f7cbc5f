//! Fault injection by rules, for tests of error handling in clients.
//!
//! Rules apply to calls of NFSv3 and requests of SMB; MOUNT, the port mapper, and the requests that
//! set up an SMB tree connection always work unless a rule names them, so that a client can
//! connect. The first request of a compound decides. Several rules may apply to the same call:
//! delays add up, the first error counts, and modifications of the reply are applied in the order
//! truncate, corrupt, oversize.
//!
//! A call that is dropped, refused or answered by a disconnect is *not* executed.

mod burn;
mod parse;

use std::time::Duration;

use filestone_wire::nfs3::{Procedure, Status};
use filestone_wire::smb2::{self, Command, HEADER_LEN, ProtocolId};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use self::burn::Cost;
pub use self::parse::RuleParseError;
pub(crate) use self::parse::time_of;
use crate::smb2::{SessionEnd, is_work};

/// A rule, as in `--fault`: see [`str::parse`] and [`RuleParseError`] for the syntax.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultRule {
    /// A fault that applies to some of the calls.
    Fault(Fault),
    /// A freeze of the whole server.
    Freeze(Freeze),
}

/// A fault and the calls that it applies to.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Effect of the fault.
    pub effect: Effect,
    /// Procedures and commands that it applies to.
    pub procedures: ProcedureSet,
    /// Probability per call; 1 applies to all.
    pub probability: f64,
    /// Time window: from and to, since the start of the server.
    pub window: Option<(Duration, Duration)>,
}

impl Fault {
    /// Creates a fault with `effect` for all calls at all times.
    pub fn always(effect: Effect) -> Self {
        Self {
            effect,
            procedures: ProcedureSet::ALL,
            probability: 1.0,
            window: None,
        }
    }

    fn is_due(&self, asked: RequestKind, since_start: Duration) -> bool {
        let is_in_window = self
            .window
            .is_none_or(|(from, to)| (from..to).contains(&since_start));
        self.procedures.contains(asked) && is_in_window
    }
}

/// Effect of a fault on a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// Delays the reply. Other calls are served in the meantime, so replies are reordered.
    Delay(Delay),
    /// A procedure of NFSv3 returns this status; no effect on requests of SMB.
    Error(Status),
    /// A request of SMB returns this status; no effect on calls of NFSv3.
    ErrorOfSmb(smb2::Status),
    /// A listing repeats its first page forever: it restarts at each request and never ends.
    Loop,
    /// No reply is sent.
    Drop,
    /// The connection is closed. Over UDP, which has none, no reply is sent.
    Disconnect,
    /// The reply ends this many bytes early; its record mark is consistent.
    Truncate {
        /// Bytes missing.
        bytes: u32,
    },
    /// This many bytes of the reply after its xid are modified.
    Corrupt {
        /// Bytes changed.
        bytes: u32,
    },
    /// The record mark announces 2 GiB. No effect over UDP, which has no mark.
    Oversize,
    /// An unsolicited reply precedes the reply.
    Unasked,
    /// The signature of an SMB response is wrong, or the authentication tag if it is encrypted.
    Signature,
    /// A response of SMB grants no credits.
    Credits,
    /// The session of an SMB request ends before the request is processed.
    EndSession(SessionEnd),
    /// An SMB request is answered with STATUS_PENDING, and then never completed.
    Pending,
    /// The serving thread burns this much additional CPU time.
    Burn(Duration),
    /// The serving thread yields its CPU this many times, and waits.
    Switches {
        /// Voluntary context switches.
        count: u32,
    },
}

/// Delay of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delay {
    /// Constant.
    Fixed(Duration),
    /// Exponentially distributed.
    Exponential {
        /// Mean of the distribution.
        mean: Duration,
    },
}

/// The whole server sends no replies for a while, and then continues with the queued calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freeze {
    /// Start, since the start of the server.
    pub at: Duration,
    /// Length.
    pub lasting: Duration,
}

/// Kind of a client's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// A procedure of NFSv3.
    Procedure(Procedure),
    /// A command of SMB.
    Command(Command),
}

/// A set of procedures of NFSv3 and commands of SMB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcedureSet {
    nfs3: u32,
    smb2: u32,
}

impl ProcedureSet {
    /// All members, except the commands that set up a tree connection.
    pub const ALL: Self = Self {
        nfs3: u32::MAX,
        smb2: work_commands(),
    };
    /// The empty set.
    pub const NONE: Self = Self { nfs3: 0, smb2: 0 };

    /// Returns the set with one more member.
    #[must_use]
    pub fn with(self, asked: RequestKind) -> Self {
        match asked {
            RequestKind::Procedure(procedure) => Self {
                nfs3: self.nfs3 | 1 << procedure.number(),
                ..self
            },
            RequestKind::Command(command) => Self {
                smb2: self.smb2 | 1 << command.number(),
                ..self
            },
        }
    }

    /// Returns whether the set contains this member.
    pub fn contains(self, asked: RequestKind) -> bool {
        match asked {
            RequestKind::Procedure(procedure) => self.nfs3 & 1 << procedure.number() != 0,
            RequestKind::Command(command) => self.smb2 & 1 << command.number() != 0,
        }
    }
}

const fn work_commands() -> u32 {
    let (mut set, mut index) = (0, 0);
    while index < Command::ALL.len() {
        let command = Command::ALL[index];
        if is_work(command) {
            set |= 1 << command.number();
        }
        index += 1;
    }
    set
}

/// Framing of replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FramingKind {
    /// A record of RPC, which begins with an xid.
    Record,
    /// A frame of SMB.
    Frame,
}

impl FramingKind {
    fn mark(self, len: u32) -> [u8; 4] {
        match self {
            Self::Record => (len | 1 << 31).to_be_bytes(),
            Self::Frame => len.to_be_bytes(),
        }
    }

    /// Returns a mark with a length that no peer sends.
    const fn oversized(self) -> [u8; 4] {
        match self {
            Self::Record => [0xff; 4],
            Self::Frame => [0, 0xff, 0xff, 0xff],
        }
    }

    /// Returns the number of bytes after the mark that identify the bytes as a reply.
    const fn kept(self) -> usize {
        match self {
            Self::Record => 4,
            Self::Frame => HEADER_LEN,
        }
    }

    /// Returns the range of a reply, with its mark, that identifies its request.
    pub fn identity(self) -> std::ops::Range<usize> {
        match self {
            Self::Record => 4..8,
            // MessageId.
            Self::Frame => 28..36,
        }
    }
}

/// Fault decisions for one call.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct FaultPlan {
    pub delay: Duration,
    pub error: Option<Status>,
    pub error_of_smb: Option<smb2::Status>,
    pub is_looped: bool,
    pub is_dropped: bool,
    pub is_disconnected: bool,
    pub truncate: u32,
    pub corrupt: u32,
    pub is_oversize: bool,
    pub is_unasked: bool,
    pub is_missigned: bool,
    pub has_no_credits: bool,
    pub session_end: Option<SessionEnd>,
    pub is_pending: bool,
    pub burn: Duration,
    pub switches: u32,
}

/// The rules of a server, with the random generator of one thread.
#[derive(Debug)]
pub(crate) struct FaultSource {
    faults: Vec<Fault>,
    freezes: Vec<Freeze>,
    random: Xoshiro256PlusPlus,
    cost: Cost,
}

impl FaultSource {
    /// Returns `None` without rules, so that the common case costs one check.
    pub fn new(rules: &[FaultRule], seed: u64) -> Option<Self> {
        let mut source = Self {
            faults: Vec::new(),
            freezes: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            cost: Cost::default(),
        };
        for rule in rules {
            match rule {
                FaultRule::Fault(fault) => source.faults.push(fault.clone()),
                FaultRule::Freeze(freeze) => source.freezes.push(*freeze),
            }
        }
        (!rules.is_empty()).then_some(source)
    }

    /// Returns the end of the current freeze.
    pub fn frozen_until(&self, since_start: Duration) -> Option<Duration> {
        let ends = self
            .freezes
            .iter()
            .map(|freeze| (freeze.at, freeze.at + freeze.lasting));
        ends.filter(|(from, to)| (*from..*to).contains(&since_start))
            .map(|(_, to)| to)
            .max()
    }

    /// Decides on the faults of one call.
    pub fn evaluate(&mut self, asked: RequestKind, since_start: Duration) -> FaultPlan {
        let mut verdict = FaultPlan::default();
        for fault in &self.faults {
            if !fault.is_due(asked, since_start)
                || (fault.probability < 1.0 && unit(&mut self.random) >= fault.probability)
            {
                continue;
            }
            match fault.effect {
                Effect::Delay(Delay::Fixed(time)) => verdict.delay += time,
                Effect::Delay(Delay::Exponential { mean }) => {
                    verdict.delay += exponential(mean, unit(&mut self.random));
                }
                Effect::ErrorOfSmb(status) => {
                    verdict.error_of_smb = verdict.error_of_smb.or(Some(status));
                }
                Effect::Error(status) => verdict.error = verdict.error.or(Some(status)),
                Effect::Loop => verdict.is_looped = true,
                Effect::Drop => verdict.is_dropped = true,
                Effect::Disconnect => verdict.is_disconnected = true,
                Effect::Truncate { bytes } => verdict.truncate += bytes,
                Effect::Corrupt { bytes } => verdict.corrupt += bytes,
                Effect::Oversize => verdict.is_oversize = true,
                Effect::Unasked => verdict.is_unasked = true,
                Effect::Signature => verdict.is_missigned = true,
                Effect::Credits => verdict.has_no_credits = true,
                Effect::EndSession(end) => {
                    verdict.session_end = verdict.session_end.or(Some(end));
                }
                Effect::Pending => verdict.is_pending = true,
                Effect::Burn(time) => verdict.burn += time,
                Effect::Switches { count } => verdict.switches += count,
            }
        }
        verdict
    }

    /// Spends the artificial cost of a call, on the thread that serves it.
    pub fn spend(&mut self, verdict: &FaultPlan) {
        self.cost.burn(verdict.burn);
        self.cost.switch(verdict.switches);
    }

    /// Modifies the bytes of a reply, including its mark, as decided.
    pub fn spoil(&mut self, verdict: &FaultPlan, shape: FramingKind, reply: &mut Vec<u8>) {
        const MARK: usize = 4;
        if verdict.truncate > 0 {
            let len = reply
                .len()
                .saturating_sub(verdict.truncate as usize)
                .max(MARK);
            reply.truncate(len);
            reply.splice(..MARK, shape.mark((len - MARK) as u32));
        }
        let body = reply.get_mut(MARK + shape.kept()..).unwrap_or_default();
        for _ in 0..verdict.corrupt {
            let index = self.random.next_u64() % (body.len() as u64).max(1);
            // A difference of zero would not modify the byte.
            let difference = 1 + (self.random.next_u64() % 255) as u8;
            if let Some(byte) = body.get_mut(index as usize) {
                *byte ^= difference;
            }
        }
        if verdict.is_oversize {
            reply.splice(..MARK.min(reply.len()), shape.oversized());
        }
        if verdict.is_missigned {
            let message = reply.get(MARK..).unwrap_or_default();
            let signature_at = match ProtocolId::of(message) {
                Some(ProtocolId::Transform) => MARK + ProtocolId::Transform.bytes().len(),
                _ => MARK + smb2::Header::SIGNATURE_AT,
            };
            if let Some(byte) = reply.get_mut(signature_at) {
                *byte ^= 1;
            }
        }
    }
}

/// Returns a uniform random number in 0..1.
pub(crate) fn unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Inverse of the distribution function: −mean · ln(1 − u). For u = 0.5 and a mean of 2 ms, 1.386
/// ms.
pub(crate) fn exponential(mean: Duration, unit: f64) -> Duration {
    mean.mul_f64(-(1.0 - unit).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NULL: RequestKind = RequestKind::Procedure(Procedure::Null);

    /// A rule for READ applies to both protocols; one without a procedure to all requests except
    /// those of connection setup.
    #[test]
    fn rules_hit_requests_of_smb() {
        let mut faults = source(&["drop,proc=read", "error=STATUS_DISK_FULL,proc=write+echo"]);
        let mut judge = |command| faults.evaluate(RequestKind::Command(command), Duration::ZERO);
        assert!(judge(Command::Read).is_dropped);
        let error = Some(smb2::Status::DISK_FULL);
        assert_eq!(judge(Command::Write).error_of_smb, error);
        assert_eq!(judge(Command::Echo).error_of_smb, error);
        assert_eq!(judge(Command::Create), FaultPlan::default());
        let mut faults = source(&["pending"]);
        let mut judge = |command| {
            faults
                .evaluate(RequestKind::Command(command), Duration::ZERO)
                .is_pending
        };
        assert!(judge(Command::Create));
        assert!(!judge(Command::SessionSetup));
    }

    /// In a frame of SMB the mark contains the length, and the header is not modified.
    #[test]
    fn a_spoilt_frame_is_spoilt_as_told() {
        let message = [&b"\xfeSMB"[..], &[7; 60], &[0; 8]].concat();
        let frame = [&[0, 0, 0, 72][..], &message].concat();
        let mut faults = source(&["drop"]);
        let mut spoilt = |verdict: FaultPlan| {
            let mut bytes = frame.clone();
            faults.spoil(&verdict, FramingKind::Frame, &mut bytes);
            bytes
        };
        let truncate = 4;
        let cut = spoilt(FaultPlan {
            truncate,
            ..FaultPlan::default()
        });
        assert_eq!((cut.len(), &cut[..4]), (72, &[0, 0, 0, 68][..]));
        let corrupt = spoilt(FaultPlan {
            corrupt: 1,
            ..FaultPlan::default()
        });
        assert_eq!(corrupt[..68], frame[..68]);
        assert_ne!(corrupt[68..], frame[68..]);
        let missigned = spoilt(FaultPlan {
            is_missigned: true,
            ..FaultPlan::default()
        });
        let differs = |at: &usize| missigned[*at] != frame[*at];
        assert_eq!((0..76).filter(differs).collect::<Vec<_>>(), [52]);
    }

    fn source(texts: &[&str]) -> FaultSource {
        let rules: Vec<FaultRule> = texts.iter().map(|text| text.parse().unwrap()).collect();
        FaultSource::new(&rules, 1).unwrap()
    }

    #[test]
    fn without_rules_there_is_no_source() {
        assert!(FaultSource::new(&[], 1).is_none());
    }

    #[test]
    fn rules_hit_their_procedures_in_their_window_only() {
        let mut faults = source(&["error=NFS3ERR_IO,proc=getattr+read,from=1s,to=2s"]);
        let mut error = |procedure, ms| {
            let asked = RequestKind::Procedure(procedure);
            faults.evaluate(asked, Duration::from_millis(ms)).error
        };
        assert_eq!(error(Procedure::Getattr, 1000), Some(Status::IO));
        assert_eq!(error(Procedure::Read, 1999), Some(Status::IO));
        assert_eq!(error(Procedure::Read, 999), None);
        assert_eq!(error(Procedure::Read, 2000), None);
        assert_eq!(error(Procedure::Write, 1500), None);
    }

    #[test]
    fn a_probability_is_kept_and_a_seed_repeats_it() {
        let draw = || -> Vec<bool> {
            let mut faults = source(&["drop,p=0.25"]);
            (0..10_000)
                .map(|_| faults.evaluate(NULL, Duration::ZERO).is_dropped)
                .collect()
        };
        let dropped = draw().iter().filter(|&&dropped| dropped).count();
        // The standard deviation is 43.
        assert!((2300..2700).contains(&dropped), "{dropped}");
        assert_eq!(draw(), draw());
    }

    #[test]
    fn exponential_delays_have_their_mean() {
        let mut faults = source(&["delay=exp:2ms"]);
        let sum: Duration = (0..10_000)
            .map(|_| faults.evaluate(NULL, Duration::ZERO).delay)
            .sum();
        let mean = sum / 10_000;
        assert!((1900..2100).contains(&mean.as_micros()), "{mean:?}");
    }

    #[test]
    fn a_freeze_has_a_beginning_and_an_end() {
        let faults = source(&["freeze=1s@4s"]);
        let at = |ms| faults.frozen_until(Duration::from_millis(ms));
        assert_eq!(at(3999), None);
        assert_eq!(at(4000), Some(Duration::from_secs(5)));
        assert_eq!(at(5000), None);
    }

    #[test]
    fn a_spoilt_reply_is_spoilt_as_told() {
        let reply = [&[0x80, 0, 0, 12][..], &[1, 2, 3, 4], &[0; 8]].concat();
        let mut faults = source(&["drop"]);
        let mut cut = reply.clone();
        faults.spoil(
            &FaultPlan {
                truncate: 5,
                ..FaultPlan::default()
            },
            FramingKind::Record,
            &mut cut,
        );
        assert_eq!(cut, [&[0x80, 0, 0, 7][..], &[1, 2, 3, 4], &[0; 3]].concat());
        let mut corrupt = reply.clone();
        faults.spoil(
            &FaultPlan {
                corrupt: 1,
                ..FaultPlan::default()
            },
            FramingKind::Record,
            &mut corrupt,
        );
        assert_eq!(corrupt[..8], reply[..8]);
        assert_eq!(
            corrupt.iter().zip(&reply).filter(|(a, b)| a != b).count(),
            1
        );
        let mut oversize = reply.clone();
        faults.spoil(
            &FaultPlan {
                is_oversize: true,
                ..FaultPlan::default()
            },
            FramingKind::Record,
            &mut oversize,
        );
        assert_eq!(
            (&oversize[..4], &oversize[4..]),
            (&[0xff; 4][..], &reply[4..])
        );
        let mut gone = reply;
        faults.spoil(
            &FaultPlan {
                truncate: 1000,
                corrupt: 3,
                ..FaultPlan::default()
            },
            FramingKind::Record,
            &mut gone,
        );
        assert_eq!(gone, [0x80, 0, 0, 0]);
    }
}
