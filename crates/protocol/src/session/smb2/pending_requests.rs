//! Which request has which MessageId, of those that are not answered.

use rustc_hash::FxHashMap;

/// A request that goes out.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentRequest {
    pub message_id: u64,
    pub charge: u16,
    /// Whether it opens what nothing closes that goes out with it.
    pub stays_open: bool,
}

/// Where a request is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub owner: Owner,
    pub part: u8,
    pub charge: u16,
    /// Whether what it opens stays open after what went out with it.
    pub stays_open: bool,
}

/// Who waits for a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A chain.
    Slot(u32),
    /// A chain that was given up.
    Nobody,
    /// Nobody, from the beginning: it is to an acknowledgement, or a CLOSE.
    Aside,
}

impl Place {
    /// Of a request of the chain in a slot.
    #[inline]
    pub fn of(slot: u32, part: u8, taken: SentRequest) -> Self {
        Self {
            owner: Owner::Slot(slot),
            part,
            charge: taken.charge,
            stays_open: taken.stays_open,
        }
    }
}

/// Requests by MessageId.
///
/// These count up, and most requests are answered in about the order in which they went out: each
/// has its place by the last digits of its number, and only what finds somebody there who has waited
/// for long is looked up by all of them.
#[derive(Debug)]
pub(super) struct PendingRequests {
    near: Box<[Option<(u64, Place)>]>,
    far: FxHashMap<u64, Place>,
}

impl PendingRequests {
    /// With room for so many.
    pub fn new(count: usize) -> Self {
        Self {
            near: vec![None; count.next_power_of_two()].into_boxed_slice(),
            far: FxHashMap::default(),
        }
    }

    /// There are none any more.
    pub fn clear(&mut self) {
        self.near.fill(None);
        self.far.clear();
    }

    #[inline]
    fn near_mut(&mut self, message_id: u64) -> Option<&mut Option<(u64, Place)>> {
        let at = message_id as usize & (self.near.len() - 1);
        self.near.get_mut(at)
    }

    /// One more.
    #[inline]
    pub fn insert(&mut self, message_id: u64, place: Place) {
        match self.near_mut(message_id) {
            Some(room @ None) => *room = Some((message_id, place)),
            _ => {
                self.far.insert(message_id, place);
            }
        }
    }

    /// The one with this number.
    pub fn get_mut(&mut self, message_id: u64) -> Option<&mut Place> {
        let at = message_id as usize & (self.near.len() - 1);
        match self.near.get_mut(at) {
            Some(Some((id, place))) if *id == message_id => Some(place),
            _ => self.far.get_mut(&message_id),
        }
    }

    /// The one with this number, which is answered.
    #[inline]
    pub fn take(&mut self, message_id: u64) -> Option<Place> {
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

    fn place(slot: u32) -> Place {
        let taken = SentRequest {
            message_id: 0,
            charge: 1,
            stays_open: false,
        };
        Place::of(slot, 0, taken)
    }

    #[test]
    fn who_waits_for_long_keeps_its_place_and_nobody_else_is_taken_for_it() {
        let mut places = PendingRequests::new(3);
        // Of four places, 1 and 5 and 9 share one.
        for id in [1, 2, 5, 9] {
            places.insert(id, place(id as u32));
        }
        assert_eq!(places.take(13), None);
        assert_eq!(places.take(5), Some(place(5)));
        assert_eq!(places.take(5), None);
        assert_eq!(places.take(1), Some(place(1)));
        // The place is free, and 9 is where it was.
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
