//! The page around what is shown: its head with the policy of what may run, its sections, its data,
//! its script.

use super::chart::{ChartData, PictureData, as_data};
use crate::error::Error;
use crate::report::picture::{self, Picture, legible};
use crate::sanitize::excerpt;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

/// Longer texts of others are shown by their ends.
const LETTERS_MAX: usize = 2_000;
pub(super) const UPLOT: &str = include_str!("assets/uplot/uPlot.iife.min.js");
pub(super) const UPLOT_STYLE: &str = include_str!("assets/uplot/uPlot.min.css");
pub(super) const UPLOT_LICENCE: &str = include_str!("assets/uplot/LICENSE");
pub(super) const STYLE: &str = include_str!("assets/page.css");
/// Our components, in an order in which none needs a later one before it runs.
pub(super) const SCRIPTS: [&str; 7] = [
    include_str!("assets/text.js"),
    include_str!("assets/look.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/chart.js"),
    include_str!("assets/picture.js"),
    include_str!("assets/time.js"),
    include_str!("assets/page.js"),
];

/// What a page shows, before it is one.
#[derive(Debug, Default)]
pub struct HtmlPage {
    /// What it is about.
    pub title: String,
    /// When it was made, with what.
    pub origin: Vec<String>,
    sections: Vec<Section>,
    charts: Vec<ChartData>,
}

#[derive(Debug)]
struct Section {
    id: String,
    heading: String,
    content: Markup,
}

impl HtmlPage {
    /// Nothing yet but what it is about.
    pub fn titled(title: &str) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// One more section, which the list of contents names.
    pub fn section(&mut self, id: &str, heading: &str, content: Markup) {
        self.sections.push(Section {
            id: id.into(),
            heading: heading.into(),
            content,
        });
    }

    /// One more chart, in the place where the markup is put.
    pub fn chart(
        &mut self,
        data: ChartData,
        title: &str,
        notes: &[String],
        still: Option<&Picture>,
    ) -> Markup {
        let place = self.charts.len();
        self.charts.push(data);
        html! {
            figure.chart data-chart=(place) {
                figcaption { h3 { (clean(title)) } }
                @if let Some(picture) = still {
                    noscript { (PreEscaped(picture::render(picture))) }
                }
                @if !notes.is_empty() {
                    ul.notes { @for note in notes { li { (clean(note)) } } }
                }
            }
        }
    }

    /// A picture of ours; it stands still where scripts do not run.
    pub fn picture(&mut self, picture: &Picture) -> Markup {
        let data = ChartData::Picture(PictureData::of(picture));
        self.chart(data, &picture.title, &picture.notes, Some(picture))
    }
}

/// Others' text as it may stand in a page: legible, and not longer than anyone reads. The template
/// escapes it.
pub fn clean(text: &str) -> String {
    let lines = text.lines().map(legible);
    let text = lines.collect::<Vec<_>>().join("\n");
    if text.len() > LETTERS_MAX {
        excerpt(&text)
    } else {
        text
    }
}

/// The whole page.
pub fn page(sheet: &HtmlPage) -> Result<String, Error> {
    let script = script();
    let style = format!("{UPLOT_STYLE}\n{STYLE}");
    let data = as_data(&sheet.charts)?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&script, &style));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (clean(&sheet.title)) " – filestone" }
                style { (PreEscaped(&style)) }
            }
            body {
                a.skip href="#content" { "Skip to the report" }
                (header(sheet))
                main #content tabindex="-1" { @for section in &sheet.sections { (shown(section)) } }
                (footer())
                script #data type="application/json" { (PreEscaped(data)) }
                script { (PreEscaped(&script)) }
            }
        }
    };
    Ok(format!("{}\n", page.into_string()))
}

/// uPlot and our own, in a scope of its own.
fn script() -> String {
    format!(
        "{UPLOT}\n(() => {{\n\"use strict\";\n{}\n}})();\n",
        SCRIPTS.join("\n")
    )
}

/// Nothing from elsewhere, no script but ours, no style sheet but ours.
fn policy(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    )
}

/// What the policy calls a text (Content Security Policy Level 3, section 2.3.1).
pub fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn header(sheet: &HtmlPage) -> Markup {
    html! {
        header {
            h1 { (clean(&sheet.title)) }
            @for line in &sheet.origin { p.origin { (clean(line)) } }
            nav aria-label="Contents" {
                ul {
                    @for section in &sheet.sections {
                        li { a href={ "#" (section.id) } { (clean(&section.heading)) } }
                    }
                }
            }
            noscript { p { "Scripts do not run here, so the pictures stand still; all figures are in the tables." } }
        }
    }
}

fn shown(section: &Section) -> Markup {
    let heading = format!("{}-heading", section.id);
    html! {
        section id=(section.id) aria-labelledby=(heading) {
            h2 id=(heading) { (clean(&section.heading)) }
            (section.content)
        }
    }
}

fn footer() -> Markup {
    html! {
        footer {
            details {
                summary { "Made by filestone; charts by uPlot 1.6.32" }
                pre tabindex="0" { (UPLOT_LICENCE) }
            }
        }
    }
}
