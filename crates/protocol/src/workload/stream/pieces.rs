//! Transfers of a file: pieces of one length, sequential or in random order, each once.

use filestone_workload::payload::unit::HEAD_LEN;
use filestone_workload::random::mix;

/// Offset and length of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FilePiece {
    pub offset: u64,
    pub len: u64,
}

/// The pieces of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Pieces {
    start: u64,
    end: u64,
    /// Length of each piece except the last.
    len: u64,
    /// Minimum length of the last piece, which takes missing bytes from the one before.
    least: u64,
    /// Seed of the random order, if the order is random.
    order: Option<u64>,
}

impl Pieces {
    /// Creates the pieces of a file from `start` to `end`, `len` bytes each. With heads, no piece
    /// is shorter than a head.
    pub fn new(start: u64, end: u64, len: u64, has_heads: bool) -> Self {
        let (len, head) = (len.max(1), HEAD_LEN as u64);
        Self {
            start,
            end,
            len,
            // Reads shorter than a head may cut through heads.
            least: if has_heads && len >= 2 * head {
                head
            } else {
                1
            },
            order: None,
        }
    }

    /// Returns the pieces in a random order with this seed.
    #[must_use]
    pub fn in_order_of(self, number: u64) -> Self {
        Self {
            order: Some(number),
            ..self
        }
    }

    pub fn is_in_drawn_order(&self) -> bool {
        self.order.is_some()
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns the number of pieces.
    pub fn count(&self) -> u64 {
        self.end.saturating_sub(self.start).div_ceil(self.len)
    }

    /// Returns the position in the file of the piece moved as number `turn`, counted from 0.
    pub fn place(&self, turn: u64) -> u64 {
        match self.order {
            Some(seed) => drawn_place(seed, turn, self.count()),
            None => turn,
        }
    }

    /// Returns the piece at that position.
    pub fn at(&self, place: u64) -> FilePiece {
        let all = self.end.saturating_sub(self.start);
        let last = self.count().saturating_sub(1);
        let rest = all.saturating_sub(last.saturating_mul(self.len));
        let lacks = if last > 0 {
            self.least.saturating_sub(rest)
        } else {
            0
        };
        let begin = self.start.saturating_add(place.saturating_mul(self.len));
        if place == last {
            return FilePiece {
                offset: begin.saturating_sub(lacks),
                len: rest + lacks,
            };
        }
        let is_before_last = place.saturating_add(1) == last;
        FilePiece {
            offset: begin,
            len: self.len - if is_before_last { lacks } else { 0 },
        }
    }
}

/// Returns number `turn` of a random permutation of the numbers below `count`: a Feistel network
/// over the next power of four, repeated until the result is below `count` (Black and Rogaway,
/// CT-RSA 2002). So no client keeps a list of completed pieces.
fn drawn_place(seed: u64, turn: u64, count: u64) -> u64 {
    let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
    let half = bits.div_ceil(2);
    let mask = (1_u64 << half) - 1;
    let mut place = turn;
    loop {
        let (mut left, mut right) = (place >> half, place & mask);
        for round in 0..4_u64 {
            let drawn = mix(seed ^ mix(right ^ round << 56)) & mask;
            (left, right) = (right, left ^ drawn);
        }
        place = left << half | right;
        if place < count || count == 0 {
            return place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: Pieces) -> Vec<(u64, u64)> {
        let pieces = (0..pieces.count()).map(|place| pieces.at(place));
        pieces.map(|piece| (piece.offset, piece.len)).collect()
    }

    #[test]
    fn pieces_are_side_by_side_and_none_is_shorter_than_a_head() {
        let heads = |end| Pieces::new(0, end, 100, true);
        assert_eq!(all(heads(90)), [(0, 90)]);
        assert_eq!(all(heads(200)), [(0, 100), (100, 100)]);
        assert_eq!(all(heads(241)), [(0, 100), (100, 100), (200, 41)]);
        // The rest is 39 bytes; the piece before gives one.
        assert_eq!(all(heads(239)), [(0, 100), (100, 99), (199, 40)]);
        assert_eq!(all(Pieces::new(0, 239, 100, false))[2], (200, 39));
        assert_eq!(all(Pieces::new(50, 101, 50, false)), [(50, 50), (100, 1)]);
        assert_eq!(all(Pieces::new(0, 33, 16, true))[2], (32, 1));
        assert!(all(Pieces::new(7, 7, 16, true)).is_empty());
    }

    #[test]
    fn a_drawn_order_has_each_piece_once_and_is_the_same_again() {
        for count in [1, 2, 3, 4, 5, 100, 245, 1000] {
            let pieces = Pieces::new(0, count * 80, 80, true).in_order_of(7);
            let order: Vec<u64> = (0..count).map(|turn| pieces.place(turn)).collect();
            let again = pieces.in_order_of(7);
            assert!(
                order
                    .iter()
                    .zip(0..)
                    .all(|(place, turn)| *place == again.place(turn))
            );
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count), "{order:?}");
        }
        // As in a random permutation, about one of a thousand keeps its position.
        let pieces = Pieces::new(0, 80_000, 80, true);
        let of = |seed| pieces.in_order_of(seed);
        let fixed: usize = (0..100)
            .map(|seed| {
                (0..1000)
                    .filter(|turn| of(seed).place(*turn) == *turn)
                    .count()
            })
            .sum();
        assert!((60..140).contains(&fixed), "{fixed}");
    }
}
