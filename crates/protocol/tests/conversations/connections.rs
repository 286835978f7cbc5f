//! Connections that are not there yet, are lost, and come back.

use crate::talk::{
    PATTERNED, Setup, Talk, UNKNOWN, at, collected, pattern_at, success_record, xid_of,
};
use filestone_protocol::client::Client;
use filestone_workload::CompletionBatch;
use filestone_workload::operation::{Operation, Outcome};
use filestone_workload::time::Timestamp;

const GETATTR: Operation = Operation::GetAttr { file: PATTERNED };

#[test]
fn what_is_asked_before_the_connection_is_up_is_sent_when_it_is() {
    let mut talk = Talk::unconnected(&Setup::slots(3));
    talk.submit(0, Operation::Null);
    talk.submit(2, GETATTR);
    assert!(talk.out.is_empty());
    assert_eq!(talk.client.in_flight(), 0);
    talk.client.connected(at(70), &mut talk.out);
    let calls = talk.take_messages();
    assert_eq!(calls.len(), 2);
    talk.client.transmitted(at(80));
    assert_eq!(talk.client.in_flight(), 2);
    let done = talk.hear_one(&success_record(xid_of(&calls[0]), &[]), at(90));
    assert_eq!(
        (done.usable, done.sent, done.done),
        (at(70), at(80), at(90))
    );
    assert_eq!(done.ticket.slot, 0);
}

#[test]
fn a_lost_connection_takes_along_what_was_sent_and_nothing_else() {
    let mut talk = Talk::new(&Setup::slots(4));
    let sent = talk.ask_xid(0, Operation::Null, at(10));
    let answered = talk.ask_xid(1, Operation::Null, at(20));
    talk.hear_one(&success_record(answered, &[]), at(25));
    // Queued: in the output, but not with the operating system.
    talk.submit(2, GETATTR);
    let completed = collected(|completed| talk.client.disconnected(at(30), completed));
    talk.out.clear();
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0].ticket.slot, 0);
    assert_eq!(completed[0].outcome, Outcome::Disconnected);
    assert_eq!((completed[0].sent, completed[0].done), (at(10), at(30)));
    assert_eq!(talk.client.in_flight(), 0);
    // Waiting: asked for while there is no connection.
    talk.submit(3, Operation::Null);
    assert!(talk.out.is_empty());
    // Neither times out: their clock starts when they are sent.
    assert!(talk.time_out(Timestamp::MAX).is_empty());

    talk.client.connected(at(1000), &mut talk.out);
    let calls = talk.take_messages();
    talk.client.transmitted(at(1010));
    assert_eq!(calls.len(), 2);
    // An old reply cannot come over a new connection, but would be noticed.
    assert!(
        talk.hear(&success_record(sent, &[]), at(1020))
            .unwrap()
            .is_empty()
    );
    assert_eq!(talk.client.late_replies(), 1);
    let done = talk.hear_one(&success_record(xid_of(&calls[1]), &[]), at(1030));
    assert_eq!(done.ticket.slot, 3);
    assert_eq!((done.usable, done.sent), (at(1000), at(1010)));
    assert_eq!(done.bytes_sent, 44);
    let attributes = [&[0; 4][..], &[0, 0, 0, 1], &[0; 80]].concat();
    let done = talk.hear_one(&success_record(xid_of(&calls[0]), &attributes), at(1040));
    assert_eq!(done.ticket.slot, 2);
    assert_eq!(done.outcome, Outcome::Ok);
    // Bytes that were never sent are not counted.
    assert_eq!(done.bytes_sent as usize, 4 + calls[0].len());
}

#[test]
fn half_a_record_is_forgotten_with_its_connection() {
    let mut talk = Talk::new(&Setup::slots(2));
    let xid = talk.ask_xid(0, Operation::Null, at(1));
    let reply = success_record(xid, &[]);
    for cut in 1..reply.len() {
        let mut talk = Talk::new(&Setup::slots(2));
        talk.ask(0, Operation::Null, at(1));
        assert!(talk.hear(&reply[..cut], at(2)).unwrap().is_empty());
        talk.client
            .disconnected(at(3), &mut CompletionBatch::default());
        talk.client.connected(at(4), &mut talk.out);
        let next = talk.ask_xid(0, Operation::Null, at(5));
        let done = talk.hear_one(&success_record(next, &[]), at(6));
        assert_eq!(done.outcome, Outcome::Ok);
    }
}

#[test]
fn a_read_that_is_cut_off_at_any_byte_leaves_nothing_behind() {
    const LEN: u32 = 200;
    let setup = Setup {
        verify: true,
        read_len: LEN,
        ..Setup::slots(1)
    };
    let offset = 4096;
    let results = [
        &[0; 8][..],
        &LEN.to_be_bytes(),
        &[0; 4],
        &LEN.to_be_bytes(),
        &pattern_at(offset, LEN as usize),
    ]
    .concat();
    for file in [PATTERNED, UNKNOWN] {
        let read = Operation::Read {
            file,
            offset,
            len: LEN,
        };
        for cut in 0..results.len() + 28 {
            for piece in [1, 50, usize::MAX] {
                let mut talk = Talk::new(&setup);
                let reply = success_record(talk.ask_xid(0, read, at(1)), &results);
                for bytes in reply[..cut].chunks(piece) {
                    assert!(talk.hear(bytes, at(2)).unwrap().is_empty());
                }
                let lost = collected(|completed| talk.client.disconnected(at(3), completed));
                assert_eq!(lost[0].outcome, Outcome::Disconnected);
                talk.client.connected(at(4), &mut talk.out);
                let reply = success_record(talk.ask_xid(0, read, at(5)), &results);
                let pieces = reply.chunks(piece);
                let ended: Vec<_> = pieces
                    .flat_map(|bytes| talk.hear(bytes, at(6)).unwrap())
                    .collect();
                let outcomes: Vec<Outcome> = ended.iter().map(|done| done.outcome).collect();
                assert_eq!(outcomes, [Outcome::Ok], "{file:?} cut at {cut} by {piece}");
            }
        }
    }
}

#[test]
fn what_was_never_sent_is_skipped_when_the_run_is_over() {
    let mut talk = Talk::new(&Setup::slots(4));
    talk.ask(0, Operation::Null, at(1));
    talk.submit(1, Operation::Null);
    let completed = collected(|completed| talk.client.abort(at(9), completed));
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0].ticket.slot, 1);
    assert_eq!(completed[0].outcome, Outcome::Skipped);
    let completed = collected(|completed| talk.client.disconnected(at(10), completed));
    assert_eq!(completed[0].outcome, Outcome::Disconnected);
    talk.submit(2, Operation::Null);
    let completed = collected(|completed| talk.client.abort(at(11), completed));
    assert_eq!(completed[0].outcome, Outcome::Skipped);
    let completed = collected(|completed| talk.client.abort(at(12), completed));
    assert!(completed.is_empty());
}

#[test]
fn a_datagram_client_reconnects_like_any_other() {
    let mut talk = Talk::new(&Setup::udp(2));
    talk.ask(0, Operation::Null, at(1));
    let completed = collected(|completed| talk.client.disconnected(at(2), completed));
    assert_eq!(completed[0].outcome, Outcome::Disconnected);
    talk.submit(0, GETATTR);
    talk.client.connected(at(3), &mut talk.out);
    assert_eq!(talk.take_messages().len(), 1);
}
