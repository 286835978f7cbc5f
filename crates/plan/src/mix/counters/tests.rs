use super::*;

const RPC: &str = "\
net 0 0 0 0
rpc 1234 5 1239
proc2 18 1 2 0 0 3 0 0 0 0 0 0 0 0 0 0 0 0 4
proc3 22 1 100 2 300 40 5 600 70 8 9 0 1 2 3 4 5 6 7 8 9 1 2
proc4 10 1 20 30 4 5 6 7 8 9 10
";

const MOUNTSTATS: &str = "\
device /dev/sda1 mounted on / with fstype ext4
no device mounted on /proc with fstype proc
device server:/export mounted on /mnt/a\\040b with fstype nfs statvers=1.1
\topts:\trw,vers=3,rsize=1048576,proto=tcp
\tage:\t3600
\tcaps:\tcaps=0x3fcf,wtmult=4096
\tsec:\tflavor=1,pseudoflavor=1
\tevents:\t1 2 3
\tbytes:\t1 2 3
\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)
\txprt:\ttcp 1 1 1 0 0 10 10 0 10 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t     GETATTR: 10 10 0 1200 1120 0 4 5 0
\t      LOOKUP: 7 9 2 900 1700 0 3 4 1

device server:/v4 mounted on /mnt/v4 with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,proto=tcp
\tper-op statistics
\t        OPEN: 5 5 0 1 1 1 1 1
\t     GETATTR: 3 3 0 1 1 1 1 1
\t      STATFS: 2 2 0 1 1 1 1 1
\t      CREATE: 1 1 0 1 1 1 1 1
";

#[test]
fn the_calls_of_all_versions_are_added_as_procedures_of_version_3() {
    let counters = of_rpc_nfs(RPC).expect("it is well formed");
    assert_eq!(counters.of(OpKind::GetAttr), 102);
    assert_eq!(counters.of(OpKind::Lookup), 303);
    assert_eq!(counters.of(OpKind::FsStat), 12);
    assert_eq!(counters.of(OpKind::Read), 620);
    assert_eq!(counters.of(OpKind::Commit), 6);
    assert_eq!(counters.of(OpKind::SetAttr), 12);
    let of_v2_and_v3 = 10 + 1183;
    assert_eq!(counters.total, of_v2_and_v3 + 100);
    // Of version 4 open counts as CREATE; open_confirm, open_noattr, open_downgrade and close have
    // no equivalent.
    assert_eq!(counters.of(OpKind::Create), 8 + 5);
    assert_eq!(counters.unlike(), 6 + 7 + 8 + 9);
    assert_eq!(counters.others["close"].calls, 9);
    assert!(!counters.is_timed);
}

#[test]
fn what_was_counted_between_two_readings_is_their_difference() {
    let before = of_rpc_nfs("proc3 22 0 5 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0").expect("text");
    let after = of_rpc_nfs("proc3 22 0 7 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0").expect("text");
    let between = after.since(&before);
    assert_eq!(
        (between.of(OpKind::GetAttr), between.of(OpKind::Lookup)),
        (2, 0)
    );
    assert_eq!(between.total, 1);
    assert_eq!(before.plus(&between).of(OpKind::GetAttr), 7);
    let other = |calls| Counters {
        others: [("close".to_owned(), UnmappedCalls { calls, millis: 2 })].into(),
        total: calls,
        is_timed: true,
        ..Counters::default()
    };
    assert_eq!(other(9).since(&other(4)).others["close"].calls, 5);
    assert_eq!(Counters::default().plus(&other(4)), other(4));
    assert!(other(1).plus(&other(1)).is_timed && !other(1).plus(&before).is_timed);
}

#[test]
fn each_mount_has_its_own_counters() {
    let a = of_mountstats(MOUNTSTATS, "/mnt/a b").expect("it is mounted");
    assert_eq!(
        (a.of(OpKind::GetAttr), a.of(OpKind::Lookup), a.total),
        (10, 7, 18)
    );
    // The last of the eight numbers that all versions print.
    assert!(a.is_timed);
    assert_eq!(a.millis[OpKind::Lookup], 4);
    let v4 = of_mountstats(MOUNTSTATS, "/mnt/v4").expect("it is mounted");
    assert_eq!((v4.of(OpKind::FsStat), v4.of(OpKind::MkDir)), (2, 1));
    assert_eq!((v4.of(OpKind::Create), v4.total, v4.unlike()), (5, 11, 0));
}

#[test]
fn the_mounts_are_listed_with_device_type_and_version() {
    let mounts = mounts(MOUNTSTATS).expect("it is well formed");
    let lines: Vec<String> = mounts
        .iter()
        .map(|mount| {
            format!(
                "{} {} {} {:?}",
                mount.device, mount.mount_point, mount.fs_type, mount.version
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "/dev/sda1 / ext4 None",
            " /proc proc None",
            "server:/export /mnt/a b nfs Some(\"3\")",
            "server:/v4 /mnt/v4 nfs4 Some(\"4.2\")",
        ]
    );
    assert_eq!(
        mounts
            .iter()
            .filter_map(Mount::major_version)
            .collect::<Vec<_>>(),
        [3, 4]
    );
}

#[test]
fn a_directory_that_is_not_on_nfs_is_refused_with_the_reason() {
    let refused = |mount_point: &str| {
        let error = of_mountstats(MOUNTSTATS, mount_point).expect_err("it is not NFS");
        error.to_string()
    };
    assert!(refused("/").starts_with("self/mountstats: / is ext4, not NFS"));
    assert!(refused("/nowhere").starts_with("self/mountstats: nothing is mounted on /nowhere"));
}

#[test]
fn a_line_that_was_cut_is_an_error_and_no_smaller_number() {
    let error = of_rpc_nfs("net 0 0 0 0\nproc3 22 1 2 3\n").expect_err("19 counts are missing");
    assert_eq!((error.line, error.column), (2, 7));
    assert_eq!(error.message, "can't find 22 op values: there are 3");
    let cut = &MOUNTSTATS[..MOUNTSTATS
        .rfind(" 1 1 1\n")
        .expect("the last line has times")];
    let error = of_mountstats(cut, "/mnt/v4").expect_err("the last line was cut");
    assert!(
        error.message.starts_with("can't find 8 values of CREATE"),
        "{error}"
    );
}
