use super::*;
use crate::workload::{FileEntry, ObjectKind};
use filestone_plan::plan::unmeasured_for;
use filestone_workload::failure::StatusSpace;
use filestone_workload::operation::AttributeChange;
use filestone_workload::operation::SlotId;
use filestone_workload::time::Timestamp;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

fn entry(kind: ObjectKind, len: u64) -> FileEntry {
    FileEntry {
        len,
        kind,
        has_pattern: true,
    }
}

/// A directory, subjects of these lengths, three names and two files of filestone.
fn table(lengths: &[u64]) -> FileTable {
    let mut table = FileTable::default();
    table.directory = Some(table.add(entry(ObjectKind::Directory, 0)));
    let first = table.len();
    for len in lengths {
        table.add(entry(ObjectKind::File, *len));
    }
    table.subjects = first..table.len();
    for name in ["a", "b", "c"] {
        table.add_name(name.as_bytes());
    }
    let first = table.len();
    for _ in 0..2 {
        table.add(entry(ObjectKind::File, 0));
    }
    table.own_files = first..table.len();
    table
}

fn plan(operation: OpKind) -> ProbePlan {
    ProbePlan {
        file_size_bytes: 20_000,
        files_max: 10_000,
        ..ProbePlan::new(operation)
    }
}

fn probe(plan: &ProbePlan, lengths: &[u64], client: u32, slots: u32) -> Probe {
    Probe::new(plan, Arc::new(table(lengths)), client, slots, 1)
}

fn completion(slot: u32, outcome: Outcome, answer: ReplyInfo) -> Completion {
    Completion {
        outcome,
        answer,
        ..Completion::success(SlotId { client: 0, slot }, Timestamp::ZERO, Timestamp::ZERO)
    }
}

/// Drives the probe in the manner of the worker: `answer` gives the outcome of each operation, with
/// whether it is unmeasured.
fn drive(
    probe: &mut Probe,
    slots: u32,
    operations: usize,
    mut answer: impl FnMut(u32, &Operation, bool) -> (Outcome, ReplyInfo),
) {
    let mut last: Vec<Option<Completion>> = vec![None; slots as usize];
    for slot in (0..slots).cycle().take(operations) {
        let place = &mut last[slot as usize];
        let (operation, is_unmeasured) = match probe.prepare_slot(slot, place.as_ref()) {
            Some(unmeasured) => (unmeasured, true),
            None => (
                probe
                    .next(slot, Timestamp::ZERO)
                    .measured()
                    .expect("a workload for ever"),
                false,
            ),
        };
        let (outcome, said) = answer(slot, &operation, is_unmeasured);
        *place = Some(completion(slot, outcome, said));
    }
}

/// Returns the reply of a server to a page request: three pages form a listing.
fn page(operation: &Operation) -> ReplyInfo {
    match operation {
        Operation::ReadDirectory { cursor, .. } | Operation::ReadDirectoryPlus { cursor, .. } => {
            let cookie = cursor.cookie + 10;
            ReplyInfo::Directory {
                cursor: DirectoryCursor {
                    cookie,
                    verifier: [7; 8],
                    ..DirectoryCursor::default()
                },
                end: cookie == 30,
                excess_bytes: 0,
            }
        }
        _ => ReplyInfo::Plain,
    }
}

#[test]
fn the_first_operations_of_every_kind_stay_what_they_are() {
    let mut text = String::new();
    for kind in OpKind::STATELESS {
        let mut probe = probe(&plan(*kind), &[10_000, 4096, 1], 1, 2);
        writeln!(text, "{}", kind.name()).unwrap();
        drive(&mut probe, 2, 20, |slot, operation, is_unmeasured| {
            let role = if is_unmeasured { "companion " } else { "" };
            writeln!(text, "  {slot} {role}{operation:?}").unwrap();
            assert_eq!(operation.kind() == *kind, !is_unmeasured);
            assert!(!is_unmeasured || unmeasured_for(*kind) == [operation.kind()]);
            (Outcome::Ok, page(operation))
        });
    }
    insta::assert_snapshot!(text);
}

#[test]
fn exchanges_of_one_protocol_are_repeated_as_they_are() {
    let directory = table(&[]).directory.expect("a directory");
    for operation in [
        Operation::SessionSetup,
        Operation::TreeConnect,
        Operation::Notify { directory },
    ] {
        let mut probe = probe(&plan(operation.kind()), &[], 1, 2);
        drive(&mut probe, 2, 6, |_, asked, is_unmeasured| {
            assert_eq!((*asked, is_unmeasured), (operation, false));
            (Outcome::Ok, ReplyInfo::Plain)
        });
    }
}

