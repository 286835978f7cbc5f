use super::*;
use std::fmt::Write;

/// SunOS 4: the example that is the source of nhfsstone's mix, with a client section.
const SUNOS: &str = "
Server rpc:
calls      badcalls   nullrecv   badlen     xdrcall
200000     0          0          0          0

Server nfs:
calls      badcalls
200000     0
null       getattr    setattr    root       lookup     readlink   read
0 0%       26000 13%  2000 1%    0 0%       68000 34%  16000 8%   44000 22%
wrcache    write      create     remove     rename     link       symlink
0 0%       30000 15%  4000 2%    2000 1%    0 0%       0 0%       0 0%
mkdir      rmdir      readdir    fsstat
0 0%       0 0%       6000 3%    2000 1%

Client nfs:
calls      badcalls   nclget     nclsleep
500        0          500        0
null       getattr    setattr    root       lookup     readlink   read
0  0%      100 20%    0  0%      0  0%      400 80%    0  0%      0  0%
wrcache    write      create     remove     rename     link       symlink
0  0%      0  0%      0  0%      0  0%      0  0%      0  0%      0  0%
mkdir      rmdir      readdir    fsstat
0  0%      0  0%      0  0%      0  0%
";

/// Linux, nfs-utils 2: columns of 17, and a count without a blank before its 100 %.
const LINUX: &str = "\
Server rpc stats:
calls      badcalls   badfmt     badauth    badclnt
1240000    0          0          0          0

Server nfs v3:
null             getattr          setattr          lookup           access
4         0%     120000   12%     123       0%     250000   25%     99973     9%
readlink         read             write            create           mkdir
0         0%     300000   30%     200000   20%     10000     1%     100       0%
symlink          mknod            remove           rmdir            rename
0         0%     0         0%     9000      0%     100       0%     700       0%
link             readdir          readdirplus      fsstat           fsinfo
0         0%     0         0%     5000      0%     2000      0%     900       0%
pathconf         commit
100       0%     2000      0%

Server nfs v4:
null             compound
2         0%     240000   99%

Server nfs v4 operations:
op0-unused       op1-unused       op2-future       access           close
0         0%     0         0%     0         0%     9000      1%     100       0%
putfh            getattr          read             create           lookup
240000   30%     230000   29%     70000     9%     25        0%     3000      0%

Client nfs v3:
null             getattr          setattr          lookup           access
0         0%     123456789100%     0         0%     0         0%     0         0%
readlink         read             write            create           mkdir
0         0%     0         0%     0         0%     0         0%     0         0%
symlink          mknod            remove           rmdir            rename
0         0%     0         0%     0         0%     0         0%     0         0%
link             readdir          readdirplus      fsstat           fsinfo
0         0%     0         0%     0         0%     0         0%     0         0%
pathconf         commit
0         0%     0         0%
";

/// FreeBSD 10 and its derivatives: no percentages, and other counters in the same columns.
const FREEBSD: &str = "\
Client Info:
Rpc Counts:
  Getattr   Setattr    Lookup  Readlink      Read     Write    Create    Remove
      100         0        50         0         0         0         0         0
   Rename      Link   Symlink     Mkdir     Rmdir   Readdir  RdirPlus    Access
        0         0         0         0         0         0         0         5
    Mknod    Fsstat    Fsinfo  PathConf    Commit
        0         0         0         0         0
Rpc Info:
 TimedOut   Invalid X Replies   Retries  Requests
        0         0         0         0       155
Cache Info:
Attr Hits    Misses Lkup Hits    Misses BioR Hits    Misses BioW Hits    Misses
        9         9         9         9         9         9         9         9

Server Info:
  Getattr   Setattr    Lookup  Readlink      Read     Write    Create    Remove
 12000000    800000   9000000      3000   4800000  15000000    490000    550000
   Rename      Link   Symlink     Mkdir     Rmdir   Readdir  RdirPlus    Access
   300000    110000      1300     28000     45000     60000     44000  24000000
    Mknod    Fsstat    Fsinfo  PathConf    Commit   LookupP   SetClId SetClIdCf
        4    410000      5300         6   1600000         0         0         0
     Open  OpenAttr OpenDwnGr  OpenCfrm DelePurge   DeleRet     GetFH      Lock
       70         0         0         0         0         0        80         0
