//! Known answers in virtual time: a server that keeps files in memory and answers after a fixed time, so
//! that everything a fleet does can be worked out on paper.

use super::*;
use crate::measure::Role;
use crate::operation::{Answer, Completion, OpKind, Ticket};
use crate::payload::{Inspector, Unit};
use crate::plan::fleet_of_tests::pairs;
use crate::plan::{
    FleetPlan, LocalTarget, Plan, QuiescePlan, RampPlan, RatePlan, RateUnit, Span, TargetPlan,
    WorkloadPlan,
};
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

/// A server, its clients and a clock.
struct World {
    shared: Arc<SharedFleet>,
    clients: Vec<Stream>,
    /// When each client is asked next, or its operation ends.
    wakes: Vec<Moment>,
    under_way: Vec<Option<UnderWay>>,
    inspectors: Vec<Inspector>,
    open: Vec<Option<Vec<u8>>>,
    files: BTreeMap<Vec<u8>, Vec<u8>>,
    service: u64,
    /// It refuses everything in this time.
    down: std::ops::Range<u64>,
    /// Every transfer: by whom, what, when it was due, and when it began.
    transfers: Vec<Transfer>,
    /// Data of a written file are changed on their way, once.
    corrupts: bool,
}

#[derive(Debug, Clone, Copy)]
struct UnderWay {
    kind: OpKind,
    role: Role,
    due: Moment,
    begun: Moment,
    outcome: Outcome,
    data_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Transfer {
    client: u32,
    kind: OpKind,
    due: u64,
    begun: u64,
    len: u64,
}

impl World {
    fn new(fleet: FleetPlan, service: u64) -> Self {
        let directory = Some("/x".into());
        let target = TargetPlan::Local(LocalTarget { directory });
        let clients = fleet.clients();
        assert_eq!(fleet.check(clients, 1), Ok(()));
        let workload = WorkloadPlan::Fleet(Box::new(fleet.clone()));
        let plan = Plan::new("fleet", target, workload, 7);
        let shared = Arc::new(SharedFleet::new(&plan, &fleet));
        let count = clients as usize;
        Self {
            clients: (0..clients)
                .map(|number| Stream::new(number, &shared))
                .collect(),
            wakes: vec![Moment::ZERO; count],
            under_way: vec![None; count],
            inspectors: vec![Inspector::default(); count],
            open: vec![None; count],
            files: BTreeMap::new(),
            service,
            down: 0..0,
            transfers: Vec::new(),
            corrupts: false,
            shared,
        }
    }

    /// Lets the world go on until this time.
    fn run(&mut self, until: u64) {
        loop {
            let next = self.wakes.iter().enumerate().min_by_key(|(_, at)| **at);
            let Some((client, now)) = next.map(|(client, at)| (client, *at)) else {
                return;
            };
            if now.nanos() >= until {
                return;
            }
            if let Some(under_way) = self.under_way[client].take() {
                self.end(client, under_way, now);
            }
            self.ask(client, now);
        }
    }

    fn end(&mut self, client: usize, under_way: UnderWay, now: Moment) {
        let sample = Sample {
            kind: under_way.kind,
            role: under_way.role,
            due: under_way.due,
            ready: under_way.begun,
            completion: Completion {
                ticket: Ticket { client: 0, slot: 0 },
                outcome: under_way.outcome,
                answer: Answer::Plain,
                usable: Moment::ZERO,
                sent: under_way.begun,
                done: now,
                calls: 1,
                retransmissions: 0,
                bytes_sent: 0,
                bytes_received: 0,
                data_bytes: under_way.data_bytes as u32,
            },
        };
        self.clients[client].ended(&sample);
    }

    fn ask(&mut self, client: usize, now: Moment) {
        let Self {
            shared,
            clients,
            files,
            open,
            inspectors,
            transfers,
            corrupts,
            ..
        } = self;
        let (role, due, work) = match clients[client].next(0, now) {
            Next::Measured(work) => (Role::Measured, now, work),
            Next::Due(due, work) => (Role::Measured, due, work),
            Next::Unmeasured(work) => (Role::Unmeasured, now, work),
            Next::Aside(_) => panic!("a fleet has no asides"),
            Next::NotBefore(moment) => {
                self.wakes[client] = moment.max(now.after_nanos(1));
                return;
            }
            Next::Nothing => {
                self.wakes[client] = Moment::NEVER;
                return;
            }
        };
        let LoadWork::Line(line) = work else {
            panic!("a fleet has lines only");
        };
        let mut server = Server {
            files,
            open: &mut open[client],
            inspector: &mut inspectors[client],
            table: shared.payloads().table(),
        };
        let is_down = self.down.contains(&now.nanos());
        let outcome = if is_down {
            Outcome::Failed(Failure::Unexpected(crate::failure::Mismatch::Failed))
        } else {
            server.carry_out(&line, corrupts)
        };
        let (kind, len) = (line.action.kind(), length_of(&line.action));
        if role == Role::Measured {
            transfers.push(Transfer {
                client: client as u32,
                kind,
                due: due.nanos(),
                begun: now.nanos(),
                len,
            });
        }
        self.under_way[client] = Some(UnderWay {
            kind,
            role,
            due,
            begun: now,
            outcome,
            data_bytes: len,
        });
        self.wakes[client] = now.after_nanos(self.service);
    }