#[test]
fn a_client_copies_from_its_source_to_its_own_file() {
    let mut plan = plan(OpKind::Copy);
    plan.size_bytes = 8000;
    let mut probe = probe(&plan, &[20_000, 20_000], 1, 2);
    let copies = (0..3).map(|slot| probe.next(slot % 2, Timestamp::ZERO).measured());
    // The last 4,000 bytes of 20,000 are not copied: all operations move the same amount.
    let offsets = [0, 8000, 0];
    for (copy, offset) in copies.zip(offsets) {
        let (from, to, len) = (FileId(2), FileId(4), 8000);
        assert_eq!(
            copy,
            Some(Operation::Copy {
                from,
                to,
                offset,
                len
            })
        );
    }
}

#[test]
fn the_same_seed_asks_the_same_at_random_and_another_does_not() {
    let mut plan = plan(OpKind::Read);
    plan.random = true;
    let ask = |seed| {
        let table = Arc::new(table(&[1 << 30; 9]));
        let mut probe = Probe::new(&plan, table, 0, 1, seed);
        (0..20)
            .map(|_| probe.next(0, Timestamp::ZERO).measured())
            .collect::<Vec<_>>()
    };
    assert_eq!(ask(5), ask(5));
    assert_ne!(ask(5), ask(6));
    insta::assert_debug_snapshot!(ask(1));
}

#[test]
fn a_sequential_read_wraps_exactly_at_the_end_of_each_file() {
    for lengths in [
        &[1][..],
        &[4096],
        &[4097],
        &[10_000],
        &[8192, 1, 10_000, 4095, 12_288],
    ] {
        for client in 0..3 {
            let mut probe = probe(&plan(OpKind::Read), lengths, client, 3);
            let blocks: u64 = lengths.iter().map(|len| len.div_ceil(4096)).sum();
            let mut seen = Vec::new();
            drive(&mut probe, 3, 3 * blocks as usize, |_, operation, _| {
                let Operation::Read { file, offset, len } = *operation else {
                    unreachable!("{operation:?}")
                };
                assert_eq!(len, 4096);
                assert!(
                    offset < lengths[file.0 as usize - 1],
                    "{offset} of {file:?}"
                );
                seen.push((file.0, offset));
                (Outcome::Ok, ReplyInfo::Plain)
            });
            // Every block once, then all again in the same order.
            let (first, rest) = seen.split_at(blocks as usize);
            assert_eq!(first.iter().collect::<HashSet<_>>().len() as u64, blocks);
            assert_eq!(first, &rest[..blocks as usize]);
            assert_eq!(first, &rest[blocks as usize..]);
            assert_eq!(seen[0], (1 + client % lengths.len() as u32, 0));
        }
    }
}

#[test]
fn random_reads_and_writes_stay_inside_their_files_and_reach_all_of_them() {
    let lengths = [1, 4096, 4097, 100_000];
    let mut wanted = plan(OpKind::Read);
    wanted.random = true;
    let mut seen = BTreeSet::new();
    drive(
        &mut probe(&wanted, &lengths, 0, 2),
        2,
        5000,
        |_, operation, _| {
            let Operation::Read { file, offset, .. } = *operation else {
                unreachable!("{operation:?}")
            };
            assert!(offset < lengths[file.0 as usize - 1] && offset % 4096 == 0);
            seen.insert((file.0, offset));
            (Outcome::Ok, ReplyInfo::Plain)
        },
    );
    assert_eq!(seen.len(), 1 + 1 + 2 + 25);
    for is_random in [false, true] {
        let mut wanted = plan(OpKind::Write);
        wanted.random = is_random;
        let mut seen = BTreeSet::new();
        drive(
            &mut probe(&wanted, &[1], 1, 2),
            2,
            1000,
            |_, operation, _| {
                let Operation::Write {
                    file, offset, len, ..
                } = *operation
                else {
                    unreachable!("{operation:?}")
                };
                assert!(
                    offset + u64::from(len) <= 20_000,
                    "never beyond the size wanted"
                );
                assert_eq!(file, FileId(3), "its own");
                seen.insert(offset);
                (Outcome::Ok, ReplyInfo::Plain)
            },
        );
        assert_eq!(
            seen.into_iter().collect::<Vec<_>>(),
            [0, 4096, 8192, 12_288]
        );
    }
}