Server Ret-Failed
                0
Server Faults
            0
Server Cache Stats:
   Inprog      Idem  Non-idem    Misses
        0         0         0         0
";

/// Solaris 10: a line of calls of each version, and an NFS_ACL with the same names.
const SOLARIS: &str = "\
Server rpc:
Connection oriented:
calls      badcalls   nullrecv   badlen     xdrcall    dupchecks  dupreqs
1000       0          0          0          0          35         0

Server nfs:
calls      badcalls
1000       0
Version 2: (0 calls)
null       getattr    setattr    root       lookup     readlink   read
0 0%       0 0%       0 0%       0 0%       0 0%       0 0%       0 0%
wrcache    write      create     remove     rename     link       symlink
0 0%       0 0%       0 0%       0 0%       0 0%       0 0%       0 0%
mkdir      rmdir      readdir    statfs
0 0%       0 0%       0 0%       0 0%
Version 3: (1000 calls)
null        getattr     setattr     lookup      access      readlink
0 0%        400 40%     0 0%        250 25%     50 5%       0 0%
read        write       create      mkdir       symlink     mknod
200 20%     100 10%     0 0%        0 0%        0 0%        0 0%
remove      rmdir       rename      link        readdir     readdirplus
0 0%        0 0%        0 0%        0 0%        0 0%        0 0%
fsstat      fsinfo      pathconf    commit
0 0%        0 0%        0 0%        0 0%

Server nfs_acl:
Version 2: (900000 calls)
null        getacl      setacl      getattr     access
0 0%        0 0%        0 0%        900000 100% 0 0%
";

const LIST: &str = "\
nfs v3 server        total:   100000
------------- ------------- --------
nfs v3 server      getattr:    99990
nfs v3 server      symlink:       10

nfs v4 client        total:   900000
------------- ------------- --------
nfs v4 client         read:   900000
";

const NFSD: &str = "\
rc 0 300 100
fh 0 0 0 0 0
io 1000 2000
th 8 0 0.000 0.000
net 400 0 400 2
rpc 400 0 0 0 0
proc3 22 0 10 0 20 0 0 60 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0
proc4 2 1 300
proc4ops 10 0 0 0 5 6 7 8 9 10 11
";

const MOUNTSTATS: &str = "\
device /dev/sda1 mounted on / with fstype ext4
device server:/a mounted on /a with fstype nfs statvers=1.1
\topts:\trw,vers=3,proto=tcp
\tper-op statistics
\t     GETATTR: 10 10 0 1200 1120 0 4 5 0
\t        READ: 30 31 0 1200 1120 0 4 5 0
device server:/b mounted on /b with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.1,proto=tcp
\tper-op statistics
\t        OPEN: 5 5 0 1200 1120 0 4 5
\t        READ: 60 60 0 1200 1120 0 4 5
";

fn counts(mix: &Mix) -> Vec<(&'static str, u64)> {
    mix.counts
        .iter()
        .map(|count| (count.operation.name(), count.count))
        .collect()
}

fn left_out(mix: &Mix) -> Vec<(&str, u64)> {
    mix.left_out
        .iter()
        .map(|left| (left.operation.as_str(), left.count))
        .collect()
}

#[test]
fn the_nfsstat_of_sunos_gives_the_percentages_of_nhfsstone() {
    let mix = parse(SUNOS, "sun.mix").expect("it is well formed");
    let nhfsstone = super::super::built_in("nhfsstone")
        .expect("it has a name")
        .mix();
    assert_eq!(mix.percent_rows(), nhfsstone.percent_rows());
    assert_eq!((mix.count(OpKind::Lookup), mix.sum()), (68_000, 200_000));
    assert_eq!(
        mix.notes,
        [
            "taken: Server nfs, line 6: 200000 calls of NFSv2",
            "not taken: Client nfs, line 16: 500 calls of NFSv2",
        ]
    );
}

