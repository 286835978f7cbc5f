//! Pages of every kind of record, without a browser: well-formed, no external resources, the
//! policy's hashes match the content, and hostile names are only text.

use super::document::hash;
use super::*;
use crate::fixtures;
use filestone_measure::measure::Caveat;
use filestone_plan::plan::TargetPlan;
use roxmltree::{Document, Node};
use serde_json::Value;

/// Returns the text between two marks.
fn between<'page>(page: &'page str, from: &str, to: &str) -> &'page str {
    let start = page.find(from).unwrap_or_else(|| panic!("no {from}")) + from.len();
    let end = page[start..].find(to).unwrap_or_else(|| panic!("no {to}"));
    &page[start..start + end]
}

fn style(page: &str) -> &str {
    between(page, "<style>", "</style>")
}

fn data(page: &str) -> &str {
    between(
        page,
        "<script id=\"data\" type=\"application/json\">",
        "</script>",
    )
}

fn script(page: &str) -> &str {
    between(page, "<script>", "</script>")
}

/// Returns the page as XML, without its script and style, which are not XML.
fn as_xml(page: &str) -> String {
    let mut text = page.to_string();
    for part in [script(page), style(page), data(page)] {
        text = text.replacen(part, "", 1);
    }
    let mut xml = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("<meta ") {
        let end = at + rest[at..].find('>').expect("an end of meta");
        xml.push_str(&rest[..end]);
        xml.push('/');
        rest = &rest[end..];
    }
    xml.push_str(rest);
    xml.replacen("<!DOCTYPE html>", "", 1)
}

const ELSEWHERE: [&str; 8] = [
    "src",
    "href",
    "srcset",
    "action",
    "data",
    "poster",
    "background",
    "formaction",
];

/// Checks the properties of every page.
pub fn check(name: &str, page: &str) {
    let xml = as_xml(page);
    let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{name}: {error}"));
    let elements = || document.descendants().filter(Node::is_element);
    for node in elements() {
        for attribute in node.attributes() {
            let (key, value) = (attribute.name(), attribute.value());
            assert!(
                !key.starts_with("on") && key != "style",
                "{name}: {key}={value}"
            );
            if ELSEWHERE.contains(&key) {
                let inside = value.strip_prefix('#').expect("a place of the page");
                let is_there = elements().any(|node| node.attribute("id") == Some(inside));
                assert!(is_there, "{name}: {value}");
            }
        }
    }
    let names: Vec<&str> = elements().map(|node| node.tag_name().name()).collect();
    let count = |wanted: &str| names.iter().filter(|name| **name == wanted).count();
    assert_eq!(
        (count("script"), count("style"), count("h1")),
        (2, 1, 1),
        "{name}"
    );
    for stranger in ["img", "link", "iframe", "object", "embed", "base", "form"] {
        assert_eq!(count(stranger), 0, "{name}: {stranger}");
    }
    for word in ["@import", "url("] {
        assert!(!style(page).contains(word), "{name}: {word}");
    }
    let policy = elements().find_map(|node| {
        let is_policy = node.attribute("http-equiv") == Some("Content-Security-Policy");
        node.attribute("content").filter(|_| is_policy)
    });
    let expected = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(script(page)),
        hash(style(page))
    );
    assert_eq!(policy, Some(expected.as_str()), "{name}");
    let charts: Value =
        serde_json::from_str(data(page)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let figures = elements().filter_map(|node| node.attribute("data-chart"));
    let figures: Vec<usize> = figures
        .map(|place| place.parse().expect("a number"))
        .collect();
    let count = charts.as_array().expect("a list").len();
    assert_eq!(figures, (0..count).collect::<Vec<_>>(), "{name}");
}

fn advice(caveat: &Caveat, _: &RunRecord) -> Option<String> {
    caveat.sentence().1.map(Into::into)
}

fn of(record: &RunRecord) -> String {
    of_records(std::slice::from_ref(record), advice).expect("a page")
}

#[test]
fn every_sort_of_record_has_a_page() {
    for record in fixtures::all() {
        let page = of(&record);
        check(&record.plan.command, &page);
        assert!(page.len() < 400_000, "{} bytes", page.len());
    }
    let layers = of_records(&fixtures::three_layers(), advice).expect("a page");
    check("layers", &layers);
    assert!(layers.contains("Percentiles of the service times of office by layer"));
}

