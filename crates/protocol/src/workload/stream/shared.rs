//! What all clients of a fleet share.

use super::client_control::{ActiveSettings, ClientControl, ControlEpoch, SettingsTable};
use super::client_stats::ClientStats;
use super::published_files::PublishedFiles;
use filestone_plan::fleet::{EffectiveFrom, is_always_ready};
use filestone_plan::plan::{FleetPlan, GroupPlan, Plan};
use filestone_workload::payload::{Pattern, Payloads};
use filestone_workload::time::Timestamp;

/// What all clients of a fleet share.
#[derive(Debug)]
pub struct SharedFleet {
    plan: FleetPlan,
    seed: u64,
    payloads: Payloads,
    /// The patterns that payloads are there of, in their order.
    patterns: Vec<Pattern>,
    settings: SettingsTable,
    order_count: ControlEpoch,
    /// When each client begins.
    beginnings: Box<[u64]>,
    gauges: Box<[ClientStats]>,
    /// The files of those that write for others, by client; of others, none.
    shelves: Box<[PublishedFiles]>,
}

impl SharedFleet {
    /// What the clients of this fleet share.
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
            order_count: ControlEpoch::default(),
            beginnings: fleet.beginnings().into(),
            gauges: (0..fleet.clients())
                .map(|client| fleet.member(client).map(gauge).unwrap_or_default())
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
    pub fn begins(&self, client: u32) -> Timestamp {
        let begins = self.beginnings.get(client as usize);
        Timestamp::from_nanos(begins.copied().unwrap_or(0))
    }

    /// What each client shows.
    pub fn gauges(&self) -> &[ClientStats] {
        &self.gauges
    }

    /// Settings by their place.
    #[inline]
    pub fn settings(&self, place: u32) -> Option<&ActiveSettings> {
        self.settings.row(place)
    }

    /// The place of a group's settings that differ from those of the plan; `None` if there is no room for
    /// more of them, or the bytes of their pattern are not there.
    pub fn place_of(&self, group: GroupPlan, place: usize) -> Option<u32> {
        let pattern = first_of(&self.patterns, &group.pattern);
        self.patterns.get(pattern)?;
        self.settings.place_of(ActiveSettings {
            group,
            place,
            pattern,
        })
    }

    /// Tells a client something. Who is told many calls [`ControlEpoch::increase`] when all are told.
    pub fn order(&self, client: u32, orders: ClientControl) {
        if let Some(gauge) = self.gauges.get(client as usize) {
            gauge.order(orders);
        }
    }

    /// Whether all clients go by what they were told, as far as that holds no later than `up_to`.
    pub fn is_applied(&self, up_to: EffectiveFrom) -> bool {
        self.gauges.iter().all(|gauge| gauge.is_applied(up_to))
    }

    /// How often clients were told something.
    pub fn order_count(&self) -> &ControlEpoch {
        &self.order_count
    }

    pub(super) fn shelf(&self, client: u32) -> Option<&PublishedFiles> {
        self.shelves.get(client as usize)
    }
}

/// The place of the first that is this one; the number of all if there is none.
fn first_of(patterns: &[Pattern], wanted: &Pattern) -> usize {
    let place = patterns.iter().position(|pattern| pattern == wanted);
    place.unwrap_or(patterns.len())
}
