//! Request authorization by host, origin and token, and the headers of every response.
//!
//! A page of another site must not be able to reach this server. Requests that a browser sends for
//! such a page carry the site's name in `Origin`, or in `Host` if the site has made its own name
//! resolve to this host (DNS rebinding). An address cannot be redirected this way. Therefore `Host`
//! must be an address, `localhost` or the name of this host, and `Origin` must equal it.

use crate::token::AccessToken;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName,
    HeaderValue, ORIGIN, REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Default Content-Security-Policy: a browser may load nothing, unless a document has its own
/// policy.
pub const POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Authorizes requests.
#[derive(Debug, Clone)]
pub struct RequestGuard {
    /// Whether every request needs the token, not only those that change something.
    is_closed: bool,
    /// Names of this host in addition to `localhost`.
    names: Arc<[String]>,
    token: Option<AccessToken>,
}

/// Reason for refusing a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestRejection {
    /// The `Host` header is missing or names another host.
    Host,
    /// The request comes from a page of another site.
    Origin,
    /// The request lacks the token.
    Token,
}

impl RequestGuard {
    /// Creates the guard of a listener at `address`. Every request needs the token if other hosts
    /// can reach the address.
    pub fn new(address: SocketAddr, token: Option<AccessToken>) -> Self {
        let name = rustix::system::uname();
        let name = name.nodename().to_str().unwrap_or_default();
        Self {
            is_closed: !address.ip().is_loopback() && token.is_some(),
            names: [name.to_ascii_lowercase()].into(),
            token,
        }
    }

    /// Whether every request needs the token.
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Checks that the host and the origin of a request belong to this server.
    pub fn authorize(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), RequestRejection> {
        let host = sole(headers, &HOST).ok_or(RequestRejection::Host)?;
        if !self.is_ours(host) || uri.authority().is_some_and(|own| own.as_str() != host) {
            return Err(RequestRejection::Host);
        }
        if headers.contains_key(ORIGIN) {
            let origin = sole(headers, &ORIGIN).ok_or(RequestRejection::Origin)?;
            let authority = origin
                .strip_prefix("http://")
                .ok_or(RequestRejection::Origin)?;
            if !authority.eq_ignore_ascii_case(host) {
                return Err(RequestRejection::Origin);
            }
        }
        match headers.get(FETCH_SITE).map(HeaderValue::as_bytes) {
            // `cross-site` also covers following a link from another site. Such a request asks for
            // a document, and the page is the only document served here.
            None | Some(b"none" | b"same-origin") => Ok(()),
            Some(_) if uri.path() == "/" && !headers.contains_key(ORIGIN) => Ok(()),
            Some(_) => Err(RequestRejection::Origin),
        }
    }

    /// Whether the request contains the token: in `Authorization: Bearer`, or as `?token=` for the
    /// document, for which a browser sends no such header.
    pub fn has_token(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let Some(token) = &self.token else {
            return false;
        };
        let shown = sole(headers, &AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
        let queried = uri.query().filter(|_| uri.path() == "/");
        let queried = queried.and_then(|query| query.strip_prefix("token="));
        shown.or(queried).is_some_and(|shown| token.is(shown))
    }

    /// Whether `host` is an address, `localhost` or the name of this host, with or without a port.
    fn is_ours(&self, host: &str) -> bool {
        if let Some(rest) = host.strip_prefix('[') {
            let Some((address, port)) = rest.split_once(']') else {
                return false;
            };
            let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
            return is_port && address.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6());
        }
        let (name, port) = host
            .split_once(':')
            .map_or((host, None), |(name, port)| (name, Some(port)));
        if port.is_some_and(|port| !is_port(port)) {
            return false;
        }
        let is_address = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv4());
        let name = name.to_ascii_lowercase();
        is_address || name == "localhost" || self.names.contains(&name)
    }
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

/// Returns the value of a header that occurs exactly once.
fn sole<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok()
}

