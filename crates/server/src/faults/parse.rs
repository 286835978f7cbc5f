//! Parser of fault rules from the command line: `delay=exp:2ms,proc=read,p=0.5`.

use std::str::FromStr;
use std::time::Duration;

use filestone_wire::nfs3::{Procedure, Status};
use filestone_wire::smb2::{self, Command};

use crate::smb2::SessionEnd;

use super::{Delay, Effect, Fault, FaultRule, Freeze, ProcedureSet, RequestKind};

/// Default number of bytes for `truncate` and `corrupt`.
const TRUNCATED_BYTES: u32 = 4;
const CORRUPTED_BYTES: u32 = 1;
/// Largest artificial cost of one call, so that a server can still be stopped.
const BURN_MAX: Duration = Duration::from_secs(1);
const SWITCHES_MAX: u32 = 1000;

/// Syntax error in a rule, with the expected syntax.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleParseError {
    /// The first word is not a fault.
    #[error(
        "\"{0}\" is not a fault; expected delay=TIME, delay=exp:MEAN, freeze=TIME@TIME, loop, \
         error=STATUS, drop, disconnect, truncate[=BYTES], corrupt[=BYTES], oversize, unasked, signature, credits, \
         session-deleted, share-closed, session-expired, pending, burn=TIME or switches=N"
    )]
    Effect(String),
    /// A further word is not a condition.
    #[error(
        "\"{0}\" is not a condition; expected proc=PROCEDURE[+PROCEDURE…], p=PROBABILITY, \
         from=TIME or to=TIME"
    )]
    Condition(String),
    /// Exceeds the largest CPU time of a call.
    #[error("burn={0} is too long; expected 1s at most, for one call")]
    Burn(String),
    /// Invalid count of context switches.
    #[error("\"{0}\" is not a number of context switches; expected 1 to 1000, for one call")]
    Switches(String),
    /// A freeze with conditions.
    #[error("\"{0}\" after freeze: a freeze is of the whole server and takes no conditions")]
    FreezeCondition(String),
    /// Invalid time.
    #[error(
        "\"{0}\" is not a time; expected a number with ns, us, ms, s or m, such as 5ms or 1.5s"
    )]
    Time(String),
    /// Unknown status.
    #[error(
        "\"{0}\" is not a status of NFSv3 or SMB; expected a name such as NFS3ERR_IO or \
         STATUS_ACCESS_DENIED"
    )]
    Status(String),
    /// Unknown procedure.
    #[error(
        "\"{0}\" is not a procedure of NFSv3 or a command of SMB; expected a name such as read, \
         getattr or query_directory"
    )]
    Procedure(String),
    /// Invalid probability.
    #[error("\"{0}\" is not a probability; expected a number from 0 to 1")]
    Probability(String),
    /// Invalid count of bytes.
    #[error("\"{0}\" is not a number of bytes; expected a whole number of at least 1")]
    Bytes(String),
    /// An empty window.
    #[error("from={from:?} to={to:?} is no time at all; expected to= after from=")]
    Window {
        /// Start of the window.
        from: Duration,
        /// End of the window, which is not after the start.
        to: Duration,
    },
}

impl FromStr for FaultRule {
    type Err = RuleParseError;

    fn from_str(text: &str) -> Result<Self, RuleParseError> {
        let mut words = text.split(',').map(str::trim);
        let first = words.next().unwrap_or_default();
        if let Some(freeze) = first.strip_prefix("freeze=") {
            return match words.next() {
                Some(word) => Err(RuleParseError::FreezeCondition(word.into())),
                None => freeze_of(freeze).map(Self::Freeze),
            };
        }
        let mut fault = Fault::always(effect_of(first)?);
        let (mut from, mut to) = (None, None);
        for word in words {
            match word.split_once('=') {
                Some(("proc", names)) => fault.procedures = procedures_of(names)?,
                Some(("p", number)) => fault.probability = probability_of(number)?,
                Some(("from", time)) => from = Some(time_of(time)?),
                Some(("to", time)) => to = Some(time_of(time)?),
                _ => return Err(RuleParseError::Condition(word.into())),
            }
        }
        fault.window = window_of(from, to)?;
        Ok(Self::Fault(fault))
    }
}

