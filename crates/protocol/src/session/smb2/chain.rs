//! Unit of sending: one request, or a compound of related requests.

use super::SessionKeys;
use filestone_wire::smb2::Command;
use std::sync::Arc;

/// Maximum number of requests in a chain.
pub const PARTS_MAX: usize = 4;
/// Bytes of a request or of its response covered by one credit (MS-SMB2, section 3.1.5.2).
pub const BYTES_OF_CREDIT: u32 = 64 << 10;

/// Session and tree that a request belongs to.
#[derive(Debug, Clone, Default)]
pub enum Scope {
    /// The tree of the connection's session.
    #[default]
    Tree,
    /// The connection's session, without a tree.
    Session,
    /// Another tree of the session.
    OtherTree(u32),
    /// The connection: there is no session yet.
    Connection,
    /// Another session of this connection, with its keys once they exist, and one of its trees.
    Other {
        /// SessionId.
        session_id: u64,
        /// TreeId, or 0.
        tree_id: u32,
        /// The keys of that session.
        keys: Option<Arc<SessionKeys>>,
        /// Use of the keys: messages of a session setup are not protected.
        protects: KeyUse,
    },
}

/// Use of session keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyUse {
    /// Messages are not protected.
    Nothing,
    /// Messages are signed.
    Signs,
    /// Messages are encrypted.
    Encrypts,
    /// Requests are signed, and the caller checks the signatures of the responses: these requests
    /// bind this connection to the session, and the last response is signed with a key derived from
    /// the exchange itself.
    Binds,
}

/// Compares variants only; used in tests.
impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Eq for Scope {}

/// A request of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompoundPart {
    /// The command.
    pub command: Command,
    /// End of its body within the bodies of the chain.
    pub end: u32,
    /// The larger of its request payload and its response payload, in bytes.
    pub payload: u32,
}

/// Requests sent together. Several requests form one compound, each about the file that the first
/// opens, unless they are sent apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompoundRequest {
    parts: [CompoundPart; PARTS_MAX],
    /// Number of used parts; the others are `CompoundPart::NONE`.
    len: u8,
    /// Session and tree of the requests.
    pub scope: Scope,
    /// Whether the caller needs the sent messages, for example to hash them.
    pub keeps_sent: bool,
    /// Whether each request has a separate frame, all sent at once: no request uses a file opened
    /// by another, and one may wait for an effect of another.
    pub is_apart: bool,
    /// Whether the chain is cancelled as soon as the server reports that it is pending.
    pub is_cancelled: bool,
}

impl CompoundRequest {
    /// The empty chain.
    pub const NONE: Self = Self {
        parts: [CompoundPart::NONE; PARTS_MAX],
        len: 0,
        scope: Scope::Tree,
        keeps_sent: false,
        is_apart: false,
        is_cancelled: false,
    };

    /// Adds a request; ignores it if the chain is full.
    pub fn push(&mut self, part: CompoundPart) {
        if let Some(place) = self.parts.get_mut(usize::from(self.len)) {
            *place = part;
            self.len += 1;
        }
    }

    /// Returns the requests.
    #[inline]
    pub fn parts(&self) -> &[CompoundPart] {
        self.parts.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Returns the number of requests.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len.into()
    }

    /// Returns whether the chain has no requests.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether SMB 3.1.1 signs the chain even if others are unsigned (section 3.2.4.1.1).
    pub fn must_be_signed(&self) -> bool {
        let first = self.parts().first();
        first.is_some_and(|part| part.command == Command::TreeConnect)
    }

    /// Returns the commands as shown in errors: `CREATE+READ+CLOSE`.
    pub fn shown(&self) -> String {
        let names: Vec<String> = self
            .parts()
            .iter()
            .map(|part| part.command.to_string())
            .collect();
        names.join("+")
    }
}

impl CompoundPart {
    /// Filler of unused parts.
    const NONE: Self = Self {
        command: Command::Negotiate,
        end: 0,
        payload: 0,
    };

    /// Returns the CreditCharge where a message may use more than one credit.
    pub const fn charge(&self) -> u16 {
        let credits = self.payload.saturating_sub(1) / BYTES_OF_CREDIT + 1;
        if credits > u16::MAX as u32 {
            u16::MAX
        } else {
            credits as u16
        }
    }
}