#[test]
fn a_file_smaller_than_one_write_is_written_at_its_beginning() {
    let mut wanted = plan(OpKind::Write);
    wanted.file_size_bytes = 0;
    drive(&mut probe(&wanted, &[1], 0, 1), 1, 10, |_, operation, _| {
        assert!(matches!(
            operation,
            Operation::Write {
                offset: 0,
                len: 4096,
                ..
            }
        ));
        (Outcome::Ok, ReplyInfo::Plain)
    });
}

#[test]
fn a_commit_is_of_what_its_slot_wrote_before() {
    let mut written = [None; 3];
    drive(
        &mut probe(&plan(OpKind::Commit), &[1], 0, 3),
        3,
        300,
        |slot, operation, _| {
            match *operation {
                Operation::Write { offset, .. } => written[slot as usize] = Some(offset),
                Operation::Commit { offset, len, .. } => {
                    assert_eq!(written[slot as usize].take(), Some(offset));
                    assert_eq!(len, 4096);
                }
                _ => unreachable!("{operation:?}"),
            }
            (Outcome::Ok, ReplyInfo::Plain)
        },
    );
}

#[test]
fn a_listing_starts_over_at_its_end_and_when_its_place_is_lost() {
    let mut probe = probe(&plan(OpKind::ReadDirPlus), &[1], 0, 1);
    let mut cookies = Vec::new();
    let mut asked = 0;
    drive(&mut probe, 1, 12, |_, operation, _| {
        let Operation::ReadDirectoryPlus { cursor, .. } = operation else {
            unreachable!("{operation:?}")
        };
        cookies.push(cursor.cookie);
        asked += 1;
        match asked {
            // NFS3ERR_BAD_COOKIE.
            6 => (
                Outcome::Failed(StatusSpace::Nfs3.failure(10_003)),
                ReplyInfo::Plain,
            ),
            // It is unknown whether it succeeded: request the same page again.
            9 => (Outcome::TimedOut, ReplyInfo::Plain),
            _ => (Outcome::Ok, page(operation)),
        }
    });
    assert_eq!(cookies, [0, 10, 20, 0, 10, 20, 0, 10, 20, 20, 0, 10]);
}

/// Existing names, as a correct server has them.
#[derive(Default)]
struct Names(HashSet<ObjectName>);

impl Names {
    /// Executes an operation; returns whether it succeeded.
    fn execute(&mut self, operation: &Operation) -> bool {
        match *operation {
            Operation::Create { name, .. }
            | Operation::MakeDirectory { name, .. }
            | Operation::MakeSymlink { name, .. }
            | Operation::MakeNode { name, .. }
            | Operation::Link { name, .. } => self.0.insert(name),
            Operation::Remove { name, .. } | Operation::RemoveDirectory { name, .. } => {
                self.0.remove(&name)
            }
            Operation::Rename { from, to, .. } => self.0.remove(&from) && self.0.insert(to),
            _ => unreachable!("{operation:?}"),
        }
    }
}

const CHANGES: [OpKind; 8] = [
    OpKind::Create,
    OpKind::MkDir,
    OpKind::SymLink,
    OpKind::MkNod,
    OpKind::Link,
    OpKind::Remove,
    OpKind::RmDir,
    OpKind::Rename,
];

#[test]
fn changes_never_meet_a_name_that_is_there_or_miss_one_that_is_not() {
    for kind in CHANGES {
        let mut names = Names::default();
        for client in 0..2 {
            let mut probe = probe(&plan(kind), &[1], client, 5);
            drive(&mut probe, 5, 500, |_, operation, _| {
                assert!(names.execute(operation), "{operation:?}");
                (Outcome::Ok, ReplyInfo::Plain)
            });
        }
        // The directory keeps its size: at most one name per slot exists.
        assert!(names.0.len() <= 10, "{}: {}", kind.name(), names.0.len());
    }
}

