//! What a layer would refuse of a load, or answer without asking anybody: told
//! before anything is sent.
//!
//! Lines are looked at as they stand, each once, however often it is repeated.
//! Numbers that are only known when the load runs are not looked at.

use super::Generation;
use super::Load;
use super::compiled::StepView;
use super::verb::{place_of, word_of};
use crate::operation::OpKind;
use filestone_wire::tbench::{Dialect, Operation};
use serde::Serialize;
use std::collections::BTreeMap;

/// The layers that carry out loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// A file system of this host.
    Local,
    /// Bare TCP: tbench's messages, which carry sizes and no meaning.
    Tcp,
    /// NFSv3.
    Nfs3 {
        /// Whether locks go to the server's lock manager (NLM v4, `--enable-nlm`).
        nlm: bool,
    },
    /// SMB2.
    Smb,
}

impl LayerKind {
    /// All, as `--on` calls them.
    pub const ALL: [(&str, Self); 4] = [
        ("local", LayerKind::Local),
        ("tcp", LayerKind::Tcp),
        ("nfs3", LayerKind::Nfs3 { nlm: false }),
        ("smb", LayerKind::Smb),
    ];
}

/// Offsets of a local file are signed (off_t of POSIX).
const LOCAL_OFFSET_MAX: u64 = i64::MAX as u64;

/// Why a layer does not do what a line asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Bare TCP has no message for this verb.
    NoMessage,
    /// SMB2 has no exchange for this verb.
    NoExchange,
    /// Longer than a message of bare TCP may be.
    MessageTooLong,
    /// Beyond the largest offset of a local file.
    OffsetTooLarge,
    /// Its end does not fit in 64 bits.
    EndTooLarge,
    /// There is a lock manager for it, but `--enable-nlm` is not given.
    NeedsLockManager,
    /// Answered without a call: there is nothing to send.
    NothingToSend,
    /// Answered without a call: no file has bytes there.
    NothingToLock,
    /// Answered without a call: locks go to the lock manager, and `--enable-nlm`
    /// is not given.
    LocksNotSent,
}

impl Reason {
    /// Whether the load cannot run; else it is only good to know.
    pub const fn is_refusal(self) -> bool {
        match self {
            Reason::NoMessage
            | Reason::NoExchange
            | Reason::MessageTooLong
            | Reason::OffsetTooLarge
            | Reason::EndTooLarge
            | Reason::NeedsLockManager => true,
            Reason::NothingToSend | Reason::NothingToLock | Reason::LocksNotSent => false,
        }
    }

    /// In a few words.
    pub const fn sentence(self) -> &'static str {
        match self {
            Reason::NoMessage => "bare TCP has no message for it",
            Reason::NoExchange => "SMB2 has no exchange for it: it is a verb of NFS",
            Reason::MessageTooLong => "longer than a message may be (16 MiB of data)",
            Reason::OffsetTooLarge => "beyond 2^63 - 1, the largest offset of a local file",
            Reason::EndTooLarge => "ends beyond 2^64 - 1",
            Reason::NeedsLockManager => "needs --enable-nlm",
            Reason::NothingToSend => "answered without a call: there is nothing to send",
            Reason::NothingToLock => "answered without a call: no file has bytes there",
            Reason::LocksNotSent => "answered without a call, unless --enable-nlm is given",
        }
    }
}

/// Lines of one verb that a layer does not carry out as they stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// As the load file calls it.
    pub verb: &'static str,
    /// As records call it.
    pub operation: OpKind,
    /// Why.
    pub reason: Reason,
    /// Whether the load cannot run because of it.
    pub refused: bool,
    /// How many operations of a pass.
    pub count: u64,
    /// The first such line of the file.
    pub first_line: u32,
}

/// What the layer would not do of the load as it stands: refusals first, then what
/// is only good to know, each in the order of the lines.
pub fn refusals(load: &Load, layer: LayerKind) -> Vec<Refusal> {
    let mut found: BTreeMap<(OpKind, Reason), (u64, u32)> = BTreeMap::new();
    for step in load.steps().filter(|step| step.times() > 0) {
        if let Some(reason) = reason(layer, &Asked::of(&step, load.generation())) {
            let entry = found.entry((step.kind(), reason));
            let (count, _) = entry.or_insert((0, step.line()));
            *count = count.saturating_add(step.times());
        }
    }
    let mut refusals: Vec<Refusal> = found
        .into_iter()
        .map(|((operation, reason), (count, first_line))| Refusal {
            verb: word_of(load.generation(), operation),
            operation,
            reason,
            refused: reason.is_refusal(),
            count,
            first_line,
        })
        .collect();
    refusals.sort_by_key(|refusal| (!refusal.refused, refusal.first_line));
    refusals
}

