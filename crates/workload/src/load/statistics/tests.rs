//! Results computed by hand for lines written by hand.

use super::contents::{ExpectedFailureCount, HandleContents, LevelCount, SizeCount};
use super::*;
use crate::load::action::{Disposition, LoadAction};
use crate::load::{Expected, LineData};
use crate::operation::Stability;

fn line(action: LoadAction<'_>, expected: Expected) -> Line<'_> {
    Line {
        number: 1,
        stamp: None,
        action,
        expected,
        payload: None,
        data: LineData::ZERO,
    }
}

fn count(generation: Generation, lines: &[(LoadAction, Expected)]) -> LoadStatisticsData {
    let mut statistics = LoadStatistics::new(generation);
    for (action, expected) in lines {
        assert!(statistics.add(&line(*action, *expected)).is_continue());
    }
    statistics.finish()
}

fn open(path: &str, disposition: Disposition, handle: u64) -> LoadAction<'_> {
    LoadAction::NtCreateX {
        path: path.as_bytes(),
        options: 0x40,
        disposition,
        handle,
    }
}

fn write(handle: u64, offset: u64, len: u64) -> LoadAction<'static> {
    LoadAction::WriteX {
        handle,
        offset,
        len,
        expected_len: len,
    }
}

fn read(handle: u64, offset: u64, len: u64, expected_len: u64) -> LoadAction<'static> {
    LoadAction::ReadX {
        handle,
        offset,
        len,
        expected_len,
    }
}

const OK: Expected = Expected::Success;
const MISSING: Expected = Expected::Nt(0xc000_0034);

#[test]
fn a_small_pass_is_counted_as_on_paper() {
    let contents = count(
        Generation::Cifs,
        &[
            (LoadAction::Mkdir { path: b"d" }, OK),
            (open("d/a", Disposition::Open, 9), MISSING),
            (open("d/a", Disposition::Create, 1), OK),
            (open("D/B", Disposition::OverwriteIf, 2), OK),
            (write(1, 0, 4096), OK),
            (write(1, 4096, 4096), OK),
            (write(2, 65_534, 1), OK),
            (read(1, 0, 4096, 4096), OK),
            (read(1, 8192, 4096, 0), OK),
            (LoadAction::Close { handle: 1 }, OK),
            (open("d/b", Disposition::Overwrite, 3), OK),
            (write(3, 0, 10), OK),
            (
                LoadAction::Rename {
                    from: b"d/a",
                    to: b"d/b",
                },
                OK,
            ),
            (
                LoadAction::QueryPathInformation {
                    path: b"d/gone",
                    level: 1004,
                },
                MISSING,
            ),
        ],
    );
    assert_eq!(contents.operations, 14);
    assert_eq!(contents.expected_failures_total(), 2);
    assert_eq!(contents.writes.bytes_asked, 8203);
    assert_eq!(contents.writes.sequential, 1);
    assert_eq!(contents.reads.bytes_asked, 8192);
    assert_eq!(contents.reads.bytes_returned, 4096);
    // a is 8192 long and b 65,535 when it is truncated.
    assert_eq!(contents.tree.live_set_bytes, 8192 + 65_535);
    assert_eq!(contents.tree.largest_file_bytes, 65_535);
    assert_eq!((contents.tree.files, contents.tree.directories), (2, 1));
    assert_eq!((contents.tree.names, contents.tree.depth), (4, 2));
    assert_eq!(contents.tree.files_left, 1);
    assert_eq!(
        contents.handles,
        HandleContents {
            open_max: 2,
            left_open: 2
        }
    );
    assert_eq!(
        contents.levels,
        [LevelCount {
            verb: "QUERY_PATH_INFORMATION",
            level: 1004,
            count: 1
        }]
    );
    let dispositions: Vec<(u32, u64)> = contents
        .dispositions
        .iter()
        .map(|row| (row.disposition, row.count))
        .collect();
    assert_eq!(dispositions, [(1, 1), (2, 1), (4, 1), (5, 1)]);
}

#[test]
fn kinds_stand_in_dbench_s_order_with_their_failures() {
    let contents = count(
        Generation::Cifs,
        &[
            (open("a", Disposition::Open, 1), MISSING),
            (open("a", Disposition::Open, 1), MISSING),
            (open("a", Disposition::Open, 1), Expected::Nt(0xc000_0022)),
            (open("a", Disposition::Open, 1), Expected::Anything),
            (LoadAction::Flush { handle: 1 }, OK),
            (LoadAction::Deltree { path: b"" }, OK),
        ],
    );
    let verbs: Vec<(&str, u64)> = contents
        .kinds
        .iter()
        .map(|kind| (kind.verb, kind.count))
        .collect();
    assert_eq!(verbs, [("Deltree", 1), ("Flush", 1), ("NTCreateX", 4)]);
    let opens = contents.kinds.last().expect("three kinds");
    assert_eq!(opens.any_outcome, 1);
    let statuses: Vec<u64> = opens
        .expected_failures
        .iter()
        .map(|row| row.count)
        .collect();
    assert_eq!(statuses, [2, 1]);
    assert_eq!(contents.expected_failures_total(), 3);
}

