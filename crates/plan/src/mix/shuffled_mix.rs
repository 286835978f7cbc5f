//! The sequence of operations of a client that executes a mix.
//!
//! With independent random choices the mix would vary: an operation of 1 % has 600 ± 24 calls in
//! 60,000. So a client shuffles batches of 20 operations with the shares of the mix, and executes a
//! batch before it shuffles the next one. Fractions of an operation are carried over to the next
//! batch, so an operation of 0.01 % is in one of five hundred batches. nhfsstone approached its mix
//! with weights that it corrected during the run; here no correction is needed.

use crate::plan::MixCount;
use filestone_workload::operation::OpKind;
use filestone_workload::random::{Generator, RandomStream, RngExt, stream};

/// Number of operations per batch. Smaller batches would show in the order of the operations; with
/// larger ones, a run of many clients with few operations each would deviate more, because of
/// incomplete batches.
pub const CARDS: usize = 20;

/// Maximum length of a client's part of a counted run, in batches, for common batches of all
/// clients. These keep the mix exact in a run that ends within every client's first batch. In
/// longer runs separate batches are exact too, and keep each client's files in proportion.
const COMMON_MAX: u64 = 3;

/// Number of batches after which the starting states of clients repeat. A larger number would only
/// slow down the start of clients with high numbers.
const STARTS: u32 = 1000;

/// Number of kinds: the procedures of NFSv3.
const KINDS: usize = OpKind::STATELESS.len();

/// The operations of one client, in order.
#[derive(Debug, Clone)]
pub struct ShuffledMix {
    /// Counts of each kind, and their sum.
    counts: [u64; KINDS],
    sum: i128,
    /// Balance of each kind, in operations times `sum`: from −`sum` to twice `sum`. The sum of the
    /// balances is 0.
    owed: [i128; KINDS],
    cards: [OpKind; CARDS],
    /// Index of the next operation in the batch.
    next: usize,
    /// Operations from batches common to all clients, which come first.
    common: std::vec::IntoIter<OpKind>,
    generator: Generator,
}

impl ShuffledMix {
    /// Creates the sequence of client `client` in a run with this seed.
    ///
    /// The initial balances are those of client 0 after `client` batches. If all clients started
    /// with the same balances, a thousand of them would all have the one operation of 0.01 % in the
    /// same batch, or none would have it yet.
    pub fn new(counts: &[MixCount], client: u32, seed: u64) -> Self {
        let mut deck = Self {
            counts: [0; KINDS],
            sum: 0,
            owed: [0; KINDS],
            cards: [OpKind::Null; CARDS],
            next: CARDS,
            common: Vec::new().into_iter(),
            generator: stream(seed, RandomStream::Deck, u64::from(client)),
        };
        for count in counts {
            if let Some(place) = deck.counts.get_mut(count.operation.index()) {
                *place = place.saturating_add(count.count);
            }
        }
        deck.sum = deck.counts.iter().map(|count| i128::from(*count)).sum();
        for _ in 0..client % STARTS {
            deck.deal();
        }
        deck
    }

    /// Creates the sequence of client `client` of `clients` in a run of `count` operations in
    /// total. In a short run, clients take operations of common batches in turn.
    pub fn counted(counts: &[MixCount], client: u32, clients: u32, seed: u64, count: u64) -> Self {
        let mut deck = Self::new(counts, client, seed);
        let clients = u64::from(clients.max(1));
        if count <= COMMON_MAX * CARDS as u64 * clients {
            let mut common = Self::new(counts, 0, seed);
            let all = std::iter::from_fn(|| common.draw()).take(count as usize);
            let own = all.skip(client as usize).step_by(clients as usize);
            deck.common = own.collect::<Vec<_>>().into_iter();
        }
        deck
    }

    /// Returns the kind of the next operation; `None` if the mix is empty.
    #[inline]
    pub fn draw(&mut self) -> Option<OpKind> {
        if let Some(card) = self.common.next() {
            return Some(card);
        }
        if self.next >= CARDS {
            self.shuffle()?;
        }
        let card = self.cards.get(self.next).copied();
        self.next += 1;
        card
    }

