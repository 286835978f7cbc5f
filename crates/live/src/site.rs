//! The live page and its protocol, as a router.

pub mod api;
mod batches;
mod document;
mod events;
mod watchers;

pub use document::Document;

use crate::event::Event;
use crate::feed::Feed;
use crate::guard::{RequestGuard, guarded};
use crate::token::Token;
use axum::Router;
use axum::middleware::from_fn_with_state;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use watchers::Watchers;

/// The page of a feed.
#[derive(Clone)]
pub struct Page {
    feed: Feed,
    guard: RequestGuard,
    address: SocketAddr,
    token: Token,
    document: Arc<Document>,
    watchers: Watchers,
}

impl Page {
    /// At an address, for whoever shows this token.
    pub fn new(feed: Feed, address: SocketAddr, token: Token, document: Document) -> Self {
        Self {
            feed,
            guard: RequestGuard::new(address, Some(token.clone())),
            address,
            token,
            document: Arc::new(document),
            watchers: Watchers::default(),
        }
    }

    /// The link that a person opens. It holds the token: behind `#`, which browsers keep to themselves, or
    /// where every request needs it, in the query.
    pub fn link(&self) -> String {
        let (address, token) = (self.reachable(), self.token.text());
        if self.guard.is_closed() {
            format!("http://{address}/?token={token}")
        } else {
            format!("http://{address}/#{token}")
        }
    }

    /// Offers the report of a run that is over, and waits until all pages that are open have taken it, but
    /// no longer than this.
    pub fn offer(&self, report: String, most: Duration) {
        self.watchers.offer(report);
        self.feed.publish(Event::ReportReady);
        self.watchers.wait(most);
    }

    /// An address that a browser can open: of all addresses, one.
    fn reachable(&self) -> SocketAddr {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        address
    }

    /// What is served.
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
