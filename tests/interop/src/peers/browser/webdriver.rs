//! A client of W3C WebDriver: each command is an HTTP request with JSON, and waits for its answer.

use super::PATIENCE;
use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::net::SocketAddr;

// Keys without a character have code points in the standard.
pub const TAB: &str = "\u{E004}";
pub const ENTER: &str = "\u{E007}";
pub const RIGHT: &str = "\u{E014}";

/// The standard's name for a reference to an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A session of a driver, and the page in its browser.
pub struct Session {
    agent: ureq::Agent,
    /// The address of the driver, then that of its session.
    url: String,
}

impl Session {
    /// Starts a browser with these capabilities.
    pub fn new(driver: SocketAddr, mut capabilities: Value) -> Result<Self> {
        let config = ureq::Agent::config_builder()
            // The driver's own limits end first, and its messages name the command.
            .timeout_global(Some(PATIENCE * 2))
            .http_status_as_error(false)
            .max_idle_connections(0)
            .proxy(None)
            .build();
        let mut session = Self {
            agent: config.into(),
            url: format!("http://{driver}/session"),
        };
        let limit_ms = u64::try_from(PATIENCE.as_millis())?;
        capabilities["timeouts"] =
            json!({ "implicit": limit_ms / 2, "pageLoad": limit_ms, "script": limit_ms / 2 });
        let wanted = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let begun = session.post("", &wanted).context("no session")?;
        let id = begun["sessionId"].as_str().context("no session's id")?;
        session.url = format!("{}/{id}", session.url);
        Ok(session)
    }

    /// Sends a command with parameters.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let request = self.agent.post(format!("{}{path}", self.url));
        let request = request.header("Content-Type", "application/json");
        result(path, request.send(&serde_json::to_vec(body)?[..]))
    }

    fn get(&self, path: &str) -> Result<Value> {
        result(path, self.agent.get(format!("{}{path}", self.url)).call())
    }

    /// Opens a page and waits until it is loaded.
    pub fn open(&self, url: &str) -> Result<()> {
        self.post("/url", &json!({ "url": url })).map(drop)
    }

    /// Runs a script in the page; its `return` is the result.
    pub fn run(&self, script: &str) -> Result<Value> {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script that passes its result to the function in its last argument.
    pub fn run_async(&self, script: &str) -> Result<Value> {
        self.post("/execute/async", &json!({ "script": script, "args": [] }))
    }

    /// The first element with this CSS selector, once the page has one.
    fn find(&self, selector: &str) -> Result<String> {
        let wanted = json!({ "using": "css selector", "value": selector });
        path_of(&self.post("/element", &wanted)?)
    }

    /// Clicks on the middle of an element.
    pub fn click(&self, selector: &str) -> Result<()> {
        let path = self.find(selector)? + "/click";
        let done = self.post(&path, &json!({})).map(drop);
        done.with_context(|| format!("{selector} cannot be clicked"))
    }

    /// Whether an element is displayed.
    pub fn is_displayed(&self, selector: &str) -> Result<bool> {
        Ok(self.get(&(self.find(selector)? + "/displayed"))? == true)
    }

    /// Types text or keys into the element with the focus, as a person without a mouse does.
    pub fn type_keys(&self, keys: &str) -> Result<()> {
        let path = path_of(&self.get("/element/active")?)? + "/value";
        self.post(&path, &json!({ "text": keys })).map(drop)
    }

    /// A picture of the visible part of the page, as PNG.
    pub fn screenshot(&self) -> Result<Vec<u8>> {
        let text = self.get("/screenshot")?;
        Ok(BASE64_STANDARD.decode(text.as_str().context("no picture")?)?)
    }

    /// Ends the session and its browser.
    pub fn close(self) -> Result<()> {
        result("", self.agent.delete(&self.url).call()).map(drop)
    }
}

/// The path of an element's commands.
fn path_of(element: &Value) -> Result<String> {
    let id = element[ELEMENT].as_str().context("no element's id")?;
    Ok(format!("/element/{id}"))
}

/// The value in the driver's answer to a command.
fn result(
    path: &str,
    answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<Value> {
    let mut answer = answer.with_context(|| format!("WebDriver {path}"))?;
    let text = answer.body_mut().read_to_string()?;
    let mut body: Value = serde_json::from_str(&text)
        .with_context(|| format!("WebDriver {path} is answered with {text:?}"))?;
    let value = body["value"].take();
    if !answer.status().is_success() {
        let message = value["message"].as_str().unwrap_or(&text);
        bail!("WebDriver {path}: {message}");
    }
    Ok(value)
}
