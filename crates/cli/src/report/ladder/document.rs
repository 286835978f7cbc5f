//! What `--as json` and `--as csv` print of a ladder. The same document is what a ladder goes on from.

use super::{Ladder, LadderRung, rungs};
use crate::report::repeats::RepeatsEnd;
use crate::report::sweep::document::named;
use filestone_model::comparison::repeats::RepeatPlan;
use filestone_model::ladder::{LadderFigure, LadderValue};
use filestone_model::plan::Plan;
use filestone_model::statistics::CONFIDENCE;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The shape of [`LadderDocument`]; it rises when that changes.
pub const FORMAT: u32 = 1;

/// `ladder.json`: the rungs, and what they come to.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LadderDocument {
    /// The shape of this document.
    pub format: u32,
    /// What the order comes from; run k of each rung has this seed and k − 1.
    pub seed: u64,
    /// Most runs of each rung.
    pub runs_max: u32,
    /// The share that the mean response time was to be known within.
    pub until: Option<f64>,
    /// Between two runs, in nanoseconds.
    pub pause_ns: u64,
    /// Why there were no more runs; null while there are more to come.
    pub end: Option<RepeatsEnd>,
    /// Of which rung each run was, in the order of time, counted from 1.
    pub order: Vec<usize>,
    /// With which probability intervals hold what they are about.
    pub confidence: f64,
    /// The rungs, from the lowest.
    pub rungs: Vec<RungDocument>,
}

/// A rung.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RungDocument {
    /// What it is called.
    pub name: String,
    /// Whole runs.
    pub runs: usize,
    /// Operations that were sent and did not end well, of all runs together.
    pub errors: u64,
    /// Calls that were sent again.
    pub retransmissions: u64,
    /// Replies that came too late or twice.
    pub late_replies: u64,
    /// Reasons to doubt them, with the number of runs that have each.
    pub caveats: BTreeMap<String, u32>,
    /// Why it cannot be measured, if it cannot.
    pub failed: Option<String>,
    /// The next rung below that was measured: what steps are from.
    pub below: Option<String>,
    /// Figure by figure.
    pub figures: Vec<RungFigureDocument>,
    /// What its first run is to do.
    pub plan: Plan,
}

/// A figure of a rung.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RungFigureDocument {
    /// Its name.
    pub name: String,
    /// What it is counted in; nothing of a number.
    pub unit: String,
    /// Whether an unmeasured operation that goes with each measured one is in it.
    pub has_companion: bool,
    /// The mean over runs.
    #[serde(flatten)]
    pub mean: MeanDocument,
    /// What it is more than that of the rung below, run by run.
    pub step: Option<MeanDocument>,
}

/// A mean over runs, or over pairs of them.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct MeanDocument {
    /// Of several runs their mean.
    pub value: f64,
    /// The lower end of its interval, if it has one.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Runs that have it, or pairs of runs.
    pub runs: usize,
}

impl From<LadderValue> for MeanDocument {
    fn from(known: LadderValue) -> Self {
        let interval = known.interval();
        Self {
            value: known.value,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            runs: known.runs,
        }
    }
}

/// The document.
pub fn of(ladder: &Ladder) -> LadderDocument {
    let swept = &ladder.swept;
    LadderDocument {
        format: FORMAT,
        seed: swept.seed,
        runs_max: swept.wanted.most,
        until: swept.wanted.until,
        pause_ns: swept.wanted.pause_ns,
        end: swept.end,
        order: swept.order.iter().map(|rung| rung + 1).collect(),
        confidence: CONFIDENCE,
        rungs: ladder.rungs().map(|rung| document_of(&rung)).collect(),
    }
}

fn document_of(rung: &LadderRung<'_>) -> RungDocument {
    let tally = &rung.point.tally;
    let figures = rung.tally.values().into_iter();
    RungDocument {
        name: rung.name().into(),
        runs: rung.tally.runs(),
        errors: tally.errors,
        retransmissions: tally.retransmissions,
        late_replies: tally.late_replies,
        caveats: tally.caveats.clone(),
        failed: rung.point.failed.clone(),
        below: rung.below.map(|(name, _)| name.into()),
        figures: figures.map(|known| figure(rung, known)).collect(),
        plan: rung.point.plan.clone(),
    }
}

fn figure(rung: &LadderRung<'_>, known: LadderValue) -> RungFigureDocument {
    RungFigureDocument {
        name: known.figure.name().into(),
        unit: known.figure.unit().name().into(),
        has_companion: known.has_companion,
        mean: known.into(),
        step: rung.step(known.figure).map(MeanDocument::from),
    }
}

impl LadderDocument {
    /// The ladder, of which no run has been counted yet.
    pub fn into_ladder(self) -> Ladder {
        let wanted = RepeatPlan {
            most: self.runs_max,
            until: self.until,
            pause_ns: self.pause_ns,
        };
        let failed: Vec<Option<String>> =
            self.rungs.iter().map(|rung| rung.failed.clone()).collect();
        let plans = self.rungs.into_iter().map(|rung| (rung.name, rung.plan));
        let mut ladder = Ladder::begun(rungs(plans), wanted, self.seed);
        for (point, failed) in ladder.swept.points.iter_mut().zip(failed) {
            point.failed = failed;
        }
        ladder.swept.end = self.end;
        let order = self.order.iter().map(|rung| rung.saturating_sub(1));
        ladder.swept.order = order.collect();
        ladder
    }
}

/// What is counted over all runs of a rung; the last is 1 of one that cannot be measured.
const COUNTS: [&str; 5] = [
    "runs",
    "errors",
    "retransmissions",
    "late_replies",
    "failed",
];
/// What stands of each figure.
const ENDS: [&str; 6] = ["", "_low", "_high", "_step", "_step_low", "_step_high"];

/// A row per rung, units in the names of the columns.
pub fn csv(ladder: &Ladder) -> String {
    let all = LadderFigure::ALL.iter().copied();
    let figures: Vec<LadderFigure> = all.filter(|figure| ladder.has(*figure)).collect();
    let mut heads: Vec<String> = std::iter::once("rung")
        .chain(COUNTS)
        .map(String::from)
        .collect();
    heads.extend(figures.iter().flat_map(|figure| {
        let column = named(figure.name(), figure.unit().name());
        ENDS.map(|end| format!("{column}{end}"))
    }));
    let rows = ladder.rungs().map(|rung| row(&rung, &figures));
    let lines = std::iter::once(heads).chain(rows);
    lines.map(|line| line.join(",") + "\n").collect()
}

fn row(rung: &LadderRung<'_>, figures: &[LadderFigure]) -> Vec<String> {
    let tally = &rung.point.tally;
    let counts = [
        rung.tally.runs() as u64,
        tally.errors,
        tally.retransmissions,
        tally.late_replies,
        u64::from(rung.point.failed.is_some()),
    ];
    let mut cells = vec![rung.name().to_owned()];
    cells.extend(counts.map(|count| count.to_string()));
    let number = |number: Option<f64>| number.map_or_else(String::new, |it| format!("{it:.3}"));
    for figure in figures {
        for known in [rung.tally.value(*figure), rung.step(*figure)] {
            let known = known.map(MeanDocument::from);
            let ends = known.map(|known| [Some(known.value), known.low, known.high]);
            cells.extend(ends.unwrap_or_default().map(number));
        }
    }
    cells
}
