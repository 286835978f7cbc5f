//! SMB servers that are none, or do what no server may.

use super::{MS, check};
use crate::support::smb_peer::{Reaction, frame, header_to, listen, message, negotiated, serve};
use filestone_host::control::NoObserver;
use filestone_host::error::{ErrorCategory, RunError};
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{ArrivalsPlan, Plan, SmbTarget, TargetPlan};
use filestone_wire::smb2::codec::Text;
use filestone_wire::smb2::compound::append;
use filestone_wire::smb2::frame::FRAME_MAX;
use filestone_wire::smb2::info::{DirectoryClass, DirectoryWriter, Entry, ShortName};
use filestone_wire::smb2::negotiate;
use filestone_wire::smb2::session_setup::{self, SessionFlags};
use filestone_wire::smb2::transform::TransformHeader;
use filestone_wire::smb2::{
    Command, Dialect, ErrorResponse, FileAttributes, FileTime, Header, Route, Status, echo,
    query_directory,
};
use filestone_workload::operation::OpKind;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// However a server behaves, a run of ten ECHOs with a time-out of 300 ms is over by then.
const LIMIT: Duration = Duration::from_secs(15);

pub(super) fn any_plan(address: SocketAddr) -> Plan {
    let mut plan = crate::support::plan(ArrivalsPlan::Closed, 2, 1);
    plan.probe_mut().expect("a probe").operation = OpKind::Null;
    plan.duration_ns = None;
    plan.count = Some(10);
    plan.timeout_ns = 300 * MS;
    plan.target = TargetPlan::Smb(SmbTarget {
        port: Some(address.port()),
        ..SmbTarget::new("127.0.0.1", "share")
    });
    plan
}

/// What comes of a run, which must not take for ever.
pub(super) fn outcome(plan: &Plan) -> Result<RunRecord, RunError> {
    let start = Instant::now();
    let stop = AtomicBool::new(false);
    let outcome = crate::support::entry::run(plan, None, &stop, &mut NoObserver);
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    outcome.inspect(check)
}

/// The text of the error of a run that is not made.
fn error_at(address: SocketAddr) -> String {
    match outcome(&any_plan(address)) {
        Ok(record) => unreachable!("this is no server, but {:?}", record.totals.ledger),
        Err(error) => {
            assert_eq!(error.category(), ErrorCategory::Target, "{error}");
            error.to_string()
        }
    }
}

/// Of a run that is made, none of whose operations succeeds; or of one that is not made.
fn nothing_succeeds(address: SocketAddr) {
    match outcome(&any_plan(address)) {
        Ok(record) => assert_eq!(record.totals.ledger.ok, 0),
        Err(error) => assert_eq!(error.category(), ErrorCategory::Target, "{error}"),
    }
}

/// A server that does this about one command, and else what is usual.
fn at(
    command: Command,
    reaction: impl Fn(&Header) -> Reaction + Send + Sync + 'static,
) -> SocketAddr {
    serve(move |asked| {
        if asked.command == command {
            reaction(asked)
        } else {
            Reaction::Usual
        }
    })
}

/// The answer to a command that is a frame with this message.
fn instead(
    command: Command,
    answer: impl Fn(&Header) -> Vec<u8> + Send + Sync + 'static,
) -> SocketAddr {
    at(command, move |asked| Reaction::Bytes(frame(&answer(asked))))
}

