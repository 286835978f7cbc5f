use super::*;
use filestone_wire::smb2::codec::{Decode, Encode};
use filestone_wire::smb2::compound;
use filestone_wire::smb2::create::{self, CreateAction};
use filestone_wire::smb2::frame::FrameMark;
use filestone_wire::smb2::negotiate::{Cipher, SigningAlgorithm};
use filestone_wire::smb2::oplock_break::{LeaseAcknowledgment, LeaseBreak, OplockBreak};
use filestone_wire::smb2::transform::Encrypted;
use filestone_wire::smb2::{
    Command, Dialect, ErrorResponse, FileAttributes, FileId, FileTime, Header, HeaderFlags,
    LeaseFlags, LeaseState, OplockLevel, Route, Status, UNASKED, close, echo,
};
use filestone_workload::output::{DataRange, Output, WriteData};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

const SESSION: u64 = 0x77;
const TREE: u32 = 5;
const TIMEOUT: u64 = 1_000_000;

fn established(keys: Option<Arc<SessionKeys>>) -> Established {
    Established::of_tests(SESSION, TREE, keys)
}

impl Established {
    /// Returns a session that signs if there are keys.
    pub(crate) fn of_tests(session_id: u64, tree_id: u32, keys: Option<Arc<SessionKeys>>) -> Self {
        Self {
            session_id,
            tree_id,
            signs: keys.is_some(),
            keys,
            encrypts: false,
            large_mtu: true,
            charges: true,
            limits: SmbTransferLimits::default(),
            agreed: NegotiatedSummary {
                dialect: Dialect::SMB_3_0,
                cipher: None,
                signing: None,
                is_guest: false,
                is_anonymous: false,
            },
            session_key: None,
            sequence: ChannelSequence::default(),
        }
    }
}

/// A session and its simulated server.
struct Bench {
    session: Smb2Session,
    out: Output,
    /// Responses: slot, statuses, whether genuine.
    answers: Vec<Got>,
    /// Slots whose next request is due.
    next: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Got {
    slot: u32,
    statuses: Vec<Status>,
    is_genuine: bool,
}

impl Bench {
    fn new(compounds: bool, keys: Option<Arc<SessionKeys>>) -> Self {
        let mut session = Smb2Session::new(Smb2Options {
            slots: 4,
            timeout_nanos: TIMEOUT,
            frame_max: 1 << 20,
            compounds,
            channel: 0,
        });
        session.establish(established(keys));
        let (out, answers, next) = (Output::default(), Vec::new(), Vec::new());
        let mut bench = Self {
            session,
            out,
            answers,
            next,
        };
        // Initial credits.
        bench.put(0, &echo_chain());
        bench.receive(&[&answer(0, Command::Echo, Status::SUCCESS)]);
        bench.answers.clear();
        bench
    }

    /// Appends a chain to the output; returns the headers of the requests.
    fn put(&mut self, slot: u32, chain: &Asked) -> Vec<Header> {
        assert_eq!(self.session.can_send(slot, &chain.chain), Ok(true));
        let sending = OutgoingCompound {
            chain: &chain.chain,
            bodies: &chain.bodies,
            data: DataRange::default(),
            source: &WriteData::PATTERN,
            pattern: &[],
        };
        self.out.clear();
        self.session
            .put(slot, &sending, &mut self.out, &mut Vec::new());
        self.session.transmitted(Timestamp::from_nanos(1));
        headers(&self.out.bytes)
    }

    /// Receives these messages in one frame.
    fn receive(&mut self, messages: &[&[u8]]) {
        let received = self.try_receive(messages);
        received.expect("they are messages of SMB2");
    }

