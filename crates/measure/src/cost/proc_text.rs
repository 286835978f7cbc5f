//! Readings from the files of Linux's `/proc`, as one text, in any order.
//!
//! The parser supports `stat`, `uptime`, `interrupts`, `net/dev`, `net/snmp` and `net/rpc/nfsd`
//! (proc(5) and its pages; Documentation/filesystems/proc.rst of the kernel). Lines are recognized
//! by their form, so the text may be the output of `cat` on another host. Unknown lines are
//! skipped.

use super::counter::CostCounter;
use super::reading::{CounterReading, LineCount};

/// Maximum number of interrupt lines; a host may have one for each queue of each device.
const LINES_MAX: usize = 1024;
const NANOS: f64 = 1e9;

/// Part of a host that is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostScope {
    /// CPUs; empty for all.
    pub processors: Vec<u32>,
    /// Interface whose packets are counted; `None` for no interface.
    pub interface: Option<String>,
}

impl HostScope {
    pub(super) fn has(&self, processor: u32) -> bool {
        self.processors.is_empty() || self.processors.contains(&processor)
    }
}

/// Time units of the host that a text is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeUnits {
    /// Ticks of `stat` per second (USER_HZ).
    pub ticks_per_s: u64,
    /// Time since the host booted in nanoseconds, if known more exactly than from `uptime`.
    pub since_start_ns: Option<u64>,
}

impl Default for TimeUnits {
    /// USER_HZ is 100 on all hosts that are likely to serve files.
    fn default() -> Self {
        Self {
            ticks_per_s: 100,
            since_start_ns: None,
        }
    }
}

/// Parses the counters of the CPUs and the interface in `scope`.
pub fn parse(text: &str, scope: &HostScope, units: TimeUnits) -> CounterReading {
    let mut found = Found::default();
    for line in text.lines() {
        found.line(line, scope);
    }
    found.reading(units, !scope.processors.is_empty())
}

/// Number of CPU times, in the order of `stat`: user, nice, system, idle, iowait, irq, softirq,
/// steal. Guest time is included in user and nice.
const TIMES: usize = 8;

#[derive(Default)]
struct Found {
    times: [u64; TIMES],
    processors: u32,
    uptime_ns: Option<u64>,
    /// CPU of each column of `interrupts`.
    columns: Vec<u32>,
    /// Names from the header line of `snmp`.
    names: Vec<String>,
    /// Interrupts of the selected CPUs.
    interrupts_of_scope: u64,
    reading: CounterReading,
}

impl Found {
    fn line(&mut self, line: &str, scope: &HostScope) {
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else {
            return;
        };
        let rest: Vec<&str> = words.collect();
        match first.split_once(':') {
            Some((name, attached)) => self.named(name, attached, &rest, scope),
            None if first.starts_with("CPU") => self.columns = columns(line),
            None => self.of_stat(first, &rest, scope),
        }
    }

    fn of_stat(&mut self, first: &str, rest: &[&str], scope: &HostScope) {
        let number = rest.first().and_then(|word| word.parse::<u64>().ok());
        if let Some(processor) = first.strip_prefix("cpu") {
            let processor = processor.parse().ok();
            if processor.is_some_and(|processor| scope.has(processor)) {
                self.add_times(rest);
            }
            return;
        }
        match (first, number) {
            ("intr", Some(count)) => self.set(CostCounter::Interrupts, count),
            ("ctxt", Some(count)) => self.set(CostCounter::ContextSwitches, count),
            ("btime", Some(time)) => self.reading.started = Some(time),
            // The line of the NFS client has three numbers.
            ("rpc", Some(count)) if rest.len() >= 5 => self.set(CostCounter::NfsdCalls, count),
            _ if rest.len() == 1 => self.uptime(first, rest),
            _ => {}
        }
    }

    fn add_times(&mut self, words: &[&str]) {
        self.processors = self.processors.saturating_add(1);
        for (sum, word) in self.times.iter_mut().zip(words) {
            *sum = sum.saturating_add(word.parse().unwrap_or(0));
        }
    }

    /// `uptime` is a line of two numbers with two decimals.
    fn uptime(&mut self, first: &str, rest: &[&str]) {
        let is_decimal = |word: &&str| word.contains('.') && word.parse::<f64>().is_ok();
        if rest.iter().all(is_decimal) && is_decimal(&first) {
            let seconds = first.parse::<f64>().ok();
            self.uptime_ns = seconds.map(|seconds| (seconds * NANOS) as u64);
        }
    }

