//! Several loads, including none, in turn, to separate the cost of operations from the background.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// Several loads, including none, in turn. Time is divided into cycles, and each cycle into steps
/// of equal length: one without operations, one at each multiple of the lowest load up to the
/// highest, and all of these once more in the opposite order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelsPlan {
    /// The highest load, of all clients together.
    pub highest_load_ops_per_s: f64,
    /// Number of loads other than zero.
    pub levels: u32,
    /// Length of a step.
    pub level_ns: u64,
}

impl LevelsPlan {
    /// Returns the length of a cycle, two steps of each load, in nanoseconds.
    pub fn cycle_ns(self) -> u64 {
        let steps = 2 * (u64::from(self.levels) + 1);
        self.level_ns.saturating_mul(steps).max(1)
    }

    /// Returns the mean offered load over whole cycles, in operations per second. The mean of 0,
    /// 1/n … n/n is one half for every n.
    pub fn mean_ops_per_s(self) -> f64 {
        self.highest_load_ops_per_s / 2.0
    }

    /// Returns the load of a level, in operations per second; level 0 has no load.
    pub fn load_ops_per_s(self, level: u32) -> f64 {
        self.highest_load_ops_per_s * f64::from(level) / f64::from(self.levels.max(1))
    }

    /// Whether each client has an operation in each step with a load.
    pub fn has_operations(self, clients: u32) -> bool {
        let lowest = self.load_ops_per_s(1) * self.level_ns as f64 / 1e9;
        lowest >= f64::from(clients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 ms of 0, 1,000, 2,000 and 3,000 operations per second.
    #[test]
    fn the_loads_are_those_on_paper() {
        let levels = LevelsPlan {
            highest_load_ops_per_s: 3000.0,
            levels: 3,
            level_ns: 100_000_000,
        };
        assert_eq!(levels.mean_ops_per_s(), 1500.0);
        assert_eq!(levels.cycle_ns(), 800_000_000);
        assert_eq!(
            (0..4).map(|it| levels.load_ops_per_s(it)).sum::<f64>(),
            6000.0
        );
        assert!(levels.has_operations(100));
        assert!(!levels.has_operations(101));
    }
}
