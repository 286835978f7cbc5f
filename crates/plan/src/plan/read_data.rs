//! Handling of the data that READ returns. A client that does not inspect or receive the data has
//! more CPU time left for calls, so figures of two runs or programs are comparable only if both
//! handle READ data in the same way.

use super::{Interface, Plan, PlanError, WorkloadPlan};
use crate::JsonSchema;
use filestone_workload::choices;
use filestone_workload::operation::OpKind;

choices! {
    /// Handling of the data returned by READ. Over NFS, the data of calls below 16 KiB are delivered
    /// instead of discarded.
    pub enum ReadData {
        /// The kernel discards the data unread
        Discard = "discard";
        /// The data are received into memory, as by other load generators, and not read
        Deliver = "deliver";
        /// The data are received and compared with the expected ones
        Verify = "verify";
    }
}

impl ReadData {
    /// Minimum length of READs whose data can be discarded over NFS. Below it, receiving several
    /// replies at once costs less than one system call for each.
    pub const DISCARD_MIN_BYTES: u32 = 16 << 10;
}

/// Error returned when READ data cannot be handled as planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReadDataError {
    /// The operation returns no file data.
    #[error("{} returns no file data; only read does", .0.name())]
    NoFileData(OpKind),
    /// The workload has no READ.
    #[error("nothing is read")]
    NothingIsRead,
    /// The layer supports only one way to handle the data.
    #[error("a replay over this layer always does \"{}\"", .0.name())]
    FixedByLayer(ReadData),
    /// Data read through a mount cannot be discarded.
    #[error("this host's own NFS client always delivers what is read")]
    Mount,
    /// Datagrams cannot be discarded in part.
    #[error("a datagram is received whole")]
    Datagram,
    /// The response is authenticated or received as a whole.
    #[error("over SMB responses are taken whole, because their signatures cover the data")]
    Whole,
    /// The calls are so short that discarding costs more than receiving.
    #[error(
        "calls of {0} bytes are received many at a time, which costs less than discarding each; \
         those of {min} bytes and more can be discarded",
        min = ReadData::DISCARD_MIN_BYTES
    )]
    TooShort(u32),
}

impl ReadDataError {
    /// Returns the help text.
    pub const fn help(self) -> &'static str {
        match self {
            ReadDataError::NoFileData(_)
            | ReadDataError::NothingIsRead
            | ReadDataError::FixedByLayer(_) => "leave it out",
            ReadDataError::Mount => "leave it out, or name the server as TARGET",
            ReadDataError::Datagram => "use --data deliver, or --transport tcp",
            ReadDataError::Whole => "use --data deliver or --data verify",
            ReadDataError::TooShort(_) => "use --data deliver, or longer calls",
        }
    }
}

