//! Results of NEGOTIATE and SESSION_SETUP on one connection.

use crate::session::smb2::{KeyMaterial, KeyUse, Preauth, Scope, SessionKeys, SmbTransferLimits};
use filestone_wire::smb2::negotiate::{Cipher, SigningAlgorithm};
use filestone_wire::smb2::session_setup::SessionFlags;
use filestone_wire::smb2::{Capabilities, Dialect, SecurityMode};
use std::sync::Arc;

/// Result of NEGOTIATE.
#[derive(Debug, Clone)]
pub struct Negotiated {
    pub(super) dialect: Dialect,
    pub(super) capabilities: Capabilities,
    pub(super) security_mode: SecurityMode,
    pub(super) server_guid: [u8; 16],
    pub(super) limits: SmbTransferLimits,
    pub(super) cipher: Option<Cipher>,
    pub(super) signing: SigningAlgorithm,
    pub(super) preauth: Preauth,
}

impl Negotiated {
    /// Returns an arbitrary result.
    #[cfg(test)]
    pub(super) fn of_tests() -> Self {
        Self {
            dialect: Dialect::SMB_3_0,
            capabilities: Capabilities::MULTI_CHANNEL,
            security_mode: SecurityMode::SIGNING_ENABLED,
            server_guid: [0; 16],
            limits: SmbTransferLimits::default(),
            cipher: None,
            signing: SigningAlgorithm::AES_CMAC,
            preauth: Preauth::default(),
        }
    }

    /// Returns the key material for the signing keys of this connection.
    pub(super) fn material<'a>(
        &self,
        session_key: &'a [u8],
        preauth: &'a Preauth,
    ) -> KeyMaterial<'a> {
        let is_3_1_1 = self.dialect == Dialect::SMB_3_1_1;
        KeyMaterial {
            session_key,
            dialect: self.dialect,
            signing: self.signing,
            cipher: self.cipher,
            preauth: is_3_1_1.then_some(preauth),
        }
    }

    pub(super) fn is_large_mtu(&self) -> bool {
        self.dialect.0 > Dialect::SMB_2_0_2.0 && self.capabilities.contains(Capabilities::LARGE_MTU)
    }

    /// Returns whether both connections are to the same server, and can share a session.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.dialect == other.dialect
            && self.server_guid == other.server_guid
            && self.cipher == other.cipher
            && self.signing == other.signing
    }
}

/// A session.
#[derive(Debug, Clone)]
pub struct EstablishedSession {
    /// SessionId.
    pub session_id: u64,
    /// Session keys, unless the session is unauthenticated.
    pub keys: Option<Arc<SessionKeys>>,
    /// Session flags from the server.
    pub(super) flags: SessionFlags,
    /// The session key, from which the other keys are derived.
    pub(super) session_key: Option<[u8; 16]>,
}

impl EstablishedSession {
    /// Returns the scope of messages in this session, before it is the connection's session.
    pub fn scope(&self, tree_id: u32, protects: KeyUse) -> Scope {
        Scope::Other {
            session_id: self.session_id,
            tree_id,
            keys: self.keys.clone(),
            protects,
        }
    }
}