#[test]
fn the_nfsstat_of_linux_gives_the_counts_of_the_server_of_version_3() {
    let mix = parse(LINUX, "linux.mix").expect("it is well formed");
    assert_eq!(mix.sum(), 1_000_000);
    assert_eq!(mix.count(OpKind::Access), 99_973);
    assert!(
        (mix.share(OpKind::PathConf) - 0.0001).abs() < 1e-12,
        "0.01 % survives"
    );
    assert_eq!(mix.counts.len(), 17);
    let notes = mix.notes.join("\n");
    assert!(
        notes.contains("not taken: Client nfs v3, line 27: 123456789 calls"),
        "{notes}"
    );
    assert!(
        notes.contains("Server nfs v4, line 17: 240000 calls"),
        "{notes}"
    );
}

#[test]
fn the_operations_of_version_4_are_mapped_and_the_rest_is_left_out() {
    let start = LINUX.find("Server nfs v4:").expect("a section");
    let end = LINUX.find("Client").expect("a section");
    let mix = parse(&LINUX[start..end], "v4.mix").expect("it is well formed");
    assert_eq!(
        counts(&mix),
        [
            ("null", 2),
            ("getattr", 230_000),
            ("lookup", 3_000),
            ("access", 9_000),
            ("read", 70_000),
            ("mkdir", 25)
        ]
    );
    assert_eq!(left_out(&mix), [("close", 100), ("putfh", 240_000)]);
    assert!(
        mix.notes
            .join("\n")
            .contains("operations within COMPOUNDs were counted")
    );
}

#[test]
fn the_nfsstat_of_freebsd_gives_the_counts_of_the_server() {
    let mix = parse(FREEBSD, "freebsd.mix").expect("it is well formed");
    assert_eq!(mix.count(OpKind::Write), 15_000_000);
    assert_eq!(mix.count(OpKind::ReadDirPlus), 44_000);
    assert_eq!(mix.count(OpKind::PathConf), 6);
    assert_eq!(left_out(&mix), [("getfh", 80), ("open", 70)]);
    let mix = parse(FREEBSD.split("Server Info").next().unwrap_or(""), "client").expect("a client");
    assert_eq!(
        counts(&mix),
        [("getattr", 100), ("lookup", 50), ("access", 5)]
    );
}

#[test]
fn the_nfsstat_of_solaris_gives_its_version_3_without_its_acl() {
    let mix = parse(SOLARIS, "solaris.mix").expect("it is well formed");
    assert_eq!(
        counts(&mix),
        [
            ("getattr", 400),
            ("lookup", 250),
            ("access", 50),
            ("read", 200),
            ("write", 100)
        ]
    );
    assert_eq!(
        mix.notes,
        ["taken: Server NFSv3, line 16: 1000 calls of NFSv3"]
    );
}

#[test]
fn an_operation_of_a_hundredth_of_a_percent_survives() {
    let mix = parse(LIST, "list.mix").expect("it is well formed");
    assert_eq!(counts(&mix), [("getattr", 99_990), ("symlink", 10)]);
    assert!((mix.percent_rows()[1].1 - 0.01).abs() < 1e-12);
}

#[test]
fn the_counters_of_the_kernel_are_mixes() {
    let mix = parse(NFSD, "nfsd").expect("it is well formed");
    assert_eq!(
        counts(&mix),
        [("getattr", 10), ("lookup", 20), ("read", 60), ("write", 10)]
    );
    assert!(mix.notes[1].starts_with("not taken: proc4 of net/rpc/nfsd, line 8: 300 calls"));
    let all = parse(MOUNTSTATS, "mountstats").expect("it is well formed");
    assert_eq!(counts(&all), [("getattr", 10), ("read", 90)]);
    assert_eq!(left_out(&all), [("open", 5)]);
    let one = parse_mount(MOUNTSTATS, "mountstats", "/a").expect("it is mounted");
    assert_eq!(counts(&one), [("getattr", 10), ("read", 30)]);
}

#[test]
fn our_own_format_takes_counts_and_shares_as_text_and_as_toml() {
    let text = "# a comment\nread 22.5%  # of all\nwrite: 0.01 %\n\nlookup 77.49%\nroot 0%\n";
    let mix = parse(text, "own.mix").expect("it is well formed");
    assert_eq!(
        counts(&mix),
        [("lookup", 7_749), ("read", 2_250), ("write", 1)]
    );
    assert_eq!(mix.name, "own.mix");
    let toml = "[mix]\nname = \"mail # 1\"\nabout = \"what our nfs: server does\"\nREAD = 1_800\nstatfs = \"2\"\n";
    let mix = parse(toml, "own.toml").expect("it is well formed");
    assert_eq!(counts(&mix), [("read", 1_800), ("fsstat", 2)]);
    assert_eq!((mix.name.as_str(), mix.notes.len()), ("mail # 1", 1));
}

