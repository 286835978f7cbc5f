//! Processing of received bytes into completions: checks each reply against its operation.

use super::replies::{self, ReadRequest, ReplySummary};
use super::{Asked, Nfs3Client, ReadHandling, bad_reply};
use crate::session::rpc::{RpcCall, RpcEvent, RpcExchange, RpcStreamError};
use filestone_wire::rpc::{RejectStatus, ReplyBody};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::failure::{Failure, ReplyFault, StatusSpace, accept_number};
use filestone_workload::operation::{OpKind, Operation, Outcome, ReplyInfo};
use filestone_workload::time::Timestamp;

/// Maximum length of an accepted reply: the largest READ that filestone requests with space for its
/// head, or a listing page.
pub const RECORD_MAX: usize = (4 << 20) + 4096;
/// Bytes received at a time where file data are delivered: few enough to stay in the processor's L1
/// cache until they are checked, and enough to make the system call small compared with the cost of
/// its copying.
pub const DATA_AT_A_TIME: usize = 32 << 10;
/// Record mark, RPC header, status, attributes, count, eof and length of a READ
/// reply: 4 + 24 + 4 + 4 + 84 + 12.
pub const READ_HEAD_LEN: usize = 132;

impl Nfs3Client {
    /// Handles any part of a TCP stream.
    pub(super) fn receive_stream(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), RpcStreamError> {
        let mut input = bytes;
        loop {
            while let Some((exchange, results)) = self.session.next_plain(&mut input) {
                self.asked.end(&exchange, results, now, completed);
                // In nearly all cases the input was whole replies: this check avoids the assembler,
                // which costs a tenth of the instructions between a reply and the next call. After
                // other events, an empty input can be the end of a reply delivered in pieces.
                if input.is_empty() {
                    return Ok(());
                }
            }
            let Some(event) = self.session.next(&mut input)? else {
                return Ok(());
            };
            match event {
                RpcEvent::Reply { exchange, results } => match results {
                    Ok(results) => self.asked.end(&exchange, results, now, completed),
                    Err(refusal) => self.asked.refused(&exchange, refusal, now, completed),
                },
                RpcEvent::Head {
                    call,
                    results,
                    results_len,
                } => match self.asked.begin_data(&call, results, results_len) {
                    Some(head_len) => self.session.stream(head_len, &mut input),
                    None => self.session.collect(),
                },
                RpcEvent::Data { data, end } => {
                    self.asked.look_at(data);
                    if let Some(end) = end {
                        self.asked.end_data(end.exchange, now, completed);
                    }
                }
                RpcEvent::Late => {}
            }
        }
    }

    /// Handles one datagram. A datagram that is not a reply is dropped as stray.
    pub(super) fn receive_datagram(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        match self.session.take_datagram(bytes) {
            Ok(RpcEvent::Reply { exchange, results }) => match results {
                Ok(results) => self.asked.end(&exchange, results, now, completed),
                Err(refusal) => self.asked.refused(&exchange, refusal, now, completed),
            },
            Ok(RpcEvent::Head { .. } | RpcEvent::Data { .. } | RpcEvent::Late) => {}
            Err(_) => self.session.count_late(),
        }
    }
}

impl Asked {
    /// Ends an answered operation.
    #[inline(always)]
    fn end(
        &mut self,
        exchange: &RpcExchange<OpKind>,
        results: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        let is_done = replies::is_plain_success(exchange.tag, results)
            && self.complete_alike(exchange, now, completed);
        if !is_done {
            let checked = self.check(exchange, results);
            self.complete(exchange, checked, now, completed);
        }
    }

    /// Ends an operation whose call was not executed.
    #[cold]
    fn refused(
        &self,
        exchange: &RpcExchange<OpKind>,
        refusal: ReplyBody,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        let checked = ReplySummary {
            outcome: Outcome::Failed(failure_of(refusal)),
            answer: ReplyInfo::Plain,
            data_bytes: 0,
        };
        self.complete(exchange, checked, now, completed);
    }

    #[inline]
    fn check(&mut self, exchange: &RpcExchange<OpKind>, results: &[u8]) -> ReplySummary {
        let verify = match &mut self.reading {
            ReadHandling::Verify(verify) => Some(&mut **verify),
            ReadHandling::Nothing | ReadHandling::Discard | ReadHandling::Deliver => None,
        };
        let operation = &self.operations[exchange.slot as usize];
        replies::check(operation, results, &self.shared.table, verify)
    }

    /// Checks the head of a READ reply; returns its length if the data need not be collected.
    fn begin_data(
        &mut self,
        call: &RpcCall<OpKind>,
        results: &[u8],
        results_len: usize,
    ) -> Option<usize> {
        let Operation::Read { file, offset, len } = self.operations[call.slot as usize] else {
            return None;
        };
        let table = &self.shared.table;
        let head = replies::check_read_head(
            results,
            results_len,
            ReadRequest { file, offset, len },
            table,
        );
        let (checked, head_len) = head.filter(|(_, head_len)| *head_len <= results.len())?;
        if let ReadHandling::Verify(verify) = &mut self.reading {
            if !checked.data_bytes.is_multiple_of(4) {
                // The padding of the last word is not data but zeros (RFC 4506, section 4.10).
                return None;
            }
            verify.start(file, offset);
        }
        self.streaming = Some(checked);
        Some(head_len)
    }

    /// Verifies the next part of the arriving data.
    fn look_at(&mut self, data: &[u8]) {
        if let ReadHandling::Verify(verify) = &mut self.reading {
            verify.look_at(data);
        }
    }

    /// Handles the end of a READ's data; its call may have been aborted before.
    pub(super) fn end_data(
        &mut self,
        exchange: Option<RpcExchange<OpKind>>,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        let mut checked = self.streaming.take();
        if let ReadHandling::Verify(verify) = &mut self.reading
            && !verify.end()
        {
            checked = Some(bad_reply(ReplyFault::WrongData));
        }
        if let (Some(exchange), Some(checked)) = (exchange, checked) {
            self.complete(&exchange, checked, now, completed);
        }
    }
}

fn failure_of(refusal: ReplyBody) -> Failure {
    match refusal {
        ReplyBody::Accepted(status) => StatusSpace::RpcAccept.failure(accept_number(&status)),
        ReplyBody::Denied(RejectStatus::RpcMismatch { .. }) => Failure::RPC_MISMATCH,
        ReplyBody::Denied(RejectStatus::AuthError(status)) => {
            StatusSpace::RpcDenied.failure(status.0)
        }
    }
}
