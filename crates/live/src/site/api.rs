//! The protocol of the page: what goes on, as JSON and as server-sent events; and a fleet, by the protocol
//! of `fleet ctl`.
//!
//! | request | answer |
//! |---|---|
//! | `GET /api/state` | a [`Snapshot`](crate::feed::Snapshot) with the last intervals |
//! | `GET /api/events` | events: a snapshot, the intervals so far, then what happens |
//! | `GET /api/fleet`, `GET /api/fleet/clients` | groups; groups and a window of clients |
//! | `GET /api/fleet/client?which=` | one client, or one group, with its settings |
//! | `POST /api/fleet` | any request of `fleet ctl`; needs the token |
//! | `GET /api/report` | the report of the run, as a page, once it is over |
//! | `GET /api/schema` | the schema of all these |

use super::{Page, events};
use crate::event::Event;
use crate::feed::Snapshot;
use crate::guard::Refused;
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Query, Request as HttpRequest, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use filestone_protocol::fleet_control::{
    ClientPage, ControlAnswer, ControlProtocol, ControlRequest, LINE_MAX, ListRequest, Request,
    ShowRequest,
};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the body of a request may be on its way.
const BODY_TIME: Duration = Duration::from_secs(5);
/// Intervals of a state: those of the last minute, where they are a second long.
const INTERVALS_OF_STATE: usize = 60;

/// Everything that is said, for its schema.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LiveProtocol {
    /// `GET /api/state`, and the first event of `GET /api/events`.
    pub snapshot: Snapshot,
    /// Every other event.
    pub event: Event,
    /// `POST /api/fleet`, and what the others about fleets answer.
    pub fleet: ControlProtocol,
}

/// What can be asked.
pub fn routes() -> Router<Page> {
    Router::new()
        .route("/api/state", get(state))
        .route("/api/events", get(events::stream))
        .route("/api/fleet", get(groups).post(told))
        .route("/api/fleet/clients", get(clients))
        .route("/api/fleet/client", get(client))
        .route("/api/report", get(report))
        .route("/api/schema", get(schema))
}

/// The JSON schema of [`LiveProtocol`].
pub const SCHEMA: &str = include_str!("../../../../docs/schema/live.json");

/// Whatever is nowhere.
pub async fn unknown() -> Response {
    (StatusCode::NOT_FOUND, "there is nothing here\n").into_response()
}

/// Whatever cannot be done with what is there.
pub async fn other_method() -> Response {
    (
        StatusCode::METHOD_NOT_ALLOWED,
        "this cannot be done with that\n",
    )
        .into_response()
}

fn json(value: &impl Serialize) -> Response {
    // Nothing of what is answered cannot be JSON.
    let text = serde_json::to_vec(value).unwrap_or_default();
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

/// What is known.
async fn state(State(page): State<Page>) -> Response {
    let mut snapshot = page.feed.snapshot();
    let surplus = snapshot.intervals.len().saturating_sub(INTERVALS_OF_STATE);
    snapshot.intervals.drain(..surplus);
    json(&snapshot)
}

async fn schema() -> Response {
    ([(CONTENT_TYPE, "application/json")], SCHEMA).into_response()
}

/// The report, once there is one.
async fn report(State(page): State<Page>) -> Response {
    let Some(report) = page.watchers.report() else {
        return (
            StatusCode::NOT_FOUND,
            "the run is not over, or is one of several\n",
        )
            .into_response();
    };
    let disposition = "attachment; filename=\"report.html\"";
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_DISPOSITION, disposition),
    ];
    (headers, report).into_response()
}

/// The groups of the fleet.
async fn groups(State(page): State<Page>) -> Response {
    asked(&page, Request::List(ListRequest::default())).await
}

/// Groups and a window of clients, as the query says.
async fn clients(State(page): State<Page>, Query(wanted): Query<ClientPage>) -> Response {
    let clients = Some(wanted);
    asked(&page, Request::List(ListRequest { clients })).await
}

/// One client or one group.
async fn client(State(page): State<Page>, Query(wanted): Query<ShowRequest>) -> Response {
    asked(&page, Request::Show(wanted)).await
}

async fn asked(page: &Page, request: Request) -> Response {
    answered(page, &ControlRequest::new(request).to_line()).await
}

/// A request of `fleet ctl`, from whoever has the token. Of others no more than the head is read.
async fn told(State(page): State<Page>, request: HttpRequest) -> Response {
    let headers = request.headers();
    if !page.guard.has_token(headers, request.uri()) {
        return Refused::Token.into_response();
    }
    // A form of another site cannot say this, and cannot have the token either.
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes());
    if kind != Some(b"application/json") {
        let wanted = "expected Content-Type: application/json\n";
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, wanted).into_response();
    }
    let body = to_bytes(request.into_body(), LINE_MAX);
    match tokio::time::timeout(BODY_TIME, body).await {
        Ok(Ok(line)) => answered(&page, &line).await,
        Ok(Err(_)) => {
            let told = "a request has 65,536 bytes at most\n";
            (StatusCode::PAYLOAD_TOO_LARGE, told).into_response()
        }
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the request did not come\n").into_response(),
    }
}

/// What the fleet answers, in its turn.
async fn answered(page: &Page, line: &[u8]) -> Response {
    let Some(control) = page.feed.control() else {
        let answer = ControlAnswer::refused("no fleet runs now");
        return (StatusCode::CONFLICT, json(&answer)).into_response();
    };
    loop {
        let rest = control.rest();
        if rest.is_zero() {
            break;
        }
        tokio::time::sleep(rest).await;
    }
    json(&control.answer(line))
}
