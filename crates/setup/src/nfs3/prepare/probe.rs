//! Objects of a probe on an NFS server (`crate::prepare`).

use super::listing;
use crate::nfs3::calls::NfsConnection;
use crate::nfs3::session::at_path;
use crate::nfs3::tree::NfsTree;
use crate::prepare::{ProbePreparation, ProbeServer, own_name};
use crate::workspace::tree::TreeDirectory;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_plan::plan::TransportKind;
use filestone_protocol::workload::FileEntry;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{Handle, Procedure};
use filestone_wire::pattern;
use filestone_workload::operation::{FileId, OpKind};

/// Maximum size of a WRITE in bytes: accepted by every server, and small enough for a datagram.
const WRITE_MAX: u64 = 64 << 10;
const DATAGRAM_WRITE_MAX: u64 = 8 << 10;

impl ProbeServer for NfsConnection {
    type Handle = Handle;
    type Tree<'a> = NfsTree<'a>;

    fn tree(&mut self) -> NfsTree<'_> {
        NfsTree::new(self)
    }

    fn objects(
        preparation: &mut ProbePreparation<'_, Self>,
        directory: &Handle,
        is_wanted: fn(&FileEntry) -> bool,
    ) -> Result<Vec<(Handle, FileEntry)>, RunError> {
        let max = preparation.probe.files_max;
        let (path, has_pattern) = (&preparation.path, preparation.has_pattern);
        let mut files = listing::files(preparation.server, path, directory, max, has_pattern)?;
        files.retain(|(_, entry)| is_wanted(entry));
        Ok(files)
    }

    fn names(
        &mut self,
        path: &str,
        directory: &Handle,
        max: u32,
    ) -> Result<Vec<Vec<u8>>, RunError> {
        listing::names(self, path, directory, max)
    }

    fn make_file(
        &mut self,
        _: &str,
        directory: &TreeDirectory<Handle>,
        name: &str,
    ) -> Result<Handle, RunError> {
        let made = self.make_own_file(&directory.handle, name.as_bytes());
        made.map_err(|failure| at_path(failure, &directory.at(name), Procedure::Create))
    }

    /// The files are those that the run would create for changes.
    fn write_files(
        preparation: &mut ProbePreparation<'_, Self>,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        preparation.make_own_files(context)?;
        let table = &mut preparation.files.table;
        let own = table.own_files.clone();
        for client in 0..preparation.clients {
            table.add_name(own_name(client).as_bytes());
        }
        if preparation.probe.operation == OpKind::Read {
            context.preparing("writing files for the run");
            for (client, file) in (0..).zip(own.clone()) {
                context.check_cancelled()?;
                fill(preparation, FileId(file), &own_name(client))?;
            }
        }
        preparation.files.table.subjects = own;
        Ok(())
    }
}

/// Writes a whole file.
fn fill(
    preparation: &mut ProbePreparation<'_, NfsConnection>,
    file: FileId,
    name: &str,
) -> Result<(), RunError> {
    let (Some(own), Some(handle)) = (&preparation.own, preparation.files.handles.get(file)) else {
        return Ok(());
    };
    let most = match preparation.server.dial().transport {
        TransportKind::Tcp => WRITE_MAX,
        TransportKind::Udp => DATAGRAM_WRITE_MAX,
    };
    let most = match preparation.write_max_bytes {
        0 => most,
        limit => most.min(limit),
    };
    let len = preparation.probe.file_size_bytes;
    let mut data = vec![0; most as usize];
    let mut offset = 0;
    while offset < len {
        let count = (len - offset).min(most) as usize;
        let data = data.get_mut(..count).unwrap_or_default();
        pattern::fill(offset, data);
        let session = &mut *preparation.server;
        let written = session.write(handle, offset, data, StableHow::FileSync);
        let written = written
            .map_err(|failure| at_path(failure, &own.directory.at(name), Procedure::Write))?;
        // A write of 0 bytes is already an error of the call, so the loop terminates.
        offset += u64::from(written.count);
    }
    preparation.files.table.set_len(file, len);
    Ok(())
}
