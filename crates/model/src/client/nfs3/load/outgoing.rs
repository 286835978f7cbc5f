//! From a call in the link to the bytes that go out.

use crate::client::nfs3::sequence::{Call, Stretch};
use crate::client::output::{Output, Splice};
use crate::load::is_incompressible;
use crate::plan::TransportKind;
use crate::session::rpc::{Credentials, MARK_LEN, Program};
use filestone_wire::pattern::PERIOD;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{CallHeader, OpaqueAuth};
use filestone_wire::xdr::{Encode, Writer};
use std::sync::Arc;

/// From this length on data of the pattern are spliced instead of copied.
const SPLICE_MIN: usize = 1024;
/// Where the number of the procedure stands after that of the call: message type, versions of
/// RPC, program, its version.
const PROCEDURE_AT: usize = 20;

/// How calls of one program go out.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// Record mark and header, without the numbers of call and procedure.
    head: Box<[u8]>,
    transport: TransportKind,
}

/// What writes take their data from, over and over.
#[derive(Debug, Default)]
pub(super) struct WriteData {
    /// Whether they are those of the pattern.
    is_pattern: bool,
    /// Others, copied.
    copied: Vec<u8>,
}

impl WriteData {
    /// Takes these from now on.
    pub fn keep(&mut self, data: &[u8]) {
        self.is_pattern = is_incompressible(data);
        if !self.is_pattern && self.copied != data {
            self.copied.clear();
            self.copied.extend_from_slice(data);
        }
    }
}

impl Outgoing {
    /// Calls of this program by these credentials.
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

    /// Appends a call to `out`, and says how long it is, data and record mark included.
    pub fn put(
        &self,
        call: &Call,
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
        let spliced = self.put_data(call.data, data, pattern, out);
        if is_stream {
            RecordMark::close(&mut out.bytes, start, spliced);
        } else {
            out.datagrams.push(out.bytes.len());
        }
        u32::try_from(out.bytes.len() - start + spliced).unwrap_or(u32::MAX)
    }

    /// Appends file data and what fills them up; how many bytes lie elsewhere.
    fn put_data(
        &self,
        stretch: Stretch,
        data: &WriteData,
        pattern: &Arc<[u8]>,
        out: &mut Output,
    ) -> usize {
        let len = stretch.len as usize;
        let start = (stretch.at % PERIOD as u64) as usize;
        let lies_there = data.is_pattern && pattern.len() >= start + len;
        if lies_there && len >= SPLICE_MIN && self.transport == TransportKind::Tcp {
            let at = out.bytes.len();
            out.splices.push(Splice { at, start, len });
            Writer::new(&mut out.bytes).pad(len);
            return len;
        }
        let source = if data.is_pattern {
            pattern
        } else {
            &data.copied[..]
        };
        let period = if data.is_pattern {
            PERIOD.min(source.len())
        } else {
            source.len()
        };
        repeat(
            source.get(..period).unwrap_or_default(),
            stretch,
            &mut out.bytes,
        );
        Writer::new(&mut out.bytes).pad(len);
        0
    }
}

/// Appends a stretch of `source`, which is repeated over and over.
fn repeat(source: &[u8], stretch: Stretch, out: &mut Vec<u8>) {
    let end = out.len() + stretch.len as usize;
    if source.is_empty() {
        // Only a caller without data comes to that; zeros are as good.
        return out.resize(end, 0);
    }
    let start = (stretch.at % source.len() as u64) as usize;
    let mut rest = source.get(start..).unwrap_or_default();
    while out.len() < end {
        let missing = end - out.len();
        out.extend_from_slice(rest.get(..missing).unwrap_or(rest));
        rest = source;
    }
}

fn set_word(bytes: &mut [u8], at: usize, word: u32) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&word.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_go_on_in_the_next_piece_where_they_ended_in_the_last() {
        let repeated = |source: &[u8], at, len| {
            let mut out = Vec::new();
            repeat(source, Stretch { at, len }, &mut out);
            out
        };
        assert_eq!(repeated(b"abc", 0, 3), b"abc");
        assert_eq!(repeated(b"abc", 4, 2), b"bc");
        assert_eq!(repeated(b"abc", 5, 8), b"cabcabca");
        assert_eq!(repeated(b"", 0, 2), [0, 0]);
    }
}
