//! What becomes of calls that nobody answers.

use crate::talk::{PATTERNED, SECOND, Setup, TIMEOUT, Talk, at, success, success_record, xid_of};
use filestone_protocol::client::Client;
use filestone_workload::operation::{Operation, Outcome};
use filestone_workload::time::Timestamp;

const MS: u64 = 1_000_000;

#[test]
fn over_tcp_a_call_is_given_up_at_its_time_out_and_sent_once() {
    let mut talk = Talk::new(&Setup::slots(3));
    assert_eq!(talk.client.poll_timeout(), Timestamp::MAX);
    let xid = talk.ask_xid(0, Operation::Null, at(1000));
    let other = talk.ask_xid(1, Operation::Null, at(2000));
    assert_eq!(talk.client.poll_timeout(), at(1000 + TIMEOUT));
    assert!(talk.time_out(at(999 + TIMEOUT)).is_empty());
    let completed = talk.time_out(at(1000 + TIMEOUT));
    assert!(talk.out.is_empty());
    assert_eq!(completed.len(), 1);
    let done = completed[0];
    assert_eq!(done.outcome, Outcome::TimedOut);
    assert_eq!((done.sent, done.done), (at(1000), at(1000 + TIMEOUT)));
    assert_eq!((done.bytes_received, done.retransmissions), (0, 0));
    assert_eq!(talk.client.in_flight(), 1);
    assert_eq!(talk.client.poll_timeout(), at(2000 + TIMEOUT));
    // The reply comes late: it is counted and does not end the slot's next call.
    let next = talk.ask_xid(0, Operation::Null, at(1500 + TIMEOUT));
    assert!(
        talk.hear(&success_record(xid, &[]), at(1600 + TIMEOUT))
            .unwrap()
            .is_empty()
    );
    assert_eq!(talk.client.late_replies(), 1);
    let done = talk.hear_one(&success_record(next, &[]), at(1700 + TIMEOUT));
    assert_eq!(done.sent, at(1500 + TIMEOUT));
    assert_eq!(
        talk.hear_one(&success_record(other, &[]), at(1800 + TIMEOUT))
            .ticket
            .slot,
        1
    );
}

#[test]
fn an_answered_call_does_not_time_out() {
    let mut talk = Talk::new(&Setup::slots(2));
    let xid = talk.ask_xid(0, Operation::Null, at(0));
    talk.hear_one(&success_record(xid, &[]), at(5));
    assert!(talk.time_out(at(TIMEOUT)).is_empty());
    assert_eq!(talk.client.poll_timeout(), Timestamp::MAX);
}

#[test]
fn over_udp_a_call_is_sent_again_after_pauses_that_double() {
    let mut talk = Talk::new(&Setup::udp(3));
    let operation = Operation::GetAttr { file: PATTERNED };
    let call = talk.ask(1, operation, at(0));
    let mut moments = Vec::new();
    let ended = loop {
        let due = talk.client.poll_timeout();
        assert!(
            talk.time_out(Timestamp::from_nanos(due.nanos() - 1))
                .is_empty()
        );
        assert!(talk.out.is_empty());
        let completed = talk.time_out(due);
        if let Some(done) = completed.first() {
            assert_eq!(due, done.done);
            break *done;
        }
        moments.push(due.nanos() / MS);
        // The same xid, and the same call altogether.
        assert_eq!(talk.take_messages(), [call.as_slice()]);
        talk.client.transmitted(due);
    };
    // 1.1 s, then twice as long each time, 30 s at most.
    assert_eq!(moments, [1100, 3300, 7700, 16_500, 34_100]);
    assert_eq!(ended.outcome, Outcome::TimedOut);
    assert_eq!((ended.sent, ended.done), (at(0), at(TIMEOUT)));
    assert_eq!((ended.calls, ended.retransmissions), (1, 5));
    assert_eq!(ended.bytes_sent as usize, 6 * call.len());
    assert_eq!(talk.client.in_flight(), 0);
}

#[test]
fn the_answer_to_the_first_transmission_is_taken_once() {
    let mut talk = Talk::new(&Setup::udp(2));
    let call = talk.ask(0, Operation::Null, at(0));
    assert!(talk.time_out(at(1100 * MS)).is_empty());
    assert_eq!(xid_of(&talk.take_messages()[0]), xid_of(&call));
    talk.client.transmitted(at(1100 * MS));
    let reply = success(xid_of(&call), &[]);
    let done = talk.hear_one(&reply, at(1200 * MS));
    assert_eq!(done.outcome, Outcome::Ok);
    assert_eq!(done.retransmissions, 1);
    assert_eq!((done.sent, done.done), (at(0), at(1200 * MS)));
    // The answer to the second one comes, too.
    assert!(talk.hear(&reply, at(1300 * MS)).unwrap().is_empty());
    assert_eq!(talk.client.late_replies(), 1);
    let next = talk.ask_xid(0, Operation::Null, at(1400 * MS));
    assert!(talk.hear(&reply, at(1500 * MS)).unwrap().is_empty());
    let done = talk.hear_one(&success(next, &[]), at(1600 * MS));
    assert_eq!(done.retransmissions, 0);
    assert_eq!(talk.client.late_replies(), 2);
}

#[test]
fn a_late_look_at_the_clock_sends_once_and_not_for_each_pause_missed() {
    let mut talk = Talk::new(&Setup::udp(1));
    talk.ask(0, Operation::Null, at(0));
    assert!(talk.time_out(at(20 * SECOND)).is_empty());
    assert_eq!(talk.take_messages().len(), 1);
    assert_eq!(talk.client.poll_timeout(), at(22 * SECOND + 200 * MS));
    // Later than its time-out a call is not sent again, but given up.
    let completed = talk.time_out(at(TIMEOUT + SECOND));
    assert_eq!(completed[0].outcome, Outcome::TimedOut);
    assert!(talk.out.is_empty());
}

#[test]
fn all_of_4096_slots_time_out() {
    let mut talk = Talk::new(&Setup::slots(4096));
    for slot in 0..4096 {
        talk.ask(slot, Operation::Null, at(u64::from(slot)));
    }
    assert_eq!(talk.time_out(at(TIMEOUT + 999)).len(), 1000);
    assert_eq!(talk.client.poll_timeout(), at(TIMEOUT + 1000));
    assert_eq!(talk.time_out(at(TIMEOUT + 5000)).len(), 3096);
    assert_eq!(talk.client.in_flight(), 0);
}
