//! Drawing of the view: the most important parts are at the top, so that a small terminal shows
//! them.

use super::panels::{chart, figures, footer, help, operations, remarks, title};
use super::state::View;
use super::theme::Theme;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use std::time::Duration;

/// Heights of the parts, in lines.
const TITLE: u16 = 2;
const FIGURES: u16 = 2;
const FOOTER: u16 = 1;
/// Maximum height of a chart with its heading.
const CHART: u16 = 12;
/// Minimum height of a chart.
const CHART_MIN: u16 = 3;

/// Draws the view.
pub fn draw(frame: &mut Frame<'_>, view: &View, look: Theme, now: Duration) {
    let area = frame.area();
    if view.shows_help {
        help(frame, area, look);
        return;
    }
    let remarks_lines = super::panels::remarks_of(view);
    let wanted = remarks_lines.len().min(4) as u16;
    let rows = 1 + table_rows(view);
    let fixed = TITLE + FIGURES + FOOTER;
    let left = area.height.saturating_sub(fixed);
    let table = rows.min(left.saturating_sub(wanted.min(1)).max(left / 3));
    let left = left.saturating_sub(table);
    let told = wanted.min(left);
    let charts = left.saturating_sub(told);
    let chart_height = (charts / 2).min(CHART);
    let chart_height = if chart_height < CHART_MIN {
        0
    } else {
        chart_height
    };
    let [top, of_all, load, times, kinds, said, _, bottom] = Layout::vertical([
        Constraint::Length(TITLE),
        Constraint::Length(FIGURES),
        Constraint::Length(chart_height),
        Constraint::Length(chart_height),
        Constraint::Length(table),
        Constraint::Length(told),
        Constraint::Fill(1),
        Constraint::Length(FOOTER),
    ])
    .areas(area);
    title(frame, top, view, look, now);
    figures(frame, of_all, view, look);
    draw_charts(frame, [load, times], view, look);
    operations(frame, kinds, view, look);
    remarks(frame, said, &remarks_lines, look);
    footer(frame, bottom, view, look);
}

fn draw_charts(frame: &mut Frame<'_>, [load, times]: [Rect; 2], view: &View, look: Theme) {
    chart(frame, load, &super::panels::loads(view), look.load());
    chart(frame, times, &super::panels::percentiles(view), look.time());
}

/// Returns the number of table rows: all operations, and each kind.
fn table_rows(view: &View) -> u16 {
    1 + u16::try_from(view.sums.len()).unwrap_or(u16::MAX - 2)
}
