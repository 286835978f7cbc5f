//! A job from the coordinator's side: prepare, start at an agreed time, measure, merge.

use crate::job_error::JobError;
use crate::members::{LOOK_EVERY, LOOK_WHILE_MEASURING, Members};
use crate::message::{FromRank, IntervalReport, JobSpec, RankResult, ToRank};
use crate::options::OnRankLost;
use crate::orphan_cleanup::{OrphanedPart, reclaim};
use crate::rank_run::{RankRun, Runner};
use crate::ranks::{LoadRank, RankProgress};
use crate::serving::{ALIVE_EVERY, COORDINATOR};
use crate::steered::JobLoadController;
use filestone_control::job::{HostRun, IntervalMerger, deal, decide, evaluate, merge};
use filestone_control::load_control::NextLoad;
use filestone_host::control::Observer;
use filestone_measure::measure::job_record::LostHostRecord;
use filestone_measure::measure::{RunPhase, RunRecord};
use filestone_plan::plan::Plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between the agreement on the start and the start, for message delivery and thread wake-up.
const LEAD: Duration = Duration::from_millis(100);
/// Additional time per rank.
const LEAD_OF_RANK: Duration = Duration::from_micros(500);
/// Longest wait for a silent rank after a job was stopped: launchers that end a job soon kill ranks
/// that do not exit.
const SILENCE_AFTER_STOP: Duration = Duration::from_secs(2);
/// Time limit of the last ranks' clean-up after the first has ended, in addition to the timeout of
/// a call.
const CLEAN_UP: Duration = Duration::from_secs(120);

/// Phase of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Preparing,
    Measuring,
    Ending,
}

impl Phase {
    const fn name(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::Measuring => "measuring",
            Self::Ending => "ending",
        }
    }
}

/// State of a job at the coordinator.
pub struct JobRun<'job, 'look> {
    members: &'job mut Members,
    plan: &'job Plan,
    observer: &'look mut dyn Observer,
    makers: Vec<LoadRank>,
    own: Option<RankRun>,
    merger: IntervalMerger,
    steered: Option<JobLoadController>,
    phase: Phase,
    is_found: bool,
    /// Whether the job ends early, and whether the user has stopped it.
    is_ended: bool,
    is_stopped: bool,
    /// When the first rank ended.
    first_end: Option<Instant>,
    said: Instant,
}

impl<'job, 'look> JobRun<'job, 'look> {
    /// Creates the job of `plan`; `order` is its specification for the ranks.
    pub fn new(
        members: &'job mut Members,
        plan: &'job Plan,
        order: &JobSpec,
        steered: Option<JobLoadController>,
        observer: &'look mut dyn Observer,
    ) -> Self {
        let now = Instant::now();
        let makers = (0..).zip(&order.makers).map(|(part, rank)| LoadRank {
            rank: *rank,
            part,
            host: members.host_of(*rank),
            progress: RankProgress::Preparing,
            heard: now,
            offset: None,
            offset_at_end: None,
            wall_ahead_ns: 0,
            late_ns: 0,
        });
        Self {
            makers: makers.collect(),
            own: None,
            merger: IntervalMerger::new(order.makers.len()),
            steered,
            phase: Phase::Preparing,
            is_found: false,
            is_ended: false,
            is_stopped: false,
            first_end: None,
            said: now,
            members,
            plan,
            observer,
        }
    }

    /// Runs the job.
    pub fn make(
        mut self,
        order: JobSpec,
        runner: &Arc<dyn Runner>,
        stop: &AtomicBool,
    ) -> Result<RunRecord, JobError> {
        self.own = RankRun::start(&order, COORDINATOR, runner);
        self.members.tell_all(&ToRank::Run(Box::new(order)));
        while !self.makers.iter().all(LoadRank::is_finished) {
            self.turn(stop);
            self.end_if_one_failed();
        }
        if !self.is_ended {
            self.start();
        }
        while self.makers.iter().any(LoadRank::is_awaited) {
            self.turn(stop);
        }
        self.compare_clocks_again();
        self.finish(&**runner, stop)
    }

