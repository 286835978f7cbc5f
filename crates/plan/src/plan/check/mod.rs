//! All rules of a plan that depend on the plan alone. Plans from files and from command lines have
//! the same rules and messages.

mod connections;
mod error;
mod fleet;
mod gates;
mod levels;
mod mix;
mod replay;
mod sharing;
mod steering;
mod target;

pub use connections::ConnectionPlanError;
pub use error::{FieldName, PlanError};
pub use gates::{MissingFigure, missing_in};
pub use levels::LevelsPlanError;
pub use mix::MixPlanError;
pub use replay::ReplayPlanError;
pub use sharing::{SharedKind, SharingError};
pub use steering::SteeringPlanError;

use super::limits::{
    CLIENTS_MAX, COPY_SIZE_MAX, IN_FLIGHT_MAX, INTERVAL_MAX_NANOS, OFFERED_MAX, PROCESSORS_MAX,
    SIZE_MAX, SLOTS_MAX,
};
use super::{
    EXPECTED_MAX, Field, Interface, Plan, ProbePlan, TICK_NANOS, TargetPlan, WorkloadPlan,
};
use core::ops::RangeInclusive;
use filestone_workload::operation::OpKind;

impl Plan {
    /// Returns an error for the first rule that this plan breaks.
    pub fn check(&self) -> Result<(), PlanError> {
        self.check_counts()?;
        self.check_end()?;
        self.check_times()?;
        self.check_cost()?;
        match &self.workload {
            WorkloadPlan::Probe(probe) => self.check_probe(probe)?,
            WorkloadPlan::LoadFile(replay) => replay::check(self, replay)?,
            WorkloadPlan::Mix(mix) => mix::check(self, mix)?,
            WorkloadPlan::Fleet(fleet) => fleet::check(self, fleet)?,
        }
        target::check(self)?;
        steering::check(self)?;
        levels::check(self)?;
        connections::check(self)?;
        self.check_gates()?;
        within(
            Field::Expect,
            self.expect.len() as f64,
            0.0..=EXPECTED_MAX as f64,
        )?;
        self.check_read_data()
    }

    /// Returns an error for the first gate that does not apply to runs of this plan.
    pub fn check_gates(&self) -> Result<(), PlanError> {
        gates::check(self)
    }

    /// Checks clients, threads and calls in flight.
    fn check_counts(&self) -> Result<(), PlanError> {
        within(Field::Clients, self.clients, 1..=CLIENTS_MAX)?;
        within(Field::InFlight, self.in_flight, 1..=IN_FLIGHT_MAX)?;
        within(Field::Workers, self.workers, 1..=u32::MAX)?;
        let slots = u64::from(self.in_flight) * u64::from(self.clients);
        ensure(slots <= SLOTS_MAX, || PlanError::TooManySlots {
            in_flight: self.in_flight,
            clients: self.clients,
        })?;
        ensure(self.workers <= self.clients, || {
            PlanError::MoreWorkersThanClients {
                workers: self.workers,
                clients: self.clients,
            }
        })?;
        let mut processors = self.pin.iter();
        processors.try_for_each(|number| within(Field::Pin, *number, 0..=PROCESSORS_MAX - 1))
    }

    /// Checks that the run has an end condition.
    fn check_end(&self) -> Result<(), PlanError> {
        let (is_run_once, or) = match self.replay() {
            Some(replay) => (replay.run_once, Field::RunOnce),
            None => (self.count.is_some(), Field::Count),
        };
        // The controller of the job ends a part.
        let is_ended = self.steering.is_some() || self.part.is_some();
        let ends = self.duration_ns.is_some() || is_run_once || is_ended;
        ensure(ends, || PlanError::NoEnd { or })
    }

    fn check_times(&self) -> Result<(), PlanError> {
        at_least_1(Field::Timeout, self.timeout_ns)?;
        let is_whole = self.interval_ns.is_multiple_of(TICK_NANOS);
        ensure(
            is_whole && (TICK_NANOS..=INTERVAL_MAX_NANOS).contains(&self.interval_ns),
            || PlanError::Interval {
                nanos: self.interval_ns,
            },
        )?;
        match self.arrivals.offered_load() {
            Some(load) => positive(Field::OfferedLoad, load, OFFERED_MAX),
            None => Ok(()),
        }
    }

    /// Checks the cost plan. The interval between readings has a minimum, because the cost of more
    /// frequent readings would dominate the result.
    fn check_cost(&self) -> Result<(), PlanError> {
        let Some(cost) = &self.cost else {
            return Ok(());
        };
        let has_interface = self.target.interface() != Interface::SystemCalls;
        ensure(has_interface || cost.reads_server(), || {
            PlanError::NothingToCount
        })?;
        let (shortest, longest) = (TICK_NANOS as f64, INTERVAL_MAX_NANOS as f64);
        let interval = cost.interval_ns as f64;
        within(Field::ReadingInterval, interval, shortest..=longest)?;
        within(Field::ReadingIdle, cost.idle_ns as f64, 0.0..=longest)
    }

    fn check_probe(&self, probe: &ProbePlan) -> Result<(), PlanError> {
        ensure(self.target.interface() == Interface::Calls, || {
            PlanError::ProbeTarget
        })?;
        ensure(OpKind::probed().any(|kind| kind == probe.operation), || {
            PlanError::ProbeOperation(probe.operation)
        })?;
        let can_have_own_files = ProbePlan::can_have_own_files(probe.operation);
        ensure(!probe.own_files || can_have_own_files, || {
            PlanError::OwnFiles(probe.operation)
        })?;
        match probe.operation {
            OpKind::Copy => within(Field::SizeBytes, probe.size_bytes, 1..=COPY_SIZE_MAX),
            _ => transfer(&self.target, Field::SizeBytes, probe.size_bytes),
        }
    }
}

/// Checks the number of bytes of one call.
fn transfer(target: &TargetPlan, field: Field, bytes: u32) -> Result<(), PlanError> {
    within(field, bytes, 1..=SIZE_MAX)?;
    ensure(bytes <= target.size_max(), || PlanError::Datagram {
        field,
        bytes,
    })
}

fn ensure(holds: bool, error: impl FnOnce() -> PlanError) -> Result<(), PlanError> {
    if holds { Ok(()) } else { Err(error()) }
}

fn within<N>(field: Field, value: N, range: RangeInclusive<N>) -> Result<(), PlanError>
where
    N: PartialOrd + Copy + Into<f64>,
{
    ensure(range.contains(&value), || PlanError::OutOfRange {
        field,
        value: value.into(),
        min: (*range.start()).into(),
        max: (*range.end()).into(),
    })
}

fn at_least_1(field: Field, value: u64) -> Result<(), PlanError> {
    within(field, value as f64, 1.0..=f64::INFINITY)
}

fn positive(field: Field, value: f64, max: f64) -> Result<(), PlanError> {
    ensure(value > 0.0 && value <= max, || PlanError::NotPositive {
        field,
        value,
        max,
    })
}

#[cfg(test)]
mod tests;
