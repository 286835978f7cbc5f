//! Rules about properties that a target reports, without writing to it.

use super::host::rounded;
use crate::doctor::facts::{Facts, FileMedium, ServiceFacts, TargetFacts};
use crate::doctor::finding::Finding;
use crate::measure::run_record::InterfaceRecord;
use filestone_workload::text::{bytes_text, quoted, thousands, time_text};

pub fn target(facts: &Facts, _: f64) -> Option<Finding> {
    let target = facts.target.as_ref()?;
    let Some(failure) = &target.failure else {
        return Some(Finding::ok(format!("{} is there", target.name)));
    };
    let consequence = if failure.is_unreachable {
        "nothing answers: there is nothing to measure"
    } else {
        "a run would end with this error"
    };
    let finding = Finding::problem(failure.what.clone(), consequence);
    Some(match &failure.help {
        Some(help) => finding.fix(help.clone()),
        None => finding,
    })
}

pub fn services(facts: &Facts, _: f64) -> Option<Finding> {
    let target = facts.target.as_ref()?;
    if target.services.is_empty() {
        return None;
    }
    let found = target.services.iter().map(|service| match service.port {
        Some(port) => format!("{} at port {port}", service.name),
        None => format!("no {}", service.name),
    });
    let found: Vec<String> = found.collect();
    let found = format!("{}; {}", found.join(", "), programs(target));
    let missing: Vec<&ServiceFacts> = target
        .services
        .iter()
        .filter(|service| service.port.is_none())
        .collect();
    if missing.is_empty() {
        return Some(Finding::ok(found));
    }
    let needs = missing
        .iter()
        .map(|service| format!("{} is needed for {}", service.name, service.needed_for));
    Some(Finding::note(found, needs.collect::<Vec<_>>().join("; ")))
}

/// Describes the programs of the port mapper, as part of a sentence.
fn programs(target: &TargetFacts) -> String {
    let Some(programs) = &target.programs else {
        return "no port mapper answers".into();
    };
    let named = programs.iter().filter_map(|program| {
        let versions: Vec<String> = program.versions.iter().map(u32::to_string).collect();
        Some(format!("{} {}", program.name.as_ref()?, versions.join(" ")))
    });
    let named: Vec<String> = named.collect();
    match named.as_slice() {
        [] => "the port mapper knows no server of files".into(),
        named => format!("the port mapper knows {}", named.join(", ")),
    }
}

/// Maximum number of interfaces that are named.
const INTERFACES_SHOWN: usize = 8;

pub fn interfaces(facts: &Facts, _: f64) -> Option<Finding> {
    let channels = facts.target.as_ref()?.channels.as_ref()?;
    let shown = channels.interfaces.iter().take(INTERFACES_SHOWN);
    let mut shown: Vec<String> = shown.map(interface).collect();
    match channels.interfaces.len() {
        0 => shown.push("the server names no interface".into()),
        count if count > INTERFACES_SHOWN => {
            shown.push(format!("{} more", count - INTERFACES_SHOWN));
        }
        _ => {}
    }
    let shown = shown.join("; ");
    let Some(refusal) = &channels.refusal else {
        return Some(Finding::ok(format!("multichannel is offered; {shown}")));
    };
    let finding = Finding::note(
        format!("no multichannel: {}; {shown}", refusal.why),
        "each client has one connection: --connections-per-client is refused",
    );
    Some(finding.fix(refusal.help.clone()))
}

/// Describes an interface of a server.
fn interface(interface: &InterfaceRecord) -> String {
    let mut text = format!(
        "{} at {} Mbit/s",
        interface.address,
        thousands(interface.link_bits_per_s / 1_000_000)
    );
    let can: Vec<&str> = [("RSS", interface.rss), ("RDMA", interface.rdma)]
        .into_iter()
        .filter_map(|(what, is_there)| is_there.then_some(what))
        .collect();
    text += match can.as_slice() {
        [] => "",
        _ => " with ",
    };
    text + &can.join(" and ")
}

pub fn transfers(facts: &Facts, fewest: f64) -> Option<Finding> {
    let sizes = facts.target.as_ref()?.transfers?;
    let found = format!(
        "reads up to {} (prefers {}), writes up to {} (prefers {})",
        bytes_text(sizes.read_max_bytes),
        bytes_text(sizes.read_preferred_bytes),
        bytes_text(sizes.write_max_bytes),
        bytes_text(sizes.write_preferred_bytes)
    );
    let least = sizes.read_max_bytes.min(sizes.write_max_bytes);
    if least as f64 >= fewest {
        return Some(Finding::ok(found));
    }
    Some(
        Finding::note(
            found,
            "a larger --io-size is answered with less than was asked for, which is a failed \
             operation; loads and mixes cut their transfers into pieces",
        )
        .fix("ask no more in one call, or let the server take more"),
    )
}

