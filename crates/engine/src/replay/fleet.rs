//! A fleet as a replay workload: its monitor and its control.

use super::clients::ClientEnd;
use super::piece::ReplayWorkload;
use super::progress::{CancellationTimer, Cancellations};
use crate::run::{RunHook, RunSnapshot, Stage};
use filestone_host::control::{Observer, RunContext};
use filestone_host::control_socket::{ControlSocket, FleetControl, RequestHandler, SocketChoice};
use filestone_host::error::RunError;
use filestone_host::system;
use filestone_measure::measure::fleet_record::{
    ChangeRecord, ClientState, ConnectStatus, FleetCounters, FleetRecord, GroupRecord, LostClient,
    StateCount,
};
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_measure::measure::{FleetMonitor, Mismatches, RunRecord};
use filestone_plan::fleet::EffectiveFrom;
use filestone_plan::plan::{FleetPlan, Plan};
use filestone_protocol::fleet_control::{
    ByteSnapshot, ChangeLog, ControlAnswer, FleetState, answer,
};
use filestone_protocol::workload::Stream;
use filestone_protocol::workload::stream::{ClientStats, SharedFleet, StreamAccount, TimesCounted};
use filestone_workload::time::Timestamp;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Maximum number of lost clients that are listed.
const LOST_MAX: usize = 20;
/// Interval between snapshots of the counters.
const LOOK_NANOS: u64 = 1_000_000_000;
/// Number of snapshots kept: 20 s.
const LOOKS: usize = 20;
/// Interval between snapshots of each client, and the number kept: at most 20 s.
const CLIENT_LOOK_NANOS: u64 = 4_000_000_000;
const CLIENT_LOOKS: usize = 5;

/// A fleet.
pub struct Fleet<'run> {
    plan: &'run Plan,
    shared: Arc<SharedFleet>,
    seen: Arc<Mutex<Seen>>,
    /// Control socket of the running fleet.
    #[expect(dead_code, reason = "it is served until this is dropped")]
    socket: Option<ControlSocket>,
}

/// State of the fleet's monitor.
struct Seen {
    watch: FleetMonitor,
    /// Time of the last poll, or of the end of all operations.
    now: Timestamp,
    /// End of the time in which operations are due: the end of the window or the stop of the run.
    /// Clients do not fall behind by later operations.
    asked_until: Timestamp,
    /// Counters of each group at the last snapshots, one per second.
    looks: VecDeque<Counted>,
    /// Bytes moved by each client at the last snapshots, the oldest first.
    bytes: VecDeque<Arc<ByteSnapshot>>,
    /// Time of the last poll by this host's clock; `None` before the run has begun.
    looked: Option<Instant>,
    is_over: bool,
    changes: ChangeLog,
}

impl Seen {
    /// Returns the current run time, at most the end of the run.
    fn moment(&self) -> Timestamp {
        match self.looked {
            Some(looked) if !self.is_over => self.now.after(looked.elapsed()),
            Some(_) | None => self.now,
        }
    }
}

