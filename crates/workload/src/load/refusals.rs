//! Detection of lines that a layer would refuse, or answer without a call, before anything is sent.
//!
//! Each line is checked once, without repetitions. Numbers that are only known at run time are not
//! checked.

use super::Generation;
use super::Load;
use super::compiled::StepView;
use super::verb::{ExchangeClass, exchange_class, place_of, word_of};
use crate::operation::OpKind;
use filestone_wire::tbench::{TbenchDialect, TbenchOperation};
use serde::Serialize;
use std::collections::BTreeMap;

/// The layers that execute loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// A file system of this host.
    Local,
    /// Bare TCP: tbench's messages, which have sizes but no meaning.
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
    /// All layers, with their names in `--layer`.
    pub const ALL: [(&str, Self); 4] = [
        ("local", LayerKind::Local),
        ("tcp", LayerKind::Tcp),
        ("nfs3", LayerKind::Nfs3 { nlm: false }),
        ("smb", LayerKind::Smb),
    ];
}

/// Maximum offset of a local file, which is signed (off_t of POSIX).
const LOCAL_OFFSET_MAX: u64 = i64::MAX as u64;

/// Reason why a layer does not execute a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Bare TCP has no message for this verb.
    NoMessage,
    /// SMB2 has no exchange for this verb.
    NoExchange,
    /// The message is longer than bare TCP allows.
    MessageTooLong,
    /// The offset exceeds the maximum of a local file.
    OffsetTooLarge,
    /// The end of the range does not fit in 64 bits.
    EndTooLarge,
    /// The lock manager could execute it, but `--enable-nlm` is not set.
    NeedsLockManager,
    /// Answered without a call: there is nothing to send.
    NothingToSend,
    /// Answered without a call: files have no bytes at that offset.
    NothingToLock,
    /// Answered without a call: locks go to the lock manager, and `--enable-nlm` is not set.
    LocksNotSent,
}

impl Reason {
    /// Whether the load cannot run; otherwise the reason is only a note.
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

    /// Returns a short description.
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

/// Lines of one verb that a layer does not execute as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerbRefusal {
    /// Name in the load file.
    pub verb: &'static str,
    /// Name in records.
    pub operation: OpKind,
    /// The reason.
    pub reason: Reason,
    /// Whether the load cannot run because of it.
    pub refused: bool,
    /// Number of operations in one iteration.
    pub count: u64,
    /// The first such line of the file.
    pub first_line: u32,
}

