//! Text report of `filestone history`: a figure over runs, its levels, and the changes between
//! them.

pub mod document;
pub mod picture;

use self::document::HistoryRun;
use super::comparison::{ReadRun, unit_of};
use super::document::table::{Column, Table};
use super::document::{Block, Document};
use super::parts::known::value_within;
use crate::error::ReportError;
use crate::quantity::{plain, rounded};
use filestone_measure::comparison::repeats::{headline_of, repeated, repeats_best};
use filestone_measure::comparison::{
    ComparabilityCheck, ComparedRun, RelativeChange, RunValue, Side, comparability,
};
use filestone_measure::history::{History, LevelChange, RUNS_MIN};
use filestone_measure::measure::figures::RunFigure;
use filestone_workload::statistics::change_points::FALSE_ALARMS;
use filestone_workload::text::counted;

/// A figure over runs.
#[derive(Debug)]
pub struct HistoryReport {
    /// Runs in the order of time.
    pub runs: Vec<HistoryRun>,
    /// Levels and changes.
    pub history: History,
    /// Notes on runs that were left out, with reasons, and on changes of the host.
    pub notes: Vec<String>,
}

impl HistoryReport {
    /// Creates the history of the runs that are comparable with the newest, in the order of time.
    pub fn of(
        mut runs: Vec<ReadRun>,
        unreadable: &[String],
        figure: Option<RunFigure>,
    ) -> Result<Self, ReportError> {
        runs.sort_by(|one, other| one.run.started_at.cmp(&other.run.started_at));
        let mut notes: Vec<String> = unreadable_note(unreadable).into_iter().collect();
        notes.extend(leave_out_twins(&mut runs));
        leave_out(&mut runs, &mut notes);
        let Some(newest) = runs.last() else {
            return Err(ReportError::unavailable(format!(
                "there is no run with a figure over time: {}",
                notes.join("; ")
            )));
        };
        let judged: Vec<RunFigure> = figure.into_iter().collect();
        let values: Vec<Vec<RunValue>> =
            runs.iter().map(|read| read.run.figures(&judged)).collect();
        let best = repeated(&Side::of(values.iter().cloned()));
        let best = repeats_best(&best, &newest.run.plan).map(|best| best.figure);
        let figure = figure.or(best);
        let figure = figure.unwrap_or_else(|| headline_of(&newest.run.plan));
        let in_time = runs.iter().zip(&values).filter_map(|(read, values)| {
            let known = values.iter().find(|known| known.figure == figure)?;
            (known.value > 0.0).then(|| HistoryRun::of(read, known))
        });
        let in_time: Vec<HistoryRun> = in_time.collect();
        let lacking = runs.len() - in_time.len();
        if in_time.is_empty() {
            return Err(ReportError::unavailable(format!(
                "{figure}: no run has it, or it is 0"
            )));
        }
        if lacking > 0 {
            let lacking = counted(lacking as u64, "run");
            notes.push(format!("{lacking} left out: no {figure}, or 0"));
        }
        notes.extend(hosts(&runs));
        let values: Vec<f64> = in_time.iter().map(|run| run.value).collect();
        Ok(Self {
            history: History::of(figure, &values),
            runs: in_time,
            notes,
        })
    }
}

impl HistoryRun {
    fn of(read: &ReadRun, known: &RunValue) -> Self {
        let name = |path: Option<&std::path::Path>| {
            let name = path.and_then(std::path::Path::file_name);
            name.map(|name| name.to_string_lossy().into_owned())
        };
        // The user names the directory of a run; the record in it always has the same name.
        let path = read.path.as_path();
        let label = match name(Some(path)) {
            Some(file) if file == "run.json" => name(path.parent()),
            file => file,
        };
        Self {
            started_at: read.run.started_at.clone(),
            label: label.unwrap_or_default(),
            version: read.run.tool.version.clone(),
            value: known.value,
            half_width: known.own.ok().map(|own| own.half_width()),
        }
    }
}

