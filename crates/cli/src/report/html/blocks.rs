//! Parts of a text report as markup: sentences, lists of facts, and sortable tables.

use super::document::clean;
use crate::report::parts::markup::{Block, MarkedColumn, MarkedRow, MarkedTable};
use maud::{Markup, html};

/// First cell of a totals row, which sorting leaves at the end.
const SUM: &str = "all";

/// Renders all parts, in order.
pub fn all(blocks: &[Block]) -> Markup {
    html! { @for block in blocks { (one(block)) } }
}

fn one(block: &Block) -> Markup {
    match block {
        Block::Prose(text) => html! { p { (clean(text)) } },
        Block::Facts(facts) => html! {
            dl { @for (name, value) in facts { (fact(name, value)) } }
        },
        Block::Table(rows) => table(rows),
        Block::Lines(lines) => match lines.as_slice() {
            [line] => html! { p.line { (clean(line.trim())) } },
            lines => html! { pre tabindex="0" { (clean(&lines.join("\n"))) } },
        },
    }
}

fn fact(name: &str, value: &str) -> Markup {
    html! { div { dt { (clean(name)) } dd { (clean(value)) } } }
}

fn table(table: &MarkedTable) -> Markup {
    let is_note = |row: &MarkedRow| matches!(row, MarkedRow::Note(_));
    let sorts = !table.rows.iter().any(is_note) && table.rows.len() > 2;
    let sums = table
        .rows
        .iter()
        .position(is_sum)
        .unwrap_or(table.rows.len());
    let (rows, sums) = table.rows.split_at(sums);
    let head = table.columns.first().map_or("", |column| &column.head);
    html! {
        div.wide tabindex="0" role="region" aria-label={ "table: " (clean(head)) } {
            table.sorts[sorts] {
                thead { (groups(&table.columns)) tr { @for column in &table.columns { (head_cell(column)) } } }
                tbody { @for line in rows { (row(line, &table.columns)) } }
                @if !sums.is_empty() { tfoot { @for line in sums { (row(line, &table.columns)) } } }
            }
        }
    }
}

fn is_sum(row: &MarkedRow) -> bool {
    matches!(row, MarkedRow::Cells(cells) if cells.first().is_some_and(|cell| cell == SUM))
}

/// Renders the headings that several columns share.
fn groups(columns: &[MarkedColumn]) -> Markup {
    if columns.iter().all(|column| column.group.is_empty()) {
        return html! {};
    }
    let chunks = columns.chunk_by(|one, next| one.group == next.group);
    html! {
        tr {
            @for chunk in chunks {
                @let name = chunk.first().map_or("", |column| &column.group);
                @if name.is_empty() {
                    td colspan=(chunk.len()) {}
                } @else {
                    th colspan=(chunk.len()) scope="colgroup" { (clean(name)) }
                }
            }
        }
    }
}

fn head_cell(column: &MarkedColumn) -> Markup {
    html! { th.words[column.is_text] scope="col" { (clean(&column.head)) } }
}

fn row(row: &MarkedRow, columns: &[MarkedColumn]) -> Markup {
    match row {
        MarkedRow::Note(text) => html! {
            tr.note { td colspan=(columns.len()) { (clean(text)) } }
        },
        MarkedRow::Cells(cells) => html! {
            tr { @for (place, cell) in cells.iter().enumerate() { (body_cell(place, cell, columns)) } }
        },
    }
}

fn body_cell(place: usize, cell: &str, columns: &[MarkedColumn]) -> Markup {
    let is_text = columns.get(place).is_some_and(|column| column.is_text);
    html! {
        @if place == 0 && is_text {
            th.words scope="row" { (clean(cell)) }
        } @else {
            td.words[is_text] { (clean(cell)) }
        }
    }
}
