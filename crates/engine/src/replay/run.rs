//! A replay from its first line to its record: claim the place, start the
//! clients, enter what they measure, clean up.
//!
//! The coordinator is the calling thread. Once a second it tells how far the
//! clients are; once per interval it takes what they have measured.

use super::board::Board;
use super::client::{Client, ClientEnd, Shared, Step, enter};
use super::mismatches::Mismatches;
use super::site::{Site, Trees};
use super::time::{RealTime, Time};
use super::{Progress, ProgressPhase};
use crate::clock::Clock;
use crate::error::RunError;
use crate::run::{Observer, settle, tool};
use crate::{host, prepare};
use filestone_model::client::nfs3::failure;
use filestone_model::load::{Load, Script};
use filestone_model::measure::replay_record::ReplayRecord;
use filestone_model::measure::run_record::{self, RunEnd, RunRecord, Target};
use filestone_model::measure::{Assembly, Caveat, IntervalBuffer, Recorder, caveat};
use filestone_model::operation::OpKind;
use filestone_model::plan::{Plan, ReplayPlan, TICK_NANOS};
use filestone_model::time::Moment;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// A second: dbench's row.
const ROW: u64 = 1_000_000_000;
/// Stack of a client's thread: buffers are on the heap.
const STACK_BYTES: usize = 256 << 10;

/// Replays `loads` on `site` as `plan` says.
pub fn replay_on<S: Site>(
    plan: &Plan,
    replay: &ReplayPlan,
    loads: &[Arc<Load>],
    site: S,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let target = site.target();
    observer.prepared(&target);
    let measured = measure(plan, replay, loads, &site, stop, observer);
    // What could not even begin has nothing that is worth keeping.
    let trees = if replay.skip_cleanup && measured.is_ok() {
        Trees::Keep
    } else {
        Trees::Remove
    };
    let released = site.release(trees);
    let mut record = measured?.into_record(plan, target);
    if let Err(error) = released {
        record.caveats.push(Caveat::LeftBehind {
            path: super::site::CLIENTS.into(),
            reason: error.to_string(),
        });
    }
    Ok(record)
}

/// What a run came to, before it is a record.
struct Measured {
    assembly: Assembly,
    clock: Clock,
    started_at: SystemTime,
    window_end: Moment,
    end: RunEnd,
    replay: ReplayRecord,
    /// Operations that clients began in the window, counted where they began.
    begun: u64,
    left_behind: Option<(u32, String)>,
}

/// What a client's thread says at its end.
struct ThreadEnd {
    ends: Vec<ClientEnd>,
    /// The first client whose tree could not be taken away, and why.
    left_behind: Option<(u32, String)>,
}

fn measure<S: Site>(
    plan: &Plan,
    replay: &ReplayPlan,
    loads: &[Arc<Load>],
    site: &S,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Measured, RunError> {
    let layers = layers(plan, site, stop, observer)?;
    let clock = Clock::start();
    let shared = shared(plan, replay, stop);
    let boards: Vec<Board> = (0..plan.clients).map(|_| Board::new()).collect();
    let per_thread = replay.clients_per_thread.max(1) as usize;
    let threads = (plan.clients as usize).div_ceil(per_thread);
    let mut coordinator = Coordinator::new(plan, per_thread, &boards, &shared);
    observer.preparing("running");
    let (done, all_done) = sync_channel::<ThreadEnd>(threads);
    let mut layers = layers.into_iter();
    let (clock, started_at, ends) = std::thread::scope(|scope| {
        // Channels and not a barrier: where not all threads can be started, the
        // others must not wait for ever.
        let mut starts = Vec::with_capacity(threads);
        for thread in 0..threads {
            let first = thread * per_thread;
            let members: Vec<(u32, S::Layer)> = (first as u32..)
                .zip(layers.by_ref().take(per_thread))
                .collect();
            let (start, started) = sync_channel::<Clock>(1);
            starts.push(start);
            let (done, shared, boards) = (done.clone(), &shared, &boards);
            let body = move || {
                settle(plan, thread);
                // Ends early only if another thread could not be started.
                let Ok(clock) = started.recv() else { return };
                let time = RealTime { clock, stop };
                let members = members
                    .into_iter()
                    .map(|(number, layer)| {
                        let load = &loads[number as usize % loads.len()];
                        let script = Script::new(Arc::clone(load), number, plan.clients, plan.seed);
                        let board = &boards[number as usize];
                        let (pacing, time) = (replay.pacing, time.clone());
                        Client::new(number, (script, layer), pacing, time, (board, shared))
                    })
                    .collect();
                let clean_up = (!replay.skip_cleanup).then_some(site);
                let _ = done.send(run_thread(members, boards, clean_up));
            };
            std::thread::Builder::new()
                .name(format!("filestone-c{first}"))
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, body)
                .map_err(|source| RunError::System {
                    what: format!("start a thread for client {first} of {}", plan.clients),
                    source,
                })?;
        }
        drop(done);
        let started_at = SystemTime::now();
        let clock = clock.restarted();
        for start in starts {
            let _ = start.send(clock.clone());
        }
        let ends = coordinator.watch(&clock, &all_done, observer);
        Ok::<_, RunError>((clock, started_at, ends))
    })?;
    Ok(coordinator.conclude(replay, clock, started_at, ends, stop))
}