#[test]
fn what_failed_is_restored_so_that_the_next_can_succeed() {
    for kind in CHANGES {
        for is_carried_out in [false, true] {
            let mut names = Names::default();
            let mut measured = 0;
            let mut probe = probe(&plan(kind), &[1], 0, 3);
            let mut unmeasured = [0; 3];
            drive(&mut probe, 3, 900, |slot, operation, is_unmeasured| {
                if is_unmeasured {
                    unmeasured[slot as usize] += 1;
                    assert_eq!(unmeasured[slot as usize], 1, "one between two measured");
                    // There may be no name to remove.
                    return match names.execute(operation) {
                        true => (Outcome::Ok, ReplyInfo::Plain),
                        false => (
                            Outcome::Failed(StatusSpace::Nfs3.failure(2)),
                            ReplyInfo::Plain,
                        ),
                    };
                }
                unmeasured[slot as usize] = 0;
                measured += 1;
                match measured % 3 {
                    0 if is_carried_out => {
                        names.execute(operation);
                        (Outcome::TimedOut, ReplyInfo::Plain)
                    }
                    0 => (
                        Outcome::Failed(StatusSpace::Nfs3.failure(5)),
                        ReplyInfo::Plain,
                    ),
                    _ => {
                        assert!(names.execute(operation), "{}: {operation:?}", kind.name());
                        (Outcome::Ok, ReplyInfo::Plain)
                    }
                }
            });
        }
    }
}

#[test]
fn a_renamed_file_is_renamed_again_without_another_being_made() {
    let mut made = 0;
    let mut last = None;
    drive(
        &mut probe(&plan(OpKind::Rename), &[1], 0, 1),
        1,
        50,
        |_, operation, _| {
            match *operation {
                Operation::Create { name, .. } => {
                    made += 1;
                    last = Some(name);
                }
                Operation::Rename { from, to, .. } => {
                    assert_eq!(last, Some(from));
                    last = Some(to);
                }
                _ => unreachable!("{operation:?}"),
            }
            (Outcome::Ok, ReplyInfo::Plain)
        },
    );
    assert_eq!(made, 1);
}

#[test]
fn clients_and_slots_never_share_a_name() {
    let mut owners = std::collections::HashMap::new();
    for client in [0, 1, 2, 255, 256, 65_535, 99_999] {
        for kind in [OpKind::Create, OpKind::Rename] {
            let mut probe = probe(&plan(kind), &[1], client, 300);
            drive(&mut probe, 300, 1500, |slot, operation, _| {
                let names = match *operation {
                    Operation::Create { name, .. } | Operation::Remove { name, .. } => [name; 2],
                    Operation::Rename { from, to, .. } => [from, to],
                    _ => unreachable!("{operation:?}"),
                };
                for name in names {
                    assert_eq!(
                        *owners.entry(name).or_insert((client, slot)),
                        (client, slot)
                    );
                }
                (Outcome::Ok, ReplyInfo::Plain)
            });
        }
    }
}

#[test]
fn visits_go_through_all_subjects_and_names_in_turn() {
    for (kind, count) in [
        (OpKind::GetAttr, 5),
        (OpKind::Access, 5),
        (OpKind::ReadLink, 5),
        (OpKind::Lookup, 3),
    ] {
        let mut seen = Vec::new();
        drive(
            &mut probe(&plan(kind), &[1; 5], 7, 2),
            2,
            30,
            |_, operation, _| {
                seen.push(match *operation {
                    Operation::GetAttr { file } | Operation::Access { file, .. } => file.0 - 1,
                    Operation::ReadLink { link } => link.0 - 1,
                    Operation::Lookup {
                        name: ObjectName::Listed(index),
                        ..
                    } => index,
                    _ => unreachable!("{operation:?}"),
                });
                (Outcome::Ok, ReplyInfo::Plain)
            },
        );
        let expected: Vec<u32> = (0..count)
            .cycle()
            .skip(7 % count as usize)
            .take(30)
            .collect();
        assert_eq!(seen, expected);
    }
}

#[test]
fn attributes_are_changed_of_the_clients_own_file_only() {
    for client in 0..4 {
        drive(
            &mut probe(&plan(OpKind::SetAttr), &[1], client, 1),
            1,
            3,
            |_, operation, _| {
                let file = FileId(2 + client % 2);
                let change = AttributeChange::Touch;
                assert_eq!(*operation, Operation::SetAttr { file, change });
                (Outcome::Ok, ReplyInfo::Plain)
            },
        );
    }
}

#[test]
fn without_anything_to_work_on_a_workload_ends() {
    for kind in OpKind::STATELESS {
        let mut probe = Probe::new(&plan(*kind), Arc::new(FileTable::default()), 3, 1, 1);
        assert_eq!(probe.prepare_slot(0, None), None);
        assert_eq!(
            probe.next(0, Timestamp::ZERO).measured().is_some(),
            *kind == OpKind::Null,
            "{}",
            kind.name()
        );
        assert_eq!(probe.prepare_slot(9, None), None, "no such slot");
    }
}
