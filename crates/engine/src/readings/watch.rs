//! Readings while a run lasts, on a thread of their own.

use super::Book;
use crate::control::{LOOK_EVERY, Observer};
use crate::run::{Attendant, Look, Stage};
use filestone_model::cost::{ReadingPhase, SourceRecord};
use filestone_model::plan::{CostPlan, Plan};
use filestone_model::time::Moment;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Asks for readings when the window opens, from then on at intervals, and when it closes.
pub struct Watch {
    /// `None` when nothing is to be read any more.
    ask: Option<SyncSender<()>>,
    thread: JoinHandle<Book>,
    next: Moment,
    closes: Moment,
    interval_ns: u64,
}

impl Watch {
    /// Reads for as long as nothing is to be sent, and gives the book to a thread of its own.
    pub fn start(plan: &Plan, cost: &CostPlan, mut book: Book, stop: &AtomicBool) -> Self {
        read_idle(&mut book, cost, stop);
        // One may wait while another is made: then one is left out.
        let (ask, asked) = sync_channel(1);
        let thread = std::thread::spawn(move || {
            asked.iter().for_each(|()| book.read(ReadingPhase::Load));
            book
        });
        let opens = Moment::from_nanos(plan.warm_up_ns);
        let closes = plan.duration_ns;
        Self {
            ask: Some(ask),
            thread,
            next: opens,
            closes: closes.map_or(Moment::NEVER, |duration| opens.after_nanos(duration)),
            interval_ns: cost.interval_ns.max(1),
        }
    }

    /// What was read, once the last reading is there.
    pub fn conclude(self, opened: Instant) -> Vec<SourceRecord> {
        drop(self.ask);
        let book = self.thread.join();
        book.map_or_else(|_| Vec::new(), |book| book.conclude(opened))
    }
}

impl Attendant for Watch {
    fn look(&mut self, at: &Look<'_>, _: &mut dyn Observer) -> Moment {
        let is_over = at.now >= self.closes || at.stage != Stage::Running;
        let Some(ask) = &self.ask else {
            return Moment::NEVER;
        };
        if is_over || at.now >= self.next {
            let _ = ask.try_send(());
            while self.next <= at.now {
                self.next = self.next.after_nanos(self.interval_ns);
            }
        }
        if is_over {
            self.ask = None;
            return Moment::NEVER;
        }
        self.next.min(self.closes)
    }
}

fn read_idle(book: &mut Book, cost: &CostPlan, stop: &AtomicBool) {
    let began = Instant::now();
    let interval = Duration::from_nanos(cost.interval_ns.max(1));
    let mut due = Duration::ZERO;
    let idle = Duration::from_nanos(cost.idle_ns);
    while due <= idle && wait_until(began + due, stop) {
        book.read(ReadingPhase::Idle);
        due += interval;
    }
}

/// Waits; `false`, and early, if the run is to end.
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
