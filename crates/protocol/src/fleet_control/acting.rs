//! Execution of fleet-control requests.

use super::controlled::FleetState;
use super::selection::clients_of;
use super::{
    Answer, CHANGES_MAX, ChangeView, ControlAnswer, ControlRequest, FleetRequest, Refusal,
    SetRequest, SkippedClients, StateRequest, viewing,
};
use crate::workload::stream::{ClientControl, DesiredState, SharedFleet};
use filestone_measure::measure::fleet_record::{
    ChangeKind, ChangeRecord, ClientState, SettingChange,
};
use filestone_plan::fleet::{
    EffectiveFrom, SettingError, SettingUpdate, changed, settings_of, values_for,
};
use filestone_plan::plan::{FleetPlan, GroupPlan};
use std::collections::BTreeSet;

/// Executes the request in a line; returns the answer and the change it made, if any.
pub fn answer(fleet: &FleetState<'_>, line: &[u8]) -> (ControlAnswer, Option<ChangeRecord>) {
    let request = match ControlRequest::from_line(line) {
        Ok(request) => request,
        Err(refusal) => return (ControlAnswer::new(None, Answer::Refused(refusal)), None),
    };
    let (answer, change) = match request.request {
        FleetRequest::List(list) => (viewing::list(fleet, &list), None),
        FleetRequest::Show(show) => (viewing::show(fleet, &show.which), None),
        FleetRequest::Start(tell) => told(fleet, ChangeKind::Start, &tell),
        FleetRequest::Stop(tell) => told(fleet, ChangeKind::Stop, &tell),
        FleetRequest::Quiesce(tell) => told(fleet, ChangeKind::Quiesce, &tell),
        FleetRequest::Set(set) => told_settings(fleet, &set),
    };
    let answer = answer.unwrap_or_else(Answer::Refused);
    (ControlAnswer::new(request.id, answer), change)
}

impl From<SettingError> for Refusal {
    fn from(error: SettingError) -> Self {
        Self {
            what: error.what,
            help: error.help,
        }
    }
}

/// Result of a change: the answer, and its entry in the record.
type Changed = (Result<Answer, Refusal>, Option<ChangeRecord>);

/// Description of a requested change.
struct Wanted<'w> {
    what: ChangeKind,
    which: &'w str,
    dry_run: bool,
    named: u32,
    holds: String,
}

/// New control words of clients, and the reasons why other clients are unchanged.
#[derive(Default)]
struct Outcome {
    orders: Vec<(u32, ClientControl)>,
    unchanged: Vec<SkippedClients>,
    settings: Vec<SettingChange>,
}

impl Outcome {
    fn leave(&mut self, why: &str) {
        match self.unchanged.iter_mut().find(|known| known.why == why) {
            Some(known) => known.clients += 1,
            None => self.unchanged.push(SkippedClients {
                clients: 1,
                why: why.into(),
            }),
        }
    }

    fn change(&mut self, change: SettingChange) {
        let is_same = |known: &&mut SettingChange| {
            let same = (&known.key, &known.from, &known.to);
            same == (&change.key, &change.from, &change.to)
        };
        match self.settings.iter_mut().find(is_same) {
            Some(known) => known.clients += change.clients,
            None => self.settings.push(change),
        }
    }
}

fn told(fleet: &FleetState<'_>, what: ChangeKind, tell: &StateRequest) -> Changed {
    match tell_all(fleet, what, tell) {
        Ok((wanted, outcome)) => execute(fleet, &wanted, outcome),
        Err(refusal) => (Err(refusal), None),
    }
}

