//! `filestone serve`: the built-in server by itself, until ^C.

use crate::error::Error;
use crate::options::ServeOptions;
use crate::planning::Surroundings;
use crate::quantity::{bytes_text, grouped};
use crate::{Exit, built_in, console, interruption};
use filestone_server::{Counters, Options};

/// Serves until somebody stops it, then says what was asked of it.
pub fn run(options: &ServeOptions) -> Result<Exit, Error> {
    let mut server = Options {
        port: options.port,
        threads: options.threads.unwrap_or(Surroundings::here().processors) as usize,
        memory_limit: options.memory,
        discard: options.discard,
        faults: options.fault.clone(),
        seed: options.seed,
        ..Options::default()
    };
    if !options.bind.is_empty() {
        server.addresses.clone_from(&options.bind);
    }
    if let Some(files) = options.files {
        server.initial_tree.small_file_count = files;
    }
    if let Some(size) = options.file_size {
        server.initial_tree.file_size = size;
    }
    let running = built_in::start(server)?;
    let addresses: Vec<String> = running
        .addresses()
        .iter()
        .map(ToString::to_string)
        .collect();
    let data = if options.discard {
        "file data discarded".into()
    } else {
        format!("in {} of memory", bytes_text(options.memory))
    };
    console::result(&format!(
        "serving NFSv3 and MOUNT at {} by TCP and UDP, {data}\n\
         try: filestone probe getattr nfs://{}/export/files\n",
        addresses.join(" and "),
        reachable(running.address()),
    ))?;
    interruption::wait()?;
    console::result(&counted(&running.stop()))?;
    Ok(Exit::Done)
}

/// An address to connect to: `any` is not one.
fn reachable(address: std::net::SocketAddr) -> std::net::SocketAddr {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Calls by procedure, bytes, connections.
fn counted(counters: &Counters) -> String {
    let mut text = format!("\n{:<16}{:>16}\n", "procedure", "CALLS");
    for (name, calls) in counters.by_name().filter(|(_, calls)| *calls > 0) {
        text.push_str(&format!("{name:<16}{:>16}\n", grouped(calls)));
    }
    for (name, count) in [
        ("mount, portmap", counters.other_calls),
        ("refused", counters.refused),
        ("connections", counters.connections),
        ("bytes received", counters.bytes_received),
        ("bytes sent", counters.bytes_sent),
    ] {
        text.push_str(&format!("{name:<16}{:>16}\n", grouped(count)));
    }
    text
}
