//! A stream may be cut, fragmented, repeated, mixed up or not be RPC at all.

use crate::talk::{
    PATTERNED, Setup, Talk, at, collected, fragments, record, success, success_record,
};
use filestone_protocol::client::{Client, ProtocolError};
use filestone_protocol::session::rpc::RpcStreamError;
use filestone_wire::nfs3::{Status, getattr};
use filestone_wire::xdr::Encode;
use filestone_workload::CompletionBatch;
use filestone_workload::operation::{Completion, Operation, Outcome};
use proptest::prelude::*;

const GETATTR: Operation = Operation::GetAttr { file: PATTERNED };

fn attributes() -> Vec<u8> {
    let obj_attributes = crate::discarding::ATTRIBUTES;
    getattr::Reply::Ok(obj_attributes).to_bytes()
}

fn stale() -> Vec<u8> {
    getattr::Reply::Err(Status::STALE.into()).to_bytes()
}

/// Calls in all slots, GETATTR and NULL in turn; gives their xids.
fn ask_all(talk: &mut Talk, slots: u32) -> Vec<u32> {
    (0..slots)
        .map(|slot| talk.ask_xid(slot, operation(slot), at(1)))
        .collect()
}

fn operation(slot: u32) -> Operation {
    if slot.is_multiple_of(2) {
        GETATTR
    } else {
        Operation::Null
    }
}

fn results(slot: u32) -> Vec<u8> {
    if slot.is_multiple_of(2) {
        attributes()
    } else {
        vec![]
    }
}

fn slots_of(completed: &[Completion]) -> Vec<u32> {
    assert!(completed.iter().all(|done| done.outcome == Outcome::Ok));
    completed.iter().map(|done| done.ticket.slot).collect()
}

#[test]
fn one_three_and_4096_slots_are_answered_in_any_order() {
    for slots in [1, 3, 4096] {
        let mut talk = Talk::new(&Setup::slots(slots));
        let xids = ask_all(&mut talk, slots);
        assert_eq!(talk.client.in_flight(), slots);
        let mut distinct = xids.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len() as u32, slots);
        let mut stream = Vec::new();
        for slot in (0..slots).rev() {
            stream.extend(success_record(xids[slot as usize], &results(slot)));
        }
        let completed = talk.hear(&stream, at(5)).unwrap();
        assert_eq!(slots_of(&completed), (0..slots).rev().collect::<Vec<_>>());
        assert_eq!(talk.client.in_flight(), 0);
        assert_eq!(talk.client.replies(), u64::from(slots));
        assert_eq!(talk.client.late_replies(), 0);
    }
}

#[test]
fn byte_by_byte_each_reply_ends_its_operation_with_its_last_byte() {
    for setup in [Setup::slots(3), Setup::treacherous()] {
        let mut talk = Talk::new(&setup);
        let xids = ask_all(&mut talk, 3);
        for slot in [2, 0, 1] {
            let reply = success_record(xids[slot as usize], &results(slot));
            for (index, byte) in reply.iter().enumerate() {
                let completed = talk.hear(&[*byte], at(7)).unwrap();
                let expected = usize::from(index + 1 == reply.len());
                assert_eq!(completed.len(), expected, "byte {index}");
                for done in completed {
                    assert_eq!(done.ticket.slot, slot);
                    assert_eq!(done.bytes_received as usize, reply.len());
                }
            }
        }
    }
}

#[test]
fn an_xid_that_looks_like_a_record_mark_is_none() {
    let mut talk = Talk::new(&Setup::treacherous());
    let xid = talk.ask_xid(20, Operation::Null, at(1));
    assert_eq!(xid, 0x8000_0014, "a mark of a record of 20 bytes");
    let reply = success_record(xid, &[]);
    assert!(talk.hear(&reply[..4], at(2)).unwrap().is_empty());
    assert_eq!(talk.hear_one(&reply[4..], at(3)).outcome, Outcome::Ok);
}

