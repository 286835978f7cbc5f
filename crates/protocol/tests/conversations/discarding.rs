//! READ data that are thrown away unread, or taken as they come, must come to the same
//! end as data that are looked at whole.

use crate::talk::{
    PATTERNED, Setup, Talk, UNKNOWN, at, collected, fragments, pattern_at, record, success,
};
use filestone_protocol::client::Client;
use filestone_wire::nfs3::{Fattr3, FileType, Nfstime3, Specdata3, Status, read};
use filestone_wire::xdr::Encode;
use filestone_workload::CompletionBatch;
use filestone_workload::operation::{Completion, Failure, Operation, Outcome, ReplyFault};
use proptest::prelude::*;

pub const ATTRIBUTES: Fattr3 = Fattr3 {
    file_type: FileType::Regular,
    mode: 0o644,
    nlink: 1,
    uid: 0,
    gid: 0,
    size: 1 << 30,
    used: 1 << 30,
    rdev: Specdata3 { major: 0, minor: 0 },
    fsid: 1,
    fileid: 2,
    atime: TIME,
    mtime: TIME,
    ctime: TIME,
};

const TIME: Nfstime3 = Nfstime3 {
    seconds: 1,
    nseconds: 2,
};

/// What may be wrong with a reply.
#[derive(Debug, Clone, Copy)]
enum Flaw {
    None,
    /// `count` is not the length of the data.
    Count,
    /// One byte more than asked for.
    TooMuch,
    /// `eof` is neither TRUE nor FALSE.
    Eof,
    /// Bytes after the end.
    Trailing,
    /// The last word is missing.
    Short,
    /// NFS3ERR_IO, followed by what does not belong there.
    Status,
    /// Answered with another xid first.
    Stranger,
    /// In two fragments.
    Fragmented,
    /// One byte is not what it should be, which only those see who look.
    Data,
}

#[derive(Debug, Clone)]
struct Answer {
    len: u32,
    with_attributes: bool,
    eof: bool,
    flaw: Flaw,
}

impl Answer {
    /// The bytes that a server sends, record marks included.
    fn bytes(&self, xid: u32) -> Vec<u8> {
        let mut data = pattern_at(0, self.len as usize);
        if matches!(self.flaw, Flaw::Data) {
            data[self.len as usize / 2] ^= 1;
        }
        let attributes = self.with_attributes.then_some(ATTRIBUTES);
        let ok = read::ReplyOk {
            file_attributes: attributes,
            count: match self.flaw {
                Flaw::Count => self.len - 1,
                _ => self.len,
            },
            eof: self.eof,
            data: &data,
        };
        let mut results = read::Reply::Ok(ok).to_bytes();
        let eof_at = 4 + 4 + if self.with_attributes { 84 } else { 0 } + 4;
        match self.flaw {
            Flaw::Eof => results[eof_at + 3] = 2,
            Flaw::Trailing => results.extend_from_slice(&[0; 4]),
            Flaw::Short => results.truncate(results.len() - 4),
            Flaw::Status => results[3] = Status::IO.0 as u8,
            _ => {}
        }
        let reply = success(xid, &results);
        match self.flaw {
            Flaw::Stranger => [record(&success(!xid, &results)), record(&reply)].concat(),
            Flaw::Fragmented => {
                let (front, back) = reply.split_at(reply.len() / 3);
                fragments(&[front, &[], back])
            }
            _ => record(&reply),
        }
    }

    fn asked(&self) -> u32 {
        match self.flaw {
            Flaw::TooMuch => self.len - 1,
            _ => self.len,
        }
    }
}

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let len = prop_oneof![
        16_200_u32..16_500,
        Just(16_384),
        Just(65_536),
        1_u32..300,
        16_384_u32..40_000,
    ];
    let flaw = prop_oneof![
        8 => Just(Flaw::None),
        1 => Just(Flaw::Count),
        1 => Just(Flaw::TooMuch),
        1 => Just(Flaw::Eof),
        1 => Just(Flaw::Trailing),
        1 => Just(Flaw::Short),
        1 => Just(Flaw::Status),
        1 => Just(Flaw::Stranger),
        1 => Just(Flaw::Fragmented),
        1 => Just(Flaw::Data),
    ];
    let answer =
        (len, any::<bool>(), any::<bool>(), flaw).prop_map(|(len, with_attributes, eof, flaw)| {
            Answer {
                len: len.max(2),
                with_attributes,
                eof,
                flaw,
            }
        });
    prop::collection::vec(answer, 1..5)
}

