//! Parts of a text report as markup: sentences, lists of facts, and sortable tables.

use super::document::clean;
use crate::document::page::PageWidth;
use crate::document::table::{Column, Row, Table};
use crate::document::{Block, Document};
use crate::sanitize::{printable, printable_line};
use maud::{Markup, html};

/// First cell of a totals row, which sorting leaves at the end.
const SUM: &str = "all";

/// Returns the blocks of a document that a page with all columns shows; it has pictures elsewhere.
pub fn of(document: &Document) -> Vec<Block> {
    let blocks = document.blocks(PageWidth::UNLIMITED);
    let shown = blocks.filter(|block| !matches!(block, Block::Blank | Block::Picture(_)));
    shown.cloned().collect()
}

/// Renders all parts, in order.
pub fn all(blocks: &[Block]) -> Markup {
    html! { @for block in blocks { (one(block)) } }
}

fn one(block: &Block) -> Markup {
    match block {
        Block::Prose(text) => html! { p { (part(text)) } },
        Block::Legend { meaning, .. } => html! { p { (meaning) } },
        Block::Facts { facts, .. } => html! {
            dl { @for (name, value) in facts { (fact(&part(name), &part(value))) } }
        },
        Block::Table(rows) => table(rows),
        Block::Blank | Block::Picture(_) => html! {},
        Block::Lines(_) | Block::Wrapped { .. } | Block::Parts(_) => {
            lines(&block.text(PageWidth::UNLIMITED))
        }
    }
}

/// Returns the legible text of a part, which is a single line.
fn part(text: &str) -> String {
    clean(printable_line(text).trim())
}

/// Renders lines, a paragraph between two blank ones.
fn lines(text: &str) -> Markup {
    let lines: Vec<String> = text
        .lines()
        .map(|line| printable(line.trim_end()))
        .collect();
    let paragraphs = lines.split(|line| line.trim().is_empty());
    html! {
        @for paragraph in paragraphs.filter(|lines| !lines.is_empty()) {
            @match paragraph {
                [line] => p.line { (clean(line.trim())) },
                lines => pre tabindex="0" { (clean(&lines.join("\n"))) },
            }
        }
    }
}

/// Renders a name and its value.
pub fn fact(name: &str, value: &str) -> Markup {
    html! { div { dt { (clean(name)) } dd { (clean(value)) } } }
}

fn table(table: &Table) -> Markup {
    let is_note = |row: &Row| matches!(row, Row::Note(_));
    let sorts = !table.rows.iter().any(is_note) && table.rows.len() > 2;
    let sums = table
        .rows
        .iter()
        .position(is_sum)
        .unwrap_or(table.rows.len());
    let (rows, sums) = table.rows.split_at(sums);
    let head = table.columns.first().map_or("", |column| &column.head);
    html! {
        div.wide tabindex="0" role="region" aria-label={ "table: " (part(head)) } {
            table.sorts[sorts] {
                thead { (groups(&table.columns)) tr { @for column in &table.columns { (head_cell(column)) } } }
                tbody { @for line in rows { (row(line, &table.columns)) } }
                @if !sums.is_empty() { tfoot { @for line in sums { (row(line, &table.columns)) } } }
            }
        }
    }
}

fn is_sum(row: &Row) -> bool {
    matches!(row, Row::Cells(cells) if cells.first().is_some_and(|cell| cell == SUM))
}

/// Renders the headings that several columns share.
fn groups(columns: &[Column]) -> Markup {
    if columns.iter().all(|column| column.group.is_empty()) {
        return html! {};
    }
    let chunks = columns.chunk_by(|one, next| one.group == next.group);
    html! {
        tr {
            @for chunk in chunks {
                @let name = chunk.first().map_or("", |column| column.group);
                @if name.is_empty() {
                    td colspan=(chunk.len()) {}
                } @else {
                    th colspan=(chunk.len()) scope="colgroup" { (part(name)) }
                }
            }
        }
    }
}

fn head_cell(column: &Column) -> Markup {
    html! { th.words[column.is_text] scope="col" { (part(&column.head)) } }
}

fn row(row: &Row, columns: &[Column]) -> Markup {
    match row {
        Row::Note(text) => html! {
            tr.note { td colspan=(columns.len()) { (part(text)) } }
        },
        Row::Cells(cells) => html! {
            tr { @for (place, cell) in cells.iter().enumerate() { (body_cell(place, cell, columns)) } }
        },
    }
}

fn body_cell(place: usize, cell: &str, columns: &[Column]) -> Markup {
    let is_text = columns.get(place).is_some_and(|column| column.is_text);
    html! {
        @if place == 0 && is_text {
            th.words scope="row" { (part(cell)) }
        } @else {
            td.words[is_text] { (part(cell)) }
        }
    }
}