/// All clients' ways to the site, made one after the other.
fn layers<S: Site>(
    plan: &Plan,
    site: &S,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Vec<S::Layer>, RunError> {
    if plan.clients > 1 {
        observer.preparing(&format!("preparing {} clients", plan.clients));
    }
    (0..plan.clients)
        .map(|client| {
            prepare::go_on(stop)?;
            site.layer(client)
        })
        .collect()
}

fn shared<'run>(plan: &Plan, replay: &ReplayPlan, stop: &'run AtomicBool) -> Shared<'run> {
    let window_start = Moment::from_nanos(plan.warm_up_ns);
    let window_end = plan
        .duration_ns
        .map_or(Moment::NEVER, |duration| window_start.after_nanos(duration));
    let recorder = Recorder::new(Box::new(buffer(plan)), window_start, window_end);
    Shared {
        stop,
        recorder: Mutex::new(recorder),
        window_start,
        window_end,
        points: (0..plan.clients).map(|_| AtomicU64::new(0)).collect(),
        run_once: replay.run_once,
        on_mismatch: replay.on_mismatch,
        trunc_io_bytes: replay.trunc_io_bytes,
    }
}

fn buffer(plan: &Plan) -> IntervalBuffer {
    let ticks = plan.interval_ns.div_ceil(TICK_NANOS).max(1);
    IntervalBuffer::new(&plan.kinds(), ticks as usize + 1, TICK_NANOS)
}

/// Runs the clients of one thread, line by line in turn, and cleans up after them.
fn run_thread<S: Site, T: Time>(
    members: Vec<Client<'_, S::Layer, T>>,
    boards: &[Board],
    clean_up: Option<&S>,
) -> ThreadEnd {
    let mut running = members;
    let (mut ends, mut layers) = (Vec::new(), Vec::new());
    while !running.is_empty() {
        let mut index = 0;
        while index < running.len() {
            match running[index].step() {
                Step::Going => index += 1,
                Step::Ended => {
                    let (end, layer) = running.remove(index).finish();
                    layers.push((end.record.client, layer));
                    ends.push(end);
                }
            }
        }
    }
    let mut left_behind = None;
    for (number, mut layer) in layers {
        if let Some(site) = clean_up
            && let Err(lost) = site.clean_up(number, &mut layer)
        {
            left_behind.get_or_insert((number, lost.what));
        }
        boards[number as usize]
            .is_clean
            .store(true, Ordering::Release);
    }
    ThreadEnd { ends, left_behind }
}

/// Watches the clients and takes what they measure.
struct Coordinator<'run> {
    plan: &'run Plan,
    clients_per_thread: usize,
    boards: &'run [Board],
    shared: &'run Shared<'run>,
    assembly: Assembly,
    /// The buffer that comes next.
    spare: Option<Box<IntervalBuffer>>,
    /// When the interval being filled began.
    interval_start: Moment,
    cpu_entered: u64,
    /// Bytes that had been moved when the window opened.
    bytes_before: u64,
    is_measuring: bool,
    /// When the last client had carried out its last line.
    all_done_at: Option<Moment>,
}