    fn try_receive(&mut self, messages: &[&[u8]]) -> Result<(), SmbStreamError> {
        let frame = frame(messages);
        let Self {
            session,
            answers,
            next,
            ..
        } = self;
        // Receives the frame in two pieces: complete and collected responses must be equal.
        let (one, other) = frame.split_at(frame.len() / 2);
        for piece in [one, other] {
            session.receive(piece, |answered| {
                if answered.wants_next {
                    return next.push(answered.slot);
                }
                let messages = compound::Messages::of(answered.bytes);
                answers.push(Got {
                    slot: answered.slot,
                    statuses: messages
                        .map(|message| message.expect("a message").header.status)
                        .collect(),
                    is_genuine: answered.is_genuine,
                });
            })?;
        }
        Ok(())
    }
}

struct Asked {
    chain: CompoundRequest,
    bodies: Vec<u8>,
}

fn asked(bodies: &[(Command, Vec<u8>)]) -> Asked {
    let mut asked = Asked {
        chain: CompoundRequest::NONE,
        bodies: Vec::new(),
    };
    for (command, body) in bodies {
        asked.bodies.extend_from_slice(body);
        asked.chain.push(CompoundPart {
            command: *command,
            end: asked.bodies.len() as u32,
            payload: 0,
        });
    }
    asked
}

fn echo_chain() -> Asked {
    asked(&[(Command::Echo, echo::Request {}.to_bytes())])
}

/// A CREATE, whose body does not matter here, and the CLOSE of its file.
fn open_and_close() -> Asked {
    let close = close::Request {
        flags: close::CloseFlags::NONE,
        file_id: FileId::OF_PREVIOUS,
    };
    asked(&[
        (Command::Create, vec![0; 57]),
        (Command::Close, close.to_bytes()),
    ])
}

fn headers(frame: &[u8]) -> Vec<Header> {
    let messages = compound::Messages::of(frame.get(4..).unwrap_or_default());
    messages
        .map(|message| message.expect("a message").header)
        .collect()
}

fn frame(messages: &[&[u8]]) -> Vec<u8> {
    let mut frame = Vec::new();
    let start = FrameMark::open(&mut frame);
    let mut last = None;
    for message in messages {
        if let Some(last) = last {
            compound::link(&mut frame, last);
        }
        last = Some(frame.len());
        frame.extend_from_slice(message);
    }
    FrameMark::close(&mut frame, start, 0);
    frame
}

fn header(id: u64, command: Command, status: Status) -> Header {
    Header {
        status,
        credits: 8,
        flags: HeaderFlags::RESPONSE,
        session_id: SESSION,
        ..Header::request(command, id)
    }
}

/// A response whose body does not matter.
fn answer(id: u64, command: Command, status: Status) -> Vec<u8> {
    let mut message = header(id, command, status).to_bytes();
    message.extend(ErrorResponse::default().to_bytes());
    message
}

fn got(slot: u32, statuses: &[Status]) -> Got {
    Got {
        slot,
        statuses: statuses.to_vec(),
        is_genuine: true,
    }
}

#[test]
fn responses_find_their_requests_in_any_order() {
    let mut bench = Bench::new(true, None);
    let ids: Vec<u64> = (0..3)
        .map(|slot| bench.put(slot, &echo_chain())[0].message_id)
        .collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(bench.session.in_flight(), 3);
    for id in [3, 1, 2] {
        bench.receive(&[&answer(id, Command::Echo, Status::SUCCESS)]);
    }
    let ok = &[Status::SUCCESS];
    assert_eq!(bench.answers, [got(2, ok), got(0, ok), got(1, ok)]);
    assert_eq!(bench.session.in_flight(), 0);
}

#[test]
fn a_compound_is_answered_whether_its_responses_come_together_or_apart() {
    for together in [true, false] {
        let mut bench = Bench::new(true, None);
        let requests = bench.put(1, &open_and_close());
        let related: Vec<bool> = requests
            .iter()
            .map(|header| header.flags.contains(HeaderFlags::RELATED))
            .collect();
        assert_eq!(related, [false, true]);
        assert_eq!(requests[1].tree_id(), Some(TREE));
        let missing = Status::OBJECT_NAME_NOT_FOUND;
        let (create, close) = (
            answer(1, Command::Create, missing),
            answer(2, Command::Close, Status::FILE_CLOSED),
        );
        if together {
            bench.receive(&[&create, &close]);
        } else {
            bench.receive(&[&create]);
            assert!(bench.answers.is_empty());
            bench.receive(&[&close]);
        }
        assert_eq!(bench.answers, [got(1, &[missing, Status::FILE_CLOSED])]);
    }
}

#[test]
fn request_by_request_the_next_one_names_the_file_that_the_first_has_opened() {
    let mut bench = Bench::new(false, None);
    let chain = open_and_close();
    assert_eq!(bench.put(0, &chain).len(), 1);
    let mut created = header(1, Command::Create, Status::SUCCESS).to_bytes();
    let mut body = [0; 88];
    body[64..80].copy_from_slice(&[0xab; 16]);
    created.extend(body);
    bench.receive(&[&created]);
    assert_eq!((bench.next.as_slice(), bench.answers.len()), (&[0][..], 0));
    let requests = bench.put(0, &chain);
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].command, Command::Close);
    assert!(!requests[0].flags.contains(HeaderFlags::RELATED));
    let sent = bench.out.bytes.clone();
    assert_eq!(sent.get(4 + 64 + 8..4 + 64 + 24), Some(&[0xab; 16][..]));
    bench.receive(&[&answer(2, Command::Close, Status::SUCCESS)]);
    let ok = Status::SUCCESS;
    assert_eq!(bench.answers, [got(0, &[ok, ok])]);
    // A failed response is the last.
    bench.put(0, &chain);
    let denied = Status::ACCESS_DENIED;
    bench.receive(&[&answer(3, Command::Create, denied)]);
    assert_eq!(bench.answers[1], got(0, &[denied]));
}