    fn counters(&self, client: usize, now: u64) -> crate::measure::fleet_record::FleetCounters {
        self.shared.gauges()[client].counters(Moment::from_nanos(now))
    }

    fn state(&self, client: usize) -> ClientState {
        self.shared.gauges()[client].state()
    }
}

fn length_of(action: &Action<'_>) -> u64 {
    match action {
        Action::ReadX { len, .. } | Action::WriteX { len, .. } => *len,
        _ => 0,
    }
}

struct Server<'w> {
    files: &'w mut BTreeMap<Vec<u8>, Vec<u8>>,
    open: &'w mut Option<Vec<u8>>,
    inspector: &'w mut Inspector,
    table: &'w [u8],
}

impl Server<'_> {
    fn carry_out(&mut self, line: &Line<'_>, corrupts: &mut bool) -> Outcome {
        let failed = Outcome::Failed(Failure::Unexpected(crate::failure::Mismatch::Failed));
        match line.action {
            Action::Open { path, mode, .. } => {
                if !mode.creates && !self.files.contains_key(path) {
                    return failed;
                }
                let file = self.files.entry(path.into()).or_default();
                if mode.cuts {
                    file.clear();
                }
                assert!(self.open.replace(path.into()).is_none(), "one at a time");
            }
            Action::Close { .. } => *self.open = None,
            Action::Unlink { path } => {
                self.files.remove(path);
            }
            Action::WriteX { offset, len, .. } => {
                let Some(Payload::Unit(unit)) = line.payload else {
                    panic!("a write has a unit");
                };
                self.write(unit, offset, len);
            }
            Action::ReadX { offset, len, .. } => {
                return self.read(line.payload, offset, len, corrupts);
            }
            _ => {}
        }
        Outcome::Ok
    }

    fn write(&mut self, unit: &Unit, offset: u64, len: u64) {
        let mut data = Vec::new();
        unit.fill(len, self.table, &mut data);
        let path = self.open.as_ref().expect("it is open");
        let file = self.files.get_mut(path).expect("it is there");
        assert_eq!(file.len() as u64, offset, "one after the other");
        file.extend_from_slice(&data);
    }

    fn read(
        &mut self,
        payload: Option<&Payload>,
        offset: u64,
        len: u64,
        corrupts: &mut bool,
    ) -> Outcome {
        let path = self.open.as_ref().expect("it is open");
        let file = self.files.get(path).expect("it is there");
        let data = file.get(offset as usize..(offset + len) as usize);
        let mut data = data.expect("so long it is").to_vec();
        if std::mem::take(corrupts) {
            data[len as usize - 1] ^= 1;
        }
        if let Some(Payload::Reading(reading)) = payload {
            self.inspector.begin(reading);
            self.inspector.see(&data);
            self.inspector.keep();
            if self.inspector.take_fault().is_some() {
                let mismatch = crate::failure::Mismatch::WrongData;
                return Outcome::Failed(Failure::Unexpected(mismatch));
            }
        }
        Outcome::Ok
    }
}

/// One writer of files of four writes each.
fn writer() -> FleetPlan {
    let mut fleet = pairs();
    fleet.groups.truncate(1);
    fleet.groups[0].count = 1;
    fleet.groups[0].file_size = Span::always(4 * 4096);
    fleet
}

#[test]
fn a_writer_follows_its_schedule_exactly() {
    let mut fleet = writer();
    // A write each 10 ms.
    fleet.groups[0].rate = Some(RatePlan {
        unit: RateUnit::OperationsPerS,
        per_s: Span::always(100.0),
    });
    let mut world = World::new(fleet, MS);
    world.run(SECOND);
    // Directory and open take 2 ms; from then on every write is due on its own moment.
    let due: Vec<u64> = world
        .transfers
        .iter()
        .map(|transfer| transfer.due)
        .collect();
    let expected: Vec<u64> = (0..100).map(|write| (2 + 10 * write) * MS).collect();
    assert_eq!(due, expected);
    assert!(
        world
            .transfers
            .iter()
            .all(|transfer| transfer.begun == transfer.due)
    );
    let counters = world.counters(0, SECOND);
    assert_eq!((counters.writes, counters.bytes_written), (100, 409_600));
    // The last is not closed: its write ends at 993 ms, the close at 994.
    assert_eq!(counters.files_written, 25);
}

