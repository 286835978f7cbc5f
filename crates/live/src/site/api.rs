//! The protocol of the page: state as JSON, events as server-sent events, and fleet control by the
//! protocol of `fleet ctl`.
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

use super::{LivePage, events};
use crate::JsonSchema;
use crate::event::Event;
use crate::feed::Snapshot;
use crate::guard::RequestRejection;
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Query, Request as HttpRequest, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use filestone_protocol::fleet_control::{
    ClientPage, ControlAnswer, ControlProtocol, ControlRequest, FleetRequest, LINE_MAX,
    ListRequest, ShowRequest,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Maximum time to receive the body of a request.
const BODY_TIME: Duration = Duration::from_secs(5);
/// Number of intervals in a state: the last minute, if intervals are one second long.
const INTERVALS_OF_STATE: usize = 60;

/// All messages of the protocol, for the JSON schema.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LiveProtocol {
    /// Body of `GET /api/state`, and first event of `GET /api/events`.
    pub snapshot: Snapshot,
    /// Every later event.
    pub event: Event,
    /// Body of `POST /api/fleet`, and responses of all fleet requests.
    pub fleet: ControlProtocol,
}

/// Returns the routes of the protocol.
pub fn routes() -> Router<LivePage> {
    Router::new()
        .route("/api/state", get(state))
        .route("/api/events", get(events::stream))
        .route("/api/fleet", get(groups).post(told))
        .route("/api/fleet/clients", get(clients))
        .route("/api/fleet/client", get(client))
        .route("/api/report", get(report))
        .route("/api/schema", get(schema))
}

/// JSON schema of [`LiveProtocol`].
pub const SCHEMA: &str = include_str!("../../../../docs/schema/live.json");

/// Response to an unknown path.
pub async fn unknown() -> Response {
    (StatusCode::NOT_FOUND, "there is nothing here\n").into_response()
}

/// Response to a method that the path does not support.
pub async fn other_method() -> Response {
    (
        StatusCode::METHOD_NOT_ALLOWED,
        "this cannot be done with that\n",
    )
        .into_response()
}

fn json(value: &impl Serialize) -> Response {
    // Every response can be serialized as JSON.
    let text = serde_json::to_vec(value).unwrap_or_default();
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

/// Returns the current state.
async fn state(State(page): State<LivePage>) -> Response {
    let mut snapshot = page.feed.snapshot();
    let surplus = snapshot.intervals.len().saturating_sub(INTERVALS_OF_STATE);
    snapshot.intervals.drain(..surplus);
    json(&snapshot)
}

async fn schema() -> Response {
    ([(CONTENT_TYPE, "application/json")], SCHEMA).into_response()
}

/// Returns the report, once it is available.
async fn report(State(page): State<LivePage>) -> Response {
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

/// Returns the groups of the fleet.
async fn groups(State(page): State<LivePage>) -> Response {
    asked(&page, FleetRequest::List(ListRequest::default())).await
}

/// Returns the groups and a page of clients, as selected by the query.
async fn clients(State(page): State<LivePage>, Query(wanted): Query<ClientPage>) -> Response {
    let clients = Some(wanted);
    asked(&page, FleetRequest::List(ListRequest { clients })).await
}

/// Returns a single client or group.
async fn client(State(page): State<LivePage>, Query(wanted): Query<ShowRequest>) -> Response {
    asked(&page, FleetRequest::Show(wanted)).await
}

async fn asked(page: &LivePage, request: FleetRequest) -> Response {
    answered(page, &ControlRequest::new(request).to_line()).await
}

/// Executes a request of `fleet ctl` if it contains the token. Without the token, only the head is
/// read.
async fn told(State(page): State<LivePage>, request: HttpRequest) -> Response {
    let headers = request.headers();
    if !page.guard.has_token(headers, request.uri()) {
        return RequestRejection::Token.into_response();
    }
    // A form of another site cannot send this content type, and cannot know the token either.
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

/// Forwards a request to the fleet in its turn and returns the answer.
async fn answered(page: &LivePage, line: &[u8]) -> Response {
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
