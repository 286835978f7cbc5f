//! Costs of a run under the names used by gates and sweeps.

use crate::cost::{CostCounter, CostEstimate, CostRecord, MeasuredAt};
use filestone_plan::gate::RunTotal;

const NANOS: f64 = 1e9;

/// Returns the cost of a run that achieved `achieved_ops_per_s`; `None` if it was not measured or
/// is not a cost.
pub fn of(cost: &CostRecord, achieved_ops_per_s: f64, total: RunTotal) -> Option<CostEstimate> {
    let wire = cost.wire.as_ref();
    match total {
        RunTotal::WireBytes => wire?.bytes_per_operation,
        RunTotal::WirePackets => wire?.packets_per_operation,
        RunTotal::ReplyPackets => wire?.reply_packets_per_operation,
        RunTotal::ModelReplyPackets => wire?.model_reply_packets_per_operation.map(exactly),
        RunTotal::WireRate => {
            let bytes = wire?.bytes_per_operation?;
            Some(bytes.times(achieved_ops_per_s))
        }
        RunTotal::ServerCpu => cost.server_cpu()?.known(),
        RunTotal::ServerBusy => cost
            .server_cpu()?
            .load_per_s
            .map(|nanos| exactly(nanos / NANOS)),
        RunTotal::ServerSwitches => cost.server_switches()?.known(),
        RunTotal::ServerInterrupts => {
            let interrupts = cost.figure(MeasuredAt::Server, CostCounter::Interrupts)?;
            interrupts.known()
        }
        RunTotal::Offered
        | RunTotal::CurvePeak
        | RunTotal::CurveKnee
        | RunTotal::ObjectiveLoad
        | RunTotal::Caveats
        | RunTotal::Scheduled
        | RunTotal::TimedOut
        | RunTotal::Disconnected
        | RunTotal::Skipped
        | RunTotal::Mismatches
        | RunTotal::LostClients
        | RunTotal::Retransmissions
        | RunTotal::Reconnections
        | RunTotal::LateReplies
        | RunTotal::GeneratorBusy
        | RunTotal::QueueTime
        | RunTotal::KernelOutTime
        | RunTotal::BeyondTime
        | RunTotal::KernelInTime
        | RunTotal::ElsewhereTime => None,
    }
}

const fn exactly(value: f64) -> CostEstimate {
    CostEstimate {
        value,
        half_width: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{CostFigure, WireCostRecord};

    /// An operation has 1,000 ± 10 bytes on the network in 4 ± 0.1 packets, 3 ± 0.05 of them
    /// received (3 by the model), and uses 20 ± 1 µs of the server process; at 5,000 per second
    /// that is a tenth of a CPU, plus the base rate of the process.
    fn cost() -> CostRecord {
        let known = |value, half_width| Some(CostEstimate { value, half_width });
        CostRecord {
            sources: vec![],
            figures: vec![CostFigure {
                measured_at: MeasuredAt::Server,
                counter: CostCounter::ProcessCpu,
                line: None,
                per_operation: known(20_000.0, 1000.0),
                idle_per_s: Some(1e6),
                load_per_s: Some(101e6),
                reason: None,
            }],
            wire: Some(WireCostRecord {
                bytes_per_operation: known(1000.0, 10.0),
                packets_per_operation: known(4.0, 0.1),
                reply_packets_per_operation: known(3.0, 0.05),
                model_reply_packets_per_operation: Some(3.0),
                ..WireCostRecord::default()
            }),
            calls: None,
        }
    }

    #[test]
    fn costs_have_the_names_of_gates() {
        for (total, value, half_width) in [
            (RunTotal::WireBytes, 1000.0, 10.0),
            (RunTotal::WirePackets, 4.0, 0.1),
            (RunTotal::ReplyPackets, 3.0, 0.05),
            (RunTotal::ModelReplyPackets, 3.0, 0.0),
            (RunTotal::WireRate, 5e6, 5e4),
            (RunTotal::ServerCpu, 20_000.0, 1000.0),
            (RunTotal::ServerBusy, 0.101, 0.0),
        ] {
            let found = of(&cost(), 5000.0, total).expect("it was read");
            assert!((found.value - value).abs() < 1e-9, "{total:?}: {found:?}");
            assert_eq!(found.half_width, half_width, "{total:?}");
        }
    }

    #[test]
    fn what_was_not_read_is_not_there() {
        for total in RunTotal::ALL {
            let found = of(&CostRecord::default(), 5000.0, *total);
            assert_eq!(found, None, "{total:?}");
        }
        // A process has no interrupts, and its context switches were not read.
        assert_eq!(of(&cost(), 5000.0, RunTotal::ServerInterrupts), None);
        assert_eq!(of(&cost(), 5000.0, RunTotal::ServerSwitches), None);
    }
}
