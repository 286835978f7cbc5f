//! Panels of the screen.

use super::state::{OperationCounts, RunProgress, View};
use super::theme::Theme;
use super::words;
use filestone_live::event::{IntervalFigures, OperationFigures};
use filestone_measure::measure::run_record::Phase;
use filestone_report::sanitize::printable_line;
use filestone_workload::text::thousands;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, LineGauge, Paragraph, Row, Sparkline, Table, TableState};
use std::time::Duration;

/// Draws the subject of the measurement and its progress.
pub fn title(frame: &mut Frame<'_>, area: Rect, view: &View, look: Theme, now: Duration) {
    let [first, second] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
    let mut spans = vec![Span::styled(
        printable_line(&what_runs(view)),
        look.heading(),
    )];
    if let Some(target) = &view.target {
        spans.push(Span::raw(format!(
            " at {}",
            printable_line(&target.address)
        )));
        if !target.export.is_empty() {
            spans.push(Span::raw(format!(" {}", printable_line(&target.export))));
        }
    }
    frame.render_widget(Line::from(spans), first);
    progress(frame, second, &view.progress(now), look);
}

fn what_runs(view: &View) -> String {
    let Some(run) = &view.run else {
        return view.command.clone();
    };
    let command = format!("filestone {}", run.plan.command);
    if run.name.is_empty() {
        command
    } else {
        format!("{command}, {}", run.name)
    }
}

fn progress(frame: &mut Frame<'_>, area: Rect, progress: &RunProgress, look: Theme) {
    let text = printable_line(&progress.text);
    let text_width = text.chars().count() as u16 + 2;
    match progress.share {
        Some(share) if area.width > text_width + 10 => {
            let gauge = LineGauge::default()
                .ratio(share.clamp(0.0, 1.0))
                .filled_symbol("━")
                .filled_style(look.heading())
                .unfilled_style(look.aside())
                .label(text);
            frame.render_widget(gauge, area);
        }
        Some(_) | None => frame.render_widget(Line::raw(text), area),
    }
}

/// Draws the last interval, in two lines.
pub fn figures(frame: &mut Frame<'_>, area: Rect, view: &View, look: Theme) {
    let known = view.last().and_then(|interval| {
        let figures = view.figures(interval)?;
        Some((interval, figures))
    });
    let Some((interval, figures)) = known else {
        frame.render_widget(Line::styled("nothing is measured yet", look.aside()), area);
        return;
    };
    let lines = vec![
        load_line(view, interval, figures, look),
        time_line(figures, area.width, look),
    ];
    frame.render_widget(Paragraph::new(lines), area);
}

fn load_line<'l>(
    view: &View,
    interval: &IntervalFigures,
    figures: &OperationFigures,
    look: Theme,
) -> Line<'l> {
    let mut spans = vec![
        Span::styled("load ", look.heading()),
        Span::styled(
            words::per_second(words::load(figures, interval)),
            look.load(),
        ),
    ];
    let offered = view.plan().and_then(|plan| plan.arrivals.offered_load());
    // The offered load applies to all operations together.
    if let Some(offered) = offered.filter(|_| view.selected.is_none()) {
        spans.push(Span::raw(format!(" of {}", words::per_second(offered))));
    }
    spans.push(Span::raw(format!(
        "  {}",
        words::goodput(figures, interval)
    )));
    if figures.unsuccessful > 0 {
        let failed = format!("  {} failed", thousands(figures.unsuccessful));
        spans.push(Span::styled(failed, look.bad()));
    }
    Line::from(spans)
}

fn time_line<'l>(figures: &OperationFigures, width: u16, look: Theme) -> Line<'l> {
    let mut spans = vec![Span::styled("response ", look.heading())];
    match figures.response_time_ns {
        None => spans.push(Span::styled("stalled", look.bad())),
        Some(times) => {
            for (name, nanos, from) in [
                ("p50", times.p50, 0),
                ("p90", times.p90, 70),
                ("p99", times.p99, 0),
                ("p99.9", times.p99_9, 80),
                ("max", times.max, 50),
            ] {
                if width < from {
                    continue;
                }
                spans.push(Span::raw(format!("{name} ")));
                let time = format!("{}  ", words::time(Some(nanos)));
                spans.push(Span::styled(time, look.time()));
            }
        }
    }
    Line::from(spans)
}

