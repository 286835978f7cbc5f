//! The part of a job that one of several hosts runs.
//!
//! A job's clients are split over hosts as over workers: part `i` of `n` has the clients `i`,
//! `i + n`, `i + 2n`, … of the job. In the plan of a part they are numbered from 0, and so are
//! their connections and files; everything that distinguishes one client from another (its random
//! streams, its first due time, its address, the lengths of its files) depends on its number in the
//! job.

use crate::JsonSchema;
use crate::plan::ArrivalsPlan;
use filestone_workload::numbering::ClientIndexMap;
use serde::{Deserialize, Serialize};

/// Partition of a job: the part that a plan runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPartition {
    /// Number of the part, from 0.
    pub index: u32,
    /// Number of parts.
    pub parts: u32,
    /// Clients of all parts together.
    pub clients: u32,
    /// Arrivals of all parts together.
    pub arrivals: ArrivalsPlan,
    /// Measured operations of all parts together, if a count ends the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl JobPartition {
    /// Returns the numbers of the part's clients in the job.
    pub const fn numbering(&self) -> ClientIndexMap {
        ClientIndexMap {
            first: self.index,
            step: self.parts,
        }
    }

    /// Returns the number in the job of this part's client `place`.
    pub const fn number_of(&self, place: u32) -> u32 {
        self.numbering().number_of(place)
    }

    /// Returns the number of clients of this part.
    pub const fn own_clients(&self) -> u32 {
        let parts = if self.parts == 0 { 1 } else { self.parts };
        self.clients.saturating_sub(self.index).div_ceil(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_of_a_job_is_in_one_part() {
        for (clients, parts) in [(1, 1), (7, 3), (8, 4), (5, 5)] {
            let mut all = Vec::new();
            for index in 0..parts {
                let part = JobPartition {
                    index,
                    parts,
                    clients,
                    arrivals: ArrivalsPlan::Closed,
                    count: None,
                };
                all.extend((0..part.own_clients()).map(|place| part.number_of(place)));
            }
            all.sort_unstable();
            assert_eq!(all, (0..clients).collect::<Vec<u32>>());
        }
    }
}