#[test]
fn rates_in_bits_lie_within_their_caps() {
    let mut fleet = writer();
    fleet.groups[0].count = 3;
    fleet.groups[0].rate = Some(RatePlan {
        unit: RateUnit::BitsPerS,
        per_s: Span { min: 1e6, max: 2e6 },
    });
    let mut world = World::new(fleet, MS / 10);
    world.run(20 * SECOND);
    for client in 0..3 {
        let bits = 8.0 * world.counters(client, 20 * SECOND).bytes_written as f64 / 20.0;
        assert!((1e6..=2e6).contains(&bits), "{bits}");
    }
    // Of each file of 131,072 bits, all writes are as far apart as its one rate says.
    let of_first: Vec<u64> = world
        .transfers
        .iter()
        .filter(|transfer| transfer.client == 0)
        .map(|transfer| transfer.due)
        .collect();
    for file in of_first.chunks_exact(4).skip(1) {
        let apart = [file[1] - file[0], file[2] - file[1], file[3] - file[2]];
        assert!(apart[0].abs_diff(apart[1]) <= 1 && apart[1].abs_diff(apart[2]) <= 1);
        // 32,768 bits at 1 to 2 Mbit/s.
        assert!((16_384_000..=32_768_000).contains(&apart[0]), "{apart:?}");
    }
}

#[test]
fn readers_wait_for_writers_and_find_what_they_wrote() {
    let mut fleet = pairs();
    for group in &mut fleet.groups {
        group.file_size = Span {
            min: 10_000,
            max: 20_000,
        };
        group.read_size = Span { min: 1, max: 9000 };
        group.write_size = Span { min: 80, max: 5000 };
    }
    let mut world = World::new(fleet, MS);
    world.run(20 * SECOND);
    for reader in 4..8 {
        let (read, written) = (world.counters(reader, 0), world.counters(reader - 4, 0));
        assert_eq!((read.checksum_errors, read.failures), (0, 0));
        assert!(read.files_read > 10, "{read:?}");
        assert!(written.files_written > 10, "{written:?}");
    }
    // Nothing was read before it was there.
    let first = world.transfers.iter().find(|transfer| transfer.client == 4);
    let own = world
        .transfers
        .iter()
        .filter(|transfer| transfer.client == 0);
    let whole: u64 = own
        .take_while(|transfer| transfer.begun < first.expect("it reads").begun)
        .map(|transfer| transfer.len)
        .sum();
    assert!(whole >= 10_000);
}

#[test]
fn corrupted_data_are_found_and_counted_once() {
    let mut fleet = pairs();
    fleet.groups[0].count = 1;
    fleet.groups[1].count = 1;
    let mut world = World::new(fleet, MS);
    world.run(SECOND);
    world.corrupts = true;
    world.run(3 * SECOND);
    let counters = world.counters(1, 0);
    assert_eq!(counters.checksum_errors, 1, "{counters:?}");
    assert_eq!(counters.failures, 0);
    assert_eq!(world.state(1), ClientState::Running);
}

#[test]
fn each_file_is_read_back_or_prepared_where_it_is_to_be() {
    let mut fleet = writer();
    fleet.groups[0].direction = Direction::Both;
    let mut both = World::new(fleet.clone(), MS);
    both.run(SECOND);
    let counters = both.counters(0, 0);
    assert_eq!(counters.checksum_errors + counters.failures, 0);
    assert!(counters.files_written.abs_diff(counters.files_read) <= 1);
    fleet.groups[0].direction = Direction::Read;
    let mut reads = World::new(fleet, MS);
    reads.run(SECOND);
    let counters = reads.counters(0, 0);
    // Two files are written first, each by an open, four writes and a close, after the directory.
    let first = reads.transfers.first().expect("it reads");
    assert_eq!((first.kind, first.begun), (OpKind::ReadX, 14 * MS));
    assert_eq!((counters.writes, counters.checksum_errors), (0, 0));
    assert_eq!(reads.files.len(), 2);
}

#[test]
fn clients_begin_step_by_step() {
    let mut fleet = pairs();
    fleet.ramp = Some(RampPlan {
        clients: 2,
        every_ns: SECOND,
    });
    let mut world = World::new(fleet, MS);
    world.run(SECOND + SECOND / 2);
    let moves = |client| {
        world
            .transfers
            .iter()
            .any(|transfer| transfer.client == client)
    };
    let begun: Vec<bool> = (0..8).map(moves).collect();
    assert_eq!(begun, [true, true, false, false, true, true, false, false]);
    let first = world.transfers.iter().find(|transfer| transfer.client == 1);
    assert_eq!(first.expect("it writes").begun, SECOND + 2 * MS);
}