#[test]
fn a_reply_in_many_fragments_is_one_reply() {
    let mut talk = Talk::new(&Setup::treacherous());
    let xids = ask_all(&mut talk, 3);
    let reply = success(xids[0], &attributes());
    let (a, b) = reply.split_at(2);
    let (b, c) = b.split_at(60);
    for stream in [
        fragments(&[a, b, c]),
        fragments(&[&[], a, &[], b, c, &[]]),
        fragments(&[a, &[], &[], b, c]),
    ] {
        for cut in 0..stream.len() {
            let mut talk = Talk::new(&Setup::treacherous());
            ask_all(&mut talk, 3);
            let mut completed = talk.hear(&stream[..cut], at(2)).unwrap();
            completed.extend(talk.hear(&stream[cut..], at(2)).unwrap());
            assert_eq!(slots_of(&completed), [0], "cut at {cut}");
            // And the stream goes on behind it.
            let next = success_record(xids[2], &attributes());
            assert_eq!(talk.hear_one(&next, at(3)).ticket.slot, 2);
        }
    }
}

#[test]
fn a_second_answer_is_counted_and_ends_nothing() {
    let mut talk = Talk::new(&Setup::slots(3));
    let xids = ask_all(&mut talk, 3);
    let reply = success_record(xids[0], &attributes());
    let twice = [reply.as_slice(), &reply].concat();
    assert_eq!(slots_of(&talk.hear(&twice, at(2)).unwrap()), [0]);
    assert_eq!((talk.client.replies(), talk.client.late_replies()), (2, 1));
    // Nor does it end what the slot does next.
    let next = talk.ask_xid(0, GETATTR, at(3));
    assert_ne!(next, xids[0]);
    assert!(talk.hear(&reply, at(4)).unwrap().is_empty());
    assert_eq!(talk.client.late_replies(), 2);
    assert_eq!(talk.client.in_flight(), 3);
    let reply = success_record(next, &stale());
    assert!(matches!(
        talk.hear_one(&reply, at(5)).outcome,
        Outcome::Failed(_)
    ));
}

#[test]
fn a_reply_to_nobody_is_counted() {
    // With three slots a fourth number fits into the xid and belongs to no slot.
    let mut talk = Talk::new(&Setup::slots(3));
    let xids = ask_all(&mut talk, 3);
    for xid in [xids[0] ^ 0x8000_0000, xids[0] | 3, xids[0].wrapping_sub(4)] {
        let reply = success_record(xid, &attributes());
        assert!(talk.hear(&reply, at(2)).unwrap().is_empty());
    }
    assert_eq!((talk.client.replies(), talk.client.late_replies()), (3, 3));
    assert_eq!(talk.client.in_flight(), 3);
}

#[test]
fn a_reply_before_anything_was_asked_is_counted() {
    let mut talk = Talk::new(&Setup::slots(2));
    let reply = success_record(0, &attributes());
    assert!(talk.hear(&reply, at(2)).unwrap().is_empty());
    assert_eq!(talk.client.late_replies(), 1);
}

#[test]
fn generations_of_a_slot_wrap_around_without_a_repeated_xid() {
    // 4096 slots leave 20 bits of generation: a million calls until an xid
    // comes again, and none before.
    let mut talk = Talk::new(&Setup::slots(4096));
    let first = talk.ask_xid(9, Operation::Null, at(1));
    let mut last = first;
    for _ in 1..1 << 20 {
        let done = talk.hear_one(&success_record(last, &[]), at(2));
        assert_eq!(done.outcome, Outcome::Ok);
        last = talk.ask_xid(9, Operation::Null, at(1));
        assert_ne!(last, first);
        assert_eq!(last & 0xfff, 9);
    }
    talk.hear_one(&success_record(last, &[]), at(2));
    assert_eq!(talk.ask_xid(9, Operation::Null, at(1)), first);
    assert_eq!(talk.client.late_replies(), 0);
}

