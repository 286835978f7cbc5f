//! What is counted.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a counter counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Things.
    Number,
}

impl CounterUnit {
    /// What it is called in documents: nothing of a number.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
            Self::Number => "",
        }
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $counter:ident = $name:literal, $unit:ident;)*) => {
        /// Something that a host or a process counts, and only ever counts up.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum Counter {
            $($(#[$doc])* #[serde(rename = $name)] $counter,)*
        }

        impl Counter {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$counter,)*];

            /// Its name in records.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$counter => $name,)* }
            }

            /// What it counts in.
            pub const fn unit(self) -> CounterUnit {
                match self { $(Self::$counter => CounterUnit::$unit,)* }
            }
        }
    };
}

counters! {
    /// Processor time that was not idle. From the idle time, which kernels without ticks in idle
    /// know exactly, where the time of programs is sampled tick by tick.
    CpuBusy = "cpu_busy_ns", Nanoseconds;
    /// Processor time of programs.
    CpuUser = "cpu_user_ns", Nanoseconds;
    /// Processor time of the kernel for programs and its own threads.
    CpuSystem = "cpu_system_ns", Nanoseconds;
    /// Processor time of interrupts.
    CpuIrq = "cpu_irq_ns", Nanoseconds;
    /// Processor time of what interrupts leave for later, such as the network.
    CpuSoftirq = "cpu_softirq_ns", Nanoseconds;
    /// Processor time that other virtual machines had.
    CpuSteal = "cpu_steal_ns", Nanoseconds;
    /// Processor time of one process, all its threads.
    ProcessCpu = "process_cpu_ns", Nanoseconds;
    /// How often its threads gave up a processor to wait.
    ProcessVoluntary = "process_voluntary_switches", Number;
    /// How often others took their processor.
    ProcessInvoluntary = "process_involuntary_switches", Number;
    /// Context switches of the whole host.
    ContextSwitches = "context_switches", Number;
    /// Interrupts of the whole host.
    Interrupts = "interrupts", Number;
    /// Bytes that an interface received, with the headers of its link.
    ReceivedBytes = "received_bytes", Bytes;
    /// Packets that it received.
    ReceivedPackets = "received_packets", Number;
    /// Bytes that it sent.
    SentBytes = "sent_bytes", Bytes;
    /// Packets that it sent.
    SentPackets = "sent_packets", Number;
    /// TCP segments of the whole host that were sent again.
    TcpRetransmitted = "tcp_retransmitted", Number;
    /// Calls that the kernel's NFS server received.
    NfsdCalls = "nfsd_calls", Number;
}

impl Counter {
    /// By how much it may step back for each processor. What is worked out of idling, which is
    /// counted in hundredths of a second, and of a clock that is read at another moment, does.
    pub const fn slack(self) -> u64 {
        match self {
            Self::CpuBusy => 20_000_000,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own_which_says_its_unit() {
        let mut names: Vec<_> = Counter::ALL.iter().map(|one| one.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Counter::ALL.len());
        for counter in Counter::ALL {
            let suffix = match counter.unit() {
                CounterUnit::Nanoseconds => "_ns",
                CounterUnit::Bytes => "_bytes",
                CounterUnit::Number => "",
            };
            assert!(counter.name().ends_with(suffix), "{}", counter.name());
        }
    }
}
