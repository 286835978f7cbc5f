//! State shared by all clients of a fleet.

use super::client_control::{ActiveSettings, ClientControl, ControlEpoch, SettingsTable};
use super::client_stats::ClientStats;
use super::published_files::PublishedFiles;
use filestone_plan::fleet::{EffectiveFrom, is_always_ready};
use filestone_plan::plan::{FleetPlan, GroupPlan, Plan};
use filestone_workload::payload::{Pattern, Payloads};
use filestone_workload::time::Timestamp;

/// State shared by all clients of a fleet.
#[derive(Debug)]
pub struct SharedFleet {
    plan: FleetPlan,
    seed: u64,
    payloads: Payloads,
    /// Patterns with available payloads, in their order.
    patterns: Vec<Pattern>,
    settings: SettingsTable,
    control_epoch: ControlEpoch,
    /// Start time of each client.
    beginnings: Box<[u64]>,
    gauges: Box<[ClientStats]>,
    /// Published files of the clients that write for others, by client; empty for others.
    shelves: Box<[PublishedFiles]>,
}

impl SharedFleet {
    /// Creates the shared state for the clients of this fleet.
    pub fn new(plan: &Plan, fleet: &FleetPlan) -> Self {
        let own = fleet.groups.iter().map(|group| group.pattern.clone());
        let own: Vec<Pattern> = own.collect();
        let others = Pattern::named().filter(is_always_ready);
        let others: Vec<Pattern> = others.filter(|other| !own.contains(other)).collect();
        let rows = fleet.groups.iter().cloned().enumerate();
        let settings = SettingsTable::new(rows.map(|(place, group)| ActiveSettings {
            pattern: first_of(&own, &group.pattern),
            group,
            place,
        }));
        let gauge = |member: filestone_plan::plan::GroupMember<'_>| {
            ClientStats::new(ClientControl::of_group(member.place))
        };
        let shelves = fleet.groups.iter().enumerate().flat_map(|(place, group)| {
            let is_read =
                |other: &filestone_plan::plan::GroupPlan| other.reads == Some(place as u32);
            let files = if fleet.groups.iter().any(is_read) {
                group.files
            } else {
                0
            };
            (0..group.count).map(move |_| PublishedFiles::new(files))
        });
        Self {
            payloads: Payloads::new(&own, fleet.unit_max()).and(&others),
            patterns: [own, others].concat(),
            settings,
            control_epoch: ControlEpoch::default(),
            beginnings: fleet.beginnings().into(),
            gauges: (0..fleet.clients())
                .map(|client| fleet.member(client).map(gauge).unwrap_or_default())
                .collect(),
            shelves: shelves.collect(),
            plan: fleet.clone(),
            seed: plan.seed,
        }
    }

    /// Returns the fleet plan.
    pub fn plan(&self) -> &FleetPlan {
        &self.plan
    }

    /// Returns the payloads of written data.
    pub fn payloads(&self) -> &Payloads {
        &self.payloads
    }

    /// Returns the random seed.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns a number that distinguishes the data of this run from those of others.
    pub(super) fn run(&self) -> u32 {
        (self.seed ^ self.seed >> 32) as u32
    }

    /// Returns the start time of a client.
    pub fn begins(&self, client: u32) -> Timestamp {
        let begins = self.beginnings.get(client as usize);
        Timestamp::from_nanos(begins.copied().unwrap_or(0))
    }

    /// Returns the counters of each client.
    pub fn gauges(&self) -> &[ClientStats] {
        &self.gauges
    }

    /// Returns settings by their index.
    #[inline]
    pub fn settings(&self, place: u32) -> Option<&ActiveSettings> {
        self.settings.row(place)
    }

    /// Returns the index of a group's settings that differ from those of the plan; `None` if the
    /// table is full, or the bytes of their pattern are not available.
    pub fn place_of(&self, group: GroupPlan, place: usize) -> Option<u32> {
        let pattern = first_of(&self.patterns, &group.pattern);
        self.patterns.get(pattern)?;
        self.settings.place_of(ActiveSettings {
            group,
            place,
            pattern,
        })
    }

    /// Sends a control word to a client. After a batch of these, call [`ControlEpoch::increase`].
    pub fn order(&self, client: u32, orders: ClientControl) {
        if let Some(gauge) = self.gauges.get(client as usize) {
            gauge.order(orders);
        }
    }

    /// Returns whether all clients follow their control words, for changes that take effect no
    /// later than `up_to`.
    pub fn is_applied(&self, up_to: EffectiveFrom) -> bool {
        self.gauges.iter().all(|gauge| gauge.is_applied(up_to))
    }

    /// Returns the counter of control words sent.
    pub fn control_epoch(&self) -> &ControlEpoch {
        &self.control_epoch
    }

    pub(super) fn shelf(&self, client: u32) -> Option<&PublishedFiles> {
        self.shelves.get(client as usize)
    }
}

/// Returns the index of the first equal pattern; the number of patterns if there is none.
fn first_of(patterns: &[Pattern], wanted: &Pattern) -> usize {
    let place = patterns.iter().position(|pattern| pattern == wanted);
    place.unwrap_or(patterns.len())
}
