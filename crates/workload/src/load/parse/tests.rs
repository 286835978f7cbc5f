use super::*;
use crate::load::{Expected, LoadErrors, StepView};

fn compile(text: &str) -> Result<Load, LoadErrors> {
    let mut compiler = Compiler::new("a.load");
    for line in text.lines() {
        compiler.line(line.as_bytes());
    }
    compiler.finish()
}

fn compiled(text: &str) -> Load {
    compile(text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Returns line, column and text of every error.
fn faults(text: &str) -> Vec<(u32, u32, String)> {
    let errors = compile(text).expect_err("there are problems").errors;
    let told = |error: LoadError| (error.line, error.column, error.message);
    errors.into_iter().map(told).collect()
}

#[track_caller]
fn only_fault(text: &str, line: u32, column: u32, what: &str) {
    let faults = faults(text);
    let [(at, from, text)] = faults.as_slice() else {
        panic!("{faults:?}");
    };
    assert_eq!((*at, *from), (line, column), "{text}");
    assert!(text.contains(what), "{text}");
}

const OPEN: &str = "NTCreateX \"\\clients\\client1\\f\" 0x40 0x2 5 NT_STATUS_OK\n";

fn after_open(line: &str) -> String {
    format!("{OPEN}{line}")
}

#[test]
fn every_verb_of_the_cifs_grammar_is_an_operation() {
    let load = compiled(
        r#"
        Deltree "\clients\client1" NT_STATUS_OK
        # a comment
        Mkdir "\clients\client1" 0x00000000
        NTCreateX "\clients\client1\a b" 0x40 0x2 5 NT_STATUS_OK
        1.5 WriteX 5 0 10 10 SUCCESS
        Write 5 10 10 10 NT_STATUS_OK
        ReadX 5 0 20 20 NT_STATUS_OK
        flush 5 NT_STATUS_OK
        LockX 5 0 1 NT_STATUS_OK
        UnlockX 5 0 1 NT_STATUS_OK
        QUERY_FILE_INFORMATION 5 258 NT_STATUS_OK
        SET_FILE_INFORMATION 5 1004 NT_STATUS_OK
        Close 5 NT_STATUS_OK
        QUERY_PATH_INFORMATION "\clients\client1\A B" 1004 NT_STATUS_OK
        QUERY_FS_INFORMATION 259 NT_STATUS_OK
        FIND_FIRST "\clients\client1\*" 260 1366 0 *
        Rename "\clients\client1\a b" "\clients\client1\c" NT_STATUS_OK
        Unlink "\clients\client1\c" 0x6 NT_STATUS_OK
        Rmdir "\clients\client1" ERROR
        "#,
    );
    assert_eq!(load.generation(), Generation::Cifs);
    assert_eq!(load.operations(), 18);
    assert!(load.has_stamps());
    assert_eq!(load.lines_of(OpKind::WriteX), 2);
    let find = load.steps().find(|step| step.kind() == OpKind::FindFirst);
    let find = find.expect("it is there");
    assert_eq!((find.line(), find.expected()), (17, Expected::Anything));
    assert_eq!(find.path().as_deref(), Some(&b"clients/client1/*"[..]));
    assert_eq!(
        (find.number(0), find.number(1), find.number(3)),
        (Some(260), Some(1_366), None)
    );
}

#[test]
fn every_verb_of_the_nfs_grammar_is_an_operation() {
    let load = compiled(
        r#"
        0.000 Deltree "/clients/client1" 0x00000000
        MKDIR3 "/clients" *
        MKDIR3 "/clients/client1" *
        LOOKUP3 "/clients/client1" 0x0
        GETATTR3 "/clients/client1" 0x0
        CREATE3 "/clients/client1/f" 0x0
        SETATTR3 "/clients/client1/f" 0x0
        ACCESS3 "/clients/client1/f" 0x3f 0x2d 0x0
        ACCESS3 "/clients/client1/f" 0x0
        WRITE3 "/clients/client1/f" 0 100 2 0x0
        READ3 "/clients/client1/f" 0 100 0x0
        COMMIT3 "/clients/client1/f" 0x0
        SYMLINK3 "/clients/client1/s" "/clients/client1/f" 0x0
        READLINK3 "/clients/client1/s" 0x0
        LINK3 "/clients/client1/l" "/clients/client1/f" 0x0
        RENAME3 "/clients/client1/l" "/clients/client1/m" 0x0
        REMOVE3 "/clients/client1/m" 0x0
        RMDIR3 "/clients/client1" 0x42
        READDIRPLUS3 "/clients/client1" 0x0
        FSSTAT3 0x0
        FSINFO3 0x0
        PATHCONF3 "/" 0x0
        LOCK4 "/clients/client1/f" 5 15 0x0
        TEST4 "/clients/client1/f" 5 15 0x0
        UNLOCK4 "/clients/client1/f" 5 15 0x0
        "#,
    );
    assert_eq!(
        (load.generation(), load.operations()),
        (Generation::Nfs, 25)
    );
    let line = |number| load.steps().find(|step| step.line() == number);
    let symlink = line(14).expect("it is there");
    let text = symlink.name(1).expect("the text of the link");
    assert_eq!(load.path(text), b"/clients/client1/f");
    let rmdir = line(19).expect("it is there");
    assert_eq!(rmdir.expected(), Expected::Number(0x42));
    let root = line(23).and_then(|step: StepView<'_>| step.path());
    assert_eq!(root.as_deref(), Some(&b""[..]));
}

#[test]
fn lines_of_dbench_2_have_neither_quotes_nor_statuses() {
    let load = compiled(concat!(
        "Deltree \\clients\\client1\n",
        "QUERY_FS_INFORMATION 0x105\n",
        "NTCreateX \\clients\\client1\\x 0x40 0x1 -1\n",
        "FIND_FIRST \\clients\\client1\\FILLER\"*\n",
        "NTCreateX \\clients\\client1\\x 0x40 0x2 12\n",
        "WriteX 12 65534 1 1\n",
        "Close 12\n",
        "Unlink \\clients\\client1\\x\n",
    ));
    assert_eq!(
        (load.generation(), load.operations()),
        (Generation::Dbench2, 8)
    );
    let expected: Vec<Expected> = load.steps().map(|step| step.expected()).collect();
    let anything = Expected::Anything;
    let failure = Expected::Failure;
    let success = Expected::Success;
    assert_eq!(
        expected,
        [
            anything, anything, failure, anything, success, success, success, success
        ]
    );
    let pattern = load.steps().nth(3).and_then(|step| step.path());
    assert_eq!(pattern.as_deref(), Some(&b"clients/client1/FILLER\"*"[..]));
}

#[test]
fn a_trace_of_dbench_1_is_carried_out_when_its_replies_come() {
    let load = compiled(concat!(
        "SMBmkdir REQUEST Path \\CLIENTS\\CLIENT1\n",
        "SMBmkdir REPLY \n",
        "SMBgetatr REQUEST  Path \\NBSIMULD\\LOGOUT.SEM\n",
        "SMBgetatr REPLY  ERRbadfile\n",
        "SMBtrans2 REQUEST  TRANSACT2_FINDFIRST DataOff 0 File \\NBSIMULD\\*.SEM\n",
        "SMBopenX REQUEST  Size 0 Path \\NBSIMULD\\nbmix.cfg\n",
        "SMBopenX REPLY  Handle 4182 Size 1386\n",
        "SMBreadbraw REQUEST  Handle 4182 Offset 462 MaxCount 3634\n",
        "SMBclose REQUEST  Handle 4182\n",
        "SMBclose REPLY \n",
        "SMBopenX REQUEST  Size 0 Path \\NOTHING\n",
        "SMBopenX REPLY  ERRbadfile\n",
        "CREATE REQUEST Path \\CLIENTS\\CLIENT1\\A.XLS Size 260096\n",
        "SMBwrite REQUEST  Handle 4183 ByteCount 1 Offset 7\n",
        "SMBmv REQUEST  OldPath \\CLIENTS\\CLIENT1\\A.XLS NewPath \\CLIENTS\\CLIENT1\\B\n",
        "SMBunlink REQUEST  Path \\CLIENTS\\CLIENT1\\B\n",
        "SMBunlink REPLY \n",
    ));
    assert_eq!(
        (load.generation(), load.operations()),
        (Generation::Dbench1, 8)
    );
    let steps: Vec<(u32, OpKind)> = load
        .steps()
        .map(|step| (step.line(), step.kind()))
        .collect();
    let wanted = [
        (1, OpKind::MkDir),
        (7, OpKind::OpenX),
        (8, OpKind::ReadX),
        (9, OpKind::Close),
        (13, OpKind::OpenX),
        (13, OpKind::Close),
        (14, OpKind::WriteX),
        (15, OpKind::Rename),
        (17, OpKind::Unlink),
    ];
    assert_eq!(steps, wanted);
    let opened = load.steps().nth(1).expect("it is there");
    // Files of the traced machine next to its clients are moved below them.
    assert_eq!(
        opened.path().as_deref(),
        Some(&b"clients/nbsimuld/nbmix.cfg"[..])
    );
    assert_eq!(
        (opened.number(0), opened.number(1)),
        (Some(1_386), Some(4_182))
    );
    let unlink = load.steps().last().expect("it is there");
    assert_eq!(unlink.expected(), Expected::Success);
}

#[test]
fn all_problems_are_told_with_their_places() {
    let text = concat!(
        "NTCreatX \"\\clients\\client1\\f\" 0x40 0x2 5 NT_STATUS_OK\n",
        "ReadX 5 0 10 10 NT_STATUS_OKAY\n",
        "ReadX 6 0 10 10 NT_STATUS_OK\n",
        "ReadX 5 0 10 NT_STATUS_OK\n",
        "ReadX 5 0x 10 10 NT_STATUS_OK\n",
        "Unlink \"\\clients\\client1\\g\" 0x6 NT_STATUS_OK\n",
        "ENDLOOP\n",
        "Unlink \"\\etc\\passwd\" 0x6 NT_STATUS_OK\n",
    );
    let errors = compile(text).expect_err("there are problems");
    let told: Vec<String> = errors.to_string().lines().map(str::to_owned).collect();
    let wanted = [
        "a.load:1:1: there is no operation \"NTCreatX\"",
        "help: did you mean NTCreateX?",
        "a.load:2:17: \"NT_STATUS_OKAY\" is no status",
        "help: did you mean NT_STATUS_OK?",
        "a.load:3:7: handle 6 is not open: no line before this one opens it",
        "help: an NTCreateX with this handle that is expected to succeed must come first",
        "a.load:4:1: ReadX takes 4 arguments, not 3",
        "help: a line reads: ReadX handle offset size transferred status",
        "a.load:5:9: \"0x\" is not a number",
        "help: a number as in C (10, 0xa, 012), or * or + with their qualifiers, such as *%0x100000/4096",
        "a.load:6:8: \"clients/client1/g\" does not exist: no line before this one makes it",
        "help: create it first, or expect the failure",
        "a.load:7:1: ENDLOOP without LOOP",
        "a.load:8:8: \"/etc/passwd\" is not in clients/, so unlink may not change it",
        "help: a load changes nothing but what is below /clients, such as \"/clients/client1/file\"",
    ];
    assert_eq!(told, wanted);
}

#[test]
fn a_missing_status_is_told_as_that() {
    only_fault(
        &after_open("Close 5"),
        2,
        8,
        "the status is missing after \"5\"",
    );
    only_fault("FSSTAT3 0x0\nFSINFO3", 2, 1, "the status is missing");
    only_fault(&after_open("Close 5 17"), 2, 9, "\"17\" is no status");
}

#[test]
fn expressions_that_divide_by_zero_are_refused() {
    only_fault(
        &after_open("ReadX 5 *%100/0 1 1 NT_STATUS_OK"),
        2,
        9,
        "divides by zero",
    );
    only_fault(
        &after_open("ReadX 5 0x10000000000000000 1 1 *"),
        2,
        9,
        "64 bits",
    );
}

#[test]
fn loops_must_be_balanced() {
    only_fault(
        &after_open("LOOP 5\nFlush 5 *\n"),
        2,
        1,
        "LOOP without ENDLOOP",
    );
    only_fault(&after_open("ENDLOOP\n"), 2, 1, "ENDLOOP without LOOP");
    only_fault(
        &after_open("LOOP\nENDLOOP\n"),
        2,
        1,
        "LOOP does not take 0 arguments",
    );
    only_fault(&after_open("REPEAT 5\n"), 2, 1, "no operation follows");
    only_fault(
        &after_open("REPEAT 5\nSLEEP 1\nFlush 5 *"),
        2,
        1,
        "no operation follows",
    );
}

#[test]
fn a_handle_may_come_from_the_turn_before() {
    compiled(concat!(
        "LOOP 3\n",
        "ReadX 5 0 1 1 *\n",
        "NTCreateX \"\\clients\\client1\\f\" 0 2 5 NT_STATUS_OK\n",
        "ENDLOOP\n",
    ));
    let never = "LOOP 3\nReadX 5 0 1 1 *\nENDLOOP\n";
    only_fault(never, 2, 7, "handle 5 is not open");
    only_fault(
        &after_open("Close 5 *\nFlush 5 SUCCESS\n"),
        3,
        7,
        "line 2 closed it",
    );
    // An open that must fail opens nothing.
    let failing = "NTCreateX \"\\clients\\client1\\f\" 0 1 5 ERROR\nFlush 5 SUCCESS\n";
    only_fault(failing, 2, 7, "handle 5 is not open");
}

#[test]
fn what_is_outside_may_be_read_but_not_changed() {
    let open = "NTCreateX \"\\data\\f\" 0x40 0x1 9 NT_STATUS_OK\n";
    compiled(&format!(
        "{open}ReadX 9 0 10 10 NT_STATUS_OK\nQUERY_PATH_INFORMATION \"\\x\" 1 *"
    ));
    only_fault(
        &format!("{open}WriteX 9 0 10 10 NT_STATUS_OK"),
        2,
        8,
        "must not be changed",
    );
    only_fault(
        &format!("{open}WriteX *%20 0 10 10 NT_STATUS_OK"),
        2,
        8,
        "may write to the file outside",
    );
    let turned = format!(
        "{OPEN}LOOP 2\nWriteX 5 0 1 1 *\nNTCreateX \"\\data\\f\" 0x40 0x1 5 SUCCESS\nENDLOOP"
    );
    only_fault(&turned, 3, 8, "must not be changed");
    for line in [
        "NTCreateX \"\\data\\f\" 0x40 0x5 9 NT_STATUS_OK",
        "NTCreateX \"\\data\\f\" 0x40 *%6 9 NT_STATUS_OK",
        "Deltree \"\\\" NT_STATUS_OK",
        "Mkdir \"\\clientsx\" NT_STATUS_OK",
        "Rename \"\\clients\\client1\\f\" \"\\f\" *",
        "Rename \"\\clients\" \"\\clients\\client1\\f\" *",
        "Unlink \"\\clients\\made-by-filestone\" 0 *",
        "LINK3 \"/clients/client1/a\" \"/etc/passwd\" 0x0",
        "WRITE3 \"/data/f\" 0 1 0 0x0",
    ] {
        let faults = faults(line);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].2.contains("may not change it"), "{faults:?}");
    }
    only_fault("READ3 \"/data/../x\" 0 1 0x0", 1, 7, "\"..\"");
}

#[test]
fn deltree_of_all_clients_means_the_own_tree() {
    let load = compiled("Deltree \"/clients\" 0x0\n");
    let path = load.steps().next().and_then(|step| step.path());
    assert_eq!(path.as_deref(), Some(&b"clients/client1"[..]));
}

#[test]
fn files_that_nothing_can_have_made_are_told() {
    let read = "READ3 \"/clients/client1/d/f\" 0 1 0x0\n";
    only_fault(read, 1, 7, "does not exist");
    for before in [
        "CREATE3 \"/clients/client1/d/f\" *\n",
        "CREATE3 \"/clients/client1/d/F/x\" 0x0\n",
        "MKDIR3 \"/clients/client1/e\" 0x0\nRENAME3 \"/clients/client1/e\" \"/clients/client1/d\" 0x0\n",
        "RANDOMSTRING 1 \"/clients/client1/[ab]\"\nMKDIR3 $1 *\n",
    ] {
        compiled(&format!("{before}{read}"));
    }
    // Other trees and failures are not checked.
    compiled("READ3 \"/clients/client1/d/f\" 0 1 0x2\nREAD3 \"/pub/f\" 0 1 0x0\n");
}

#[test]
fn kinds_of_verbs_do_not_mix() {
    let text = "CREATE3 \"/clients/client1/f\" 0x0\nFlush 5 *\nFSSTAT3 0x0\nFlush 5 *\n";
    let faults = faults(text);
    assert_eq!(
        faults
            .iter()
            .filter(|(.., what)| what.contains("Flush is a verb"))
            .count(),
        1
    );
}

#[test]
fn load_files_of_other_backends_are_refused_in_one_message() {
    for (text, backend) in [
        ("LOOP 10\nWRITE *%0x1000 4096 0x0\nENDLOOP\n", "block"),
        ("0.000 TESTUNITREADY 0x00\n", "iscsi"),
        ("READ10 0 1 0 0 0x0\n", "scsi"),
    ] {
        let faults = faults(text);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].2.contains(backend), "{faults:?}");
    }
}