/// What of a line decides whether a layer can do it.
#[derive(Debug, Clone, Copy)]
struct Asked {
    kind: OpKind,
    /// Whose verb it is.
    generation: Generation,
    /// Where the bytes that it is about begin; 0 if it is about none.
    offset: u64,
    /// How many they are.
    len: u64,
    /// Entries or bytes that come back.
    returned: u64,
}

impl Asked {
    fn of(step: &StepView, generation: Generation) -> Self {
        let number = |name| {
            let place = place_of(step.kind(), name);
            place.and_then(|place| step.number(place)).unwrap_or(0)
        };
        Self {
            kind: step.kind(),
            generation,
            offset: number("offset"),
            len: number("size"),
            returned: number("transferred").max(number("count")),
        }
    }

    /// Where the bytes end; `None` if 64 bits do not hold it.
    fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.len)
    }
}

fn reason(layer: LayerKind, asked: &Asked) -> Option<Reason> {
    match layer {
        LayerKind::Local => reason_of_local(asked),
        LayerKind::Tcp => reason_of_tcp(asked),
        LayerKind::Nfs3 { nlm } => reason_of_nfs(nlm, asked),
        LayerKind::Smb => reason_of_smb(asked),
    }
}

/// Windows programs lock ranges where no file has bytes, as semaphores; such locks
/// stay with the server, and here with the layer.
fn reason_of_local(asked: &Asked) -> Option<Reason> {
    let is_beyond = asked.offset > LOCAL_OFFSET_MAX;
    match asked.kind {
        OpKind::LockX | OpKind::UnlockX => {
            (is_beyond || asked.len == 0).then_some(Reason::NothingToLock)
        }
        OpKind::Lock4 | OpKind::Unlock4 | OpKind::Test4 => {
            is_beyond.then_some(Reason::OffsetTooLarge)
        }
        _ => asked
            .end()
            .is_none_or(|end| end > LOCAL_OFFSET_MAX)
            .then_some(Reason::OffsetTooLarge),
    }
}

/// tbench has a message for each CIFS-style verb but Deltree, which it answers
/// itself, and for no other. Sizes are dbench 3's: those of older generations
/// differ by a few bytes. Names are left out: they are never that long.
fn reason_of_tcp(asked: &Asked) -> Option<Reason> {
    let operation = match asked.kind {
        OpKind::WriteX => Operation::Write { len: asked.len },
        OpKind::ReadX => Operation::Read {
            returned: asked.returned,
        },
        OpKind::FindFirst => Operation::FindFirst {
            name: 0,
            entries: asked.returned,
        },
        OpKind::NtCreateX
        | OpKind::OpenX
        | OpKind::Close
        | OpKind::Flush
        | OpKind::LockX
        | OpKind::UnlockX
        | OpKind::Unlink
        | OpKind::MkDir
        | OpKind::RmDir
        | OpKind::Rename
        | OpKind::QueryPathInformation
        | OpKind::QueryFileInformation
        | OpKind::SetFileInformation
        | OpKind::QueryFsInformation => return None,
        OpKind::Deltree => return Some(Reason::NothingToSend),
        _ => return Some(Reason::NoMessage),
    };
    let exchange = Dialect::Three.sizes(operation).exchange();
    exchange.is_err().then_some(Reason::MessageTooLong)
}

/// Offsets and lengths of RFC 1813 have 64 bits; locks are another protocol's.
fn reason_of_nfs(nlm: bool, asked: &Asked) -> Option<Reason> {
    match asked.kind {
        OpKind::LockX | OpKind::UnlockX => (!nlm).then_some(Reason::LocksNotSent),
        OpKind::Lock4 | OpKind::Unlock4 | OpKind::Test4 => {
            (!nlm).then_some(Reason::NeedsLockManager)
        }
        _ => asked.end().is_none().then_some(Reason::EndTooLarge),
    }
}

