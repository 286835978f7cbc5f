//! Known-answer tests in virtual time: a server that keeps files in memory and replies after a
//! fixed time, so that all expected values can be computed by hand.

use super::*;
use crate::fleet_control::ChangeLog;
use filestone_measure::measure::fleet_record::{ChangeKind, ChangeRecord, SettingsGeneration};
use filestone_plan::examples::pairs;
use filestone_plan::fleet::EffectiveFrom;
use filestone_plan::plan::{
    AccessPattern, FleetPlan, LocalTarget, Plan, QuiescePlan, RampPlan, RatePlan, RateUnit,
    TargetPlan, ValueRange, WorkloadPlan,
};
use filestone_workload::operation::{Completion, OpKind, SlotId};
use filestone_workload::payload::{DataVerifier, WriteBlock};
use filestone_workload::recording::Role;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

/// A server, its clients and a clock.
struct World {
    shared: Arc<SharedFleet>,
    clients: Vec<Stream>,
    /// Time of each client's next poll, or of the end of its operation.
    wakes: Vec<Timestamp>,
    under_way: Vec<Option<UnderWay>>,
    inspectors: Vec<DataVerifier>,
    open: Vec<Option<Vec<u8>>>,
    files: BTreeMap<Vec<u8>, Vec<u8>>,
    service: u64,
    /// Time range when the server refuses everything.
    down: std::ops::Range<u64>,
    /// Time range when the server does not reply.
    frozen: std::ops::Range<u64>,
    /// Time when the server loses its state.
    forgets: u64,
    /// All transfers: client, kind, due time and start time.
    transfers: Vec<Transfer>,
    /// Maximum file size, if limited.
    room: Option<u64>,
    /// Data of a written file are corrupted in transit, once.
    corrupts: bool,
}

#[derive(Debug, Clone, Copy)]
struct UnderWay {
    kind: OpKind,
    role: Role,
    due: Timestamp,
    begun: Timestamp,
    outcome: Outcome,
    data_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Transfer {
    client: u32,
    kind: OpKind,
    due: u64,
    begun: u64,
    offset: u64,
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
            wakes: vec![Timestamp::ZERO; count],
            under_way: vec![None; count],
            inspectors: vec![DataVerifier::default(); count],
            open: vec![None; count],
            files: BTreeMap::new(),
            service,
            down: 0..0,
            frozen: 0..0,
            forgets: u64::MAX,
            transfers: Vec::new(),
            room: None,
            corrupts: false,
            shared,
        }
    }

    /// Advances the simulation to this time.
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

    fn end(&mut self, client: usize, under_way: UnderWay, now: Timestamp) {
        let sample = Sample {
            kind: under_way.kind,
            role: under_way.role,
            due: under_way.due,
            ready: under_way.begun,
            completion: Completion {
                outcome: under_way.outcome,
                data_bytes: under_way.data_bytes as u32,
                ..Completion::success(SlotId { client: 0, slot: 0 }, under_way.begun, now)
            },
        };
        self.clients[client].ended(&sample);
    }

    fn ask(&mut self, client: usize, now: Timestamp) {
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
            Next::Background(_) => panic!("a fleet has no asides"),
            Next::NotBefore(moment) => {
                self.wakes[client] = moment.max(now.after_nanos(1));
                return;
            }
            Next::Idle => {
                self.wakes[client] = Timestamp::MAX;
                return;
            }
        };
        let LoadWork::Line(line) = work else {
            panic!("a fleet has lines only");
        };
        let mut server = Server {
            files,
            open: &mut open[client],
            verifier: &mut inspectors[client],
            table: shared.payloads().table(),
        };
        let is_down = self.down.contains(&now.nanos());
        let is_forgotten = now.nanos() >= self.forgets && line.expected == Expected::Success;
        let (offset, len) = extent_of(&line.action);
        let is_full = self.room.is_some_and(|room| offset + len > room);
        let outcome = if is_down || is_forgotten || is_full {
            Outcome::Failed(Failure::Unexpected(
                filestone_workload::failure::Mismatch::Failed,
            ))
        } else {
            server.execute(&line, corrupts)
        };
        let kind = line.action.kind();
        if role == Role::Measured {
            transfers.push(Transfer {
                client: client as u32,
                kind,
                due: due.nanos(),
                begun: now.nanos(),
                offset,
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
        let end = now.nanos() + self.service;
        let is_kept = self.frozen.contains(&end);
        self.wakes[client] = Timestamp::from_nanos(if is_kept { self.frozen.end } else { end });
    }

    /// Advances the simulation to this time, then sends control words to these clients; waiting
    /// clients see them at once.
    fn tell(
        &mut self,
        at: u64,
        clients: std::ops::Range<u32>,
        told: impl Fn(ClientControl) -> ClientControl,
    ) {
        self.run(at);
        for client in clients {
            let orders = self.shared.gauges()[client as usize].orders();
            self.shared.order(client, told(orders));
            let client = client as usize;
            if self.under_way[client].is_none() && self.clients[client].is_called() {
                self.wakes[client] = self.wakes[client].min(Timestamp::from_nanos(at));
            }
        }
        self.shared.control_epoch().increase();
    }

    /// Returns the index of the first group's settings after a change.
    fn settings(&self, change: impl FnOnce(&mut GroupPlan)) -> u32 {
        let mut group = self.shared.plan().groups[0].clone();
        change(&mut group);
        self.shared.place_of(group, 0).expect("there is room")
    }

    /// Returns the due times of a client's transfers, in milliseconds.
    fn due_ms(&self, client: u32) -> Vec<u64> {
        let own = self.transfers.iter();
        let own = own.filter(|transfer| transfer.client == client);
        own.map(|transfer| transfer.due / MS).collect()
    }

    fn counters(
        &self,
        client: usize,
        now: u64,
    ) -> filestone_measure::measure::fleet_record::FleetCounters {
        self.shared.gauges()[client].counters(Timestamp::from_nanos(now))
    }

    fn state(&self, client: usize) -> ClientState {
        self.shared.gauges()[client].state()
    }
}

fn extent_of(action: &LoadAction<'_>) -> (u64, u64) {
    match action {
        LoadAction::ReadX { offset, len, .. } | LoadAction::WriteX { offset, len, .. } => {
            (*offset, *len)
        }
        _ => (0, 0),
    }
}

struct Server<'w> {
    files: &'w mut BTreeMap<Vec<u8>, Vec<u8>>,
    open: &'w mut Option<Vec<u8>>,
    verifier: &'w mut DataVerifier,
    table: &'w [u8],
}

