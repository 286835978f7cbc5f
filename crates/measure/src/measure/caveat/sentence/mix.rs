//! Caveats about a mix.

use super::{Caveat, of_all};
use filestone_workload::operation::OpKind;
use filestone_workload::text::time_text;

/// Returns the sentence, if the caveat is about a mix.
pub(super) fn of(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        // Wording of nhfsstone.
        Caveat::MixInvalid { off_by_percent } => {
            format!("INVALID RUN, mix generated is off by {off_by_percent:.2}%")
        }
        Caveat::NotCaused {
            operation,
            wanted_per_s,
            at_most_per_s,
            others,
        } => not_caused(*operation, [*wanted_per_s, *at_most_per_s], others),
        Caveat::MixOff {
            operation,
            want_percent,
            got_percent,
            operations,
            of,
        } => off(*operation, *want_percent, *got_percent, *operations, *of),
        Caveat::LittlesLaw {
            in_flight_mean,
            in_flight_by_littles_law,
        } => format!(
            "{in_flight_mean:.2} operations were in flight on average, but achieved load times service time gives {in_flight_by_littles_law:.2} (Little's law)"
        ),
        Caveat::Drift {
            first_third_mean_ns,
            last_third_mean_ns,
        } => drift(*first_third_mean_ns, *last_third_mean_ns),
        Caveat::UnmeasuredLoad { calls, all_calls } => format!(
            "{:.1} % of the calls are no part of the mix: {}",
            percent(*calls, *all_calls),
            of_all(*calls, *all_calls, "keep the file set in its proportions")
        ),
        Caveat::FileSetStillClaimed { path, reason } => {
            format!("{path} is still marked as in use by this run: {reason}")
        }
        _ => return None,
    })
}

fn not_caused(operation: OpKind, [wanted, at_most]: [f64; 2], others: &[OpKind]) -> String {
    let others = match others {
        [] => String::new(),
        others => {
            let names: Vec<&str> = others.iter().map(|kind| kind.name()).collect();
            format!(", nor {} as often as the mix wants", names.join(", "))
        }
    };
    format!(
        "this client cannot be made to ask {} more than {at_most:.1} times per second, of {wanted:.1} that the mix wants{others}",
        operation.name()
    )
}

/// Returns what to do about it.
pub(super) fn help_for(caveat: &Caveat) -> Option<&'static str> {
    Some(match caveat {
        Caveat::MixInvalid { .. } => {
            "this is not the mix that was asked for; look for operations that failed or were skipped, or run longer"
        }
        Caveat::NotCaused { .. } => {
            "take a mix without it, or make the calls over nfs://, where one operation is one call"
        }
        Caveat::MixOff { .. } => {
            "run longer; if operations were skipped, offer less or allow more calls in flight (--in-flight)"
        }
        Caveat::LittlesLaw { .. } => {
            "times or counts are not what they seem: look for a load generator that was held up, or a load that changed"
        }
        Caveat::Drift { .. } => {
            "no single figure describes a load that is not steady: warm up for longer (--warm-up), or look at the intervals"
        }
        Caveat::UnmeasuredLoad { .. } => {
            "the server does them besides; a mix that makes as much as it takes away needs none"
        }
        Caveat::FileSetStillClaimed { .. } => {
            "the next run on this host takes it over; on another, put the line \"given up\" into its made-by-filestone"
        }
        _ => return None,
    })
}

fn off(operation: OpKind, want: f64, got: f64, operations: u64, of: u64) -> String {
    let are = if operations == 1 { "is" } else { "are" };
    format!(
        "{operations} of {of} operations {are} off the mix by more than 2 % of their share; the worst is {}, {got:.2} % instead of {want:.2} %",
        operation.name()
    )
}

fn drift(first_ns: f64, last_ns: f64) -> String {
    let change = 100.0 * (last_ns - first_ns) / first_ns.max(1.0);
    format!(
        "the mean response time went from {} in the first third to {} in the last ({change:+.0} %), more than chance explains",
        time_text(first_ns),
        time_text(last_ns)
    )
}

fn percent(count: u64, all: u64) -> f64 {
    100.0 * count as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    #[test]
    fn the_caveats_of_a_mix_are_sentences_with_their_figures() {
        let caveats = [
            Caveat::MixInvalid {
                off_by_percent: 12.345,
            },
            Caveat::MixOff {
                operation: OpKind::SetAttr,
                want_percent: 1.0,
                got_percent: 0.9,
                operations: 2,
                of: 10,
            },
            Caveat::LittlesLaw {
                in_flight_mean: 8.0,
                in_flight_by_littles_law: 6.5,
            },
            Caveat::Drift {
                first_third_mean_ns: 100_000.0,
                last_third_mean_ns: 150_000.0,
            },
            few(10, 1000),
            few(1, 99),
            few(0, 0),
            Caveat::UnmeasuredLoad {
                calls: 5000,
                all_calls: 100_000,
            },
            Caveat::FileSetStillClaimed {
                path: "/export/filestone-set".into(),
                reason: "server:2049: cannot connect: Connection refused (111)".into(),
            },
        ];
        let mut text = String::new();
        for caveat in caveats {
            let (what, help) = caveat.sentence();
            writeln!(text, "{what}\n    {}", help.unwrap_or("-")).unwrap();
        }
        insta::assert_snapshot!(text);
    }

    fn few(above: u64, count: u64) -> Caveat {
        Caveat::FewAboveQuantile {
            quantile: 0.99,
            above,
            count,
            from_ns: 900_000 * count.min(1),
            to_ns: 2_100_000 * count.min(1),
        }
    }
}