/// Values over time, for a chart.
pub struct Series {
    name: &'static str,
    values: Vec<u64>,
    /// The largest value, as text.
    most: String,
}

/// Returns the load of each interval.
pub fn loads(view: &View) -> Series {
    let values: Vec<u64> = of_each(view, |figures, interval| {
        words::load(figures, interval).round() as u64
    });
    let most = values.iter().copied().max().unwrap_or(0);
    Series {
        name: "load",
        values,
        most: words::per_second(most as f64),
    }
}

/// Returns the 99th percentile of the response time of each interval.
pub fn percentiles(view: &View) -> Series {
    let values: Vec<u64> = of_each(view, |figures, _| {
        figures.response_time_ns.map_or(0, |times| times.p99)
    });
    let most = values.iter().copied().max().unwrap_or(0);
    Series {
        name: "response time p99",
        values,
        most: words::time(Some(most)),
    }
}

fn of_each(view: &View, of: impl Fn(&OperationFigures, &IntervalFigures) -> u64) -> Vec<u64> {
    let intervals = view.intervals.iter();
    intervals
        .filter(|interval| interval.phase == Phase::Measure)
        .map(|interval| {
            view.figures(interval)
                .map_or(0, |figures| of(figures, interval))
        })
        .collect()
}

/// Draws values as bars, the last one rightmost.
pub fn chart(frame: &mut Frame<'_>, area: Rect, series: &Series, style: Style) {
    if area.height < 2 {
        return;
    }
    let [head, bars] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    let text = format!("{}, up to {}", series.name, series.most);
    frame.render_widget(
        Line::styled(text, Style::new().add_modifier(Modifier::BOLD)),
        head,
    );
    let first = series.values.len().saturating_sub(usize::from(bars.width));
    let shown = series.values.get(first..).unwrap_or_default();
    frame.render_widget(Sparkline::default().data(shown).style(style), bars);
}

/// A column of the table: its head, its width, and the minimum width of a terminal that shows it.
struct Column {
    head: &'static str,
    width: u16,
    from: u16,
}

const fn column(head: &'static str, width: u16, from: u16) -> Column {
    Column { head, width, from }
}

/// Columns after the operation's name, in the order of the cells.
const COLUMNS: [Column; 6] = [
    column("ops/s", 9, 0),
    column("p50", 9, 60),
    column("p99", 9, 0),
    column("max", 9, 70),
    column("MB/s", 9, 80),
    column("errors", 8, 0),
];

/// Draws all operations and each kind, in the last interval; errors are of the whole run.
pub fn operations(frame: &mut Frame<'_>, area: Rect, view: &View, look: Theme) {
    if area.height == 0 {
        return;
    }
    let shown: Vec<usize> = (0..COLUMNS.len())
        .filter(|place| {
            COLUMNS
                .get(*place)
                .is_some_and(|column| area.width >= column.from)
        })
        .collect();
    let names = std::iter::once(None).chain(view.sums.keys().map(Some));
    let rows = names.map(|name| operation_row(view, name, &shown, look));
    let heads = shown.iter().filter_map(|place| COLUMNS.get(*place));
    let header = Row::new(
        std::iter::once(Cell::from("operation"))
            .chain(heads.clone().map(|column| right(column.head.into()))),
    )
    .style(look.heading());
    let widths = heads.map(|column| Constraint::Length(column.width));
    let table = Table::new(rows, std::iter::once(Constraint::Fill(1)).chain(widths))
        .header(header)
        .column_spacing(1)
        .row_highlight_style(look.chosen());
    let place = view.selected.as_ref();
    let place = place.and_then(|name| view.sums.keys().position(|kind| kind == name));
    let mut state = TableState::new().with_selected(place.map_or(0, |place| place + 1));
    frame.render_stateful_widget(table, area, &mut state);
}

