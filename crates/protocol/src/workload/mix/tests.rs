mod tree;

use super::*;
use filestone_plan::plan::{FileSetPlan, FileSizes, MixCount, Popularity};
use filestone_wire::nfs3::Status;
use filestone_workload::failure::StatusSpace;
use filestone_workload::operation::{Outcome, ReplyInfo, SlotId};
use filestone_workload::random::RngExt;
use filestone_workload::recording::Role;
use filestone_workload::time::Timestamp;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::thread;
use tree::{Tree, changes_names, file_set, without_cookies};

const SLOTS: u32 = 8;
const LENGTHS: [u64; 7] = [1024, 8192, 0, 20_000, 3 * 8192, 1, 256 << 10];

fn plan(counts: &[(OpKind, u64)], spare_names: u32) -> MixPlan {
    let file_set = FileSetPlan {
        name: "set".into(),
        files_per_client: LENGTHS.len() as u32,
        sizes: FileSizes::Nhfsstone,
        symbolic_links_per_client: 3,
        spare_names_per_client: spare_names,
        working_set_bytes: None,
        popularity: Popularity::Uniform,
    };
    MixPlan {
        listing_bytes: 4096,
        ..MixPlan::new("made by hand", MixCount::of(counts), file_set)
    }
}

/// A plan with the required number of spare names.
fn fitting(counts: &[(OpKind, u64)]) -> MixPlan {
    let plan = plan(counts, 0);
    let spare_names = spare_names_needed(&plan.counts, SLOTS, None);
    MixPlan {
        file_set: FileSetPlan {
            spare_names_per_client: spare_names,
            ..plan.file_set.clone()
        },
        ..plan
    }
}