/// In the order of the table of dbench's smb backend.
#[test]
fn every_verb_of_the_smb_backend_is_an_operation() {
    let load = compiled(
        r#"
        MKDIR "/foo" SUCCESS
        1.5 OPEN "/foo/test.txt" 0x0c SUCCESS
        write "\foo\test.txt" 0 50 SUCCESS
        READ "/foo/test.txt" *%0x100 100 ERROR
        CLOSE "/foo/test.txt" *
        UNLINK "/foo/test.txt" SUCCESS
        READDIR "/" SUCCESS
        RMDIR "/foo" ERROR
        Deltree "/foo" *
        "#,
    );
    assert_eq!(load.generation(), Generation::Smb);
    assert_eq!(load.operations(), 9);
    let words = load
        .steps()
        .map(|step| verb::word_of(Generation::Smb, step.kind()));
    let expected = [
        "MKDIR", "OPEN", "WRITE", "READ", "CLOSE", "UNLINK", "READDIR", "RMDIR", "Deltree",
    ];
    assert_eq!(words.collect::<Vec<_>>(), expected);
    let mut sorted = expected;
    sorted.sort_unstable_by_key(|word| word.to_lowercase());
    let table = verb::table_order(Generation::Smb).iter();
    let table: Vec<_> = table
        .map(|kind| verb::word_of(Generation::Smb, *kind).to_lowercase())
        .collect();
    // CLOSE is before Deltree in the alphabet, after it in the table.
    assert_eq!(table[2..], sorted.map(str::to_lowercase)[2..]);
    let expected: Vec<Expected> = load.steps().map(|step| step.expected()).collect();
    assert_eq!(expected[3], Expected::FailureOrShort);
    assert_eq!(expected[7], Expected::Failure);
}

