//! `filestone serve`: runs a built-in server until ^C.

use crate::built_in::{SmbOptions, User};
use crate::error::Error;
use crate::execution::interruption::Interruption;
use crate::inputs::credentials;
use crate::options::serve::ServeOptions;
use crate::planning::Environment;
use crate::{ExitStatus, built_in, console};
use filestone_report::document::Document;
use filestone_server::tbench::{self, TbenchCounters};
use filestone_server::{Options, Running, ServerCounters};
use filestone_workload::text::{bytes_text, thousands};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Default NFS port: the standard port with a nought appended, which needs no privileges.
const PORT: u16 = 20_490;

/// Serves until interrupted, then prints the counters.
pub fn run(options: &ServeOptions) -> Result<ExitStatus, Error> {
    if options.tbench {
        return serve_tbench(options);
    }
    let has_nfs = options.user.is_none() || options.port.is_some();
    if options.no_permissions && !has_nfs {
        return Err(Error::usage(
            "--no-permissions: it is about NFS, which is off since it cannot authenticate users",
        )
        .with_help("leave it out, or serve NFS to anyone, too: --port PORT"));
    }
    let mut server = Options {
        addresses: options.bind.clone(),
        port: options.port.unwrap_or(PORT),
        has_nfs,
        threads: options.threads.unwrap_or(Environment::here().processors) as usize,
        memory_limit: options.memory,
        discard: options.discard,
        faults: options.fault.clone(),
        queue: built_in::queue(options.service_time, options.service_workers),
        seed: options.seed,
        ignores_permissions: options.no_permissions,
        listing_bound: options.listing_bound.into(),
        smb: share(options)?,
        echo_port: options.echo_port,
        ..Options::default()
    };
    if let Some(files) = options.files {
        server.initial_tree.small_file_count = files;
    }
    if let Some(size) = options.file_size {
        server.initial_tree.file_size = size;
    }
    let interruption = Interruption::listen()?;
    let running = built_in::start(server)?;
    for text in announced(options, &running) {
        console::result(&text)?;
    }
    warn_of(&entries(options, &running));
    interruption.wait();
    console::result(&counted(&running.stop()))?;
    Ok(ExitStatus::Done)
}

/// Describes the served protocols and addresses, with example commands.
fn announced(options: &ServeOptions, running: &Running) -> Vec<String> {
    let prose = |text: &str| Document::default().prose([text]).text(console::page());
    let mut texts = Vec::new();
    if let Some(first) = running.addresses().first() {
        let data = if options.discard {
            "file data discarded".into()
        } else {
            format!("in {} of memory", bytes_text(options.memory))
        };
        let at = listed(running.addresses());
        texts.push(format!(
            "{}try: filestone probe getattr nfs://{}/export/files\n",
            prose(&format!(
                "serving NFSv3 and MOUNT at {at} by TCP and UDP, {data}"
            )),
            reachable(*first),
        ));
    }
    if let Some(first) = running.smb_addresses().first() {
        let user = options.user.as_ref();
        let user = user.map_or(String::new(), |user| format!("{user}@"));
        let at = listed(running.smb_addresses());
        texts.push(format!(
            "{}try: filestone probe echo smb://{user}{}/export\n",
            prose(&format!("serving SMB 2.0.2 to 3.1.1 at {at}, share export")),
            reachable(*first),
        ));
    }
    if !running.echo_addresses().is_empty() {
        let at = listed(running.echo_addresses());
        texts.push(prose(&format!(
            "sending back what comes at {at} by TCP and UDP"
        )));
    }
    let entries = entries(options, running);
    texts.extend(entries.iter().map(|entry| {
        let Entry { name, admits, .. } = entry;
        format!("{name} on {}: {admits}\n", listed(entry.addresses))
    }));
    if running.addresses().is_empty() {
        texts.push(
            "NFS: off, since it cannot authenticate users; --port serves it to anyone\n".into(),
        );
    }
    texts
}

/// An entry point of the server.
struct Entry<'r> {
    name: &'static str,
    addresses: &'r [SocketAddr],
    /// Clients that are admitted.
    admits: String,
    /// Risk for other hosts, if all clients are admitted.
    risk: Option<&'static str>,
}

/// Returns the open entry points of the server.
fn entries<'r>(options: &ServeOptions, running: &'r Running) -> Vec<Entry<'r>> {
    let nfs = if options.no_permissions {
        "anyone who can connect, with all rights"
    } else {
        "anyone who can connect, as any user that the client names"
    };
    let (smb, smb_risk) = match &options.user {
        Some(user) => (format!("user {user}"), None),
        None => (
            "anyone who can connect, as a guest".into(),
            Some("may read and change its files"),
        ),
    };
    let all = [
        Entry {
            name: "NFS",
            addresses: running.addresses(),
            admits: nfs.into(),
            risk: Some("may read and change its files"),
        },
        Entry {
            name: "SMB",
            addresses: running.smb_addresses(),
            admits: smb,
            risk: smb_risk,
        },
        Entry {
            name: "echo",
            addresses: running.echo_addresses(),
            admits: "anyone who can connect".into(),
            risk: Some("may have it send datagrams to others"),
        },
    ];
    let open = all.into_iter().filter(|entry| !entry.addresses.is_empty());
    open.collect()
}

/// Warns about operations that other hosts can execute without a password.
fn warn_of(entries: &[Entry<'_>]) {
    let exposed = |entry: &Entry<'_>| {
        let beyond = |address: &&SocketAddr| !address.ip().is_loopback();
        let exposed: Vec<SocketAddr> = entry.addresses.iter().filter(beyond).copied().collect();
        let risk = entry.risk.filter(|_| !exposed.is_empty())?;
        Some(format!(
            "{} on {} is open to other hosts without a password: anyone who can connect {risk}",
            entry.name,
            listed(&exposed)
        ))
    };
    for text in entries.iter().filter_map(exposed) {
        console::warning(&text);
        console::help("--bind 127.0.0.1 serves this host alone; a firewall keeps others away");
    }
}