fn effect_of(word: &str) -> Result<Effect, RuleParseError> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    Ok(match (name, value) {
        ("delay", Some(value)) => Effect::Delay(match value.strip_prefix("exp:") {
            Some(mean) => Delay::Exponential {
                mean: time_of(mean)?,
            },
            None => Delay::Fixed(time_of(value)?),
        }),
        ("error", Some(name)) => error_of(name)?,
        ("loop", None) => Effect::Loop,
        ("drop", None) => Effect::Drop,
        ("disconnect", None) => Effect::Disconnect,
        ("truncate", value) => Effect::Truncate {
            bytes: bytes_of(value, TRUNCATED_BYTES)?,
        },
        ("corrupt", value) => Effect::Corrupt {
            bytes: bytes_of(value, CORRUPTED_BYTES)?,
        },
        ("oversize", None) => Effect::Oversize,
        ("unasked", None) => Effect::Unasked,
        ("signature", None) => Effect::Signature,
        ("credits", None) => Effect::Credits,
        ("session-deleted", None) => Effect::EndSession(SessionEnd::Deleted),
        ("share-closed", None) => Effect::EndSession(SessionEnd::ShareClosed),
        ("session-expired", None) => Effect::EndSession(SessionEnd::Expired),
        ("pending", None) => Effect::Pending,
        ("burn", Some(time)) => Effect::Burn(burn_of(time)?),
        ("switches", Some(number)) => Effect::Switches {
            count: switches_of(number)?,
        },
        _ => return Err(RuleParseError::Effect(word.into())),
    })
}

fn error_of(name: &str) -> Result<Effect, RuleParseError> {
    let of_nfs = Status::from_name(name).filter(|&status| status != Status::OK);
    if let Some(status) = of_nfs {
        return Ok(Effect::Error(status));
    }
    let of_smb = smb2::Status::from_name(name).filter(|status| status.is_error());
    let of_smb = of_smb.map(Effect::ErrorOfSmb);
    of_smb.ok_or_else(|| RuleParseError::Status(name.into()))
}

/// Accepts 0: a call that takes the code path of burning calls and burns nothing is the baseline
/// for them.
fn burn_of(text: &str) -> Result<Duration, RuleParseError> {
    let time = time_of(text)?;
    let is_short = time <= BURN_MAX;
    is_short
        .then_some(time)
        .ok_or_else(|| RuleParseError::Burn(text.into()))
}

fn switches_of(text: &str) -> Result<u32, RuleParseError> {
    let number = text.parse().ok();
    let number = number.filter(|number| (1..=SWITCHES_MAX).contains(number));
    number.ok_or_else(|| RuleParseError::Switches(text.into()))
}

fn freeze_of(text: &str) -> Result<Freeze, RuleParseError> {
    let (lasting, at) = text
        .split_once('@')
        .ok_or_else(|| RuleParseError::Effect(format!("freeze={text}")))?;
    Ok(Freeze {
        at: time_of(at)?,
        lasting: time_of(lasting)?,
    })
}

fn procedures_of(names: &str) -> Result<ProcedureSet, RuleParseError> {
    names.split('+').try_fold(ProcedureSet::NONE, |set, name| {
        // Both protocols have a READ, and a rule for it applies to both.
        let of_nfs = Procedure::from_name(name).map(RequestKind::Procedure);
        let of_smb = Command::from_name(&name.to_uppercase()).map(RequestKind::Command);
        if of_nfs.or(of_smb).is_none() {
            return Err(RuleParseError::Procedure(name.into()));
        }
        Ok([of_nfs, of_smb]
            .into_iter()
            .flatten()
            .fold(set, ProcedureSet::with))
    })
}

fn probability_of(text: &str) -> Result<f64, RuleParseError> {
    let number = text
        .parse()
        .ok()
        .filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| RuleParseError::Probability(text.into()))
}

fn bytes_of(text: Option<&str>, otherwise: u32) -> Result<u32, RuleParseError> {
    let Some(text) = text else {
        return Ok(otherwise);
    };
    let number = text
        .parse()
        .ok()
        .filter(|&number| number > 0 && number <= 1 << 20);
    number.ok_or_else(|| RuleParseError::Bytes(text.into()))
}

fn window_of(
    from: Option<Duration>,
    to: Option<Duration>,
) -> Result<Option<(Duration, Duration)>, RuleParseError> {
    if from.is_none() && to.is_none() {
        return Ok(None);
    }
    let (from, to) = (from.unwrap_or_default(), to.unwrap_or(Duration::MAX));
    if from < to {
        Ok(Some((from, to)))
    } else {
        Err(RuleParseError::Window { from, to })
    }
}

/// Longest time in a rule; beyond it, sums of times could overflow.
const TIME_MAX_S: f64 = 1e9;

