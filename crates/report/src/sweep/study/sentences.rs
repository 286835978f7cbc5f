//! Sentences below the study's table.

use super::{
    GRAPHS, GraphSource, MEAN, StudyGraph, baseline, carrier, is_read, of_run, response, size,
    value,
};
use crate::quantity::{time_with_chance, with_chance};
use crate::repeats::percent;
use crate::sweep::{SweepReport, SweptLine, SweptPoint};
use filestone_measure::sweep::SweepKnee;
use filestone_measure::sweep::read_study::BASELINES;
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_workload::text::{counted, thousands};

/// Largest relative difference between counted packets and the model's that is ignored.
const PACKETS_OFF: f64 = 0.01;
/// Maximum number of sizes that are listed by name.
const NAMED_MAX: usize = 4;
/// The best-known result of the study: additional processor time of the server for GETATTR compared
/// with NULL.
const OF_THE_STUDY: &str = "2.75 µs";

/// Returns all sentences.
pub fn sentences(swept: &SweepReport) -> Vec<String> {
    let mut all = vec![];
    for line in swept.lines() {
        all.push(knee(&line));
        all.extend(packets(&line));
        all.extend(difference(swept, &line));
    }
    all.extend(shared_host(swept));
    all.extend(missing(swept));
    all
}

/// Describes the CPU use of both ends if they share the processors of one host.
fn shared_host(swept: &SweepReport) -> Option<String> {
    let plan = swept.points.first()?.plan.cost.as_ref()?;
    let is_shared = plan.process.is_some() || plan.this_host;
    let processors = swept.first.as_ref().filter(|_| is_shared)?.processors;
    let busiest = |total| {
        let points = swept.points.iter();
        let known = points.filter_map(|point| value(point, of_run(total)));
        known.max_by(f64::total_cmp).map(percent)
    };
    let (server, own) = (
        busiest(RunTotal::ServerBusy)?,
        busiest(RunTotal::GeneratorBusy)?,
    );
    let processors = counted(processors.into(), "processor");
    Some(format!(
        "The server is on this host: it had up to {server} of a processor and the load generator up to {own}, \
         which may use {processors}. Where both have to share one, each makes the other slower (taskset, --pin)."
    ))
}

/// Two neighbouring sizes.
type Bracket = [f64; 2];

/// Returns the sizes between which the number of packets of a reply reaches `packets`.
fn begins(line: &SweptLine<'_>, figure: GateFigure, packets: f64) -> Option<Bracket> {
    let known = line.points.iter();
    let known: Vec<(f64, f64)> = known
        .filter_map(|point| Some((size(point)?, value(point, figure)?)))
        .collect();
    let pairs = known.iter().zip(known.iter().skip(1));
    let mut pairs =
        pairs.filter(|(before, after)| before.1.round() < packets && after.1.round() >= packets);
    pairs.next().map(|(before, after)| [before.0, after.0])
}

fn bytes(number: f64) -> String {
    thousands(number.round() as u64)
}

fn between([low, high]: Bracket) -> String {
    format!("between {} and {} bytes", bytes(low), bytes(high))
}

/// Describes the knee, and its cause.
fn knee(line: &SweptLine<'_>) -> String {
    let over = carrier(line);
    let counted = begins(line, of_run(RunTotal::ReplyPackets), 2.0);
    let second = counted.or_else(|| begins(line, of_run(RunTotal::ModelReplyPackets), 2.0));
    let Some(SweepKnee {
        at,
        interval,
        method,
        ..
    }) = line.knee()
    else {
        let there =
            second.map(|second| format!(", where a second packet begins ({})", between(second)));
        return format!(
            "Response times over {over} have no knee that chance does not explain{}.",
            there.unwrap_or_default()
        );
    };
    let ends = interval.unwrap_or((at, at));
    let place = match interval {
        Some((low, high)) if low < high => {
            format!("{} bytes ({} to {})", bytes(at), bytes(low), bytes(high))
        }
        _ => format!("{} bytes", bytes(at)),
    };
    let name = match second {
        Some(second) if ends.0 <= second[1] && ends.1 >= second[0] => format!(
            ", where the MTU ends: replies begin to take a second packet {}",
            between(second)
        ),
        Some(second) => format!(
            ", and not where the MTU ends: replies begin to take a second packet {}",
            between(second)
        ),
        None => String::new(),
    };
    format!("Knee over {over} at {place}{name}; found as {method}.")
}

/// Packets of a point's replies: the counted number, and the model's.
struct ReplyPackets {
    call: String,
    counted: f64,
    half_width: f64,
    by_model: f64,
}

impl ReplyPackets {
    fn of(point: &SweptPoint) -> Option<Self> {
        let counted = point.tally.value(&of_run(RunTotal::ReplyPackets))?;
        Some(Self {
            call: point.values.first()?.text.clone(),
            counted: counted.value,
            half_width: counted.half_width().unwrap_or(0.0),
            by_model: value(point, of_run(RunTotal::ModelReplyPackets))?,
        })
    }