impl IntoResponse for RequestRejection {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "this is filestone; ask for it by an address of this host or as localhost\n",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                "a page of another site may not ask for this\n",
            ),
            Self::Token => (
                StatusCode::UNAUTHORIZED,
                "this needs the token that was printed at the start: Authorization: Bearer TOKEN\n",
            ),
        };
        let mut response = (status, text).into_response();
        if self == Self::Token {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

/// Middleware that passes authorized requests on and adds the standard headers to every response.
/// For [`axum::middleware::from_fn_with_state`].
pub async fn guarded(State(guard): State<RequestGuard>, request: Request, next: Next) -> Response {
    let (headers, uri) = (request.headers(), request.uri());
    let admitted = guard.authorize(headers, uri).and_then(|()| {
        if guard.is_closed && !guard.has_token(headers, uri) {
            return Err(RequestRejection::Token);
        }
        Ok(())
    });
    let response = match admitted {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    marked(response)
}

/// Adds the headers that every response has.
pub fn marked(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
    ] {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str) -> (RequestGuard, AccessToken) {
        let token = AccessToken::new().expect("random numbers");
        let address = address.parse().expect("an address");
        (RequestGuard::new(address, Some(token.clone())), token)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        headers
    }

    #[test]
    fn hosts_are_addresses_localhost_and_this_host() {
        let (guard, _) = guard("127.0.0.1:80");
        for (host, is_ours) in [
            ("127.0.0.1:9000", true),
            ("localhost", true),
            ("LOCALHOST:1", true),
            ("[::1]:9000", true),
            ("10.1.2.3", true),
            ("evil.example", false),
            ("evil.example:9000", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("localhost:99999", false),
            ("localhost:", false),
            ("[::1", false),
            ("[evil]:1", false),
            ("", false),
            ("2130706433", false),
        ] {
            let admitted = guard.authorize(&headers(&[("host", host)]), &Uri::from_static("/"));
            assert_eq!(admitted.is_ok(), is_ours, "{host}");
        }
        let two = headers(&[("host", "localhost"), ("host", "localhost")]);
        assert_eq!(
            guard.authorize(&two, &Uri::from_static("/")),
            Err(RequestRejection::Host)
        );
        let none = HeaderMap::new();
        assert_eq!(
            guard.authorize(&none, &Uri::from_static("/")),
            Err(RequestRejection::Host)
        );
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let (guard, _) = guard("127.0.0.1:80");
        for (name, value, path, is_admitted) in [
            ("origin", "http://localhost:80", "/api/state", true),
            ("origin", "http://localhost:81", "/api/state", false),
            ("origin", "https://localhost:80", "/api/state", false),
            ("origin", "http://evil.example", "/api/state", false),
            ("origin", "null", "/", false),
            ("sec-fetch-site", "same-origin", "/api/state", true),
            ("sec-fetch-site", "none", "/", true),
            ("sec-fetch-site", "cross-site", "/", true),
            ("sec-fetch-site", "cross-site", "/api/state", false),
            ("sec-fetch-site", "same-site", "/api/state", false),
        ] {
            let headers = headers(&[("host", "localhost:80"), (name, value)]);
            let admitted = guard.authorize(&headers, &Uri::from_static(path));
            assert_eq!(admitted.is_ok(), is_admitted, "{name}: {value} for {path}");
        }
    }

    #[test]
    fn what_others_can_reach_needs_the_token_and_what_only_this_host_reaches_for_changes() {
        let (here, token) = guard("[::1]:80");
        assert!(!here.is_closed());
        let (guard, _) = guard("0.0.0.0:80");
        assert!(guard.is_closed());
        let shown = format!("Bearer {}", token.text());
        let authorized = headers(&[("authorization", &shown)]);
        assert!(here.has_token(&authorized, &Uri::from_static("/api/x")));
        assert!(
            !guard.has_token(&authorized, &Uri::from_static("/api/x")),
            "another's"
        );
        let query: Uri = format!("/?token={}", token.text()).parse().expect("a path");
        assert!(here.has_token(&HeaderMap::new(), &query));
        let query: Uri = format!("/api/x?token={}", token.text())
            .parse()
            .expect("a path");
        assert!(
            !here.has_token(&HeaderMap::new(), &query),
            "only for a document"
        );
    }
}