#[test]
fn clients_quiesce_after_files_bytes_or_a_time() {
    let quiesce = QuiescePlan {
        grace_ns: 100 * MS,
        ..QuiescePlan::default()
    };
    for (wanted, files, writes) in [
        (
            QuiescePlan {
                files: Some(3),
                ..quiesce
            },
            3,
            12,
        ),
        (
            QuiescePlan {
                bytes: Some(5 * 4096),
                ..quiesce
            },
            2,
            8,
        ),
        // A file takes 6 ms after the directory's 1 ms: at 20 ms the fourth has been begun.
        (
            QuiescePlan {
                after_ns: Some(20 * MS),
                ..quiesce
            },
            4,
            16,
        ),
        // Without grace it is closed where it is: 19 to 20 is its open, 20 to 21 a write.
        (
            QuiescePlan {
                after_ns: Some(20 * MS + MS / 2),
                grace_ns: 0,
                ..quiesce
            },
            3,
            13,
        ),
    ] {
        let mut fleet = writer();
        fleet.groups[0].quiesce = wanted;
        let mut world = World::new(fleet, MS);
        world.run(SECOND);
        let counters = world.counters(0, 0);
        assert_eq!(
            (counters.files_written, counters.writes),
            (files, writes),
            "{wanted:?}"
        );
        assert_eq!(world.state(0), ClientState::Stopped);
        assert_eq!(world.wakes, [Moment::NEVER]);
        assert_eq!(world.open, [None]);
    }
}

#[test]
fn what_fails_is_tried_again_and_the_time_is_counted() {
    let mut world = World::new(writer(), MS);
    world.down = 100 * MS..1100 * MS;
    world.run(500 * MS);
    assert_eq!(world.state(0), ClientState::Failing);
    world.run(10 * SECOND);
    let counters = world.counters(0, 0);
    assert_eq!(world.state(0), ClientState::Running);
    // It fails at 101 ms; tries, from the begin of its file, after 100, 200, 400, 800 ms and 1 ms each.
    assert!(counters.failures >= 3, "{counters:?}");
    let failing = counters.failing_ns / MS;
    assert!((1000..2000).contains(&failing), "{failing}");
    // Files are whole whenever they are closed.
    assert!(world.files.values().all(|file| file.len() <= 4 * 4096));
}

#[test]
fn who_fails_for_too_long_gives_up_and_keeps_nobody_waiting() {
    let mut fleet = pairs();
    fleet.groups[0].count = 1;
    fleet.groups[1].count = 1;
    let mut world = World::new(fleet, MS);
    world.down = 0..6 * SECOND;
    world.run(60 * SECOND);
    assert_eq!(
        (world.state(0), world.state(1)),
        (ClientState::Failed, ClientState::Failed)
    );
    assert_eq!(world.wakes, [Moment::NEVER; 2]);
    let failing = world.counters(0, 60 * SECOND).failing_ns;
    assert!((3_500 * MS..5 * SECOND).contains(&failing), "{failing}");
    let lost = world.clients.pop().expect("two").into_account(None).lost;
    assert!(
        lost.expect("a reason")
            .contains("client 0, whose files it reads")
    );
}

#[test]
fn a_lost_connection_is_tried_again_too() {
    let mut client = World::new(writer(), MS).clients.remove(0);
    let Next::Unmeasured(_) = client.next(0, Moment::ZERO) else {
        panic!("the directory comes first");
    };
    client.give_up();
    assert!(client.is_given_up());
    assert!(client.next(0, Moment::ZERO).measured().is_none());
}

#[test]
fn files_grow_that_are_appended_to() {
    let mut fleet = writer();
    fleet.groups[0].append = true;
    fleet.groups[0].quiesce.files = Some(6);
    let mut world = World::new(fleet, MS);
    world.run(SECOND);
    // Six files' worth in two of them.
    let lens: Vec<usize> = world.files.values().map(Vec::len).collect();
    assert_eq!(lens, [3 * 4 * 4096; 2]);
}

#[test]
fn syncs_and_unlinks_come_where_they_are_asked_for() {
    let mut fleet = writer();
    let group = &mut fleet.groups[0];
    (group.sync_after_write, group.sync_before_close) = (true, true);
    group.unlink_first = true;
    group.quiesce.files = Some(1);
    let mut world = World::new(fleet, MS);
    world.run(SECOND);
    // Directory, unlink, open: 3 ms. Each write has a flush behind it.
    let begun: Vec<u64> = world
        .transfers
        .iter()
        .map(|transfer| transfer.begun / MS)
        .collect();
    assert_eq!(begun, [3, 5, 7, 9]);
}

#[test]
fn a_client_is_small() {
    assert!(size_of::<Stream>() <= 512, "{}", size_of::<Stream>());
}