/// Counters of each group at one moment.
#[derive(Clone)]
struct Counted {
    at: Timestamp,
    groups: Vec<FleetCounters>,
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    // No code panics while holding the lock.
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'run> Fleet<'run> {
    /// Returns the fleet of this plan.
    pub fn new(plan: &'run Plan, fleet: &FleetPlan) -> Self {
        let shared = Arc::new(SharedFleet::new(plan, fleet));
        let seen = Seen {
            watch: FleetMonitor::new(fleet),
            now: Timestamp::ZERO,
            asked_until: plan.window().end,
            looks: VecDeque::new(),
            bytes: VecDeque::new(),
            looked: None,
            is_over: false,
            changes: ChangeLog::default(),
        };
        Self {
            plan,
            shared,
            seen: Arc::new(Mutex::new(seen)),
            socket: None,
        }
    }

    /// Enables control through the chosen socket. If the usual socket is not available, the fleet
    /// runs without it.
    pub fn controlled(self, context: &mut RunContext<'_>) -> Result<Self, RunError> {
        let controller = Controller {
            shared: Arc::clone(&self.shared),
            seen: Arc::clone(&self.seen),
        };
        let control = FleetControl::new(controller);
        context.observer.controllable(&control);
        let choice = &context.control_socket;
        let socket = match ControlSocket::serve(choice, control) {
            Ok(socket) => socket,
            Err(error) if *choice == SocketChoice::Usual => {
                let told = format!("this fleet cannot be controlled while it runs: {error}");
                context.observer.note(&told);
                None
            }
            Err(error) => {
                return Err(RunError::System {
                    what: "serve the socket of --ctl".into(),
                    source: std::io::Error::other(error.to_string()),
                });
            }
        };
        Ok(Self { socket, ..self })
    }
}

/// Executes control requests while a fleet runs.
struct Controller {
    shared: Arc<SharedFleet>,
    seen: Arc<Mutex<Seen>>,
}

impl RequestHandler for Controller {
    fn answer(&mut self, line: &[u8]) -> ControlAnswer {
        let (now, is_over, changes, before, bytes, asked_until) = {
            let seen = lock(&self.seen);
            let changes = seen.changes.count();
            let before = seen.looks.front().cloned();
            let bytes = seen.bytes.front().map(Arc::clone);
            let now = seen.moment();
            let until = seen.asked_until;
            (now, seen.is_over, changes, before, bytes, until)
        };
        let shared = &*self.shared;
        let groups = || group_records(shared, now, asked_until, before.as_ref());
        let fleet = FleetState {
            shared,
            now,
            is_over,
            changes,
            earlier: bytes.as_deref(),
            groups: &groups,
        };
        let (answer, change) = answer(&fleet, line);
        if let Some(change) = change {
            self.record(change);
        }
        answer
    }
}

impl Controller {
    fn record(&self, change: ChangeRecord) {
        let seen = &mut *lock(&self.seen);
        let at_ns = change.sent_ns;
        seen.changes.record(change);
        // No operation has used the earlier settings yet.
        if seen.looked.is_none() && self.shared.is_applied(EffectiveFrom::NextFile) {
            let count = seen.changes.count();
            seen.changes
                .mark_applied(count, EffectiveFrom::NextFile, at_ns);
        }
    }
}

/// Returns the current counters of each group; operations are due until `asked_until`.
fn counted(shared: &SharedFleet, at: Timestamp, asked_until: Timestamp) -> Counted {
    let plan = shared.plan();
    let group = |place: usize| {
        let first = plan.first_of(place) as usize;
        let count = plan.groups.get(place).map_or(0, |group| group.count) as usize;
        let gauges = shared.gauges().get(first..first + count);
        let counters = gauges.unwrap_or_default().iter();
        counters.fold(FleetCounters::default(), |sum, gauge| {
            sum.with(&gauge.counters(at.min(asked_until)))
        })
    };
    Counted {
        at,
        groups: (0..plan.groups.len()).map(group).collect(),
    }
}

impl ReplayWorkload for Fleet<'_> {
    type Client = Stream;

    fn client(&self, number: u32) -> Stream {
        Stream::new(number, &self.shared)
    }

    fn table(&self) -> Arc<[u8]> {
        Arc::clone(self.shared.payloads().table())
    }

    /// Other clients may read the files of a writer that has ended.
    fn cleans_client_by_client(&self) -> bool {
        false
    }

    /// Clients that begin at once connect before the run if possible; others when they begin.
    fn first_connections(&self) -> Option<Vec<Timestamp>> {
        let fleet = self.shared.plan();
        let per_s = self.plan.connections.connections_per_s;
        let mut moments = vec![Timestamp::ZERO; fleet.clients() as usize];
        let (mut begins, mut number) = (Timestamp::ZERO, 0_u32);
        for client in fleet.order() {
            let own = self.shared.begins(client);
            number = if own == begins { number + 1 } else { 0 };
            begins = own;
            let pause = per_s.map_or(0.0, |per_s| 1e9 * f64::from(number) / per_s);
            if let Some(moment) = moments.get_mut(client as usize)
                && own > Timestamp::ZERO
            {
                *moment = own.after_nanos(pause as u64);
            }
        }
        Some(moments)
    }

    fn connected(&mut self, times: Vec<Option<u64>>) {
        for (gauge, time) in self.shared.gauges().iter().zip(times) {
            gauge.connect(time.map_or(ConnectStatus::Pending, ConnectStatus::Connected));
        }
    }

    fn hook(&self, _cleaned: &Arc<AtomicU32>, cancellations: &Cancellations) -> Box<dyn RunHook> {
        Box::new(FleetProgress {
            shared: Arc::clone(&self.shared),
            seen: Arc::clone(&self.seen),
            ending: CancellationTimer::new(self.plan, cancellations.clone()),
            next_look: Timestamp::ZERO,
            told_changes: 0,
            is_over: false,
            server: self.plan.cost.as_ref().and_then(|cost| cost.process),
        })
    }