fn operation_row<'r>(view: &View, name: Option<&String>, shown: &[usize], look: Theme) -> Row<'r> {
    let interval = view.last();
    let figures = interval.and_then(|interval| match name {
        None => Some(&interval.all),
        Some(name) => {
            let mut kinds = interval.kinds.iter();
            kinds
                .find(|kind| kind.operation == *name)
                .map(|kind| &kind.figures)
        }
    });
    let sums = match name {
        None => view.all,
        Some(name) => view.sums.get(name).copied().unwrap_or_default(),
    };
    let cells = cells(interval.zip(figures), sums);
    let errors_style = if sums.unsuccessful > 0 {
        look.bad()
    } else {
        Style::new()
    };
    let last = COLUMNS.len() - 1;
    let values = shown.iter().filter_map(|place| {
        let cell = right(cells.get(*place)?.clone());
        Some(if *place == last {
            cell.style(errors_style)
        } else {
            cell
        })
    });
    let name = name.map_or("all", String::as_str);
    Row::new(std::iter::once(Cell::from(printable_line(name))).chain(values))
}

fn cells(
    last: Option<(&IntervalFigures, &OperationFigures)>,
    sums: OperationCounts,
) -> [String; COLUMNS.len()] {
    let times = last.and_then(|(_, figures)| figures.response_time_ns);
    let of = |value: fn(&OperationFigures, &IntervalFigures) -> String| {
        last.map_or("-".into(), |(interval, figures)| value(figures, interval))
    };
    [
        of(|figures, interval| thousands(words::load(figures, interval).round() as u64)),
        words::time(times.map(|times| times.p50)),
        words::time(times.map(|times| times.p99)),
        words::time(times.map(|times| times.max)),
        of(words::megabytes),
        thousands(sums.unsuccessful),
    ]
}

fn right<'c>(text: String) -> Cell<'c> {
    Cell::from(Line::raw(text).right_aligned())
}

/// A line of text.
pub struct Notice {
    text: String,
    is_doubt: bool,
}

/// Returns the notices, the most important first.
pub fn remarks_of(view: &View) -> Vec<Notice> {
    let doubts = words::doubts(view).into_iter().map(|text| Notice {
        text: format!("! {text}"),
        is_doubt: true,
    });
    let own = words::own_share(view);
    let own = (!own.is_empty()).then(|| format!("load generator: {}", own.join(", ")));
    let ended = words::ended_run(view);
    let plain = [
        own,
        words::steering(view),
        words::replay(view),
        words::point(view),
        ended,
        view.text.clone(),
    ];
    let plain = plain.into_iter().flatten().map(|text| Notice {
        text,
        is_doubt: false,
    });
    // The generator's own share is always shown.
    let mut plain: Vec<Notice> = plain.collect();
    let rest = plain.split_off(plain.len().min(1));
    plain.into_iter().chain(doubts).chain(rest).collect()
}

/// Draws the notices.
pub fn remarks(frame: &mut Frame<'_>, area: Rect, remarks: &[Notice], look: Theme) {
    let lines = remarks.iter().take(usize::from(area.height)).map(|remark| {
        let style = if remark.is_doubt {
            look.doubt()
        } else {
            Style::new()
        };
        Line::styled(printable_line(&remark.text), style)
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
}

/// Draws the key bindings.
pub fn footer(frame: &mut Frame<'_>, area: Rect, view: &View, look: Theme) {
    let line = if view.is_stopping {
        Line::styled("stopping in order; q again ends at once", look.doubt())
    } else {
        Line::styled("q stop  ↑↓ operation  a all  ? help", look.aside())
    };
    frame.render_widget(line, area);
}

/// Draws the key bindings as sentences.
pub fn help(frame: &mut Frame<'_>, area: Rect, look: Theme) {
    let keys = [
        ("q, ^C", "end the run in order; again: at once"),
        ("↑ ↓, k j", "look at another operation"),
        ("a, Esc", "look at all operations together"),
        ("?", "this, or the figures again"),
    ];
    let mut lines = vec![Line::styled("Keys", look.heading())];
    lines.extend(keys.map(|(key, what)| {
        Line::from(vec![
            Span::styled(format!("  {key:<9} "), look.heading()),
            Span::raw(what),
        ])
    }));
    lines.push(Line::raw(""));
    for text in [
        "Figures are of the last interval; errors, and what is said of them, of the whole run.",
        "load: operations that ended, per second.",
        "response: from when an operation was due to its end.",
        "late: from when an operation could be sent until it was.",
        "! is a reason to doubt the figures; the report has all of them.",
    ] {
        lines.push(Line::raw(text));
    }
    let paragraph = Paragraph::new(lines).wrap(ratatui::widgets::Wrap { trim: false });
    frame.render_widget(paragraph, area);
}
