//! The HTML page.

use super::LivePage;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// A page that loads nothing except from `/api`.
#[derive(Debug, Clone)]
pub struct HtmlDocument {
    /// HTML text of the page.
    pub html: String,
    /// Content-Security-Policy of the page.
    pub policy: String,
}

/// Returns the routes of the document.
pub fn routes() -> Router<LivePage> {
    Router::new()
        .route("/", get(document))
        // Browsers request this on their own.
        .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
}

async fn document(State(page): State<LivePage>) -> Response {
    let document = &page.document;
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (CONTENT_SECURITY_POLICY, document.policy.clone()),
    ];
    (headers, document.html.clone()).into_response()
}
