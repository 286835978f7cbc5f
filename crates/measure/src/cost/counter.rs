//! Counters of a host or process.

use crate::JsonSchema;
use filestone_workload::figure::FigureUnit;
use serde::{Deserialize, Serialize};

macro_rules! counters {
    ($($(#[$doc:meta])* $counter:ident = $name:literal, $unit:ident;)*) => {
        /// A monotonic counter of a host or a process.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[schemars(rename = "Counter")]
        pub enum CostCounter {
            $($(#[$doc])* #[serde(rename = $name)] $counter,)*
        }

        impl CostCounter {
            /// List of all counters.
            pub const ALL: &'static [Self] = &[$(Self::$counter,)*];

            /// Returns the name in records.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$counter => $name,)* }
            }

            /// Returns the unit.
            pub const fn unit(self) -> FigureUnit {
                match self { $(Self::$counter => FigureUnit::$unit,)* }
            }
        }
    };
}

counters! {
    /// CPU time that was not idle. Computed from the idle time, which is exact on kernels with
    /// tickless idle, while the time of programs is sampled by the tick.
    CpuBusy = "cpu_busy_ns", Nanoseconds;
    /// CPU time of user programs.
    CpuUser = "cpu_user_ns", Nanoseconds;
    /// CPU time of the kernel for programs and its own threads.
    CpuSystem = "cpu_system_ns", Nanoseconds;
    /// CPU time of interrupts.
    CpuIrq = "cpu_irq_ns", Nanoseconds;
    /// CPU time of soft interrupts, such as network processing.
    CpuSoftirq = "cpu_softirq_ns", Nanoseconds;
    /// CPU time used by other virtual machines (steal).
    CpuSteal = "cpu_steal_ns", Nanoseconds;
    /// CPU time of one process, all its threads.
    ProcessCpu = "process_cpu_ns", Nanoseconds;
    /// Voluntary context switches of the process: a thread gave up its CPU to wait.
    ProcessVoluntary = "process_voluntary_switches", Number;
    /// Involuntary context switches of the process: a thread was preempted.
    ProcessInvoluntary = "process_involuntary_switches", Number;
    /// Context switches of the whole host.
    ContextSwitches = "context_switches", Number;
    /// Interrupts of the whole host.
    Interrupts = "interrupts", Number;
    /// Bytes received by an interface, including link headers.
    ReceivedBytes = "received_bytes", Bytes;
    /// Packets received by the interface.
    ReceivedPackets = "received_packets", Number;
    /// Bytes sent by the interface.
    SentBytes = "sent_bytes", Bytes;
    /// Packets sent by the interface.
    SentPackets = "sent_packets", Number;
    /// Retransmitted TCP segments of the whole host.
    TcpRetransmitted = "tcp_retransmitted", Number;
    /// Calls received by the kernel's NFS server.
    NfsdCalls = "nfsd_calls", Number;
}

impl CostCounter {
    /// Returns the permitted decrease per CPU. A value computed from idle time, which is counted in
    /// hundredths of a second, and from a clock read at another moment can decrease.
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
        let mut names: Vec<_> = CostCounter::ALL.iter().map(|one| one.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CostCounter::ALL.len());
        for counter in CostCounter::ALL {
            let suffix = match counter.unit() {
                FigureUnit::Nanoseconds => "_ns",
                FigureUnit::Bytes => "_bytes",
                _ => "",
            };
            assert!(counter.name().ends_with(suffix), "{}", counter.name());
        }
    }
}