/// How many bytes are there when the engine looks.
fn arrivals() -> impl Strategy<Value = Vec<usize>> {
    let piece = prop_oneof![
        1_usize..8,
        100_usize..200,
        1_usize..70_000,
        Just(4),
        Just(132),
        Just(1 << 20),
    ];
    prop::collection::vec(piece, 1..12)
}

fn setup(read_len: u32, slots: usize) -> Setup {
    Setup {
        read_len,
        ..Setup::slots(slots as u32)
    }
}

/// The same with xids that could be taken for record marks.
fn treacherous(read_len: u32) -> Setup {
    Setup {
        read_len,
        ..Setup::treacherous()
    }
}

/// Asks for all answers and gives the stream of the server.
fn ask_all(talk: &mut Talk, answers: &[Answer]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (slot, answer) in answers.iter().enumerate() {
        let operation = Operation::Read {
            file: PATTERNED,
            offset: 0,
            len: answer.asked(),
        };
        let xid = talk.ask_xid(slot as u32, operation, at(1));
        bytes.extend(answer.bytes(xid));
    }
    bytes
}

/// Receives as the engine does: what can be thrown away is, and not more is
/// taken at a time than the client says.
fn receive(talk: &mut Talk, stream: &[u8], arrivals: &[usize]) -> Vec<Completion> {
    let mut completed = CompletionBatch::default();
    let mut rest = stream;
    for arrived in arrivals.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (mut here, after) = rest.split_at((*arrived).min(rest.len()));
        rest = after;
        while !here.is_empty() {
            let discardable = talk.client.discardable();
            if discardable > 0 {
                let (_, left) = here.split_at(discardable.min(here.len()));
                talk.client
                    .handle_discarded(here.len() - left.len(), at(9), &mut completed);
                here = left;
            } else {
                let len = talk.client.receive_len(1 << 20);
                let (input, left) = here.split_at(len.min(here.len()));
                talk.client
                    .handle_input(input, at(9), &mut completed)
                    .expect("it is the protocol");
                here = left;
            }
        }
    }
    completed.iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn however_data_are_received_and_cut_it_comes_to_the_same(
        answers in answers(),
        arrivals in arrivals(),
        receives_as_engine in any::<bool>(),
        is_treacherous in any::<bool>(),
        // Discarded, delivered, and looked at.
        (read_len, verify) in prop_oneof![
            Just((1 << 20, false)),
            Just((1, false)),
            Just((1, true)),
        ],
    ) {
        let setup = |read_len| Setup {
            verify,
            ..if is_treacherous { treacherous(read_len) } else { setup(read_len, answers.len()) }
        };
        let mut whole = Talk::new(&setup(0));
        let stream = ask_all(&mut whole, &answers);
        let expected = whole.hear(&stream, at(9)).expect("it is the protocol");
        prop_assert_eq!(expected.len(), answers.len());

        let mut talk = Talk::new(&setup(read_len));
        prop_assert_eq!(&ask_all(&mut talk, &answers), &stream);
        let completed = if receives_as_engine {
            receive(&mut talk, &stream, &arrivals)
        } else {
            let mut completed = Vec::new();
            let mut rest = stream.as_slice();
            for len in arrivals.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (input, after) = rest.split_at((*len).min(rest.len()));
                completed.extend(talk.hear(input, at(9)).expect("it is the protocol"));
                rest = after;
            }
            completed
        };
        prop_assert_eq!(completed, expected);
        prop_assert_eq!(talk.client.replies(), whole.client.replies());
        prop_assert_eq!(talk.client.late_replies(), whole.client.late_replies());
        prop_assert_eq!(talk.client.in_flight(), 0);
    }
}

