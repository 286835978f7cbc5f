//! The part of a job that one host of several does.
//!
//! A job's clients are dealt as a worker's are: part `i` of `n` has the clients `i`, `i + n`,
//! `i + 2n`, … of the job. In its plan they are numbered from 0 on, and so are their connections
//! and files; whatever makes a client this one and no other (its random streams, its first due
//! moment, its address, the lengths of its files) follows its number in the job.

use crate::plan::ArrivalsPlan;
use filestone_workload::numbering::ClientIndexMap;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which part of a job a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobPartition {
    /// Its number, from 0 on.
    pub index: u32,
    /// How many parts there are.
    pub parts: u32,
    /// Clients of all parts together.
    pub clients: u32,
    /// When the operations of all parts together are due.
    pub arrivals: ArrivalsPlan,
    /// Measured operations of all parts together, if a count ends the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl JobPartition {
    /// The numbers of its clients in the job.
    pub const fn numbering(&self) -> ClientIndexMap {
        ClientIndexMap {
            first: self.index,
            step: self.parts,
        }
    }

    /// The number in the job of this part's client `place`.
    pub const fn number_of(&self, place: u32) -> u32 {
        self.numbering().number_of(place)
    }

    /// How many of the job's clients this part has.
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
