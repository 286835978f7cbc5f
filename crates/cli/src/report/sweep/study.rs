//! The read study: what a sweep over sizes of reads, with NULL and GETATTR beside them, says of the way
//! and of the server. It is the "NFS Read Performance" study of the 1990s as one command.
//!
//! Its points are those of a sweep over `call` and `transport`: a call is `null`, `getattr` or the size
//! of a read. What is the study's alone is here: its graphs, and what is said below them.

pub mod picture;
pub mod preview;
mod sentences;

pub use sentences::{missing, sentences};

use super::columns::exists;
use super::{ACHIEVED, MEAN, SweepReport, SweptLine, SweptPoint};
use filestone_measure::sweep::{KneeInput, SweepKnee, knee};
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_plan::plan::CostPlan;
use filestone_workload::figure::Quantity;

/// The option that the study goes over first, as it were.
pub const CALL: &str = "call";
/// What the baselines are called.
pub const BASELINES: [&str; 2] = ["null", "getattr"];
/// Sizes in fine steps end here.
pub const FINE_MAX: f64 = 8192.0;
/// A knee is looked for where replies take so many packets at most: each further one has a place of its
/// own.
const PACKETS_OF_KNEE: f64 = 2.0;

/// One of the study's graphs.
#[derive(Debug)]
pub struct StudyGraph {
    /// Its file, without the end.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The figure.
    pub figure: GateFigure,
    /// The same by the model, if that knows it.
    pub model: Option<GateFigure>,
    /// What reads it.
    pub source: GraphSource,
}

impl StudyGraph {
    /// The figure that it shows: of response times the one that is asked for.
    pub fn figure_in(&self, swept: &SweepReport) -> GateFigure {
        match self.source {
            GraphSource::Clients => response(swept),
            GraphSource::Interface
            | GraphSource::OtherEnd
            | GraphSource::Server
            | GraphSource::ServerHost => self.figure,
        }
    }
}

/// The response time that the study is about: `--figure`, if that is one.
fn response(swept: &SweepReport) -> GateFigure {
    let figure = swept.figure.of_operations();
    let is_time = figure.is_some_and(|figure| matches!(figure.quantity, Quantity::Time(..)));
    if is_time { swept.figure } else { MEAN }
}

/// What reads a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphSource {
    /// The load generator itself.
    Clients,
    /// The interface on the way to the target.
    Interface,
    /// The same, where it is not its own other end.
    OtherEnd,
    /// The server's process or its host.
    Server,
    /// The server's host.
    ServerHost,
}

const fn graph(
    name: &'static str,
    title: &'static str,
    figure: GateFigure,
    source: GraphSource,
) -> StudyGraph {
    StudyGraph {
        name,
        title,
        figure,
        model: None,
        source,
    }
}

const fn of_run(total: RunTotal) -> GateFigure {
    GateFigure::OfRun(total)
}

/// The eight of the study.
pub const GRAPHS: [StudyGraph; 8] = [
    graph("response-time", "response time", MEAN, GraphSource::Clients),
    graph(
        "wire-rate",
        "on the wire, both ways",
        of_run(RunTotal::WireRate),
        GraphSource::Interface,
    ),
    graph(
        "wire-bytes",
        "bytes per operation, both ways",
        of_run(RunTotal::WireBytes),
        GraphSource::Interface,
    ),
    StudyGraph {
        model: Some(of_run(RunTotal::ModelReplyPackets)),
        ..graph(
            "packets",
            "packets per response",
            of_run(RunTotal::ReplyPackets),
            GraphSource::OtherEnd,
        )
    },
    graph(
        "server-busy",
        "server: processors busy",
        of_run(RunTotal::ServerBusy),
        GraphSource::Server,
    ),
    graph(
        "server-cpu",
        "server: processor time per call",
        of_run(RunTotal::ServerCpu),
        GraphSource::Server,
    ),
    graph(
        "interrupts",
        "server: interrupts per operation",
        of_run(RunTotal::ServerInterrupts),
        GraphSource::ServerHost,
    ),
    graph(
        "context-switches",
        "server: context switches per operation",
        of_run(RunTotal::ServerSwitches),
        GraphSource::Server,
    ),
];

/// The size of a point's read; `None` of a baseline.
fn size(point: &SweptPoint) -> Option<f64> {
    point.values.first()?.number
}

fn value(point: &SweptPoint, figure: GateFigure) -> Option<f64> {
    point.tally.value(&figure).map(|known| known.value)
}

/// What a line's points are of: `udp`.
fn carrier(line: &SweptLine<'_>) -> String {
    let second = line.points.first().and_then(|point| point.values.get(1));
    second.map_or_else(String::new, |value| value.text.clone())
}

/// Packets of a reply: as they were counted, else by the model.
fn packets(point: &SweptPoint) -> Option<f64> {
    let counted = value(point, of_run(RunTotal::ReplyPackets));
    counted.or_else(|| value(point, of_run(RunTotal::ModelReplyPackets)))
}

/// Where response times change their course, as far as replies take two packets at most.
pub(super) fn knee(line: &SweptLine<'_>) -> Option<SweepKnee> {
    let is_in = |point: &&SweptPoint| {
        let is_fine = size(point).is_some_and(|size| size <= FINE_MAX);
        let is_short = packets(point).is_none_or(|count| count.round() <= PACKETS_OF_KNEE);
        is_fine && is_short
    };
    let place = |point: &SweptPoint| {
        Some(KneeInput {
            x: size(point)?,
            figure: value(point, response(line.sweep))?,
            achieved_load_ops_per_s: value(point, ACHIEVED)?,
            response_time_mean_ns: value(point, MEAN)?,
        })
    };
    let places = line.points.iter().filter(is_in).filter_map(place);
    knee::of_sizes(&places.collect::<Vec<_>>())
}

/// The point of a baseline.
fn baseline<'sweep>(line: &SweptLine<'sweep>, name: &str) -> Option<&'sweep SweptPoint> {
    let is_it = |point: &&SweptPoint| point.values.first().is_some_and(|call| call.text == name);
    line.points.iter().find(is_it)
}

/// Whether a figure was read at any point, or will be by what the plans say.
fn is_read(swept: &SweepReport, graph: &StudyGraph) -> bool {
    if swept.runs() > 0 {
        return exists(swept, &graph.figure_in(swept));
    }
    let plan = swept
        .points
        .first()
        .and_then(|point| point.plan.cost.as_ref());
    let reads_host =
        |plan: &CostPlan| plan.this_host || plan.metrics.is_some() || plan.command.is_some();
    match graph.source {
        GraphSource::Clients => true,
        GraphSource::Interface | GraphSource::OtherEnd => plan.is_some(),
        GraphSource::Server => plan.is_some_and(|plan| plan.process.is_some() || reads_host(plan)),
        GraphSource::ServerHost => plan.is_some_and(reads_host),
    }
}

#[cfg(test)]
mod tests;
