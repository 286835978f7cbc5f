//! Responses: their headers, signatures and encryption, and requests that wait.

use super::{Answering, COMMAND_AT, CloseConnection, Frames, Last, Run};
use crate::reply::ReplySink;
use crate::smb2::connection::{Waiting, WaitingFor};
use crate::smb2::exchange::{Answered, CommandFailure};
use filestone_protection::Preauth;
use filestone_wire::smb2::codec::{Encode, Writer};
use filestone_wire::smb2::compound;
use filestone_wire::smb2::transform::TRANSFORM_HEADER_LEN;
use filestone_wire::smb2::{
    Command, ErrorResponse, HEADER_LEN, Header, HeaderFlags, Route, Status,
};

impl Frames<'_> {
    /// Completes a response; returns whether to process the messages after it.
    pub(super) fn respond(
        &mut self,
        run: &mut Run<'_>,
        mut answering: Answering<'_>,
        answered: Answered,
        sink: &mut ReplySink,
    ) -> Result<bool, CloseConnection> {
        if answering.resumed.is_none() && matches!(answered, Err(CommandFailure::Wait(_))) {
            answering.start = self.set_apart(run, answering.start, sink);
        }
        let Answering {
            message,
            start,
            resumed,
            ..
        } = answering;
        let mut route = match resumed {
            Some(id) => Route::Async(id),
            None => Route::Sync {
                process_id: match message.header.route {
                    Route::Sync { process_id, .. } => process_id,
                    Route::Async(_) => 0,
                },
                tree_id: run.chain.tree_id,
            },
        };
        let error = |sink: &mut ReplySink, data: &[u8]| {
            sink.bytes_mut().truncate(start + HEADER_LEN);
            let body = ErrorResponse {
                context_count: 0,
                data,
            };
            body.encode(&mut Writer::new(sink.bytes_mut()));
        };
        let mut goes_on = true;
        let status = match answered {
            Ok(status) => status,
            Err(CommandFailure::Status(status)) => {
                error(sink, &[]);
                status
            }
            Err(CommandFailure::WithData(status, data)) => {
                error(sink, &data);
                status
            }
            Err(CommandFailure::Wait(waits_for)) => {
                if let Some(waiting) = resumed.and_then(|id| self.connection.waiting.get_mut(&id)) {
                    waiting.waits_for = waits_for;
                    run.waits_on = true;
                    sink.bytes_mut().truncate(start);
                    return Ok(false);
                }
                let id = self.wait(run, &answering, waits_for);
                route = Route::Async(id);
                error(sink, &[]);
                goes_on = false;
                Status::PENDING
            }
            Err(CommandFailure::Silent) => {
                take_back_response(run, start, sink);
                return Ok(true);
            }
            Err(CommandFailure::Hangup) => return Err(CloseConnection),
        };
        self.put_header(run, &answering, status, route, sink);
        Ok(goes_on)
    }

    fn put_header(
        &mut self,
        run: &mut Run<'_>,
        answering: &Answering<'_>,
        status: Status,
        route: Route,
        sink: &mut ReplySink,
    ) {
        let (header, start) = (answering.message.header, answering.start);
        let session_id = run.chain.session_id;
        let session = self.connection.sessions.get(&session_id);
        let is_final = matches!(route, Route::Async(_)) && status != Status::PENDING;
        let is_setup = header.command == Command::SessionSetup && status == Status::SUCCESS;
        let is_signed = run.sealed.is_none()
            && session.is_some_and(|session| {
                let wants =
                    header.flags.contains(HeaderFlags::SIGNED) || session.must_sign || is_setup;
                wants && session.keys.is_some()
            });
        let mut flags = HeaderFlags::RESPONSE;
        for flag in [HeaderFlags::RELATED, HeaderFlags::PRIORITY] {
            flags = flags.with(HeaderFlags(header.flags.0 & flag.0));
        }
        if is_signed {
            flags = flags.with(HeaderFlags::SIGNED);
        }
        let credits = if is_final || run.fault_action.no_credits {
            0
        } else {
            self.connection.window.grant(header.credits)
        };
        let response = Header {
            credit_charge: header.credit_charge,
            status,
            command: header.command,
            credits,
            flags,
            next_command: 0,
            message_id: header.message_id,
            route,
            session_id,
            signature: [0; 16],
        };
        write_header(sink, start, &response);
        if let Some(command) = run.unknown {
            let field = start + COMMAND_AT..start + COMMAND_AT + command.len();
            if let Some(field) = sink.bytes_mut().get_mut(field) {
                field.copy_from_slice(&command);
            }
        }
        let before = run.last.replace(Last {
            start,
            end: sink.bytes_mut().len(),
            session_id,
            is_signed,
            command: header.command,
            status,
        });
        if let Some(before) = before {
            self.finish(before, start, sink);
        }
    }

    /// Stores a waiting request and all messages after it in its frame; returns its AsyncId.
    pub(super) fn wait(
        &mut self,
        run: &Run<'_>,
        answering: &Answering<'_>,
        waits_for: WaitingFor,
    ) -> u64 {
        let chain = answering.before;
        self.connection.last_async_id += 1;
        let id = self.connection.last_async_id;
        let waiting = Waiting {
            message_id: answering.message.header.message_id,
            session_id: chain.session_id,
            messages: run
                .messages
                .get(answering.offset..)
                .unwrap_or_default()
                .to_vec(),
            chain,
            is_encrypted: run.sealed.is_some(),
            waits_for,
        };
        self.connection.waiting.insert(id, waiting);
        id
    }

    /// Ends the frame before an interim response at `start`, and returns the offset of the response
    /// in a new frame. Linux's client (6.1) loses the responses before an interim response in an
    /// encrypted frame, and waits for them forever.
    fn set_apart(&mut self, run: &mut Run<'_>, start: usize, sink: &mut ReplySink) -> usize {
        if run.last.is_none() {
            return start;
        }
        take_back_response(run, start, sink);
        self.end_responses(run, sink);
        run.last = None;
        begin_responses(run, sink);
        begin_response(run, sink)
    }

    /// Signs a response up to `end`, and adds it to the preauthentication hash if keys depend on
    /// it: the message after it is now known.
    pub(super) fn finish(&mut self, response: Last, end: usize, sink: &mut ReplySink) {
        let bytes = sink.bytes_mut().get_mut(response.start..end);
        let bytes = bytes.unwrap_or_default();
        let session = self.connection.sessions.get_mut(&response.session_id);
        if response.is_signed
            && let Some(keys) = session.as_ref().and_then(|session| session.keys.as_ref())
        {
            keys.signer.sign(bytes);
        }
        let hash = |preauth: &mut Preauth| preauth.add(bytes);
        match response.command {
            Command::Negotiate if response.status == Status::SUCCESS => {
                hash(&mut self.connection.preauth);
            }
            Command::SessionSetup if response.status == Status::MORE_PROCESSING_REQUIRED => {
                if let Some(session) = session.filter(|session| !session.is_valid()) {
                    hash(&mut session.preauth);
                }
            }
            _ => {}
        }
    }

    /// Encrypts the messages in the sink from `frame` on, after the space for the header.
    pub(super) fn seal(&mut self, session_id: u64, frame: usize, sink: &mut ReplySink) {
        let Some(session) = self.connection.sessions.get_mut(&session_id) else {
            return;
        };
        let keys = session.keys.as_ref();
        if let Some(sealer) = keys.and_then(|keys| keys.sealer.as_ref()) {
            session.nonce += 1;
            let bytes = sink.bytes_mut().get_mut(frame..).unwrap_or_default();
            sealer.seal(session.nonce, session_id, bytes);
        }
    }
}