    fn complete(
        &mut self,
        record: &mut RunRecord,
        _threads: u32,
        ends: Vec<ClientEnd<StreamAccount>>,
    ) {
        let mut ends = ends;
        ends.sort_by_key(|end| end.account.client);
        let seen = &mut *lock(&self.seen);
        let now = seen.now;
        let (mut mismatches, mut lost, mut busy_calls) = (Mismatches::default(), Vec::new(), 0);
        for end in ends {
            mismatches.merge(end.mismatches);
            busy_calls += end.busy_pauses.calls;
            if lost.len() < LOST_MAX
                && let Some(why) = end.account.lost
            {
                let client = end.account.client;
                lost.push(LostClient {
                    client,
                    reason: why,
                });
            }
        }
        let last = counted(&self.shared, now, seen.asked_until);
        let twenty_ago = seen.looks.front().cloned();
        let plan = self.shared.plan();
        let groups = (0..plan.groups.len())
            .map(|place| group_record(&self.shared, place, &last, twenty_ago.as_ref()));
        let generations = seen.changes.generations();
        for interval in &mut record.intervals {
            interval.settings = Some(generations.of(interval.start_ns, interval.end_ns));
        }
        let mut steps = seen.watch.steps();
        for step in &mut steps {
            step.settings = Some(generations.of(step.start_ns, step.end_ns));
        }
        record.fleet = Some(FleetRecord {
            groups: groups.collect(),
            steps,
            stopped_by: seen.watch.finding(),
            mismatches: mismatches.into_records(),
            lost,
            busy_calls,
            changes: seen.changes.take(),
        });
    }
}

/// Returns the records of the groups; recent rates count from the counters `before`.
fn group_records(
    shared: &SharedFleet,
    now: Timestamp,
    asked_until: Timestamp,
    before: Option<&Counted>,
) -> Vec<GroupRecord> {
    let last = counted(shared, now, asked_until);
    (0..shared.plan().groups.len())
        .map(|place| group_record(shared, place, &last, before))
        .collect()
}

fn group_record(
    shared: &SharedFleet,
    place: usize,
    last: &Counted,
    before: Option<&Counted>,
) -> GroupRecord {
    let plan = shared.plan();
    let first = plan.first_of(place) as usize;
    let (name, clients) = plan.groups.get(place).map_or((String::new(), 0), |group| {
        (group.name.clone(), group.count)
    });
    let gauges = shared.gauges().get(first..first + clients as usize);
    let gauges = gauges.unwrap_or_default();
    let states = ClientState::ALL.map(|state| StateCount {
        state,
        clients: gauges.iter().filter(|gauge| gauge.state() == state).count() as u32,
    });
    let moved = gauges.iter().map(|gauge| {
        let counters = gauge.counters(last.at);
        counters.bytes_read + counters.bytes_written
    });
    let mut times = TimesCounted::default();
    gauges.iter().for_each(|gauge| gauge.add_times(&mut times));
    let counters = last.groups.get(place).copied().unwrap_or_default();
    let bits = |bytes: u64, nanos: u64| match nanos {
        0 => 0.0,
        nanos => 8e9 * bytes as f64 / nanos as f64,
    };
    let since = before.map_or(Timestamp::ZERO, |before| before.at);
    let earlier = before.and_then(|before| before.groups.get(place).copied());
    let earlier = earlier.unwrap_or_default();
    let (all, latest) = (last.at.nanos(), last.at.nanos_since(since));
    GroupRecord {
        name,
        clients,
        states: states
            .into_iter()
            .filter(|count| count.clients > 0)
            .collect(),
        counters,
        read_bits_per_s: bits(counters.bytes_read, all),
        write_bits_per_s: bits(counters.bytes_written, all),
        read_bits_per_s_20s: bits(counters.bytes_read - earlier.bytes_read, latest),
        write_bits_per_s_20s: bits(counters.bytes_written - earlier.bytes_written, latest),
        response_time_buckets: times.record(),
        client_bytes_min: moved.clone().min().unwrap_or(0),
        client_bytes_max: moved.max().unwrap_or(0),
    }
}

