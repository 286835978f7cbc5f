//! Known-answer tests in virtual time, with a program unknown to the session.

use super::*;
use filestone_wire::rpc::{AcceptStatus, CallHeader, ReplyHeader};
use filestone_wire::xdr::Encode;

const TIMEOUT: u64 = 60_000;
const RETRANSMISSION: Retransmission = Retransmission {
    first_nanos: 1000,
    max_nanos: 3000,
};

fn options(transport: TransportKind, slots: u32) -> RpcOptions {
    RpcOptions {
        transport,
        slots,
        first_xid: 0x1234_5678,
        timeout_nanos: TIMEOUT,
        retransmission: RETRANSMISSION,
        record_max: 1 << 16,
        streamed_min: Some(100),
        head_len: 40,
    }
}

fn at(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

/// Returns a connected session whose calls have a letter as tag.
fn connected(transport: TransportKind, slots: u32) -> RpcSession<char> {
    let mut session = RpcSession::new(&options(transport, slots), '-');
    session.connected(Timestamp::ZERO, |_| panic!("no call waits"));
    session
}

fn stream(slots: u32) -> RpcSession<char> {
    connected(TransportKind::Tcp, slots)
}

/// Begins and sends a call of ten bytes; returns its xid.
fn call(session: &mut RpcSession<char>, slot: u32, tag: char, now: u64) -> u32 {
    let xid = session.start(slot, tag).expect("it is connected");
    session.enqueued(slot, 10);
    session.transmitted(at(now));
    xid
}

fn reply(xid: u32, results: &[u8]) -> Vec<u8> {
    [&ReplyHeader::success(xid).to_bytes(), results].concat()
}

fn record(message: &[u8]) -> Vec<u8> {
    let mark = RecordMark {
        last: true,
        len: message.len() as u32,
    };
    [&mark.to_bytes()[..], message].concat()
}

/// Returns the exchange and the results of a reply.
fn answered(event: RpcEvent<'_, char>) -> (RpcExchange<char>, Vec<u8>) {
    match event {
        RpcEvent::Reply { exchange, results } => (exchange, results.expect("executed").to_vec()),
        other => panic!("{other:?} is no reply"),
    }
}

/// Returns the tags of all replies in this input.
fn tags(session: &mut RpcSession<char>, input: &[u8]) -> String {
    let mut input = input;
    let mut tags = String::new();
    while let Some(event) = session.next(&mut input).expect("it is RPC") {
        tags.push(match event {
            RpcEvent::Late => '?',
            event => answered(event).0.tag,
        });
    }
    tags
}

/// Returns the tags of the calls aborted and of the calls retransmitted at this time.
fn timed_out(session: &mut RpcSession<char>, now: u64) -> (String, String) {
    let (mut given_up, mut resent) = (String::new(), String::new());
    session.handle_timeout(
        at(now),
        |exchange| given_up.push(exchange.tag),
        |call| {
            resent.push(call.tag);
            7
        },
    );
    (given_up, resent)
}

#[test]
fn replies_find_their_calls_in_any_order_and_pieces() {
    let mut session = stream(3);
    let xids = [(0, 'a'), (1, 'b'), (2, 'c')].map(|(slot, tag)| call(&mut session, slot, tag, 5));
    let input = [xids[2], xids[0], xids[1]].map(|xid| record(&reply(xid, b"results!")));
    let input = input.concat();
    let (first, rest) = input.split_at(41);
    assert_eq!(tags(&mut session, first), "c");
    assert_eq!(tags(&mut session, rest), "ab");
    assert_eq!((session.replies(), session.in_flight()), (3, 0));
}

#[test]
fn an_exchange_says_when_it_was_sent_and_how_long_it_was() {
    let mut session = stream(2);
    let xid = call(&mut session, 1, 'x', 5);
    let bytes = record(&reply(xid, b"four"));
    let mut input = bytes.as_slice();
    let event = session.next(&mut input).expect("it is RPC");
    let (exchange, results) = answered(event.expect("a reply"));
    let expected = RpcExchange {
        slot: 1,
        tag: 'x',
        usable: Timestamp::ZERO,
        sent: at(5),
        retransmissions: 0,
        bytes_sent: 10,
        bytes_received: 4 + 24 + 4,
    };
    assert_eq!((exchange, results.as_slice()), (expected, &b"four"[..]));
    let again = call(&mut session, 1, 'x', 5);
    assert_eq!(again, xid + 2, "the next generation of a slot among two");
    let bytes = record(&reply(again, b"four"));
    let plain = session.next_plain(&mut bytes.as_slice());
    assert_eq!(plain, Some((expected, &b"four"[..])));
}

#[test]
fn a_reply_to_an_older_call_of_the_slot_is_late() {
    let mut session = stream(1);
    let first = call(&mut session, 0, 'a', 5);
    let second = call(&mut session, 0, 'b', 6);
    let input = [first, second, second].map(|xid| record(&reply(xid, &[])));
    assert_eq!(tags(&mut session, &input.concat()), "?b?");
    assert_eq!((session.replies(), session.late_replies()), (3, 2));
}

#[test]
fn a_call_from_the_server_is_an_error() {
    let mut session = stream(1);
    call(&mut session, 0, 'a', 5);
    let header = CallHeader {
        xid: 9,
        program: 0x4000_0000,
        version: 1,
        procedure: 1,
        credential: filestone_wire::rpc::Credential::None,
        verifier: filestone_wire::rpc::OpaqueAuth::NONE,
    };
    let bytes = record(&header.to_bytes());
    let no_reply = DecodeError::BadDiscriminant {
        field: "msg_type",
        value: 0,
    };
    let received = session.next(&mut bytes.as_slice());
    assert_eq!(received, Err(RpcStreamError::Reply(no_reply)));
    assert_eq!(session.in_flight(), 1);
}

#[test]
fn what_was_not_executed_says_why() {
    let mut session = stream(1);
    let xid = call(&mut session, 0, 'a', 5);
    let refusal = ReplyHeader::accepted(xid, AcceptStatus::ProcUnavail).to_bytes();
    match session.take_datagram(&refusal) {
        Ok(RpcEvent::Reply { results, .. }) => {
            assert_eq!(results, Err(ReplyBody::Accepted(AcceptStatus::ProcUnavail)));
        }
        other => panic!("{other:?}"),
    }
    assert!(session.take_datagram(b"HTTP/1.1 400 Bad").is_err());
}

#[test]
fn a_long_reply_is_streamed_if_its_owner_says_so() {
    for collects in [false, true] {
        let mut session = stream(1);
        let xid = call(&mut session, 0, 'a', 5);
        let bytes = record(&reply(xid, &[b"head", [7; 200].as_slice()].concat()));
        let mut input = &bytes[..60];
        match session.next(&mut input) {
            Ok(Some(RpcEvent::Head {
                call,
                results,
                results_len,
            })) => {
                assert_eq!((call.tag, results_len), ('a', 204));
                assert!(results.starts_with(b"head\x07"));
            }
            other => panic!("{other:?}"),
        }
        if collects {
            session.collect();
            assert_eq!(tags(&mut session, input), "");
            assert_eq!(tags(&mut session, &bytes[60..]), "a");
            continue;
        }
        session.stream(4, &mut input);
        assert_eq!(session.streamed_len(), 200);
        let data = RpcEvent::Data {
            data: &[7; 28],
            end: None,
        };
        assert_eq!(session.next(&mut input), Ok(Some(data)));
        assert_eq!(session.passed_over(171), None);
        let end = session.passed_over(1).expect("the last byte");
        let exchange = end.exchange.expect("the call is still there");
        assert_eq!(exchange.bytes_received as usize, bytes.len());
        assert_eq!((session.streamed_len(), session.in_flight()), (0, 0));
    }
}

#[test]
fn a_call_is_given_up_at_its_time_out() {
    let mut session = stream(2);
    call(&mut session, 0, 'a', 5);
    call(&mut session, 1, 'b', 9);
    assert_eq!(session.poll_timeout(), at(TIMEOUT + 5));
    assert_eq!(timed_out(&mut session, TIMEOUT + 4), <_>::default());
    assert_eq!(timed_out(&mut session, TIMEOUT + 5).0, "a");
    assert_eq!(timed_out(&mut session, TIMEOUT + 9).0, "b");
    assert_eq!(session.poll_timeout(), Timestamp::MAX);
}

#[test]
fn datagrams_are_sent_again_with_pauses_that_double_up_to_a_bound() {
    let mut session = connected(TransportKind::Udp, 1);
    let xid = call(&mut session, 0, 'a', 0);
    let mut again = Vec::new();
    while session.poll_timeout() < at(TIMEOUT) && again.len() < 5 {
        let now = session.poll_timeout().nanos();
        assert_eq!(timed_out(&mut session, now).1, "a");
        again.push(now);
    }
    assert_eq!(again, [1000, 3000, 6000, 9000, 12_000]);
    let datagram = reply(xid, &[]);
    let (exchange, _) = answered(session.take_datagram(&datagram).expect("a reply"));
    assert_eq!(
        (exchange.retransmissions, exchange.bytes_sent),
        (5, 10 + 35)
    );
    assert_eq!((exchange.sent, exchange.bytes_received), (at(0), 24));
}

#[test]
fn after_a_loss_calls_end_or_go_out_again_as_they_were() {
    let mut session = stream(3);
    let xid = call(&mut session, 1, 'a', 5);
    session.start(2, 'b');
    session.enqueued(2, 10);
    let mut ended = String::new();
    session.disconnected(|exchange| ended.push(exchange.tag));
    assert_eq!(ended, "a", "the other one was never sent");
    let mut sent = String::new();
    session.connected(at(50), |call| {
        sent.push(call.tag);
        10
    });
    assert_eq!(sent, "b");
    session.transmitted(at(51));
    session.take_back();
    assert_eq!(session.in_flight(), 0);
    assert_eq!(session.start(0, 'c'), None, "there is no connection");
    let mut xids = Vec::new();
    session.connected(at(90), |call| {
        xids.push((call.tag, call.xid));
        10
    });
    session.transmitted(at(91));
    let (b, c) = (xids[1].1, xids[0].1);
    assert_eq!(xids, [('c', c), ('b', b)]);
    let (b, _) = answered(session.take_datagram(&reply(b, &[])).expect("a reply"));
    assert_eq!((b.retransmissions, b.usable, b.sent), (1, at(90), at(91)));
    let (c, _) = answered(session.take_datagram(&reply(c, &[])).expect("a reply"));
    assert_eq!((c.retransmissions, c.bytes_sent), (0, 10));
    assert_eq!(session.take_datagram(&reply(xid, &[])), Ok(RpcEvent::Late));
}

#[test]
fn what_was_never_sent_is_given_up_at_the_end() {
    let mut session = RpcSession::new(&options(TransportKind::Tcp, 2), '-');
    assert_eq!(session.start(1, 'w'), None);
    let mut given_up = String::new();
    session.abort(|exchange| given_up.push(exchange.tag));
    assert_eq!((given_up.as_str(), session.in_flight()), ("w", 0));
}