/// Returns a note that records below a directory could not be read.
fn unreadable_note(unreadable: &[String]) -> Option<String> {
    let (first, others) = unreadable.split_first()?;
    Some(match others.len() as u64 {
        0 => format!("1 record left out: {}", first),
        more => format!(
            "{} left out: {}, and others that cannot be read",
            counted(more + 1, "record"),
            first
        ),
    })
}

/// Removes duplicates from runs in the order of time.
fn leave_out_twins(runs: &mut Vec<ReadRun>) -> Option<String> {
    let before = runs.len();
    runs.dedup_by(|one, other| one.run.identity() == other.run.identity());
    let twins = (before - runs.len()) as u64;
    (twins > 0).then(|| format!("{} left out: there twice", counted(twins, "record")))
}

/// Removes runs without a figure over time, and runs that are not comparable with the newest of the
/// others.
fn leave_out(runs: &mut Vec<ReadRun>, notes: &mut Vec<String>) {
    leave_out_if(runs, notes, |run| {
        if run.plan.steering.is_some() {
            Some("the load was steered, so figures are of several loads".into())
        } else if run.totals.ledger.ok == 0 {
            Some("no operation ended well".into())
        } else {
            run.does_not_count()
                .map(|why| format!("does not count ({why})"))
        }
    });
    let Some(newest) = runs.last().map(|read| read.run.clone()) else {
        return;
    };
    leave_out_if(runs, notes, |run| {
        let mut unlike = comparability::differences(run, &newest);
        unlike.retain(|unlike| unlike.aspect != ComparabilityCheck::Host);
        let first = unlike.first()?;
        Some(format!("not like the newest: {first}"))
    });
}

/// Removes runs that have a reason, and adds a note with the number per reason.
fn leave_out_if(
    runs: &mut Vec<ReadRun>,
    notes: &mut Vec<String>,
    why: impl Fn(&ComparedRun) -> Option<String>,
) {
    let mut whys: Vec<(String, u64)> = vec![];
    runs.retain(|read| {
        let Some(why) = why(&read.run) else {
            return true;
        };
        match whys.iter_mut().find(|known| known.0 == why) {
            Some(known) => known.1 += 1,
            None => whys.push((why, 1)),
        }
        false
    });
    let whys = whys.iter();
    notes.extend(whys.map(|(why, count)| format!("{} left out: {why}", counted(*count, "run"))));
}

/// Lists changes of the host: a new kernel or machine can be the cause of a change.
fn hosts(runs: &[ReadRun]) -> Vec<String> {
    let pairs = runs.iter().zip(runs.iter().skip(1));
    let changes = pairs.flat_map(|(before, after)| {
        let unlike = comparability::differences(&before.run, &after.run).into_iter();
        let unlike = unlike.filter(|unlike| unlike.aspect == ComparabilityCheck::Host);
        unlike.map(|unlike| {
            let at = &after.run.started_at;
            format!(
                "the host changed at {at}: {}, then {}",
                unlike.base, unlike.new
            )
        })
    });
    changes.collect()
}

/// Returns the whole report.
pub fn report(told: &HistoryReport) -> Document {
    let notes = told.notes.iter().map(|note| ("note", note.clone()));
    let changes = told.history.changes.iter();
    let changes = changes.map(|change| ("change", change_text(told, change)));
    let picture = Block::Picture(picture::picture(told));
    Document::joined([
        Document::default().prose([heading(told)]).push(picture),
        Document::default().facts(changes).facts(notes),
        Document::default().table(table(told)),
        Document::default().prose(method(told)),
    ])
}

/// Compares the newest level with the one before it, in words.
pub fn heading(told: &HistoryReport) -> String {
    let figure = told.history.figure;
    let runs = counted(told.runs.len() as u64, "run");
    match told.history.changes.last() {
        None if told.runs.len() < RUNS_MIN => {
            format!("{figure} of {runs}: too few to find a change in, which takes {RUNS_MIN}")
        }
        None => format!("{figure} of {runs}: no change found"),
        Some(change) => {
            let verdict = if change.is_worse { "worse" } else { "better" };
            let since = &told.runs[change.at].started_at;
            format!(
                "{figure} of {runs}: {verdict} since {since} ({}), {}",
                told.runs[change.at].label,
                by(change.change)
            )
        }
    }
}

