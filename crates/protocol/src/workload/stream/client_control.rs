//! What a client is told while it runs: by which settings it goes, and whether it goes on.
//!
//! One number for each client, which whoever controls the fleet writes and the client's worker reads
//! when it asks the client what is next. Nothing is locked, and nothing waits.

use filestone_plan::plan::GroupPlan;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Different settings that the clients of a fleet can have in one run, those of the plan included.
pub const SETTINGS_MAX: usize = 4096;

/// Whether a client goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DesiredState {
    /// It does.
    #[default]
    Run = 0,
    /// It ends its file, and waits until it is to go on.
    Quiesce = 1,
    /// It ends its operation, closes its file, and waits likewise.
    Stop = 2,
}

/// What a client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientControl {
    /// The place of its settings.
    pub settings: u32,
    /// Whether it goes on.
    pub command: DesiredState,
    /// How often it was told whether to go on, modulo 2³⁰.
    pub number: u32,
}

const NUMBER_MASK: u32 = (1 << 30) - 1;

impl ClientControl {
    /// Those of a client to which nothing has been told.
    pub const fn of_group(place: usize) -> Self {
        Self {
            settings: place as u32,
            command: DesiredState::Run,
            number: 0,
        }
    }

    /// The same, and it is told this.
    #[must_use]
    pub const fn told(self, command: DesiredState) -> Self {
        Self {
            command,
            number: self.number.wrapping_add(1) & NUMBER_MASK,
            ..self
        }
    }

    pub(super) fn packed(self) -> u64 {
        u64::from(self.settings) << 32 | u64::from(self.number << 2) | self.command as u64
    }

    pub(super) fn unpacked(packed: u64) -> Self {
        Self {
            settings: (packed >> 32) as u32,
            command: match packed & 3 {
                0 => DesiredState::Run,
                1 => DesiredState::Quiesce,
                _ => DesiredState::Stop,
            },
            number: packed as u32 >> 2,
        }
    }
}

/// Settings that clients go by, and what their data are.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveSettings {
    /// The group with these settings.
    pub group: GroupPlan,
    /// The place of the group in the plan.
    pub place: usize,
    /// The place of its pattern among the payloads.
    pub pattern: usize,
}

/// All settings that clients of a run have had. Only added to: a client may still go by old ones.
#[derive(Debug)]
pub(super) struct SettingsTable {
    rows: Box<[OnceLock<Box<ActiveSettings>>]>,
    used: AtomicU32,
}

impl SettingsTable {
    /// Those of the plan, one after the other.
    pub fn new(rows: impl Iterator<Item = ActiveSettings>) -> Self {
        let table = Self {
            rows: (0..SETTINGS_MAX).map(|_| OnceLock::new()).collect(),
            used: AtomicU32::new(0),
        };
        for row in rows {
            table.add(row);
        }
        table
    }

    pub fn row(&self, place: u32) -> Option<&ActiveSettings> {
        let row = self.rows.get(place as usize)?;
        row.get().map(|row| &**row)
    }

    /// The place of these settings; `None` if there is no room for more.
    pub fn place_of(&self, wanted: ActiveSettings) -> Option<u32> {
        let known = (0..self.used.load(Ordering::Acquire)).find(|place| {
            let row = self.row(*place);
            row.is_some_and(|row| *row == wanted)
        });
        known.or_else(|| self.add(wanted))
    }

    /// Only who controls the fleet adds, one after the other.
    fn add(&self, row: ActiveSettings) -> Option<u32> {
        let place = self.used.load(Ordering::Acquire);
        self.rows.get(place as usize)?.set(Box::new(row)).ok()?;
        self.used.store(place + 1, Ordering::Release);
        Some(place)
    }
}

/// How often clients were told something: a worker that sees it grow asks those again that wait.
#[derive(Debug, Clone, Default)]
pub struct ControlEpoch(Arc<AtomicU64>);

impl ControlEpoch {
    /// What was told before this can be seen by who sees the new number.
    pub fn increase(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// The number at present.
    #[inline]
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_plan::plan::Direction;

    #[test]
    fn orders_are_one_number() {
        let mut orders = ClientControl::of_group(4095);
        assert_eq!(ClientControl::unpacked(orders.packed()), orders);
        orders.number = NUMBER_MASK;
        for command in [DesiredState::Run, DesiredState::Quiesce, DesiredState::Stop] {
            let told = orders.told(command);
            assert_eq!((told.number, told.settings), (0, 4095));
            assert_eq!(ClientControl::unpacked(told.packed()), told);
            let before = ClientControl { command, ..orders };
            assert_eq!(ClientControl::unpacked(before.packed()), before);
        }
    }

    #[test]
    fn settings_that_are_known_have_one_place() {
        let row = |files| ActiveSettings {
            group: GroupPlan {
                files,
                ..GroupPlan::new("a", 1, Direction::Write)
            },
            place: 0,
            pattern: 0,
        };
        let table = SettingsTable::new(std::iter::once(row(1)));
        assert_eq!(table.place_of(row(1)), Some(0));
        assert_eq!(table.place_of(row(2)), Some(1));
        assert_eq!(table.place_of(row(1)), Some(0));
        let others = (3..=SETTINGS_MAX as u32).map(|files| table.place_of(row(files)));
        assert!(others.eq((2..SETTINGS_MAX as u32).map(Some)));
        assert_eq!(table.place_of(row(u32::MAX)), None);
        assert_eq!(table.place_of(row(7)), Some(6));
    }
}
