//! Readings during a run, on a separate thread.

use crate::run::run_hook::{RunHook, RunSnapshot, Stage};
use filestone_host::control::{LOOK_EVERY, Observer, RunContext, ServerRates};
use filestone_host::readings::{ReadingLog, Sources};
use filestone_measure::cost::{CostRecord, ReadingPhase};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::costs::{self, RunPath};
use filestone_plan::plan::{CostPlan, Plan};
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Requests readings when the window opens, then at intervals, and when it closes.
pub struct Sampler {
    /// `None` when no more readings are needed.
    ask: Option<SyncSender<()>>,
    thread: JoinHandle<ReadingLog>,
    /// The latest rates, after each reading; rates that are not received in time are dropped.
    rates: Receiver<Vec<ServerRates>>,
    path: Option<RunPath>,
    opens: Timestamp,
    closes: Timestamp,
    next: Timestamp,
    interval_ns: u64,
    /// Start of the window, past or future; set once the run's clock runs.
    opened: Option<Instant>,
}

impl Sampler {
    /// Reads the sources for the idle time, then passes the log to a separate thread.
    pub fn start(plan: &Plan, sources: Sources<'_>, context: &mut RunContext<'_>) -> Self {
        let Sources {
            plan: cost,
            mut book,
            path,
        } = sources;
        if cost.idle_ns > 0 {
            context.preparing("reading while nothing is sent");
        }
        read_idle(&mut book, cost, context.stop);
        // One request may wait during a reading; further ones are dropped.
        let (ask, asked) = sync_channel(1);
        let (tell, rates) = sync_channel(1);
        let thread = std::thread::spawn(move || {
            asked.iter().for_each(|()| {
                book.read(ReadingPhase::Load);
                let _ = tell.try_send(book.rates());
            });
            book
        });
        let window = plan.window();
        Self {
            ask: Some(ask),
            thread,
            rates,
            path,
            opens: window.start,
            closes: window.end,
            next: window.start,
            interval_ns: cost.interval_ns.max(1),
            opened: None,
        }
    }

    /// Returns the costs of a run's operations, after the last reading.
    pub fn finish(self, record: &RunRecord) -> CostRecord {
        drop(self.ask);
        let opened = self.opened.unwrap_or_else(Instant::now);
        let sources = match self.thread.join() {
            Ok(book) => book.finish(opened),
            Err(_) => vec![],
        };
        costs::finish(record, sources, self.path.as_ref())
    }
}

impl RunHook for Sampler {
    fn poll(&mut self, at: &RunSnapshot<'_>, observer: &mut dyn Observer) -> Timestamp {
        self.rates
            .try_iter()
            .for_each(|rates| observer.server(&rates));
        self.opened.get_or_insert_with(|| {
            Instant::now() - at.now.since(Timestamp::ZERO) + self.opens.since(Timestamp::ZERO)
        });
        let is_over = at.now >= self.closes || at.stage != Stage::Running;
        let Some(ask) = &self.ask else {
            return Timestamp::MAX;
        };
        if is_over || at.now >= self.next {
            let _ = ask.try_send(());
            while self.next <= at.now {
                self.next = self.next.after_nanos(self.interval_ns);
            }
        }
        if is_over {
            self.ask = None;
            return Timestamp::MAX;
        }
        self.next.min(self.closes)
    }
}

fn read_idle(book: &mut ReadingLog, cost: &CostPlan, stop: &AtomicBool) {
    let began = Instant::now();
    let interval = Duration::from_nanos(cost.interval_ns.max(1));
    let mut due = Duration::ZERO;
    let idle = Duration::from_nanos(cost.idle_ns);
    while due <= idle && wait_until(began + due, stop) {
        book.read(ReadingPhase::Idle);
        due += interval;
    }
}

/// Sleeps until `end`; returns `false` early if the run must end.
fn wait_until(end: Instant, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK_EVERY));
    }
}
