//! Converts the options of repeats to the number of runs.

use crate::error::Error;
use crate::options::repeat::RepeatOptions;
use filestone_measure::comparison::repeats::RepeatPlan;

/// Default maximum number of runs if only their interval ends them.
const RUNS_DEFAULT: u32 = 50;
/// Default pause, long enough for connections to close and for a disk to write pending data.
const PAUSE_DEFAULT_NS: u64 = 500_000_000;

/// Returns the plan of repeats; `None` for a single run.
pub fn plan(options: &RepeatOptions) -> Result<Option<RepeatPlan>, Error> {
    let most = match (options.repeat, options.repeat_until) {
        (Some(most), _) => most,
        (None, Some(_)) => RUNS_DEFAULT,
        (None, None) if options.pause.is_some() => {
            return Err(Error::usage("--pause: there is only one run")
                .with_help("--repeat N makes several"));
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(RepeatPlan {
        most,
        until: options.repeat_until,
        pause_ns: options.pause.unwrap_or(PAUSE_DEFAULT_NS),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_taken_where_none_is_given() {
        let none = RepeatOptions::default();
        assert_eq!(plan(&none), Ok(None));
        let until = RepeatOptions {
            repeat_until: Some(0.01),
            ..none.clone()
        };
        let most = |options: &RepeatOptions| plan(options).map(|plan| plan.map(|it| it.most));
        assert_eq!(most(&until), Ok(Some(RUNS_DEFAULT)));
        let both = RepeatOptions {
            repeat: Some(7),
            ..until
        };
        assert_eq!(most(&both), Ok(Some(7)));
        let pause = RepeatOptions {
            pause: Some(1),
            ..none
        };
        assert!(plan(&pause).is_err());
    }
}