    /// Handles a line with a name before a colon.
    fn named(&mut self, name: &str, attached: &str, rest: &[&str], scope: &HostScope) {
        if name == "Tcp" {
            return self.of_tcp(rest);
        }
        // In `net/dev` the first number may follow the colon at once.
        let attached = Some(attached).filter(|word| !word.is_empty());
        let words: Vec<&str> = attached.into_iter().chain(rest.iter().copied()).collect();
        let numbers = words.iter().map_while(|word| word.parse().ok());
        let numbers: Vec<u64> = numbers.collect();
        const COLUMNS_OF_DEVICES: usize = 16;
        if numbers.len() == words.len() && numbers.len() == COLUMNS_OF_DEVICES {
            if scope.interface.as_deref() == Some(name) {
                self.of_interface(&numbers);
            }
        } else if !self.columns.is_empty() {
            let about = words.get(numbers.len()..).unwrap_or_default();
            self.of_interrupts(name, &numbers, about, scope);
        }
    }

    fn of_interface(&mut self, numbers: &[u64]) {
        for (place, counter) in [
            (0, CostCounter::ReceivedBytes),
            (1, CostCounter::ReceivedPackets),
            (8, CostCounter::SentBytes),
            (9, CostCounter::SentPackets),
        ] {
            if let Some(count) = numbers.get(place) {
                self.set(counter, *count);
            }
        }
    }

    fn of_interrupts(&mut self, name: &str, numbers: &[u64], about: &[&str], scope: &HostScope) {
        // Lines without a column for each CPU are error counts; lines without words are from
        // another file.
        let is_line = numbers.len() >= self.columns.len() && !about.is_empty();
        if !is_line || self.reading.lines.len() >= LINES_MAX {
            return;
        }
        let by_processor = self.columns.iter().zip(numbers);
        let of_scope = by_processor.filter(|(processor, _)| scope.has(**processor));
        let count = of_scope.fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        self.interrupts_of_scope = self.interrupts_of_scope.saturating_add(count);
        if count > 0 {
            let line = format!("{name} {}", about.join(" "));
            let line = line.trim_end().chars().take(80).collect();
            self.reading.lines.push(LineCount { line, count });
        }
    }

    /// Two lines: names, then numbers.
    fn of_tcp(&mut self, words: &[&str]) {
        if self.names.is_empty() {
            self.names = words.iter().map(|word| (*word).into()).collect();
            return;
        }
        let mut pairs = self.names.iter().zip(words);
        let found = pairs.find(|(name, _)| *name == "RetransSegs");
        if let Some(count) = found.and_then(|(_, word)| word.parse().ok()) {
            self.set(CostCounter::TcpRetransmitted, count);
        }
    }

    fn set(&mut self, counter: CostCounter, count: u64) {
        self.reading.counters.insert(counter, count);
    }

    fn reading(mut self, units: TimeUnits, is_part: bool) -> CounterReading {
        let nanos = |ticks: u64| {
            let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(units.ticks_per_s.max(1));
            u64::try_from(nanos).unwrap_or(u64::MAX)
        };
        // The line of all interrupts covers the whole host.
        if !self.columns.is_empty() && is_part {
            self.set(CostCounter::Interrupts, self.interrupts_of_scope);
        }
        if self.processors > 0 {
            let since_start = units.since_start_ns.or(self.uptime_ns);
            let times = ProcessorTimes {
                processors: self.processors,
                since_start_ns: since_start,
                times_ns: self.times.map(nanos),
            };
            times.record(&mut self.reading);
        }
        self.reading
    }
}

/// CPU times read until now, in the order of `stat`.
pub(super) struct ProcessorTimes {
    pub processors: u32,
    pub since_start_ns: Option<u64>,
    pub times_ns: [u64; TIMES],
}

impl ProcessorTimes {
    pub fn record(&self, reading: &mut CounterReading) {
        let [user, nice, system, idle, iowait, irq, softirq, steal] = self.times_ns;
        let sampled = [user, nice, system, irq, softirq];
        let sampled = sampled.into_iter().fold(0, u64::saturating_add);
        // Kernels with tickless idle measure idle time exactly, and the other times only by the
        // state at each tick. The busy time is therefore the difference from the idle time.
        let not_running = [idle, iowait, steal]
            .into_iter()
            .fold(0, u64::saturating_add);
        let all = self.since_start_ns.map(|since_start| {
            since_start
                .saturating_mul(self.processors.into())
                // A CPU may count slightly more than the elapsed time.
                .saturating_add(OFFSET_NS)
        });
        let busy = all.map_or(sampled, |all| all.saturating_sub(not_running));
        reading.processors = Some(self.processors);
        for (counter, count) in [
            (CostCounter::CpuBusy, busy),
            (CostCounter::CpuUser, user.saturating_add(nice)),
            (CostCounter::CpuSystem, system),
            (CostCounter::CpuIrq, irq),
            (CostCounter::CpuSoftirq, softirq),
            (CostCounter::CpuSteal, steal),
        ] {
            reading.counters.insert(counter, count);
        }
    }
}

/// Offset added to the elapsed CPU time, so that it is never less than the idle time.
const OFFSET_NS: u64 = 3_600_000_000_000;

