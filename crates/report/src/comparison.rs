//! Text report of `filestone compare`: the verdict, then each figure.

pub mod document;
pub mod picture;

use super::document::Document;
use super::document::table::{Column, Table};
use super::parts::known::{PERCENT_MIN, value_within};
use crate::quantity::{duration_text, plain, resolution};
use filestone_measure::comparison::{
    ComparedRun, Comparison, ComparisonOptions, ComparisonRow, ComparisonVerdict, HigherErrorRate,
    Incompatibility, RUN_SPREAD, RelativeChange, Side,
};
use filestone_measure::figure::AveragedFigure;
use filestone_measure::measure::figures::{ImprovementDirection, Quantity, RunFigure};
use filestone_workload::text::{counted, thousands};
use std::path::PathBuf;

/// Largest percentage that is printed; larger values are printed as more than this.
const PERCENT_MAX: f64 = 1000.0;
/// Largest number of runs that is printed: the number follows from a spread that few runs estimate
/// roughly.
const RUNS_TOLD_MAX: u64 = 1000;

/// A run and the file it was read from.
#[derive(Debug)]
pub struct ReadRun {
    /// Path of the file.
    pub path: PathBuf,
    /// Content of the file.
    pub run: ComparedRun,
}

/// Compared runs and the result.
#[derive(Debug)]
pub struct Compared {
    /// Baseline runs.
    pub base: Vec<ReadRun>,
    /// Runs that are compared with the baseline.
    pub new: Vec<ReadRun>,
    /// Options of the comparison.
    pub question: ComparisonOptions,
    /// Result of the comparison.
    pub comparison: Comparison,
    /// Deciding figures that cannot be compared, with reasons.
    pub missing: Vec<String>,
    /// Differences between the runs in properties that should agree.
    pub despite: Vec<Incompatibility>,
    /// Method of the comparison.
    pub method: Method,
}

/// Method of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Runs of the two sides are independent.
    Apart,
    /// Runs of the two sides were interleaved until the result was clear.
    InTurn,
}

/// Names of the sides.
struct SideNames {
    base: &'static str,
    new: &'static str,
}

impl Compared {
    const fn names(&self) -> SideNames {
        match self.method {
            Method::Apart => SideNames {
                base: "base",
                new: "new",
            },
            Method::InTurn => SideNames {
                base: "A",
                new: "B",
            },
        }
    }

    /// Returns the best figure for comparison, the one with the smallest spread between runs.
    pub fn repeats_best(&self) -> Option<&ComparisonRow> {
        self.comparison.repeats_best(&self.base.first()?.run.plan)
    }

    /// Adds the error rates of both sides to the comparison.
    #[must_use]
    pub fn with_failures(mut self) -> Self {
        let (base, new) = (unsuccessful(&self.base), unsuccessful(&self.new));
        self.comparison = self.comparison.with_failures(base, new);
        self
    }

    /// Returns the number of runs of the smaller side.
    fn runs_min(&self) -> usize {
        self.base.len().min(self.new.len())
    }
}

/// Lists the deciding figures that cannot be compared, with reasons.
pub fn missing(
    base: &Side,
    new: &Side,
    comparison: &Comparison,
    question: &ComparisonOptions,
) -> Vec<String> {
    let has = |side: &Side, figure: &RunFigure| side.figures().any(|known| known == figure);
    let is_compared = |figure: &RunFigure| comparison.rows.iter().any(|row| row.figure == *figure);
    let reason = |figure: &RunFigure| {
        if !(has(base, figure) && has(new, figure)) {
            return format!("{figure}: not both sides have it, or it is 0");
        }
        let why = [base, new]
            .into_iter()
            .find_map(|side| side.unavailable(figure));
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        format!(
            "{figure}: a single run does not show how well it is known{why}; make longer runs, or \
             several"
        )
    };
    let judged = question.judged.iter();
    let missing = judged.filter(|figure| !is_compared(figure));
    missing.map(reason).collect()
}

