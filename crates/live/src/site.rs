//! The live page and its protocol, as a router.

pub mod api;
mod batches;
mod document;
mod events;
mod watchers;

pub use document::HtmlDocument;

use crate::event::Event;
use crate::feed::Feed;
use crate::guard::{RequestGuard, guarded};
use crate::token::AccessToken;
use axum::Router;
use axum::middleware::from_fn_with_state;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use watchers::Watchers;

/// The live page of a feed.
#[derive(Clone)]
pub struct LivePage {
    feed: Feed,
    guard: RequestGuard,
    address: SocketAddr,
    token: AccessToken,
    document: Arc<HtmlDocument>,
    watchers: Watchers,
}

impl LivePage {
    /// Creates the page for a listener at `address`; requests that change something need `token`.
    pub fn new(
        feed: Feed,
        address: SocketAddr,
        token: AccessToken,
        document: HtmlDocument,
    ) -> Self {
        Self {
            feed,
            guard: RequestGuard::new(address, Some(token.clone())),
            address,
            token,
            document: Arc::new(document),
            watchers: Watchers::default(),
        }
    }

    /// Returns the link for the user. It contains the token: in the fragment (`#`), which browsers
    /// do not send, or in the query if every request needs it.
    pub fn link(&self) -> String {
        let (address, token) = (self.reachable(), self.token.text());
        if self.guard.is_closed() {
            format!("http://{address}/?token={token}")
        } else {
            format!("http://{address}/#{token}")
        }
    }

    /// Offers the report of the ended run and waits until all open pages have fetched it, at most
    /// for `most`.
    pub fn offer(&self, report: String, most: Duration) {
        self.watchers.offer(report);
        self.feed.publish(Event::ReportReady);
        self.watchers.wait(most);
    }

    /// Returns an address that a browser can open; the loopback address if the listener is bound to
    /// all addresses.
    fn reachable(&self) -> SocketAddr {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        address
    }

    /// Returns the routes of the page.
    pub fn router(self) -> Router {
        let guard = self.guard.clone();
        Router::new()
            .merge(document::routes())
            .merge(api::routes())
            .fallback(api::unknown)
            .method_not_allowed_fallback(api::other_method)
            .layer(from_fn_with_state(guard, guarded))
            .with_state(self)
    }
}