/// `           CPU0       CPU1`
fn columns(line: &str) -> Vec<u32> {
    let words = line.split_ascii_whitespace();
    let numbers = words.map_while(|word| word.strip_prefix("CPU")?.parse().ok());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
cpu  300 10 80 1000 20 1 6 4 0 0
cpu0 100 10 30 600 10 1 2 1 0 0
cpu1 200 0 50 400 10 0 4 3 0 0
intr 5000 1 2 3
ctxt 9000
btime 1700000000
processes 77
8.50 14.00
           CPU0       CPU1
  1:         10         20  IO-APIC   1-edge      i8042
 24:        100        200  PCI-MSI 512-edge      virtio0-input.0
LOC:       3000       1000   Local timer interrupts
ERR:          0
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo:    1000       10    0    0    0     0          0         0     1000      10    0    0    0     0       0          0
  eth0:123456 789 0 0 0 0 0 0 654321 987 0 0 0 0 0 0
Tcp: RtoAlgorithm RtoMin OutSegs RetransSegs
Tcp: 1 200 500 3
rc 0 0 0
rpc 4242 0 0 0 0
";

    fn reading(scope: &HostScope, units: TimeUnits) -> CounterReading {
        parse(TEXT, scope, units)
    }

    /// Two CPUs had 17 s in 8.5 s: 10 s and 0.2 s idle and 0.04 s steal: 6.76 s remain, though
    /// ticks found programs running for only 3.97 s.
    #[test]
    fn a_host_is_read_from_its_files() {
        let scope = HostScope {
            interface: Some("eth0".into()),
            ..HostScope::default()
        };
        let reading = reading(&scope, TimeUnits::default());
        let busy = reading.count(CostCounter::CpuBusy).unwrap() - OFFSET_NS;
        assert_eq!(busy, 6_760_000_000);
        for (counter, expected) in [
            (CostCounter::CpuUser, 3_100_000_000),
            (CostCounter::CpuSystem, 800_000_000),
            (CostCounter::CpuIrq, 10_000_000),
            (CostCounter::CpuSoftirq, 60_000_000),
            (CostCounter::CpuSteal, 40_000_000),
            (CostCounter::Interrupts, 5000),
            (CostCounter::ContextSwitches, 9000),
            (CostCounter::ReceivedBytes, 123_456),
            (CostCounter::ReceivedPackets, 789),
            (CostCounter::SentBytes, 654_321),
            (CostCounter::SentPackets, 987),
            (CostCounter::TcpRetransmitted, 3),
            (CostCounter::NfsdCalls, 4242),
        ] {
            assert_eq!(reading.count(counter), Some(expected), "{counter:?}");
        }
        assert_eq!(reading.started, Some(1_700_000_000));
        assert_eq!(
            reading.line("24 PCI-MSI 512-edge virtio0-input.0"),
            Some(300)
        );
        assert_eq!(reading.lines.len(), 3);
    }

    /// The second CPU only: 8.5 s less 4.1 s idle and 0.03 s steal.
    #[test]
    fn some_processors_can_be_looked_at_alone() {
        let scope = HostScope {
            processors: vec![1],
            interface: None,
        };
        let reading = reading(&scope, TimeUnits::default());
        let busy = reading.count(CostCounter::CpuBusy).unwrap() - OFFSET_NS;
        assert_eq!(busy, 4_370_000_000);
        assert_eq!(reading.processors, Some(1));
        // The counts of the whole host would not be those of the CPU.
        assert_eq!(reading.count(CostCounter::Interrupts), Some(1220));
        assert_eq!(reading.count(CostCounter::SentBytes), None);
    }

    /// Without a time since boot, only the sampled ticks are available.
    #[test]
    fn without_a_time_the_ticks_tell() {
        let text = "cpu0 100 0 50 1000 0 0 0 0";
        let reading = parse(text, &HostScope::default(), TimeUnits::default());
        assert_eq!(reading.count(CostCounter::CpuBusy), Some(1_500_000_000));
        let units = TimeUnits {
            ticks_per_s: 1000,
            ..TimeUnits::default()
        };
        let reading = parse(text, &HostScope::default(), units);
        assert_eq!(reading.count(CostCounter::CpuBusy), Some(150_000_000));
    }

    #[test]
    fn nonsense_is_passed_over() {
        for text in [
            "",
            "cpu",
            "cpu0 x y",
            "intr",
            "CPU0\n1:",
            "CPU0 CPU1\n24: 1",
            "Tcp: RetransSegs\nTcp:",
            "eth0: 1 2 3",
            "1e999 1e999",
            "cpu0 99999999999999999999999 18446744073709551615 18446744073709551615 1 1 1 1 1",
        ] {
            let _ = parse(text, &HostScope::default(), TimeUnits::default());
        }
        let many: String = (0..5000).map(|line| format!("{line}: 1 x\n")).collect();
        let reading = parse(
            &format!("CPU0\n{many}"),
            &HostScope::default(),
            TimeUnits::default(),
        );
        assert_eq!(reading.lines.len(), LINES_MAX);
    }
}