fn nhfsstone() -> MixPlan {
    fitting(&[
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

/// A plan with equal shares of all procedures.
fn everything() -> MixPlan {
    let kinds = OpKind::STATELESS.iter();
    fitting(&kinds.map(|kind| (*kind, 1)).collect::<Vec<_>>())
}

/// The built-in mixes.
fn built_in_mixes() -> impl Iterator<Item = MixPlan> {
    filestone_plan::mix::names().filter_map(|name| {
        let counts = filestone_plan::mix::built_in(name)?.mix().counts;
        let pairs: Vec<_> = counts
            .iter()
            .map(|count| (count.operation, count.count))
            .collect();
        Some(fitting(&pairs))
    })
}

/// The built-in mixes, and worse ones.
fn mixes() -> Vec<MixPlan> {
    let mut mixes = vec![
        nhfsstone(),
        everything(),
        fitting(&[
            (OpKind::GetAttr, 20),
            (OpKind::Lookup, 30),
            (OpKind::Create, 12),
            (OpKind::Remove, 12),
            (OpKind::Rename, 6),
            (OpKind::MkDir, 4),
            (OpKind::RmDir, 4),
            (OpKind::Link, 4),
            (OpKind::SymLink, 4),
            (OpKind::ReadDirPlus, 4),
        ]),
        fitting(&[(OpKind::Create, 1), (OpKind::Remove, 3)]),
        fitting(&[(OpKind::Link, 3), (OpKind::MkNod, 1), (OpKind::Remove, 3)]),
        fitting(&[(OpKind::MkDir, 1), (OpKind::RmDir, 1), (OpKind::Rename, 2)]),
        plan(
            &[(OpKind::Remove, 1), (OpKind::RmDir, 1), (OpKind::Rename, 1)],
            0,
        ),
    ];
    mixes.extend(built_in_mixes());
    mixes
}

fn alone(kind: OpKind) -> MixPlan {
    fitting(&[(kind, 1)])
}

fn completion(slot: u32, (outcome, answer): (Outcome, ReplyInfo)) -> Completion {
    Completion {
        outcome,
        answer,
        ..Completion::success(SlotId { client: 0, slot }, Timestamp::ZERO, Timestamp::ZERO)
    }
}

/// Time when the simulated server executes a request.
#[derive(Clone, Copy, PartialEq)]
enum Server {
    AtOnce,
    BeforeItAnswers,
}

/// The operation of a slot, and its result if the server has executed it.
type Busy = (Operation, Option<(Outcome, ReplyInfo)>);

/// A client, its slots and the server.
struct Simulation {
    workload: MixWorkload,
    tree: Tree,
    slots: Vec<Option<Busy>>,
    server: Server,
    /// Random order of replies.
    order: Generator,
    /// Measured operations still to be issued.
    remaining: usize,
}

impl Simulation {
    fn new(plan: &MixPlan, clients: u32, client: u32, slots_in_use: u32, order: u64) -> Self {
        let spare_names = plan.file_set.spare_names_per_client;
        let links = plan.file_set.symbolic_links_per_client;
        let (table, sets) = file_set(clients, &LENGTHS, links, spare_names);
        let set = sets[client as usize].clone();
        Self {
            workload: MixWorkload::new(plan, table.clone(), set.clone(), client, SLOTS, 1),
            tree: Tree::new(table, set),
            slots: vec![None; slots_in_use as usize],
            server: Server::BeforeItAnswers,
            order: stream(order, RandomStream::Arrivals, 0),
            remaining: 0,
        }
    }

    /// Advances a slot in the manner of the worker.
    fn advance(
        &mut self,
        slot: u32,
        after: Option<&Completion>,
        saw: &mut impl FnMut(&Operation, Role),
    ) {
        let operation = match self.workload.prepare_slot(slot, after) {
            Some(unmeasured) => {
                saw(&unmeasured, Role::Unmeasured);
                unmeasured
            }
            None if self.remaining == 0 => return,
            None => {
                self.remaining -= 1;
                let next = self
                    .workload
                    .next(slot, Timestamp::ZERO)
                    .measured()
                    .expect("a mix for ever");
                saw(&next, Role::Measured);
                next
            }
        };
        let said = (self.server == Server::AtOnce).then(|| self.tree.apply(&operation));
        self.slots[slot as usize] = Some((operation, said));
    }

    /// Issues `count` measured operations and the unmeasured ones they need, in slots that complete
    /// in random order. `answer` can change the reply of the server.
    fn run_with(
        &mut self,
        count: usize,
        mut saw: impl FnMut(&Operation, Role),
        mut answer: impl FnMut(&mut Tree, &Operation) -> (Outcome, ReplyInfo),
    ) {
        self.remaining = count;
        for slot in 0..self.slots.len() as u32 {
            self.advance(slot, None, &mut saw);
        }
        loop {
            let first = self.order.random_range(0..self.slots.len());
            let places = (first..self.slots.len()).chain(0..first);
            let busy = places
                .into_iter()
                .find(|place| self.slots[*place].is_some());
            let Some((slot, (operation, said))) =
                busy.and_then(|place| Some((place as u32, self.slots[place].take()?)))
            else {
                break;
            };
            let said = said.unwrap_or_else(|| answer(&mut self.tree, &operation));
            self.advance(slot, Some(&completion(slot, said)), &mut saw);
        }
    }

    /// Runs [`Self::run_with`] with a server that must succeed in everything.
    fn run(&mut self, count: usize, saw: impl FnMut(&Operation, Role)) {
        self.run_with(count, saw, |tree, operation| {
            let said = tree.apply(operation);
            assert_eq!(said.0, Outcome::Ok, "{operation:?}");
            said
        });
    }

    /// Compares the names in the tree with those of the workload.
    fn check_names(&mut self) {
        let changing = self.workload.set.changing;
        let directories = [
            changing.created,
            changing.links,
            changing.symbolic_links,
            changing.nodes,
            changing.directories,
        ];
        let pools = self.workload.changing.levels_and_lengths();
        for (directory, (levels, length)) in directories.into_iter().zip(pools) {
            assert_eq!(self.tree.count(directory), length);
            assert!(length <= levels.upper, "{length}, not {levels:?}");
        }
    }
}

#[test]
fn a_million_operations_of_any_mix_all_succeed_and_leave_the_set_in_its_proportions() {
    thread::scope(|scope| {
        for plan in mixes() {
            scope.spawn(move || check_mix(&plan, 1_000_000));
        }
    });
}

/// A set has some ten names: each has had its turn ten thousand times.
#[test]
fn a_hundred_thousand_operations_of_each_procedure_alone_do_so_too() {
    for kind in OpKind::STATELESS {
        check_mix(&alone(*kind), 100_000);
    }
}

fn check_mix(plan: &MixPlan, count: usize) {
    let kinds = plan.kinds();
    for server in [Server::AtOnce, Server::BeforeItAnswers] {
        let mut simulation = Simulation::new(plan, 1, 0, SLOTS, 1);
        simulation.server = server;
        let mut asked = [0_u64; OpKind::COUNT];
        let mut unmeasured = 0;
        simulation.run(count / 2, |operation, role| {
            let kind = operation.kind();
            assert!(kinds.contains(&(kind, role)), "{role:?} {}", kind.name());
            match role {
                Role::Measured => asked[kind.index()] += 1,
                Role::Unmeasured => unmeasured += 1,
            }
        });
        simulation.check_names();
        for wanted in &plan.counts {
            let share = plan.share(wanted.operation);
            let off = asked[wanted.operation.index()] as f64 - share * (count / 2) as f64;
            assert!(off.abs() <= 2.0, "{} {off}", wanted.operation.name());
        }
        if !plan
            .counts
            .iter()
            .any(|count| changes_names(count.operation))
        {
            assert_eq!(unmeasured, 0);
        }
    }
}

#[test]
fn makers_and_takers_in_balance_need_no_unmeasured_operations() {
    for plan in [
        fitting(&[(OpKind::Read, 96), (OpKind::MkDir, 2), (OpKind::RmDir, 2)]),
        fitting(&[(OpKind::Read, 90), (OpKind::Create, 5), (OpKind::Remove, 5)]),
        fitting(&[
            (OpKind::Read, 94),
            (OpKind::Link, 1),
            (OpKind::SymLink, 2),
            (OpKind::Remove, 3),
        ]),
        nhfsstone(),
    ] {
        let mut unmeasured = 0;
        let mut simulation = Simulation::new(&plan, 1, 0, SLOTS, 1);
        simulation.run(100_000, |_, role| {
            unmeasured += u64::from(role == Role::Unmeasured);
        });
        assert_eq!(unmeasured, 0, "{:?}", plan.counts);
    }
}

#[test]
fn without_spare_names_the_missing_ones_are_made_first() {
    let plan = plan(&[(OpKind::Rename, 1), (OpKind::Read, 99)], 0);
    let mut simulation = Simulation::new(&plan, 1, 0, SLOTS, 1);
    let mut first = Vec::new();
    simulation.run(1000, |operation, role| first.push((operation.kind(), role)));
    let made = first
        .iter()
        .take_while(|asked| **asked == (OpKind::Create, Role::Unmeasured));
    assert_eq!(made.count(), 15);
    assert!(first[15..].iter().all(|(_, role)| *role == Role::Measured));
}

/// Returns all requests of some clients, with their counts.
fn multiset(operations: impl IntoIterator<Item = (u32, Operation)>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (client, operation) in operations {
        let text = format!("{client} {:?}", without_cookies(&operation));
        *counts.entry(text).or_default() += 1;
    }
    counts
}

#[test]
fn the_same_seed_asks_the_same_multiset_however_the_answers_come() {
    const CLIENTS: u32 = 8;
    for plan in mixes() {
        let ask = |slots_in_use: u32, order: u64| {
            let mut asked = Vec::new();
            for client in 0..CLIENTS {
                let order = order + u64::from(client);
                let mut simulation = Simulation::new(&plan, CLIENTS, client, slots_in_use, order);
                simulation.run(2000, |operation, _| asked.push((client, *operation)));
            }
            multiset(asked)
        };
        let one_by_one = ask(1, 0);
        assert_eq!(one_by_one, ask(SLOTS, 100));
        assert_eq!(one_by_one, ask(SLOTS, 200));
        assert_eq!(one_by_one, ask(3, 300));
    }
}

#[test]
fn clients_that_take_turns_ask_what_they_ask_one_after_the_other() {
    let plan = everything();
    let (table, sets) = file_set(3, &LENGTHS, 3, plan.file_set.spare_names_per_client);
    let client = |number: u32| {
        let set = sets[number as usize].clone();
        MixWorkload::new(&plan, table.clone(), set, number, SLOTS, 1)
    };
    let apart: Vec<Vec<_>> = (0..3)
        .map(|number| {
            let mut client = client(number);
            (0..100)
                .map_while(|_| client.next(0, Timestamp::ZERO).measured())
                .collect()
        })
        .collect();
    let mut clients: Vec<_> = (0..3).map(client).collect();
    let mut turns: Vec<Vec<Operation>> = vec![vec![]; 3];
    for turn in 0..300 {
        let number = turn * 2 % 3;
        turns[number].extend(clients[number].next(0, Timestamp::ZERO).measured());
    }
    assert_eq!(apart, turns);
    assert_ne!(apart[0], apart[1]);
}

#[test]
fn the_first_operations_of_a_seed_stay_what_they_are() {
    let mut text = String::new();
    for (name, plan) in [("nhfsstone", nhfsstone()), ("everything", everything())] {
        writeln!(text, "{name}").unwrap();
        let mut simulation = Simulation::new(&plan, 1, 0, 1, 1);
        simulation.run(20, |operation, role| {
            let role = match role {
                Role::Measured => "",
                Role::Unmeasured => "companion ",
            };
            writeln!(text, "  {role}{operation:?}").unwrap();
        });
    }
    insta::assert_snapshot!(text);
}

#[test]
fn an_arrival_that_cannot_start_loses_its_card() {
    let plan = fitting(&[(OpKind::GetAttr, 1), (OpKind::Null, 2), (OpKind::Read, 3)]);
    let (table, sets) = file_set(1, &LENGTHS, 3, 0);
    let client = || MixWorkload::new(&plan, table.clone(), sets[0].clone(), 0, SLOTS, 1);
    let (mut all, mut some) = (client(), client());
    for turn in 0..1000 {
        let kind = all
            .next(0, Timestamp::ZERO)
            .measured()
            .map(|operation| operation.kind());
        let other = if turn % 3 == 0 {
            some.skip()
        } else {
            some.next(0, Timestamp::ZERO)
                .measured()
                .map(|operation| operation.kind())
        };
        assert_eq!(kind, other);
    }
}

#[test]
fn whatever_fails_nothing_grows_and_the_client_finds_its_way_back() {
    for plan in mixes() {
        let mut simulation = Simulation::new(&plan, 1, 0, SLOTS, 1);
        let room = simulation.workload.changing.owed_len().1;
        let mut chance = stream(2, RandomStream::Workload, 0);
        let denied = Outcome::Failed(StatusSpace::Nfs3.failure(Status::ACCES.0));
        simulation.run_with(
            100_000,
            |_, _| {},
            |tree, operation| {
                match chance.random_range(0..10) {
                    0 => (denied, ReplyInfo::Plain),
                    1 => (Outcome::TimedOut, ReplyInfo::Plain),
                    // Executed, but the reply was lost.
                    2 => (Outcome::Disconnected, tree.apply(operation).1),
                    _ => tree.apply(operation),
                }
            },
        );
        // A read-only server: everything that changes names fails, for a long time.
        let mut asked = 0_u64;
        simulation.run_with(
            100_000,
            |_, _| asked += 1,
            |tree, operation| match changes_names(operation.kind()) {
                true => (denied, ReplyInfo::Plain),
                false => tree.apply(operation),
            },
        );
        assert!(
            asked <= 300_000,
            "unmeasured operations without end: {asked}"
        );
        assert_eq!(simulation.workload.changing.owed_len(), (0, room));
        for (levels, length) in simulation.workload.changing.levels_and_lengths() {
            assert!(length <= levels.upper + 2 * SLOTS as usize + 2);
        }
        // After some further operations, nothing fails.
        simulation.run_with(20_000, |_, _| {}, |tree, operation| tree.apply(operation));
        simulation.run(20_000, |_, _| {});
    }
}

#[test]
fn only_mixes_that_change_or_list_want_to_hear_of_completions() {
    for kind in OpKind::STATELESS {
        let (table, sets) = file_set(1, &LENGTHS, 3, 0);
        let plan = plan(&[(*kind, 1)], 0);
        let workload = MixWorkload::new(&plan, table, sets[0].clone(), 0, 1, 1);
        assert_eq!(
            workload.needs_preparation(),
            needs_to_know(*kind),
            "{}",
            kind.name()
        );
        assert!(!workload.is_constant());
    }
}

#[test]
fn files_at_random_are_read_and_written_within_their_lengths_by_popularity() {
    let mut plan = fitting(&[(OpKind::Read, 2), (OpKind::Write, 1), (OpKind::Commit, 1)]);
    plan.access = Access::Random;
    plan.file_set.popularity = Popularity::Zipf { exponent: 1.0 };
    let mut simulation = Simulation::new(&plan, 1, 0, SLOTS, 1);
    let first = simulation.workload.set.files.start;
    let (mut visits, mut written) = ([0; LENGTHS.len()], None);
    simulation.run(40_000, |operation, _| match *operation {
        Operation::Read { file, .. } => visits[(file.0 - first) as usize] += 1,
        Operation::Write { file, .. } => written = Some(file),
        Operation::Commit { file, offset, len } => {
            assert_eq!((offset, len), (0, 0));
            assert_eq!(written.unwrap_or(file), file);
        }
        _ => {}
    });
    assert_eq!(visits[2], 0, "the empty file");
    assert!(visits[0] > 3 * visits[5], "{visits:?}");
}

#[test]
fn a_listing_goes_on_where_its_last_page_ended_and_starts_over_after_a_failure() {
    let plan = fitting(&[(OpKind::ReadDir, 1)]);
    let (table, sets) = file_set(1, &[1; 1500], 0, 0);
    let mut workload = MixWorkload::new(&plan, table.clone(), sets[0].clone(), 0, 1, 1);
    let mut tree = Tree::new(table, sets[0].clone());
    let mut pages = Vec::new();
    for turn in 0..10 {
        let page = workload
            .next(0, Timestamp::ZERO)
            .measured()
            .expect("a mix for ever");
        if let Operation::ReadDirectory {
            directory, cursor, ..
        } = page
        {
            pages.push((directory.0 - sets[0].directories.start, cursor.cookie));
        }
        let said = match turn {
            2 => (
                Outcome::Failed(StatusSpace::Nfs3.failure(Status::BAD_COOKIE.0)),
                ReplyInfo::Plain,
            ),
            _ => tree.apply(&page),
        };
        assert_eq!(workload.prepare_slot(0, Some(&completion(0, said))), None);
    }
    // Two directories in turn, three pages each; the third answer was a bad cookie.
    assert_eq!(
        pages,
        [
            (0, 0),
            (1, 0),
            (0, 10),
            (1, 10),
            (0, 0),
            (1, 20),
            (0, 10),
            (1, 0),
            (0, 20),
            (1, 10)
        ]
    );
}
