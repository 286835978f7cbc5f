//! Frame of an HTML page: its head with the content security policy, its sections, its data, its
//! script.

use super::chart::{ChartData, PictureData, as_data};
use crate::error::ReportError;
use crate::picture::{self, Picture, legible};
use crate::sanitize::excerpt;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

/// Maximum length of foreign text; longer text is shown by its two ends.
const LETTERS_MAX: usize = 2_000;
const UPLOT: &str = include_str!("assets/uplot/uPlot.iife.min.js");
pub(super) const UPLOT_STYLE: &str = include_str!("assets/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("assets/uplot/LICENSE");
pub(super) const STYLE: &str = include_str!("assets/page.css");
/// Scripts of the report and of the live page, ordered so that none needs a later one before it runs.
pub(super) const COMPONENTS: [&str; 6] = [
    include_str!("assets/text.js"),
    include_str!("assets/look.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/chart.js"),
    include_str!("assets/picture.js"),
    include_str!("assets/time.js"),
];
/// Script of the report.
pub(super) const SCRIPT: &str = include_str!("assets/page.js");

/// Content of a page before it is rendered.
#[derive(Debug, Default)]
pub struct HtmlPage {
    /// Title of the page.
    pub title: String,
    /// Date and program version.
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
    /// Creates a page with only a title.
    pub fn titled(title: &str) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Adds a section, which the table of contents lists.
    pub fn section(&mut self, id: &str, heading: &str, content: Markup) {
        self.sections.push(Section {
            id: id.into(),
            heading: heading.into(),
            content,
        });
    }

    /// Adds a chart, at the position of the returned markup.
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

    /// Adds a picture made by filestone; it is static where scripts do not run.
    pub fn picture(&mut self, picture: &Picture) -> Markup {
        let data = ChartData::Picture(PictureData::of(picture));
        self.chart(data, &picture.title, &picture.notes, Some(picture))
    }
}

/// Makes foreign text legible and limits its length. The template escapes it.
pub fn clean(text: &str) -> String {
    let lines = text.lines().map(legible);
    let text = lines.collect::<Vec<_>>().join("\n");
    if text.len() > LETTERS_MAX {
        excerpt(&text)
    } else {
        text
    }
}

/// Renders the whole page.
pub fn page(sheet: &HtmlPage) -> Result<String, ReportError> {
    let script = script(&[SCRIPT]);
    let style = format!("{UPLOT_STYLE}\n{STYLE}");
    let data = as_data(&sheet.charts)?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&script, &style));
                (metas())
                title { (clean(&sheet.title)) " – filestone" }
                style { (PreEscaped(&style)) }
            }
            body {
                a.skip href="#content" { "Skip to the report" }
                (header(sheet))
                main #content tabindex="-1" { @for section in &sheet.sections { (shown(section)) } }
                (footer("Made"))
                script #data type="application/json" { (PreEscaped(data)) }
                script { (PreEscaped(&script)) }
            }
        }
    };
    Ok(format!("{}\n", page.into_string()))
}

/// Returns uPlot, the components and a page's own scripts in one scope.
pub(super) fn script(own: &[&str]) -> String {
    let scripts = [&COMPONENTS, own].concat().join("\n");
    format!("{UPLOT}\n(() => {{\n\"use strict\";\n{scripts}\n}})();\n")
}

/// Returns what every page says about its presentation.
pub(super) fn metas() -> Markup {
    html! {
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        meta name="referrer" content="no-referrer";
    }
}

/// Returns the policy: no external resources, and only the scripts and style sheets of the page
/// itself.
fn policy(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    )
}

/// Returns the hash of a text for the policy (Content Security Policy Level 3, section 2.3.1).
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

/// Returns the end of every page; `done` is filestone's part in it.
pub(super) fn footer(done: &str) -> Markup {
    html! {
        footer {
            details {
                summary { (done) " by filestone; charts by uPlot 1.6.32" }
                pre tabindex="0" { (UPLOT_LICENCE) }
            }
        }
    }
}
