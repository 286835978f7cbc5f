//! Gathers what the rules of [`filestone_measure::doctor`] are about: of this host, and of a
//! target by way of its protocol.
//!
//! What this host does not tell is not known, and no error. Nothing is written to a target, and
//! it is waited for but a few seconds.

mod host;
mod look;

use crate::control::{Cancellation, Context, cancel_after};
use crate::error::{AreaError, ErrorCategory, RunError};
use crate::protocols::{ConnectTarget, Protocols};
use filestone_measure::doctor::facts::{Facts, TargetFacts, TargetFailure};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a target is asked, at most.
const TARGET_MAX: Duration = Duration::from_secs(8);

/// What was gathered.
#[derive(Debug)]
pub struct Examination {
    /// For the rules.
    pub facts: Facts,
    /// Why a run on the target would not begin, if it would not.
    pub failure: Option<RunError>,
}

/// A target that answers, and does not come to an end.
#[derive(Debug, thiserror::Error)]
#[error("{target}: not all was answered within {TARGET_MAX:?}")]
struct TooSlow {
    target: String,
}

impl AreaError for TooSlow {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Target
    }

    fn help(&self) -> Option<String> {
        Some("is the server overloaded, or does it wait for something?".into())
    }
}

/// Whether a target answers, within `most`, all that is asked of it before a run.
pub fn answers(
    contact: &ConnectTarget,
    protocols: &Protocols,
    stop: &AtomicBool,
    most: Duration,
) -> Result<(), RunError> {
    let cancellation = Cancellation::default();
    cancel_after(stop, most, &cancellation, || {
        protocols.examine(contact, &mut TargetFacts::default(), &cancellation)
    })
}

/// Looks at this host, and at a target if there is one. What is not known when the context's
/// stop is set stays unknown.
pub fn examine(
    contact: Option<&ConnectTarget>,
    protocols: &Protocols,
    context: &mut Context<'_>,
) -> Examination {
    context.preparing("looking at this host");
    let mut host = host::facts();
    host.look = look::sample(context.stop);
    let mut examination = Examination {
        facts: Facts { host, target: None },
        failure: None,
    };
    let Some(contact) = contact.filter(|_| context.check_cancelled().is_ok()) else {
        return examination;
    };
    context.preparing("asking the target");
    let target = &contact.target;
    let mut facts = TargetFacts {
        name: target.to_string(),
        wants_reserved_ports: target.wants_reserved_ports(),
        uses_datagrams: target.is_udp(),
        ..TargetFacts::default()
    };
    let cancellation = Cancellation::default();
    let asked = cancel_after(context.stop, TARGET_MAX, &cancellation, || {
        protocols.examine(contact, &mut facts, &cancellation)
    });
    let failure = match asked {
        Err(RunError::Interrupted) if context.stop.load(Ordering::Relaxed) => None,
        Err(RunError::Interrupted) => {
            let target = target.to_string();
            Some(TooSlow { target }.into())
        }
        asked => asked.err(),
    };
    facts.failure = failure.as_ref().map(|error| TargetFailure {
        what: error.to_string().replace("(os error ", "("),
        help: error.help(),
        is_unreachable: error.is_unreachable() || matches!(error, RunError::Resolve { .. }),
    });
    examination.facts.target = Some(facts);
    examination.failure = failure;
    examination
}
