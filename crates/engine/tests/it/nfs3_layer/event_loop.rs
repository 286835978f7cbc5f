//! Clients of a load on one event loop.

use super::bench::Bench;
use filestone_engine::backend::Backend;
use filestone_engine::backend::sockets::Sockets;
use filestone_engine::clock::Clock;
use filestone_engine::load_file::read_text;
use filestone_model::client::nfs3::load::LoadClient;
use filestone_model::completions::Completions;
use filestone_model::load::{Generation, LoadWork, Next, Script};
use filestone_model::operation::{Completion, Outcome, Ticket};
use filestone_wire::pattern;
use std::sync::Arc;

const CLIENTS: u32 = 20;

/// Clients of a load, driven as a worker drives them.
struct Loop {
    sockets: Sockets<LoadClient>,
    scripts: Vec<Script>,
    busy: u32,
    completed: Completions,
}

impl Loop {
    fn new(bench: &Bench, text: &str) -> Self {
        let load = Arc::new(read_text("test.load", text).expect("the load is right"));
        let pattern: Arc<[u8]> = pattern::table().into();
        let numbers: Vec<u32> = (0..CLIENTS).collect();
        let clients = bench.site.load_clients(&numbers, &pattern);
        let clients = clients.expect("the server is there");
        let options = bench.site.socket_options(&pattern);
        let sockets = Sockets::new(Clock::start(), options, clients).expect("they are watched");
        let script = |number| Script::new(Arc::clone(&load), number, CLIENTS, 1);
        Self {
            sockets,
            scripts: (0..CLIENTS).map(script).collect(),
            busy: 0,
            completed: Completions::default(),
        }
    }

    /// Gives a client its next line; whether there is one.
    fn ask(&mut self, client: u32) -> bool {
        let ticket = Ticket { client, slot: 0 };
        let Ok(Next::Operation(line)) = self.scripts[client as usize].next() else {
            return false;
        };
        let now = self.sockets.now();
        self.sockets.submit(ticket, LoadWork::Line(line), now);
        true
    }

    /// Waits until one of what was submitted has ended.
    fn wait(&mut self) -> Vec<Completion> {
        self.completed.clear();
        while self.completed.is_empty() {
            let until = self.sockets.now().after_nanos(10_000_000);
            let waited = self.sockets.wait(until, &mut self.completed);
            waited.expect("the server is there");
        }
        self.completed.iter().collect()
    }

    /// Carries out one pass of all clients, and takes their trees away.
    fn pass(&mut self) -> Vec<Completion> {
        let mut all = Vec::new();
        for client in 0..CLIENTS {
            self.busy += u32::from(self.ask(client));
        }
        while self.busy > 0 {
            for ended in self.wait() {
                all.push(ended);
                let client = ended.ticket.client;
                self.busy -= u32::from(!self.ask(client));
            }
        }
        for work in [LoadWork::EndPass, LoadWork::RemoveTree] {
            let now = self.sockets.now();
            for client in 0..CLIENTS {
                let ticket = Ticket { client, slot: 0 };
                self.sockets.submit(ticket, work, now);
            }
            let mut left = CLIENTS;
            while left > 0 {
                for ended in self.wait() {
                    assert_eq!(ended.outcome, Outcome::Ok);
                    left -= 1;
                }
            }
        }
        all
    }
}

/// Ends a loop: nothing came otherwise than expected, and nothing is left.
fn end(done: Loop, bench: Bench) {
    for connection in done.sockets.into_connections() {
        let mut client = connection.client;
        let mismatches = client.take_mismatches().into_records();
        assert!(mismatches.is_empty(), "{mismatches:?}");
        assert!(bench.site.loss(&mut client, None).is_none());
    }
    bench.end();
}

const CIFS: &str = "Mkdir \"/clients/client1\" *\n\
    NTCreateX \"/clients/client1/a\" 0x40 5 4 NT_STATUS_OK\n\
    WriteX 4 0 200000 200000 NT_STATUS_OK\n\
    LockX 4 0 100 NT_STATUS_OK\n\
    ReadX 4 100 150000 150000 NT_STATUS_OK\n\
    UnlockX 4 0 100 NT_STATUS_OK\n\
    Close 4 NT_STATUS_OK\n\
    QUERY_PATH_INFORMATION \"/clients/client1/A\" 1 NT_STATUS_OK\n\
    QUERY_PATH_INFORMATION \"/clients/client1/none\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n\
    FIND_FIRST \"/clients/client1/*\" 1 10 3 NT_STATUS_OK\n\
    Rename \"/clients/client1/a\" \"/clients/client1/b\" NT_STATUS_OK\n\
    NTCreateX \"/clients/client1/c\" 0x40 5 5 NT_STATUS_OK\n\
    WriteX 5 0 10 10 NT_STATUS_OK\n";

#[test]
fn many_clients_of_a_load_share_a_thread() {
    let bench = Bench::new(Generation::Cifs);
    let mut clients = Loop::new(&bench, CIFS);
    let all = clients.pass();
    assert_eq!(all.len(), 13 * CLIENTS as usize);
    for ended in &all {
        assert_eq!(ended.outcome, Outcome::Ok);
        assert!(ended.sent <= ended.done);
    }
    let data: u64 = all.iter().map(|ended| u64::from(ended.data_bytes)).sum();
    assert_eq!(data, u64::from(CLIENTS) * (200_000 + 150_000 + 10));
    end(clients, bench);
}

#[test]
fn their_locks_go_to_the_lock_manager_from_the_same_thread() {
    let bench = Bench::with(
        Generation::Cifs,
        |_| {},
        |options| options.enable_nlm = true,
    );
    let mut clients = Loop::new(&bench, CIFS);
    let all = clients.pass();
    assert_eq!(all.len(), 13 * CLIENTS as usize);
    // Every line but the ones that a client answers by itself is a call at least.
    assert!(
        all.iter()
            .all(|ended| ended.outcome == Outcome::Ok && ended.calls > 0)
    );
    end(clients, bench);
}
