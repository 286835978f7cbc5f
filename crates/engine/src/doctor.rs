//! Collects the facts for the rules of [`filestone_measure::doctor`]: of this host, and of a target
//! through its protocol.
//!
//! A fact that this host does not report is unknown, not an error. Nothing is written to a target,
//! and it gets only a few seconds to reply.

use crate::protocols::{ConnectTarget, Protocols};
use filestone_host::control::{Cancellation, RunContext, cancel_after};
use filestone_host::error::{AreaError, ErrorCategory, RunError};
use filestone_host::{activity, facts};
use filestone_measure::doctor::facts::{Facts, TargetFacts, TargetFailure};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time limit for a target.
const TARGET_MAX: Duration = Duration::from_secs(8);

/// Collected facts.
#[derive(Debug)]
pub struct Examination {
    /// Facts for the rules.
    pub facts: Facts,
    /// Error that would prevent a run on the target.
    pub failure: Option<RunError>,
}

/// The target replies, but does not complete the checks in time.
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

/// Checks that a target replies within `most` to everything that a run asks first.
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

/// Examines this host, and a target if there is one. Facts not collected when the context's stop is
/// set stay unknown.
pub fn examine(
    contact: Option<&ConnectTarget>,
    protocols: &Protocols,
    context: &mut RunContext<'_>,
) -> Examination {
    context.preparing("looking at this host");
    let mut host = facts::facts();
    host.look = activity::sample(context.stop);
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
