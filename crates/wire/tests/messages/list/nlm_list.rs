//! The part of the list that is NLM.

use filestone_wire::nlm::test::{Holder, TestOutcome};
use filestone_wire::nlm::{
    LockRange, NetObject, Procedure, Status, StatusReply, cancel, granted, lock, test, unlock,
};

use super::{Kind, Message, message};
use Kind::{NlmArgs as Args, NlmReply as Reply};

const COOKIE: NetObject<'static> = NetObject(b"cookie");
const ALOCK: LockRange<'static> = LockRange {
    caller_name: NetObject(b"client.example"),
    fh: NetObject(b"a handle that is not of 64 bytes"),
    owner: NetObject(b"owner"),
    svid: -7,
    offset: 0x0102_0304_0506_0708,
    len: u64::MAX,
};

/// Arguments and replies of every procedure.
pub fn messages() -> Vec<Message> {
    let holder = Holder {
        exclusive: true,
        svid: 8,
        owner: NetObject(b"somebody else"),
        offset: 5,
        len: 0,
    };
    let answered = |stat| StatusReply {
        cookie: COOKIE,
        stat,
    };
    let tested = |outcome| test::Reply {
        cookie: COOKIE,
        outcome,
    };
    let (cookie, alock, block, exclusive) = (COOKIE, ALOCK, false, true);
    let locked = lock::Args {
        cookie,
        block,
        exclusive,
        alock,
        reclaim: true,
        state: 3,
    };
    let cancelled = cancel::Args {
        cookie,
        block,
        exclusive,
        alock,
    };
    let asked = test::Args {
        cookie,
        exclusive,
        alock,
    };
    let given = granted::Args {
        cookie,
        exclusive,
        alock,
    };
    vec![
        message(Args(Procedure::Null), ()),
        message(Reply(Procedure::Null), ()),
        message(Args(Procedure::Test), asked),
        message(
            Reply(Procedure::Test),
            tested(TestOutcome::Status(Status::GRANTED)),
        ),
        message(Reply(Procedure::Test), tested(TestOutcome::Denied(holder))),
        message(Args(Procedure::Lock), locked),
        message(Reply(Procedure::Lock), answered(Status::GRANTED)),
        message(Args(Procedure::Cancel), cancelled),
        message(Reply(Procedure::Cancel), answered(Status(99))),
        message(Args(Procedure::Unlock), unlock::Args { cookie, alock }),
        message(Reply(Procedure::Unlock), answered(Status::STALE_FH)),
        message(Args(Procedure::Granted), given),
        message(Reply(Procedure::Granted), answered(Status::DENIED)),
    ]
}
