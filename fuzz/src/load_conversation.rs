//! A conversation with a client of a load over NFS that the bytes of an input describe: which
//! client, and then one step after the other.

use std::sync::{Arc, LazyLock};

use filestone_plan::made::MadeNames;
use filestone_plan::plan::{CreateModes, TransportKind};
use filestone_protocol::client::nfs3::load::{
    ActorOptions, LoadClient, LoadClientOptions, LoadOptions, NfsTransferLimits, RunDirectories,
};
use filestone_protocol::client::nfs3::sequence::NfsClientErrorKind;
use filestone_protocol::client::{Client, Output};
use filestone_protocol::session::rpc::Credentials;
use filestone_wire::nfs3::Handle;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{Gids, ReplyHeader};
use filestone_wire::xdr::Encode;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::load::{Compiler, Line, Load, LoadWork, Script, ScriptAction};
use filestone_workload::operation::SlotId;
use filestone_workload::time::Timestamp;

/// First byte of an input: datagrams instead of a stream.
const UDP: u8 = 1;
/// First byte of an input: a load of NFS verbs.
const NFS_VERBS: u8 = 2;
/// First byte of an input: names are looked for in any case.
const ANY_CASE: u8 = 4;

const TIMEOUT_NANOS: u64 = 1_000_000_000;
/// Sizes of pieces that input comes in.
const PIECES: [usize; 4] = [1, 7, 132, usize::MAX];
/// Steps of one input at most.
const STEPS_MAX: usize = 64;

static PATTERN: LazyLock<Arc<[u8]>> = LazyLock::new(|| filestone_wire::pattern::table().into());
static CIFS: LazyLock<Arc<Load>> = LazyLock::new(|| {
    load(
        "NTCreateX \"/clients/client1/a\" 0 5 4 *\nWriteX 4 0 200 200 *\nReadX 4 0 200 200 *\n\
         LockX 4 0 1 *\nFlush 4 *\nQUERY_FILE_INFORMATION 4 1 *\nClose 4 *\n\
         FIND_FIRST \"/clients/client1/*.x\" 1 2 2 *\nRename \"/clients/client1/a\" \"/clients/client1/b\" *\n\
         Unlink \"/clients/client1/b\" 0 *\nMkdir \"/clients/client1/d\" *\nDeltree \"/clients/client1/d\" *\n\
         Rmdir \"/clients/client1/d\" *\nQUERY_PATH_INFORMATION \"/x/y/z\" 1 *\n",
    )
});
static NFS: LazyLock<Arc<Load>> = LazyLock::new(|| {
    load(
        "CREATE3 \"/clients/client1/a\" *\nWRITE3 \"/clients/client1/a\" 0 200 0 *\n\
         READ3 \"/clients/client1/a\" 0 200 *\nGETATTR3 \"/clients/client1/a\" *\n\
         READDIRPLUS3 \"/clients/client1\" *\nACCESS3 \"/clients/client1/a\" 1 1 *\n\
         SYMLINK3 \"/clients/client1/s\" \"a\" *\nREADLINK3 \"/clients/client1/s\" *\n\
         LINK3 \"/clients/client1/l\" \"/clients/client1/a\" *\nFSSTAT3 *\nFSINFO3 *\n\
         COMMIT3 \"/clients/client1/a\" *\nREMOVE3 \"/clients/client1/a\" *\n",
    )
});

fn load(text: &str) -> Arc<Load> {
    let mut compiler = Compiler::new("fuzz.load");
    text.lines().for_each(|line| compiler.line(line.as_bytes()));
    Arc::new(compiler.finish().expect("the load is right"))
}

/// A client and what must be true of it.
pub struct LoadConversation {
    client: LoadClient,
    script: Script,
    out: Output,
    completed: CompletionBatch,
    now: Timestamp,
    is_stream: bool,
    is_busy: bool,
    xid: u32,
}

