//! Figures of gates by name.

use super::dimension::Dimension;
use filestone_workload::figure::{FigureUnit, Quantity, RunFigure};
use filestone_workload::kind::OpKind;
use filestone_workload::load::diagnostic::suggestion;
use std::fmt;
use std::str::FromStr;

/// A figure in a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateFigure {
    /// A figure of the run's operations, or of one kind of operation.
    OfOperations(RunFigure),
    /// A figure of a run as a whole.
    OfRun(RunTotal),
}

macro_rules! totals {
    (
        gates { $($total:ident = $name:literal, $unit:ident, $about:literal;)* }
        ladders { $($part:ident = $part_name:literal, $part_unit:ident, $part_about:literal;)* }
    ) => {
        /// A figure of a run as a whole.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum RunTotal { $(#[doc = $about] $total,)* $(#[doc = $part_about] $part,)* }

        impl RunTotal {
            /// All figures that gates know, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$total,)*];

            /// Returns the name in gates and documents.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$total => $name,)* $(Self::$part => $part_name,)* }
            }

            /// Returns the unit.
            pub const fn unit(self) -> FigureUnit {
                match self {
                    $(Self::$total => FigureUnit::$unit,)*
                    $(Self::$part => FigureUnit::$part_unit,)*
                }
            }
        }
    };
}

totals! {
    gates {
        Offered = "offered", OperationsPerSecond, "Offered load of an open loop.";
        CurvePeak = "curve.peak", OperationsPerSecond, "Highest load of a curve that was kept up with.";
        CurveKnee = "curve.knee", OperationsPerSecond, "Load at a curve's knee.";
        ObjectiveLoad = "objective.load", OperationsPerSecond, "Highest load that keeps an objective.";
        Caveats = "caveats", Number, "Reasons to doubt the numbers.";
        Scheduled = "scheduled", Number, "Measured operations that were due.";
        TimedOut = "timed_out", Number, "Of these those that were not answered in time.";
        Disconnected = "disconnected", Number, "Of these those whose connection was lost.";
        Skipped = "skipped", Number, "Of these those that were never sent.";
        Mismatches = "mismatches", Number, "Results of a replay other than its load file expects.";
        LostClients = "lost_clients", Number, "Clients that ended early.";
        Retransmissions = "retransmissions", Number, "Calls that were sent again.";
        Reconnections = "reconnections", Number, "Connections that were made again.";
        LateReplies = "late_replies", Number, "Replies that came too late or twice.";
        GeneratorBusy = "generator_busy", Share, "How busy the busiest worker was, as a share.";
        ServerCpu = "server_cpu_per_operation", Nanoseconds, "Processor time of the server for each operation.";
        ServerSwitches = "server_switches_per_operation", Number, "Its context switches for each.";
        ServerInterrupts = "server_interrupts_per_operation", Number, "Interrupts of its host for each.";
        WireBytes = "wire_bytes_per_operation", Bytes, "Bytes on the way for each, headers included.";
        WirePackets = "packets_per_operation", Number, "Packets on the way for each.";
        ReplyPackets = "reply_packets_per_operation", Number, "Of these those that came back.";
        ModelReplyPackets = "model_reply_packets_per_operation", Number, "The same by the model.";
        WireRate = "wire_bytes_per_second", BytesPerSecond, "Bytes on the way in a second.";
        ServerBusy = "server_busy", Share, "Processors of the server that were busy.";
    }
    ladders {
        QueueTime = "queue_time.mean", Nanoseconds,
            "Mean time from due to sent: waiting in this program, for a slot or its turn.";
        KernelOutTime = "kernel_out_time.mean", Nanoseconds,
            "Part of the service time of calls with kernel timestamps: in this host's kernel while sending.";
        BeyondTime = "beyond_time.mean", Nanoseconds,
            "Part of the service time in the network and at the server.";
        KernelInTime = "kernel_in_time.mean", Nanoseconds,
            "Part of the service time in this host's kernel while receiving, including the wait until this program reads the reply.";
        ElsewhereTime = "elsewhere_time", Nanoseconds,
            "The service time without the server's CPU time: the network, both kernels, and waiting.";
    }
}

impl RunTotal {
    /// Whether it is a measured number and not a count.
    const fn is_measured(self) -> bool {
        matches!(self, Self::GeneratorBusy) || self.is_cost()
    }

    /// Whether it is read from counters of hosts.
    pub const fn is_cost(self) -> bool {
        matches!(
            self,
            Self::ServerCpu
                | Self::ServerSwitches
                | Self::ServerInterrupts
                | Self::WireBytes
                | Self::WirePackets
                | Self::ReplyPackets
                | Self::ModelReplyPackets
                | Self::WireRate
                | Self::ServerBusy
        )
    }
}

impl GateFigure {
    /// Returns the figure of operations, if it is one.
    pub const fn of_operations(self) -> Option<RunFigure> {
        match self {
            Self::OfOperations(figure) => Some(figure),
            Self::OfRun(_) => None,
        }
    }

    /// Returns the unit.
    pub const fn unit(self) -> FigureUnit {
        match self {
            Self::OfOperations(figure) => figure.quantity.unit(),
            Self::OfRun(total) => total.unit(),
        }
    }

    /// Returns the dimension.
    pub const fn dimension(self) -> Dimension {
        Dimension::of(self.unit())
    }

    /// Whether it is a count, not a share.
    pub(super) fn is_count(self) -> bool {
        let is_measured = matches!(self, Self::OfRun(total) if total.is_measured());
        self.dimension() == Dimension::NUMBER && !is_measured
    }

    /// Returns a similar name, as a suggestion.
    pub(super) fn near(word: &str) -> Option<String> {
        let totals = RunTotal::ALL.iter().map(|total| total.name().into());
        let quantities = Quantity::all().map(|one| one.to_string());
        let of_kinds = OpKind::ALL.iter().flat_map(|kind| {
            let quantities = Quantity::all().filter(|one| one.is_of_kinds());
            quantities.map(move |quantity| format!("{}.{quantity}", kind.name()))
        });
        let names: Vec<String> = totals.chain(quantities).chain(of_kinds).collect();
        let names = names.iter().map(String::as_str);
        // `p99` and `read.p99` are response times.
        let (operation, statistic) = word.rsplit_once('.').unwrap_or(("", word));
        let time = format!("{operation}.response_time.{statistic}");
        let time = time.trim_start_matches('.');
        let exact = names.clone().find(|name| *name == time);
        exact
            .or_else(|| suggestion(word.as_bytes(), names))
            .map(String::from)
    }
}

impl FromStr for GateFigure {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let mut totals = RunTotal::ALL.iter();
        match totals.find(|total| total.name() == name) {
            Some(total) => Ok(Self::OfRun(*total)),
            None => name.parse().map(Self::OfOperations).map_err(|_| ()),
        }
    }
}

impl fmt::Display for GateFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfOperations(figure) => figure.fmt(f),
            Self::OfRun(total) => f.write_str(total.name()),
        }
    }
}