    /// Runs one iteration of the coordinator's polling loop.
    fn turn(&mut self, stop: &AtomicBool) {
        self.members.receive();
        while let Some((from, message)) = self.members.inbox.pop_front() {
            self.hear(from, message);
        }
        while let Some(message) = self.own.as_ref().and_then(RankRun::told) {
            self.hear(COORDINATOR, message);
        }
        self.tell_intervals();
        if stop.load(Ordering::Acquire) {
            self.stop();
        }
        self.watch();
        if self.said.elapsed() >= ALIVE_EVERY {
            self.said = Instant::now();
            self.members.tell_all(&ToRank::KeepAlive);
        }
        std::thread::sleep(match self.phase {
            Phase::Measuring => LOOK_WHILE_MEASURING,
            Phase::Preparing | Phase::Ending => LOOK_EVERY,
        });
    }

    fn hear(&mut self, from: u32, message: FromRank) {
        let is_first = self.makers.first().is_some_and(|first| first.rank == from);
        let mut makers = self.makers.iter_mut().enumerate();
        let Some((place, maker)) = makers.find(|(_, maker)| maker.rank == from) else {
            return;
        };
        if let RankProgress::Lost(_) = maker.progress {
            return;
        }
        maker.heard = Instant::now();
        match message {
            FromRank::Ready => maker.progress = RankProgress::Ready,
            FromRank::Started { late_ns } => maker.late_ns = late_ns,
            FromRank::Preparing { what } if is_first => self.observer.preparing(&what),
            FromRank::Phase { phase } => {
                if phase == RunPhase::CleanUp && self.phase == Phase::Measuring {
                    self.phase = Phase::Ending;
                }
                // Ranks enter the next phase at the same time, within the error of their clocks.
                if is_first {
                    self.observer.phase(phase);
                }
            }
            FromRank::Found { target } if !self.is_found => {
                self.is_found = true;
                self.observer.prepared(&target);
            }
            FromRank::Connected { connections } => self.observer.connected(&connections),
            FromRank::Interval(told) => self.take(place, *told),
            FromRank::Ended(ending) => {
                maker.progress = RankProgress::Ended(ending);
                self.merger.finish(place);
                self.first_end.get_or_insert_with(Instant::now);
                if self.phase == Phase::Measuring {
                    self.phase = Phase::Ending;
                }
            }
            FromRank::KeepAlive
            | FromRank::Preparing { .. }
            | FromRank::Found { .. }
            | FromRank::Hello(_)
            | FromRank::Pong { .. } => {}
        }
    }

    fn take(&mut self, place: usize, told: IntervalReport) {
        if let Some(steered) = &mut self.steered {
            steered.note(&told);
        }
        self.merger.take(place, told.interval);
    }

    /// Reports the intervals that all ranks have completed, and applies decisions on the load.
    fn tell_intervals(&mut self) {
        // A histogram that cannot be merged is reported at the end, with the record.
        while let Ok(Some(interval)) = self.merger.complete() {
            self.observer.counted_by_hosts(&interval);
            self.observer.interval(&interval);
            let Some(steered) = &mut self.steered else {
                continue;
            };
            let direction = steered.decide(&interval);
            steered.points(|point| self.observer.point(point));
            let (progress, left) = steered.progress();
            self.observer.steering(&progress, left);
            match direction {
                NextLoad::Hold => {}
                NextLoad::Set(load_ops_per_s) => {
                    self.observer.offered(load_ops_per_s);
                    self.members.tell_all(&ToRank::Offer { load_ops_per_s });
                    self.own.iter().for_each(|own| own.offer(load_ops_per_s));
                }
                NextLoad::Finish => {
                    self.members.tell_all(&ToRank::Finish);
                    self.own.iter().for_each(RankRun::finish);
                }
            }
        }
    }

    /// Ends the job early, once; clean-up runs as usual.
    fn end(&mut self) {
        if !self.is_ended {
            self.is_ended = true;
            self.members.tell_all(&ToRank::End);
            self.own.iter().for_each(RankRun::end);
        }
    }