/// Returns the lines that the layer would not execute: refusals first, then notes, each in the
/// order of the lines.
pub fn refusals(load: &Load, layer: LayerKind) -> Vec<VerbRefusal> {
    let mut found: BTreeMap<(OpKind, Reason), (u64, u32)> = BTreeMap::new();
    for step in load.steps().filter(|step| step.times() > 0) {
        if let Some(reason) = reason(layer, &Asked::of(&step, load.generation())) {
            let entry = found.entry((step.kind(), reason));
            let (count, _) = entry.or_insert((0, step.line()));
            *count = count.saturating_add(step.times());
        }
    }
    let mut refusals: Vec<VerbRefusal> = found
        .into_iter()
        .map(|((operation, reason), (count, first_line))| VerbRefusal {
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

/// Properties of a line that decide whether a layer can execute it.
#[derive(Debug, Clone, Copy)]
struct Asked {
    kind: OpKind,
    /// Generation of the verb.
    generation: Generation,
    /// Offset of the first byte; 0 if the verb has no range.
    offset: u64,
    /// Number of bytes.
    len: u64,
    /// Number of entries or bytes that are returned.
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

    /// Returns the end of the range; `None` if it exceeds 64 bits.
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

/// Returns the reason of the local layer. Windows programs lock ranges beyond all file data, as
/// semaphores; such locks are local to the server, and here to the layer.
fn reason_of_local(asked: &Asked) -> Option<Reason> {
    let is_beyond = asked.offset > LOCAL_OFFSET_MAX;
    match exchange_class(asked.kind) {
        ExchangeClass::Locks => (is_beyond || asked.len == 0).then_some(Reason::NothingToLock),
        ExchangeClass::Nlm => is_beyond.then_some(Reason::OffsetTooLarge),
        ExchangeClass::Read
        | ExchangeClass::Write
        | ExchangeClass::Listing
        | ExchangeClass::Cifs
        | ExchangeClass::Deltree
        | ExchangeClass::Nfs => asked
            .end()
            .is_none_or(|end| end > LOCAL_OFFSET_MAX)
            .then_some(Reason::OffsetTooLarge),
    }
}

/// Returns the reason of the TCP layer. tbench has a message for each CIFS-style verb except
/// Deltree, which it answers itself, and for no other verb. Sizes are dbench 3's: those of older
/// generations differ by a few bytes. Names are ignored, because they are never that long.
fn reason_of_tcp(asked: &Asked) -> Option<Reason> {
    let operation = match exchange_class(asked.kind) {
        ExchangeClass::Write => TbenchOperation::Write { len: asked.len },
        ExchangeClass::Read => TbenchOperation::Read {
            returned: asked.returned,
        },
        ExchangeClass::Listing => TbenchOperation::FindFirst {
            name: 0,
            entries: asked.returned,
        },
        ExchangeClass::Cifs | ExchangeClass::Locks => return None,
        ExchangeClass::Deltree => return Some(Reason::NothingToSend),
        ExchangeClass::Nlm | ExchangeClass::Nfs => return Some(Reason::NoMessage),
    };
    let exchange = TbenchDialect::Three.sizes(operation).exchange();
    exchange.is_err().then_some(Reason::MessageTooLong)
}

/// Returns the reason of the NFS layer. Offsets and lengths of RFC 1813 have 64 bits; locks use a
/// different protocol.
fn reason_of_nfs(nlm: bool, asked: &Asked) -> Option<Reason> {
    match exchange_class(asked.kind) {
        ExchangeClass::Locks => (!nlm).then_some(Reason::LocksNotSent),
        ExchangeClass::Nlm => (!nlm).then_some(Reason::NeedsLockManager),
        ExchangeClass::Read
        | ExchangeClass::Write
        | ExchangeClass::Listing
        | ExchangeClass::Cifs
        | ExchangeClass::Deltree
        | ExchangeClass::Nfs => asked.end().is_none().then_some(Reason::EndTooLarge),
    }
}

/// Returns the reason of the SMB layer. SMB2 has an exchange for every CIFS-style verb, but not for
/// NFS verbs. A range of bytes must not wrap around (MS-SMB2, section 3.3.5.14), but its last byte
/// may be the last of 64 bits.
fn reason_of_smb(asked: &Asked) -> Option<Reason> {
    match exchange_class(asked.kind) {
        ExchangeClass::Nlm | ExchangeClass::Nfs | ExchangeClass::Cifs
            if asked.generation == Generation::Nfs =>
        {
            return Some(Reason::NoExchange);
        }
        // READDIR of a load by path is READDIRPLUS, too.
        ExchangeClass::Nlm
        | ExchangeClass::Nfs
        | ExchangeClass::Read
        | ExchangeClass::Write
        | ExchangeClass::Listing
        | ExchangeClass::Cifs
        | ExchangeClass::Locks
        | ExchangeClass::Deltree => {}
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

    /// Returns the result of each layer for this load: reason, count, first line.
    fn said(text: &str) -> [Vec<(Reason, u64, u32)>; 5] {
        let mut compiler = Compiler::new("test.load");
        text.lines().for_each(|line| compiler.line(line.as_bytes()));
        let load = compiler.finish().expect("the load is right");
        LAYERS.map(|layer| {
            let found = refusals(&load, layer);
            let row = |refusal: &VerbRefusal| (refusal.reason, refusal.count, refusal.first_line);
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

    /// Returns the results for a load that opens a file as handle 1 on its first line, followed by
    /// these lines.
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
        let empty = TbenchDialect::Three.sizes(TbenchOperation::Write { len: 0 });
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