#[test]
fn an_interim_response_is_none_and_a_time_out_cancels_what_it_promised() {
    let mut bench = Bench::new(true, None);
    bench.put(0, &echo_chain());
    let pending = Header {
        route: Route::Async(99),
        ..header(1, Command::Echo, Status::PENDING)
    };
    let mut message = pending.to_bytes();
    message.extend(ErrorResponse::default().to_bytes());
    bench.receive(&[&message]);
    assert_eq!((bench.answers.len(), bench.session.in_flight()), (0, 1));
    let over = Timestamp::from_nanos(1 + TIMEOUT);
    assert_eq!(bench.session.poll_timeout(), over);
    bench.out.clear();
    let timed_out = bench.session.timed_out(over, &mut bench.out);
    assert_eq!(timed_out, Some(0));
    let cancel = headers(&bench.out.bytes)[0];
    assert_eq!(cancel.command, Command::Cancel);
    assert_eq!(cancel.route, Route::Async(99));
    assert_eq!(bench.session.timed_out(over, &mut bench.out), None);
    bench.receive(&[&answer(1, Command::Echo, Status::CANCELLED)]);
    assert_eq!((bench.answers.len(), bench.session.late_replies()), (0, 1));
}

#[test]
fn a_server_that_grants_nothing_is_waited_for_only_while_it_owes_an_answer() {
    let mut session = Smb2Session::new(Smb2Options {
        slots: 2,
        timeout_nanos: TIMEOUT,
        frame_max: 1 << 16,
        compounds: true,
        channel: 0,
    });
    session.establish(established(None));
    let chain = echo_chain().chain;
    assert_eq!(session.can_send(0, &chain), Ok(true));
    let mut bench = Bench {
        session,
        out: Output::default(),
        answers: Vec::new(),
        next: Vec::new(),
    };
    bench.put(0, &echo_chain());
    assert_eq!(bench.session.can_send(1, &chain), Ok(false));
    let stingy = Header {
        credits: 0,
        ..header(0, Command::Echo, Status::SUCCESS)
    };
    let mut message = stingy.to_bytes();
    message.extend(ErrorResponse::default().to_bytes());
    bench.receive(&[&message]);
    let refused = bench.session.can_send(1, &chain);
    assert!(
        matches!(refused, Err(SmbStreamError::NoCredits { .. })),
        "{refused:?}"
    );
}

fn keys() -> Arc<SessionKeys> {
    let keys = SessionKeys::derive(&KeyMaterial {
        session_key: &[3; 16],
        dialect: Dialect::SMB_3_0,
        signing: SigningAlgorithm::AES_CMAC,
        cipher: None,
        preauth: None,
    });
    Arc::new(keys.expect("keys"))
}

#[test]
fn a_response_without_the_signature_that_it_has_to_have_is_not_genuine() {
    let keys = keys();
    let signed = |id| {
        let header = Header {
            flags: HeaderFlags::RESPONSE.with(HeaderFlags::SIGNED),
            ..header(id, Command::Echo, Status::SUCCESS)
        };
        let mut message = header.to_bytes();
        message.extend(ErrorResponse::default().to_bytes());
        keys.signer.sign(&mut message);
        message
    };
    let mut bench = Bench::new(true, None);
    bench
        .session
        .establish(established(Some(Arc::clone(&keys))));
    let request = bench.put(0, &echo_chain())[0];
    assert!(request.flags.contains(HeaderFlags::SIGNED));
    assert_ne!(request.signature, [0; 16]);
    bench.receive(&[&signed(1)]);
    bench.put(0, &echo_chain());
    let mut forged = signed(2);
    forged[70] ^= 1;
    bench.receive(&[&forged]);
    bench.put(0, &echo_chain());
    bench.receive(&[&answer(3, Command::Echo, Status::SUCCESS)]);
    let genuine: Vec<bool> = bench.answers.iter().map(|got| got.is_genuine).collect();
    assert_eq!(genuine, [true, false, false]);
    assert_eq!(bench.session.forged, 2);
}