#[test]
fn the_steps_of_a_fleet_are_its_result() {
    let page = of(&fixtures::fleet());
    assert!(page.contains("<div class=\"answer\"><div class=\"wide\""));
}

#[test]
fn the_hash_is_that_of_the_standard() {
    // The example of RFC 6234, in the base64 of the policy.
    assert_eq!(
        hash("abc"),
        "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    );
}

/// Returns the words of a page, without its markup.
fn words(page: &str) -> String {
    let xml = as_xml(page);
    let document = Document::parse(&xml).expect("well-formed");
    let texts = document.descendants().filter(Node::is_text);
    let texts: Vec<&str> = texts.filter_map(|node| node.text()).collect();
    texts.join(" ")
}

#[test]
fn sentences_and_figures_are_those_of_the_text_report() {
    use crate::document::page::{Detail, PageWidth};
    use crate::text;
    for record in fixtures::all() {
        let words = words(&of(&record));
        let page = PageWidth::of(10_000);
        let report = text::body(&record, Detail::Whole).text(page);
        let is_sketch = |line: &str| {
            line.contains(['|', '+'])
                || ["(operations/s);", "(o "]
                    .iter()
                    .any(|part| line.contains(part))
        };
        for line in report.lines().filter(|line| !is_sketch(line)) {
            for word in line
                .split_whitespace()
                .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
            {
                assert!(
                    words.contains(word),
                    "{}: {word} of {line:?}",
                    record.plan.command
                );
            }
        }
    }
}

/// A record with `name` in place of every name.
fn named(name: &str) -> Vec<RunRecord> {
    let mut records = fixtures::all();
    for record in &mut records {
        record.started_at = name.into();
        record.tool.version = name.into();
        record.host.kernel = name.into();
        record.host.cpu = name.into();
        record.target.address = name.into();
        record.target.export = name.into();
        record.caveats.push(Caveat::NotSeenOnTheWire {
            directory: name.into(),
        });
        match &mut record.plan.target {
            TargetPlan::Nfs3(target) => target.path = name.into(),
            TargetPlan::Local(target) => target.directory = Some(name.into()),
            TargetPlan::Tcp(target) => target.host = Some(name.into()),
            TargetPlan::Smb(target) => target.path = name.into(),
            TargetPlan::Other(target) => target.path = name.into(),
        }
        if let Some(mix) = record.plan.mix_mut() {
            mix.name = name.into();
        }
        if let Some(replay) = record.plan.replay_mut() {
            replay.loads[0].name = name.into();
        }
        for kind in &mut record.totals.kinds {
            kind.failures
                .iter_mut()
                .for_each(|failure| failure.failure = name.into());
        }
    }
    records
}

fn check_hostile(name: &str) {
    for record in named(name) {
        let page = of(&record);
        check(&record.plan.command, &page);
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
    }
}

#[test]
fn a_name_cannot_end_a_script() {
    check_hostile("</script><script>alert(1)</script><!--<script>");
}

#[test]
fn a_name_cannot_be_an_element() {
    check_hostile("<img src=x onerror=alert(1)>\"' onload='alert(1)' x=\"");
}

#[test]
fn a_name_cannot_end_a_line_of_a_script() {
    let name = "a\u{2028}b\u{2029}c";
    check_hostile(name);
    for record in named(name) {
        let page = of(&record);
        assert!(!data(&page).contains(['\u{2028}', '\u{2029}']));
    }
}

#[test]
fn a_name_of_any_length_leaves_a_page() {
    check_hostile(&"x".repeat(300_000));
    check_hostile(&"<>&\"'".repeat(60_000));
}

#[test]
fn controls_and_turned_writing_are_taken_out() {
    let name = "a\u{0}b\u{1b}[31m\u{202e}c\u{1e}H\u{1f}d";
    for record in named(name) {
        let page = of(&record);
        check(&record.plan.command, &page);
        assert!(!page.contains(['\u{0}', '\u{1b}', '\u{1e}', '\u{1f}', '\u{202e}']));
    }
}

#[test]
fn what_a_record_lacks_is_left_out() {
    let mut record = fixtures::plain();
    (record.intervals, record.ticks) = (vec![], vec![]);
    let page = of(&record);
    check("without intervals", &page);
    assert!(!data(&page).contains("over-time") && !data(&page).contains("heat-map"));
    record.totals = filestone_measure::measure::run_record::Totals::default();
    check("without anything", &of(&record));
}
