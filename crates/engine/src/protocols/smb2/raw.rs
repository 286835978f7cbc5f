//! SMB requests over a plain socket, for calibration.

use crate::protocols::plain_socket::{EncodedCall, MARK_LEN, SequenceField, exchange};
use crate::protocols::{Job, Rate};
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_plan::plan::{ProbePlan, SmbTarget};
use filestone_protocol::client::smb2::{ALL_OF_FILE, CreateParams};
use filestone_protocol::session::smb2::{BYTES_OF_CREDIT, Established};
use filestone_setup::TargetError;
use filestone_setup::smb2::SmbError;
use filestone_setup::smb2::connection::{ConnectedShare, EstablishedConnection};
use filestone_setup::smb2::terms::{reach, share_path};
use filestone_wire::smb2::codec::{Encode, Writer};
use filestone_wire::smb2::frame::FrameMark;
use filestone_wire::smb2::info::{FileInfoClass, InfoClass};
use filestone_wire::smb2::{
    Channel, Command, FileId, HEADER_LEN, Header, Route, echo, query_info, read,
};
use filestone_workload::operation::OpKind;
use std::time::Duration;

/// Offset of MessageId in a frame with one message.
const MESSAGE_ID_AT: usize = MARK_LEN + 24;
/// FileNetworkOpenInformation (MS-FSCC, section 2.4.34).
const ATTRIBUTES_LEN: u32 = 56;

/// A request and the size of its response.
struct Asked {
    command: Command,
    body: Vec<u8>,
    /// Bytes of the response's body.
    answer_len: u32,
    /// Bytes of file data in the exchange.
    data_bytes: u32,
}

/// Exchanges the plan's operation over a plain socket for `time`.
pub fn measure(
    job: &Job<'_>,
    time: Duration,
    context: &mut RunContext<'_>,
) -> Result<Rate, RunError> {
    let plan = job.plan;
    let target = plan.target.smb().ok_or(TargetError::NoCalls)?;
    let probe = plan.probe().ok_or(TargetError::NoCalls)?;
    let first = reach(plan, target, job.built_in.smb, context)?;
    // This connection requests as many credits as its requests need.
    let made = ConnectedShare::make(first.reaching(), plan.in_flight);
    let mut connection = made.map_err(SmbError::into_run_error)?;
    let file_id = open(&mut connection, target)?;
    let handover = connection.into_connection();
    let EstablishedConnection { socket, session } = handover.map_err(SmbError::into_run_error)?;
    let own = session.established().ok_or(TargetError::NoCalls)?;
    if own.signs || own.encrypts {
        return Err(TargetError::Protected.into());
    }
    let asked = asked(probe, file_id);
    let charge = if own.large_mtu {
        asked.data_bytes.div_ceil(BYTES_OF_CREDIT).max(1)
    } else {
        1
    };
    let repeated = EncodedCall {
        call: frame(own, &asked, charge as u16),
        reply_len: MARK_LEN + HEADER_LEN + asked.answer_len as usize,
        data_bytes: asked.data_bytes,
        in_flight: plan.in_flight.min(session.credits() / charge),
        numbers: Some(SequenceField {
            at: MESSAGE_ID_AT,
            next: session.next_message_id(),
            step: charge.into(),
        }),
    };
    exchange(&socket, repeated, time)
}

fn open(connection: &mut ConnectedShare, target: &SmbTarget) -> Result<FileId, RunError> {
    let path = share_path(target);
    let opening = CreateParams::existing(&path, ALL_OF_FILE);
    let opened = connection.call(async |link| link.open(&opening).await);
    let opened = opened.map_err(|unmet| unmet.at(&target.to_string(), "CREATE").into_run_error());
    opened.map(|opened| opened.file_id)
}

/// Returns the request of a probe for an open file.
fn asked(probe: &ProbePlan, file_id: FileId) -> Asked {
    match probe.operation {
        OpKind::GetAttr => Asked {
            command: Command::QueryInfo,
            body: attributes(file_id).to_bytes(),
            answer_len: 8 + ATTRIBUTES_LEN,
            data_bytes: 0,
        },
        OpKind::Read => Asked {
            command: Command::Read,
            body: data(file_id, probe.size_bytes).to_bytes(),
            answer_len: 16 + probe.size_bytes,
            data_bytes: probe.size_bytes,
        },
        _ => Asked {
            command: Command::Echo,
            body: echo::Request::default().to_bytes(),
            answer_len: 4,
            data_bytes: 0,
        },
    }
}

fn attributes(file_id: FileId) -> query_info::Request<'static> {
    query_info::Request {
        class: InfoClass::File(FileInfoClass::NETWORK_OPEN),
        output_buffer_length: ATTRIBUTES_LEN,
        additional_information: 0,
        flags: 0,
        file_id,
        input: &[],
    }
}

fn data(file_id: FileId, length: u32) -> read::Request<'static> {
    read::Request {
        padding: read::Request::PADDING,
        flags: read::ReadFlags::NONE,
        length,
        offset: 0,
        file_id,
        minimum_count: 0,
        channel: Channel::NONE,
        remaining_bytes: 0,
        channel_info: &[],
    }
}

/// Encodes the request in a separate frame, requesting as many credits as it uses.
fn frame(own: &Established, asked: &Asked, charge: u16) -> Vec<u8> {
    let header = Header {
        credit_charge: if own.charges { charge } else { 0 },
        credits: charge,
        route: Route::Sync {
            process_id: 0xfeff,
            tree_id: own.tree_id,
        },
        session_id: own.session_id,
        ..Header::request(asked.command, 0)
    };
    let mut bytes = Vec::new();
    let start = FrameMark::open(&mut bytes);
    header.encode(&mut Writer::new(&mut bytes));
    bytes.extend_from_slice(&asked.body);
    FrameMark::close(&mut bytes, start, 0);
    bytes
}
