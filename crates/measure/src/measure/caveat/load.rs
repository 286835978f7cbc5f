//! Texts of caveats about the load and about outcomes.

use crate::measure::outcome_count::{OutcomeCount, percent};
use crate::measure::shortfall::Shortfall;
use filestone_workload::text::{counted, thousands, time_text};

/// Meaning of NFS3ERR_JUKEBOX, and why a load generator that does not retry counts it as an error.
const JUKEBOX_ADVICE: &str = "NFS3ERR_JUKEBOX: the server asks the client to wait and to ask again; probes and mixes count \
     it as an error and go on. Look for what keeps the server (a tape, a lease, its grace period)";
const LINK_ADVICE: &str = "ask for less, or use a faster link or a second one";
/// Maximum number of outcomes named in a sentence.
const NAMED_MAX: usize = 4;

/// Returns the advice on operations with these outcomes, the most frequent first.
pub fn advice_for_errors(outcomes: &[OutcomeCount]) -> &'static str {
    let most_frequent = outcomes.first();
    if most_frequent.is_some_and(|most| most.outcome.starts_with("NFS3ERR_JUKEBOX")) {
        JUKEBOX_ADVICE
    } else {
        "see the table of errors, or of mismatches; --expect STATUS names failures that are wanted"
    }
}

/// Returns the share of unexpected outcomes in percent; 0 if it does not tell whether a run is
/// valid: a single outcome, or an older method, which counted the operations of one role only.
pub fn unexpected_percent(count: u64, completed: u64, outcomes: &[OutcomeCount]) -> f64 {
    if count > 1 && !outcomes.is_empty() {
        percent(count, completed)
    } else {
        0.0
    }
}

/// Describes the number of operations with an unexpected outcome, and the outcomes.
pub fn unexpected(count: u64, completed: u64, outcomes: &[OutcomeCount]) -> String {
    let share = percent(count, completed);
    let mut text = format!(
        "{} of {} operations ({share:.1} %) ended otherwise than expected",
        thousands(count),
        thousands(completed)
    );
    let named = outcomes.iter().take(NAMED_MAX).map(|one| {
        let (outcome, operation) = (&one.outcome, one.operation.name());
        format!("{} {outcome} of {operation}", thousands(one.count))
    });
    let mut ways: Vec<String> = named.collect();
    if let Some(more) = outcomes
        .len()
        .checked_sub(NAMED_MAX)
        .filter(|more| *more > 0)
    {
        ways.push(format!("{} more", counted(more as u64, "way")));
    }
    if !ways.is_empty() {
        text.push_str(&format!(": {}", ways.join(", ")));
    }
    text
}

/// Describes the share of unexpected outcomes as the reason why a run is invalid.
pub fn unexpected_share(percent: f64, outcomes: &[OutcomeCount]) -> String {
    let most = outcomes.first().map_or_else(String::new, |most| {
        format!(", mostly {} of {}", most.outcome, most.operation.name())
    });
    format!("{percent:.1} % of the operations ended otherwise than expected{most}")
}

/// Returns the dispatch delay in percent of the response time.
pub fn late_percent(mean_ns: f64, response_time_mean_ns: f64) -> f64 {
    100.0 * mean_ns / response_time_mean_ns.max(1.0)
}

pub fn generator_limit(
    worker: u32,
    busy_percent: f64,
    workers: u32,
    processors: Option<f64>,
) -> String {
    let was_busy = match processors {
        Some(processors) => {
            // A quota may leave 0.5 processors.
            let number = ((processors * 100.0).round() / 100.0).to_string();
            let plural = if number == "1" { "" } else { "s" };
            format!(
                "the {workers} workers used {busy_percent:.0} % of the {number} processor{plural} that they may use"
            )
        }
        None => {
            format!("worker {worker} of {workers} was busy {busy_percent:.0} % of the time")
        }
    };
    format!("{was_busy}, so the load generator was the limit, or near it")
}

pub fn achieved(offered: f64, achieved: f64) -> String {
    format!(
        "offered {} operations/s, achieved {} ({:.1} %)",
        thousands(offered.round() as u64),
        thousands(achieved.round() as u64),
        100.0 * achieved / offered.max(f64::MIN_POSITIVE)
    )
}

pub fn achieved_above(offered: f64, above: f64, left_over: u64) -> String {
    let achieved = achieved(offered, above);
    match left_over {
        0 => achieved,
        count => format!(
            "{achieved}: {} operations of the warm-up were worked off in the window",
            thousands(count)
        ),
    }
}

pub const fn because(cause: Shortfall) -> &'static str {
    match cause {
        Shortfall::Errors | Shortfall::Jukebox => ": the rest ended with errors",
        Shortfall::Connection => ": connections were down",
        Shortfall::Link => ": the link to the server was full",
        Shortfall::Generator => ": the load generator did not keep up",
        Shortfall::Slots => ": as many operations were in flight as may be",
        Shortfall::Server => ": the server did not keep up",
    }
}

/// Describes the cause; a client of a fleet or of a replay has one transfer in flight at a time.
pub fn because_of_rate(cause: Shortfall, service_time_mean_ns: f64) -> String {
    match cause {
        Shortfall::Slots | Shortfall::Server => format!(
            ": a client has one transfer under way at a time, and the server took {} for each on average",
            time_text(service_time_mean_ns)
        ),
        cause => because(cause).into(),
    }
}

pub const fn advice_below_offered(cause: Option<Shortfall>) -> &'static str {
    match cause {
        Some(Shortfall::Errors) => "see the table of errors; less load does not help against them",
        Some(Shortfall::Jukebox) => JUKEBOX_ADVICE,
        Some(Shortfall::Connection) => {
            "see how often and for how long connections were down; look at the network"
        }
        Some(Shortfall::Link) => LINK_ADVICE,
        Some(Shortfall::Generator) => {
            "leave a processor to the load generator, use more workers (--workers) or a second host"
        }
        Some(Shortfall::Slots) => {
            "allow more calls in flight (--in-flight; where a client does one thing after the \
             other, --clients): if no more is achieved then, it is the server; or offer less"
        }
        Some(Shortfall::Server) | None => {
            "offer less, or allow more calls in flight (--in-flight) if slot wait is high"
        }
    }
}

pub const fn advice_below_rate(cause: Shortfall) -> &'static str {
    match cause {
        Shortfall::Link => LINK_ADVICE,
        Shortfall::Errors | Shortfall::Jukebox => "see the table of errors",
        Shortfall::Connection => "see how often and for how long connections were down",
        Shortfall::Generator => {
            "ask for less (--rate), or use more workers (--workers) or a second host"
        }
        Shortfall::Slots | Shortfall::Server => {
            "ask for less (--rate), use longer transfers (--io-size, read_size, write_size), or more clients \
             with a part of the rate each; clients make up for one second of what is late at most, so slot \
             wait does not grow beyond that"
        }
    }
}