/// Formats a change: `3.1 % more (2.0 to 4.2)`.
fn by(change: RelativeChange) -> String {
    let word = if change.share > 0.0 { "more" } else { "less" };
    format!(
        "{} % {word} (95 %: {} to {} %)",
        percent(change.share.abs(), change),
        percent(change.low, change),
        percent(change.high, change)
    )
}

/// Formats the share of a change in percent, with the digits that its nearer end supports.
fn percent(share: f64, change: RelativeChange) -> String {
    let unit = unit_of(change);
    let decimals = usize::from(unit < 1.0);
    // Turns -0 into 0.
    let rounded = (100.0 * share / unit).round() * unit + 0.0;
    format!("{rounded:.decimals$}")
}

fn change_text(told: &HistoryReport, change: &LevelChange) -> String {
    let run = &told.runs[change.at];
    let verdict = if change.is_worse { "worse" } else { "better" };
    format!(
        "{} ({}), run {} of {} ({}): {verdict}, {}; p {}",
        run.started_at,
        run.label,
        change.at + 1,
        told.runs.len(),
        place(told, change),
        by(change.change),
        plain(change.p_value, 3)
    )
}

/// Formats the interval of the change's position: `95 %: 13, 2026-01-13T03:00:00Z, to 15,
/// 2026-01-15T03:00:00Z`.
fn place(told: &HistoryReport, change: &LevelChange) -> String {
    if change.earliest == change.latest {
        return "95 %: no other".into();
    }
    let ends = [change.earliest, change.latest];
    let ends = ends.map(|at| format!("{}, {}", at + 1, told.runs[at].started_at));
    format!("95 %: {}", ends.join(", to "))
}

fn table(told: &HistoryReport) -> Table {
    let figure = told.history.figure;
    let mut table = Table::new([
        Column::text("STARTED"),
        Column::text("RUN"),
        Column::figure(figure.to_string()),
        Column::figure("± 95 %").gives_way(1),
        Column::text("VERSION").gives_way(2),
        Column::text("CHANGE"),
    ]);
    for (place, run) in told.runs.iter().enumerate() {
        let mut changes = told.history.changes.iter();
        let change = changes.find(|change| change.at == place);
        let half_width = run.half_width;
        let share = half_width.map(|half| own_percent(half / run.value));
        table.row([
            run.started_at.clone(),
            run.label.clone(),
            value_within(
                figure.quantity.unit(),
                run.value,
                half_width.unwrap_or(run.value / 1e3),
            ),
            share.unwrap_or_else(|| "-".into()),
            run.version.clone(),
            change.map_or_else(String::new, |change| {
                let verdict = if change.is_worse { "worse" } else { "better" };
                format!(
                    "{verdict}: {} %",
                    percent(change.change.share, change.change)
                )
            }),
        ]);
    }
    table
}

/// Formats the half-width of a run's own interval.
fn own_percent(share: f64) -> String {
    let percent = 100.0 * share;
    format!("{} %", plain(rounded(percent, percent), 1))
}

fn method(told: &HistoryReport) -> Option<String> {
    let mut sentences = vec![];
    if told.runs.len() >= RUNS_MIN {
        sentences.push(format!(
            "Changes by E-divisive (Matteson and James 2014), with a permutation test that finds one in {} \
             of 100 series that have none. A change of one and a half times what runs differ by is found \
             to within two runs four times in five; of the newest two runs nothing can be said.",
            plain(100.0 * FALSE_ALARMS, 1)
        ));
    }
    if !told.history.changes.is_empty() {
        sentences.push("The 95 % range of its run is by how likely each is (Smith 1975).".into());
    }
    if told.runs.iter().any(|run| run.half_width.is_some()) {
        sentences.push("± is what a run knows of itself, not what runs differ by.".into());
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

#[cfg(test)]
mod tests;
