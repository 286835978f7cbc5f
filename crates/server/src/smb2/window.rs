//! Credits: the message IDs that a client may use (MS-SMB2, sections 3.3.1.1 and 3.3.1.2).

use std::collections::VecDeque;

/// Message IDs granted to a client, and the used ones among them.
#[derive(Debug)]
pub struct Window {
    /// Lowest unused ID.
    low: u64,
    /// For IDs from `low` up to the highest used one: whether each is used.
    used: VecDeque<bool>,
    /// Number of used IDs in `used`.
    used_count: u64,
    /// First ID that is not granted.
    end: u64,
    /// Largest number of IDs that a client may have at once.
    most: u64,
}

impl Window {
    /// Creates a window with one granted ID, 0.
    pub fn new(most: u16) -> Self {
        Self {
            low: 0,
            used: VecDeque::new(),
            used_count: 0,
            end: 1,
            most: most.max(1).into(),
        }
    }

    /// Consumes `charge` IDs from `id` on; false if one of them was not granted or is used.
    pub fn take(&mut self, id: u64, charge: u16) -> bool {
        let charge = u64::from(charge.max(1));
        let Some(last) = id.checked_add(charge - 1) else {
            return false;
        };
        if id < self.low || last >= self.end {
            return false;
        }
        let places = (id - self.low) as usize..(last - self.low) as usize + 1;
        if self
            .used
            .range(places.start.min(self.used.len())..places.end.min(self.used.len()))
            .any(|used| *used)
        {
            return false;
        }
        if self.used.len() < places.end {
            self.used.resize(places.end, false);
        }
        for place in self.used.range_mut(places) {
            *place = true;
        }
        self.used_count += charge;
        while self.used.front() == Some(&true) {
            self.used.pop_front();
            self.used_count -= 1;
            self.low += 1;
        }
        true
    }

    /// Grants as many of the requested IDs as the limit permits; one if the client has none left.
    ///
    /// A client that never uses an ID cannot get further than twice its window.
    pub fn grant(&mut self, asked: u16) -> u16 {
        let unused = self.end - self.low - self.used_count;
        let asked = u64::from(asked).max(u64::from(unused == 0));
        let room = self.most.saturating_sub(unused);
        let range = (2 * self.most).saturating_sub(self.end - self.low);
        let granted = asked.min(room).min(range);
        self.end += granted;
        granted as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_used_once_and_only_if_it_was_granted() {
        let mut window = Window::new(8);
        assert!(!window.take(1, 1));
        assert!(window.take(0, 1));
        assert!(!window.take(0, 1));
        assert_eq!(window.grant(4), 4);
        assert!(window.take(3, 2));
        assert!(!window.take(2, 2), "one of two");
        assert!(window.take(1, 2));
        assert!(!window.take(5, 1));
        assert!(!window.take(u64::MAX, 2));
    }

    #[test]
    fn no_more_are_granted_than_the_client_may_have() {
        let mut window = Window::new(8);
        assert_eq!(window.grant(100), 7, "one it had");
        assert_eq!(window.grant(1), 0);
        for id in 1..8 {
            assert!(window.take(id, 1));
        }
        assert_eq!(window.grant(100), 7);
        for id in 8..15 {
            assert!(window.take(id, 1));
        }
        // ID 0 is still unused: the range is twice the window, and no longer.
        assert_eq!(window.grant(100), 1);
        assert_eq!(window.grant(100), 0);
        assert!(window.take(15, 1) && window.take(0, 1));
        assert_eq!(window.grant(0), 1, "who has none gets one");
    }
}
