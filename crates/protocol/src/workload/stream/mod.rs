//! A client of a fleet as a workload of one slot: whole files, one after the other.
//!
//! A writer opens a file, writes it from beginning to end, closes it, and continues with the next;
//! a reader works alike. The next operation is decided during the run, so there is no script. The
//! requests of a client are the same lines that load files contain, so every layer that replays
//! loads executes them.
//!
//! Reads and writes are measured, and due by the client's rate; the operations between them are not
//! measured. A failed operation is repeated from the beginning of its file, until it has failed for
//! the time that the plan allows.

mod choice;
mod client_control;
mod client_stats;
mod failures;
mod file;
mod pacer;
mod pieces;
mod published_files;
mod shared;
mod times;

pub use client_control::{ActiveSettings, ClientControl, ControlEpoch, DesiredState, SETTINGS_MAX};
pub use client_stats::ClientStats;
pub use pacer::BEHIND_MAX;
pub use shared::SharedFleet;
pub use times::TimesCounted;

use crate::workload::line_source::{ClientTotals, LineSource};
use crate::workload::{Next, Workload};
use client_stats::Count;
use failures::Trouble;
use file::{CurrentFile, FileUse};
use filestone_measure::measure::fleet_record::{ClientState, ConnectStatus};
use filestone_plan::plan::{Direction, GroupPlan, RandomFieldFor};
use filestone_workload::load::action::OpenMode;
use filestone_workload::load::{Expected, Line, LineData, Lines, LoadAction, LoadWork};
use filestone_workload::operation::{Failure, Outcome};
use filestone_workload::payload::{Payload, ReadCheck};
use filestone_workload::recording::Sample;
use filestone_workload::time::Timestamp;
use pacer::TransferPacer;
use std::sync::Arc;

/// The only handle of a client: it has one file open at a time.
const HANDLE: u64 = 1;
/// Shortest and longest pause, in nanoseconds, before the next request for a file that is not
/// available yet.
const NAP_MIN: u64 = 2_000_000;
const NAP_MAX: u64 = 64_000_000;
/// Shortest and longest pause, in nanoseconds, before a failed operation is retried.
const RETRY_MIN: u64 = 100_000_000;
const RETRY_MAX: u64 = 1_000_000_000;

/// Next step of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Waits for its start time.
    Begin,
    /// Creates its directory.
    MakeDirectory,
    /// Chooses a file.
    Choose,
    /// Removes the file.
    Unlink,
    /// Opens the file.
    Open,
    /// Reads or writes the next part of the file.
    Transfer,
    /// Makes the last write stable.
    SyncAfterWrite,
    /// Makes the written data stable before the file is closed.
    SyncBeforeClose,
    /// Closes the file.
    Close,
    /// Closes a file after a failure, to begin it again.
    Abandon,
    /// Stopped or quiesced by request; begins again on request.
    Held,
    /// Finished.
    Ended,
}

/// A client of a fleet.
#[derive(Debug)]
pub struct Stream {
    number: u32,
    /// Control word that the client has applied.
    orders: ClientControl,
    /// The client whose files it reads, if it does not read its own.
    writer: Option<u32>,
    shared: Arc<SharedFleet>,
    state: ClientState,
    step: Step,
    /// Files that it has begun to write or read, prepared files excluded.
    serial: u64,
    /// Files that it has prepared, to read them.
    prepared: u32,
    /// Consecutive files that it has skipped because they will never exist.
    passed_over: u32,
    file: CurrentFile,
    payload: Payload,
    pacer: TransferPacer,
    /// Time when it began.
    began: Timestamp,
    /// Bytes and files completed.
    bytes: u64,
    files: u64,
    /// End of the grace time for its current file, after it has done enough.
    grace_end: Timestamp,
    /// Position in the queue for a file.
    in_line: Option<u32>,
    nap: u64,
    /// Time since when all operations have failed.
    failing_since: Option<Timestamp>,
    trouble: Option<Trouble>,
    not_before: Timestamp,
    is_given_up: bool,
    lost: Option<String>,
    /// Lengths of its files, if they grow.
    lengths: Vec<u64>,
}

