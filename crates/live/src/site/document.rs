//! The page itself.

use super::Page;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// A page that loads nothing but what is asked of `/api`.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its text.
    pub html: String,
    /// Its Content-Security-Policy.
    pub policy: String,
}

/// The document.
pub fn routes() -> Router<Page> {
    Router::new()
        .route("/", get(document))
        // Browsers ask for it unasked.
        .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
}

async fn document(State(page): State<Page>) -> Response {
    let document = &page.document;
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (CONTENT_SECURITY_POLICY, document.policy.clone()),
    ];
    (headers, document.html.clone()).into_response()
}
