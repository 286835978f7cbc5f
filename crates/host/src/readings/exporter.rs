//! A Prometheus node_exporter on the server's host, by HTTP.

use super::host::said_something;
use super::source::Source;
use super::{ANSWER_MAX, ReadingError};
use filestone_measure::cost::CounterReading;
use filestone_measure::cost::exporter_text::parse;
use filestone_measure::cost::proc_text::HostScope;
use std::time::Duration;

/// Time limit of a complete reply.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// An exporter at an address.
pub struct Exporter {
    url: String,
    scope: HostScope,
    agent: ureq::Agent,
}

impl Exporter {
    pub fn new(url: &str, scope: HostScope) -> Self {
        // Redirects and proxies are disabled: metrics are read only from the given URL.
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER_TIME_MAX))
            .max_redirects(0)
            .proxy(None)
            .build();
        Self {
            url: url.into(),
            scope,
            agent: config.into(),
        }
    }

    fn text(&self) -> Result<String, ureq::Error> {
        let mut answer = self.agent.get(&self.url).call()?;
        let body = answer.body_mut().with_config().limit(ANSWER_MAX);
        body.read_to_string()
    }
}

impl Source for Exporter {
    fn name(&self) -> String {
        self.url.clone()
    }

    fn read(&mut self) -> Result<CounterReading, ReadingError> {
        let text = self.text().map_err(|error| ReadingError::Exporter {
            url: self.url.clone(),
            what: error.to_string(),
        })?;
        said_something(parse(&text, &self.scope), &self.url, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_measure::cost::CostCounter;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Answers one request with these bytes.
    fn answered(answer: Vec<u8>) -> Result<CounterReading, ReadingError> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let len = socket.read(&mut request).unwrap();
            assert!(request[..len].starts_with(b"GET /metrics HTTP/1.1\r\n"));
            // The client may close the connection early.
            let _ = socket.write_all(&answer);
        });
        let url = format!("http://127.0.0.1:{port}/metrics");
        let reading = Exporter::new(&url, HostScope::default()).read();
        server.join().unwrap();
        reading
    }

    fn with_body(status: &str, body: &str) -> Vec<u8> {
        let len = body.len();
        format!("HTTP/1.1 {status}\r\nContent-Length: {len}\r\n\r\n{body}").into_bytes()
    }

    #[test]
    fn an_exporter_is_asked_by_http() {
        let reading = answered(with_body("200 OK", "node_intr_total 1.5e+03\n")).unwrap();
        assert_eq!(reading.count(CostCounter::Interrupts), Some(1500));
    }

    #[test]
    fn what_is_no_exporter_is_told() {
        let told = |answer| answered(answer).unwrap_err().to_string();
        assert!(told(with_body("404 Not Found", "")).contains("404"));
        assert!(told(with_body("200 OK", "<html>")).contains("no counters"));
        assert!(told(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()).starts_with("http://"));
        let moved =
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
        assert!(!told(moved.to_vec()).is_empty());
        // A reply longer than that of any exporter is not read to its end.
        let huge = "node_intr_total 5\n".repeat(600_000);
        assert!(huge.len() as u64 > ANSWER_MAX);
        assert!(told(with_body("200 OK", &huge)).contains("limit"));
    }

    #[test]
    fn nobody_there_is_told() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let url = format!("http://127.0.0.1:{port}/metrics");
        let error = Exporter::new(&url, HostScope::default())
            .read()
            .unwrap_err();
        assert!(error.to_string().starts_with(&url), "{error}");
    }
}