impl Stream {
    /// Creates client `number` of this fleet.
    pub fn new(number: u32, shared: &Arc<SharedFleet>) -> Self {
        let plan = shared.plan();
        let member = plan.member(number);
        let group = member.map_or(0, |member| member.place);
        let grows = member.filter(|member| member.group.append);
        let files = grows.map_or(0, |member| member.group.files as usize);
        Self {
            number,
            orders: ClientControl::of_group(group),
            writer: plan.writer_of(number),
            state: ClientState::Waiting,
            step: if member.is_some() {
                Step::Begin
            } else {
                Step::Ended
            },
            serial: 0,
            prepared: 0,
            passed_over: 0,
            file: CurrentFile::default(),
            payload: Payload::Reading(ReadCheck::default()),
            pacer: TransferPacer::default(),
            began: Timestamp::ZERO,
            bytes: 0,
            files: 0,
            grace_end: Timestamp::MAX,
            in_line: None,
            nap: NAP_MIN,
            failing_since: None,
            trouble: None,
            not_before: Timestamp::ZERO,
            is_given_up: false,
            lost: None,
            lengths: vec![0; files],
            shared: Arc::clone(shared),
        }
    }

    fn gauge(&self) -> &ClientStats {
        &self.shared.gauges()[self.number as usize]
    }

    fn enter(&mut self, state: ClientState) {
        self.state = state;
        self.gauge().enter(state);
        if matches!(
            state,
            ClientState::Waiting | ClientState::Stopped | ClientState::Failed
        ) {
            // A client without transfers is never late.
            self.gauge().due_next(None);
        }
    }

    /// Enters the state of a client without failures.
    fn enter_usual(&mut self) {
        let state = if self.grace_end != Timestamp::MAX {
            ClientState::Quiescing
        } else if matches!(self.step, Step::MakeDirectory) || self.file.task == FileUse::Prepare {
            ClientState::Starting
        } else {
            ClientState::Running
        };
        if state != self.state {
            self.enter(state);
        }
    }

    /// Finishes the client: other clients no longer wait for its files.
    fn end(&mut self, state: ClientState, why: Option<String>) {
        if self.step == Step::Ended {
            return;
        }
        self.release();
        self.step = Step::Ended;
        self.lost = self.lost.take().or(why);
        self.enter(state);
        if self.writer.is_none()
            && let Some(shelf) = self.shared.shelf(self.number)
        {
            shelf.end();
        }
    }

    /// Releases its checkout of another client's file.
    fn release(&mut self) {
        let in_line = self.in_line.take();
        let is_lent = std::mem::take(&mut self.file.is_lent);
        let Some(shelf) = self.writer.and_then(|writer| self.shared.shelf(writer)) else {
            return;
        };
        if let Some(since) = in_line {
            shelf.leave(self.file.key.file, since);
        } else if is_lent {
            shelf.give_back(self.file.key.file);
        }
    }

    /// Applies a new control word.
    #[cold]
    fn take_up(&mut self, orders: ClientControl, group: &GroupPlan, now: Timestamp) {
        let before = std::mem::replace(&mut self.orders, orders);
        self.gauge().take_up(orders);
        if before.settings != orders.settings {
            self.change_pace(group, now);
            if group.append {
                self.lengths.resize(group.files as usize, 0);
            }
        }
        if before.number == orders.number {
            return;
        }
        match orders.command {
            DesiredState::Run => self.resume(now),
            DesiredState::Quiesce if self.grace_end == Timestamp::MAX => {
                self.grace_end = now.after_nanos(group.quiesce.grace_ns);
                if self.state == ClientState::Running {
                    self.enter_usual();
                }
            }
            // Cuts the pause before a retry short once. A client that must stop rechecks its
            // control word until it has stopped.
            DesiredState::Stop => self.not_before = now,
            DesiredState::Quiesce => {}
        }
    }

    /// Returns the sampling parameters of sizes and rates for its current or next file.
    fn drawn(&self, group: &GroupPlan) -> RandomFieldFor {
        RandomFieldFor {
            seed: self.shared.seed(),
            client: self.number,
            file: self.serial,
            drawing: group.drawing,
        }
    }