#[test]
fn what_is_no_reply_ends_the_connection() {
    let not_a_reply = record(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    let too_long = [0xff; 8];
    let http = b"HTTP/1.1 400 Bad Request\r\n\r\n";
    let short = record(&[0; 5]);
    let nothing = record(&[]);
    for (stream, is_record_error) in [
        (&not_a_reply[..], false),
        (&too_long, true),
        (http, true),
        (&short, false),
        (&nothing, false),
    ] {
        let mut talk = Talk::new(&Setup::slots(3));
        ask_all(&mut talk, 3);
        let error = talk.hear(stream, at(2)).unwrap_err();
        assert_eq!(
            matches!(error, ProtocolError::Rpc(RpcStreamError::Record(_))),
            is_record_error,
            "{error}"
        );
        // Then nothing is left in flight, and a new connection is a new stream.
        let completed = collected(|completed| talk.client.disconnected(at(3), completed));
        assert_eq!(completed.len(), 3);
        talk.client.connected(at(4), &mut talk.out);
        let xid = talk.ask_xid(1, Operation::Null, at(5));
        assert_eq!(
            talk.hear_one(&success_record(xid, &[]), at(6)).outcome,
            Outcome::Ok
        );
    }
}

#[test]
fn what_came_before_the_rubbish_is_not_lost() {
    let mut talk = Talk::new(&Setup::slots(3));
    let xids = ask_all(&mut talk, 3);
    let stream = [success_record(xids[1], &[]), vec![0xff; 4]].concat();
    let mut completed = CompletionBatch::default();
    let result = talk.client.handle_input(&stream, at(2), &mut completed);
    let completed: Vec<Completion> = completed.iter().collect();
    assert!(result.is_err());
    assert_eq!(slots_of(&completed), [1]);
}

#[test]
fn a_stray_datagram_is_dropped() {
    let mut talk = Talk::new(&Setup::udp(3));
    let xids = ask_all(&mut talk, 3);
    for stray in [&b""[..], b"\0", b"HTTP/1.1 400", &[0xff; 100]] {
        assert!(talk.hear(stray, at(2)).unwrap().is_empty());
    }
    assert_eq!(talk.client.late_replies(), 4);
    let done = talk.hear_one(&success(xids[0], &attributes()), at(3));
    assert_eq!(done.bytes_received, 24 + 4 + 84);
}

proptest! {
    #[test]
    fn several_replies_come_out_the_same_however_they_are_cut(
        order in Just((0..8_u32).collect::<Vec<_>>()).prop_shuffle(),
        cuts in prop::collection::vec(1_usize..200, 1..20),
        split in prop::collection::vec(0_usize..112, 8),
        is_treacherous in any::<bool>(),
    ) {
        let setup = if is_treacherous { Setup::treacherous() } else { Setup::slots(8) };
        let mut talk = Talk::new(&setup);
        let xids = ask_all(&mut talk, 8);
        let mut stream = Vec::new();
        for slot in &order {
            let reply = success(xids[*slot as usize], &results(*slot));
            let (front, back) = reply.split_at(split[*slot as usize].min(reply.len()));
            // A first fragment of nothing is one of the cases.
            stream.extend(fragments(&[front, back]));
        }
        let mut completed = Vec::new();
        let mut rest = stream.as_slice();
        for len in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (input, after) = rest.split_at((*len).min(rest.len()));
            completed.extend(talk.hear(input, at(2)).expect("it is the protocol"));
            rest = after;
        }
        prop_assert_eq!(slots_of(&completed), order);
    }

    #[test]
    fn rubbish_never_panics_and_never_ends_an_operation_twice(
        rubbish in prop::collection::vec(any::<u8>(), 0..2000),
        cut in 1_usize..100,
        is_stream in any::<bool>(),
    ) {
        let setup = if is_stream { Setup::slots(5) } else { Setup::udp(5) };
        let mut talk = Talk::new(&Setup { read_len: 1 << 20, ..setup });
        ask_all(&mut talk, 5);
        let mut ended = [0; 5];
        for input in rubbish.chunks(cut) {
            let mut completed = CompletionBatch::default();
            let result = talk.client.handle_input(input, at(2), &mut completed);
            completed.iter().for_each(|done| ended[done.ticket.slot as usize] += 1);
            if result.is_err() {
                prop_assert!(is_stream, "a datagram is dropped");
                break;
            }
        }
        prop_assert!(ended.iter().all(|times| *times <= 1));
    }
}
