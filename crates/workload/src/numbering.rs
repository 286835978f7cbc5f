//! Which clients of a job those of one host are.

/// The numbers in a job of the clients that one host has, which it counts from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientIndexMap {
    /// That of its first client.
    pub first: u32,
    /// From one to the next.
    pub step: u32,
}

impl ClientIndexMap {
    /// That of a host which has all clients.
    pub const ALL: Self = Self { first: 0, step: 1 };

    /// The number in the job of client `place`.
    pub const fn number_of(self, place: u32) -> u32 {
        self.first.saturating_add(place.saturating_mul(self.step))
    }
}
