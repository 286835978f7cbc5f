//! Chromium and its driver.

use super::webdriver::Session;
use super::{LOOK_EVERY, PATIENCE};
use crate::process::{Running, free_port};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs::File;
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A browser with one page.
pub struct Browser {
    session: Session,
    driver: Running,
}

impl Deref for Browser {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl Browser {
    /// Starts one; its files go to `folder`.
    pub fn start(folder: &Path) -> Result<Self> {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let log = folder.join("chromedriver.log");
        let mut command = Command::new("chromedriver");
        command
            .arg(format!("--port={}", address.port()))
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(Stdio::null());
        let mut driver = Running::start_group(&mut command)?;
        driver.wait_for(address, PATIENCE)?;
        let profile = folder.join("chromium");
        let capabilities = json!({
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "binary": "/usr/bin/chromium", "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", "--disable-component-update", "--no-first-run",
                "--window-size=1280,1000", format!("--user-data-dir={}", profile.display()),
            ] },
        });
        let session =
            Session::new(address, capabilities).context("chromedriver gave no session")?;
        Ok(Self { session, driver })
    }

    /// The process of the driver: the browser's processes descend from it.
    pub fn process(&self) -> u32 {
        self.driver.id()
    }

    /// A command of Chromium's own protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Result<Value> {
        let body = json!({ "cmd": command, "params": parameters });
        self.post("/goog/cdp/execute", &body)
    }

    /// The value of an expression in the page.
    pub fn value(&self, expression: &str) -> Result<Value> {
        // What is not there yet has no value.
        let script = format!("try {{ return ({expression}); }} catch {{ return null; }}");
        self.run(&script)
    }

    /// The value of an expression that is a string.
    pub fn string(&self, expression: &str) -> Result<String> {
        let text = self.value(expression)?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// The text of an element.
    pub fn text(&self, selector: &str) -> Result<String> {
        let text = format!("document.querySelector({selector:?})?.textContent");
        self.string(&text)
    }

    /// Waits until an expression is true in the page.
    pub fn until(&self, expression: &str) -> Result<()> {
        let start = Instant::now();
        loop {
            if self.value(expression)? == Value::Bool(true) {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                let seen = self.value("document.body.innerText.slice(0, 3000)")?;
                bail!("this never came to be: {expression}; the page: {seen}");
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Saves a picture of what is seen, if pictures are wanted.
    pub fn picture(&self, folder: Option<&Path>, name: &str) -> Result<()> {
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join(name), self.screenshot()?)?;
        }
        Ok(())
    }

    /// Gives the page this size in pixels, and a light or dark ground.
    pub fn look(&self, width: u32, height: u32, ground: &str) -> Result<()> {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics)?;
        let scheme = json!({ "name": "prefers-color-scheme", "value": ground });
        let media = json!({ "features": [scheme] });
        self.devtools("Emulation.setEmulatedMedia", &media)
            .map(drop)
    }

    /// Ends it. Its console must have no errors and warnings but those that contain `expected`.
    pub fn close(self, expected: Option<&str>) -> Result<()> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }))?;
        let mut complaints = Vec::new();
        for entry in entries.as_array().into_iter().flatten() {
            let message = entry["message"].as_str().unwrap_or_default();
            let is_wrong = entry["level"] == "SEVERE" || entry["level"] == "WARNING";
            if is_wrong && !expected.is_some_and(|expected| message.contains(expected)) {
                complaints.push(message);
            }
        }
        ensure!(complaints.is_empty(), "the console has {complaints:?}");
        self.session.close()
    }
}