pub fn names(facts: &Facts, fewest: f64) -> Option<Finding> {
    let names = facts.target.as_ref()?.names?;
    let case = if names.is_case_insensitive {
        ", which case does not tell apart"
    } else {
        ""
    };
    let steps = match names.time_step_ns {
        0 => String::new(),
        step => format!(", times in steps of {}", time_text(step as f64)),
    };
    let found = format!(
        "names of up to {} bytes{case}, up to {} links{steps}",
        thousands(names.length_max),
        thousands(names.links_max)
    );
    if names.length_max as f64 >= fewest && !names.is_case_insensitive && names.links_max > 1 {
        return Some(Finding::ok(found));
    }
    Some(Finding::note(
        found,
        "loads and mixes with longer names, names that differ in case, or hard links fail there",
    ))
}

pub fn rights(facts: &Facts, _: f64) -> Option<Finding> {
    let rights = facts.target.as_ref()?.rights?;
    let user = rights.user;
    let may = match (rights.may_read, rights.may_change) {
        (true, true) => "read and change",
        (true, false) => "read, and not change",
        (false, true) => "change, and not read",
        (false, false) => "neither read nor change",
    };
    let found = format!("user {user} may {may} what is at the path");
    if rights.may_read && rights.may_change {
        return Some(Finding::ok(found));
    }
    let why = if user == 0 {
        "; the server maps root to another user (root_squash), or exports it read-only"
    } else {
        ""
    };
    let finding = Finding::note(
        found,
        format!("replays, mixes and probes that change something are refused{why}"),
    );
    Some(finding.fix("call as the user whose directory it is (--uid, --gid), or change its mode"))
}

pub fn durability(facts: &Facts, _: f64) -> Option<Finding> {
    let target = facts.target.as_ref()?;
    if !target.durability_is_untold {
        return None;
    }
    let finding = Finding::note(
        "not told: nothing that can be asked without writing says when data are durable",
        "a server that says \"stable\" and keeps data in memory (an async export) is much faster \
         than one that does not",
    );
    Some(finding.run(
        "see what stable writes cost there, and how the server exports it",
        format!(
            "filestone probe write {} --stable file-sync",
            quoted(&target.name)
        ),
    ))
}

pub fn file_system(facts: &Facts, _: f64) -> Option<Finding> {
    let file_system = facts.target.as_ref()?.file_system.as_ref()?;
    let source = file_system.source.as_deref().unwrap_or("nothing");
    let found = format!(
        "{} of {source} at {}",
        file_system.kind, file_system.mount_point
    );
    let consequence = match file_system.medium {
        FileMedium::Storage => return Some(Finding::ok(found)),
        FileMedium::Memory => {
            "its files are in memory: no storage is measured, and what is written takes memory \
             from the load generator"
        }
        FileMedium::Network => {
            "this host's own client is measured, too: its cache answers what it can, and what \
             reaches the server is another load"
        }
        FileMedium::Program => {
            "a program of this host answers, which shares processors with the load generator"
        }
    };
    Some(Finding::note(found, consequence))
}

pub fn mount_options(facts: &Facts, _: f64) -> Option<Finding> {
    let file_system = facts.target.as_ref()?.file_system.as_ref()?;
    let options = &file_system.options;
    let found = options.join(", ");
    let has = |name: &str| options.iter().any(|option| option == name);
    let mount_point = quoted(&file_system.mount_point);
    let remount = |with: &str| format!("sudo mount -o remount,{with} {mount_point}");
    if has("ro") {
        let finding = Finding::problem(found, "nothing can be made there");
        return Some(finding.run("mount it for writing", remount("rw")));
    }
    if has("sync") || has("dirsync") {
        let finding = Finding::note(
            found,
            "every change waits for storage, whether it was asked to or not",
        );
        return Some(finding.run("if that is not what is meant", remount("async")));
    }
    if has("strictatime") {
        let finding = Finding::note(found, "every read writes the time of it");
        return Some(finding.run("if that is not what is meant", remount("relatime")));
    }
    Some(Finding::ok(found))
}

pub fn free_space(facts: &Facts, fewest: f64) -> Option<Finding> {
    // A file system without user files has size 0, and lacks no space.
    let space = facts
        .target
        .as_ref()?
        .space
        .filter(|space| space.total_bytes > 0)?;
    let found = format!(
        "{} of {}",
        bytes_text(rounded(space.available_bytes)),
        bytes_text(rounded(space.total_bytes))
    );
    if space.available_bytes as f64 >= fewest {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(
        found,
        "file sets and what loads write may not fit, and file systems are slow when they are \
         nearly full",
    );
    Some(finding.fix("make room, or use a smaller file set"))
}

pub fn free_files(facts: &Facts, fewest: f64) -> Option<Finding> {
    let files = facts.target.as_ref()?.space?.available_files?;
    let found = thousands(files);
    if files as f64 >= fewest {
        return Some(Finding::ok(found));
    }
    let finding = Finding::note(found, "a file set of more files cannot be made");
    Some(finding.fix("remove files, or use a smaller file set"))
}
