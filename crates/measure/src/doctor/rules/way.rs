//! Rules about the network path to a target and its latency.

use crate::doctor::facts::{Facts, NetworkPathFacts, RoundTrips, SameHostEvidence};
use crate::doctor::finding::Finding;
use crate::measure::Caveat;
use filestone_workload::text::{counted, quoted, thousands, time_text};

/// Bytes of an Ethernet frame that are not TCP payload: preamble, headers, checksum and gap.
const HEADS_BYTES: f64 = 90.0;

fn way(facts: &Facts) -> Option<&NetworkPathFacts> {
    facts.target.as_ref()?.way.as_ref()
}

/// Returns the network path, unless the target is this host.
fn network(facts: &Facts) -> Option<&NetworkPathFacts> {
    way(facts).filter(|way| !way.is_this_host)
}

pub fn loopback(facts: &Facts, _: f64) -> Option<Finding> {
    let way = way(facts)?;
    let found = match (way.is_this_host, way.place) {
        (true, _) => format!("{} is this host", way.address),
        (false, SameHostEvidence::NamespaceOfThisHost) => {
            format!(
                "{} is in another network namespace of this host",
                way.address
            )
        }
        (false, SameHostEvidence::PerhapsThisHost) => {
            let interface = way.interface.clone().unwrap_or_default();
            let (consequence, help) = Caveat::MayShareHost { interface }.sentence();
            let found = format!("it is not known whether {} is another host", way.address);
            return Some(Finding::note(found, consequence).fix(help.unwrap_or_default()));
        }
        (false, SameHostEvidence::NotKnownHere) => {
            return Some(Finding::ok(format!("{} is another host", way.address)));
        }
    };
    let (consequence, help) = Caveat::Loopback { built_in: false }.sentence();
    Some(Finding::warning(found, consequence).fix(help.unwrap_or_default()))
}

pub fn route(facts: &Facts, _: f64) -> Option<Finding> {
    let way = network(facts)?;
    let interface = way.interface.as_deref()?;
    let Some(gateway) = &way.gateway else {
        return Some(Finding::ok(format!("by {interface}, without a router")));
    };
    Some(Finding::note(
        format!("by {interface} and the router {gateway}"),
        "what routers take, and other traffic through them, is part of every response time",
    ))
}

pub fn mtu(facts: &Facts, fewest: f64) -> Option<Finding> {
    let way = network(facts)?;
    let of_interface = way.mtu_bytes?;
    let of_path = way.path_mtu_bytes.unwrap_or(of_interface);
    let found = if of_path < of_interface {
        format!("{of_path} bytes, of {of_interface} that the interface takes")
    } else {
        format!("{of_interface} bytes")
    };
    if of_path >= of_interface && of_path as f64 >= fewest {
        return Some(Finding::ok(found));
    }
    let finding = Finding::note(
        found,
        "a tunnel or a virtual network is likely between: more packets for the same data, and \
         datagrams are cut into pieces",
    );
    Some(finding.run("find out where", format!("tracepath -n {}", way.address)))
}

pub fn link(facts: &Facts, slowest: f64) -> Option<Finding> {
    let way = network(facts)?;
    let interface = way.interface.as_deref()?;
    if way.is_wireless {
        let finding = Finding::warning(
            format!("{interface} is a radio"),
            "response times depend on the air and on others in it",
        );
        return Some(finding.fix("measure over a cable"));
    }
    let speed = way.link_mbit_per_s?;
    let mtu = way.mtu_bytes.unwrap_or(1500) as f64;
    // 1,000 Mbit/s and 1500 bytes: 125 MB/s × 1448 / 1538 = 117.7 MB/s.
    let payload = (mtu - 52.0) / (mtu - 52.0 + HEADS_BYTES);
    let found = format!(
        "{interface}, {} Mbit/s: at most {:.0} MB/s of data",
        thousands(speed),
        speed as f64 / 8.0 * payload
    );
    if speed as f64 >= slowest {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(found, "the link is slower than most servers");
    Some(finding.run(
        "look at what cable and switch have agreed on",
        format!("ethtool {}", quoted(interface)),
    ))
}

pub fn connect_time(facts: &Facts, most_ms: f64) -> Option<Finding> {
    let times = facts.target.as_ref()?.connect?;
    Some(judge_times(times, "connection", most_ms))
}

pub fn round_trip(facts: &Facts, most_ms: f64) -> Option<Finding> {
    let times = facts.target.as_ref()?.call?;
    Some(judge_times(times, "empty call", most_ms))
}

fn judge_times(times: RoundTrips, what: &str, most_ms: f64) -> Finding {
    let time = |nanos: u64| time_text(nanos as f64);
    let found = format!(
        "{} in the median, {} to {}, of {}",
        time(times.p50_ns),
        time(times.min_ns),
        time(times.max_ns),
        counted(times.count, what)
    );
    if times.p50_ns as f64 <= most_ms * 1e6 {
        return Finding::ok(found);
    }
    let one = thousands((1e9 / times.p50_ns.max(1) as f64).round() as u64);
    Finding::note(
        found,
        format!(
            "no response time is shorter, whatever the server does; one call in flight makes at \
             most {one} a second"
        ),
    )
    .fix("measure from a host nearer to it, or with more calls in flight (--in-flight)")
}
