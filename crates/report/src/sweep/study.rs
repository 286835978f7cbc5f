//! Report of the read study: a sweep over sizes of reads, with NULL and GETATTR as baselines, which
//! separates the network from the server. It reproduces the "NFS Read Performance" study of the
//! 1990s as one command.
//!
//! The points are those of a sweep over `call` and `transport`: a call is `null`, `getattr` or the
//! size of a read. This module has the parts that only the study has: its graphs and the sentences
//! below them.

pub mod picture;
pub mod preview;
mod sentences;

pub use sentences::{missing, sentences};

use super::columns::exists;
use super::{ACHIEVED, MEAN, SweepReport, SweptLine, SweptPoint, of_run};
use filestone_measure::sweep::{KneeInput, SweepKnee, knee};
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_plan::plan::CostPlan;
use filestone_workload::figure::Quantity;

/// Largest size, in bytes, that is swept in fine steps.
pub const FINE_MAX: f64 = 8192.0;
/// Maximum number of packets of a reply in the range that is searched for a knee; each further
/// packet adds a knee.
const PACKETS_OF_KNEE: f64 = 2.0;

/// A graph of the study.
#[derive(Debug)]
pub struct StudyGraph {
    /// File name without extension.
    pub name: &'static str,
    /// Title of the graph.
    pub title: &'static str,
    /// Plotted figure.
    pub figure: GateFigure,
    /// Model prediction of the figure, if there is one.
    pub model: Option<GateFigure>,
    /// Source of the figure.
    pub source: GraphSource,
}

impl StudyGraph {
    /// Returns the plotted figure; for response times the requested one.
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

/// Returns the response time of the study: `--figure`, if it is a response time.
fn response(swept: &SweepReport) -> GateFigure {
    let figure = swept.figure.of_operations();
    let is_time = figure.is_some_and(|figure| matches!(figure.quantity, Quantity::Time(..)));
    if is_time { swept.figure } else { MEAN }
}

/// Source of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphSource {
    /// Load generator.
    Clients,
    /// Network interface on the path to the target.
    Interface,
    /// Network interface, unless it is its own other end.
    OtherEnd,
    /// Server process or its host.
    Server,
    /// Server host.
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

/// The eight graphs of the study.
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

/// Returns the read size of a point; `None` for a baseline.
fn size(point: &SweptPoint) -> Option<f64> {
    point.values.first()?.number
}

fn value(point: &SweptPoint, figure: GateFigure) -> Option<f64> {
    point.tally.value(&figure).map(|known| known.value)
}

/// Returns the transport of a line's points, such as `udp`.
fn carrier(line: &SweptLine<'_>) -> String {
    let second = line.points.first().and_then(|point| point.values.get(1));
    second.map_or_else(String::new, |value| value.text.clone())
}

/// Returns the packets of a reply: the counted number, or else the model's.
fn packets(point: &SweptPoint) -> Option<f64> {
    let counted = value(point, of_run(RunTotal::ReplyPackets));
    counted.or_else(|| value(point, of_run(RunTotal::ModelReplyPackets)))
}

/// Returns the knee of response times in the range of replies with at most two packets.
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

/// Returns the point of a baseline.
fn baseline<'sweep>(line: &SweptLine<'sweep>, name: &str) -> Option<&'sweep SweptPoint> {
    let is_it = |point: &&SweptPoint| point.values.first().is_some_and(|call| call.text == name);
    line.points.iter().find(is_it)
}

/// Whether a figure was measured at any point, or will be according to the plans.
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
