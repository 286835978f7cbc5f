//! Files created for operations that only read: their data are written before the run.

use super::Prepared;
use crate::control::Context;
use crate::error::RunError;
use crate::protocols::nfs3::session::at_path;
use filestone_plan::plan::{ProbeRun, TransportKind};
use filestone_wire::nfs3::Procedure;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::pattern;
use filestone_workload::operation::{FileId, OpKind};

/// Maximum size of a WRITE in bytes: accepted by every server, and small enough for a datagram.
const WRITE_MAX: u64 = 64 << 10;
const DATAGRAM_WRITE_MAX: u64 = 8 << 10;

impl Prepared {
    /// Uses the created files as subjects of the run.
    pub(super) fn visit_own_files(
        &mut self,
        plan: &ProbeRun<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), RunError> {
        let own = self.files.table.own_files.clone();
        for client in 0..plan.clients {
            self.files.table.add_name(own_name(client).as_bytes());
        }
        if plan.probe.operation == OpKind::Read {
            context.preparing("writing files of our own");
            for (client, file) in own.clone().enumerate() {
                context.check_cancelled()?;
                let name = own_name(client as u32);
                self.fill(plan, FileId(file), &name)?;
            }
        }
        self.files.table.subjects = own;
        Ok(())
    }

    /// Writes a whole file.
    fn fill(&mut self, plan: &ProbeRun<'_>, file: FileId, name: &str) -> Result<(), RunError> {
        let (Some(own), Some(handle)) = (&self.own, self.files.handles.get(file)) else {
            return Ok(());
        };
        let most = match plan.target.transport {
            TransportKind::Tcp => WRITE_MAX,
            TransportKind::Udp => DATAGRAM_WRITE_MAX,
        };
        let most = match self.target.write_max_bytes {
            0 => most,
            limit => most.min(limit),
        };
        let len = plan.probe.file_size_bytes;
        let mut data = vec![0; most as usize];
        let mut offset = 0;
        while offset < len {
            let count = (len - offset).min(most) as usize;
            let data = data.get_mut(..count).unwrap_or_default();
            pattern::fill(offset, data);
            let written = self
                .session
                .write(handle, offset, data, StableHow::FileSync);
            let written = written
                .map_err(|failure| at_path(failure, &own.directory.at(name), Procedure::Write))?;
            // A write of 0 bytes is already an error of the call, so the loop terminates.
            offset += u64::from(written.count);
        }
        self.files.table.set_len(file, len);
        Ok(())
    }
}

/// Returns the file name of a client.
pub(super) fn own_name(client: u32) -> String {
    format!("client{client}")
}