impl Server<'_> {
    fn execute(&mut self, line: &Line<'_>, corrupts: &mut bool) -> Outcome {
        let failed = Outcome::Failed(Failure::Unexpected(
            filestone_workload::failure::Mismatch::Failed,
        ));
        match line.action {
            LoadAction::Open { path, mode, .. } => {
                if !mode.creates && !self.files.contains_key(path) {
                    return failed;
                }
                let file = self.files.entry(path.into()).or_default();
                if mode.cuts {
                    file.clear();
                }
                assert!(self.open.replace(path.into()).is_none(), "one at a time");
            }
            LoadAction::Close { .. } => *self.open = None,
            LoadAction::Unlink { path } => {
                self.files.remove(path);
            }
            LoadAction::WriteX { offset, len, .. } => {
                let Some(Payload::Unit(unit)) = line.payload else {
                    panic!("a write has a unit");
                };
                self.write(unit, offset, len);
            }
            LoadAction::ReadX { offset, len, .. } => {
                return self.read(line.payload, offset, len, corrupts);
            }
            _ => {}
        }
        Outcome::Ok
    }

    fn write(&mut self, unit: &WriteBlock, offset: u64, len: u64) {
        let mut data = Vec::new();
        unit.fill(len, self.table, &mut data);
        let path = self.open.as_ref().expect("it is open");
        let file = self.files.get_mut(path).expect("it is there");
        let end = (offset + len) as usize;
        file.resize(file.len().max(end), 0);
        file[offset as usize..end].copy_from_slice(&data);
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
            self.verifier.start(reading);
            self.verifier.see(&data);
            self.verifier.keep();
            if self.verifier.take_fault().is_some() {
                let mismatch = filestone_workload::failure::Mismatch::WrongData;
                return Outcome::Failed(Failure::Unexpected(mismatch));
            }
        }
        Outcome::Ok
    }
}