/// Returns the whole report.
pub fn report(compared: &Compared) -> Document {
    let names = compared.names();
    let despite = compared.despite.iter();
    let missing = compared.missing.iter();
    let is_compared = !compared.comparison.rows.is_empty();
    Document::default()
        .prose([heading(compared)])
        .blank()
        .facts([
            (names.base, name_of(&compared.base)),
            (names.new, name_of(&compared.new)),
        ])
        .facts(despite.map(|unlike| ("although", unlike.to_string())))
        .facts(missing.map(|missing| ("not compared", missing.clone())))
        .facts(errors(compared))
        .tables(is_compared.then(|| table(compared)))
        .paragraphs(is_compared.then(|| method(compared)))
}

/// Describes the verdict.
pub fn heading(compared: &Compared) -> String {
    let percent = |runs: &[ReadRun]| format!("{:.1} %", 100.0 * unsuccessful(runs));
    let failed = (percent(&compared.base), percent(&compared.new));
    let SideNames { base, new } = compared.names();
    match (compared.comparison.failing, compared.comparison.verdict) {
        (Some(HigherErrorRate::New), _) => {
            return format!(
                "{new} is worse: {} of its operations did not succeed, of {base}'s {}",
                failed.1, failed.0
            );
        }
        (Some(HigherErrorRate::Base), ComparisonVerdict::Inconclusive) => {
            let failed = failed.0;
            return format!("cannot tell: {failed} of {base}'s operations did not succeed");
        }
        _ => {}
    }
    let judged = || compared.comparison.rows.iter().filter(|row| row.is_judged);
    let told = |verdict: ComparisonVerdict| {
        let rows = judged().filter(|row| row.verdict == verdict);
        let rows = rows.map(|row| {
            let percent = 100.0 * row.change.share.abs();
            let percent = plain(rounded(percent, row.change), 2);
            format!("{} is {percent} % {}", row.figure, word(row))
        });
        rows.collect::<Vec<_>>().join(", ")
    };
    match compared.comparison.verdict {
        ComparisonVerdict::Worse => format!("{new} is worse: {}", told(ComparisonVerdict::Worse)),
        ComparisonVerdict::Better => {
            format!("{new} is better: {}", told(ComparisonVerdict::Better))
        }
        ComparisonVerdict::NotWorse => {
            let widest = judged().max_by(|one, other| bound(one).total_cmp(&bound(other)));
            widest
                .map(|row| match not_worse(row, compared) {
                    told if told.starts_with("not") => format!("{new} is {told}"),
                    told => told,
                })
                .unwrap_or_default()
        }
        ComparisonVerdict::Inconclusive => {
            let needed = judged().filter_map(|row| row.runs_needed).max();
            match needed {
                Some(needed) => format!("cannot tell: {} would", long_runs_told(compared, needed)),
                None => "cannot tell: not every figure that is to decide could be compared".into(),
            }
        }
    }
}

fn name_of(runs: &[ReadRun]) -> String {
    let name = |read: &ReadRun| read.path.display().to_string();
    match runs {
        [run] => name(run),
        [first, .., last] => format!("{} runs, {} to {}", runs.len(), name(first), name(last)),
        [] => String::new(),
    }
}

/// Returns the share of operations that did not succeed.
pub fn unsuccessful(runs: &[ReadRun]) -> f64 {
    let failed: u64 = runs.iter().map(|read| read.run.errors()).sum();
    let ended: u64 = runs.iter().map(|read| read.run.totals.ledger.ended()).sum();
    failed as f64 / ended.max(1) as f64
}

/// Formats the number of operations that did not succeed, if there are any.
fn errors(compared: &Compared) -> Option<(&'static str, String)> {
    let count = |runs: &[ReadRun]| runs.iter().map(|read| read.run.errors()).sum::<u64>();
    let ended = |runs: &[ReadRun]| {
        let ended = runs.iter().map(|read| read.run.totals.ledger.ended());
        ended.sum::<u64>()
    };
    let told =
        |runs: &[ReadRun]| format!("{} of {}", thousands(count(runs)), thousands(ended(runs)));
    let (base, new) = (&compared.base, &compared.new);
    (count(base) + count(new) > 0).then(|| {
        let names = compared.names();
        let sides = [(names.base, base), (names.new, new)];
        let sides = sides.map(|(name, runs)| format!("{name} {}", told(runs)));
        ("errors", format!("{} operations", sides.join(", ")))
    })
}

