//! A server, a claimed directory on it, and actions as one-liners.

use crate::support::live::serve;
use crate::support::replays::nfs;
use filestone_engine::RunError;
use filestone_engine::replay::{Layer, Reply, Site, Trees};
use filestone_engine::target::nfs3::replay::{Nfs3Layer, Nfs3Options, Nfs3Site};
use filestone_model::load::action::Disposition;
use filestone_model::load::{Action, Generation, Status};
use filestone_model::plan::NfsTarget;
use filestone_server::{Options, Running};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub const NOENT: Status = nfs(2);
pub const EXIST: Status = nfs(17);
pub const NOTEMPTY: Status = nfs(66);
pub const DATA: &[u8] = b"0123456789abcdef";

pub fn target(server: &Running) -> NfsTarget {
    NfsTarget {
        host: Some("127.0.0.1".into()),
        port: Some(server.port()),
        ..NfsTarget::built_in("/export")
    }
}

pub fn options(generation: Generation) -> Nfs3Options {
    Nfs3Options {
        timeout: Duration::from_secs(20),
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
        let site = claim(&server, options).expect("the directory is free");
        Self { server, site }
    }

    /// A client whose own directory is there.
    pub fn client(&self, number: u32) -> Client {
        let layer = self.site.layer(number).expect("the server is there");
        let mut client = Client { layer };
        let own = format!("clients/client{number}");
        assert_eq!(client.mkdir(&own), Status::Ok);
        client
    }

    pub fn end(self) {
        self.site.release(Trees::Remove).expect("it can be removed");
    }
}

/// One client, and what it does.
pub struct Client {
    pub layer: Nfs3Layer,
}

impl Client {
    pub fn reply(&mut self, action: Action<'_>) -> Reply {
        self.layer
            .carry_out(&action, DATA)
            .unwrap_or_else(|lost| panic!("{action:?}: {lost}"))
    }

    pub fn status(&mut self, action: Action<'_>) -> Status {
        self.reply(action).status
    }

    pub fn mkdir(&mut self, path: &str) -> Status {
        let path = path.as_bytes();
        self.status(Action::Mkdir { path })
    }

    pub fn create(&mut self, path: &str) -> Status {
        let path = path.as_bytes();
        self.status(Action::Create { path })
    }

    pub fn look_up(&mut self, path: &str) -> Status {
        let path = path.as_bytes();
        self.status(Action::Lookup { path })
    }

    pub fn attributes(&mut self, path: &str) -> Status {
        let path = path.as_bytes();
        self.status(Action::GetAttr { path })
    }

    pub fn open(&mut self, path: &str, disposition: Disposition, handle: u64) -> Status {
        self.status(nt_create_x(path, 0x40, disposition, handle))
    }

    pub fn close(&mut self, handle: u64) -> Status {
        self.status(Action::Close { handle })
    }

    pub fn write_x(&mut self, handle: u64, offset: u64, len: u64) -> Status {
        self.status(Action::WriteX {
            handle,
            offset,
            len,
            expected_len: len,
        })
    }

    pub fn read_x(&mut self, handle: u64, offset: u64, len: u64) -> Status {
        self.status(Action::ReadX {
            handle,
            offset,
            len,
            expected_len: len,
        })
    }

    pub fn query(&mut self, path: &str) -> Status {
        let path = path.as_bytes();
        self.status(Action::QueryPathInformation { path, level: 1004 })
    }

    pub fn find(&mut self, pattern: &str) -> Status {
        self.status(find_first(pattern))
    }

    pub fn rename(&mut self, from: &str, to: &str) -> Status {
        self.status(Action::Rename {
            from: from.as_bytes(),
            to: to.as_bytes(),
        })
    }
}

pub fn nt_create_x(path: &str, options: u64, disposition: Disposition, handle: u64) -> Action<'_> {
    Action::NtCreateX {
        path: path.as_bytes(),
        options,
        disposition,
        handle,
    }
}

pub fn find_first(pattern: &str) -> Action<'_> {
    Action::FindFirst {
        pattern: pattern.as_bytes(),
        level: 260,
        max: 1366,
        expected: 0,
    }
}