    /// Changes the rate of its current or next file.
    fn change_pace(&mut self, group: &GroupPlan, now: Timestamp) {
        let drawn = self.drawn(group);
        let rate = group.rate.map(|rate| {
            let per_s = drawn.number(filestone_plan::plan::RandomField::Rate, rate.per_s);
            (rate.unit, per_s)
        });
        self.pacer.change(rate, now);
        if rate.is_none() {
            self.gauge().due_next(None);
        }
    }

    /// Resumes the client, or starts it again.
    fn resume(&mut self, now: Timestamp) {
        match self.step {
            Step::Ended => {}
            Step::Held => {
                self.grace_end = Timestamp::MAX;
                self.not_before = now;
                self.pacer.pause();
                self.step = Step::Begin;
                self.enter(ClientState::Waiting);
            }
            Step::Begin
            | Step::MakeDirectory
            | Step::Choose
            | Step::Unlink
            | Step::Open
            | Step::Transfer
            | Step::SyncAfterWrite
            | Step::SyncBeforeClose
            | Step::Close
            | Step::Abandon => {
                self.grace_end = Timestamp::MAX;
                if self.state == ClientState::Quiescing {
                    self.enter_usual();
                }
            }
        }
    }

    /// Stops the client, which has no file open, until it is resumed.
    fn hold(&mut self, now: Timestamp) {
        self.release();
        self.end_failing(now);
        self.trouble = None;
        self.nap = NAP_MIN;
        self.step = Step::Held;
        self.enter(ClientState::Stopped);
    }

    /// Handles a stop request: an open file is closed where it is, and no other begins.
    fn handle_stop(&mut self, now: Timestamp) {
        match self.step {
            Step::Transfer | Step::SyncAfterWrite | Step::SyncBeforeClose => {
                self.step = Step::Close;
            }
            Step::Begin | Step::MakeDirectory | Step::Choose | Step::Unlink | Step::Open => {
                self.hold(now);
            }
            Step::Close | Step::Abandon | Step::Held | Step::Ended => {}
        }
    }