    /// Stops the job on request of the user, once.
    fn stop(&mut self) {
        if !self.is_stopped {
            self.is_ended = true;
            self.is_stopped = true;
            self.members.tell_all(&ToRank::Stop);
            self.own.iter().for_each(RankRun::stop);
        }
    }

    /// Ends the job before its start if a part failed.
    fn end_if_one_failed(&mut self) {
        let has_failed = |maker: &LoadRank| matches!(maker.progress, RankProgress::Ended(_));
        if self.makers.iter().any(has_failed) {
            self.end();
        }
    }

    /// Evicts ranks that are silent or do not end.
    fn watch(&mut self) {
        let mut watchdog = self.members.options.watchdog;
        if self.is_ended {
            watchdog = watchdog.min(SILENCE_AFTER_STOP);
        }
        let (now, name) = (Instant::now(), self.phase.name());
        let last = Duration::from_nanos(self.plan.timeout_ns) + CLEAN_UP;
        let is_late = self
            .first_end
            .is_some_and(|end| now.duration_since(end) > last);
        let mut lost = Vec::new();
        for (place, maker) in self.makers.iter_mut().enumerate() {
            let is_remote = maker.rank != COORDINATOR;
            let reason = if is_remote && maker.is_silent(now, watchdog) {
                format!("it has not been heard of for {} s", watchdog.as_secs_f64())
            } else if is_late && maker.is_awaited() {
                format!("it lags: the first host ended {} s ago", last.as_secs())
            } else {
                continue;
            };
            maker.mark_lost(name, reason);
            self.merger.finish(place);
            lost.push(maker.rank);
        }
        self.go_on_without(lost);
    }

    /// Applies the configured policy to lost ranks.
    fn go_on_without(&mut self, lost: Vec<u32>) {
        if lost.is_empty() {
            return;
        }
        self.members.evict(lost);
        if self.members.options.on_rank_lost == OnRankLost::End {
            self.end();
        }
    }

    /// Agrees on the start time with all ranks.
    fn start(&mut self) {
        self.phase = Phase::Measuring;
        let ready: Vec<usize> = (0..self.makers.len())
            .filter(|place| {
                let maker = self.makers.get(*place);
                maker.is_some_and(|maker| maker.progress == RankProgress::Ready)
            })
            .collect();
        for place in &ready {
            self.compare_clock(*place, |maker| &mut maker.offset);
        }
        let lead = LEAD + LEAD_OF_RANK.saturating_mul(ready.len() as u32);
        let at_ns = self
            .members
            .transport
            .now_ns()
            .saturating_add(lead.as_nanos() as u64);
        let mut lost = Vec::new();
        for place in ready {
            let Some(maker) = self.makers.get_mut(place) else {
                continue;
            };
            maker.progress = RankProgress::Running;
            maker.heard = Instant::now();
            if maker.rank == COORDINATOR {
                let at = self.members.transport.instant_of(at_ns);
                self.own.iter().for_each(|own| own.start_at(at));
            } else if let Some(offset) = maker.offset {
                let at_ns = offset.there(at_ns);
                self.members.tell(maker.rank, &ToRank::Start { at_ns });
            } else {
                maker.mark_lost("starting", "its clock does not answer".into());
                self.merger.finish(place);
                lost.push(maker.rank);
            }
        }
        self.go_on_without(lost);
    }

    fn compare_clock(
        &mut self,
        place: usize,
        of: fn(&mut LoadRank) -> &mut Option<crate::clocks::Offset>,
    ) {
        let Some(maker) = self.makers.get_mut(place) else {
            return;
        };
        if maker.rank == COORDINATOR {
            return;
        }
        let exchanges = self.members.exchange(maker.rank);
        *of(maker) = exchanges.offset();
        let known = self.members.known.get(maker.rank as usize);
        maker.wall_ahead_ns = known.map_or(0, |known| known.wall_ahead_ns);
    }

