//! Graphs of the study: all of them as one picture, and each as a separate one.

use super::{FINE_MAX, GRAPHS, GraphSource, StudyGraph, baseline, carrier, missing, size};
use crate::picture::{
    Axis, AxisQuantity, Form, Panel, Picture, PlotLine, PlotMark, PlotPoint, Style, Symbol,
};
use crate::sweep::picture::{drawn, of_panels};
use crate::sweep::unit::DrawnUnit;
use crate::sweep::{SweepReport, SweptLine, SweptPoint, everywhere};
use filestone_measure::sweep::read_study::BASELINES;
use filestone_plan::gate::GateFigure;

/// Height of a graph among the others.
const HEIGHT: f64 = 260.0;

/// Line styles of one transport.
struct Styles {
    read: Style,
    baselines: [Style; 2],
    model: Style,
}

const STYLES: [Styles; 2] = [
    Styles {
        read: Style::First,
        baselines: [Style::FirstAgain, Style::Fine],
        model: Style::Fine,
    },
    Styles {
        read: Style::Second,
        baselines: [Style::Third, Style::Bound],
        model: Style::Bound,
    },
];

/// Sizes on the x axis of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sizes {
    /// Sizes in fine steps.
    Fine,
    /// Sizes in fine steps and the larger ones.
    All,
}

/// Returns all graphs below each other, over the sizes in fine steps.
pub fn page(swept: &SweepReport) -> Picture {
    let panels = GRAPHS.iter().map(|graph| panel(swept, graph, Sizes::Fine));
    of_panels(swept, "Read study", panels.collect(), missing(swept))
}

/// Returns each graph as a picture, over the sizes in fine steps and over all, with the names of
/// files and pictures.
pub fn pictures(swept: &SweepReport) -> Vec<(String, Picture)> {
    let has_more = swept
        .points
        .iter()
        .filter_map(size)
        .any(|size| size > FINE_MAX);
    let picture = |graph: &StudyGraph| {
        let mut panels = vec![panel(swept, graph, Sizes::Fine)];
        if has_more {
            panels.push(panel(swept, graph, Sizes::All));
        }
        let title = format!("Read study: {}", graph.title);
        let picture = of_panels(swept, &title, panels, vec![]);
        (format!("{}.svg", graph.name), picture)
    };
    GRAPHS.iter().map(picture).collect()
}

fn panel(swept: &SweepReport, graph: &StudyGraph, sizes: Sizes) -> Panel {
    let lines = swept.lines();
    let drawn = lines.iter().zip(STYLES);
    let drawn = drawn.flat_map(|(line, styles)| lines_of(swept, line, graph, sizes, &styles));
    let x = match sizes {
        Sizes::Fine => Axis::load("bytes per read"),
        Sizes::All => Axis::new(AxisQuantity::Ratio, "bytes per read"),
    };
    let figure = graph.figure_in(swept);
    let title = if figure == graph.figure {
        graph.title.into()
    } else {
        figure.to_string()
    };
    let y = DrawnUnit::of(&figure).axis(&title);
    let mut panel = Panel::new(x, y, drawn.collect());
    panel.height = HEIGHT;
    if graph.source == GraphSource::Clients && sizes == Sizes::Fine {
        panel.marks = marks(&lines);
    }
    panel
}

fn marks(lines: &[SweptLine<'_>]) -> Vec<PlotMark> {
    let knees = lines
        .iter()
        .filter_map(|line| Some((line.knee()?, carrier(line))));
    knees
        .map(|(knee, carrier)| PlotMark {
            x: knee.at,
            text: format!("knee, {carrier}"),
        })
        .collect()
}

/// Returns the lines of one transport: the reads with the model, or else with the baselines.
fn lines_of(
    swept: &SweepReport,
    line: &SweptLine<'_>,
    graph: &StudyGraph,
    sizes: Sizes,
    styles: &Styles,
) -> Vec<PlotLine> {
    let over = carrier(line);
    let figure = graph.figure_in(swept);
    let points = points(swept, line, figure, sizes);
    let ends = [points.first(), points.last()].map(|end| end.map(|point| point.x));
    let read = PlotLine::new(&format!("read, {over}"), styles.read, Form::Joined, points);
    if read.points.is_empty() {
        return vec![];
    }
    let mut lines = vec![read];
    if let Some(model) = graph.model {
        let points = self::points(swept, line, model, sizes);
        let points = points.into_iter().map(|point| PlotPoint {
            symbol: Symbol::None,
            ..point
        });
        let name = format!("by the model, {over}");
        lines.push(PlotLine::new(
            &name,
            styles.model,
            Form::Joined,
            points.collect(),
        ));
        return lines;
    }
    let baselines = BASELINES.into_iter().zip(styles.baselines);
    let baselines = baselines.filter_map(|(name, style)| {
        let [Some(from), Some(to)] = ends else {
            return None;
        };
        let value = baseline(line, name)?.tally.value(&figure)?.value;
        let y = value / DrawnUnit::of(&figure).on_axis();
        let ends = [from, to].map(|x| PlotPoint {
            symbol: Symbol::None,
            ..PlotPoint::new(x, y)
        });
        let name = format!("{name}, {over}");
        Some(PlotLine::new(&name, style, Form::Joined, ends.to_vec()))
    });
    lines.extend(baselines);
    lines
}

fn points(
    swept: &SweepReport,
    line: &SweptLine<'_>,
    figure: GateFigure,
    sizes: Sizes,
) -> Vec<PlotPoint> {
    let Some(parameter) = swept.parameters.first() else {
        return vec![];
    };
    let everywhere = everywhere(swept);
    let is_in = |point: &&SweptPoint| {
        let size = size(point);
        size.is_some_and(|size| sizes == Sizes::All || size <= FINE_MAX)
    };
    let points = line.points.iter().filter(is_in);
    points
        .filter_map(|point| drawn(point, parameter, figure, &everywhere))
        .collect()
}