#[test]
fn twenty_seven_damaged_files_give_as_many_clear_messages() {
    let lines = |text: &str, count: usize| -> String {
        text.lines()
            .take(count)
            .fold(String::new(), |text, line| text + line + "\n")
    };
    let damaged: [(&str, String); 27] = [
        ("cut after nfs:", lines(SUNOS, 6)),
        ("cut after the names of calls", lines(SUNOS, 7)),
        (
            "no calls",
            SUNOS.replacen("\n200000     0\nnull", "\n\nnull", 1),
        ),
        ("cut after calls", lines(SUNOS, 8)),
        ("cut after the first names", lines(SUNOS, 9)),
        ("cut after the second counts", lines(SUNOS, 12)),
        (
            "a count is missing",
            SUNOS.replace("2000 1%    0 0%       68000", "2000 1%    68000"),
        ),
        (
            "columns exchanged",
            SUNOS.replace("wrcache    write", "write      wrcache"),
        ),
        (
            "root was asked",
            SUNOS.replace("2000 1%    0 0%       68000", "2000 1%    7 0%       68000"),
        ),
        (
            "letters in a count",
            LINUX.replace("250000   25%", "25oooo   25%"),
        ),
        (
            "a count of 70 bits",
            LINUX.replace("250000   25%", "1180591620717411303424   25%"),
        ),
        (
            "a percentage alone",
            LINUX.replace("250000   25%", "         25%"),
        ),
        ("cut in Linux' section", lines(LINUX, 5)),
        ("cut after Linux' names", lines(LINUX, 8)),
        ("cut in Linux' table", lines(LINUX, 11)),
        ("a table twice", LINUX.repeat(2)),
        ("rpc only", lines(LINUX, 4)),
        (
            "a row of FreeBSD is short",
            FREEBSD.replace("     44000  24000000", "     44000"),
        ),
        (
            "a list line is cut",
            LIST.replace("getattr:    99990", "getattr:"),
        ),
        ("a list is cut", lines(LIST, 3)),
        (
            "proc3 is cut",
            NFSD.replace(" 60 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0", ""),
        ),
        (
            "mountstats is cut",
            MOUNTSTATS.replace("60 60 0 1200 1120 0 4 5", "60 60 0 12"),
        ),
        ("an unknown operation", "read 18\nraed 3\n".to_owned()),
        ("counts and shares", "read 18%\nwrite 82\n".to_owned()),
        ("shares of 108 %", "read 18%\nwrite 90%\n".to_owned()),
        ("no number", "read = many\n".to_owned()),
        ("nothing at all", String::new()),
    ];
    let mut messages = String::new();
    for (damage, text) in &damaged {
        let error = parse(text, "a.mix").expect_err(damage);
        assert!(error.help.is_some(), "{damage}: {error}");
        writeln!(messages, "# {damage}\nerror: {error}\n").expect("a String takes all");
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn whatever_a_file_is_cut_to_it_is_a_mix_or_an_error() {
    let samba = samba_in_short();
    for text in [
        SUNOS, LINUX, FREEBSD, SOLARIS, LIST, NFSD, MOUNTSTATS, &samba,
    ] {
        for end in 0..text.len() {
            if let Ok(mix) = parse(&text[..end], "cut") {
                assert!(mix.sum() > 0);
            }
        }
    }
}

/// nhfsstone divides by the number in the line of calls, whatever the sum of the counts.
#[test]
fn the_line_of_calls_is_read_and_told_where_it_is_not_the_sum() {
    let text = |calls: u64| {
        format!(
            "Server nfs:\ncalls badcalls\n{calls} 0\n\
             null getattr setattr root lookup readlink read\n\
             0 0% 26 13% 0 0% 0 0% 74 37% 0 0% 0 0%\n\
             wrcache write create remove rename link symlink\n\
             0 0% 100 50% 0 0% 0 0% 0 0% 0 0% 0 0%\n\
             mkdir rmdir readdir fsstat\n0 0% 0 0% 0 0% 0 0%\n"
        )
    };
    let calls_of = |calls| {
        let mix = parse(&text(calls), "mix.txt").expect("a mix");
        (mix.calls, mix.calls_beside_sum())
    };
    assert_eq!(calls_of(200), (Some(200), None));
    assert_eq!(calls_of(400), (Some(400), Some(400)));
    // The original divided by this number.
    assert_eq!(calls_of(0), (Some(0), None));
    let plain = parse("read 18\n", "mix.txt").expect("a mix");
    assert_eq!(plain.calls, None);
}

/// `smbstatus --profile` of Samba 4.17.12 after this mix on a share of it, 5,948 operations: lookup,
/// getattr and read 24 % each, write 12 %, setattr 6 %, null and rename 4 % each, commit 2 %.
const SAMBA: &str = include_str!("../../../tests/vectors/samba-4.17-profile.txt");

/// The lines of the profile that the parser uses.
fn samba_in_short() -> String {
    let is_read = |line: &&str| {
        let is_syscall = ["mkdirat", "unlinkat", "renameat", "linkat"]
            .iter()
            .any(|call| line.starts_with(&format!("syscall_{call}_count")));
        line.starts_with("****")
            || line.starts_with("smb2_") && line.contains("_count")
            || is_syscall
    };
    SAMBA
        .lines()
        .filter(is_read)
        .fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn the_profile_of_samba_gives_the_mix_that_was_asked_of_it() {
    let mix = parse(SAMBA, "profile").expect("a mix");
    assert_eq!(
        parse(&samba_in_short(), "profile").expect("a mix").counts,
        mix.counts
    );
    let counted = counts(&mix);
    // Other requests: the set was looked up, and each new name removed at the end, which takes a
    // CREATE that belongs to no other operation.
    assert_eq!(
        counted,
        [
            ("null", 238),
            ("getattr", 1427),
            ("setattr", 356),
            ("lookup", 1679),
            ("read", 1431),
            ("write", 717),
            ("remove", 239),
            ("rename", 238),
            ("readdirplus", 26),
            ("commit", 119),
        ]
    );
    assert_eq!(
        left_out(&mix),
        [
            ("smb2_logoff", 2),
            ("smb2_negprot", 5),
            ("smb2_sesssetup", 10),
            ("smb2_tcon", 5),
            ("smb2_tdis", 2),
        ]
    );
    assert!(
        mix.notes[0].starts_with("taken: SMB2 Calls of Samba's profile, line 356: "),
        "{:?}",
        mix.notes
    );
    // A client that keeps its files open sends more requests than CREATEs.
    let open = samba_in_short().replace(" 6206", " 6");
    let mix = parse(&open, "profile").expect("a mix");
    assert_eq!(
        (mix.count(OpKind::Lookup), mix.count(OpKind::Read)),
        (0, 1431)
    );
}

#[test]
fn damaged_profiles_of_samba_give_as_many_clear_messages() {
    let short = samba_in_short();
    let cut = short.find("smb2_flush").expect("it is there");
    let unused: String = SAMBA
        .lines()
        .map(|line| match line.split_once(": ") {
            Some((name, _)) => format!("{name}: 0\n"),
            None => format!("{line}\n"),
        })
        .collect();
    let damaged = [
        ("cut", short[..cut].to_owned()),
        ("letters in a count", short.replace(" 1431", " l431")),
        (
            "a count of 70 bits",
            short.replace(" 1431", " 1180591620717411303424"),
        ),
        ("twice", short.repeat(2)),
        ("more words", short.replace(" 1431", " 1431 1431")),
        (
            "not a counter",
            short.replace("smb2_read_count:", "smb2_read_count"),
        ),
        ("nothing counted", unused),
    ];
    let mut messages = String::new();
    for (damage, text) in &damaged {
        let error = parse(text, "profile").expect_err(damage);
        assert!(error.help.is_some() && error.line > 0, "{damage}: {error}");
        writeln!(messages, "# {damage}\nerror: {error}\n").expect("a String takes all");
    }
    insta::assert_snapshot!(messages);
}
