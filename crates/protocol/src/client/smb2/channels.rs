//! What the connections of one client share: its session, of which each of them is a channel
//! (MS-SMB2, sections 3.2.1.3 and 3.2.1.8).
//!
//! The first connection that has none makes the session; others bind to it, and wait while it is
//! being made. A connection that is lost binds again as long as another one lives; with the last
//! one the session is gone, and all that is open in it.

use super::negotiated::Negotiated;
use crate::session::smb2::Established;
use filestone_plan::plan::CHANNELS_MAX;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session that further connections can be bound to.
#[derive(Debug)]
pub(super) struct Shared {
    pub established: Established,
    pub negotiated: Arc<Negotiated>,
}

/// What a connection does to get to the session.
#[derive(Debug, Clone)]
pub(super) enum SetupRole {
    /// It makes one.
    Create,
    /// It is bound to this one.
    Bind(Arc<Shared>),
    /// It waits for the one that another connection is making.
    Wait,
}

/// What the connections of one client share.
#[derive(Debug, Default)]
pub struct Channels {
    state: Mutex<State>,
    /// Sessions that are gone.
    losses: AtomicU32,
}

#[derive(Debug, Default)]
struct State {
    session: Option<Arc<Shared>>,
    /// The channels that it has, one bit each.
    living: u32,
    /// SessionId of the last one that is gone, or 0.
    previous: u64,
    /// Which connection is making one.
    maker: Option<u32>,
}

// A plan has no more connections of a client than there are bits.
const _: () = assert!(CHANNELS_MAX <= u32::BITS);

const fn bit(channel: u32) -> u32 {
    1_u32.wrapping_shl(channel)
}

impl Channels {
    fn state(&self) -> MutexGuard<'_, State> {
        // All connections of a client are on one thread, and nothing can panic while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often the session was lost.
    pub fn losses(&self) -> u32 {
        self.losses.load(Ordering::Relaxed)
    }

    /// What is this connection's to do now.
    pub(super) fn turn(&self, channel: u32) -> SetupRole {
        let mut state = self.state();
        match (&state.session, state.maker) {
            (Some(session), _) => SetupRole::Bind(Arc::clone(session)),
            (None, Some(maker)) if maker != channel => SetupRole::Wait,
            (None, _) => {
                state.maker = Some(channel);
                SetupRole::Create
            }
        }
    }

    /// A connection has made a session.
    pub(super) fn made(&self, channel: u32, session: Shared) {
        let mut state = self.state();
        state.maker = None;
        state.session = Some(Arc::new(session));
        state.living = bit(channel);
    }

    /// A connection is bound to a session; whether that is still the one.
    pub(super) fn bound(&self, channel: u32, session: &Arc<Shared>) -> bool {
        let mut state = self.state();
        let is_same = state.is(session);
        if is_same {
            state.living |= bit(channel);
        }
        is_same
    }

    /// The server says that it has no such session.
    pub(super) fn forget(&self, session: &Arc<Shared>) {
        let mut state = self.state();
        if state.is(session) {
            state.living = 0;
            self.end(&mut state);
        }
    }

    /// A connection is gone.
    pub(super) fn mark_lost(&self, channel: u32) {
        let mut state = self.state();
        if state.maker == Some(channel) {
            state.maker = None;
        }
        if state.living & bit(channel) == 0 {
            return;
        }
        state.living &= !bit(channel);
        if state.living == 0 {
            return self.end(&mut state);
        }
        if let Some(session) = &state.session {
            session.established.sequence.advance();
        }
    }

    /// The session that is gone, by its SessionId, if one is: the next takes its place.
    pub(super) fn previous(&self) -> u64 {
        self.state().previous
    }

    fn end(&self, state: &mut State) {
        if let Some(session) = state.session.take() {
            state.previous = session.established.session_id;
        }
        self.losses.fetch_add(1, Ordering::Relaxed);
    }
}

impl State {
    fn is(&self, session: &Arc<Shared>) -> bool {
        let own = self.session.as_ref();
        own.is_some_and(|own| Arc::ptr_eq(own, session))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::session::smb2::{ChannelSequence, Limits, NegotiatedSummary};
    use filestone_wire::smb2::Dialect;

    /// Any.
    pub(in super::super) fn session() -> Shared {
        Shared {
            established: Established {
                session_id: 1,
                tree_id: 1,
                keys: None,
                signs: false,
                encrypts: false,
                large_mtu: true,
                charges: true,
                limits: Limits::default(),
                agreed: NegotiatedSummary {
                    dialect: Dialect::SMB_3_0,
                    cipher: None,
                    signing: None,
                    is_guest: false,
                    is_anonymous: false,
                },
                session_key: None,
                sequence: ChannelSequence::default(),
            },
            negotiated: Arc::new(Negotiated::of_tests()),
        }
    }

    fn to_bind(channels: &Channels, channel: u32) -> Arc<Shared> {
        match channels.turn(channel) {
            SetupRole::Bind(session) => session,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_makes_a_session_and_the_others_wait_for_it() {
        let channels = Channels::default();
        assert!(matches!(channels.turn(1), SetupRole::Create));
        assert!(matches!(channels.turn(0), SetupRole::Wait));
        // One that tries again is still the one.
        assert!(matches!(channels.turn(1), SetupRole::Create));
        channels.mark_lost(1);
        assert!(matches!(channels.turn(0), SetupRole::Create));
        channels.made(0, session());
        let session = to_bind(&channels, 1);
        assert!(channels.bound(1, &session));
        assert_eq!((channels.losses(), channels.previous()), (0, 0));
    }

    #[test]
    fn a_session_lives_as_long_as_one_of_its_channels() {
        let channels = Channels::default();
        assert!(matches!(channels.turn(0), SetupRole::Create));
        channels.made(0, session());
        let first = to_bind(&channels, 1);
        assert!(channels.bound(1, &first));
        // The first one comes back to it.
        channels.mark_lost(0);
        assert_eq!(
            (channels.losses(), first.established.sequence.number()),
            (0, 1)
        );
        assert!(Arc::ptr_eq(&to_bind(&channels, 0), &first));
        // The other is lost before it is there.
        channels.mark_lost(1);
        assert_eq!((channels.losses(), channels.previous()), (1, 1));
        assert!(!channels.bound(0, &first));
        channels.mark_lost(0);
        assert_eq!(channels.losses(), 1);
        assert!(matches!(channels.turn(1), SetupRole::Create));
    }

    #[test]
    fn a_session_that_the_server_does_not_know_is_gone_for_all() {
        let channels = Channels::default();
        assert!(matches!(channels.turn(0), SetupRole::Create));
        channels.made(0, session());
        let old = to_bind(&channels, 1);
        channels.forget(&old);
        assert_eq!(channels.losses(), 1);
        assert!(matches!(channels.turn(1), SetupRole::Create));
        channels.made(1, session());
        // Who hears of it later has no say in the next one.
        channels.forget(&old);
        channels.mark_lost(0);
        assert!(channels.bound(0, &to_bind(&channels, 0)));
        assert_eq!(channels.losses(), 1);
    }
}
