//! Creates the clients of a run, with the state that they share.

use crate::backend::sockets::SocketOptions;
use filestone_host::connect::Dial;
use filestone_plan::plan::{NfsTarget, Plan, ReadData};
use filestone_protocol::client::Nfs3Client;
use filestone_protocol::client::Verify;
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::client::nfs3::{NfsSharedState, ReadHandling, Templates};
use filestone_protocol::session::rpc::Credentials;
use filestone_protocol::workload::FileTable;
use filestone_setup::driver::first_xid;
use filestone_setup::nfs3::mount::{self, MountCaller};
use filestone_wire::nfs3::Handle;
use filestone_wire::pattern;
use std::sync::Arc;

/// Shared inputs of all clients.
pub struct ClientFactory {
    shared: NfsSharedState,
    /// Credentials of the first client.
    credentials: Credentials,
    pub options: SocketOptions,
    /// Handling of data returned by READ.
    read_data: Option<ReadData>,
    /// Verifier of read data; each client gets a clone.
    verify: Option<Verify>,
}

impl ClientFactory {
    pub fn new(
        plan: &Plan,
        target: &NfsTarget,
        table: &Arc<FileTable>,
        handles: &Arc<ServerHandles<Handle>>,
        dial: Dial,
    ) -> Self {
        let pattern: Arc<[u8]> = pattern::table().into();
        let credentials = mount::credentials(&MountCaller::new(plan, target));
        let shared = NfsSharedState {
            templates: Arc::new(Templates::new(&credentials)),
            table: Arc::clone(table),
            handles: Arc::clone(handles),
            pattern: Arc::clone(&pattern),
            timeout_nanos: plan.timeout_ns,
            transport: target.transport,
        };
        let options = SocketOptions::of(plan, dial, pattern);
        // A plan from another program may leave this out.
        let read_data = plan.read_data.or_else(|| plan.usual_read_data());
        let block_len = plan.workload.transfer_bytes().unwrap_or_default();
        let verify = || Verify::new(Arc::clone(table), Arc::clone(&shared.pattern), block_len);
        Self {
            verify: (read_data == Some(ReadData::Verify)).then(verify),
            read_data,
            shared,
            credentials,
            options,
        }
    }

    /// Creates client `number`.
    pub fn client(&self, plan: &Plan, number: u32) -> Nfs3Client {
        let mut shared = self.shared.clone();
        let identities = &plan.connections.identities;
        if !identities.is_empty() {
            let own = self
                .credentials
                .clone()
                .of_client(identities, plan.number_of(number));
            shared.templates = Arc::new(Templates::new(&own));
        }
        Nfs3Client::new(shared, plan.in_flight, self.reading(), first_xid())
    }

    fn reading(&self) -> ReadHandling {
        match (self.read_data, &self.verify) {
            (None, _) => ReadHandling::Nothing,
            (Some(ReadData::Discard), _) => ReadHandling::Discard,
            (Some(ReadData::Verify), Some(verify)) => {
                ReadHandling::Verify(Box::new(verify.again()))
            }
            (Some(ReadData::Deliver | ReadData::Verify), _) => ReadHandling::Deliver,
        }
    }
}
