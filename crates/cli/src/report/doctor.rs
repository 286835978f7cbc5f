//! Report of `filestone doctor`: a table, the worst finding first, then the remedies.

use super::parts::page::{Page, wrapped};
use super::parts::reference::help_line;
use super::parts::table::{Column, Table};
use super::parts::units::counted;
use anstyle::{AnsiColor, Style};
use filestone_measure::doctor::{Diagnosis, Finding, FindingLevel};

/// Indentation of the details of a finding.
const INDENT: usize = 4;

/// Formats the whole text report.
pub fn text(diagnosis: &Diagnosis, page: Page) -> String {
    let mut findings: Vec<&Finding> = diagnosis.findings.iter().collect();
    // Findings of one level keep the order of the rules.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    let mut text = match &diagnosis.target {
        Some(target) => page.prose(&format!("This host, and {target}")),
        None => page.prose("This host"),
    };
    text.push('\n');
    text.push_str(&table(&findings, page));
    text.push('\n');
    for finding in &findings {
        text.push_str(&advice(finding, page));
    }
    text.push_str(&page.prose(&summary(diagnosis)));
    if !diagnosis.unknown.is_empty() {
        let unknown = diagnosis.unknown.join(", ");
        text.push_str(&page.prose(&format!("Not known here: {unknown}")));
    }
    text
}

fn table(findings: &[&Finding], page: Page) -> String {
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

/// Formats the consequence of a finding for measurements, and the remedy; empty if there is no
/// problem. A command line is on a separate line, ready to paste.
fn advice(finding: &Finding, page: Page) -> String {
    let Some(consequence) = &finding.consequence else {
        return String::new();
    };
    let stand_in = " ".repeat(INDENT);
    let hanging = |text: &str| {
        let line = format!("{stand_in}{text}");
        wrapped(&line, page.columns(), INDENT, INDENT)
    };
    let mut text = format!(
        "{} ({})\n{}",
        finding.id,
        help_line(&finding.page),
        hanging(consequence)
    );
    if let Some(fix) = &finding.fix {
        text.push_str(&hanging(&format!("help: {}", fix.what)));
        if let Some(command) = &fix.command {
            text.push_str(&format!("{stand_in}{stand_in}{command}\n"));
        }
    }
    text.push('\n');
    text
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
                    place: filestone_measure::doctor::facts::Place::NotKnownHere,
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
        let shown = text(&Diagnosis::of(facts()), Page::default());
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
