//! Rules about CPUs, clock and memory of this host.

use crate::doctor::facts::{Facts, ProcessorQuota};
use crate::doctor::finding::Finding;
use crate::measure::Caveat;
use filestone_workload::text::{bytes_text, counted};

/// Governors that keep the frequency steady.
const STEADY: [&str; 1] = ["performance"];
/// Drivers that let the CPU itself select the frequency, whatever the governor.
const SELF_GOVERNED: [&str; 2] = ["intel_pstate", "amd-pstate-epp"];

pub fn build(facts: &Facts, _: f64) -> Option<Finding> {
    let is_debug_build = facts.host.is_debug_build?;
    if !is_debug_build {
        return Some(Finding::ok("compiled with optimisation"));
    }
    let (consequence, _) = Caveat::DebugBuild.sentence();
    let finding = Finding::warning("compiled without optimisation", consequence);
    Some(finding.run("build it with --release", "cargo build --release"))
}

pub fn processors(facts: &Facts, fewest: f64) -> Option<Finding> {
    let processors = facts.host.processors?;
    let found = match (processors.allowed, processors.online) {
        (1, 1) => "1".to_string(),
        (allowed, online) if allowed == online => {
            format!("{online}, all of which this process may use")
        }
        (allowed, online) => format!("{allowed} of {online} for this process"),
    };
    if f64::from(processors.allowed) >= fewest {
        return Some(Finding::ok(found));
    }
    Some(Finding::note(
        found,
        "the load generator's threads take turns with whatever else runs here, and with the \
         built-in server, on one processor",
    ))
}

pub fn affinity(facts: &Facts, _: f64) -> Option<Finding> {
    let processors = facts.host.processors?;
    let kept = processors.online.saturating_sub(processors.allowed);
    if kept == 0 {
        return Some(Finding::ok("this process is kept from no processor"));
    }
    let finding = Finding::note(
        format!(
            "this process is kept from {}",
            counted(kept.into(), "processor")
        ),
        "workers have the others only; that may be what taskset or a container was asked for",
    );
    Some(finding.run("to see which are left", "taskset -cp $$"))
}

pub fn quota(facts: &Facts, _: f64) -> Option<Finding> {
    let quota = match facts.host.processor_quota? {
        ProcessorQuota::Unlimited => return Some(Finding::ok("none")),
        ProcessorQuota::Processors(quota) => quota,
    };
    let found = format!("the time of {quota:.2} processors");
    let allowed = facts.host.processors.map(|processors| processors.allowed);
    if allowed.is_some_and(|allowed| quota >= f64::from(allowed)) {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(
        found,
        "when it is used up all threads stop until the next period, for up to 100 ms, which looks \
         like a server that stops",
    );
    Some(finding.fix(
        "raise or remove the quota of the control group (cpu.max, cpu.cfs_quota_us), or the \
         container's (--cpus)",
    ))
}

pub fn governor(facts: &Facts, _: f64) -> Option<Finding> {
    let frequency = facts.host.frequency.as_ref()?;
    let driver = frequency.driver.as_deref();
    let of_driver = driver.map_or(String::new(), |driver| format!(" of {driver}"));
    let found = format!("{}{of_driver}", frequency.governors.join(", "));
    let is = |names: &[&str], name: &str| names.contains(&name);
    if frequency.governors.iter().all(|name| is(&STEADY, name)) {
        return Some(Finding::ok(found));
    }
    let is_lowest = frequency.governors.iter().any(|name| name == "powersave");
    let is_self_governed = driver.is_some_and(|driver| is(&SELF_GOVERNED, driver));
    let finding = if is_lowest && !is_self_governed {
        Finding::warning(
            found,
            "processors stay at their lowest frequency, and every cost and every response time \
             on this host is longer",
        )
    } else {
        Finding::note(
            found,
            "the frequency follows the load: at a low load each operation costs more, and the \
             first seconds of a run are slower",
        )
    };
    Some(finding.run(
        "keep the frequency up while measuring",
        "sudo cpupower frequency-set -g performance",
    ))
}

pub fn clock(facts: &Facts, dearest_ns: f64) -> Option<Finding> {
    let clock = facts.host.clock.as_ref()?;
    let source = clock.source.as_deref().unwrap_or("unknown");
    let way = if clock.reads_counter {
        "the processor's counter".to_string()
    } else {
        format!("the kernel's clock ({source})")
    };
    let found = format!(
        "{way}: {:.0} ns a reading, in steps of {:.0} ns",
        clock.read_ns, clock.step_ns
    );
    if clock.read_ns <= dearest_ns {
        return Some(Finding::ok(found));
    }
    let (consequence, help) = Caveat::SlowClock {
        source: source.into(),
        read_ns: clock.read_ns,
    }
    .sentence();
    let finding = Finding::warning(found, consequence);
    Some(finding.fix(help.unwrap_or_default()))
}

pub fn memory(facts: &Facts, fewest_percent: f64) -> Option<Finding> {
    let memory = facts.host.memory?;
    let found = format!(
        "{} of {} available",
        bytes_text(rounded(memory.available_bytes)),
        bytes_text(rounded(memory.total_bytes))
    );
    let percent = percent(memory.available_bytes, memory.total_bytes);
    if percent >= fewest_percent {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(
        found,
        "clients, histograms and a server on this host have to share it: what does not fit is \
         swapped, or killed",
    );
    Some(finding.run(
        "end what takes it",
        "ps -eo rss,pid,comm --sort=-rss | head",
    ))
}

pub fn swap(facts: &Facts, most_percent: f64) -> Option<Finding> {
    let memory = facts.host.memory?;
    if memory.swap_total_bytes == 0 {
        return Some(Finding::ok("none"));
    }
    let found = format!(
        "{} of {} in use",
        bytes_text(rounded(memory.swap_used_bytes)),
        bytes_text(rounded(memory.swap_total_bytes))
    );
    if percent(memory.swap_used_bytes, memory.total_bytes) < most_percent {
        return Some(Finding::ok(found));
    }
    Some(Finding::note(
        found,
        "memory was short before; what was swapped out comes back when it is touched, which takes \
         milliseconds",
    ))
}

/// Rounds down to whole mebibytes, where single bytes do not matter.
pub fn rounded(bytes: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    match bytes {
        0..MIB => bytes,
        _ => bytes / MIB * MIB,
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
