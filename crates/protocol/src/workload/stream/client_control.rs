//! Control of a running client: its settings, and its desired state.
//!
//! A single number per client, written by the fleet controller and read by the client's worker when
//! it asks the client for its next operation. There are no locks and no waits.

use filestone_plan::plan::GroupPlan;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Maximum number of different settings that the clients of a fleet can have in one run, those of
/// the plan included.
pub const SETTINGS_MAX: usize = 4096;

/// Desired state of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DesiredState {
    /// The client runs.
    #[default]
    Run = 0,
    /// The client finishes its file, then waits for [`DesiredState::Run`].
    Quiesce = 1,
    /// The client finishes its operation, closes its file, then waits for [`DesiredState::Run`].
    Stop = 2,
}

/// Control word of a client: its settings and desired state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientControl {
    /// Index of its settings.
    pub settings: u32,
    /// The desired state.
    pub command: DesiredState,
    /// Number of desired states sent until now, modulo 2³⁰.
    pub number: u32,
}

const NUMBER_MASK: u32 = (1 << 30) - 1;

impl ClientControl {
    /// Returns the initial control word of a client.
    pub const fn of_group(place: usize) -> Self {
        Self {
            settings: place as u32,
            command: DesiredState::Run,
            number: 0,
        }
    }

    /// Returns the control word with this desired state and the next number.
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

/// Settings of clients, with their group and data pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveSettings {
    /// The group with these settings.
    pub group: GroupPlan,
    /// Index of the group in the plan.
    pub place: usize,
    /// Index of its pattern among the payloads.
    pub pattern: usize,
}

/// All settings that clients of a run have had. Append-only: a client may still use old ones.
#[derive(Debug)]
pub(super) struct SettingsTable {
    rows: Box<[OnceLock<Box<ActiveSettings>>]>,
    used: AtomicU32,
}

impl SettingsTable {
    /// Creates a table with the settings of the plan, in order.
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

    /// Returns the index of these settings, adding them if new; `None` if the table is full.
    pub fn place_of(&self, wanted: ActiveSettings) -> Option<u32> {
        let known = (0..self.used.load(Ordering::Acquire)).find(|place| {
            let row = self.row(*place);
            row.is_some_and(|row| *row == wanted)
        });
        known.or_else(|| self.add(wanted))
    }

    /// Only the fleet controller adds, one at a time.
    fn add(&self, row: ActiveSettings) -> Option<u32> {
        let place = self.used.load(Ordering::Acquire);
        self.rows.get(place as usize)?.set(Box::new(row)).ok()?;
        self.used.store(place + 1, Ordering::Release);
        Some(place)
    }
}

/// Number of control words sent: a worker that sees it grow polls its waiting clients again.
#[derive(Debug, Clone, Default)]
pub struct ControlEpoch(Arc<AtomicU64>);

impl ControlEpoch {
    /// Increments the number. Control words stored before are visible to a thread that sees the new
    /// number.
    pub fn increase(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Returns the current number.
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