impl LoadConversation {
    /// A connected client.
    pub fn new(flags: u8) -> Self {
        let has_nfs_verbs = flags & NFS_VERBS != 0;
        let transport = match flags & UDP {
            0 => TransportKind::Tcp,
            _ => TransportKind::Udp,
        };
        let options = LoadClientOptions {
            actor: ActorOptions {
                client: 0,
                directories: RunDirectories {
                    root: Handle::EMPTY,
                    clients: Handle::EMPTY,
                    transfers: NfsTransferLimits {
                        read: 150,
                        write: 150,
                    },
                },
                options: LoadOptions {
                    has_nfs_verbs,
                    ignores_case: flags & ANY_CASE != 0,
                    stable: false,
                    modes: CreateModes::OWN,
                },
                made: Arc::new(MadeNames::any()),
                has_lock_manager: false,
                timeout_nanos: TIMEOUT_NANOS,
            },
            credentials: Credentials {
                machine_name: "fuzz".into(),
                uid: 0,
                gid: 0,
                gids: Gids::EMPTY,
                stamp: 0,
                modes: CreateModes::OWN,
            },
            transport,
            pattern: Arc::clone(&PATTERN),
            first_xid: u32::from(flags),
        };
        let load = if has_nfs_verbs { &NFS } else { &CIFS };
        let mut conversation = Self {
            client: LoadClient::new(&options),
            script: Script::new(Arc::clone(load), 0, 1, 1),
            out: Output::default(),
            completed: CompletionBatch::default(),
            now: Timestamp::ZERO,
            is_stream: transport == TransportKind::Tcp,
            is_busy: false,
            xid: 0,
        };
        let (client, out) = (&mut conversation.client, &mut conversation.out);
        client.connected(Timestamp::ZERO, out);
        conversation.ask();
        conversation
    }

    /// Takes the steps of an input.
    pub fn follow(&mut self, mut steps: &[u8]) {
        for _ in 0..STEPS_MAX {
            let Some(([step, detail], rest)) = steps.split_first_chunk::<2>() else {
                return;
            };
            let (bytes, rest) = rest.split_at(usize::from(*detail).min(rest.len()));
            let pieces = PIECES[usize::from(step >> 3) % PIECES.len()];
            match step % 8 {
                0 => self.hear(bytes, pieces),
                1..=4 => self.reply(bytes, pieces),
                5 => self.wait(u64::from(*detail) * 10_000_000),
                6 => self.reconnect(),
                _ => {
                    let (client, completed) = (&mut self.client, &mut self.completed);
                    client.break_off(NfsClientErrorKind::Stopped, self.now, completed);
                    self.check();
                }
            }
            steps = if step % 8 < 5 { rest } else { &steps[2..] };
            self.ask();
        }
    }

    /// Gives it the next line, if it has none.
    fn ask(&mut self) {
        if !self.is_busy {
            let work = match self.script.next() {
                Ok(ScriptAction::Operation(line)) => LoadWork::Line(Line { ..line }),
                _ => LoadWork::EndPass,
            };
            let ticket = SlotId { client: 0, slot: 0 };
            self.is_busy = true;
            self.client.submit(ticket, work, &mut self.out);
            self.client.end_at_once(self.now, &mut self.completed);
            self.check();
        }
        self.send();
    }

    /// Takes notice of the last call that goes out.
    fn send(&mut self) {
        self.client.answer(&mut self.out);
        let at = if self.is_stream { 4 } else { 0 };
        if let Some(xid) = self.out.bytes.get(at..).and_then(<[u8]>::first_chunk) {
            self.xid = u32::from_be_bytes(*xid);
        }
        self.out.clear();
        self.client.transmitted(self.now);
    }

    fn reply(&mut self, results: &[u8], pieces: usize) {
        let message = [&ReplyHeader::success(self.xid).to_bytes(), results].concat();
        let mark = RecordMark {
            last: true,
            len: message.len() as u32,
        };
        if self.is_stream {
            self.hear(&[&mark.to_bytes(), message.as_slice()].concat(), pieces);
        } else {
            self.hear(&message, usize::MAX);
        }
    }

    fn hear(&mut self, bytes: &[u8], pieces: usize) {
        for piece in bytes.chunks(pieces) {
            let heard = self
                .client
                .handle_input(piece, self.now, &mut self.completed);
            self.check();
            if heard.is_err() {
                assert!(self.is_stream, "no datagram ends a connection");
                return self.reconnect();
            }
            self.send();
        }
    }

    fn wait(&mut self, nanos: u64) {
        self.now = self.now.after_nanos(nanos);
        self.client
            .handle_timeout(self.now, &mut self.out, &mut self.completed);
        self.check();
        self.send();
        assert!(self.client.poll_timeout() > self.now);
    }

    fn reconnect(&mut self) {
        self.client.disconnected(self.now, &mut self.completed);
        self.check();
        assert_eq!(self.client.in_flight(), 0);
        self.out.clear();
        self.client.connected(self.now, &mut self.out);
    }

    /// A line ends once.
    fn check(&mut self) {
        for completion in self.completed.iter() {
            assert!(self.is_busy, "{completion:?}");
            self.is_busy = false;
        }
        self.completed.clear();
    }
}
