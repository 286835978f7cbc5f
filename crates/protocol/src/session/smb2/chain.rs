//! What goes out together: one request, or a compound of related ones.

use super::SessionKeys;
use filestone_wire::smb2::Command;
use std::sync::Arc;

/// Requests of one chain at most.
pub const PARTS_MAX: usize = 4;
/// Bytes of a request or of its response that one credit pays for (MS-SMB2, section 3.1.5.2).
pub const BYTES_OF_CREDIT: u32 = 64 << 10;

/// Whose a request is.
#[derive(Debug, Clone, Default)]
pub enum Scope {
    /// The session's tree.
    #[default]
    Tree,
    /// The session, and no tree.
    Session,
    /// Another tree of the session.
    OtherTree(u32),
    /// The connection: there is no session yet.
    Connection,
    /// Another session of this connection, with its keys once it has some, and a tree of it.
    Other {
        /// SessionId.
        session_id: u64,
        /// TreeId, or 0.
        tree_id: u32,
        /// Its keys.
        keys: Option<Arc<SessionKeys>>,
        /// What they are used for: what sets a session up is not protected.
        protects: KeyUse,
    },
}

/// What is done with keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyUse {
    /// Nothing.
    Nothing,
    /// Messages are signed.
    Signs,
    /// They are encrypted.
    Encrypts,
    /// Requests are signed, and whoever asks looks at the signatures of the responses: they bind
    /// this connection to the session, and the last one is signed with a key that is only derived
    /// from it.
    Binds,
}

/// By what they are compared does not matter: it is only done in tests.
impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Eq for Scope {}

/// One request of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its command.
    pub command: Command,
    /// Where its body ends among those of the chain.
    pub end: u32,
    /// The larger of what it sends besides and of what it may be answered.
    pub payload: u32,
}

/// Requests that go out together: in one compound if there are several, each about the file that
/// the first of them opens, or apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompoundRequest {
    parts: [Part; PARTS_MAX],
    /// How many of those there are; the others are all alike.
    len: u8,
    /// Whose they are.
    pub scope: Scope,
    /// Whether the messages are wanted as they go out: for hashes of them.
    pub keeps_sent: bool,
    /// Whether each request has a frame of its own, all at once: none is about what another one
    /// opens, and one may wait for what another one does.
    pub is_apart: bool,
    /// Whether it is cancelled as soon as the server says that it is at work on it.
    pub is_cancelled: bool,
}

impl CompoundRequest {
    /// None.
    pub const NONE: Self = Self {
        parts: [Part::NONE; PARTS_MAX],
        len: 0,
        scope: Scope::Tree,
        keeps_sent: false,
        is_apart: false,
        is_cancelled: false,
    };

    /// One more request; one too many is left out.
    pub fn push(&mut self, part: Part) {
        if let Some(place) = self.parts.get_mut(usize::from(self.len)) {
            *place = part;
            self.len += 1;
        }
    }

    /// Its requests.
    #[inline]
    pub fn parts(&self) -> &[Part] {
        self.parts.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len.into()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it is signed in 3.1.1 even if others are not (section 3.2.4.1.1).
    pub fn must_be_signed(&self) -> bool {
        let first = self.parts().first();
        first.is_some_and(|part| part.command == Command::TreeConnect)
    }

    /// As an error names it: `CREATE+READ+CLOSE`.
    pub fn shown(&self) -> String {
        let names: Vec<String> = self
            .parts()
            .iter()
            .map(|part| part.command.to_string())
            .collect();
        names.join("+")
    }
}

impl Part {
    /// What stands where there is none.
    const NONE: Self = Self {
        command: Command::Negotiate,
        end: 0,
        payload: 0,
    };

    /// Credits that it takes where a message may take more than one.
    pub const fn charge(&self) -> u16 {
        let credits = self.payload.saturating_sub(1) / BYTES_OF_CREDIT + 1;
        if credits > u16::MAX as u32 {
            u16::MAX
        } else {
            credits as u16
        }
    }
}
