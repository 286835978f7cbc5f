//! Report of `filestone doctor`: a table, the worst finding first, then the remedies.

use super::document::page::PageWidth;
use super::document::table::{Column, Table};
use super::document::{Block, Document};
use super::parts::reference::help_line;
use anstyle::{AnsiColor, Style};
use filestone_measure::doctor::{Diagnosis, Finding, FindingLevel};
use filestone_workload::text::counted;

/// Indentation of the details of a finding.
const INDENT: usize = 4;

/// Formats the whole text report.
pub fn text(diagnosis: &Diagnosis, page: PageWidth) -> String {
    let mut findings: Vec<&Finding> = diagnosis.findings.iter().collect();
    // Findings of one level keep the order of the rules.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    let target = diagnosis.target.as_ref();
    let target = target.map_or_else(String::new, |target| format!(", and {target}"));
    let heading = Document::default().prose([format!("This host{target}")]);
    let advice = findings.iter().map(|finding| advice(finding));
    let unknown = diagnosis.unknown.join(", ");
    let unknown = (!unknown.is_empty()).then(|| format!("Not known here: {unknown}"));
    let rest = advice
        .fold(Document::default().blank(), Document::with)
        .prose([summary(diagnosis)])
        .prose(unknown);
    heading.blank().text(page) + &table(&findings, page) + &rest.text(page)
}

fn table(findings: &[&Finding], page: PageWidth) -> String {
    let mut table = Table::new([
        Column::text("level"),
        Column::text("check"),
        Column::text("found"),
    ]);
    for finding in findings {
        table.row([finding.level.name(), &finding.id, &finding.found]);
    }
    let lines = table.render(page);
    lines.lines().map(coloured).collect()
}

/// Colours the level in a line of the table, if colours are enabled.
fn coloured(line: &str) -> String {
    let (level, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
    let style = match level {
        "problem" => AnsiColor::Red.on_default().bold(),
        "warning" => AnsiColor::Yellow.on_default().bold(),
        "note" => AnsiColor::Cyan.on_default(),
        "ok" => AnsiColor::Green.on_default(),
        _ => Style::new(),
    };
    format!("{style}{level}{style:#}{rest}\n")
}

/// Returns the consequence of a finding for measurements, and the remedy; empty if there is no
/// problem. A command line is on a separate line, ready to paste.
fn advice(finding: &Finding) -> Document {
    let Some(consequence) = &finding.consequence else {
        return Document::default();
    };
    let stand_in = " ".repeat(INDENT);
    let fix = finding.fix.as_ref();
    let help = fix.map(|fix| format!("{stand_in}help: {}", fix.what));
    let command = fix.and_then(|fix| fix.command.as_ref());
    let command = command.map(|command| format!("{stand_in}{stand_in}{command}\n"));
    let consequence = format!("{stand_in}{consequence}");
    Document::default()
        .lines(format!("{} ({})\n", finding.id, help_line(&finding.page)))
        .push(Block::Wrapped {
            indent: INDENT,
            lines: [consequence].into_iter().chain(help).collect(),
        })
        .lines(command.unwrap_or_default())
        .blank()
}

fn summary(diagnosis: &Diagnosis) -> String {
    let count = |level: FindingLevel| {
        let of_level = |finding: &&Finding| finding.level == level;
        diagnosis.findings.iter().filter(of_level).count() as u64
    };
    let bad = [
        counted(count(FindingLevel::Problem), "problem"),
        counted(count(FindingLevel::Warning), "warning"),
        counted(count(FindingLevel::Note), "note"),
    ];
    format!("{}; {} ok", bad.join(", "), count(FindingLevel::Ok))
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_measure::doctor::facts::{
        ClockFacts, Facts, FrequencyFacts, HostFacts, MemoryFacts, NetworkPathFacts,
        ProcessorFacts, RoundTrips, TargetFacts,
    };

    fn facts() -> Facts {
        Facts {
            host: HostFacts {
                processors: Some(ProcessorFacts {
                    online: 4,
                    allowed: 4,
                }),
                frequency: Some(FrequencyFacts {
                    governors: vec!["powersave".into()],
                    driver: Some("acpi-cpufreq".into()),
                }),
                clock: Some(ClockFacts {
                    source: Some("tsc".into()),
                    reads_counter: true,
                    read_ns: 11.2,
                    step_ns: 10.0,
                }),
                memory: Some(MemoryFacts {
                    total_bytes: 16 << 30,
                    available_bytes: 12 << 30,
                    swap_total_bytes: 2 << 30,
                    swap_used_bytes: 2 << 30,
                }),
                ..HostFacts::default()
            },
            target: Some(TargetFacts {
                name: "nfs://server/export".into(),
                way: Some(NetworkPathFacts {
                    address: "10.0.0.5".into(),
                    is_this_host: false,
                    place: filestone_measure::doctor::facts::SameHostEvidence::NotKnownHere,
                    interface: Some("eth0".into()),
                    mtu_bytes: Some(1500),
                    path_mtu_bytes: Some(1500),
                    gateway: Some("10.0.1.1".into()),
                    link_mbit_per_s: Some(1000),
                    is_wireless: false,
                }),
                call: RoundTrips::of(vec![180_000, 170_000, 240_000]),
                ..TargetFacts::default()
            }),
        }
    }

    #[test]
    fn the_page_has_the_worst_first_and_then_what_to_do() {
        let shown = text(&Diagnosis::of(facts()), PageWidth::default());
        let plain = anstream::adapter::strip_str(&shown).to_string();
        insta::assert_snapshot!(plain);
        let lines = plain.lines();
        let is_command = |line: &&str| line.starts_with("        ");
        let mut lines = lines.filter(|line| !is_command(line));
        assert!(lines.all(|line| line.chars().count() <= 80), "{plain}");
    }

    #[test]
    fn a_level_has_its_colour() {
        let line = coloured("warning  loopback  it is this host");
        assert!(line.starts_with("\u{1b}["), "{line:?}");
        assert_eq!(
            anstream::adapter::strip_str(&line).to_string(),
            "warning  loopback  it is this host\n"
        );
    }
}