#[test]
fn a_break_is_acknowledged_while_other_requests_are_under_way() {
    let mut bench = Bench::new(true, None);
    bench.put(0, &echo_chain());
    let unasked = header(UNASKED, Command::OplockBreak, Status::SUCCESS);
    let mut message = unasked.to_bytes();
    let left = OplockBreak {
        level: OplockLevel::II,
        file_id: FileId {
            persistent: 1,
            volatile: 2,
        },
    };
    message.extend(left.to_bytes());
    bench.receive(&[&message]);
    bench.out.clear();
    assert!(bench.session.answer(&mut bench.out));
    assert!(!bench.session.answer(&mut bench.out));
    let sent = headers(&bench.out.bytes);
    assert_eq!((sent.len(), sent[0].command), (1, Command::OplockBreak));
    assert_eq!(bench.session.breaks, 1);
    let acknowledged = answer(sent[0].message_id, Command::OplockBreak, Status::SUCCESS);
    bench.receive(&[&acknowledged]);
    bench.receive(&[&answer(1, Command::Echo, Status::SUCCESS)]);
    assert_eq!(bench.answers, [got(0, &[Status::SUCCESS])]);
    assert_eq!(bench.session.late_replies(), 0);
}

/// A lease of version 2 is broken with an epoch, and acknowledged without one (sections 2.2.23.2
/// and 2.2.24.2).
#[test]
fn the_break_of_a_lease_is_acknowledged_if_the_server_waits_for_that() {
    for (flags, is_waited_for) in [(LeaseFlags::ACK_REQUIRED, true), (LeaseFlags::NONE, false)] {
        let mut bench = Bench::new(true, None);
        let mut message = header(UNASKED, Command::OplockBreak, Status::SUCCESS).to_bytes();
        let handle = LeaseState::READ_CACHING.with(LeaseState::HANDLE_CACHING);
        let broken = LeaseBreak {
            new_epoch: 2,
            flags,
            lease_key: [9; 16],
            current_state: handle.with(LeaseState::WRITE_CACHING),
            new_state: handle,
            reason: 0,
            access_mask_hint: filestone_wire::smb2::AccessMask(0),
            share_mask_hint: 0,
        };
        message.extend(broken.to_bytes());
        bench.receive(&[&message]);
        bench.out.clear();
        assert_eq!(bench.session.answer(&mut bench.out), is_waited_for);
        assert_eq!(bench.session.breaks, 1);
        let sent = compound::Messages::of(bench.out.bytes.get(4..).unwrap_or_default()).next();
        let sent = sent.map(|message| {
            let body = message.expect("a message").body::<LeaseAcknowledgment>();
            body.expect("an acknowledgement")
        });
        let expected = is_waited_for.then_some(LeaseAcknowledgment {
            flags: LeaseFlags::NONE,
            lease_key: [9; 16],
            state: handle,
            duration: 0,
        });
        assert_eq!(sent, expected);
    }
}

/// Successful response to a CREATE.
fn created(id: u64, file_id: FileId) -> Vec<u8> {
    let time = FileTime { ticks: 0 };
    let body = create::Response {
        oplock_level: OplockLevel::NONE,
        flags: 0,
        action: CreateAction::OPENED,
        creation_time: time,
        last_access_time: time,
        last_write_time: time,
        change_time: time,
        allocation_size: 0,
        end_of_file: 0,
        file_attributes: FileAttributes::NORMAL,
        file_id,
        contexts: create::Contexts::default(),
    };
    let mut message = header(id, Command::Create, Status::SUCCESS).to_bytes();
    message.extend(body.to_bytes());
    message
}

