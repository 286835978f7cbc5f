//! A client of a load with scripted responses: its requests after its connection was lost.

use super::handle_policy::HandlePolicy;
use super::link::SmbCalls;
use super::{ConnectOptions, ConnectionSetup, ShareLoadOptions, ShareTransfers, replaying};
use crate::client::actor::{Actor, ActorTask, ActorTaskState};
use crate::client::call_slot::Results;
use crate::session::smb2::{AuthMechanism, MechanismError, Mechanisms};
use filestone_measure::measure::run_record::DurableHandles;
use filestone_plan::plan::SmbOplock;
use filestone_plan::plan::SmbProtection;
use filestone_wire::smb2::codec::{Decode, Encode};
use filestone_wire::smb2::compound::Messages;
use filestone_wire::smb2::create::{
    self, Contexts, CreateAction, DurableFlags, DurableGrantV2, RequestContext, ResponseContext,
};
use filestone_wire::smb2::{
    self, Command, ErrorResponse, FileAttributes, FileId, FileTime, Header, HeaderFlags,
    OplockLevel, lock,
};
use filestone_workload::load::action::Disposition;
use filestone_workload::load::{ActionStatus, LoadAction};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

#[derive(Debug)]
struct Nobody;

impl Mechanisms for Nobody {
    fn start(&self) -> Box<dyn AuthMechanism> {
        Box::new(Nobody)
    }
}

impl AuthMechanism for Nobody {
    fn first(&mut self) -> Result<Vec<u8>, MechanismError> {
        Ok(Vec::new())
    }

    fn next(&mut self, _: &[u8]) -> Result<Vec<u8>, MechanismError> {
        Ok(Vec::new())
    }

    fn session_key(&self) -> Option<[u8; 16]> {
        None
    }

    fn mic(&mut self, _: &[u8]) -> Result<Option<Vec<u8>>, MechanismError> {
        Ok(None)
    }
}

/// Default connect options.
pub(super) fn terms() -> ConnectOptions {
    ConnectOptions {
        dialects: ConnectOptions::DIALECTS.to_vec(),
        ciphers: Vec::new(),
        client_guid: [0; 16],
        salt: [0; 32],
        signing: SmbProtection::Off,
        encryption: SmbProtection::Off,
        mechanisms: Arc::new(Nobody),
        share: String::new(),
        server: String::new(),
        channels: 1,
    }
}

/// A client of a load, over a connection that a test makes and loses.
struct Bench {
    actor: Actor<SmbCalls>,
    way: Arc<ConnectionSetup>,
    keeping: HandlePolicy,
}

const HELD: u64 = 10;

const fn opened(number: u64) -> FileId {
    FileId {
        persistent: 7,
        volatile: number,
    }
}

/// Durable-handle context of a CREATE.
#[derive(Debug, PartialEq)]
enum Asked {
    Nothing,
    Durable([u8; 16]),
    Reclaimed(FileId, [u8; 16]),
}

impl Bench {
    fn new() -> Self {
        let way = Arc::new(ConnectionSetup::new(terms()));
        way.make_of_tests();
        let keeping = HandlePolicy {
            oplock: SmbOplock::Lease,
            is_durable: true,
            seed: 5,
            ..HandlePolicy::default()
        };
        let actor = replaying(ShareLoadOptions {
            client: 0,
            root: "".into(),
            clients: "clients".into(),
            transfers: ShareTransfers {
                read: 65_536,
                write: 65_536,
            },
            keeping: keeping.clone(),
            made: Arc::new(filestone_plan::made::MadeNames::any()),
            way: Arc::clone(&way),
            retries: 1,
        });
        Self {
            actor,
            way,
            keeping,
        }
    }

    fn start(&mut self, action: &LoadAction<'_>) -> ActorTaskState {
        self.actor.start(ActorTask::Action(action));
        self.actor.resume(Timestamp::ZERO)
    }

    /// Returns the command of the pending call, a single request, and its body.
    fn asked(&self) -> (Command, &[u8]) {
        let call = self.actor.call();
        let [part] = call.procedure.parts() else {
            panic!("one request");
        };
        (part.command, &call.arguments[..part.end as usize])
    }

