//! What a plan must be, before anything is sent.

use crate::driver::allow_open_files;
use crate::error::RunError;
use filestone_model::operation::OpKind;
use filestone_model::plan::{Asked, Plan};
use filestone_wire::pattern;
use rustix::thread::{CpuSet, sched_getaffinity};

/// Files that a process has open besides its connections.
const OTHER_FILES: u64 = 64;
/// Calls in flight per client at most: the xid has 16 bits left for generations.
const IN_FLIGHT_MAX: u32 = 1 << 16;
/// Calls in flight of all clients at most.
const SLOTS_MAX: u64 = 16 << 20;
/// Operations per second that may be offered at most: one per nanosecond.
const OFFERED_MAX: f64 = 1e9;

/// What a plan must be, whatever the target.
pub fn check(plan: &Plan) -> Result<(), RunError> {
    check_counts(plan)?;
    check_transfer(plan)?;
    check_read_data(plan)?;
    check_host(plan)
}

fn refuse(what: String, help: &str) -> Result<(), RunError> {
    Err(RunError::Unsuitable(what, Some(help.into())))
}

/// Clients, workers, calls in flight, and an end.
fn check_counts(plan: &Plan) -> Result<(), RunError> {
    if plan.clients == 0 || plan.in_flight == 0 || plan.workers == 0 {
        return refuse(
            "clients, calls in flight and workers must each be at least 1".into(),
            "see --help",
        );
    }
    if plan.in_flight > IN_FLIGHT_MAX
        || u64::from(plan.in_flight) * u64::from(plan.clients) > SLOTS_MAX
    {
        return refuse(
            format!(
                "{} calls in flight for each of {} clients are more than this program keeps count of",
                plan.in_flight, plan.clients
            ),
            "at most 65,536 per client and 16 million in all (--in-flight, --clients)",
        );
    }
    if plan.workers > plan.clients {
        return refuse(
            format!(
                "{} workers for {} clients: a client belongs to one worker",
                plan.workers, plan.clients
            ),
            "use at least as many clients (--clients) as workers (--workers)",
        );
    }
    if let Some(load) = plan.arrivals.offered_load()
        && !(load > 0.0 && load <= OFFERED_MAX)
    {
        return refuse(
            format!("--offered {load}: the offered load must be more than 0 operations per second"),
            "at most 1,000,000,000",
        );
    }
    if plan.duration_ns.is_none() && plan.count.is_none() && plan.steering.is_none() {
        return refuse(
            "the run would never end".into(),
            "say how long (--duration) or how many (--count)",
        );
    }
    Ok(())
}

/// Bytes per call.
fn check_transfer(plan: &Plan) -> Result<(), RunError> {
    let Some(asked) = plan.asked() else {
        return Ok(());
    };
    let (option, size, moves_data) = match asked {
        Asked::Probe(probe) => {
            let moves_data = [OpKind::Read, OpKind::Write, OpKind::Commit];
            let moves_data = moves_data.contains(&probe.operation);
            ("--size", probe.size_bytes, moves_data)
        }
        Asked::Mix(mix) => ("--transfer", mix.transfer_bytes, true),
    };
    if size == 0 || size as usize > pattern::PERIOD {
        return refuse(
            format!("{option} {size}: a call moves 1 byte to 1 MiB"),
            "the largest transfer that servers take is usually 1 MiB",
        );
    }
    if plan.target.is_udp() && moves_data && size > 63 * 1024 {
        return refuse(
            format!("{option} {size}: a datagram holds at most 63 KiB of file data"),
            "use a smaller one, or --transport tcp",
        );
    }
    Ok(())
}

/// What becomes of the data that are read.
fn check_read_data(plan: &Plan) -> Result<(), RunError> {
    match plan.read_data_refusal() {
        None => Ok(()),
        Some((why, help)) => refuse(format!("READ data cannot be dealt with so: {why}"), help),
    }
}

/// The processors that threads are bound to: this process must be allowed to run on each.
pub fn check_pin(plan: &Plan) -> Result<(), RunError> {
    if plan.pin.is_empty() {
        return Ok(());
    }
    let allowed = sched_getaffinity(None).map_err(|errno| RunError::System {
        what: "find out on which processors this process may run".into(),
        source: errno.into(),
    })?;
    let allowed: Vec<u32> = (0..CpuSet::MAX_CPU as u32)
        .filter(|cpu| allowed.is_set(*cpu as usize))
        .collect();
    match plan.pin.iter().find(|cpu| !allowed.contains(cpu)) {
        None => Ok(()),
        Some(cpu) => refuse(
            format!("--pin {cpu}: there is no such processor for this process"),
            &format!("it may run on {}", in_words(&allowed)),
        ),
    }
}

/// `0-3,6`: processors as `--pin` takes them.
fn in_words(processors: &[u32]) -> String {
    let runs = processors.chunk_by(|one, next| one + 1 == *next);
    let words = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => run.iter().map(u32::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(",")
}

/// What this host must have for it.
fn check_host(plan: &Plan) -> Result<(), RunError> {
    check_pin(plan)?;
    let needed = u64::from(plan.clients) + OTHER_FILES;
    let allowed = allow_open_files(needed);
    if allowed < needed {
        return Err(RunError::System {
            what: format!(
                "open {} connections: this process may have {allowed} open files",
                plan.clients
            ),
            source: std::io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error()),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_named_as_the_option_takes_them() {
        assert_eq!(in_words(&[0, 1, 2, 3, 6, 8, 9]), "0-3,6,8-9");
        assert_eq!(in_words(&[5]), "5");
        assert_eq!(in_words(&[]), "");
    }
}
