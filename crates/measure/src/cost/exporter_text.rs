//! Readings from the metrics of a Prometheus node_exporter, in the text format of Prometheus.
//!
//! A line is a name, labels in braces, and a value; a comment begins with `#`
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>). The parser supports only the
//! required part of the format, and reads only the metrics with the names below.

use super::counter::CostCounter;
use super::proc_text::{HostScope, ProcessorTimes};
use super::reading::{CounterReading, LineCount};
use std::collections::BTreeSet;

const NANOS: f64 = 1e9;
const LINES_MAX: usize = 1024;
/// CPU modes, in the order of `/proc/stat` and `ProcessorTimes`.
const MODES: [&str; 8] = [
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
];

/// Metrics that are counters of the whole host.
const OF_HOST: [(&str, CostCounter); 4] = [
    ("node_context_switches_total", CostCounter::ContextSwitches),
    ("node_intr_total", CostCounter::Interrupts),
    (
        "node_netstat_Tcp_RetransSegs",
        CostCounter::TcpRetransmitted,
    ),
    ("node_nfsd_server_rpcs_total", CostCounter::NfsdCalls),
];

/// Metrics of each interface.
const OF_INTERFACE: [(&str, CostCounter); 4] = [
    (
        "node_network_receive_bytes_total",
        CostCounter::ReceivedBytes,
    ),
    (
        "node_network_receive_packets_total",
        CostCounter::ReceivedPackets,
    ),
    ("node_network_transmit_bytes_total", CostCounter::SentBytes),
    (
        "node_network_transmit_packets_total",
        CostCounter::SentPackets,
    ),
];

/// Parses the metrics of the CPUs and the interface in `scope`.
pub fn parse(text: &str, scope: &HostScope) -> CounterReading {
    let mut found = Found::default();
    let samples = text.lines().filter_map(Sample::of);
    samples.for_each(|sample| found.sample(&sample, scope));
    found.reading(!scope.processors.is_empty())
}

/// A line of the format.
struct Sample<'text> {
    name: &'text str,
    labels: &'text str,
    value: f64,
}

impl<'text> Sample<'text> {
    fn of(line: &'text str) -> Option<Self> {
        let line = line.trim();
        let (name, labels, rest) = match line.split_once('{') {
            Some((name, rest)) => {
                let (labels, rest) = rest.rsplit_once('}')?;
                (name, labels, rest)
            }
            None => {
                let (name, rest) = line.split_once(char::is_whitespace)?;
                (name, "", rest)
            }
        };
        let value: f64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
        let is_count = value.is_finite() && value >= 0.0;
        is_count.then_some(Self {
            name: name.trim(),
            labels,
            value,
        })
    }

    /// Returns the raw value of a label; no label used here contains escapes.
    fn label(&self, name: &str) -> Option<&'text str> {
        let mut rest = self.labels;
        loop {
            let (label, value) = rest.split_once("=\"")?;
            let end = value.find('"')?;
            let (value, behind) = value.split_at_checked(end)?;
            if label.trim_matches([',', ' ']) == name {
                return Some(value);
            }
            rest = behind.get(1..)?;
        }
    }
}

#[derive(Default)]
struct Found {
    times: [f64; MODES.len()],
    processors: BTreeSet<u32>,
    now_s: Option<f64>,
    boot_s: Option<f64>,
    reading: CounterReading,
}

impl Found {
    fn sample(&mut self, sample: &Sample<'_>, scope: &HostScope) {
        match sample.name {
            "node_cpu_seconds_total" => self.of_processor(sample, scope),
            "node_time_seconds" => self.now_s = Some(sample.value),
            "node_boot_time_seconds" => {
                self.boot_s = Some(sample.value);
                self.reading.started = Some(sample.value as u64);
            }
            "node_interrupts_total" => self.of_interrupts(sample, scope),
            name => self.of_table(name, sample, scope),
        }
    }

    fn of_processor(&mut self, sample: &Sample<'_>, scope: &HostScope) {
        let processor = sample.label("cpu").and_then(|number| number.parse().ok());
        let mode = sample.label("mode");
        let place = MODES.iter().position(|known| Some(*known) == mode);
        if let (Some(processor), Some(place)) = (processor, place)
            && scope.has(processor)
            && let Some(time) = self.times.get_mut(place)
        {
            self.processors.insert(processor);
            *time += sample.value;
        }
    }

    fn of_interrupts(&mut self, sample: &Sample<'_>, scope: &HostScope) {
        let processor = sample.label("cpu").and_then(|number| number.parse().ok());
        let Some(line) = sample.label("type") else {
            return;
        };
        if !processor.is_some_and(|processor| scope.has(processor)) {
            return;
        }
        let about = ["info", "devices"].map(|name| sample.label(name).unwrap_or_default());
        let line = format!("{line} {}", about.join(" "));
        let line: String = line.trim_end().chars().take(80).collect();
        let count = sample.value as u64;
        let lines = &mut self.reading.lines;
        let has_room = lines.len() < LINES_MAX && count > 0;
        match lines.iter_mut().find(|known| known.line == line) {
            Some(known) => known.count = known.count.saturating_add(count),
            None if has_room => lines.push(LineCount { line, count }),
            None => {}
        }
    }

