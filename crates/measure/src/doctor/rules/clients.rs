//! Rules about the number of clients that the host's files, ports and buffers are enough for.

use crate::doctor::facts::Facts;
use crate::doctor::finding::Finding;
use filestone_workload::text::{bytes_text, counted, thousands};

pub fn open_files(facts: &Facts, fewest: f64) -> Option<Finding> {
    let files = facts.host.open_files?;
    let raised = if files.hard > files.soft {
        format!(
            ", which a run raises to {} by itself",
            thousands(files.hard)
        )
    } else {
        String::new()
    };
    let found = format!(
        "limit {}{raised}: enough for {}",
        thousands(files.soft),
        counted(files.clients, "client")
    );
    let consequence = "a run with more clients is refused; with the built-in server, which has \
                       the other ends, with half as many";
    let finding = match files.clients {
        0 => Finding::problem(found, "no client can be connected"),
        clients if (clients as f64) < fewest => Finding::note(found, consequence),
        _ => return Some(Finding::ok(found)),
    };
    Some(finding.run(
        "raise the hard limit, as root: LimitNOFILE= of a systemd unit, nofile in \
         /etc/security/limits.conf, or of this shell",
        "ulimit -Hn 100064",
    ))
}

pub fn local_ports(facts: &Facts, fewest: f64) -> Option<Finding> {
    let ports = facts.host.local_ports?;
    let found = format!(
        "{}: so many connections from one address to one server",
        thousands(ports)
    );
    if ports as f64 >= fewest {
        return Some(Finding::ok(found));
    }
    let finding = Finding::note(
        found,
        "a run with more clients is refused, unless they connect from several addresses (--source)",
    );
    Some(finding.run(
        "widen the range",
        "sudo sysctl -w net.ipv4.ip_local_port_range='10000 65000'",
    ))
}

pub fn reserved_ports(facts: &Facts, _: f64) -> Option<Finding> {
    let ports = facts.host.reserved_ports?;
    let count = thousands(ports.count);
    if ports.are_allowed {
        let found = format!("{count}, which this process may use");
        return Some(Finding::ok(found));
    }
    let found = format!("{count}, which this process may not use");
    let target = facts.target.as_ref();
    let finding = if target.is_some_and(|target| target.wants_reserved_ports) {
        Finding::problem(found, "--reserved-port is refused")
    } else {
        Finding::note(
            found,
            "a server that takes only these for root's refuses its exports, unless they are \
             \"insecure\"",
        )
    };
    Some(finding.run(
        "let filestone use them, or run it as root",
        "sudo setcap cap_net_bind_service=+ep \"$(command -v filestone)\"",
    ))
}

pub fn stream_buffers(facts: &Facts, fewest: f64) -> Option<Finding> {
    let buffers = facts.host.socket_buffers?;
    let (receive, send) = (buffers.stream_receive_bytes, buffers.stream_send_bytes);
    let found = format!(
        "up to {} received and {} sent",
        bytes_text(receive),
        bytes_text(send)
    );
    if receive.min(send) as f64 >= fewest {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(
        found,
        "no more than that is on its way at a time on a connection: large transfers end at the \
         buffer divided by the round trip",
    );
    Some(finding.run(
        "let buffers grow",
        "sudo sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456' \
         net.ipv4.tcp_wmem='4096 16384 4194304'",
    ))
}

pub fn datagram_buffers(facts: &Facts, fewest: f64) -> Option<Finding> {
    let buffers = facts.host.socket_buffers?;
    let (receive, send) = (buffers.receive_bytes, buffers.send_bytes);
    let found = format!(
        "{} received and {} sent",
        bytes_text(receive),
        bytes_text(send)
    );
    let target = facts.target.as_ref();
    if !target.is_some_and(|target| target.uses_datagrams) {
        return Some(Finding::ok(format!("{found}; UDP alone needs them")));
    }
    if receive.min(send) as f64 >= fewest {
        return Some(Finding::ok(found));
    }
    let finding = Finding::warning(
        found,
        "replies that come in a burst do not fit and are lost: calls are sent again after half a \
         second and more",
    );
    Some(finding.run(
        "let programs ask for larger ones",
        "sudo sysctl -w net.core.rmem_max=4194304 net.core.wmem_max=4194304",
    ))
}