    /// Returns the durable-handle context of the pending CREATE, which must have a lease with a
    /// fixed key.
    fn create(&self) -> Asked {
        let (command, body) = self.asked();
        assert_eq!(command, Command::Create);
        let whole = message_of(command, body);
        let request: create::Request<'_> = body_of(&whole);
        assert_eq!(request.oplock_level, OplockLevel::LEASE);
        let contexts: Vec<_> = request.contexts.iter().collect();
        let is_lease = |context: &_| matches!(context, RequestContext::LeaseV2(_));
        assert!(contexts.iter().any(is_lease), "{contexts:?}");
        contexts
            .iter()
            .find_map(|context| match context {
                RequestContext::DurableRequestV2(asked) => Some(Asked::Durable(asked.create_guid)),
                RequestContext::DurableReconnectV2(asked) => {
                    Some(Asked::Reclaimed(asked.file_id, asked.create_guid))
                }
                _ => None,
            })
            .unwrap_or(Asked::Nothing)
    }

    /// Returns the flags of the range in a LOCK, and its FileId.
    fn lock(&self) -> (u32, FileId) {
        let (command, body) = self.asked();
        assert_eq!(command, Command::Lock);
        let whole = message_of(command, body);
        let request: lock::Request<'_> = body_of(&whole);
        let range = request.locks.iter().next().expect("a range");
        (range.flags.0, request.file_id)
    }

    fn answer(
        &mut self,
        command: Command,
        status: smb2::Status,
        body: &impl Encode,
    ) -> ActorTaskState {
        let header = Header {
            status,
            flags: HeaderFlags::RESPONSE,
            ..Header::request(command, 0)
        };
        let mut bytes = header.to_bytes();
        bytes.extend(body.to_bytes());
        let len = bytes.len();
        self.actor
            .call_slot()
            .answer(Results { bytes: &bytes, len });
        self.actor.resume(Timestamp::ZERO)
    }

    fn refuse(&mut self, command: Command, status: smb2::Status) -> ActorTaskState {
        self.answer(command, status, &ErrorResponse::default())
    }

    /// Answers a CREATE with success; `is_granted` adds a durable grant.
    fn open(&mut self, file_id: FileId, is_granted: bool) -> ActorTaskState {
        let granted = [ResponseContext::DurableV2(DurableGrantV2 {
            timeout: 60_000,
            flags: DurableFlags::NONE,
        })];
        let contexts = if is_granted { &granted[..] } else { &[] };
        let time = FileTime { ticks: 0 };
        let body = create::Response {
            oplock_level: OplockLevel::LEASE,
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
            contexts: Contexts::from(contexts),
        };
        self.answer(Command::Create, smb2::Status::SUCCESS, &body)
    }

    fn locked(&mut self) -> ActorTaskState {
        self.answer(Command::Lock, smb2::Status::SUCCESS, &lock::Response {})
    }

    /// Loses the connection, with the session, and makes another one. A waiting future is resumed
    /// with the loss.
    fn mark_lost(&mut self, is_waited_for: bool) -> Option<ActorTaskState> {
        self.way.mark_lost();
        self.way.make_of_tests();
        is_waited_for.then(|| {
            self.actor.call_slot().reset();
            self.actor.resume(Timestamp::ZERO)
        })
    }

    fn handles(&self) -> Option<DurableHandles> {
        self.keeping.handles()
    }
}

/// Returns a request as sent: its offsets count from its header.
fn message_of(command: Command, body: &[u8]) -> Vec<u8> {
    [&Header::request(command, 0).to_bytes(), body].concat()
}

fn body_of<'m, T: Decode<'m>>(message: &'m [u8]) -> T {
    let message = Messages::of(message).next();
    let message = message.expect("one").expect("a message");
    message.body().expect("what its command says")
}

fn is_done(progress: &ActorTaskState) -> bool {
    matches!(progress, ActorTaskState::Ended(end) if end.answer == Ok(ActionStatus::Ok))
}

