//! State shared by the connections of one client: its session, with each connection as a channel
//! (MS-SMB2, sections 3.2.1.3 and 3.2.1.8).
//!
//! The first connection without a session creates it; others bind to it, and wait while it is being
//! created. A lost connection binds again while another one lives; with the last one the session is
//! gone, and all its opens.

use super::negotiated::Negotiated;
use crate::session::smb2::Established;
use filestone_plan::plan::CHANNELS_MAX;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session to which further connections can be bound.
#[derive(Debug)]
pub(super) struct BindableSession {
    pub established: Established,
    pub negotiated: Arc<Negotiated>,
}

/// Role of a connection in the setup of the session.
#[derive(Debug, Clone)]
pub(super) enum SetupRole {
    /// Creates the session.
    Create,
    /// Binds to this session.
    Bind(Arc<BindableSession>),
    /// Waits for the session that another connection is creating.
    Wait,
}

/// State shared by the connections of one client.
#[derive(Debug, Default)]
pub struct Channels {
    state: Mutex<State>,
    /// Number of lost sessions.
    losses: AtomicU32,
}

#[derive(Debug, Default)]
struct State {
    session: Option<Arc<BindableSession>>,
    /// Live channels of the session, one bit each.
    living: u32,
    /// SessionId of the last lost session, or 0.
    previous: u64,
    /// The connection that is creating a session.
    maker: Option<u32>,
}

// A plan has at most as many connections per client as there are bits.
const _: () = assert!(CHANNELS_MAX <= u32::BITS);

const fn bit(channel: u32) -> u32 {
    1_u32.wrapping_shl(channel)
}

impl Channels {
    fn state(&self) -> MutexGuard<'_, State> {
        // All connections of a client are on one thread, and no code that holds the lock can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of times the session was lost.
    #[inline]
    pub fn losses(&self) -> u32 {
        self.losses.load(Ordering::Relaxed)
    }

    /// Returns the current role of a connection.
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

    /// Records the session that a connection has created.
    pub(super) fn made(&self, channel: u32, session: BindableSession) {
        let mut state = self.state();
        state.maker = None;
        state.session = Some(Arc::new(session));
        state.living = bit(channel);
    }

    /// Records that a connection was bound to a session; returns whether that session is still
    /// current.
    pub(super) fn bound(&self, channel: u32, session: &Arc<BindableSession>) -> bool {
        let mut state = self.state();
        let is_same = state.is(session);
        if is_same {
            state.living |= bit(channel);
        }
        is_same
    }

    /// Drops a session that the server no longer knows.
    pub(super) fn forget(&self, session: &Arc<BindableSession>) {
        let mut state = self.state();
        if state.is(session) {
            state.living = 0;
            self.end(&mut state);
        }
    }

    /// Records the loss of a connection.
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

    /// Returns the SessionId of the lost session that the next one replaces, or 0.
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
    fn is(&self, session: &Arc<BindableSession>) -> bool {
        let own = self.session.as_ref();
        own.is_some_and(|own| Arc::ptr_eq(own, session))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns an arbitrary session.
    pub(in super::super) fn session() -> BindableSession {
        BindableSession {
            established: Established::of_tests(1, 1, None),
            negotiated: Arc::new(Negotiated::of_tests()),
        }
    }

    fn to_bind(channels: &Channels, channel: u32) -> Arc<BindableSession> {
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
        // A connection that retries keeps its role.
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
        // The first connection rejoins the session.
        channels.mark_lost(0);
        assert_eq!(
            (channels.losses(), first.established.sequence.number()),
            (0, 1)
        );
        assert!(Arc::ptr_eq(&to_bind(&channels, 0), &first));
        // The other connection is lost before it is bound.
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
        // A connection that learns of it later does not affect the next session.
        channels.forget(&old);
        channels.mark_lost(0);
        assert!(channels.bound(0, &to_bind(&channels, 0)));
        assert_eq!(channels.losses(), 1);
    }
}
