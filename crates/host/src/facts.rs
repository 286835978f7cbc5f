//! Facts of this host from `/proc` and `/sys`.

use crate::clock::Clock;
use crate::connect::{RESERVED_PORTS, may_use_reserved_ports, open_file_limits};
use crate::environment::{clients_of, local_ports};
use crate::processors::allowed;
use crate::quota;
use crate::system::line_of;
use filestone_measure::doctor::facts::{
    ClockFacts, FrequencyFacts, HostFacts, MemoryFacts, OpenFileFacts, ProcessorFacts,
    ReservedPortFacts, SocketBufferFacts,
};
use std::collections::BTreeSet;

/// Returns all facts except those that take a while.
pub fn facts() -> HostFacts {
    let allowed = allowed();
    HostFacts {
        is_debug_build: Some(cfg!(debug_assertions)),
        processors: processors(&allowed),
        processor_quota: quota::quota(quota::read),
        frequency: frequency(&allowed),
        clock: Some(clock()),
        open_files: Some(open_files()),
        local_ports: local_ports(),
        reserved_ports: may_use_reserved_ports().map(|are_allowed| ReservedPortFacts {
            count: RESERVED_PORTS.count() as u64,
            are_allowed,
        }),
        socket_buffers: socket_buffers(),
        memory: memory(),
        look: None,
    }
}

fn processors(allowed: &[usize]) -> Option<ProcessorFacts> {
    let online = line_of("/sys/devices/system/cpu/online")?;
    Some(ProcessorFacts {
        online: processors_of(&online)?,
        allowed: u32::try_from(allowed.len()).ok()?,
    })
    .filter(|facts| facts.allowed > 0)
}

/// Returns the number of processors in a list such as `0-3,8`.
fn processors_of(list: &str) -> Option<u32> {
    let of_range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.split(',').map(of_range).sum()
}

fn frequency(allowed: &[usize]) -> Option<FrequencyFacts> {
    let file = |cpu: usize, name: &str| {
        line_of(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}"))
    };
    let governors = allowed
        .iter()
        .filter_map(|cpu| file(*cpu, "scaling_governor"));
    let governors: BTreeSet<String> = governors.collect();
    let first = *allowed.first()?;
    Some(FrequencyFacts {
        governors: governors.into_iter().collect(),
        driver: file(first, "scaling_driver"),
    })
    .filter(|frequency| !frequency.governors.is_empty())
}

fn clock() -> ClockFacts {
    let clock = Clock::start();
    let precision = clock.measure();
    ClockFacts {
        source: line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        reads_counter: clock.reads_counter(),
        read_ns: precision.read_ns,
        step_ns: precision.step_ns,
    }
}

fn open_files() -> OpenFileFacts {
    let limits = open_file_limits();
    OpenFileFacts {
        soft: limits.soft,
        hard: limits.hard,
        clients: clients_of(limits.hard),
    }
}

fn socket_buffers() -> Option<SocketBufferFacts> {
    let last = |path: &str| -> Option<u64> {
        let text = line_of(path)?;
        text.split_whitespace().last()?.parse().ok()
    };
    Some(SocketBufferFacts {
        stream_receive_bytes: last("/proc/sys/net/ipv4/tcp_rmem")?,
        stream_send_bytes: last("/proc/sys/net/ipv4/tcp_wmem")?,
        receive_bytes: last("/proc/sys/net/core/rmem_max")?,
        send_bytes: last("/proc/sys/net/core/wmem_max")?,
    })
}

fn memory() -> Option<MemoryFacts> {
    use procfs::Current as _;
    let memory = procfs::Meminfo::current().ok()?;
    Some(MemoryFacts {
        total_bytes: memory.mem_total,
        available_bytes: memory.mem_available?,
        swap_total_bytes: memory.swap_total,
        swap_used_bytes: memory.swap_total.saturating_sub(memory.swap_free),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_processors_is_counted() {
        assert_eq!(processors_of("0-3,8"), Some(5));
        assert_eq!(processors_of("0"), Some(1));
        for wrong in ["", "3-0", "a", "0-4294967295,0-4294967295"] {
            assert_eq!(processors_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn this_host_has_processors_files_and_memory() {
        let facts = facts();
        assert!(facts.open_files.is_some_and(|files| files.soft > 0));
        assert!(facts.memory.is_some_and(|memory| memory.total_bytes > 0));
        assert!(facts.clock.is_some_and(|clock| clock.read_ns > 0.0));
    }
}