impl Plan {
    /// Returns the default handling of READ data; `None` if nothing is read.
    pub fn usual_read_data(&self) -> Option<ReadData> {
        if !self.reads() {
            return None;
        }
        Some(match (&self.workload, self.target.interface()) {
            (WorkloadPlan::Fleet(fleet), _) if fleet.verifies() => ReadData::Verify,
            (WorkloadPlan::LoadFile(_), Interface::Bytes) => ReadData::Discard,
            (WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_), Interface::Calls)
                if self.not_discardable().is_none() =>
            {
                ReadData::Discard
            }
            _ => ReadData::Deliver,
        })
    }

    /// Returns this plan with the requested handling of READ data, or with the default.
    #[must_use]
    pub fn with_read_data(self, asked: Option<ReadData>) -> Self {
        Self {
            read_data: asked.or_else(|| self.usual_read_data()),
            ..self
        }
    }

    /// Checks whether READ data can be handled as planned.
    pub(super) fn check_read_data(&self) -> Result<(), PlanError> {
        let Some(wanted) = self.read_data else {
            return Ok(());
        };
        self.can_have(wanted)
            .map_err(|why| PlanError::ReadData { wanted, why })
    }

    fn can_have(&self, wanted: ReadData) -> Result<(), ReadDataError> {
        let Some(usual) = self.usual_read_data() else {
            return Err(match self.probe() {
                Some(probe) => ReadDataError::NoFileData(probe.operation),
                None => ReadDataError::NothingIsRead,
            });
        };
        match (&self.workload, self.target.interface()) {
            _ if wanted == usual => Ok(()),
            (WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_), _) => {
                Err(ReadDataError::FixedByLayer(usual))
            }
            (_, Interface::SystemCalls | Interface::Bytes) => Err(ReadDataError::Mount),
            _ if wanted == ReadData::Discard => self.not_discardable().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    fn reads(&self) -> bool {
        match &self.workload {
            WorkloadPlan::Probe(probe) => probe.operation == OpKind::Read,
            WorkloadPlan::Mix(mix) => mix.share(OpKind::Read) > 0.0,
            WorkloadPlan::Fleet(fleet) => fleet.kinds().measured.contains(&OpKind::ReadX),
            WorkloadPlan::LoadFile(replay) => {
                let reads = [OpKind::Read, OpKind::ReadX];
                let is_moved = !self.target.is_directory() || !replay.local.fake_io;
                is_moved && replay.kinds.iter().any(|kind| reads.contains(kind))
            }
        }
    }

    /// Returns the reason why a probe or a mix of a server cannot discard READ data, if there is
    /// one.
    fn not_discardable(&self) -> Option<ReadDataError> {
        let len = self.workload.transfer_bytes()?;
        if self.target.is_udp() {
            return Some(ReadDataError::Datagram);
        }
        if self.target.takes_responses_whole() {
            return Some(ReadDataError::Whole);
        }
        (len < ReadData::DISCARD_MIN_BYTES).then_some(ReadDataError::TooShort(len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::example;
    use crate::plan::{LocalTarget, SmbTarget, TargetPlan, TcpTarget, TransportKind};

    fn read(size_bytes: u32, transport: TransportKind) -> Plan {
        let mut plan = example();
        plan.target.nfs3_mut().expect("an NFS target").transport = transport;
        let probe = plan.probe_mut().expect("a probe");
        (probe.operation, probe.size_bytes) = (OpKind::Read, size_bytes);
        plan
    }

    #[test]
    fn what_is_long_and_comes_in_a_stream_can_be_discarded() {
        use ReadData::{Deliver, Discard, Verify};
        use TransportKind::{Tcp, Udp};
        for (size, transport, usual, refused) in [
            (16_384, Tcp, Discard, vec![]),
            (1 << 20, Tcp, Discard, vec![]),
            (16_383, Tcp, Deliver, vec![Discard]),
            (4096, Tcp, Deliver, vec![Discard]),
            (32_768, Udp, Deliver, vec![Discard]),
        ] {
            let mut plan = read(size, transport);
            assert_eq!(plan.usual_read_data(), Some(usual), "{size}");
            for wanted in [Discard, Deliver, Verify] {
                plan.read_data = Some(wanted);
                let is_refused = plan.check_read_data().is_err();
                assert_eq!(is_refused, refused.contains(&wanted), "{size}: {wanted:?}");
            }
        }
    }

    #[test]
    fn responses_that_are_taken_whole_are_not_discarded() {
        let mut plan = read(1 << 20, TransportKind::Tcp);
        plan.target = TargetPlan::Smb(SmbTarget::built_in("file"));
        assert_eq!(plan.usual_read_data(), Some(ReadData::Deliver));
        for wanted in [ReadData::Deliver, ReadData::Verify] {
            plan.read_data = Some(wanted);
            assert_eq!(plan.check_read_data(), Ok(()));
        }
        plan.read_data = Some(ReadData::Discard);
        let error = plan.check_read_data().expect_err("nothing is discarded");
        assert!(error.to_string().contains("taken whole"), "{error}");
    }

    #[test]
    fn where_nothing_is_read_nothing_becomes_of_it() {
        let mut plan = example();
        assert_eq!(plan.usual_read_data(), None);
        assert_eq!(plan.check_read_data(), Ok(()));
        plan.read_data = Some(ReadData::Deliver);
        let error = plan.check_read_data().expect_err("NULL reads nothing");
        assert!(
            error
                .to_string()
                .ends_with("null returns no file data; only read does")
        );
    }

    #[test]
    fn what_a_mix_through_a_mount_reads_is_delivered() {
        let mut plan = read(1 << 20, TransportKind::Tcp);
        for target in [
            TargetPlan::Local(LocalTarget { directory: None }),
            TargetPlan::Tcp(TcpTarget {
                host: None,
                port: None,
            }),
        ] {
            plan.target = target;
            assert_eq!(plan.usual_read_data(), Some(ReadData::Deliver));
            plan.read_data = Some(ReadData::Verify);
            assert!(plan.check_read_data().is_err());
            plan.read_data = Some(ReadData::Deliver);
            assert_eq!(plan.check_read_data(), Ok(()));
        }
    }
}