/// A writer of files with four writes each.
fn writer() -> FleetPlan {
    let mut fleet = pairs();
    fleet.groups.truncate(1);
    fleet.groups[0].count = 1;
    fleet.groups[0].file_size = ValueRange::always(4 * 4096);
    fleet
}

/// 100 writes per second of 40 ms each, and an open and a close per four writes: from each 240 ms
/// the client keeps 40 ms of its schedule.
#[test]
fn what_a_client_falls_behind_its_rate_by_is_counted_beyond_the_second_that_it_makes_up_for() {
    let kept = |service: u64, until: u64| {
        let mut fleet = writer();
        fleet.groups[0].rate = Some(RatePlan {
            unit: RateUnit::OperationsPerS,
            per_s: ValueRange::always(100.0),
        });
        let mut world = World::new(fleet, service);
        world.run(until);
        let counters = world.counters(0, until);
        let percent = counters.kept_percent().expect("it has a rate");
        (percent, counters.behind_ns)
    };
    for until in [24 * SECOND, 2400 * MS] {
        let (percent, behind_ns) = kept(40 * MS, until);
        assert!((15.0..18.5).contains(&percent), "{percent}");
        let scheduled = until as f64 * percent / 100.0;
        let all = behind_ns as f64 + scheduled;
        assert!((all / until as f64 - 1.0).abs() < 0.06, "{all}");
    }
    assert_eq!(kept(MS, 24 * SECOND), (100.0, 0));
}

#[test]
fn a_writer_follows_its_schedule_exactly() {
    let mut fleet = writer();
    // One write per 10 ms.
    fleet.groups[0].rate = Some(RatePlan {
        unit: RateUnit::OperationsPerS,
        per_s: ValueRange::always(100.0),
    });
    let mut world = World::new(fleet, MS);
    world.run(SECOND);
    // Directory and open take 2 ms; from then on every write is due at a separate time.
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
    // The last file is not closed: its write ends at 993 ms, the close at 994.
    assert_eq!(counters.files_written, 25);
}

#[test]
fn rates_in_bits_lie_within_their_caps() {
    let mut fleet = writer();
    fleet.groups[0].count = 3;
    fleet.groups[0].rate = Some(RatePlan {
        unit: RateUnit::BitsPerS,
        per_s: ValueRange { min: 1e6, max: 2e6 },
    });
    let mut world = World::new(fleet, MS / 10);
    world.run(20 * SECOND);
    for client in 0..3 {
        let bits = 8.0 * world.counters(client, 20 * SECOND).bytes_written as f64 / 20.0;
        assert!((1e6..=2e6).contains(&bits), "{bits}");
    }
    // For each file of 131,072 bits, all writes are equally spaced by its rate.
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
        group.file_size = ValueRange {
            min: 10_000,
            max: 20_000,
        };
        group.read_size = ValueRange { min: 1, max: 9000 };
        group.write_size = ValueRange { min: 80, max: 5000 };
    }
    let mut world = World::new(fleet, MS);
    world.run(20 * SECOND);
    for reader in 4..8 {
        let (read, written) = (world.counters(reader, 0), world.counters(reader - 4, 0));
        assert_eq!((read.checksum_errors, read.failures), (0, 0));
        assert!(read.files_read > 10, "{read:?}");
        assert!(written.files_written > 10, "{written:?}");
    }
    // No file was read before it existed.
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
fn files_are_moved_at_random_offsets_each_once() {
    let mut fleet = pairs();
    for group in &mut fleet.groups {
        (group.count, group.files) = (1, 1);
        group.offsets = AccessPattern::Random;
        group.file_size = ValueRange::always(40 * 4096 + 20);
    }
    fleet.groups[1].read_size = ValueRange::always(2 * 4096);
    fleet.groups[0].quiesce.files = Some(2);
    let mut world = World::new(fleet, MS);
    world.run(SECOND);
    let of = |client| {
        let own = world.transfers.iter();
        let own = own.filter(move |transfer| transfer.client == client);
        own.map(|transfer| (transfer.offset, transfer.len))
            .collect::<Vec<_>>()
    };
    let (written, read) = (of(0), of(1));
    // The rest is shorter than a head: the write before it gives 20 bytes.
    let mut wanted: Vec<(u64, u64)> = (0..40).map(|number| (4096 * number, 4096)).collect();
    wanted[39].1 -= 20;
    wanted.push((40 * 4096 - 20, 40));
    let sorted = |pieces: &[(u64, u64)]| {
        let mut pieces = pieces.to_vec();
        pieces.sort_unstable();
        pieces
    };
    for pass in written.chunks(41) {
        assert_eq!(sorted(pass), wanted);
        assert_ne!(pass, wanted);
    }
    assert_ne!(
        written[..41],
        written[41..],
        "each pass has an order of its own"
    );
    let mut wanted: Vec<(u64, u64)> = (0..20).map(|number| (8192 * number, 8192)).collect();
    wanted[19].1 -= 20;
    wanted.push((40 * 4096 - 20, 40));
    assert_eq!(sorted(&read[..21]), wanted);
    let counters = world.counters(1, 0);
    assert_eq!((counters.checksum_errors, counters.failures), (0, 0));
    assert!(counters.files_read >= 2);
}