#[test]
fn what_a_load_by_path_changes_is_below_clients() {
    let paths = |text: &str| -> Vec<String> {
        let load = compiled(text);
        let named = load.steps().filter_map(|step| step.name(0));
        named
            .map(|id| String::from_utf8(load.path(id)).expect("text"))
            .collect()
    };
    assert_eq!(
        paths(
            "MKDIR \"/client1\" *\nREADDIR \"/\" *\nOPEN \"/a\" 0x0c *\nOPEN \"/clients/b\" 0 *\n"
        ),
        ["clients/client1", "clients", "clients/a", "clients/b"]
    );
    // A read-only load uses existing files.
    assert_eq!(
        paths("READDIR \"/\" *\nOPEN \"/a/client1\" 0x41 *\nREAD \"/a/client1\" 0 1 *\n"),
        ["", "a/client1"]
    );
    // The run's marker file and other clients' trees are protected.
    let fault = "OPEN \"/made-by-filestone\" 0x0c SUCCESS\n";
    only_fault(fault, 1, 6, "the run's own mark");
    assert_eq!(
        paths("Deltree \"/\" *\nOPEN \"/a\" 0x0c *\n")[0],
        "clients/client1"
    );
}

#[test]
fn paths_that_are_not_open_are_told() {
    let open = "OPEN \"/a\" 0x0c SUCCESS\n";
    only_fault(
        "OPEN \"/b\" 0x0c ERROR\nREAD \"/b\" 0 1 *\n",
        2,
        6,
        "\"/b\" is not open",
    );
    let closed = format!("{open}CLOSE \"\\a\" *\nWRITE \"/a\" 0 1 *\n");
    only_fault(&closed, 3, 7, "not open any more: line 2 closed it");
    let mixed = format!("{open}ReadX 7 0 1 1 NT_STATUS_OK\n");
    assert!(
        faults(&mixed)[0].2.contains("is a verb of CIFS-style"),
        "{:?}",
        faults(&mixed)
    );
    let mixed = format!("{OPEN}{open}");
    assert!(
        faults(&mixed)[0].2.contains("a verb of SMB load files"),
        "{:?}",
        faults(&mixed)
    );
    only_fault("OPEN \"/a\" 0x14 *\n", 1, 11, "exclusive");
    only_fault("OPEN \"/a\" 0x8c *\n", 1, 11, "0x8c");
    // Any of these may be the file that was opened.
    compiled("RANDOMSTRING 1 \"/f[01]\"\nOPEN $1 0x0c *\nREAD $1 0 1 *\nCLOSE $1 *\n");
}