    /// Whether the counted number differs from the model by more than its interval explains.
    fn is_off(&self) -> bool {
        let difference = (self.counted - self.by_model).abs();
        difference - self.half_width > PACKETS_OFF * self.by_model
    }

    fn text(&self) -> String {
        let counted = with_chance(self.counted, self.half_width, 3);
        format!(
            "{}: {counted}, by the model {:.0}",
            self.call, self.by_model
        )
    }
}

/// Compares the received packets with the model's.
fn packets(line: &SweptLine<'_>) -> Option<String> {
    let all: Vec<ReplyPackets> = line.points.iter().filter_map(ReplyPackets::of).collect();
    if all.is_empty() {
        return None;
    }
    let over = carrier(line);
    let steps = steps(line);
    let off: Vec<&ReplyPackets> = all.iter().filter(|packets| packets.is_off()).collect();
    let points = counted(all.len() as u64, "point");
    let as_modelled = "what the model says, within 1 % or their interval,";
    if off.is_empty() {
        return Some(format!(
            "Packets per response over {over} are {as_modelled} at all {points}{steps}."
        ));
    }
    let named: Vec<String> = off
        .iter()
        .take(NAMED_MAX)
        .map(|packets| packets.text())
        .collect();
    let more = if off.len() > NAMED_MAX { ", …" } else { "" };
    Some(format!(
        "Packets per response over {over} are {as_modelled} at {} of {points}{steps}; not at {}{more}.",
        all.len() - off.len(),
        named.join(", ")
    ))
}

/// Lists the smallest measured size for each number of packets of a reply.
fn steps(line: &SweptLine<'_>) -> String {
    let figure = of_run(RunTotal::ReplyPackets);
    let found = (2..=6).filter_map(|packets| {
        let [_, first] = begins(line, figure, f64::from(packets))?;
        Some(format!("{packets} from {}", bytes(first)))
    });
    let found: Vec<String> = found.collect();
    if found.is_empty() {
        return String::new();
    }
    format!(": {} bytes on", found.join(", "))
}

/// Describes the additional cost of GETATTR compared with NULL, with the interval of the
/// difference.
fn difference(swept: &SweepReport, line: &SweptLine<'_>) -> Option<String> {
    let [null, getattr] = BASELINES.map(|name| baseline(line, name));
    let (null, getattr) = (null?, getattr?);
    let more = |figure: GateFigure| {
        let more = getattr.tally.estimate(&figure)?;
        let more = more.minus(&null.tally.estimate(&figure)?);
        let half_width = Some(more.half_width()).filter(|half_width| *half_width > 0.0)?;
        Some(time_with_chance(more.value, half_width))
    };
    let figure = response(swept);
    let name = if figure == MEAN {
        "response time".into()
    } else {
        figure.to_string()
    };
    let response = more(figure).map(|time| format!("{time} of {name}"));
    let of_server = more(of_run(RunTotal::ServerCpu)).map(|time| {
        format!("{time} of the server's processor time (the study of the 1990s: {OF_THE_STUDY})")
    });
    let both: Vec<String> = response.into_iter().chain(of_server).collect();
    let known = if both.is_empty() {
        "of a single run no interval is known".into()
    } else {
        format!("{}, with 95 % intervals", both.join(", "))
    };
    Some(format!("GETATTR − NULL over {}: {known}.", carrier(line)))
}

/// Lists the missing graphs, and the options that would measure them.
pub fn missing(swept: &SweepReport) -> Vec<String> {
    if !swept.is_study() {
        return vec![];
    }
    let untold = GRAPHS.iter().filter(|graph| !is_read(swept, graph));
    let untold: Vec<&StudyGraph> = untold.collect();
    let sources = [
        GraphSource::Interface,
        GraphSource::OtherEnd,
        GraphSource::Server,
        GraphSource::ServerHost,
    ];
    let of_source = |source: GraphSource| {
        let graphs = untold.iter().filter(|graph| graph.source == source);
        let titles: Vec<&str> = graphs.map(|graph| graph.title).collect();
        (!titles.is_empty())
            .then(|| format!("Not read: {}. {}", titles.join("; "), what_reads(source)))
    };
    sources.into_iter().filter_map(of_source).collect()
}

const fn what_reads(source: GraphSource) -> &'static str {
    match source {
        GraphSource::Clients => "",
        GraphSource::Interface => "No interface of this host leads to the target.",
        GraphSource::OtherEnd => {
            "The loopback interface is its own other end: packets that come back are those that were sent."
        }
        GraphSource::Server => {
            "--server-pid, --server-local, --server-metrics or --server-command reads the server's side."
        }
        GraphSource::ServerHost => {
            "--server-local, --server-metrics (with the collector interrupts) or --server-command reads the \
             server's host; a process has no interrupts of its own."
        }
    }
}