    /// Advances to the next operation; an error is the value to return instead of one.
    fn come_to_operation(
        &mut self,
        group: &GroupPlan,
        now: Timestamp,
    ) -> Result<(), Next<LoadWork<'static>>> {
        match self.orders.command {
            DesiredState::Stop => self.handle_stop(now),
            DesiredState::Quiesce if self.step == Step::Begin => self.hold(now),
            DesiredState::Quiesce | DesiredState::Run => {}
        }
        if self.step == Step::Held {
            return Err(Next::NotBefore(Timestamp::MAX));
        }
        if self.step != Step::Ended && now < self.not_before {
            return Err(Next::NotBefore(self.not_before));
        }
        if self.step == Step::Begin {
            let begins = self.shared.begins(self.number);
            if now < begins {
                return Err(Next::NotBefore(begins));
            }
            self.began = now;
            self.gauge().count_times();
            (self.bytes, self.files) = (0, 0);
            self.step = if self.writer.is_some() {
                Step::Choose
            } else {
                Step::MakeDirectory
            };
            self.enter(match self.gauge().connection() {
                ConnectStatus::Pending => ClientState::Connecting,
                ConnectStatus::None | ConnectStatus::Connected(_) => ClientState::Starting,
            });
        }
        if self.step == Step::Choose {
            self.gauge().begin_file(None);
            if self.orders.command == DesiredState::Quiesce {
                self.hold(now);
                return Err(Next::NotBefore(Timestamp::MAX));
            }
            if self.has_done_enough(group, now) {
                self.end(ClientState::Stopped, None);
            } else if let Some(moment) = self.choose(group, now) {
                return Err(Next::NotBefore(moment));
            }
            self.gauge().begin_file(Some(self.orders.settings));
            self.enter_unless_ended();
        }
        if self.step == Step::Transfer {
            self.check_quiescence(group, now);
            if self.file.is_at_end() || now >= self.grace_end {
                self.step = if group.sync_before_close && self.file.task.writes() {
                    Step::SyncBeforeClose
                } else {
                    Step::Close
                };
            }
        }
        if self.step == Step::Ended {
            return Err(Next::Idle);
        }
        Ok(())
    }

    fn enter_unless_ended(&mut self) {
        if self.step != Step::Ended {
            self.enter_usual();
        }
    }

    fn has_done_enough(&self, group: &GroupPlan, now: Timestamp) -> bool {
        let quiesce = &group.quiesce;
        quiesce.files.is_some_and(|files| self.files >= files)
            || quiesce.bytes.is_some_and(|bytes| self.bytes >= bytes)
            || quiesce
                .after_ns
                .is_some_and(|nanos| now.nanos_since(self.began) >= nanos)
            || self.grace_end != Timestamp::MAX
    }

    /// Starts the grace time to finish the current file, if the client has done enough in the
    /// middle of it.
    fn check_quiescence(&mut self, group: &GroupPlan, now: Timestamp) {
        if self.grace_end == Timestamp::MAX
            && self.file.task != FileUse::Prepare
            && self.has_done_enough(group, now)
        {
            self.grace_end = now.after_nanos(group.quiesce.grace_ns);
            self.enter_usual();
        }
    }

    fn name_file(&mut self, owner: &GroupPlan, client: u32) {
        self.file.name(&owner.prefix, client);
    }

    fn pace(&mut self, group: &GroupPlan, drawn: &RandomFieldFor) {
        if let Some(rate) = group.rate
            && self.file.task != FileUse::Prepare
        {
            let per_s = drawn.number(filestone_plan::plan::RandomField::Rate, rate.per_s);
            self.pacer.go_by(rate.unit, per_s);
        }
    }

    /// Returns the current operation.
    fn operation(&mut self, settings: &ActiveSettings) -> LoadWork<'_> {
        let ActiveSettings { group, pattern, .. } = settings;
        let (expected, payload) = match self.step {
            Step::MakeDirectory => {
                self.file.name_directory(self.number);
                // An existing directory is as good.
                (Expected::Anything, None)
            }
            Step::Unlink | Step::Abandon => (Expected::Anything, None),
            Step::Transfer => {
                self.payload = self.file.payload(group, &self.shared, *pattern);
                let is_looked_at = group.checksums || self.file.task.writes();
                (Expected::Success, is_looked_at.then_some(&self.payload))
            }
            Step::Begin
            | Step::Choose
            | Step::Open
            | Step::SyncAfterWrite
            | Step::SyncBeforeClose
            | Step::Close
            | Step::Held
            | Step::Ended => (Expected::Success, None),
        };
        let path = self.file.path();
        let (handle, offset) = (HANDLE, self.file.offset);
        let action = match self.step {
            Step::MakeDirectory => LoadAction::Mkdir { path },
            Step::Unlink => LoadAction::Unlink { path },
            Step::Open => LoadAction::Open {
                path,
                mode: open_mode(self.file.task, group),
                handle,
            },
            Step::Transfer => {
                let len = self.file.next_len;
                let expected_len = len;
                if self.file.task.writes() {
                    LoadAction::WriteX {
                        handle,
                        offset,
                        len,
                        expected_len,
                    }
                } else {
                    LoadAction::ReadX {
                        handle,
                        offset,
                        len,
                        expected_len,
                    }
                }
            }
            Step::SyncAfterWrite | Step::SyncBeforeClose => LoadAction::Flush { handle },
            Step::Begin | Step::Choose | Step::Close | Step::Abandon | Step::Held | Step::Ended => {
                LoadAction::Close { handle }
            }
        };
        LoadWork::Line(Line {
            number: self.number,
            stamp: None,
            action,
            expected,
            data: LineData::ZERO,
            payload,
        })
    }

    /// Handles a successful operation.
    fn went_well(&mut self, group: &GroupPlan, done: Timestamp) {
        if let Some(trouble) = self.trouble {
            self.leave_trouble(trouble, done);
        }
        self.step = match self.step {
            Step::MakeDirectory => Step::Choose,
            Step::Unlink => Step::Open,
            Step::Open => Step::Transfer,
            Step::Transfer => {
                self.count_transfer();
                if group.sync_after_write && self.file.task.writes() {
                    Step::SyncAfterWrite
                } else {
                    Step::Transfer
                }
            }
            Step::SyncAfterWrite => Step::Transfer,
            Step::SyncBeforeClose => Step::Close,
            Step::Close => self.after_close(group),
            Step::Abandon => self.restart(group),
            step @ (Step::Begin | Step::Choose | Step::Held | Step::Ended) => step,
        };
    }

    /// Ends the failing period; returns whether there was one.
    fn end_failing(&mut self, now: Timestamp) -> bool {
        let Some(since) = self.failing_since.take() else {
            return false;
        };
        self.gauge()
            .add(Count::FailingNanos, now.nanos_since(since));
        self.gauge().fail(None);
        true
    }

    fn count_transfer(&mut self) {
        let len = self.file.next_len;
        self.file.advance();
        let (calls, bytes) = match self.file.task {
            FileUse::Prepare => return,
            FileUse::Write => (Count::Writes, Count::BytesWritten),
            FileUse::Read | FileUse::ReadBack => (Count::Reads, Count::BytesRead),
        };
        self.bytes = self.bytes.saturating_add(len);
        let gauge = self.gauge();
        gauge.add(calls, 1);
        gauge.add(bytes, len);
    }

    /// Handles the successful close of a file; returns the next step.
    fn after_close(&mut self, group: &GroupPlan) -> Step {
        let key = self.file.key;
        let is_whole = self.file.is_at_end();
        if let Some(len) = self.lengths.get_mut(key.file as usize)
            && self.file.task.writes()
        {
            *len = self.file.written_len();
        }
        match self.file.task {
            FileUse::Prepare => self.prepared += u32::from(is_whole),
            FileUse::Write if is_whole => {
                self.gauge().add(Count::FilesWritten, 1);
                let content = published_files::FileVersion {
                    pass: key.pass,
                    len: self.file.written_len(),
                };
                if let Some(shelf) = self.shared.shelf(self.number) {
                    shelf.complete(key.file, content);
                }
                if group.direction == Direction::Both {
                    let drawn = self.drawn(group);
                    self.file.start(FileUse::ReadBack, key, 0, content.len);
                    self.file.draw(group, group, &drawn);
                    return Step::Open;
                }
                self.end_file();
            }
            FileUse::Read | FileUse::ReadBack if is_whole => {
                self.gauge().add(Count::FilesRead, 1);
                self.release();
                self.end_file();
            }
            // A stopped client begins with this file again.
            FileUse::Write | FileUse::Read | FileUse::ReadBack => self.release(),
        }
        Step::Choose
    }

    fn end_file(&mut self) {
        self.files += 1;
        self.serial += 1;
    }

    /// Begins a file again after a failure in it.
    fn restart(&mut self, group: &GroupPlan) -> Step {
        self.file.restart();
        if group.unlink_first && self.file.task.writes() {
            Step::Unlink
        } else {
            Step::Open
        }
    }
}