#[test]
fn what_is_opened_too_late_for_anybody_is_closed() {
    let opened = FileId {
        persistent: 11,
        volatile: 12,
    };
    let create = || asked(&[(Command::Create, vec![0; 57])]);
    for (compounds, chain, status, is_closed) in [
        (true, create(), Status::SUCCESS, true),
        (true, create(), Status::OBJECT_NAME_NOT_FOUND, false),
        // The CLOSE was sent with it.
        (true, open_and_close(), Status::SUCCESS, false),
        // The CLOSE would be sent later, and never is.
        (false, open_and_close(), Status::SUCCESS, true),
    ] {
        let mut bench = Bench::new(compounds, None);
        let id = bench.put(0, &chain)[0].message_id;
        bench.out.clear();
        let late = Timestamp::from_nanos(1).after_nanos(TIMEOUT);
        assert_eq!(bench.session.timed_out(late, &mut bench.out), Some(0));
        // The slot is used by another chain in between.
        bench.put(0, &echo_chain());
        bench.out.clear();
        if status == Status::SUCCESS {
            bench.receive(&[&created(id, opened)]);
        } else {
            bench.receive(&[&answer(id, Command::Create, status)]);
        }
        assert_eq!(bench.answers, [], "nobody waits for it");
        assert_eq!(bench.session.late_replies(), 1);
        assert_eq!(bench.session.answer(&mut bench.out), is_closed);
        assert!(!bench.session.answer(&mut Output::default()), "once");
        let sent = compound::Messages::of(bench.out.bytes.get(4..).unwrap_or_default()).next();
        let closed = sent.map(|message| {
            let message = message.expect("a message");
            assert_eq!(message.header.tree_id(), Some(TREE));
            message.body::<close::Request>().expect("CLOSE").file_id
        });
        assert_eq!(closed, is_closed.then_some(opened));
    }
}

/// With request-by-request sending, a failure in the middle means that CLOSE is never sent.
#[test]
fn what_a_chain_has_opened_is_closed_where_it_breaks_off() {
    let opened = FileId {
        persistent: 11,
        volatile: 12,
    };
    let close = close::Request {
        flags: close::CloseFlags::NONE,
        file_id: FileId::OF_PREVIOUS,
    };
    let chain = asked(&[
        (Command::Create, vec![0; 57]),
        (Command::Flush, vec![0; 24]),
        (Command::Close, close.to_bytes()),
    ]);
    for is_answered in [true, false] {
        let mut bench = Bench::new(false, None);
        let id = bench.put(0, &chain)[0].message_id;
        bench.receive(&[&created(id, opened)]);
        let id = bench.put(0, &chain)[0].message_id;
        bench.out.clear();
        if is_answered {
            bench.receive(&[&answer(id, Command::Flush, Status::ACCESS_DENIED)]);
        } else {
            let late = Timestamp::from_nanos(1).after_nanos(TIMEOUT);
            assert_eq!(bench.session.timed_out(late, &mut bench.out), Some(0));
        }
        assert!(bench.session.answer(&mut bench.out));
        let sent = headers(&bench.out.bytes);
        assert_eq!((sent.len(), sent[0].command), (1, Command::Close));
    }
}

#[test]
fn what_only_clients_send_ends_the_connection() {
    let mut bench = Bench::new(true, None);
    let mut request = Header::request(Command::Echo, 1).to_bytes();
    request.extend(echo::Request {}.to_bytes());
    assert!(matches!(
        bench.try_receive(&[&request]),
        Err(SmbStreamError::Unexpected(_))
    ));
    let mut bench = Bench::new(true, None);
    let other = bench.try_receive(&[b"HTTP/1.1 400 Bad Request"]);
    assert!(
        matches!(other, Err(SmbStreamError::Message(_))),
        "{other:?}"
    );
    let mut bench = Bench::new(true, None);
    let empty = bench.try_receive(&[]);
    assert!(
        matches!(empty, Err(SmbStreamError::Unexpected(_))),
        "{empty:?}"
    );
}

#[test]
fn large_transfers_take_as_many_credits_as_they_need() {
    let mut bench = Bench::new(true, None);
    let mut read = asked(&[(Command::Read, vec![0; 49])]);
    let mut chain = CompoundRequest::NONE;
    for part in read.chain.parts() {
        chain.push(CompoundPart {
            payload: 3 * (64 << 10) + 1,
            ..*part
        });
    }
    read.chain = chain;
    let request = bench.put(0, &read)[0];
    assert_eq!((request.message_id, request.credit_charge), (1, 4));
    assert_eq!(bench.put(1, &echo_chain())[0].message_id, 5);
}