/// SMB2 has an exchange for every CIFS-style verb, and for none of NFS. A range of bytes must not
/// wrap around (MS-SMB2, section 3.3.5.14), but its last byte may be the last of 64 bits.
fn reason_of_smb(asked: &Asked) -> Option<Reason> {
    if asked.generation == Generation::Nfs && asked.kind != OpKind::Deltree {
        return Some(Reason::NoExchange);
    }
    let last = asked.offset.checked_add(asked.len.saturating_sub(1));
    last.is_none().then_some(Reason::EndTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Compiler;
    use filestone_wire::tbench::MESSAGE_MAX;

    const LAYERS: [LayerKind; 5] = [
        LayerKind::Local,
        LayerKind::Tcp,
        LayerKind::Nfs3 { nlm: false },
        LayerKind::Nfs3 { nlm: true },
        LayerKind::Smb,
    ];

    /// What each layer says to this load: reason, count, first line.
    fn said(text: &str) -> [Vec<(Reason, u64, u32)>; 5] {
        let mut compiler = Compiler::new("test.load");
        text.lines().for_each(|line| compiler.line(line.as_bytes()));
        let load = compiler.finish().expect("the load is right");
        LAYERS.map(|layer| {
            let found = refusals(&load, layer);
            let row = |refusal: &Refusal| (refusal.reason, refusal.count, refusal.first_line);
            found.iter().map(row).collect()
        })
    }

    #[test]
    fn bare_tcp_has_no_message_for_nfs() {
        let [local, tcp, nfs, _, smb] = said(
            "Deltree \"/clients/client1\" 0x0\n\
             GETATTR3 \"/clients/client1\" 0x2\n\
             REPEAT 5\n\
             GETATTR3 \"/clients/client1\" 0x2\n",
        );
        assert!(local.is_empty());
        let expected = [(Reason::NoMessage, 6, 2), (Reason::NothingToSend, 1, 1)];
        assert_eq!(tcp, expected);
        assert!(nfs.is_empty());
        assert_eq!(smb, [(Reason::NoExchange, 6, 2)]);
    }

    #[test]
    fn locks_over_nfs_need_the_lock_manager() {
        let [local, tcp, nfs, nfs_with_nlm, smb] = said(
            "CREATE3 \"/clients/client1/a\" 0x0\n\
             LOCK4 \"/clients/client1/a\" 0 1 0x0\n\
             UNLOCK4 \"/clients/client1/a\" 0 1 0x0\n",
        );
        assert!(local.is_empty());
        assert_eq!(tcp.len(), 3);
        let needs = Reason::NeedsLockManager;
        assert_eq!(nfs, [(needs, 1, 2), (needs, 1, 3)]);
        assert!(nfs_with_nlm.is_empty());
        assert_eq!(smb.len(), 3);
    }

    /// A load that opens a file as handle 1, on its first line, and does these.
    fn with_handle(lines: &[&str]) -> [Vec<(Reason, u64, u32)>; 5] {
        let mut text = String::from("NTCreateX \"/clients/client1/a\" 0 2 1 NT_STATUS_OK\n");
        for line in lines {
            text.push_str(&format!("{line} NT_STATUS_OK\n"));
        }
        said(&text)
    }

    #[test]
    fn locks_where_no_file_has_bytes_stay_with_the_local_layer() {
        let [local, tcp, nfs, nfs_with_nlm, smb] = with_handle(&[
            "LockX 1 0x8000000000000000 1",
            "LockX 1 0 0",
            "LockX 1 1 0xffffffffffffffff",
        ]);
        assert_eq!(local, [(Reason::NothingToLock, 2, 2)]);
        assert!(tcp.is_empty());
        assert_eq!(nfs, [(Reason::LocksNotSent, 3, 2)]);
        assert!(nfs_with_nlm.is_empty());
        assert!(smb.is_empty());
    }

    #[test]
    fn sizes_and_offsets_have_their_limits() {
        let empty = Dialect::Three.sizes(Operation::Write { len: 0 });
        let most = u64::from(MESSAGE_MAX) - empty.request;
        let [local, tcp, nfs, _, smb] = with_handle(&[
            &format!("WriteX 1 0 {most} {most}"),
            &format!("WriteX 1 0 {0} {0}", most + 1),
            "WriteX 1 0x7ffffffffffffffe 1 1",
            "WriteX 1 0x7fffffffffffffff 1 1",
            "WriteX 1 0xffffffffffffffff 1 1",
            "LockX 1 0xffffffffffffffff 2",
        ]);
        let nothing = (Reason::NothingToLock, 1, 7);
        assert_eq!(local, [(Reason::OffsetTooLarge, 2, 5), nothing]);
        assert_eq!(tcp, [(Reason::MessageTooLong, 1, 3)]);
        let end = (Reason::EndTooLarge, 1, 6);
        assert_eq!(nfs, [end, (Reason::LocksNotSent, 1, 7)]);
        assert_eq!(smb, [(Reason::EndTooLarge, 1, 7)]);
    }
}