impl Step {
    /// Returns a verb phrase for the error message: the failed action.
    const fn name(self) -> &'static str {
        match self {
            Step::MakeDirectory => "make its directory",
            Step::Unlink => "remove a file",
            Step::Open => "open a file",
            Step::Transfer => "read or write",
            Step::SyncAfterWrite | Step::SyncBeforeClose => "make data stable",
            Step::Close | Step::Abandon => "close a file",
            Step::Begin | Step::Choose | Step::Held | Step::Ended => "go on",
        }
    }
}

fn open_mode(task: FileUse, group: &GroupPlan) -> OpenMode {
    if !task.writes() {
        return OpenMode::READING;
    }
    OpenMode {
        reads: false,
        writes: true,
        creates: true,
        is_exclusive: false,
        cuts: !group.append,
        is_stable: group.stable,
    }
}

impl Workload<Lines> for Stream {
    fn next(&mut self, _slot: u32, now: Timestamp) -> Next<LoadWork<'_>> {
        let shared = Arc::clone(&self.shared);
        let orders = self.gauge().orders();
        let Some(settings) = shared.settings(orders.settings) else {
            return Next::Idle;
        };
        let group = &settings.group;
        if orders != self.orders {
            self.take_up(orders, group, now);
        }
        if let Err(instead) = self.come_to_operation(group, now) {
            return instead;
        }
        if self.step != Step::Transfer || self.file.task == FileUse::Prepare {
            if self.step == Step::Transfer {
                self.file.measure_next();
            }
            return Next::Unmeasured(self.operation(settings));
        }
        let due = self.pacer.due(now);
        if let Some(due) = due
            && due > now
        {
            return Next::NotBefore(due);
        }
        self.file.measure_next();
        if let Some(charged) = self.pacer.charge(self.file.next_len) {
            let gauge = self.gauge();
            gauge.add(Count::ScheduledNanos, charged.takes_ns);
            gauge.add(Count::ForgivenNanos, charged.forgiven_ns);
            gauge.due_next(Some(charged.next_due));
        }
        match due {
            Some(due) => Next::Due(due, self.operation(settings)),
            None => Next::Measured(self.operation(settings)),
        }
    }

    fn has_own_schedule(&self) -> bool {
        true
    }

    fn records_samples(&self) -> bool {
        true
    }

    fn ended(&mut self, sample: &Sample) {
        let shared = Arc::clone(&self.shared);
        // The settings in use when the operation began.
        let Some(ActiveSettings { group, .. }) = shared.settings(self.orders.settings) else {
            return;
        };
        let completion = &sample.completion;
        let health = &shared.plan().health;
        let delay = completion.sent.nanos_since(sample.ready);
        let is_sent = completion.sent != Timestamp::MAX;
        if is_sent
            && self.step == Step::Transfer
            && health.lateness_ns.is_some_and(|limit| delay > limit)
        {
            self.gauge().add(Count::Late, 1);
        }
        if self.step == Step::Transfer && self.file.task != FileUse::Prepare {
            self.gauge().took(completion.done.nanos_since(sample.due));
        }
        match completion.outcome {
            Outcome::Ok => self.went_well(group, completion.done),
            Outcome::Failed(Failure::Unexpected(
                filestone_workload::failure::Mismatch::WrongData,
            )) => {
                self.gauge().add(Count::ChecksumErrors, 1);
                self.went_well(group, completion.done);
            }
            Outcome::Skipped => {}
            Outcome::Failed(_) | Outcome::TimedOut | Outcome::Disconnected => {
                self.failed(group, sample.due, completion.done);
            }
        }
    }

    fn control_epoch(&self) -> Option<ControlEpoch> {
        Some(self.shared.control_epoch().clone())
    }

    fn is_called(&self) -> bool {
        self.gauge().orders() != self.orders
    }

    fn connected(&mut self, nanos: u64) {
        self.gauge().connect(ConnectStatus::Connected(nanos));
        if self.state == ClientState::Connecting {
            self.enter(ClientState::Starting);
        }
    }

    /// Releases the clients that wait for its files.
    fn mark_failed(&mut self) {
        self.is_given_up |= self.step != Step::Ended;
        self.end(ClientState::Failed, None);
    }
}

/// Result of a client of a fleet beyond its published counters.
#[derive(Debug)]
pub struct StreamAccount {
    /// The client number.
    pub client: u32,
    /// Reason why it ended early, if it did.
    pub lost: Option<String>,
}

impl ClientTotals for StreamAccount {
    fn client(&self) -> u32 {
        self.client
    }

    fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }
}

impl LineSource for Stream {
    type ClientTotals = StreamAccount;

    fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    fn into_account(self, lost: Option<String>) -> StreamAccount {
        // The last loss of a connection that was restored is not a loss of the client.
        let is_lost = self.state == ClientState::Failed;
        StreamAccount {
            client: self.number,
            lost: if is_lost { self.lost.or(lost) } else { None },
        }
    }
}

#[cfg(test)]
mod tests;
