//! Environment section of the page: source and target of the load, the plan, and the command to
//! repeat the run.

use super::blocks;
use crate::error::Error;
use crate::quantity::{bytes_text, grouped, time_text};
use crate::report::json::{self, RECORD_FILE};
use crate::report::picture::legible;
use crate::report::probe;
use filestone_measure::measure::run_record::{Host, Target};
use filestone_measure::measure::{MountRecord, RunRecord};
use maud::{Markup, html};

/// Maximum size of a plan on the page; a longer one is only in the record.
const PLAN_BYTES_MAX: usize = 256 << 10;

type Fact = (String, String);

fn fact(name: &str, value: impl Into<String>) -> Option<Fact> {
    let value = value.into();
    (!value.is_empty()).then(|| (name.into(), value))
}

/// Returns the host, the program and the target.
pub fn section(record: &RunRecord) -> Markup {
    let tool = &record.tool;
    let session = record.target.session.as_ref();
    let facts = [
        fact(
            "made by",
            format!("{} {} ({})", tool.name, tool.version, tool.profile),
        ),
        fact("started", &*record.started_at),
    ];
    let can = record.headroom.as_ref();
    let more = [
        can.and_then(|can| fact("headroom", probe::headroom(record, can))),
        session.and_then(|session| fact("session", session.text())),
    ];
    let facts = facts.into_iter().flatten();
    let facts = facts
        .chain(of_host(&record.host))
        .chain(of_target(&record.target))
        .chain(more.into_iter().flatten());
    html! {
        dl { @for (name, value) in facts { (blocks::fact(&name, &value)) } }
    }
}

fn of_host(host: &Host) -> impl Iterator<Item = Fact> {
    let governor = host.governor.as_deref();
    let governor = governor.map_or_else(String::new, |governor| format!(", governor {governor}"));
    let clock = format!(
        "{}: a reading takes {}, its smallest step is {}",
        host.clock_source,
        time_text(host.clock_read_ns),
        time_text(host.clock_step_ns)
    );
    [
        fact("host", &*host.kernel),
        fact(
            "processors",
            format!("{} × {}{governor}", host.cpus, host.cpu),
        ),
        fact(
            "memory",
            Some(host.memory_bytes)
                .filter(|bytes| *bytes > 0)
                .map_or_else(String::new, bytes_text),
        ),
        fact("clock", clock),
        fact("waits with", &*host.driver),
    ]
    .into_iter()
    .flatten()
}

fn of_target(target: &Target) -> impl Iterator<Item = Fact> {
    let place = match (target.built_in, target.local) {
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
    let files = Some(target.files).filter(|files| *files > 0);
    let link = target.link_mbit_per_s;
    [
        fact(
            "target",
            Some(&target.address)
                .filter(|address| !address.is_empty())
                .map_or_else(String::new, |address| format!("{address}{place}")),
        ),
        fact("export", &*target.export),
        fact("path below it", &*target.walked),
        fact(
            "file system",
            target
                .mounts
                .iter()
                .map(MountRecord::text)
                .collect::<Vec<_>>()
                .join("; "),
        ),
        fact("object", object),
        fact("files", files.map_or_else(String::new, grouped)),
        fact("largest transfer", most.join(", ")),
        fact(
            "link",
            link.map_or_else(String::new, |link| {
                format!("{} Mbit/s", grouped(link.into()))
            }),
        ),
    ]
    .into_iter()
    .flatten()
}

/// Returns the plan as JSON.
pub fn plan(record: &RunRecord) -> Result<Markup, Error> {
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