#[test]
fn data_that_come_in_pieces_are_compared_as_whole_ones_are() {
    let mut talk = Talk::new(&Setup {
        verify: true,
        ..setup(1, 1)
    });
    let mut heard_in = |file, answer: Answer, piece: usize| {
        let operation = Operation::Read {
            file,
            offset: 0,
            len: answer.len,
        };
        let xid = talk.ask_xid(0, operation, at(1));
        let stream = answer.bytes(xid);
        let pieces = stream.chunks(piece);
        let heard = pieces.flat_map(|piece| talk.hear(piece, at(2)).expect("it is the protocol"));
        let heard: Vec<Completion> = heard.collect();
        assert_eq!(heard.len(), 1);
        (heard[0].outcome, heard[0].data_bytes)
    };
    let wrong = Outcome::Failed(Failure::BadReply(ReplyFault::WrongData));
    for file in [PATTERNED, UNKNOWN] {
        for piece in [1 << 20, 1, 132, 133, 1000, 65_536] {
            assert_eq!(heard_in(file, large(), piece), (Outcome::Ok, 65_536));
            let flawed = Answer {
                flaw: Flaw::Data,
                ..large()
            };
            assert_eq!(
                heard_in(file, flawed, piece),
                (wrong, 0),
                "pieces of {piece}"
            );
        }
    }
}

#[test]
fn no_more_is_received_at_a_time_than_stays_in_a_cache() {
    for (read_len, at_most) in [(0, 1 << 20), (4096, 32_768)] {
        let talk = Talk::new(&setup(read_len, 1));
        assert_eq!(talk.client.receive_len(1 << 20), at_most);
        assert_eq!(talk.client.receive_len(1000), 1000);
    }
}

fn large() -> Answer {
    Answer {
        len: 65_536,
        with_attributes: true,
        eof: false,
        flaw: Flaw::None,
    }
}

fn read(len: u32) -> Operation {
    Operation::Read {
        file: PATTERNED,
        offset: 0,
        len,
    }
}

#[test]
fn a_large_read_is_thrown_away_from_its_head_on() {
    let mut talk = Talk::new(&setup(65_536, 1));
    let stream = ask_all(&mut talk, &[large()]);
    assert_eq!(talk.client.receive_len(1 << 20), 132);
    assert!(talk.hear(&stream[..132], at(2)).unwrap().is_empty());
    assert_eq!(talk.client.discardable(), 65_536);
    let none = collected(|completed| talk.client.handle_discarded(65_535, at(3), completed));
    assert!(none.is_empty());
    let completed = collected(|completed| talk.client.handle_discarded(1, at(4), completed));
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0].outcome, Outcome::Ok);
    assert_eq!(completed[0].data_bytes, 65_536);
    assert_eq!(completed[0].bytes_received as usize, stream.len());
    assert_eq!(completed[0].done, at(4));
}

#[test]
fn a_read_that_times_out_while_its_data_come_in_ends_once() {
    use crate::talk::TIMEOUT;
    let mut talk = Talk::new(&setup(65_536, 1));
    let stream = ask_all(&mut talk, &[large()]);
    assert!(talk.hear(&stream[..1000], at(2)).unwrap().is_empty());
    let completed = talk.time_out(at(1 + TIMEOUT));
    assert_eq!(completed[0].outcome, Outcome::TimedOut);
    // The slot goes on with another call while the rest of the old reply comes.
    let xid = talk.ask_xid(0, read(65_536), at(2 + TIMEOUT));
    assert!(
        talk.hear(&stream[1000..], at(3 + TIMEOUT))
            .unwrap()
            .is_empty()
    );
    assert_eq!(talk.client.late_replies(), 1);
    assert_eq!(talk.client.in_flight(), 1);
    let done = talk.hear_one(&large().bytes(xid), at(4 + TIMEOUT));
    assert_eq!((done.outcome, done.sent), (Outcome::Ok, at(2 + TIMEOUT)));
}

#[test]
fn a_connection_lost_in_the_middle_of_data_leaves_nothing_to_throw_away() {
    let mut talk = Talk::new(&setup(65_536, 1));
    let stream = ask_all(&mut talk, &[large()]);
    assert!(talk.hear(&stream[..5000], at(2)).unwrap().is_empty());
    let completed = collected(|completed| talk.client.disconnected(at(3), completed));
    assert_eq!(completed[0].outcome, Outcome::Disconnected);
    assert_eq!(talk.client.discardable(), 0);
    talk.client.connected(at(4), &mut talk.out);
    let xid = talk.ask_xid(0, read(65_536), at(5));
    assert_eq!(
        talk.hear_one(&large().bytes(xid), at(6)).outcome,
        Outcome::Ok
    );
}
