//! A server, a claimed directory on it, and actions as one-liners.

use crate::support::live::serve;
use crate::support::replays::nfs;
use filestone_engine::backend::connection::{ConnectedClient, InitialConnection};
use filestone_engine::backend::sockets::{SocketOptions, Sockets};
use filestone_engine::backend::{Backend, WaitLimit};
use filestone_engine::protocols::nfs3::replay::{Nfs3Options, Nfs3Site, why_lost};
use filestone_engine::replay::{LayerReply, TreeCleanup, WorkDir};
use filestone_host::clock::Clock;
use filestone_host::connect::Dial;
use filestone_host::error::RunError;
use filestone_plan::plan::{NfsTarget, OnLost};
use filestone_protocol::client::Client as _;
use filestone_protocol::client::nfs3::load::LoadClient;
use filestone_protocol::client::nfs3::sequence::NfsClientErrorKind;
use filestone_server::{Options, Running};
use filestone_setup::driver::RetryLimit;
use filestone_wire::pattern;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::load::action::Disposition;
use filestone_workload::load::{
    ActionStatus, Expected, Generation, Line, LineData, LoadAction, LoadWork,
};
use filestone_workload::operation::{Completion, Outcome, SlotId};
use filestone_workload::time::nanos_of;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub const NOENT: ActionStatus = nfs(2);
pub const EXIST: ActionStatus = nfs(17);
pub const NOTEMPTY: ActionStatus = nfs(66);
pub const DATA: &[u8] = b"0123456789abcdef";
const TIMEOUT: Duration = Duration::from_secs(20);
const TICKET: SlotId = SlotId { client: 0, slot: 0 };

pub fn target(server: &Running) -> NfsTarget {
    NfsTarget {
        host: Some("127.0.0.1".into()),
        port: Some(server.port()),
        ..NfsTarget::built_in("/export")
    }
}

pub fn options(generation: Generation) -> Nfs3Options {
    Nfs3Options {
        timeout: TIMEOUT,
        ..Nfs3Options::new(vec![generation])
    }
}

pub fn claim(server: &Running, options: Nfs3Options) -> Result<Nfs3Site, RunError> {
    Nfs3Site::claim(&target(server), None, options, &AtomicBool::new(false))
}

/// A server and a claimed directory on it.
pub struct Bench {
    pub server: Running,
    pub site: Nfs3Site,
    reconnect: Duration,
}

impl Bench {
    pub fn new(generation: Generation) -> Self {
        Self::with(generation, |_| {}, |_| {})
    }

    pub fn with(
        generation: Generation,
        server: impl FnOnce(&mut Options),
        change: impl FnOnce(&mut Nfs3Options),
    ) -> Self {
        let server = serve(server);
        let mut options = options(generation);
        change(&mut options);
        let reconnect = options.reconnect;
        let site = claim(&server, options).expect("the directory is free");
        Self {
            server,
            site,
            reconnect,
        }
    }

    /// A client whose own directory is there.
    pub fn client(&self, number: u32) -> Client {
        let mut client = Client::connect(&self.site, number, self.reconnect);
        let own = format!("clients/client{number}");
        assert_eq!(client.mkdir(&own), ActionStatus::Ok);
        client
    }

    pub fn end(self) {
        self.site
            .release(TreeCleanup::Remove)
            .expect("it can be removed");
    }
}

/// One client over sockets of its own, and what it does.
pub struct Client {
    sockets: Sockets<LoadClient>,
    patience: RetryLimit,
}

impl Client {
    /// A client of this number, which makes lost connections again for so long.
    pub fn connect(site: &Nfs3Site, number: u32, reconnect: Duration) -> Self {
        let pattern: Arc<[u8]> = pattern::table().into();
        let options = site.client_options(number, &pattern);
        let connected = |client, dial: &Dial| ConnectedClient {
            client,
            first: InitialConnection::Established(
                dial.connect(TIMEOUT).expect("the server is there"),
            ),
            dial: *dial,
        };
        let mut client = LoadClient::new(&options);
        let locks = site.lock_manager();
        let locks =
            locks.and_then(|dial| Some(connected(client.lock_manager(&options, 0, 1)?, dial)));
        let mut clients = vec![connected(client, site.dial())];
        clients.extend(locks);
        let sockets = SocketOptions {
            dial: *site.dial(),
            pattern,
            busy_poll: false,
            reconnect_nanos: nanos_of(reconnect),
            on_lost: OnLost::Continue,
        };
        Self {
            sockets: Sockets::new(Clock::start(), sockets, clients).expect("room for sockets"),
            patience: RetryLimit {
                timeout: Duration::from_nanos(options.actor.timeout_nanos),
                reconnect,
            },
        }
    }

    fn client(&mut self) -> &mut LoadClient {
        let mut connections = self.sockets.connections_mut();
        &mut connections.next().expect("a connection").client
    }

    fn submit(&mut self, work: LoadWork<'_>) {
        let now = self.sockets.now();
        self.sockets.submit(TICKET, work, now);
    }

    /// Serves the connections for a while; what was submitted, if it has ended.
    fn serve(&mut self) -> Option<Completion> {
        let mut completed = CompletionBatch::default();
        let until = WaitLimit::sharp(self.sockets.now().after(Duration::from_millis(1)));
        self.sockets
            .wait(until, &mut completed)
            .expect("connections can be served");
        completed.iter().next()
    }