/// Hook of a fleet: computes its rows, and stops it when it is unhealthy.
struct FleetProgress {
    shared: Arc<SharedFleet>,
    seen: Arc<Mutex<Seen>>,
    ending: CancellationTimer,
    next_look: Timestamp,
    /// Number of changes reported.
    told_changes: u32,
    is_over: bool,
    /// The server's process, if it runs on this host and the plan names it.
    server: Option<u32>,
}

impl FleetProgress {
    fn count(&mut self, now: Timestamp, asked_until: Timestamp) {
        let counted = counted(&self.shared, now, asked_until);
        let sum = counted.groups.iter();
        let sum = sum.fold(FleetCounters::default(), FleetCounters::with);
        let seen = &mut *lock(&self.seen);
        (seen.now, seen.looked) = (now, Some(Instant::now()));
        seen.watch
            .sample(now.nanos(), &sum, system::resident_bytes());
        if let Some(bytes) = self.server.and_then(system::resident_bytes_of) {
            seen.watch.check_server(now.nanos(), bytes);
        }
        let gauges = self.shared.gauges();
        seen.watch.connections(now.nanos(), |client| {
            let gauge = gauges.get(client as usize);
            gauge.map_or(ConnectStatus::None, ClientStats::connection)
        });
        let last = seen.bytes.back().map(|bytes| bytes.at);
        if last.is_none_or(|last| now.nanos_since(last) >= CLIENT_LOOK_NANOS) {
            let bytes = ByteSnapshot::now(&self.shared, now);
            seen.bytes.push_back(Arc::new(bytes));
            if seen.bytes.len() > CLIENT_LOOKS {
                seen.bytes.pop_front();
            }
        }
        if now >= self.next_look {
            self.next_look = now.after_nanos(LOOK_NANOS);
            seen.looks.push_back(counted);
            if seen.looks.len() > LOOKS {
                seen.looks.pop_front();
            }
        }
    }

    /// Returns the end of the time in which operations are due, which a stop of the run shortens.
    fn asked_until(&self, at: &RunSnapshot<'_>) -> Timestamp {
        let seen = &mut *lock(&self.seen);
        if at.is_stopped || at.end_run.load(Ordering::Relaxed) {
            seen.asked_until = seen.asked_until.min(at.now);
        }
        seen.asked_until
    }

    /// Checks whether clients apply the settings they received.
    fn check_applied(&self, now: Timestamp) {
        let (count, unsettled) = {
            let seen = lock(&self.seen);
            (seen.changes.count(), seen.changes.unsettled())
        };
        let Some(last) = unsettled else {
            return;
        };
        // The next poll checks changes that arrive in the meantime.
        let mut settled = [EffectiveFrom::NextFile, EffectiveFrom::NextTransfer].into_iter();
        let settled = settled.find(|up_to| *up_to <= last && self.shared.is_applied(*up_to));
        if let Some(up_to) = settled {
            lock(&self.seen)
                .changes
                .mark_applied(count, up_to, now.nanos());
        }
    }

    fn tell_changes(&mut self, observer: &mut dyn Observer) {
        let changes = lock(&self.seen).changes.since(self.told_changes);
        self.told_changes += changes.len() as u32;
        changes.iter().for_each(|change| observer.changed(change));
    }

    fn end_run_if_ill(&self, end_run: &AtomicBool) {
        if lock(&self.seen).watch.finding().is_some() {
            end_run.store(true, Ordering::Relaxed);
        }
    }
}

impl RunHook for FleetProgress {
    fn interval(
        &mut self,
        interval: &IntervalRecord,
        end_run: &AtomicBool,
        _observer: &mut dyn Observer,
    ) {
        lock(&self.seen).watch.row(interval);
        self.end_run_if_ill(end_run);
    }

    fn poll(&mut self, at: &RunSnapshot<'_>, observer: &mut dyn Observer) -> Timestamp {
        self.tell_changes(observer);
        if !self.is_over {
            let asked_until = self.asked_until(at);
            if at.now >= self.next_look {
                let before = lock(&self.seen).looks.front().cloned();
                let shared = &*self.shared;
                observer.fleet(&|| group_records(shared, at.now, asked_until, before.as_ref()));
            }
            self.count(at.now, asked_until);
            self.check_applied(at.now);
            self.end_run_if_ill(at.end_run);
            self.is_over = at.stage != Stage::Running;
            lock(&self.seen).is_over = self.is_over;
        }
        self.ending
            .poll(at)
            .min(self.next_look.max(at.now.after_nanos(1)))
    }
}

#[cfg(test)]
mod tests;
