//! What a plan needs of this host.

use crate::driver::allow_open_files;
use crate::error::{AreaError, ErrorCategory, RunError};
use filestone_model::plan::Plan;
use rustix::thread::{CpuSet, sched_getaffinity};

/// Files that a process has open besides its connections.
const OTHER_FILES: u64 = 64;

/// A thread cannot be bound to this processor.
#[derive(Debug, thiserror::Error)]
#[error("--pin {processor}: there is no such processor for this process")]
pub struct NoSuchProcessor {
    processor: u32,
    allowed: Vec<u32>,
}

impl AreaError for NoSuchProcessor {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Usage
    }

    fn help(&self) -> Option<String> {
        Some(format!("it may run on {}", in_words(&self.allowed)))
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
        Some(processor) => Err(NoSuchProcessor {
            processor: *processor,
            allowed,
        }
        .into()),
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

/// The processors and the open files that a plan's clients need.
pub fn check_environment(plan: &Plan) -> Result<(), RunError> {
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
