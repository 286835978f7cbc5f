//! Chromium and its driver.

use super::{LOOK_EVERY, PATIENCE};
use crate::process::{Running, free_port};
use anyhow::{Context, Result, bail};
use fantoccini::{Client, ClientBuilder};
use serde_json::{Value, json};
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A browser with one page.
pub struct Browser {
    /// Drives the page.
    pub client: Client,
    driver: Running,
    address: SocketAddr,
    session: String,
}

impl Browser {
    /// Starts one; its files go to `folder`.
    pub async fn start(folder: &Path) -> Result<Self> {
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
        let capabilities = capabilities.as_object().cloned().unwrap_or_default();
        let connector = hyper_util::client::legacy::connect::HttpConnector::new();
        let client = ClientBuilder::new(connector)
            .capabilities(capabilities)
            .connect(&format!("http://{address}"))
            .await
            .context("chromedriver gave no session")?;
        let session = client
            .session_id()
            .await?
            .context("a session without an id")?;
        Ok(Self {
            client,
            driver,
            address,
            session,
        })
    }

    /// The process of the driver: the browser's processes descend from it.
    pub fn process(&self) -> u32 {
        self.driver.id()
    }

    /// What WebDriver has no word for.
    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let url = format!("http://{}/session/{}/{path}", self.address, self.session);
        let body = serde_json::to_vec(body)?;
        let response = ureq::post(&url)
            .header("Content-Type", "application/json")
            .send(&body[..]);
        let text = response?.body_mut().read_to_string()?;
        Ok(serde_json::from_str::<Value>(&text)?["value"].take())
    }

    /// A command of Chromium's own protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Result<Value> {
        let body = json!({ "cmd": command, "params": parameters });
        self.post("goog/cdp/execute", &body)
    }

    /// What is wrong with the page by its console.
    pub fn complaints(&self) -> Result<Vec<String>> {
        let entries = self.post("se/log", &json!({ "type": "browser" }))?;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let wrong = entries.iter().filter(|entry| {
            let level = entry["level"].as_str().unwrap_or_default();
            level == "SEVERE" || level == "WARNING"
        });
        Ok(wrong.map(|entry| entry["message"].to_string()).collect())
    }

    /// The value of an expression in the page.
    pub async fn value(&self, expression: &str) -> Result<Value> {
        // What is not there yet has no value.
        let script = format!("try {{ return ({expression}); }} catch {{ return null; }}");
        Ok(self.client.execute(&script, vec![]).await?)
    }

    /// The text of an element.
    pub async fn text(&self, selector: &str) -> Result<String> {
        let expression = format!("document.querySelector({selector:?})?.textContent ?? ''");
        let text = self.value(&expression).await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until an expression is true in the page.
    pub async fn until(&self, expression: &str) -> Result<()> {
        let start = Instant::now();
        loop {
            if self.value(expression).await? == Value::Bool(true) {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                let seen = self.value("document.body.innerText.slice(0, 3000)").await?;
                bail!("this never came to be: {expression}; the page: {seen}");
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Types a key, as a person without a mouse does, into whatever has the focus.
    pub async fn key(&self, key: &str) -> Result<()> {
        let element = self.client.active_element().await?;
        Ok(element.send_keys(key).await?)
    }

    /// Saves a picture of what is seen, if pictures are wanted.
    pub async fn picture(&self, folder: Option<&Path>, name: &str) -> Result<()> {
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join(name), self.client.screenshot().await?)?;
        }
        Ok(())
    }

    /// The page as wide as so many pixels, on light or dark ground.
    pub fn look(&self, width: u32, height: u32, ground: &str) -> Result<()> {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics)?;
        let scheme = json!({ "name": "prefers-color-scheme", "value": ground });
        self.devtools(
            "Emulation.setEmulatedMedia",
            &json!({ "features": [scheme] }),
        )?;
        Ok(())
    }

    /// Ends it.
    pub async fn close(self) -> Result<()> {
        self.client.close().await?;
        Ok(())
    }
}
