//! In which order a client asks the operations of a mix.
//!
//! Drawing each operation by chance would leave the mix to chance: of an operation of 1 % come
//! 600 ± 24 in 60,000. So a client draws from a deck of 20 cards in which every kind has as
//! many as its share demands, and shuffles the next one when it is through. What does not go
//! into whole cards is carried over to the next deck, so an operation of 0.01 % has one card
//! in five hundred decks. nhfsstone steered towards its mix by weights that it corrected as the
//! run went on; here there is nothing to correct.

use crate::plan::MixCount;
use filestone_workload::operation::OpKind;
use filestone_workload::random::{Generator, RandomStream, RngExt, stream};

/// Cards of one deck. Fewer would show in the order of the operations; with more, a run of many
/// clients and few operations each would be further off, by the decks that they are within.
pub const CARDS: usize = 20;

/// Decks of which a client's part in a counted run may be for all clients to draw from common
/// ones: that comes out right in a run that ends in the middle of every client's first deck.
/// In a longer one decks of their own do, and keep each client's files in proportion.
const COMMON_MAX: u64 = 3;

/// After so many decks clients begin where others have begun: only the start of a client with
/// a high number would take longer for more.
const STARTS: u32 = 1000;

/// The kinds that cards can have: the procedures of NFSv3.
const KINDS: usize = OpKind::STATELESS.len();

/// The operations of one client, in order.
#[derive(Debug, Clone)]
pub struct ShuffledMix {
    /// How often each kind is asked, and how often all are.
    counts: [u64; KINDS],
    sum: i128,
    /// Of each kind, what is owed to it, in cards times `sum`: from −`sum` to twice `sum`; all
    /// together they are 0.
    owed: [i128; KINDS],
    cards: [OpKind; CARDS],
    /// The next card.
    next: usize,
    /// Cards of decks that all clients have in common, which come first.
    common: std::vec::IntoIter<OpKind>,
    generator: Generator,
}

impl ShuffledMix {
    /// The operations of client `client` in a run of this seed.
    ///
    /// What is carried over is at the start what a client with number 0 carries over after
    /// `client` decks. If all clients began alike, a thousand of them would all have the one
    /// operation of 0.01 % in the same deck, or all not yet.
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

    /// The operations of client `client` of `clients` in a run of `count` operations in all: in a
    /// short run, clients take cards of common decks in turn.
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

    /// The next operation's kind; `None` if the mix is empty.
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

    /// Fills the next deck and shuffles it (Fisher and Yates).
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

    /// How many cards of the next deck each kind has: what is owed to it in whole cards, and of
    /// what is left one to each of those to which most of a card is still owed.
    fn deal(&mut self) -> [usize; KINDS] {
        let mut dealt = [0; KINDS];
        let mut left = CARDS;
        if self.sum == 0 {
            return dealt;
        }
        for ((owed, count), dealt) in self.owed.iter_mut().zip(self.counts).zip(&mut dealt) {
            *owed += i128::from(count) * CARDS as i128;
            // Kinds that had a card in advance may be owed less than nothing; then the others
            // are owed more than a deck, and have to wait for the next one.
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

    /// Shares that no deck can hold exactly.
    fn uneven() -> Vec<MixCount> {
        let shares = [3, 7, 0, 11, 1, 1, 1, 5000, 13, 17, 1, 0, 2, 999, 1, 23, 1];
        let kinds = OpKind::STATELESS.iter().copied();
        MixCount::of(&kinds.zip(shares).collect::<Vec<_>>())
    }

    /// How often each kind is among the next `number` cards.
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
                    // Within a deck the shuffle can put all cards of a kind first.
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
        // A thousand clients that draw a thousand cards each: one in ten clients has it.
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
        // A longer run draws as without a count; so does what comes after a short one.
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