pub(crate) fn time_of(text: &str) -> Result<Duration, RuleParseError> {
    let unit_at = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let scale = match unit {
        "ns" => Some(1e-9),
        "us" | "µs" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        _ => None,
    };
    let seconds = scale.and_then(|scale| number.parse::<f64>().ok().map(|number| number * scale));
    seconds
        .filter(|seconds| (0.0..=TIME_MAX_S).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| RuleParseError::Time(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Fault {
        match text.parse() {
            Ok(FaultRule::Fault(fault)) => fault,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn every_form_is_understood() {
        let ms = Duration::from_millis;
        assert_eq!(
            fault("delay=5ms"),
            Fault::always(Effect::Delay(Delay::Fixed(ms(5))))
        );
        let slow_read = fault("delay=exp:2ms,proc=read,p=0.5,from=1s,to=1.5s");
        assert_eq!(
            slow_read.effect,
            Effect::Delay(Delay::Exponential { mean: ms(2) })
        );
        assert_eq!(
            slow_read.procedures,
            ProcedureSet::NONE
                .with(RequestKind::Procedure(Procedure::Read))
                .with(RequestKind::Command(Command::Read))
        );
        assert_eq!(slow_read.probability, 0.5);
        assert_eq!(slow_read.window, Some((ms(1000), ms(1500))));
        assert_eq!(fault("error=NFS3ERR_IO").effect, Effect::Error(Status::IO));
        assert_eq!(fault("loop,from=1s").effect, Effect::Loop);
        assert_eq!(fault("drop,p=0.001").effect, Effect::Drop);
        assert_eq!(fault("disconnect,p=0.0001").effect, Effect::Disconnect);
        assert_eq!(fault("truncate=10").effect, Effect::Truncate { bytes: 10 });
        assert_eq!(fault("truncate").effect, Effect::Truncate { bytes: 4 });
        assert_eq!(fault("corrupt").effect, Effect::Corrupt { bytes: 1 });
        assert_eq!(fault("oversize").effect, Effect::Oversize);
        assert_eq!(fault("unasked").effect, Effect::Unasked);
        assert_eq!(
            fault("error=STATUS_ACCESS_DENIED").effect,
            Effect::ErrorOfSmb(smb2::Status::ACCESS_DENIED)
        );
        assert_eq!(
            fault("signature,proc=query_info").procedures,
            ProcedureSet::NONE.with(RequestKind::Command(Command::QueryInfo))
        );
        assert_eq!(fault("credits").effect, Effect::Credits);
        assert_eq!(fault("pending").effect, Effect::Pending);
        for (text, end) in [
            ("session-deleted", SessionEnd::Deleted),
            ("share-closed", SessionEnd::ShareClosed),
            ("session-expired", SessionEnd::Expired),
        ] {
            assert_eq!(fault(text).effect, Effect::EndSession(end));
        }
        let burn = Duration::from_micros(5);
        assert_eq!(fault("burn=5us").effect, Effect::Burn(burn));
        assert_eq!(fault("burn=0us").effect, Effect::Burn(Duration::ZERO));
        assert_eq!(fault("switches=2").effect, Effect::Switches { count: 2 });
        let freeze = Freeze {
            at: ms(4000),
            lasting: ms(1000),
        };
        assert_eq!("freeze=1s@4s".parse(), Ok(FaultRule::Freeze(freeze)));
    }

    #[test]
    fn an_error_says_what_is_accepted() {
        let message = |text: &str| text.parse::<FaultRule>().unwrap_err().to_string();
        assert!(message("explode").starts_with("\"explode\" is not a fault; expected delay=TIME"));
        assert!(message("").contains("is not a fault"));
        assert!(message("delay=5").contains("\"5\" is not a time; expected a number with ns"));
        assert!(message("delay=-5ms").contains("is not a time"));
        assert!(message("drop=1").contains("is not a fault"));
        assert!(message("drop,q=1").contains("is not a condition; expected proc="));
        assert!(message("drop,p=2").contains("from 0 to 1"));
        assert!(message("drop,p=nan").contains("from 0 to 1"));
        assert!(message("drop,proc=reed").contains("\"reed\" is not a procedure"));
        assert!(message("error=EIO").contains("such as NFS3ERR_IO"));
        assert!(message("error=STATUS_SUCCESS").contains("is not a status"));
        assert!(message("error=NFS3_OK").contains("is not a status"));
        assert!(message("truncate=0").contains("at least 1"));
        assert!(message("burn=2s").contains("1s at most"));
        assert!(message("burn").contains("burn=TIME or switches=N"));
        assert!(message("switches=0").contains("1 to 1000"));
        assert!(message("freeze=1s").contains("freeze=TIME@TIME"));
        assert!(message("freeze=1s@1s,p=1").contains("takes no conditions"));
        assert!(message("drop,from=2s,to=1s").contains("to= after from="));
    }
}