#[test]
fn no_more_is_affordable_than_the_credits_at_hand_pay_for() {
    let mut bench = Bench::new(true, None);
    let at_hand = bench.session.affordable();
    assert!(
        at_hand > 64 << 10 && at_hand.is_multiple_of(64 << 10),
        "{at_hand}"
    );
    bench.put(0, &echo_chain());
    assert_eq!(bench.session.affordable(), at_hand - (64 << 10));
    // Without credits for large transfers, a server accepts the payload of one credit.
    let small = Established {
        large_mtu: false,
        ..established(None)
    };
    bench.session.establish(small);
    assert_eq!(bench.session.affordable(), 64 << 10);
}

/// Returns the nonces of encrypted ECHOs that a session sends on this channel, one before and one
/// after its connection was lost.
fn nonces(channel: u16) -> [u64; 2] {
    let preauth = Preauth::default();
    let keys = SessionKeys::derive(&KeyMaterial {
        session_key: &[7; 16],
        dialect: Dialect::SMB_3_1_1,
        signing: SigningAlgorithm::AES_CMAC,
        cipher: Some(Cipher::AES_128_GCM),
        preauth: Some(&preauth),
    });
    let keys = Arc::new(keys.unwrap());
    let mut session = Smb2Session::new(Smb2Options {
        slots: 1,
        timeout_nanos: TIMEOUT,
        frame_max: 1 << 20,
        compounds: true,
        channel,
    });
    [0, 1].map(|_| {
        session.reset();
        session.establish(Established {
            encrypts: true,
            ..established(Some(Arc::clone(&keys)))
        });
        let mut out = Output::default();
        let asked = echo_chain();
        let sending = OutgoingCompound {
            chain: &asked.chain,
            bodies: &asked.bodies,
            data: DataRange::default(),
            source: &WriteData::PATTERN,
            pattern: &[],
        };
        session.put(0, &sending, &mut out, &mut Vec::new());
        let frame = Encrypted::from_bytes(&out.bytes[4..]).unwrap();
        u64::from_le_bytes(*frame.header.nonce.first_chunk().unwrap())
    })
}

/// All channels encrypt with one key, and a lost channel may rejoin its session.
#[test]
fn no_nonce_comes_twice_in_a_session_whichever_channel_it_was_for() {
    let mut all = [0, 1, 31].map(nonces).concat();
    assert_eq!(all[..2], [1, 2]);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 6);
}

#[test]
fn requests_say_how_many_channels_were_lost() {
    let mut bench = Bench::new(true, None);
    let sequence = bench.session.established().unwrap().sequence.clone();
    let said = |bench: &mut Bench| bench.put(0, &echo_chain())[0].channel_sequence();
    assert_eq!(said(&mut bench), 0);
    sequence.advance();
    assert_eq!(said(&mut bench), 1);
}

#[test]
fn long_frames_are_received_whole() {
    const MOST: usize = 72 << 10;
    const LONG: usize = 30_000;
    let mut bench = Bench::new(true, None);
    assert_eq!(bench.session.receive_len(MOST), MOST, "short ones");
    let mut frame = frame(&[&answer(9, Command::Echo, Status::SUCCESS)]);
    frame.resize(LONG, 0);
    FrameMark::close(&mut frame, 0, 0);
    let mut receive = |bytes: &[u8]| {
        let received = bench.session.receive(bytes, |_| {});
        received.expect("they are messages of SMB2");
        bench.session.receive_len(MOST)
    };
    // A buffer of 73,728 bytes holds two frames of 30,000.
    assert_eq!(receive(&frame), 60_000);
    // The rest of one frame, and one or two more.
    assert_eq!(receive(&frame[..10_000]), 20_000 + 30_000);
    assert_eq!(receive(&frame[10_000..20_000]), 10_000 + 60_000);
    assert_eq!(receive(&frame[20_000..]), 60_000);
    // A frame longer than one receive.
    frame.resize(200_000, 0);
    FrameMark::close(&mut frame, 0, 0);
    assert_eq!(receive(&frame[..60_000]), MOST);
    assert_eq!(receive(&frame[60_000..150_000]), 50_000);
    assert_eq!(receive(&frame[150_000..]), MOST);
}
