//! Encoding of the call in the slot for sending.

use crate::client::nfs3::sequence::NfsCall;
use crate::session::rpc::{Credentials, MARK_LEN, Program};
use filestone_plan::plan::TransportKind;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{CallHeader, OpaqueAuth};
use filestone_wire::xdr::{Encode, Writer};
use filestone_workload::output::Output;
use filestone_workload::output::WriteData;
use std::sync::Arc;

/// Offset of the procedure number after the xid: message type, RPC version, program, program
/// version.
const PROCEDURE_AT: usize = 20;

/// Encoder for calls of one program.
#[derive(Debug)]
pub(super) struct CallEncoder {
    /// Record mark and header, without xid and procedure number.
    head: Box<[u8]>,
    transport: TransportKind,
}

impl CallEncoder {
    /// Creates an encoder for calls of this program with these credentials.
    pub fn new(program: Program, credentials: &Credentials, transport: TransportKind) -> Self {
        let mut head = match transport {
            TransportKind::Tcp => vec![0; MARK_LEN],
            TransportKind::Udp => Vec::new(),
        };
        let header = CallHeader {
            xid: 0,
            program: program.number,
            version: program.version,
            procedure: 0,
            credential: credentials.to_auth(),
            verifier: OpaqueAuth::NONE,
        };
        header.encode(&mut Writer::new(&mut head));
        Self {
            head: head.into_boxed_slice(),
            transport,
        }
    }

    /// Appends a call to `out` and returns its length, data and record mark included.
    pub fn put(
        &self,
        call: &NfsCall,
        xid: u32,
        data: &WriteData,
        pattern: &Arc<[u8]>,
        out: &mut Output,
    ) -> u32 {
        let start = out.bytes.len();
        let is_stream = self.transport == TransportKind::Tcp;
        let xid_at = start + if is_stream { MARK_LEN } else { 0 };
        out.bytes.extend_from_slice(&self.head);
        set_word(&mut out.bytes, xid_at, xid);
        let procedure = call.procedure.number;
        set_word(&mut out.bytes, xid_at + PROCEDURE_AT, procedure);
        out.bytes.extend_from_slice(&call.arguments);
        let len = call.data.len as usize;
        let spliced = data.put(call.data, pattern, is_stream, out);
        Writer::new(&mut out.bytes).pad(len);
        if is_stream {
            RecordMark::close(&mut out.bytes, start, spliced);
        } else {
            out.datagrams.push(out.bytes.len());
        }
        u32::try_from(out.bytes.len() - start + spliced).unwrap_or(u32::MAX)
    }
}

fn set_word(bytes: &mut [u8], at: usize, word: u32) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&word.to_be_bytes());
    }
}