#[test]
fn an_nfs_load_names_files_by_path_and_statuses_by_number() {
    let contents = count(
        Generation::Nfs,
        &[
            (LoadAction::Create { path: b"a" }, Expected::Number(0)),
            (
                LoadAction::Write {
                    path: b"a",
                    offset: 0,
                    len: 100,
                    stability: Stability::Unstable,
                },
                Expected::Number(0),
            ),
            (
                LoadAction::Read {
                    path: b"a",
                    offset: 0,
                    len: 60,
                },
                Expected::Number(0),
            ),
            (
                LoadAction::Read {
                    path: b"a",
                    offset: 60,
                    len: 60,
                },
                Expected::Anything,
            ),
            (LoadAction::Remove { path: b"A" }, Expected::Number(2)),
        ],
    );
    assert_eq!(contents.tree.live_set_bytes, 100);
    assert_eq!((contents.tree.files, contents.tree.names), (1, 2));
    assert_eq!(contents.reads.sequential, 1);
    assert_eq!(
        contents.reads.sizes_frequent,
        [SizeCount {
            bytes: 60,
            count: 2
        }]
    );
    assert_eq!(
        contents.expected_failures,
        [ExpectedFailureCount {
            status: "NFS3ERR_NOENT (2)".into(),
            count: 1
        }]
    );
}

#[test]
fn a_handle_opened_twice_counts_once() {
    let contents = count(
        Generation::Cifs,
        &[
            (open("a", Disposition::Create, 7), OK),
            (open("b", Disposition::Create, 7), OK),
            (write(7, 0, 5), OK),
            (LoadAction::Unlink { path: b"a" }, OK),
            (LoadAction::Close { handle: 7 }, OK),
            (LoadAction::Close { handle: 7 }, OK),
            (write(7, 5, 5), OK),
        ],
    );
    assert_eq!(
        contents.handles,
        HandleContents {
            open_max: 1,
            left_open: 0
        }
    );
    assert_eq!(contents.tree.live_set_bytes, 5);
    assert_eq!(contents.writes.bytes_asked, 10);
}

#[test]
fn a_directory_opened_has_no_length() {
    let contents = count(
        Generation::Cifs,
        &[
            (
                LoadAction::NtCreateX {
                    path: b"d",
                    options: 1,
                    disposition: Disposition::Create,
                    handle: 1,
                },
                OK,
            ),
            (open("D", Disposition::Open, 2), OK),
            (write(2, 0, 100), OK),
        ],
    );
    assert_eq!(contents.tree.live_set_bytes, 0);
    assert_eq!((contents.tree.files, contents.tree.directories), (0, 1));
}

#[test]
fn stamps_and_pauses_are_told() {
    let mut statistics = LoadStatistics::new(Generation::Cifs);
    for seconds in [2, 9, 1, 5] {
        let stamped = Line {
            stamp: Some(Duration::from_secs(seconds)),
            ..line(LoadAction::QueryFsInformation { level: 1 }, OK)
        };
        assert!(statistics.add(&stamped).is_continue());
    }
    assert!(statistics.pause(Duration::from_micros(30)).is_continue());
    assert!(statistics.sequence_point().is_continue());
    assert!(statistics.wait().is_continue());
    let contents = statistics.finish();
    let stamps = contents.stamps.expect("there are stamps");
    assert_eq!(stamps.operations, 4);
    assert_eq!(stamps.first_ns, 2_000_000_000);
    assert_eq!(stamps.last_ns, 5_000_000_000);
    assert_eq!(stamps.span_ns, 8_000_000_000);
    assert_eq!(contents.pacing.pauses_ns, 30_000);
    assert_eq!(
        (contents.pacing.sequence_points, contents.pacing.waits),
        (1, 1)
    );
}

#[test]
fn names_without_end_are_cut_off_where_memory_would_be() {
    let mut statistics = LoadStatistics::new(Generation::Nfs);
    let mut name = vec![b'a'; 1 << 20];
    for number in 0_u64..100 {
        name.extend_from_slice(&number.to_le_bytes());
        if statistics
            .add(&line(LoadAction::Lookup { path: &name }, OK))
            .is_break()
        {
            break;
        }
    }
    let contents = statistics.finish();
    assert_eq!(contents.cut_off, Some(TruncationReason::Memory));
    assert_eq!(contents.operations, 64);
}

#[test]
fn lengths_and_offsets_at_the_end_of_the_number_range_do_no_harm() {
    let contents = count(
        Generation::Cifs,
        &[
            (open("a", Disposition::Create, 1), OK),
            (open("b", Disposition::Create, 2), OK),
            (write(1, u64::MAX, u64::MAX), OK),
            (write(2, u64::MAX, u64::MAX), OK),
            (write(2, 0, 0), OK),
        ],
    );
    assert_eq!(contents.tree.live_set_bytes, u64::MAX);
    assert_eq!(contents.writes.bytes_asked, u64::MAX);
}