impl<'run> Coordinator<'run> {
    fn new(
        plan: &'run Plan,
        clients_per_thread: usize,
        boards: &'run [Board],
        shared: &'run Shared<'run>,
    ) -> Self {
        Self {
            plan,
            clients_per_thread,
            boards,
            shared,
            assembly: Assembly::new(plan),
            spare: None,
            interval_start: shared.window_start,
            cpu_entered: 0,
            bytes_before: 0,
            is_measuring: shared.window_start == Moment::ZERO,
            all_done_at: None,
        }
    }

    /// Waits for the threads' ends; tells of progress and takes intervals meanwhile.
    fn watch(
        &mut self,
        clock: &Clock,
        all_done: &std::sync::mpsc::Receiver<ThreadEnd>,
        observer: &mut dyn Observer,
    ) -> Vec<ThreadEnd> {
        let mut ends = Vec::new();
        let mut row = Moment::ZERO.after_nanos(ROW);
        loop {
            let mut next = row;
            // The books of what has been carried out are closed all at once, when
            // nothing more comes.
            if self.all_done_at.is_none() {
                next = next.min(self.next_boundary());
            }
            if !self.is_measuring {
                next = next.min(self.shared.window_start);
            }
            let left = next.nanos_since(clock.now());
            match all_done.recv_timeout(Duration::from_nanos(left)) {
                Ok(end) => ends.push(end),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = clock.now();
            self.note_phase(now);
            if now >= self.next_boundary() && self.all_done_at.is_none() {
                self.take_interval(self.next_boundary(), observer);
            }
            if now >= row {
                observer.progress(&self.progress(now));
                row = row.after_nanos(ROW * (1 + now.nanos_since(row) / ROW));
            }
        }
        self.note_phase(clock.now());
        ends
    }

    /// Where the interval being filled ends: never inside of it is the end of the window.
    fn next_boundary(&self) -> Moment {
        let end = self
            .interval_start
            .after_nanos(self.plan.interval_ns.max(TICK_NANOS));
        if self.interval_start < self.shared.window_end {
            end.min(self.shared.window_end)
        } else {
            end
        }
    }

    /// Notices the opening of the window and the end of the last client.
    fn note_phase(&mut self, now: Moment) {
        if !self.is_measuring && now >= self.shared.window_start {
            self.is_measuring = true;
            self.bytes_before = self.bytes_moved();
            // What the warm-up took is no cost of what is measured.
            self.cpu_entered = self.cpu_used();
        }
        if self.all_done_at.is_none() {
            self.all_done_at = all_done_at(self.boards);
        }
    }

    fn bytes_moved(&self) -> u64 {
        let moved = self
            .boards
            .iter()
            .map(|board| board.data_bytes.load(Ordering::Relaxed));
        moved.fold(0, u64::saturating_add)
    }

    fn cpu_used(&self) -> u64 {
        cpu_used(self.boards, self.clients_per_thread)
    }

    /// Takes what ended before `boundary`.
    fn take_interval(&mut self, boundary: Moment, observer: &mut dyn Observer) {
        for board in self.boards {
            enter(board, &self.shared.recorder, boundary);
        }
        let next = match self.spare.take() {
            Some(buffer) => buffer,
            None => Box::new(buffer(self.plan)),
        };
        let cpu = self.cpu_used();
        let mut recorder = self
            .shared
            .recorder
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut full = recorder.hand_over(next, boundary);
        drop(recorder);
        full.cpu_nanos = cpu.saturating_sub(self.cpu_entered);
        self.cpu_entered = cpu;
        self.interval_start = boundary;
        self.give(full);
        while let Some((record, mut buffer)) = self.assembly.complete() {
            observer.interval(&record);
            buffer.reset(Moment::ZERO);
            self.spare = Some(buffer);
        }
    }

    fn give(&mut self, buffer: Box<IntervalBuffer>) {
        if let Some(mut merged) = self.assembly.take(0, buffer) {
            merged.reset(Moment::ZERO);
            self.spare = Some(merged);
        }
    }

    fn progress(&self, now: Moment) -> Progress {
        let phase = match (self.all_done_at, self.is_measuring) {
            (Some(_), _) => ProgressPhase::CleanUp,
            (None, true) => ProgressPhase::Execute,
            (None, false) => ProgressPhase::WarmUp,
        };
        let since = match phase {
            ProgressPhase::WarmUp => Moment::ZERO,
            ProgressPhase::Execute => self.shared.window_start,
            ProgressPhase::CleanUp => self.all_done_at.unwrap_or(now),
        };
        let seconds = now.nanos_since(since) as f64 / 1e9;
        let moved = match phase {
            ProgressPhase::WarmUp | ProgressPhase::Execute => {
                self.bytes_moved().saturating_sub(self.bytes_before)
            }
            ProgressPhase::CleanUp => 0,
        };
        let lines: u64 = self
            .boards
            .iter()
            .map(|board| board.lines.load(Ordering::Relaxed))
            .sum();
        let is_active = |board: &&Board| match phase {
            ProgressPhase::CleanUp => !board.is_clean.load(Ordering::Acquire),
            ProgressPhase::WarmUp | ProgressPhase::Execute => board.done_at().is_none(),
        };
        let worst = self.boards.iter().map(|board| board.worst(now.nanos()));
        Progress {
            phase,
            clients: self.boards.iter().filter(is_active).count() as u32,
            line: lines / u64::from(self.plan.clients.max(1)),
            bytes_per_s: moved as f64 / seconds.max(1e-9),
            seconds,
            latency_max_ns: worst.max().unwrap_or(0),
        }
    }

    /// Enters what is left and closes the books.
    fn conclude(
        mut self,
        replay: &ReplayPlan,
        clock: Clock,
        started_at: SystemTime,
        ends: Vec<ThreadEnd>,
        stop: &AtomicBool,
    ) -> Measured {
        let done_at = self.all_done_at.unwrap_or_else(|| clock.now());
        // A run that ends by itself, or is stopped, closes its window then.
        let window_end = self
            .shared
            .window_end
            .min(done_at)
            .max(self.shared.window_start);
        for board in self.boards {
            enter(board, &self.shared.recorder, Moment::NEVER);
        }
        let cpu = self.cpu_used().saturating_sub(self.cpu_entered);
        let last = Box::new(buffer(self.plan));
        let mut full = self
            .shared
            .recorder
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .hand_over(last, done_at.max(self.interval_start));
        full.cpu_nanos = cpu;
        self.give(full);
        let is_early = done_at < self.shared.window_end && !replay.run_once;
        let (ends, left_behind) = sort(ends);
        let all_lost = !ends.is_empty() && ends.iter().all(|end| end.record.lost.is_some());
        let first_lost = ends.iter().find_map(|end| end.record.lost.clone());
        let end = match first_lost {
            _ if stop.load(Ordering::Relaxed) && (is_early || replay.run_once) => {
                RunEnd::Interrupted
            }
            Some(message) if all_lost => RunEnd::TargetLost { message },
            _ => RunEnd::Finished,
        };
        Measured {
            assembly: self.assembly,
            clock,
            started_at,
            window_end,
            end,
            begun: ends.iter().map(|end| end.begun).sum(),
            replay: replay_record(ends, self.plan, replay),
            left_behind,
        }
    }
}

/// When the last client had carried out its last line; `None` while one is at it.
/// Asked late, the answer is the same.
fn all_done_at(boards: &[Board]) -> Option<Moment> {
    let ends = boards.iter().map(Board::done_at);
    ends.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// Processor time of all threads. The clients of one thread tell the same clock's
/// time: the latest of them is the thread's.
fn cpu_used(boards: &[Board], clients_per_thread: usize) -> u64 {
    let told = |board: &Board| board.cpu_nanos.load(Ordering::Relaxed);
    let of_thread = |clients: &[Board]| clients.iter().map(told).max().unwrap_or(0);
    boards
        .chunks(clients_per_thread.max(1))
        .map(of_thread)
        .sum()
}

/// The ends of all clients by their numbers, and the first that left its tree.
fn sort(threads: Vec<ThreadEnd>) -> (Vec<ClientEnd>, Option<(u32, String)>) {
    let (mut ends, mut left_behind) = (Vec::new(), None);
    for thread in threads {
        ends.extend(thread.ends);
        left_behind = left_behind.or(thread.left_behind);
    }
    ends.sort_by_key(|end| end.record.client);
    (ends, left_behind)
}

fn replay_record(ends: Vec<ClientEnd>, plan: &Plan, replay: &ReplayPlan) -> ReplayRecord {
    let mut record = ReplayRecord {
        threads: plan.clients.div_ceil(replay.clients_per_thread.max(1)),
        ..ReplayRecord::default()
    };
    let mut mismatches = Mismatches::default();
    for end in ends {
        record.lines += end.record.lines;
        record.passes += end.passes;
        mismatches.merge(end.mismatches);
        record.clients.push(end.record);
    }
    record.mismatch_count = mismatches.count();
    record.mismatches = mismatches.into_records();
    record
}

impl Measured {
    fn into_record(self, plan: &Plan, target: Target) -> RunRecord {
        let window_start = Moment::from_nanos(plan.warm_up_ns);
        let (intervals, ticks, mut totals) =
            self.assembly.conclude(plan, self.window_end, failure::name);
        // Its clients are its threads; how busy they are says nothing.
        totals.workers.clear();
        let moved = |wanted: &[OpKind]| {
            let kinds = totals.kinds.iter();
            let of_kind = kinds.filter(|kind| wanted.contains(&kind.operation));
            of_kind.map(|kind| kind.data_bytes).sum()
        };
        let mut replay = self.replay;
        replay.bytes_written = moved(&[OpKind::WriteX, OpKind::Write, OpKind::OpenX]);
        replay.bytes_read = moved(&[OpKind::ReadX, OpKind::Read]);
        let window_at = self.started_at + Duration::from_nanos(plan.warm_up_ns);
        let mut record = RunRecord {
            format: run_record::FORMAT,
            method: run_record::METHOD,
            tool: tool(),
            started_at: humantime::format_rfc3339_millis(window_at).to_string(),
            plan: plan.clone(),
            host: host::describe(&self.clock, "threads"),
            target,
            headroom: None,
            end: self.end,
            window_ns: self.window_end.nanos_since(window_start),
            replay: Some(replay),
            totals,
            intervals,
            ticks,
            caveats: Vec::new(),
        };
        record.caveats = caveat::find(&record);
        let missing = self.begun as i64 - record.totals.ledger.scheduled as i64;
        if missing != 0 {
            record.caveats.push(Caveat::LedgerOutOfBalance {
                missing,
                scheduled: self.begun,
            });
        }
        if let Some((client, reason)) = self.left_behind {
            record.caveats.push(Caveat::LeftBehind {
                path: format!("{}/client{client}", super::site::CLIENTS),
                reason,
            });
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_with_the_last_line_of_its_last_client_and_not_with_its_clean_up() {
        let boards = [Board::new(), Board::new()];
        boards[0].finish(Moment::from_nanos(7));
        assert_eq!(all_done_at(&boards), None);
        boards[1].finish(Moment::from_nanos(5));
        assert_eq!(all_done_at(&boards), Some(Moment::from_nanos(7)));
    }

    #[test]
    fn a_thread_is_counted_once_however_many_clients_it_has() {
        let boards = [Board::new(), Board::new(), Board::new()];
        for (board, nanos) in boards.iter().zip([10, 12, 5]) {
            board.cpu_nanos.store(nanos, Ordering::Relaxed);
        }
        assert_eq!(cpu_used(&boards, 1), 27);
        assert_eq!(cpu_used(&boards, 2), 17);
        assert_eq!(cpu_used(&boards, 8), 12);
    }
}