    fn act(&mut self, work: LoadWork<'_>) -> Completion {
        self.submit(work);
        loop {
            if let Some(completion) = self.serve() {
                return completion;
            }
        }
    }

    /// What comes of an action whose writes take their data from `data`; why the client is lost,
    /// if it is.
    pub fn execute(&mut self, action: LoadAction<'_>, data: &[u8]) -> Result<LayerReply, String> {
        let completion = self.act(line(action, data));
        match completion.outcome {
            Outcome::Ok | Outcome::Failed(_) => {
                let end = self.client().line_end().expect("it was a line");
                Ok(LayerReply {
                    status: end.status.expect("an answer"),
                    calls: completion.calls,
                    bytes_sent: completion.bytes_sent,
                    bytes_received: completion.bytes_received,
                    data_bytes: completion.data_bytes.into(),
                })
            }
            Outcome::TimedOut | Outcome::Disconnected | Outcome::Skipped => Err(self.lost()),
        }
    }

    fn lost(&mut self) -> String {
        let patience = self.patience;
        let mut connections = self.sockets.connections_mut();
        let connection = connections.next().expect("a connection");
        why_lost(connection, patience, false).expect("a reason")
    }

    /// Stops an action as the end of a run does, once so many of its calls are answered.
    pub fn stop_after(&mut self, answered: u64, action: LoadAction<'_>) {
        let wanted = self.client().replies() + answered;
        self.submit(line(action, DATA));
        let mut completion = self.serve();
        while completion.is_none() && self.client().replies() < wanted {
            completion = self.serve();
        }
        assert_eq!(completion, None, "{action:?} has ended by itself");
        let mut completed = CompletionBatch::default();
        let now = self.sockets.now();
        self.client()
            .break_off(NfsClientErrorKind::Stopped, now, &mut completed);
        let outcomes = completed.iter().map(|completion| completion.outcome);
        assert_eq!(outcomes.collect::<Vec<_>>(), [Outcome::TimedOut]);
        let lost = self.client().take_lost().expect("a reason");
        assert_eq!(lost.reason, NfsClientErrorKind::Stopped);
    }

    /// Closes what is open, as after every pass.
    pub fn end_pass(&mut self) {
        assert_eq!(self.act(LoadWork::EndPass).outcome, Outcome::Ok);
    }

    /// Takes its tree away, as after the run.
    pub fn clean_up(&mut self) {
        self.end_pass();
        assert_eq!(self.act(LoadWork::RemoveTree).outcome, Outcome::Ok);
    }

    pub fn reply(&mut self, action: LoadAction<'_>) -> LayerReply {
        self.execute(action, DATA)
            .unwrap_or_else(|lost| panic!("{action:?}: {lost}"))
    }

    pub fn status(&mut self, action: LoadAction<'_>) -> ActionStatus {
        self.reply(action).status
    }

    pub fn mkdir(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.status(LoadAction::Mkdir { path })
    }

    pub fn create(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.status(LoadAction::Create { path })
    }

    pub fn look_up(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.status(LoadAction::Lookup { path })
    }

    pub fn attributes(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.status(LoadAction::GetAttr { path })
    }

    pub fn open(&mut self, path: &str, disposition: Disposition, handle: u64) -> ActionStatus {
        self.status(nt_create_x(path, 0x40, disposition, handle))
    }

    pub fn close(&mut self, handle: u64) -> ActionStatus {
        self.status(LoadAction::Close { handle })
    }

    pub fn write_x(&mut self, handle: u64, offset: u64, len: u64) -> ActionStatus {
        self.status(LoadAction::WriteX {
            handle,
            offset,
            len,
            expected_len: len,
        })
    }

    pub fn read_x(&mut self, handle: u64, offset: u64, len: u64) -> ActionStatus {
        self.status(LoadAction::ReadX {
            handle,
            offset,
            len,
            expected_len: len,
        })
    }

    pub fn query(&mut self, path: &str) -> ActionStatus {
        let path = path.as_bytes();
        self.status(LoadAction::QueryPathInformation { path, level: 1004 })
    }

    pub fn find(&mut self, pattern: &str) -> ActionStatus {
        self.status(find_first(pattern))
    }

    pub fn rename(&mut self, from: &str, to: &str) -> ActionStatus {
        self.status(LoadAction::Rename {
            from: from.as_bytes(),
            to: to.as_bytes(),
        })
    }
}

/// A line whatever comes of which is as expected.
fn line<'line>(action: LoadAction<'line>, data: &'line [u8]) -> LoadWork<'line> {
    LoadWork::Line(Line {
        number: 1,
        stamp: None,
        action,
        expected: Expected::Anything,
        data: LineData::apart(data),
        payload: None,
    })
}

pub fn nt_create_x(
    path: &str,
    options: u64,
    disposition: Disposition,
    handle: u64,
) -> LoadAction<'_> {
    LoadAction::NtCreateX {
        path: path.as_bytes(),
        options,
        disposition,
        handle,
    }
}

pub fn find_first(pattern: &str) -> LoadAction<'_> {
    LoadAction::FindFirst {
        pattern: pattern.as_bytes(),
        level: 260,
        max: 1366,
        expected: 0,
    }
}