    /// The total number of interrupts covers the whole host; that of selected CPUs is the sum of
    /// the lines.
    fn of_part(&mut self) {
        let lines = self.reading.lines.iter();
        let count = lines.fold(0_u64, |sum, line| sum.saturating_add(line.count));
        let counters = &mut self.reading.counters;
        counters.remove(&CostCounter::Interrupts);
        if count > 0 {
            counters.insert(CostCounter::Interrupts, count);
        }
    }

    fn of_table(&mut self, name: &str, sample: &Sample<'_>, scope: &HostScope) {
        let of = |table: &[(&str, CostCounter)]| {
            let found = table.iter().find(|(known, _)| *known == name);
            found.map(|(_, counter)| *counter)
        };
        let interface = sample.label("device");
        let is_asked = interface.is_some() && interface == scope.interface.as_deref();
        let counter = of(&OF_HOST).or_else(|| of(&OF_INTERFACE).filter(|_| is_asked));
        if let Some(counter) = counter {
            self.reading.counters.insert(counter, sample.value as u64);
        }
    }

    fn reading(mut self, is_part: bool) -> CounterReading {
        if is_part {
            self.of_part();
        }
        let nanos = |seconds: f64| (seconds * NANOS) as u64;
        if !self.processors.is_empty() {
            let since_start = self.now_s.zip(self.boot_s);
            let times = ProcessorTimes {
                processors: self.processors.len() as u32,
                since_start_ns: since_start.map(|(now, boot)| nanos((now - boot).max(0.0))),
                times_ns: self.times.map(nanos),
            };
            times.record(&mut self.reading);
        }
        self.reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 6
node_cpu_seconds_total{cpu="0",mode="iowait"} 0.1
node_cpu_seconds_total{cpu="0",mode="user"} 1.1
node_cpu_seconds_total{cpu="0",mode="system"} 0.3
node_cpu_seconds_total{cpu="1",mode="idle"} 4
node_cpu_seconds_total{cpu="1",mode="iowait"} 0.1
node_cpu_seconds_total{cpu="1",mode="user"} 2
node_cpu_seconds_total{cpu="1",mode="steal"} 0.04
node_boot_time_seconds 1.7e+09
node_time_seconds 1.7000000085e+09
node_context_switches_total 9000
node_intr_total 5000
node_network_receive_bytes_total{device="eth0"} 123456
node_network_receive_bytes_total{device="lo"} 7
node_network_transmit_packets_total{device="eth0"} 987
node_interrupts_total{cpu="0",devices="virtio0-input.0",info="PCI-MSI",type="24"} 100
node_interrupts_total{cpu="1",devices="virtio0-input.0",info="PCI-MSI",type="24"} 200
node_nfsd_server_rpcs_total 4242
"#;

    /// 17 s of two CPUs, less 10.2 s idle and 0.04 s steal: 6.76 s, as from `/proc`.
    #[test]
    fn a_host_is_read_from_its_exporter() {
        let scope = HostScope {
            interface: Some("eth0".into()),
            ..HostScope::default()
        };
        let reading = parse(TEXT, &scope);
        let whole = parse("", &scope);
        assert_eq!(whole, CounterReading::default());
        let busy = reading.count(CostCounter::CpuBusy).unwrap() - 3_600_000_000_000;
        assert!(busy.abs_diff(6_760_000_000) < 1000, "{busy}");
        for (counter, expected) in [
            (CostCounter::CpuUser, 3_100_000_000),
            (CostCounter::Interrupts, 5000),
            (CostCounter::ContextSwitches, 9000),
            (CostCounter::ReceivedBytes, 123_456),
            (CostCounter::SentPackets, 987),
            (CostCounter::NfsdCalls, 4242),
        ] {
            assert_eq!(reading.count(counter), Some(expected), "{counter:?}");
        }
        assert_eq!(reading.count(CostCounter::SentBytes), None);
        assert_eq!(reading.line("24 PCI-MSI virtio0-input.0"), Some(300));
        let scope = HostScope {
            processors: vec![1],
            interface: None,
        };
        let of_second = parse(TEXT, &scope);
        assert_eq!(of_second.count(CostCounter::CpuUser), Some(2_000_000_000));
        assert_eq!(of_second.count(CostCounter::Interrupts), Some(200));
    }

    #[test]
    fn nonsense_is_passed_over() {
        for text in [
            "<html>no metrics here</html>",
            "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"",
            "node_cpu_seconds_total{cpu=\"x\",mode=\"idle\"} 5",
            "node_cpu_seconds_total{=\"\"} 5",
            "node_cpu_seconds_total{cpu=\"} 5",
            "node_intr_total NaN",
            "node_intr_total -5",
            "node_intr_total +Inf",
            "node_intr_total",
        ] {
            assert_eq!(
                parse(text, &HostScope::default()),
                CounterReading::default(),
                "{text}"
            );
        }
        let huge = parse("node_intr_total 1e300", &HostScope::default());
        assert_eq!(huge.count(CostCounter::Interrupts), Some(u64::MAX));
    }
}