#[test]
fn what_is_no_load_file_is_one_problem() {
    for (text, what) in [
        ("", "no operation in it"),
        ("# only\n\n# comments\n", "no operation in it"),
        ("\0\x01\x02", "not text"),
        (
            "one\ntwo words\nthree\nfour\n",
            "no line begins with an operation",
        ),
    ] {
        only_fault(text, faults(text)[0].0, faults(text)[0].1, what);
    }
    let mut compiler = Compiler::new("long");
    compiler.line(&vec![b'x'; LONGEST_LINE + 1]);
    assert!(compiler.is_hopeless());
}

#[test]
fn slots_must_be_filled_before_they_are_used() {
    let name = "\"/clients/client1/$2\"";
    // Before any random string, a dollar is a plain character.
    compiled(&format!("CREATE3 {name} 0x0\n"));
    let text = format!("RANDOMSTRING 1 \"a[bc]\"\nCREATE3 {name} 0x0\n");
    only_fault(&text, 2, 27, "$2 is empty");
    only_fault(
        "RANDOMSTRING 10 \"a\"\nFSSTAT3 0x0",
        1,
        14,
        "no random string 10",
    );
    only_fault(
        "RANDOMSTRING 1 \"a[b\"\nFSSTAT3 0x0",
        1,
        16,
        "without its \"]\"",
    );
}