#[test]
fn corrupted_data_are_found_and_counted_once() {
    for offsets in [AccessPattern::Sequential, AccessPattern::Random] {
        let mut fleet = pairs();
        for group in &mut fleet.groups {
            (group.count, group.offsets) = (1, offsets);
        }
        let mut world = World::new(fleet, MS);
        world.run(SECOND);
        world.corrupts = true;
        world.run(3 * SECOND);
        let counters = world.counters(1, 0);
        assert_eq!(counters.checksum_errors, 1, "{counters:?}");
        assert_eq!(counters.failures, 0);
        assert_eq!(world.state(1), ClientState::Running);
    }
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
        assert_eq!(world.wakes, [Timestamp::MAX]);
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
    // The failure comes at 101 ms; retries, from the beginning of the file, follow after 100, 200,
    // 400, 800 ms and 1 ms each.
    assert!(counters.failures >= 3, "{counters:?}");
    let failing = counters.failing_ns / MS;
    assert!((1000..2000).contains(&failing), "{failing}");
    // Files are complete whenever they are closed.
    assert!(world.files.values().all(|file| file.len() <= 4 * 4096));
}

/// One write per 250 ms, from 2 ms on, when directory and file exist.
fn writer_of_four_a_second() -> FleetPlan {
    let mut fleet = writer();
    fleet.groups[0].rate = Some(RatePlan {
        unit: RateUnit::OperationsPerS,
        per_s: ValueRange::always(4.0),
    });
    fleet
}

#[test]
fn a_client_goes_on_a_second_behind_when_its_server_was_frozen() {
    let mut world = World::new(writer_of_four_a_second(), MS);
    world.frozen = 3 * SECOND..8 * SECOND;
    world.run(14 * SECOND);
    // Twelve before the server froze, one that it kept, which was due at 3002 ms; then those that
    // were due from 7 s on: 2000 ms are made up for, as fast as the server replies.
    let due: Vec<u64> = world
        .transfers
        .iter()
        .map(|transfer| transfer.due / MS)
        .collect();
    let before = (0..13).map(|write| 2 + 250 * write);
    let after = (0..28).map(|write| 7000 + 250 * write);
    assert_eq!(due, before.chain(after).collect::<Vec<u64>>());
    // Writes 13 to 15 end their file at 8003 ms, which is closed, and the next opened.
    let begun: Vec<u64> = world.transfers[12..19]
        .iter()
        .map(|transfer| transfer.begun / MS)
        .collect();
    assert_eq!(begun, [3002, 8000, 8001, 8002, 8005, 8006, 8250]);
    let counters = world.counters(0, 14 * SECOND);
    assert_eq!((counters.failures, counters.failing_ns), (0, 0));
    assert_eq!(world.state(0), ClientState::Running);
}

#[test]
fn a_client_gives_up_when_its_server_has_forgotten_its_files() {
    // The write of 3002 ms is answered when the server is back. The client tries 100 ms after that
    // to close the file, which takes 1 ms, and to open it again, then retries after 200, 400, 800,
    // 1000 and 1000 ms.
    for (back, failures, last) in [(4200, 6, 6706), (3500, 7, 7007)] {
        let mut world = World::new(writer_of_four_a_second(), MS);
        world.frozen = 3 * SECOND..back * MS;
        world.forgets = 3 * SECOND;
        world.run((back + 50) * MS);
        assert_eq!(world.state(0), ClientState::Failing);
        world.run(14 * SECOND);
        let counters = world.counters(0, 14 * SECOND);
        assert_eq!(counters.failures, failures);
        assert_eq!(counters.failing_ns, (last - 3002) * MS);
        assert_eq!((counters.writes, counters.files_written), (12, 3));
        assert_eq!(world.state(0), ClientState::Failed);
        assert_eq!(world.wakes, [Timestamp::MAX]);
    }
}

