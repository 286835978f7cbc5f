//! Environment section of the page: source and target of the load, the plan, and the command to
//! repeat the run.

use super::blocks;
use crate::document::page::Fact;
use crate::error::ReportError;
use crate::json::{self, RECORD_FILE};
use crate::picture::legible;
use crate::probe;
use filestone_measure::measure::run_record::{Host, SessionRecord, Target};
use filestone_measure::measure::{MountRecord, RunRecord};
use filestone_workload::text::{bytes_text, thousands, time_text};
use maud::{Markup, html};

/// Maximum size of a plan on the page; a longer one is only in the record.
const PLAN_BYTES_MAX: usize = 256 << 10;

/// Returns the host, the program and the target.
pub fn section(record: &RunRecord) -> Markup {
    let tool = &record.tool;
    let made_by = format!("{} {} ({})", tool.name, tool.version, tool.profile);
    let headroom = record.headroom.as_ref();
    let headroom = headroom.map(|can| probe::headroom(record, can));
    let session = record.target.session.as_ref();
    let session = session.map(SessionRecord::text);
    let facts = [("made by", made_by), ("started", record.started_at.clone())].into_iter();
    let facts = facts
        .chain(of_host(&record.host))
        .chain(of_target(&record.target))
        .chain([
            ("headroom", headroom.unwrap_or_default()),
            ("session", session.unwrap_or_default()),
        ])
        .filter(|(_, value)| !value.is_empty());
    html! {
        dl { @for (name, value) in facts { (blocks::fact(name, &value)) } }
    }
}

fn of_host(host: &Host) -> [Fact; 5] {
    let governor = host.governor.as_deref();
    let governor = governor.map_or_else(String::new, |governor| format!(", governor {governor}"));
    let clock = format!(
        "{}: a reading takes {}, its smallest step is {}",
        host.clock_source,
        time_text(host.clock_read_ns),
        time_text(host.clock_step_ns)
    );
    [
        ("host", host.kernel.clone()),
        (
            "processors",
            format!("{} × {}{governor}", host.cpus, host.cpu),
        ),
        ("memory", unless_zero(host.memory_bytes, bytes_text)),
        ("clock", clock),
        ("waits with", host.driver.clone()),
    ]
}

/// Formats a number; empty if it is 0, which means unknown.
fn unless_zero(number: u64, text: impl Fn(u64) -> String) -> String {
    match number {
        0 => String::new(),
        number => text(number),
    }
}

fn of_target(target: &Target) -> [Fact; 8] {
    let place = match (target.built_in, target.local) {
        _ if target.address.is_empty() => "",
        (true, _) => ", the built-in server",
        (false, true) => ", on this host",
        (false, false) => "",
    };
    let object = match (target.object.as_str(), target.object_bytes) {
        ("", _) => String::new(),
        (object, 0) => object.into(),
        (object, bytes) => format!("{object} of {}", bytes_text(bytes)),
    };
    let most = [
        ("read", target.read_max_bytes),
        ("write", target.write_max_bytes),
    ]
    .into_iter()
    .filter(|(_, bytes)| *bytes > 0)
    .map(|(what, bytes)| format!("{what} {}", bytes_text(bytes)));
    let most: Vec<String> = most.collect();
    let mounts: Vec<String> = target.mounts.iter().map(MountRecord::text).collect();
    let link = target.link_mbit_per_s;
    let link = link.map(|link| format!("{} Mbit/s", thousands(link.into())));
    [
        ("target", format!("{}{place}", target.address)),
        ("export", target.export.clone()),
        ("path below it", target.walked.clone()),
        ("file system", mounts.join("; ")),
        ("object", object),
        ("files", unless_zero(target.files, thousands)),
        ("largest transfer", most.join(", ")),
        ("link", link.unwrap_or_default()),
    ]
}

/// Returns the plan as JSON.
pub fn plan(record: &RunRecord) -> Result<Markup, ReportError> {
    let text = json::document(&record.plan)?;
    Ok(html! {
        @if text.len() > PLAN_BYTES_MAX {
            p { "The plan has " (bytes_text(text.len() as u64)) ": it is in " (RECORD_FILE) "." }
        } @else {
            details {
                summary { "The plan, as JSON" }
                // Indented, so that it is legible line by line.
                pre.plan tabindex="0" { (text.lines().map(legible).collect::<Vec<_>>().join("\n")) }
            }
        }
    })
}

/// Returns the command that repeats the run.
pub fn command() -> Markup {
    html! {
        p { "In the directory of this file, or with the plan above saved as plan.json:" }
        pre tabindex="0" { "filestone run " (RECORD_FILE) "\nfilestone run plan.json" }
    }
}
