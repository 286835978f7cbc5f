//! Numbers in a job of the clients of one host.

/// Mapping from the clients of one host, which are numbered from 0, to their numbers in the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientIndexMap {
    /// Number in the job of the first client.
    pub first: u32,
    /// Difference between the numbers of consecutive clients.
    pub step: u32,
}

impl ClientIndexMap {
    /// Mapping of a host that has all clients.
    pub const ALL: Self = Self { first: 0, step: 1 };

    /// Returns the number in the job of client `place`.
    pub const fn number_of(self, place: u32) -> u32 {
        self.first.saturating_add(place.saturating_mul(self.step))
    }
}