/// Starts a frame of responses.
pub(super) fn begin_responses(run: &mut Run<'_>, sink: &mut ReplySink) {
    sink.begin_record();
    run.frame = sink.bytes_mut().len();
    if run.sealed.is_some() {
        sink.extend(&[0; TRANSFORM_HEADER_LEN]);
    }
}

/// Starts a response with space for its header, linked to the previous one; returns its offset.
pub(super) fn begin_response(run: &Run<'_>, sink: &mut ReplySink) -> usize {
    if let Some(last) = run.last {
        compound::link(sink.bytes_mut(), last.start);
    }
    let start = sink.bytes_mut().len();
    sink.extend(&[0; HEADER_LEN]);
    start
}

/// Removes the response started at `start`.
fn take_back_response(run: &Run<'_>, start: usize, sink: &mut ReplySink) {
    let end = run.last.map_or(start, |last| last.end);
    sink.bytes_mut().truncate(end);
    if let Some(last) = run.last {
        compound::unlink(sink.bytes_mut(), last.start);
    }
}

pub(super) fn write_header(sink: &mut ReplySink, start: usize, header: &Header) {
    let tail = sink.bytes_mut().get_mut(start..);
    if let Some(place) = tail.and_then(|tail| tail.first_chunk_mut()) {
        *place = header.to_array();
    }
}