#[test]
fn who_comes_only_as_far_as_before_gives_up_too() {
    // The third write of each file exceeds the available space.
    let mut fleet = writer();
    fleet.groups[0].file_size = ValueRange::always(2 * 4096 + 100);
    let mut world = World::new(fleet, MS);
    world.room = Some(2 * 4096);
    world.run(20 * SECOND);
    assert_eq!(world.state(0), ClientState::Failed);
    let counters = world.counters(0, 0);
    // Directory, open and two writes: 4 ms. The failure comes at 5 ms; then close, open, two writes
    // and the third are 5 ms, after 100, 200, 400, 800, 1000 and 1000 ms: 5, 110, 315, 720, 1525,
    // 2530, 3535.
    assert_eq!((counters.failures, counters.writes), (7, 14));
    // Each time except the last counts from the due time, a millisecond before, until the first
    // write is done.
    assert_eq!(counters.failing_ns, (3500 + 6 * 4 + 1) * MS);
}

#[test]
fn a_client_is_connecting_until_it_is_connected() {
    let mut world = World::new(writer(), MS);
    world.shared.gauges()[0].connect(ConnectStatus::Pending);
    world.run(1);
    assert_eq!(world.state(0), ClientState::Connecting);
    world.clients[0].connected(77);
    assert_eq!(world.state(0), ClientState::Starting);
    assert_eq!(
        world.shared.gauges()[0].connection(),
        ConnectStatus::Connected(77)
    );
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
    assert_eq!(world.wakes, [Timestamp::MAX; 2]);
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
    let Next::Unmeasured(_) = client.next(0, Timestamp::ZERO) else {
        panic!("the directory comes first");
    };
    client.mark_failed();
    assert!(client.is_given_up());
    assert!(client.next(0, Timestamp::ZERO).measured().is_none());
}

#[test]
fn files_grow_that_are_appended_to() {
    let mut fleet = writer();
    fleet.groups[0].append = true;
    fleet.groups[0].quiesce.files = Some(6);
    let mut world = World::new(fleet, MS);
    world.run(SECOND);
    // The data of six files in two of them.
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
    // Directory, unlink, open: 3 ms. A flush follows each write.
    let begun: Vec<u64> = world
        .transfers
        .iter()
        .map(|transfer| transfer.begun / MS)
        .collect();
    assert_eq!(begun, [3, 5, 7, 9]);
}

fn ops(per_s: f64) -> Option<RatePlan> {
    Some(RatePlan {
        unit: RateUnit::OperationsPerS,
        per_s: ValueRange::always(per_s),
    })
}

#[test]
fn a_rate_that_is_halved_gives_half_from_then_on() {
    let mut fleet = writer();
    fleet.groups[0].count = 2;
    fleet.groups[0].rate = ops(100.0);
    let mut world = World::new(fleet, MS);
    let halved = world.settings(|group| group.rate = ops(50.0));
    world.tell(5 * SECOND, 0..1, |orders| ClientControl {
        settings: halved,
        ..orders
    });
    world.run(10 * SECOND);
    // Due at 2, 12 … 4992 ms; a fifth of the wait for the next remains, so 4 ms: 5004, 5024 … 9984
    // ms.
    let before = (0..500).map(|write| 2 + 10 * write);
    let after = (0..250).map(|write| 5004 + 20 * write);
    assert_eq!(world.due_ms(0), before.chain(after).collect::<Vec<u64>>());
    // The other continues as before.
    assert_eq!(world.due_ms(1).len(), 1000);
    let counters = world.counters(0, 10 * SECOND);
    assert_eq!((counters.writes, counters.bytes_written), (750, 750 * 4096));
}

