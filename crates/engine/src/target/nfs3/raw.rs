//! The same bytes over a plain socket: what a client could achieve that does
//! nothing with what it receives but count it.

use crate::backend::looking::Looking;
use crate::control::Context;
use crate::driver::first_xid;
use crate::error::RunError;
use crate::target::nfs3::mount::{self, Caller};
use crate::target::nfs3::prepare::prepare;
use crate::target::{Job, Rate, TargetError};
use filestone_model::client::nfs3::procedures::procedure_of;
use filestone_model::operation::{FileId, OpKind};
use filestone_model::plan::ProbeRun;
use filestone_wire::nfs3::{Handle, PROGRAM, Procedure, VERSION, getattr, read};
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{CallHeader, Credential, OpaqueAuth};
use filestone_wire::xdr::{Encode, Writer};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::ClockId;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Received at a time.
const BUFFER_LEN: usize = 1 << 20;
/// How long an answer may take before the measurement is given up.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Exchanges the plan's operation over a plain socket for `time`.
pub fn measure(job: &Job<'_>, time: Duration, context: &mut Context<'_>) -> Result<Rate, RunError> {
    let plan = &job.plan.as_probe_run().ok_or(TargetError::NoCalls)?;
    let prepared = prepare(plan, job.built_in.nfs3, context)?;
    let handle = prepared.files.handles.get(FileId(0));
    let handle = handle.copied().unwrap_or(Handle::EMPTY);
    let call = encode_call(plan, &handle);
    let reply_len = match plan.probe.operation {
        OpKind::GetAttr => 4 + 112,
        OpKind::Read => 4 + 128 + plan.probe.size_bytes.next_multiple_of(4) as usize,
        _ => 4 + 24,
    };
    let dial = prepared.dial;
    let socket = dial.connect(TIMEOUT).map_err(|source| RunError::Connect {
        address: dial.address,
        source,
    })?;
    exchange(&socket, &call, reply_len, plan, time).map_err(|error| RunError::System {
        what: "exchange messages over a plain socket".into(),
        source: error.into(),
    })
}

fn encode_call(plan: &ProbeRun<'_>, handle: &Handle) -> Vec<u8> {
    let credentials = mount::credentials(&Caller::new(plan, plan.target));
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
        OpKind::GetAttr => getattr::Args {
            object: handle.borrow(),
        }
        .encode(&mut writer),
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

fn exchange(
    socket: &OwnedFd,
    call: &[u8],
    reply_len: usize,
    plan: &ProbeRun<'_>,
    time: Duration,
) -> Result<Rate, rustix::io::Errno> {
    let timeout = rustix::net::sockopt::Timeout::Recv;
    rustix::net::sockopt::set_socket_timeout(socket, timeout, Some(TIMEOUT))?;
    let calls: Vec<u8> = call.repeat(plan.in_flight as usize);
    let mut buffer = vec![0; BUFFER_LEN];
    let (mut replies, mut partial) = (0u64, 0usize);
    let mut looking = Looking::default();
    let cpu_before = processor_nanos();
    let begin = Instant::now();
    send_all(socket, &calls)?;
    while begin.elapsed() < time {
        let received = receive(socket, &mut buffer, &mut looking)?;
        if received == 0 {
            return Err(rustix::io::Errno::CONNRESET);
        }
        partial += received;
        let whole = partial / reply_len;
        partial %= reply_len;
        replies += whole as u64;
        if whole > 0 {
            send_all(
                socket,
                &calls[..whole.min(plan.in_flight as usize) * call.len()],
            )?;
        }
    }
    let elapsed = begin.elapsed().as_secs_f64();
    let cpu = (processor_nanos() - cpu_before).saturating_sub(looking.spun_nanos());
    Ok(Rate {
        ops_per_s: replies as f64 / elapsed,
        cpu_ns_per_op: cpu as f64 / replies.max(1) as f64,
        data_bytes_per_s: match plan.probe.operation {
            OpKind::Read => replies as f64 * f64::from(plan.probe.size_bytes) / elapsed,
            _ => 0.0,
        },
    })
}

/// Waits for bytes as the worker does.
fn receive(
    socket: &OwnedFd,
    buffer: &mut [u8],
    looking: &mut Looking,
) -> Result<usize, rustix::io::Errno> {
    let Some(look) = looking.begin() else {
        return recv(socket, buffer, RecvFlags::empty()).map(|(_, len)| len);
    };
    let began = Instant::now();
    let mut spun = 0;
    while spun < look.nanos {
        match recv(socket, &mut *buffer, RecvFlags::DONTWAIT) {
            Err(rustix::io::Errno::AGAIN) => {}
            received => {
                looking.end(look, spun, true);
                looking.count(spun);
                return received.map(|(_, len)| len);
            }
        }
        std::hint::spin_loop();
        spun = began.elapsed().as_nanos() as u64;
    }
    looking.end(look, spun, false);
    looking.count(spun);
    recv(socket, buffer, RecvFlags::empty()).map(|(_, len)| len)
}

fn send_all(socket: &OwnedFd, mut bytes: &[u8]) -> Result<(), rustix::io::Errno> {
    while !bytes.is_empty() {
        let sent = send(socket, bytes, SendFlags::NOSIGNAL)?;
        bytes = &bytes[sent..];
    }
    Ok(())
}

fn processor_nanos() -> u64 {
    let spent = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}