fn tell_all<'t>(
    fleet: &FleetState<'_>,
    what: ChangeKind,
    tell: &'t StateRequest,
) -> Result<(Wanted<'t>, Outcome), Refusal> {
    refuse_if_nothing_can_change(fleet)?;
    let clients = clients_of(&tell.which, fleet.shared.plan())?;
    let mut outcome = Outcome::default();
    for client in &clients {
        let Some(gauge) = fleet.shared.gauges().get(*client as usize) else {
            continue;
        };
        let orders = gauge.orders();
        match next_command(what, orders.command, gauge.state()) {
            Ok(command) => outcome.orders.push((*client, orders.told(command))),
            Err(why) => outcome.leave(why),
        }
    }
    let wanted = Wanted {
        what,
        which: &tell.which,
        dry_run: tell.dry_run,
        named: clients.len() as u32,
        holds: match what {
            ChangeKind::Start | ChangeKind::Set => "at once",
            ChangeKind::Stop => "when the operation has ended that a client is at",
            ChangeKind::Quiesce => "when the file has ended that a client is at, or its grace",
        }
        .into(),
    };
    Ok((wanted, outcome))
}

/// Returns the new desired state of a client, or the reason why it is unchanged.
fn next_command(
    what: ChangeKind,
    now: DesiredState,
    state: ClientState,
) -> Result<DesiredState, &'static str> {
    if state == ClientState::Failed {
        return Err("gave up, and does not begin again in this run");
    }
    if state == ClientState::Stopped && now == DesiredState::Run {
        return Err("had done enough by the plan, and does not begin again in this run");
    }
    match (what, now) {
        (ChangeKind::Start, DesiredState::Run) => Err("not stopped"),
        (ChangeKind::Start | ChangeKind::Set, _) => Ok(DesiredState::Run),
        (ChangeKind::Stop, DesiredState::Stop) => Err("told to stop already"),
        (ChangeKind::Stop, _) if state == ClientState::Stopped => Err("stopped already"),
        (ChangeKind::Stop, _) => Ok(DesiredState::Stop),
        (ChangeKind::Quiesce, DesiredState::Quiesce) => Err("told to quiesce already"),
        (ChangeKind::Quiesce, DesiredState::Stop) => Err("told to stop already"),
        (ChangeKind::Quiesce, DesiredState::Run) => Ok(DesiredState::Quiesce),
    }
}

fn told_settings(fleet: &FleetState<'_>, set: &SetRequest) -> Changed {
    match set_all(fleet, set) {
        Ok((wanted, outcome)) => execute(fleet, &wanted, outcome),
        Err(refusal) => (Err(refusal), None),
    }
}

fn set_all<'s>(
    fleet: &FleetState<'_>,
    set: &'s SetRequest,
) -> Result<(Wanted<'s>, Outcome), Refusal> {
    refuse_if_nothing_can_change(fleet)?;
    let shared = fleet.shared;
    let values = settings_of(&set.settings)?;
    if values.is_empty() {
        return Err(
            Refusal::new("nothing is to be changed").with_help("name a setting: rate=5Mbit/s")
        );
    }
    let clients = clients_of(&set.which, shared.plan())?;
    let groups = groups_of(shared.plan(), &clients);
    let mut outcome = Outcome::default();
    // Maps each settings index in use by the clients to its new index.
    let mut places: Vec<(u32, u32)> = Vec::new();
    for client in &clients {
        let Some(gauge) = shared.gauges().get(*client as usize) else {
            continue;
        };
        let orders = gauge.orders();
        let mut known = places.iter();
        let known = known.find(|(before, _)| *before == orders.settings);
        let known = known.map(|(_, after)| *after);
        let settings = match known {
            Some(after) => after,
            None => {
                let after = new_place(shared, orders.settings, &groups, &values)?;
                places.push((orders.settings, after));
                after
            }
        };
        if settings == orders.settings {
            outcome.leave(why_left(shared, settings, &groups, &values));
            continue;
        }
        outcome
            .orders
            .push((*client, ClientControl { settings, ..orders }));
    }
    for (before, after) in places {
        note_settings(shared, before, after, &values, &mut outcome);
    }
    let mut holds = values.iter().map(|value| value.setting.effective_from);
    let is_late = holds.any(|from| from == EffectiveFrom::NextFile);
    let wanted = Wanted {
        what: ChangeKind::Set,
        which: &set.which,
        dry_run: set.dry_run,
        named: clients.len() as u32,
        holds: if is_late {
            EffectiveFrom::NextFile.name().into()
        } else {
            EffectiveFrom::NextTransfer.name().into()
        },
    };
    Ok((wanted, outcome))
}

