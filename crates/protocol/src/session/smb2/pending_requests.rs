//! Unanswered requests by MessageId.

use rustc_hash::FxHashMap;

/// A request being sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentRequest {
    pub message_id: u64,
    pub charge: u16,
    /// Whether it opens a file that no request sent with it closes.
    pub stays_open: bool,
}

/// Origin of an outstanding request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestOrigin {
    pub owner: ResponseRecipient,
    pub part: u8,
    pub charge: u16,
    /// Whether it opens a file that no request sent with it closes.
    pub stays_open: bool,
}

/// Recipient of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseRecipient {
    /// A chain.
    Slot(u32),
    /// An aborted chain.
    Nobody,
    /// No recipient from the beginning: the request is an acknowledgement or a CLOSE.
    Aside,
}

impl RequestOrigin {
    /// Creates the origin of a request of the chain in a slot.
    #[inline]
    pub fn of(slot: u32, part: u8, taken: SentRequest) -> Self {
        Self {
            owner: ResponseRecipient::Slot(slot),
            part,
            charge: taken.charge,
            stays_open: taken.stays_open,
        }
    }
}

/// Requests by MessageId.
///
/// MessageIds count up, and most requests are answered roughly in order: each request is stored at
/// the index of the low bits of its MessageId. Only if that entry is occupied by an older request,
/// the request goes to the hash map.
#[derive(Debug)]
pub(super) struct PendingRequests {
    near: Box<[Option<(u64, RequestOrigin)>]>,
    far: FxHashMap<u64, RequestOrigin>,
}

impl PendingRequests {
    /// Creates a table for `count` requests.
    pub fn new(count: usize) -> Self {
        Self {
            near: vec![None; count.next_power_of_two()].into_boxed_slice(),
            far: FxHashMap::default(),
        }
    }

    /// Removes all requests.
    pub fn clear(&mut self) {
        self.near.fill(None);
        self.far.clear();
    }

    #[inline]
    fn near_mut(&mut self, message_id: u64) -> Option<&mut Option<(u64, RequestOrigin)>> {
        let at = message_id as usize & (self.near.len() - 1);
        self.near.get_mut(at)
    }

    /// Adds a request.
    #[inline]
    pub fn insert(&mut self, message_id: u64, place: RequestOrigin) {
        match self.near_mut(message_id) {
            Some(room @ None) => *room = Some((message_id, place)),
            _ => {
                self.far.insert(message_id, place);
            }
        }
    }

    /// Returns the request with this MessageId.
    pub fn get_mut(&mut self, message_id: u64) -> Option<&mut RequestOrigin> {
        let at = message_id as usize & (self.near.len() - 1);
        match self.near.get_mut(at) {
            Some(Some((id, place))) if *id == message_id => Some(place),
            _ => self.far.get_mut(&message_id),
        }
    }

    /// Removes and returns the request with this MessageId, which was answered.
    #[inline]
    pub fn take(&mut self, message_id: u64) -> Option<RequestOrigin> {
        let near = self.near_mut(message_id);
        let near = near.and_then(|near| near.take_if(|(id, _)| *id == message_id));
        match near {
            Some((_, place)) => Some(place),
            None => self.far.remove(&message_id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(slot: u32) -> RequestOrigin {
        let taken = SentRequest {
            message_id: 0,
            charge: 1,
            stays_open: false,
        };
        RequestOrigin::of(slot, 0, taken)
    }

    #[test]
    fn who_waits_for_long_keeps_its_place_and_nobody_else_is_taken_for_it() {
        let mut places = PendingRequests::new(3);
        // With four entries, 1, 5 and 9 share one.
        for id in [1, 2, 5, 9] {
            places.insert(id, place(id as u32));
        }
        assert_eq!(places.take(13), None);
        assert_eq!(places.take(5), Some(place(5)));
        assert_eq!(places.take(5), None);
        assert_eq!(places.take(1), Some(place(1)));
        // The entry is free, and 9 is still in the map.
        places.insert(13, place(13));
        assert_eq!(places.get_mut(9), Some(&mut place(9)));
        assert_eq!(places.take(13), Some(place(13)));
        assert_eq!(places.take(9), Some(place(9)));
        assert_eq!(places.take(2), Some(place(2)));
        places.insert(u64::MAX, place(7));
        places.clear();
        assert_eq!(places.take(u64::MAX), None);
    }
}