const CREATE: LoadAction<'_> = LoadAction::NtCreateX {
    path: b"clients/client0/held",
    options: 0x40,
    disposition: Disposition::OverwriteIf,
    handle: HELD,
};
const LOCK: LoadAction<'_> = LoadAction::LockX {
    handle: HELD,
    offset: 0,
    len: 100,
};
const FLUSH: LoadAction<'_> = LoadAction::Flush { handle: HELD };

/// Returns a client that has the file open, by the handle of number 1, and locked, with the
/// CreateGuid.
fn holding() -> (Bench, [u8; 16]) {
    let mut bench = Bench::new();
    bench.start(&CREATE);
    let Asked::Durable(guid) = bench.create() else {
        panic!("{:?}", bench.create());
    };
    assert!(is_done(&bench.open(opened(1), true)));
    bench.start(&LOCK);
    assert!(is_done(&bench.locked()));
    (bench, guid)
}

#[test]
fn a_handle_that_outlives_its_connection_is_taken_up_again_with_its_locks() {
    let (mut bench, guid) = holding();
    for number in 2..4 {
        // The result does not depend on a line being in flight.
        if number == 2 {
            bench.mark_lost(false);
            bench.start(&FLUSH);
        } else {
            bench.start(&FLUSH);
            bench.mark_lost(true);
        }
        assert_eq!(bench.create(), Asked::Reclaimed(opened(number - 1), guid));
        bench.open(opened(number), false);
        // No lock precedes it.
        assert_eq!(bench.asked().0, Command::Flush);
        let flushed = smb2::flush::Response {};
        let end = bench.answer(Command::Flush, smb2::Status::SUCCESS, &flushed);
        assert!(is_done(&end));
    }
    let expected = DurableHandles {
        requested: 1,
        granted: 1,
        reclaimed: 2,
        lost: 0,
    };
    assert_eq!(bench.handles(), Some(expected));
}

#[test]
fn a_handle_that_the_server_has_given_away_is_opened_anew_and_locked() {
    let (mut bench, guid) = holding();
    bench.mark_lost(false);
    bench.start(&FLUSH);
    assert_eq!(bench.create(), Asked::Reclaimed(opened(1), guid));
    bench.refuse(Command::Create, smb2::Status::OBJECT_NAME_NOT_FOUND);
    let Asked::Durable(other) = bench.create() else {
        panic!("{:?}", bench.create());
    };
    assert_ne!(other, guid, "it is another open");
    bench.open(opened(2), true);
    let (flags, file_id) = bench.lock();
    assert_ne!(flags & lock::LockFlags::EXCLUSIVE_LOCK.0, 0);
    assert_eq!(file_id, opened(2));
    bench.locked();
    assert_eq!(bench.asked().0, Command::Flush);
    let expected = DurableHandles {
        requested: 2,
        granted: 2,
        reclaimed: 0,
        lost: 1,
    };
    assert_eq!(bench.handles(), Some(expected));
}

/// The durable handle may already hold the lock.
#[test]
fn a_lock_in_doubt_is_let_go_of_before_it_is_asked_for_again() {
    let (mut bench, guid) = holding();
    bench.start(&LOCK);
    bench.mark_lost(true);
    assert_eq!(bench.create(), Asked::Reclaimed(opened(1), guid));
    bench.open(opened(2), false);
    assert_eq!(bench.lock(), (lock::LockFlags::UNLOCK.0, opened(2)));
    bench.refuse(Command::Lock, smb2::Status::RANGE_NOT_LOCKED);
    assert_ne!(bench.lock().0, lock::LockFlags::UNLOCK.0);
    assert!(is_done(&bench.locked()));
}

#[test]
fn what_is_not_granted_is_opened_anew() {
    let mut bench = Bench::new();
    bench.start(&CREATE);
    assert!(is_done(&bench.open(opened(1), false)));
    bench.mark_lost(false);
    bench.start(&FLUSH);
    assert!(matches!(bench.create(), Asked::Durable(_)));
    bench.open(opened(2), false);
    assert_eq!(bench.asked().0, Command::Flush);
}