fn table(compared: &Compared) -> Table {
    let mut table = Table::new([
        Column::text("figure"),
        Column::figure(compared.names().base).gives_way(1),
        Column::figure(compared.names().new).gives_way(2),
        Column::figure("change, %"),
        Column::text("verdict"),
    ]);
    for row in &compared.comparison.rows {
        let mark = if row.is_judged { " *" } else { "" };
        table.row([
            format!("{}{mark}", row.figure),
            value(&row.base),
            value(&row.new),
            change(row.change),
            verdict(row, compared),
        ]);
    }
    table
}

/// Formats the figure of a side with its significant digits.
fn value(side: &AveragedFigure) -> String {
    // Uses the nearer end, so that at least one digit is significant.
    let half_width = side.low().map_or(0.0, |low| side.value - low);
    value_within(side.name.unit(), side.value, half_width)
}

/// Formats a change, such as `+3.2 (+1.1 to +5.4)`.
fn change(change: RelativeChange) -> String {
    let unit = unit_of(change);
    let decimals = (-unit.log10() + 1e-9).floor().clamp(0.0, 2.0) as usize;
    let [share, low, high] = [change.share, change.low, change.high].map(|share| {
        // Turns -0 into 0.
        let rounded = (100.0 * share / unit).round() * unit + 0.0;
        match rounded {
            rounded if rounded > PERCENT_MAX => format!("over +{PERCENT_MAX}"),
            rounded if rounded <= -100.0 => "under -99".into(),
            rounded => format!("{rounded:+.decimals$}"),
        }
    });
    format!("{share} ({low} to {high})")
}

/// Returns the unit to which percentages of a change are rounded: from its nearer end, because the
/// other may be many times as far away.
pub(super) fn unit_of(change: RelativeChange) -> f64 {
    let nearer = (change.share - change.low).min(change.high - change.share);
    resolution(100.0 * nearer).max(PERCENT_MIN)
}

fn rounded(percent: f64, change: RelativeChange) -> f64 {
    let unit = unit_of(change);
    (percent / unit).round() * unit
}

fn verdict(row: &ComparisonRow, compared: &Compared) -> String {
    match row.verdict {
        ComparisonVerdict::Worse | ComparisonVerdict::Better => word(row).into(),
        ComparisonVerdict::NotWorse => not_worse(row, compared),
        ComparisonVerdict::Inconclusive => match row.runs_needed.filter(|_| row.is_judged) {
            Some(needed) => format!("cannot tell: {} would", runs_told(compared, needed)),
            None => "cannot tell".into(),
        },
    }
}

/// Returns the word for a significant change.
fn word(row: &ComparisonRow) -> &'static str {
    let (more, less) = match row.figure.quantity {
        Quantity::Time(..) => ("slower", "faster"),
        _ => ("more", "less"),
    };
    if row.change.share > 0.0 { more } else { less }
}

/// Returns the largest possible change in either direction, in percent.
fn bound(row: &ComparisonRow) -> f64 {
    100.0 * row.change.low.abs().max(row.change.high.abs())
}

fn not_worse(row: &ComparisonRow, compared: &Compared) -> String {
    let matters = 100.0 * compared.question.detect.max(compared.question.tolerance);
    if bound(row) <= matters {
        return format!("no difference larger than {} %", upward(bound(row)));
    }
    let worst = match row.figure.quantity.direction() {
        ImprovementDirection::LessIsBetter => row.change.high,
        ImprovementDirection::MoreIsBetter => -row.change.low,
    };
    format!(
        "not worse by more than {} %",
        upward(100.0 * worst.max(0.0))
    )
}

/// Formats a percentage, rounded up.
fn upward(percent: f64) -> String {
    let percent = percent.max(PERCENT_MIN);
    let unit = resolution(percent).max(PERCENT_MIN);
    plain((percent / unit - 1e-9).ceil() * unit, 2)
}