    /// Fills the next batch and shuffles it (Fisher and Yates).
    fn shuffle(&mut self) -> Option<()> {
        if self.sum == 0 {
            return None;
        }
        let dealt = self.deal();
        let kinds = OpKind::STATELESS.iter().zip(dealt);
        let cards = kinds.flat_map(|(kind, count)| core::iter::repeat_n(*kind, count));
        for (place, kind) in self.cards.iter_mut().zip(cards) {
            *place = kind;
        }
        for last in (1..CARDS).rev() {
            self.cards.swap(last, self.generator.random_range(0..=last));
        }
        self.next = 0;
        Some(())
    }

    /// Returns the number of operations of each kind in the next batch: the whole operations of its
    /// balance; the remaining ones go to the kinds with the largest fractions.
    fn deal(&mut self) -> [usize; KINDS] {
        let mut dealt = [0; KINDS];
        let mut left = CARDS;
        if self.sum == 0 {
            return dealt;
        }
        for ((owed, count), dealt) in self.owed.iter_mut().zip(self.counts).zip(&mut dealt) {
            *owed += i128::from(count) * CARDS as i128;
            // Kinds with an operation in advance may have a negative balance; then the others have
            // more than a batch and must wait for the next one.
            let whole = (*owed / self.sum).clamp(0, left as i128);
            *owed -= whole * self.sum;
            *dealt = whole as usize;
            left -= *dealt;
        }
        for _ in 0..left {
            let asked = (0..KINDS).filter(|kind| self.counts[*kind] > 0);
            if let Some(most) = asked.max_by_key(|kind| (self.owed[*kind], KINDS - kind)) {
                self.owed[most] -= self.sum;
                dealt[most] += 1;
            }
        }
        dealt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// nhfsstone's mix of 1989, in percent.
    fn nhfsstone() -> Vec<MixCount> {
        MixCount::of(&[
            (OpKind::GetAttr, 13),
            (OpKind::SetAttr, 1),
            (OpKind::Lookup, 34),
            (OpKind::ReadLink, 8),
            (OpKind::Read, 22),
            (OpKind::Write, 15),
            (OpKind::Create, 2),
            (OpKind::Remove, 1),
            (OpKind::ReadDir, 3),
            (OpKind::FsStat, 1),
        ])
    }

    /// Shares that no batch can represent exactly.
    fn uneven() -> Vec<MixCount> {
        let shares = [3, 7, 0, 11, 1, 1, 1, 5000, 13, 17, 1, 0, 2, 999, 1, 23, 1];
        let kinds = OpKind::STATELESS.iter().copied();
        MixCount::of(&kinds.zip(shares).collect::<Vec<_>>())
    }

    /// Returns the number of operations of each kind among the next `number` ones.
    fn count(deck: &mut ShuffledMix, number: u64) -> [u64; KINDS] {
        let mut drawn = [0; KINDS];
        for _ in 0..number {
            drawn[deck.draw().expect("a mix for ever").index()] += 1;
        }
        drawn
    }

    #[test]
    fn after_any_number_of_draws_every_kind_is_within_a_few_cards_of_its_share() {
        for (counts, client) in [(nhfsstone(), 0), (uneven(), 0), (uneven(), 77)] {
            let sum: u64 = counts.iter().map(|count| count.count).sum();
            let mut deck = ShuffledMix::new(&counts, client, 1);
            let mut drawn = [0_u64; KINDS];
            for draws in 1..=100_000_u64 {
                drawn[deck.draw().expect("a mix").index()] += 1;
                for count in &counts {
                    let share = count.count as f64 / sum as f64;
                    let off = drawn[count.operation.index()] as f64 - draws as f64 * share;
                    // Within a batch the shuffle can put all operations of a kind first.
                    let within = CARDS as f64 * share * (1.0 - share);
                    assert!(off.abs() <= 2.0 + within, "{count:?} {draws}: {off}");
                    if draws % CARDS as u64 == 0 {
                        assert!(off.abs() <= 2.0, "{count:?} {draws}: {off}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_run_comes_out_exactly() {
        let mut deck = ShuffledMix::new(&nhfsstone(), 0, 7);
        let drawn = count(&mut deck, 100_000);
        for count in nhfsstone() {
            assert_eq!(drawn[count.operation.index()], 1000 * count.count);
        }
        let sum: u64 = uneven().iter().map(|count| count.count).sum();
        let drawn = count(&mut ShuffledMix::new(&uneven(), 0, 7), 100 * sum);
        for count in uneven() {
            assert_eq!(drawn[count.operation.index()], 100 * count.count);
        }
    }

    #[test]
    fn an_operation_of_a_hundredth_of_a_percent_comes_once_in_ten_thousand() {
        let counts = MixCount::of(&[(OpKind::Read, 9_999), (OpKind::MkNod, 1)]);
        let mut deck = ShuffledMix::new(&counts, 0, 1);
        for _ in 0..20 {
            assert_eq!(count(&mut deck, 10_000)[OpKind::MkNod.index()], 1);
        }
        // A thousand clients with a thousand operations each: one in ten clients has this kind.
        let of_clients: u64 = (0..1000)
            .map(|client| {
                count(&mut ShuffledMix::new(&counts, client, 1), 1000)[OpKind::MkNod.index()]
            })
            .sum();
        assert!((90..=110).contains(&of_clients), "{of_clients}");
    }

    #[test]
    fn a_hundred_operations_of_seven_clients_have_the_mix() {
        let mut drawn = [0; KINDS];
        for client in 0..7 {
            let mut deck = ShuffledMix::counted(&nhfsstone(), client, 7, 3, 100);
            let part = 100 / 7 + u64::from(u64::from(client) < 100 % 7);
            for (sum, of_client) in drawn.iter_mut().zip(count(&mut deck, part)) {
                *sum += of_client;
            }
        }
        for count in nhfsstone() {
            assert_eq!(drawn[count.operation.index()], count.count, "{count:?}");
        }
        // A longer run has the same sequence as one without a count; the sequence after a short one
        // as well.
        let first = |deck: &mut ShuffledMix| (0..40).map_while(|_| deck.draw()).collect::<Vec<_>>();
        let mut own = ShuffledMix::new(&nhfsstone(), 2, 3);
        let mut long = ShuffledMix::counted(&nhfsstone(), 2, 7, 3, 5000);
        assert_eq!(first(&mut long), first(&mut own));
        let mut none = ShuffledMix::counted(&nhfsstone(), 9, 10, 3, 5);
        assert_eq!(first(&mut none).len(), 40);
        let empty = ShuffledMix::counted(&MixCount::of(&[]), 0, 1, 3, 5).draw();
        assert_eq!(empty, None);
    }

    #[test]
    fn kinds_that_are_not_in_the_mix_are_never_drawn() {
        let counts = MixCount::of(&[(OpKind::Read, 0), (OpKind::Write, 2), (OpKind::Null, 1)]);
        let drawn = count(&mut ShuffledMix::new(&counts, 3, 1), 3000);
        assert_eq!(drawn.iter().sum::<u64>(), 3000);
        assert_eq!(drawn[OpKind::Read.index()], 0);
    }

    #[test]
    fn a_mix_of_one_kind_is_that_kind_and_an_empty_one_nothing() {
        for kind in OpKind::STATELESS {
            let drawn = count(
                &mut ShuffledMix::new(&MixCount::of(&[(*kind, 5)]), 9, 1),
                250,
            );
            assert_eq!(drawn[kind.index()], 250);
        }
        assert_eq!(
            ShuffledMix::new(&MixCount::of(&[(OpKind::Read, 0)]), 9, 1).draw(),
            None
        );
    }

    #[test]
    fn counts_as_large_as_they_can_be_do_not_overflow() {
        let counts = MixCount::of(&[(OpKind::Read, u64::MAX), (OpKind::Write, u64::MAX)]);
        let drawn = count(&mut ShuffledMix::new(&counts, 0, 1), 1000);
        assert_eq!(drawn[OpKind::Read.index()], 500);
    }

    #[test]
    fn the_seed_and_the_client_decide_the_order() {
        let first = |client, seed| {
            let mut deck = ShuffledMix::new(&nhfsstone(), client, seed);
            (0..20).map_while(|_| deck.draw()).collect::<Vec<_>>()
        };
        assert_eq!(first(0, 1), first(0, 1));
        assert_ne!(first(0, 1), first(0, 2));
        assert_ne!(first(0, 1), first(1, 1));
    }
}