fn negotiating(change: fn(&mut negotiate::Response<'_>)) -> SocketAddr {
    instead(Command::Negotiate, move |asked| {
        let mut response = negotiated(Dialect::SMB_2_1);
        change(&mut response);
        message(asked, Status::SUCCESS, &response)
    })
}

#[test]
fn the_peer_itself_is_a_server() {
    let record = outcome(&any_plan(serve(|_| Reaction::Usual))).expect("the run is made");
    assert_eq!(record.totals.ledger.ok, 10);
}

#[test]
fn silence_is_waited_out_no_longer_than_the_time_out() {
    let start = Instant::now();
    let error = error_at(listen(std::mem::forget));
    // The time-out, and how long it takes to be noticed: no address is waited for twice.
    assert!(
        start.elapsed() < Duration::from_secs(3),
        "{:?}",
        start.elapsed()
    );
    assert!(
        error.contains(": NEGOTIATE: no answer within 300ms"),
        "{error}"
    );
    for (command, name) in [
        (Command::SessionSetup, "SESSION_SETUP"),
        (Command::TreeConnect, "TREE_CONNECT"),
        (Command::Create, "CREATE+CLOSE"),
    ] {
        let error = error_at(at(command, |_| Reaction::Silence));
        let said = format!(": {name}: no answer within 300ms");
        assert!(error.contains(&said), "{error}");
    }
}

#[test]
fn a_server_that_hangs_up_is_said_to_at_every_step() {
    for command in [
        Command::Negotiate,
        Command::SessionSetup,
        Command::TreeConnect,
        Command::Create,
    ] {
        let error = error_at(at(command, |_| Reaction::HangUp));
        assert!(error.contains("closed the connection"), "{error}");
    }
}

fn after_a_request(answer: &'static [u8]) -> SocketAddr {
    listen(move |mut stream| {
        let mut request = [0; 1024];
        let _ = stream.read(&mut request);
        let _ = stream.write_all(answer);
    })
}

#[test]
fn a_web_server_does_not_speak_smb2() {
    let error = error_at(after_a_request(
        b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
    ));
    assert!(error.contains("does not speak SMB2"), "{error}");
    assert!(error.contains("HTTP/1.1 400"), "{error}");
}

#[test]
fn neither_does_a_server_of_onc_rpc() {
    // A record mark, an xid, REPLY, MSG_DENIED.
    let error = error_at(after_a_request(&[
        0x80, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1,
    ]));
    assert!(!error.is_empty());
}

#[test]
fn a_dialect_that_was_not_offered_is_refused() {
    let error = error_at(negotiating(|response| response.dialect = Dialect(0x0999)));
    assert!(error.contains("chose dialect"), "{error}");
}

#[test]
fn a_server_that_reads_nothing_is_refused() {
    let error = error_at(negotiating(|response| response.max_read_size = 0));
    assert!(error.contains("reads of 0 bytes"), "{error}");
}

#[test]
fn what_lies_outside_of_a_message_is_not_looked_at() {
    // SecurityBufferOffset and SecurityBufferLength of NEGOTIATE, of SESSION_SETUP.
    let error = error_at(at(Command::Negotiate, |_| {
        Reaction::Changed(|message| message[64 + 56..64 + 60].fill(0xff))
    }));
    assert!(!error.is_empty());
    let error = error_at(at(Command::SessionSetup, |_| {
        Reaction::Changed(|message| message[64 + 4..64 + 8].fill(0xff))
    }));
    assert!(!error.is_empty());
}

#[test]
fn a_message_cut_anywhere_is_none() {
    let cut = |command: Command, to: usize| {
        instead(command, move |asked| {
            let response = negotiated(Dialect::SMB_2_1);
            let mut whole = message(asked, Status::SUCCESS, &response);
            whole.truncate(to);
            whole
        })
    };
    for to in [0, 1, 4, 40, 63, 64, 70, 100] {
        let error = error_at(cut(Command::Negotiate, to));
        assert!(!error.is_empty());
    }
}

#[test]
fn a_chain_of_messages_that_leads_out_of_its_frame_is_an_error() {
    nothing_succeeds(instead(Command::Echo, |asked| {
        let mut bytes = message(asked, Status::SUCCESS, &echo::Response {});
        // NextCommand.
        bytes[20..24].copy_from_slice(&0xffff_fff8_u32.to_le_bytes());
        bytes
    }));
}

#[test]
fn a_chain_as_long_as_a_frame_may_be_is_followed_once() {
    nothing_succeeds(instead(Command::Echo, |asked| {
        let link = 72;
        let stranger = Header {
            next_command: link,
            message_id: asked.message_id + 1_000_000,
            ..header_to(asked, Status::SUCCESS)
        };
        let mut one = Vec::new();
        append(&mut one, &stranger, &echo::Response {});
        one.resize(link as usize, 0);
        one.repeat(FRAME_MAX / link as usize)
    }));
}

/// An interim response, after which nothing comes.
fn pending(asked: &Header) -> Vec<u8> {
    let interim = Header {
        route: Route::Async(99),
        ..header_to(asked, Status::PENDING)
    };
    let mut bytes = Vec::new();
    append(&mut bytes, &interim, &ErrorResponse::default());
    bytes
}

#[test]
fn what_stays_pending_times_out() {
    for command in [Command::TreeConnect, Command::Create] {
        let error = error_at(instead(command, pending));
        assert!(error.contains("no answer within 300ms"), "{error}");
    }
    nothing_succeeds(instead(Command::Echo, pending));
}

#[test]
fn a_server_that_says_pending_again_and_again_is_not_waited_for() {
    nothing_succeeds(instead(Command::Echo, |asked| {
        let mut bytes = Vec::new();
        for _ in 0..1000 {
            bytes.extend(frame(&pending(asked)));
        }
        // The last of them gets its mark where this is sent.
        bytes.split_off(4)
    }));
}

#[test]
fn a_server_that_grants_no_credit_leaves_nothing_to_ask_with() {
    let address = serve(|_| {
        Reaction::Changed(|message| {
            // CreditResponse.
            message[14..16].fill(0);
        })
    });
    nothing_succeeds(address);
}

#[test]
fn credits_that_run_out_in_a_run_end_it() {
    let address = at(Command::Echo, |_| {
        Reaction::Changed(|message| message[14..16].fill(0))
    });
    let outcome = outcome(&any_plan(address));
    if let Ok(record) = outcome {
        assert_eq!(record.totals.ledger.missing(), 0);
    }
}

/// What is said to be encrypted, as long as a number can say.
fn forged(_: &Header) -> Vec<u8> {
    let header = TransformHeader {
        signature: [9; 16],
        nonce: [9; 16],
        original_message_size: u32::MAX,
        flags: TransformHeader::ENCRYPTED,
        session_id: 7,
    };
    [&header.bytes()[..], &[0; 64]].concat()
}

#[test]
fn what_claims_to_be_encrypted_is_not_believed() {
    for command in [Command::Negotiate, Command::TreeConnect, Command::Create] {
        let error = error_at(instead(command, forged));
        assert!(!error.is_empty());
    }
    nothing_succeeds(instead(Command::Echo, forged));
}

#[test]
fn a_frame_of_16_mb_is_no_answer() {
    let zeros = || vec![0; FRAME_MAX];
    let error = error_at(instead(Command::Negotiate, move |_| zeros()));
    assert!(!error.is_empty());
    nothing_succeeds(instead(Command::Echo, move |_| zeros()));
    // Those that are announced, and do not come: one that no server has a reason to send, and one
    // that could be an answer.
    let announced = |mark: [u8; 4]| {
        let bytes = [&mark[..], b"\xfeSMB"].concat();
        error_at(at(Command::Negotiate, move |_| {
            Reaction::Bytes(bytes.clone())
        }))
    };
    let error = announced([0, 0xff, 0xff, 0xff]);
    assert!(error.contains("16777215 bytes or more"), "{error}");
    let error = announced([0, 0x7f, 0xff, 0xff]);
    assert!(error.contains("no answer within 300ms"), "{error}");
}

#[test]
fn an_answer_to_what_was_not_asked_is_none() {
    for command in [Command::Negotiate, Command::SessionSetup, Command::Echo] {
        nothing_succeeds(instead(command, |asked| {
            let stranger = Header {
                message_id: asked.message_id + 77,
                ..*asked
            };
            message(&stranger, Status::SUCCESS, &echo::Response {})
        }));
    }
}

#[test]
fn a_request_is_no_response() {
    nothing_succeeds(instead(Command::Echo, |asked| {
        let mut bytes = Vec::new();
        append(&mut bytes, asked, &echo::Request {});
        bytes
    }));
}

#[test]
fn authentication_without_end_is_given_up() {
    let error = error_at(instead(Command::SessionSetup, |asked| {
        let again = session_setup::Response {
            session_flags: SessionFlags::NONE,
            security_buffer: &[0xa1, 0x02, 0x30, 0x00],
        };
        message(asked, Status::MORE_PROCESSING_REQUIRED, &again)
    }));
    assert!(!error.is_empty());
}

/// The same page of a listing, however often it is asked for.
fn one_page(asked: &Header) -> Vec<u8> {
    page_of(asked, &["a", "b"])
}

/// A page of a listing.
pub(super) fn page_of(asked: &Header, names: &[&str]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut writer = DirectoryWriter::new(&mut data, DirectoryClass::IdBothDirectory, 4096);
    for name in names {
        let no_time = FileTime { ticks: 0 };
        assert!(writer.append(&Entry {
            file_index: 0,
            creation_time: no_time,
            last_access_time: no_time,
            last_write_time: no_time,
            change_time: no_time,
            end_of_file: 1,
            allocation_size: 1,
            file_attributes: FileAttributes::NORMAL,
            ea_size: 0,
            short_name: ShortName::default(),
            file_id: 1,
            name: Text::from(*name),
        }));
    }
    message(
        asked,
        Status::SUCCESS,
        &query_directory::Response { data: &data },
    )
}

#[test]
fn a_listing_whose_last_page_comes_again_is_given_up_before_and_in_a_run() {
    let address = instead(Command::QueryDirectory, one_page);
    let mut plan = any_plan(address);
    let probe = plan.probe_mut().expect("a probe");
    (probe.operation, probe.files_max) = (OpKind::GetAttr, 1_000_000);
    let error = outcome(&plan).expect_err("it never ends").to_string();
    assert!(error.contains("the listing leads in a circle"), "{error}");
    plan.probe_mut().expect("a probe").operation = OpKind::ReadDir;
    plan.in_flight = 1;
    let record = outcome(&plan).expect("a record");
    // Each listing begins again after the page that came twice.
    let ledger = &record.totals.ledger;
    assert_eq!((ledger.ok, ledger.failed), (5, 5), "{ledger:?}");
}
