//! Rules about the activity of this host during the check.

use crate::doctor::facts::{ActivityFacts, Facts, ProgramShare};
use crate::doctor::finding::Finding;
use filestone_workload::text::{thousands, time_text};

/// Maximum number of programs that are named.
const NAMED: usize = 3;

fn seconds(look: &ActivityFacts) -> f64 {
    look.elapsed_ns.max(1) as f64 / 1e9
}

pub fn wake_up(facts: &Facts, latest_us: f64) -> Option<Finding> {
    let wake_up = facts.host.look.as_ref()?.wake_up?;
    let time = |nanos: u64| time_text(nanos as f64);
    let found = format!(
        "{} late in the median, p99 {}, of {} sleeps of 1 ms",
        time(wake_up.p50_ns),
        time(wake_up.p99_ns),
        thousands(wake_up.count),
    );
    if wake_up.p50_ns as f64 <= latest_us * 1000.0 {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(
        found,
        "a thread that waits for a reply notices it so much later: it is part of every response \
         time at a low load",
    );
    Some(finding.run(
        "spin instead of sleeping (--busy-poll), or keep processors out of deep sleep while \
         measuring",
        "sudo cpupower idle-set -D 10",
    ))
}

pub fn other_programs(facts: &Facts, most_percent: f64) -> Option<Finding> {
    let look = facts.host.look.as_ref()?;
    let others = look.others_percent?;
    let shares = look.busiest.iter().take(NAMED);
    let shares: Vec<String> = shares
        .map(
            |ProgramShare {
                 name,
                 process,
                 percent,
             }| format!("{name} ({process}) {percent:.0} %"),
        )
        .collect();
    let busiest = match shares.as_slice() {
        [] => String::new(),
        shares => format!(": {}", shares.join(", ")),
    };
    let found = format!("{others:.0} % of one processor{busiest}");
    if others < most_percent * f64::from(look.processors) {
        return Some(Finding::ok(format!("{others:.0} % of one processor")));
    }
    let finding = Finding::warning(
        found,
        "they take processors from the load generator, and from a server on this host: operations \
         go out late and replies are noticed late",
    );
    Some(finding.fix("end them, or give the workers processors that they do not use (--pin)"))
}

pub fn stolen(facts: &Facts, most_percent: f64) -> Option<Finding> {
    let look = facts.host.look.as_ref()?;
    let stolen = look.stolen_percent?;
    let found = format!("{stolen:.0} % of one processor");
    if stolen < most_percent * f64::from(look.processors) {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(
        found,
        "the host of this virtual machine gave its processors to others: whatever is measured \
         stops now and then, for milliseconds",
    );
    Some(finding.fix(
        "measure on a host without other machines, or with processors of its own for this one",
    ))
}

pub fn load_average(facts: &Facts, most: f64) -> Option<Finding> {
    let look = facts.host.look.as_ref()?;
    let load = look.load_average?;
    let found = format!("{load:.2} over the last minute");
    if load <= most * f64::from(look.processors.max(1)) {
        return Some(Finding::ok(found));
    }
    Some(Finding::note(
        found,
        "more programs wanted a processor than there are; it may be over, or come again",
    ))
}

pub fn traffic(facts: &Facts, most_packets: f64) -> Option<Finding> {
    let traffic = facts.host.look.as_ref()?.traffic.as_ref()?;
    let packets: f64 = traffic
        .iter()
        .map(|interface| interface.packets_per_s)
        .sum();
    let busy = traffic
        .iter()
        .filter(|interface| interface.packets_per_s > 0.0);
    let busy: Vec<String> = busy
        .map(|one| {
            format!(
                "{} {} packets/s ({:.1} MB/s)",
                one.interface,
                thousands(one.packets_per_s.round() as u64),
                one.bytes_per_s / 1e6
            )
        })
        .collect();
    let found = match busy.as_slice() {
        [] => "none".to_string(),
        busy => busy.join(", "),
    };
    if packets < most_packets {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(
        found,
        "it shares the link and the processors that serve its interrupts with what is measured",
    );
    Some(finding.run("find out whose it is, and end it", "ss -tunpi"))
}

pub fn swapping(facts: &Facts, most_per_s: f64) -> Option<Finding> {
    let look = facts.host.look.as_ref()?;
    let pages = look.swapped_pages? as f64 / seconds(look);
    let found = format!("{} pages/s", thousands(pages.round() as u64));
    if pages < most_per_s {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(
        found,
        "memory is too short for what runs here: threads wait for the swap device",
    );
    Some(finding.run(
        "end what takes it",
        "ps -eo rss,pid,comm --sort=-rss | head",
    ))
}