#[test]
fn sizes_hold_from_the_next_file_on_and_are_read_back_whole() {
    let mut fleet = writer();
    fleet.groups[0].direction = Direction::Both;
    let mut world = World::new(fleet, MS);
    // A file takes an open, four transfers and a close, twice: the directory, then 12 ms each. At
    // 30 ms the third is being written.
    let changed = world.settings(|group| {
        group.write_size = ValueRange::always(8192);
        group.file_size = ValueRange::always(20_000);
        group.pattern = filestone_workload::payload::Pattern::Prbs15;
    });
    world.tell(30 * MS, 0..1, |orders| ClientControl {
        settings: changed,
        ..orders
    });
    world.run(SECOND);
    let writes = world.transfers.iter();
    let writes = writes.filter(|transfer| transfer.kind == OpKind::WriteX);
    let lens: Vec<u64> = writes.map(|transfer| transfer.len).take(18).collect();
    let (old, new) = ([4096; 4], [8192, 8192, 3616]);
    let expected = [&old[..], &old, &old, &new, &new].concat();
    assert_eq!(lens, expected);
    let counters = world.counters(0, SECOND);
    assert_eq!(counters.checksum_errors + counters.failures, 0);
    assert!(counters.files_read > 50, "{counters:?}");
}

#[test]
fn who_is_told_to_quiesce_ends_its_file_and_every_byte_is_there() {
    let mut fleet = writer();
    fleet.groups[0].count = 3;
    let mut world = World::new(fleet, MS);
    // A file takes 6 ms after the directory's 1 ms: at 100 ms the 17th has been begun.
    world.tell(100 * MS, 0..2, |orders| orders.told(DesiredState::Quiesce));
    world.run(SECOND);
    for client in 0..2 {
        let counters = world.counters(client, SECOND);
        assert_eq!((counters.files_written, counters.writes), (17, 68));
        assert_eq!(counters.bytes_written, 17 * 16_384);
        assert_eq!(world.state(client), ClientState::Stopped);
        assert_eq!(world.wakes[client], Timestamp::MAX);
    }
    let others = |path: &[u8]| String::from_utf8_lossy(path).contains("client2/");
    let own = world.files.iter().filter(|(path, _)| !others(path));
    assert!(own.clone().count() == 4 && own.clone().all(|(_, file)| file.len() == 16_384));
    assert_eq!(world.state(2), ClientState::Running);
    // The same desired state again changes nothing; with `Run` it begins again, with its directory.
    world.tell(2 * SECOND, 0..1, |orders| {
        orders.told(DesiredState::Quiesce)
    });
    assert_eq!(world.counters(0, 2 * SECOND).writes, 68);
    world.tell(3 * SECOND, 0..1, |orders| orders.told(DesiredState::Run));
    world.run(3 * SECOND + 62 * MS);
    assert_eq!(world.counters(0, 0).files_written, 17 + 10);
    assert_eq!(world.counters(1, 0).files_written, 17);
}

#[test]
fn without_grace_a_file_is_closed_where_it_is() {
    let mut fleet = writer();
    fleet.groups[0].quiesce.grace_ns = 2 * MS;
    let mut world = World::new(fleet, MS);
    // Writes begin at 2, 3 and 4 ms. The client sees the control word when the first has ended, and
    // has 2 ms from then on.
    world.tell(5 * MS / 2, 0..1, |orders| {
        orders.told(DesiredState::Quiesce)
    });
    world.run(SECOND);
    let counters = world.counters(0, SECOND);
    assert_eq!((counters.files_written, counters.writes), (0, 3));
    assert_eq!(world.open, [None]);
    assert_eq!(world.state(0), ClientState::Stopped);
}

