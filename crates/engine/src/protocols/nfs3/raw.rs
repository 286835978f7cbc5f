//! NFS calls over a plain socket, for calibration.

use crate::protocols::plain_socket::{EncodedCall, TIMEOUT, exchange};
use crate::protocols::{Job, Rate};
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_plan::plan::ProbeRun;
use filestone_protocol::client::nfs3::procedures::procedure_of;
use filestone_setup::TargetError;
use filestone_setup::driver::first_xid;
use filestone_setup::nfs3::mount::{self, MountCaller};
use filestone_setup::nfs3::prepare::prepare;
use filestone_wire::nfs3::{Handle, PROGRAM, Procedure, VERSION, read};
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{CallHeader, Credential, OpaqueAuth};
use filestone_wire::xdr::{Encode, Writer};
use filestone_workload::operation::{FileId, OpKind};
use std::time::Duration;

/// Exchanges the plan's operation over a plain socket for `time`.
pub fn measure(
    job: &Job<'_>,
    time: Duration,
    context: &mut RunContext<'_>,
) -> Result<Rate, RunError> {
    let plan = &job.plan.as_probe_run().ok_or(TargetError::NoCalls)?;
    let prepared = prepare(plan, job.built_in.nfs3, context)?;
    let handle = prepared.files.handles.get(FileId(0));
    let handle = handle.copied().unwrap_or(Handle::EMPTY);
    let call = encode_call(plan, &handle);
    let size_bytes = plan.probe.size_bytes;
    let (reply_len, data_bytes) = match plan.probe.operation {
        OpKind::GetAttr => (4 + 112, 0),
        OpKind::Read => (
            4 + 128 + size_bytes.next_multiple_of(4) as usize,
            size_bytes,
        ),
        _ => (4 + 24, 0),
    };
    let dial = prepared.dial;
    let socket = dial.connect(TIMEOUT).map_err(|source| RunError::Connect {
        address: dial.address,
        source,
    })?;
    let repeated = EncodedCall {
        call,
        reply_len,
        data_bytes,
        in_flight: plan.in_flight,
        numbers: None,
    };
    exchange(&socket, repeated, time)
}

fn encode_call(plan: &ProbeRun<'_>, handle: &Handle) -> Vec<u8> {
    let credentials = mount::credentials(&MountCaller::new(plan, plan.target));
    let operation = plan.probe.operation;
    let credential = match operation {
        OpKind::Null => Credential::None,
        _ => credentials.to_auth(),
    };
    let header = CallHeader {
        xid: first_xid(),
        program: PROGRAM,
        version: VERSION,
        procedure: procedure_of(operation).unwrap_or(Procedure::Null).number(),
        credential,
        verifier: OpaqueAuth::NONE,
    };
    let mut call = Vec::new();
    let start = RecordMark::open(&mut call);
    let mut writer = Writer::new(&mut call);
    header.encode(&mut writer);
    match operation {
        OpKind::GetAttr => handle.borrow().encode(&mut writer),
        OpKind::Read => {
            read::Args {
                file: handle.borrow(),
                offset: 0,
                count: plan.probe.size_bytes,
            }
            .encode(&mut writer);
        }
        _ => {}
    }
    RecordMark::close(&mut call, start, 0);
    call
}