#[test]
fn unquoted_names_and_both_slashes_work() {
    let load = compiled("CREATE3 /clients\\client1//f 0x0\nREMOVE3 clients/client1/f 0x0\n");
    let ids: Vec<_> = load.steps().map(|step| step.path_id()).collect();
    assert_eq!(ids, [Some(0), Some(1)]);
    for step in load.steps() {
        assert_eq!(step.path().as_deref(), Some(&b"clients/client1/f"[..]));
    }
}

#[test]
fn repetitions_are_told_with_the_step() {
    let text =
        "LOOP 3\nREPEAT 0x10\nFSSTAT3 0x0\nLOOP 2\nFSINFO3 0x0\nENDLOOP\nENDLOOP\nFSINFO3 0x0";
    let load = compiled(text);
    let times: Vec<u64> = load.steps().map(|step| step.times()).collect();
    assert_eq!(times, [48, 6, 1]);
    assert_eq!(load.operations(), 3);
}

#[test]
fn impossible_numbers_are_refused_where_they_stand() {
    only_fault(
        "NTCreateX \"\\clients\\client1\\f\" 0 6 5 *",
        1,
        34,
        "disposition 6",
    );
    only_fault(&after_open("ReadX 5 0 2000000000 0 *"), 2, 11, "1 GiB");
    let open = "SMBopenX REQUEST  Size 0 Path \\A\nSMBopenX REPLY  Handle 1 Size 2000000000\n";
    only_fault(open, 2, 1, "1 GiB");
    let write = "CREATE3 \"/clients/client1/f\" 0x0\nWRITE3 \"/clients/client1/f\" 0 1 3 0x0";
    only_fault(write, 2, 33, "stability 3");
    only_fault("ACCESS3 \"/\" 0x1 0x3 0x0", 1, 17, "cannot be granted");
    only_fault("1.2.3 FSSTAT3 0x0", 1, 1, "no time stamp");
}

#[test]
fn the_example_of_the_documentation_compiles() {
    let page = include_str!("../../../../../docs/reference/load-file.md");
    let (_, example) = page
        .split_once("## An example\n\n```\n")
        .expect("it is the last section");
    let load = compiled(example.trim_end().trim_end_matches("```"));
    assert_eq!((load.operations(), load.generation()), (9, Generation::Nfs));
}