    fn compare_clocks_again(&mut self) {
        for place in 0..self.makers.len() {
            let maker = self.makers.get(place);
            let has_begun = |maker: &LoadRank| maker.offset.is_some() && !is_lost(maker);
            if maker.is_some_and(has_begun) {
                self.compare_clock(place, |maker| &mut maker.offset_at_end);
            }
        }
    }

    /// Returns the record of the measurements, or an error if there are none. Cleans up after lost
    /// ranks once all measurements are safe.
    fn finish(mut self, runner: &dyn Runner, stop: &AtomicBool) -> Result<RunRecord, JobError> {
        let abandoned = self.abandoned();
        let made = self.record();
        let observer = self.observer;
        match made {
            Ok(mut record) => {
                if !abandoned.is_empty() {
                    observer.measured(&record);
                }
                for remains in reclaim(abandoned, runner, stop, observer) {
                    remains.record(&mut record);
                }
                decide(&mut record);
                Ok(record)
            }
            Err(error) => {
                for remains in reclaim(abandoned, runner, stop, observer) {
                    observer.note(&remains.describe());
                }
                Err(error)
            }
        }
    }

    /// Returns the parts that lost ranks have left on the target, if the target outlasts a run.
    fn abandoned(&self) -> Vec<OrphanedPart> {
        let Some(parts) = self.plan.mix().and_then(|_| self.parts()) else {
            return Vec::new();
        };
        let of = |(maker, plan): (&LoadRank, Plan)| {
            let hello = self.members.hello_of(maker.rank)?;
            let is_another = maker.rank != COORDINATOR;
            (is_lost(maker) && is_another).then(|| OrphanedPart {
                part: maker.part,
                whose: format!("host {} (rank {})", maker.host, maker.rank),
                plan,
                owner: hello.process_name(),
            })
        };
        self.makers.iter().zip(parts).filter_map(of).collect()
    }

    fn parts(&self) -> Option<Vec<Plan>> {
        deal(self.plan, u32::try_from(self.makers.len()).ok()?).ok()
    }

    fn record(&mut self) -> Result<RunRecord, JobError> {
        if let Some(error) = self.error() {
            return Err(error);
        }
        let mut runs: Vec<HostRun> = Vec::new();
        let mut lost: Vec<LostHostRecord> = Vec::new();
        for maker in self.makers.drain(..) {
            match maker.into_run() {
                Ok(run) => runs.push(run),
                Err(gone) => lost.extend(gone),
            }
        }
        let mut record = merge(self.plan, &runs, lost)?;
        if let Some(steered) = self.steered.take() {
            steered.finish(&mut record);
        }
        evaluate(&mut record);
        Ok(record)
    }

    /// Returns the reason for a missing record: a part failed, or no measurement was made.
    fn error(&self) -> Option<JobError> {
        let measured = |maker: &&LoadRank| match &maker.progress {
            RankProgress::Ended(ending) => matches!(**ending, RankResult::Measured(_)),
            _ => false,
        };
        let is_measured = self.makers.iter().any(|maker| measured(&maker));
        if is_measured && self.phase != Phase::Preparing {
            return None;
        }
        // A rank that was stopped because another one failed is not the cause.
        let reason = self.makers.iter().find_map(Self::own_reason);
        Some(reason.unwrap_or(JobError::Interrupted))
    }

    /// Returns the reason why a rank has no record, unless it was stopped.
    fn own_reason(maker: &LoadRank) -> Option<JobError> {
        match &maker.progress {
            RankProgress::Lost(lost) => Some(JobError::Lost {
                host: lost.name.clone(),
                rank: maker.rank,
                phase: lost.phase.clone(),
                reason: lost.reason.clone(),
            }),
            RankProgress::Ended(ending) => match &**ending {
                RankResult::Failed(failure) if !failure.is_interruption() => {
                    Some(JobError::Failed {
                        host: maker.host.clone(),
                        rank: maker.rank,
                        failure: failure.clone(),
                    })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn is_lost(maker: &LoadRank) -> bool {
    matches!(maker.progress, RankProgress::Lost(_))
}
