//! A page that is served, with a fleet that only notes what it is told.

use filestone_host::control_socket::{FleetControl, RequestHandler};
use filestone_live::feed::Feed;
use filestone_live::http_server::{HttpServer, ListenerLimits, Site, listen};
use filestone_live::site::{HtmlDocument, LivePage};
use filestone_live::token::AccessToken;
use filestone_protocol::fleet_control::ControlAnswer;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A page and all that belongs to it.
pub struct Served {
    pub feed: Feed,
    pub address: SocketAddr,
    pub token: String,
    pub page: LivePage,
    /// The lines that the fleet was told.
    pub told: Arc<Mutex<Vec<String>>>,
    pub hosting: HttpServer,
}

struct Fleet(Arc<Mutex<Vec<String>>>);

impl RequestHandler for Fleet {
    fn answer(&mut self, line: &[u8]) -> ControlAnswer {
        let line = String::from_utf8_lossy(line).trim().to_owned();
        self.0.lock().expect("no test panics with it").push(line);
        ControlAnswer::refused("heard")
    }
}

impl Served {
    pub fn new() -> Self {
        Self::at("127.0.0.1:0")
    }

    pub fn at(address: &str) -> Self {
        let limits = ListenerLimits {
            head: Duration::from_millis(500),
            unread: Duration::from_millis(500),
            ..ListenerLimits::default()
        };
        let feed = Feed::new("0.0.0", vec!["filestone".into(), "<script>".into()]);
        let told = Arc::new(Mutex::new(vec![]));
        feed.controllable(FleetControl::new(Fleet(Arc::clone(&told))));
        let listener = listen(address.parse().expect("an address")).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let token = AccessToken::new().expect("random numbers");
        let document = HtmlDocument {
            html: "<!DOCTYPE html><title>live</title>".into(),
            policy: "default-src 'none'".into(),
        };
        let page = LivePage::new(feed.clone(), address, token.clone(), document);
        let site = Site {
            listener,
            router: page.clone().router(),
            limits,
        };
        let hosting = HttpServer::start(vec![site], &[]).expect("a thread");
        Self {
            feed,
            address,
            token: token.text().to_owned(),
            page,
            told,
            hosting,
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it is served");
        let limits = [
            stream.set_read_timeout(Some(PATIENCE)),
            stream.set_write_timeout(Some(PATIENCE)),
        ];
        limits.into_iter().for_each(|set| set.expect("a time-out"));
        stream
    }

    /// What comes back for these bytes until the connection is closed.
    pub fn answer(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // Who is refused early may not take all of it.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// What comes back for a request with these further headers, each with its end of line.
    pub fn ask(&self, line: &str, headers: &str, body: &str) -> String {
        let (host, len) = (self.address, body.len());
        let length = if body.is_empty() {
            String::new()
        } else {
            format!("Content-Length: {len}\r\n")
        };
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{length}{headers}\r\n{body}"
        );
        self.answer(request.as_bytes())
    }

    /// The header of whoever has the token.
    pub fn authorization(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token)
    }

    pub fn was_told(&self) -> Vec<String> {
        self.told.lock().expect("no test panics with it").clone()
    }
}

/// The body of an answer.
pub fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}