/// Formats the number of runs needed for a verdict: `3 more runs` of each side if both have the
/// same number, otherwise in total.
fn runs_told(compared: &Compared, needed: u64) -> String {
    let have = compared.runs_min() as u64;
    if compared.base.len() == compared.new.len() {
        roughly_counted(needed.saturating_sub(have).max(1), "more run")
    } else {
        roughly_counted(needed.max(have + 1), "run")
    }
}

/// Formats a number of runs with two digits, rounded up: `410 more runs`, `over 1,000 more runs`.
fn roughly_counted(runs: u64, noun: &str) -> String {
    if runs > RUNS_TOLD_MAX {
        return format!("over {}", counted(RUNS_TOLD_MAX, noun));
    }
    let unit = if runs < 100 { 1 } else { 10 };
    counted(runs.next_multiple_of(unit), noun)
}

/// Formats the number of runs needed, with their length.
fn long_runs_told(compared: &Compared, needed: u64) -> String {
    let length = compared.base.first().map_or(0, |read| read.run.window_ns);
    // Rounded up to a tenth of a second.
    let length = length.div_ceil(100_000_000) * 100_000_000;
    format!(
        "{} of {} a side",
        runs_told(compared, needed),
        duration_text(length)
    )
}

/// Describes the method of the comparison.
fn method(compared: &Compared) -> String {
    let comparison = &compared.comparison;
    let judged = comparison.rows.iter().filter(|row| row.is_judged).count();
    let others = comparison.rows.len() - judged;
    if compared.method == Method::InTurn {
        return in_turn(compared, others);
    }
    let others = |noun: &str| counted(others as u64, noun);
    let (mark, looked_at) = match judged {
        0 => ("", others("figure")),
        1 => (
            "* decides. ",
            format!("1 figure that decides and at {}", others("other")),
        ),
        more => (
            "* decides. ",
            format!("{more} figures that decide and at {}", others("other")),
        ),
    };
    let mut text = format!(
        "{mark}{} against {}: Welch's t of logarithms; 95 % intervals, corrected for looking at \
         {looked_at} (Holm).",
        counted(compared.base.len() as u64, "run"),
        counted(compared.new.len() as u64, "run"),
    );
    if compared.base.len() == 1 && compared.new.len() == 1 {
        let spread = 100.0 * RUN_SPREAD;
        text.push_str(&format!(
            " One run a side: single runs are taken to differ by {spread:.0} % beyond what each \
             knows of itself, so repeats tell more."
        ));
    } else if compared.runs_min() == 1 {
        text.push_str(
            " The single run is taken to differ from its like as those of the other side do.",
        );
    }
    text + &repeats_best(compared)
}

/// Describes the method of a comparison with interleaved runs.
fn in_turn(compared: &Compared, others: usize) -> String {
    let rows = compared.comparison.rows.iter();
    let far_off = rows.filter(|row| row.left_out > 0).map(|row| {
        format!(
            " Of {} the {} pairs furthest off at either end are left out: some are so far off that the \
             mean of all would say little.",
            row.figure,
            row.left_out / 2
        )
    });
    format!(
        "* decides: the change within {} of blocks that stand beside each other, with the interval \
         that a look after each group of four leaves (group-sequential, 5 % false alarms in all).{} \
         {} by Welch's t of logarithms; 95 % intervals, corrected (Holm).{}",
        counted(compared.base.len() as u64, "pair"),
        far_off.collect::<String>(),
        counted(others as u64, "other"),
        repeats_best(compared)
    )
}

/// Describes the best figure for comparing runs.
fn repeats_best(compared: &Compared) -> String {
    let Some(best) = compared.repeats_best() else {
        return String::new();
    };
    let [base, new] = best.deviations();
    let deviation = base.max(new);
    // A spread that was not measured with repeated runs is already assumed to be large.
    let well = if deviation > RUN_SPREAD {
        ", though not well"
    } else {
        ""
    };
    format!(
        " {} repeats best{well}: its runs differ by {} % (standard deviation).",
        best.figure,
        upward(100.0 * deviation)
    )
}

#[cfg(test)]
mod tests;