/// Returns the reason why a named client is unchanged.
fn why_left(
    shared: &SharedFleet,
    settings: u32,
    groups: &[&GroupPlan],
    values: &[SettingUpdate<'_>],
) -> &'static str {
    match shared.settings(settings) {
        Some(now) if values_for(&now.group, groups, values).is_empty() => {
            "its group has no use for it"
        }
        _ => "so already",
    }
}

/// Returns the groups of the clients.
fn groups_of<'f>(fleet: &'f FleetPlan, clients: &[u32]) -> Vec<&'f GroupPlan> {
    let members = clients.iter().filter_map(|client| fleet.member(*client));
    let places: BTreeSet<usize> = members.map(|member| member.place).collect();
    let groups = places
        .into_iter()
        .filter_map(|place| fleet.groups.get(place));
    groups.collect()
}

/// Returns the index of these settings with the new values, restricted to values that apply to the
/// client's group.
fn new_place(
    shared: &SharedFleet,
    before: u32,
    groups: &[&GroupPlan],
    values: &[SettingUpdate<'_>],
) -> Result<u32, Refusal> {
    let settings = shared
        .settings(before)
        .ok_or_else(|| Refusal::new("the client goes by no settings"))?;
    let values = values_for(&settings.group, groups, values);
    let group = changed(shared.plan(), settings.place, &settings.group, &values)?;
    if group == settings.group {
        return Ok(before);
    }
    shared.place_of(group, settings.place).ok_or_else(|| {
        Refusal::new("clients of this run have had as many different settings as they can")
    })
}

fn note_settings(
    shared: &SharedFleet,
    before: u32,
    after: u32,
    values: &[SettingUpdate<'_>],
    outcome: &mut Outcome,
) {
    let (Some(old), Some(new)) = (shared.settings(before), shared.settings(after)) else {
        return;
    };
    let gauges = shared.gauges();
    let of_these = |(client, _): &&(u32, ClientControl)| {
        let gauge = gauges.get(*client as usize);
        gauge.is_some_and(|gauge| gauge.orders().settings == before)
    };
    let clients = outcome.orders.iter().filter(of_these).count() as u32;
    for SettingUpdate { setting, .. } in values {
        let (from, to) = (setting.show(&old.group), setting.show(&new.group));
        if from != to {
            outcome.change(SettingChange {
                key: setting.key.into(),
                from,
                to,
                clients,
            });
        }
    }
}

fn refuse_if_nothing_can_change(fleet: &FleetState<'_>) -> Result<(), Refusal> {
    if fleet.is_over {
        return Err(Refusal::new("the run is over: nothing begins any more"));
    }
    if fleet.changes >= CHANGES_MAX {
        let what = format!("the run has been changed {CHANGES_MAX} times, the most that it keeps");
        return Err(Refusal::new(what).with_help("end it with ^C, and begin another"));
    }
    Ok(())
}

/// Sends the new control words to the clients, unless it is a dry run.
fn execute(fleet: &FleetState<'_>, wanted: &Wanted<'_>, outcome: Outcome) -> Changed {
    let clients = outcome.orders.len() as u32;
    let number = (clients > 0 && !wanted.dry_run).then_some(fleet.changes + 1);
    let record = number.map(|number| {
        for (client, orders) in &outcome.orders {
            fleet.shared.order(*client, *orders);
        }
        fleet.shared.control_epoch().increase();
        ChangeRecord {
            number,
            sent_ns: fleet.now.nanos(),
            action: wanted.what,
            selector: wanted.which.into(),
            clients,
            applied_ns: None,
            settings: outcome.settings.clone(),
        }
    });
    let view = ChangeView {
        what: wanted.what,
        dry_run: wanted.dry_run,
        number,
        at_ns: fleet.now.nanos(),
        named: wanted.named,
        changed: clients,
        unchanged: outcome.unchanged,
        settings: outcome.settings,
        holds: wanted.holds.clone(),
    };
    (Ok(Answer::Change(view)), record)
}
