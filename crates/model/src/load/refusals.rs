//! What a layer would refuse of a load, or answer without asking anybody: told
//! before anything is sent.

use super::Generation;
use super::action::Action;
use super::census::verbs::verb;
use super::script::Line;
use crate::operation::OpKind;
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
}

/// Longest message of bare TCP: more would have to be held in memory at once.
pub const TCP_BYTES_MAX: u64 = 16 << 20;

/// Offsets of a local file are signed (off_t of POSIX).
const LOCAL_OFFSET_MAX: u64 = i64::MAX as u64;

/// Why a layer does not do what a line asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Bare TCP has no message for this verb.
    NoMessage,
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
    /// Answered without a call: locks go to the lock manager, and `--enable-nlm`
    /// is not given.
    LocksNotSent,
}

impl Reason {
    /// Whether the load cannot run; else it is only good to know.
    pub const fn is_refusal(self) -> bool {
        match self {
            Reason::NoMessage
            | Reason::MessageTooLong
            | Reason::OffsetTooLarge
            | Reason::EndTooLarge
            | Reason::NeedsLockManager => true,
            Reason::NothingToSend | Reason::LocksNotSent => false,
        }
    }

    /// In a few words.
    pub const fn sentence(self) -> &'static str {
        match self {
            Reason::NoMessage => "bare TCP has no message for it",
            Reason::MessageTooLong => "longer than the 16 MiB of a message",
            Reason::OffsetTooLarge => "beyond 2^63 - 1, the largest offset of a local file",
            Reason::EndTooLarge => "ends beyond 2^64 - 1",
            Reason::NeedsLockManager => "needs --enable-nlm",
            Reason::NothingToSend => "answered without a call: there is nothing to send",
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

/// Refusals of one layer, gathered line by line.
#[derive(Debug)]
pub struct Refusals {
    generation: Generation,
    layer: LayerKind,
    found: BTreeMap<(OpKind, Reason), (u64, u32)>,
}

impl Refusals {
    /// None yet.
    pub fn new(generation: Generation, layer: LayerKind) -> Self {
        Self {
            generation,
            layer,
            found: BTreeMap::new(),
        }
    }

    /// Looks at a line.
    pub fn add(&mut self, line: &Line) {
        if let Some(reason) = reason(self.layer, &line.action) {
            let (count, first) = self
                .found
                .entry((line.action.kind(), reason))
                .or_insert((0, line.number));
            *count += 1;
            *first = line.number.min(*first);
        }
    }

    /// All that were found: refusals first, then what is only good to know.
    pub fn finish(&self) -> Vec<Refusal> {
        let mut refusals: Vec<Refusal> = self
            .found
            .iter()
            .map(|(&(operation, reason), &(count, first_line))| Refusal {
                verb: verb(self.generation, operation),
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
}

fn reason(layer: LayerKind, action: &Action) -> Option<Reason> {
    match layer {
        LayerKind::Local => range_end(action)
            .is_none_or(|end| end > LOCAL_OFFSET_MAX)
            .then_some(Reason::OffsetTooLarge),
        LayerKind::Tcp => reason_of_tcp(action),
        LayerKind::Nfs3 { nlm } => reason_of_nfs(nlm, action),
    }
}

/// Where the range that an action is about ends; 0 if it is about none, `None`
/// if 64 bits do not hold it.
fn range_end(action: &Action) -> Option<u64> {
    match *action {
        Action::ReadX { offset, len, .. }
        | Action::WriteX { offset, len, .. }
        | Action::LockX { offset, len, .. }
        | Action::UnlockX { offset, len, .. }
        | Action::Read { offset, len, .. }
        | Action::Write { offset, len, .. }
        | Action::Lock4 { offset, len, .. }
        | Action::Unlock4 { offset, len, .. }
        | Action::Test4 { offset, len, .. } => offset.checked_add(len),
        Action::OpenX { len, .. } => Some(len),
        Action::NtCreateX { .. }
        | Action::Close { .. }
        | Action::Flush { .. }
        | Action::Unlink { .. }
        | Action::Mkdir { .. }
        | Action::Rmdir { .. }
        | Action::Rename { .. }
        | Action::Deltree { .. }
        | Action::FindFirst { .. }
        | Action::QueryPathInformation { .. }
        | Action::QueryFileInformation { .. }
        | Action::SetFileInformation { .. }
        | Action::QueryFsInformation { .. }
        | Action::GetAttr { .. }
        | Action::SetAttr { .. }
        | Action::Lookup { .. }
        | Action::Access { .. }
        | Action::ReadLink { .. }
        | Action::Create { .. }
        | Action::Symlink { .. }
        | Action::Link { .. }
        | Action::Remove { .. }
        | Action::ReadDirectoryPlus { .. }
        | Action::FileSystemStatus
        | Action::FileSystemInfo
        | Action::PathConfiguration { .. }
        | Action::Commit { .. } => Some(0),
    }
}

/// tbench has a message for each CIFS-style verb but Deltree, which it answers
/// itself, and for no other.
fn reason_of_tcp(action: &Action) -> Option<Reason> {
    let bytes = match *action {
        Action::WriteX { len, .. } => len,
        Action::ReadX { expected_len, .. } => expected_len,
        Action::FindFirst { expected, .. } => expected.saturating_mul(90),
        Action::Deltree { .. } => return Some(Reason::NothingToSend),
        Action::NtCreateX { .. }
        | Action::OpenX { .. }
        | Action::Close { .. }
        | Action::Flush { .. }
        | Action::LockX { .. }
        | Action::UnlockX { .. }
        | Action::Unlink { .. }
        | Action::Mkdir { .. }
        | Action::Rmdir { .. }
        | Action::Rename { .. }
        | Action::QueryPathInformation { .. }
        | Action::QueryFileInformation { .. }
        | Action::SetFileInformation { .. }
        | Action::QueryFsInformation { .. } => 0,
        Action::GetAttr { .. }
        | Action::SetAttr { .. }
        | Action::Lookup { .. }
        | Action::Access { .. }
        | Action::ReadLink { .. }
        | Action::Read { .. }
        | Action::Write { .. }
        | Action::Create { .. }
        | Action::Symlink { .. }
        | Action::Link { .. }
        | Action::Remove { .. }
        | Action::ReadDirectoryPlus { .. }
        | Action::FileSystemStatus
        | Action::FileSystemInfo
        | Action::PathConfiguration { .. }
        | Action::Commit { .. }
        | Action::Lock4 { .. }
        | Action::Unlock4 { .. }
        | Action::Test4 { .. } => return Some(Reason::NoMessage),
    };
    (bytes > TCP_BYTES_MAX).then_some(Reason::MessageTooLong)
}

/// Offsets and lengths of RFC 1813 have 64 bits; locks are another protocol's.
fn reason_of_nfs(nlm: bool, action: &Action) -> Option<Reason> {
    match action {
        Action::LockX { .. } | Action::UnlockX { .. } if !nlm => Some(Reason::LocksNotSent),
        Action::Lock4 { .. } | Action::Unlock4 { .. } | Action::Test4 { .. } if !nlm => {
            Some(Reason::NeedsLockManager)
        }
        action => range_end(action).is_none().then_some(Reason::EndTooLarge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Expected;

    const LAYERS: [LayerKind; 4] = [
        LayerKind::Local,
        LayerKind::Tcp,
        LayerKind::Nfs3 { nlm: false },
        LayerKind::Nfs3 { nlm: true },
    ];

    /// What each layer says to these actions, one per line of a file.
    fn said(actions: &[Action]) -> Vec<Vec<(Reason, u64, u32)>> {
        LAYERS
            .iter()
            .map(|layer| {
                let mut refusals = Refusals::new(Generation::Cifs, *layer);
                for (number, action) in (1..).zip(actions) {
                    refusals.add(&Line {
                        number,
                        stamp: None,
                        action: *action,
                        expected: Expected::Success,
                        data: &[0],
                    });
                }
                let found = refusals.finish();
                found
                    .iter()
                    .map(|refusal| (refusal.reason, refusal.count, refusal.first_line))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn bare_tcp_has_no_message_for_nfs() {
        let said = said(&[
            Action::Close { handle: 1 },
            Action::GetAttr { path: b"a" },
            Action::GetAttr { path: b"b" },
            Action::Deltree { path: b"" },
        ]);
        assert_eq!(
            said,
            [
                vec![],
                vec![(Reason::NoMessage, 2, 2), (Reason::NothingToSend, 1, 4)],
                vec![],
                vec![]
            ]
        );
    }

    #[test]
    fn locks_over_nfs_need_the_lock_manager() {
        let said = said(&[
            Action::LockX {
                handle: 1,
                offset: 0,
                len: 1,
            },
            Action::Lock4 {
                path: b"a",
                offset: 0,
                len: 1,
            },
        ]);
        assert_eq!(
            said,
            [
                vec![],
                vec![(Reason::NoMessage, 1, 2)],
                vec![
                    (Reason::NeedsLockManager, 1, 2),
                    (Reason::LocksNotSent, 1, 1)
                ],
                vec![]
            ]
        );
    }

    #[test]
    fn sizes_and_offsets_have_their_limits() {
        let write = |offset, len| Action::WriteX {
            handle: 1,
            offset,
            len,
            expected_len: len,
        };
        let said = said(&[
            write(0, TCP_BYTES_MAX),
            write(0, TCP_BYTES_MAX + 1),
            write(LOCAL_OFFSET_MAX - 1, 1),
            write(LOCAL_OFFSET_MAX, 1),
            write(u64::MAX, 1),
        ]);
        let end = vec![(Reason::EndTooLarge, 1, 5)];
        assert_eq!(
            said,
            [
                vec![(Reason::OffsetTooLarge, 2, 4)],
                vec![(Reason::MessageTooLong, 1, 2)],
                end.clone(),
                end
            ]
        );
    }
}
