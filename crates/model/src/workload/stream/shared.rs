//! What all clients of a fleet share.

use super::gauge::ClientGauge;
use super::shelf::Shelf;
use crate::payload::{Pattern, Payloads};
use crate::plan::{FleetPlan, Plan};
use crate::time::Moment;

/// What all clients of a fleet share.
#[derive(Debug)]
pub struct SharedFleet {
    plan: FleetPlan,
    seed: u64,
    payloads: Payloads,
    /// When each client begins.
    beginnings: Box<[u64]>,
    gauges: Box<[ClientGauge]>,
    /// The files of those that write for others, by client; of others, none.
    shelves: Box<[Shelf]>,
}

impl SharedFleet {
    /// What the clients of this fleet share.
    pub fn new(plan: &Plan, fleet: &FleetPlan) -> Self {
        let patterns: Vec<&Pattern> = fleet.groups.iter().map(|group| &group.pattern).collect();
        let shelves = fleet.groups.iter().enumerate().flat_map(|(place, group)| {
            let is_read = |other: &crate::plan::GroupPlan| other.reads == Some(place as u32);
            let files = if fleet.groups.iter().any(is_read) {
                group.files
            } else {
                0
            };
            (0..group.count).map(move |_| Shelf::new(files))
        });
        Self {
            payloads: Payloads::new(&patterns, fleet.unit_max()),
            beginnings: fleet.beginnings().into(),
            gauges: (0..fleet.clients())
                .map(|_| ClientGauge::default())
                .collect(),
            shelves: shelves.collect(),
            plan: fleet.clone(),
            seed: plan.seed,
        }
    }

    /// What they do.
    pub fn plan(&self) -> &FleetPlan {
        &self.plan
    }

    /// What they write consists of.
    pub fn payloads(&self) -> &Payloads {
        &self.payloads
    }

    /// Where what is drawn comes from.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// What tells the data of this run from those of others.
    pub(super) fn run(&self) -> u32 {
        (self.seed ^ self.seed >> 32) as u32
    }

    /// When a client begins.
    pub(super) fn begins(&self, client: u32) -> Moment {
        let begins = self.beginnings.get(client as usize);
        Moment::from_nanos(begins.copied().unwrap_or(0))
    }

    /// What each client shows.
    pub fn gauges(&self) -> &[ClientGauge] {
        &self.gauges
    }

    pub(super) fn shelf(&self, client: u32) -> Option<&Shelf> {
        self.shelves.get(client as usize)
    }
}