/// Returns the SMB options, if SMB is served.
fn share(options: &ServeOptions) -> Result<Option<SmbOptions>, Error> {
    let Some(port) = options.smb_port else {
        return Ok(None);
    };
    let mut share = SmbOptions {
        port,
        ..SmbOptions::default()
    };
    if let Some(name) = &options.user {
        let password = credentials::password_of(options.password_file.as_deref())?;
        let password = password.ok_or_else(|| {
            Error::usage(format!("--user {name}: there is no password for him")).with_help(format!(
                "--password-file FILE or the environment variable {}; an empty file is an empty \
                 password",
                credentials::VARIABLE
            ))
        })?;
        share.users.push(User {
            name: name.clone(),
            password: password.reveal().into(),
        });
    }
    share.signing = options.smb_signing.unwrap_or(share.signing);
    share.encryption = options.smb_encryption.unwrap_or(share.encryption);
    let credits = options
        .smb_credits
        .and_then(|most| u16::try_from(most).ok());
    share.credits = credits.unwrap_or(share.credits);
    share.transact_max = options.smb_max_transact.unwrap_or(share.transact_max);
    share.transfer_max = options.smb_max_transfer.unwrap_or(share.transfer_max);
    Ok(Some(share))
}

fn serve_tbench(options: &ServeOptions) -> Result<ExitStatus, Error> {
    let socket_options = options.tcp_options.clone().unwrap_or_default();
    let port = options.port.unwrap_or(tbench::PORT);
    let interruption = Interruption::listen()?;
    let running = built_in::start_tbench(&options.bind, port, socket_options)?;
    let entry = Entry {
        name: "tbench",
        addresses: running.addresses(),
        admits: "anyone who can connect".into(),
        risk: Some("may take up its network and processors"),
    };
    console::result(&format!(
        "serving tbench's exchanges at {0}\n\
         try: filestone replay --layer tcp:{1}\n\
         tbench on {0}: {2}\n",
        listed(entry.addresses),
        reachable(running.address()),
        entry.admits,
    ))?;
    warn_of(&[entry]);
    interruption.wait();
    console::result(&exchanges_counted(&running.stop()))?;
    Ok(ExitStatus::Done)
}

fn listed(addresses: &[SocketAddr]) -> String {
    let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    addresses.join(" and ")
}

/// Replaces a wildcard address by one to connect to.
fn reachable(address: SocketAddr) -> SocketAddr {
    let mut reachable = address;
    reachable.set_ip(match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    });
    reachable
}

/// Formats calls by procedure, bytes, connections.
fn counted(counters: &ServerCounters) -> String {
    let mut text = format!("\n{:<16}{:>16}\n", "procedure", "CALLS");
    for (name, calls) in counters.by_name().filter(|(_, calls)| *calls > 0) {
        text.push_str(&format!("{name:<16}{:>16}\n", thousands(calls)));
    }
    let requests = counters.by_command().filter(|(_, requests)| *requests > 0);
    for (name, requests) in requests {
        let name = format!("SMB {name}");
        text.push_str(&format!("{name:<20}{:>12}\n", thousands(requests)));
    }
    text.push_str(&rows(&[
        ("mount, portmap", counters.other_calls),
        ("refused", counters.refused),
        ("connections", counters.connections),
        ("bytes received", counters.bytes_received),
        ("bytes sent", counters.bytes_sent),
    ]));
    if counters.held > 0 {
        text.push_str(&lateness(counters));
    }
    text
}

/// Formats the lateness of delayed replies, which is added to each service time.
fn lateness(counters: &ServerCounters) -> String {
    let mean = counters.lateness_sum_ns as f64 / counters.held.max(1) as f64;
    let held = rows(&[("held back", counters.held)]);
    format!(
        "{held}{:<16}{:>13.1} µs\n{:<16}{:>13.1} µs\n",
        "late, on average",
        mean / 1e3,
        "late, at most",
        counters.lateness_max_ns as f64 / 1e3,
    )
}

/// Formats exchanges, bytes, connections.
fn exchanges_counted(counters: &TbenchCounters) -> String {
    let rows = rows(&[
        ("exchanges", counters.exchanges),
        ("refused", counters.refused),
        ("connections", counters.connections),
        ("turned away", counters.turned_away),
        ("broken off", counters.broken),
        ("bytes received", counters.bytes_received),
        ("bytes sent", counters.bytes_sent),
    ]);
    format!("\n{rows}")
}

fn rows(counts: &[(&str, u64)]) -> String {
    let row = |(name, count): &(&str, u64)| format!("{name:<16}{:>16}\n", thousands(*count));
    counts.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use filestone_server::InitialTree;

    /// The page contains the same.
    #[test]
    fn the_help_names_what_the_server_has() {
        let mut command = crate::command();
        let serve = command.find_subcommand_mut("serve").expect("a command");
        let help = serve.render_long_help().to_string();
        let tree = InitialTree::default();
        let len = format!("[default: {}M]", tree.file_size >> 20);
        let files = format!("[default: {}]", tree.small_file_count);
        for default in [&len, &files] {
            assert!(help.contains(default), "{default} in {help}");
        }
        let page = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/server.md"
        );
        let page = std::fs::read_to_string(page).expect("the page is there");
        let len = format!("`--file-size`, {} MiB", tree.file_size >> 20);
        assert!(page.contains(&len), "{len}");
    }
}
