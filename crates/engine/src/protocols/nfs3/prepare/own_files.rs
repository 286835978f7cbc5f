//! The files of our own that operations visit which change nothing: what they read is written first.

use super::Prepared;
use crate::control::Context;
use crate::error::RunError;
use crate::protocols::nfs3::session::at_path;
use filestone_plan::plan::{ProbeRun, TransportKind};
use filestone_wire::nfs3::Procedure;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::pattern;
use filestone_workload::operation::{FileId, OpKind};

/// Bytes of a WRITE at most: what every server takes, and what a datagram holds.
const WRITE_MAX: u64 = 64 << 10;
const DATAGRAM_WRITE_MAX: u64 = 8 << 10;

impl Prepared {
    /// Makes the files of our own the subjects of the run.
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

    /// Writes a file from its beginning to its end.
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
            // That it took nothing is an error of the call already, so this comes to an end.
            offset += u64::from(written.count);
        }
        self.files.table.set_len(file, len);
        Ok(())
    }
}

/// What the file of a client is called.
pub(super) fn own_name(client: u32) -> String {
    format!("client{client}")
}