#[test]
fn who_is_told_to_stop_ends_its_operation_and_begins_again_with_its_file() {
    let mut fleet = pairs();
    fleet.groups[0].count = 1;
    fleet.groups[1].count = 1;
    for group in &mut fleet.groups {
        (group.files, group.file_size) = (1, ValueRange::always(4 * 4096));
    }
    let mut world = World::new(fleet, MS);
    // Directory and open until 2 ms; at 4.5 ms the third of four writes is under way.
    world.tell(9 * MS / 2, 0..1, |orders| orders.told(DesiredState::Stop));
    world.run(SECOND);
    let counters = world.counters(0, SECOND);
    assert_eq!((counters.writes, counters.files_written), (3, 0));
    assert_eq!(world.state(0), ClientState::Stopped);
    assert!(world.open.iter().all(Option::is_none));
    // Readers of its files wait for it, and are not refused.
    assert_eq!(world.state(1), ClientState::Waiting);
    world.tell(SECOND, 0..1, |orders| orders.told(DesiredState::Run));
    world.run(2 * SECOND);
    // They take turns with their one file, which is intact.
    let (written, read) = (world.counters(0, 0), world.counters(1, 0));
    assert!(written.files_written.abs_diff(read.files_read) <= 1);
    assert!(read.files_read > 10, "{read:?}");
    assert_eq!((read.checksum_errors, read.failures), (0, 0));
    // A stopped reader gives its file back; its writer continues.
    world.tell(2 * SECOND, 1..2, |orders| orders.told(DesiredState::Stop));
    world.run(2 * SECOND + 100 * MS);
    let before = world.counters(0, 0).files_written;
    world.run(3 * SECOND);
    assert!(world.counters(0, 0).files_written > before + 100);
}

#[test]
fn who_has_not_begun_or_waits_for_its_transfer_is_stopped_at_once() {
    let mut fleet = writer();
    fleet.groups[0].count = 2;
    fleet.groups[0].rate = ops(0.1);
    fleet.ramp = Some(RampPlan {
        clients: 1,
        every_ns: 10 * SECOND,
    });
    let mut world = World::new(fleet, MS);
    world.tell(SECOND, 0..2, |orders| orders.told(DesiredState::Stop));
    // One close for the open file.
    world.run(SECOND + 2 * MS);
    assert_eq!([world.state(0), world.state(1)], [ClientState::Stopped; 2]);
    assert!(world.open.iter().all(Option::is_none));
    // The client whose ramp step is still to come waits for that; the other begins at once.
    world.tell(2 * SECOND, 0..2, |orders| orders.told(DesiredState::Run));
    world.run(9 * SECOND);
    assert_eq!(world.due_ms(0), [2, 2002]);
    assert!(world.due_ms(1).is_empty());
    world.run(11 * SECOND);
    assert_eq!(world.due_ms(1), [10_002]);
}

#[test]
fn who_fails_is_stopped_when_its_file_is_closed() {
    let mut world = World::new(writer(), MS);
    world.down = 100 * MS..SECOND;
    // A write that is due at 100 ms fails, and would be retried at 201 ms. The client closes its
    // file at 150 ms instead, which fails as well, and again at 351 and 752 ms; at 1553 ms the
    // close succeeds.
    world.tell(150 * MS, 0..1, |orders| orders.told(DesiredState::Stop));
    world.run(160 * MS);
    assert_eq!(world.state(0), ClientState::Failing);
    // The first failed operation was due at 100 ms.
    let until = world.shared.gauges()[0].retries_until();
    assert_eq!(until, Some(Timestamp::from_nanos(3600 * MS)));
    assert_eq!(world.counters(0, 0).failures, 2);
    world.run(2 * SECOND);
    assert_eq!(world.state(0), ClientState::Stopped);
    let counters = world.counters(0, 2 * SECOND);
    assert_eq!((counters.failures, counters.failing_ns), (4, 1454 * MS));
    assert_eq!(world.shared.gauges()[0].retries_until(), None);
    world.tell(2 * SECOND, 0..1, |orders| orders.told(DesiredState::Run));
    world.run(3 * SECOND);
    assert_eq!(world.state(0), ClientState::Running);
    assert!(world.counters(0, 0).files_written > 100);
}

#[test]
fn who_is_stopped_while_it_prepares_prepares_that_file_anew() {
    let mut fleet = writer();
    fleet.groups[0].direction = Direction::Read;
    let mut world = World::new(fleet, MS);
    world.tell(4 * MS, 0..1, |orders| orders.told(DesiredState::Stop));
    world.tell(SECOND, 0..1, |orders| orders.told(DesiredState::Run));
    world.run(2 * SECOND);
    let counters = world.counters(0, 0);
    assert_eq!((counters.checksum_errors, counters.failures), (0, 0));
    assert!(counters.files_read > 100);
    assert!(world.files.values().all(|file| file.len() == 16_384));
}

/// Runs until all clients follow their control words, polled every 50 ms, and returns that time.
fn settled_at(world: &mut World, up_to: EffectiveFrom, from: u64) -> u64 {
    let mut now = from;
    loop {
        now += 50 * MS;
        world.run(now);
        if world.shared.is_applied(up_to) {
            return now;
        }
        assert!(now < 60 * SECOND);
    }
}

#[test]
fn seconds_before_a_change_around_it_and_after_it_are_told_apart() {
    let mut fleet = writer();
    fleet.groups[0].rate = ops(4.0);
    let mut world = World::new(fleet, MS);
    let told = 2500 * MS;
    let doubled = world.settings(|group| group.rate = ops(8.0));
    world.tell(told, 0..1, |orders| ClientControl {
        settings: doubled,
        ..orders
    });
    let mut book = ChangeLog::default();
    book.record(rate_change(told));
    let settled = settled_at(&mut world, EffectiveFrom::NextTransfer, told);
    book.mark_applied(1, EffectiveFrom::NextTransfer, settled);
    world.run(6 * SECOND);
    // Due every 250 ms from 2 ms on; then at 2501 ms, when the rest of the wait is over, and every
    // 125 ms.
    let due = world.due_ms(0);
    let count = |second: u64| due.iter().filter(|due| **due / 1000 == second).count();
    assert_eq!([0, 1, 2, 3, 4, 5].map(count), [4, 4, 6, 8, 8, 8]);
    let generations = book.generations();
    let mark = |second: u64| {
        let start = second * SECOND;
        generations.of(start, start + SECOND).to_string()
    };
    let marks = [0, 1, 2, 3, 4, 5].map(mark);
    assert_eq!(marks, ["0", "0", "0-1", "1", "1", "1"]);
    assert_eq!(settled, told + 50 * MS);
    // An interval over the whole run is mixed, one before the change is not.
    assert_eq!(generations.of(0, 6 * SECOND), SettingsGeneration::new(0, 1));
    assert_eq!(generations.of(0, told), SettingsGeneration::new(0, 0));
}

fn rate_change(at_ns: u64) -> ChangeRecord {
    ChangeRecord {
        number: 1,
        sent_ns: at_ns,
        action: ChangeKind::Set,
        selector: "all".into(),
        clients: 1,
        applied_ns: None,
        settings: vec![],
    }
}

#[test]
fn who_is_told_goes_by_it_when_its_transfer_its_file_or_all_it_does_has_ended() {
    let mut fleet = writer();
    // Four writes per second, one per 250 ms from 2 ms on, so one file per second: the second file
    // is begun when the fourth write has ended.
    fleet.groups[0].rate = ops(4.0);
    let mut world = World::new(fleet, MS);
    assert!(
        world.shared.is_applied(EffectiveFrom::NextFile),
        "it has not begun"
    );
    let longer = world.settings(|group| {
        group.rate = ops(4.0);
        group.file_size = ValueRange::always(8 * 4096);
    });
    world.tell(300 * MS, 0..1, |orders| ClientControl {
        settings: longer,
        ..orders
    });
    let transfer = settled_at(&mut world, EffectiveFrom::NextTransfer, 300 * MS);
    assert_eq!(transfer, 350 * MS);
    assert!(!world.shared.is_applied(EffectiveFrom::NextFile));
    // The fourth write is due at 752 ms, and the file closed at 754 ms.
    let file = settled_at(&mut world, EffectiveFrom::NextFile, 700 * MS);
    assert_eq!(file, 800 * MS);
    // The next has eight writes, from 1002 to 2752 ms. A quiescing client has settled when the file
    // is closed.
    world.tell(1100 * MS, 0..1, |orders| orders.told(DesiredState::Quiesce));
    let stopped = settled_at(&mut world, EffectiveFrom::NextTransfer, 1100 * MS);
    assert_eq!(stopped, 2800 * MS);
    assert_eq!(world.state(0), ClientState::Stopped);
    world.tell(5 * SECOND, 0..1, |orders| orders.told(DesiredState::Run));
    let begun = settled_at(&mut world, EffectiveFrom::NextFile, 5 * SECOND);
    assert_eq!(begun, 5050 * MS);
}

#[test]
fn a_client_is_small() {
    assert!(size_of::<Stream>() <= 512, "{}", size_of::<Stream>());
}
