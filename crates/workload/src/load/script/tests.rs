use super::*;
use crate::load::Compiler;
use proptest::prelude::*;

fn compiled(text: &str) -> Arc<Load> {
    let mut compiler = Compiler::new("test.load");
    for line in text.lines() {
        compiler.line(line.as_bytes());
    }
    match compiler.finish() {
        Ok(load) => Arc::new(load),
        Err(errors) => panic!("{errors}"),
    }
}

/// Returns all actions of one iteration of client 2 of 3, one line of text each.
fn pass(text: &str) -> Vec<String> {
    let mut script = Script::new(compiled(text), 2, 3, 1);
    one_pass(&mut script)
}

fn one_pass(script: &mut Script) -> Vec<String> {
    let mut told = Vec::new();
    loop {
        let next = script.next();
        told.push(match &next {
            Ok(ScriptAction::EndOfPass) => return told,
            Ok(ScriptAction::Operation(line)) => {
                format!("{} {}", line.number, told_action(&line.action))
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        });
        assert!(told.len() < 10_000, "the pass does not end");
    }
}

fn told_action(action: &LoadAction<'_>) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match action {
        LoadAction::Read { path, offset, len } => format!("read {} {offset} {len}", text(path)),
        LoadAction::Open { path, mode, handle } => {
            let is = |is, letter| if is { letter } else { "-" };
            let mode = [
                is(mode.reads, "r"),
                is(mode.writes, "w"),
                is(mode.creates, "c"),
                is(mode.is_exclusive, "x"),
                is(mode.cuts, "t"),
            ];
            format!("open {} {} {handle:x}", text(path), mode.concat())
        }
        LoadAction::ReadX {
            handle,
            offset,
            len,
            expected_len,
        } => format!("readx {handle:x} {offset} {len} {expected_len}"),
        LoadAction::WriteX {
            handle,
            offset,
            len,
            expected_len,
        } => format!("writex {handle:x} {offset} {len} {expected_len}"),
        LoadAction::Close { handle } => format!("close {handle:x}"),
        LoadAction::Create { path } => format!("create {}", text(path)),
        LoadAction::Symlink { path, target } => format!("symlink {} {}", text(path), text(target)),
        other => other.kind().name().to_owned(),
    }
}

#[test]
fn a_line_is_what_it_says() {
    let load = compiled(
        "NTCreateX \"\\clients\\client1\\a b\" 0x40 0x2 7 NT_STATUS_OK\n\
         0.5 ReadX 7 4096 100 99 NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\\none\" 0x40 0x1 8 NT_STATUS_OBJECT_NAME_NOT_FOUND\n",
    );
    assert_eq!((load.operations(), load.lines()), (3, 3));
    let mut script = Script::new(load, 4, 5, 1);
    let Ok(ScriptAction::Operation(line)) = script.next() else {
        panic!("it begins with an operation");
    };
    assert_eq!(
        (line.number, line.stamp, line.expected),
        (1, None, Expected::Success)
    );
    assert!(!line.data.bytes.is_empty());
    let LoadAction::NtCreateX {
        path,
        options,
        handle,
        ..
    } = line.action
    else {
        panic!("{:?}", line.action);
    };
    assert_eq!(
        (path, options, handle),
        (&b"clients/client4/a b"[..], 0x40, 7)
    );
    let Ok(ScriptAction::Operation(line)) = script.next() else {
        panic!("it goes on");
    };
    assert_eq!(line.stamp, Some(Duration::from_millis(500)));
    assert_eq!(
        line.action,
        LoadAction::ReadX {
            handle: 7,
            offset: 4_096,
            len: 100,
            expected_len: 99
        }
    );
    let Ok(ScriptAction::Operation(line)) = script.next() else {
        panic!("it goes on");
    };
    assert_eq!(line.expected, Expected::Nt(0xc000_0034));
    assert_eq!(script.next(), Ok(ScriptAction::EndOfPass));
    assert!(matches!(
        script.next(),
        Ok(ScriptAction::Operation(Line { number: 1, .. }))
    ));
}

/// Handles are FNV-1a of the path as in the load, so that they do not depend on the client, the
/// spelling or random strings. `a` is af63dc4c8601ec8c.
#[test]
fn a_path_stands_for_the_file_that_it_opened() {
    let told = pass(
        "OPEN \"/a\" 0x2c SUCCESS\n\
         WRITE \"\\a\" 10 100000 SUCCESS\n\
         REPEAT 2\n\
         WRITE \"/a\" +5 +1 SUCCESS\n\
         READ \"//a/\" 0 100 SUCCESS\n\
         CLOSE \"/a\" SUCCESS\n\
         RANDOMSTRING 3 \"[a]\"\n\
         OPEN \"/$3\" 0x01 SUCCESS\n\
         READ \"/$3\" *%1 +2 SUCCESS\n",
    );
    let a = "af63dc4c8601ec8c";
    assert_eq!(
        told,
        [
            format!("1 open clients/a rwc-t {a}"),
            format!("2 writex {a} 10 65536 65536"),
            format!("4 writex {a} 15 65536 65536"),
            format!("4 writex {a} 20 65536 65536"),
            format!("5 readx {a} 0 100 100"),
            format!("6 close {a}"),
            format!("8 open clients/a r---- {a}"),
            // The handle of an OPEN does not count as one of its numbers.
            format!("9 readx {a} 0 2 2"),
        ]
    );
}

#[test]
fn loops_nest_and_the_line_after_endloop_is_run() {
    let text = "LOOP 2\nFSSTAT3 0x0\nLOOP 2\nFSINFO3 0x0\nENDLOOP\nENDLOOP\nFSSTAT3 0x0";
    let once = ["2 fsstat", "4 fsinfo", "4 fsinfo"];
    assert_eq!(pass(text), [&once[..], &once[..], &["7 fsstat"]].concat());
    // An ENDLOOP at the very end of the file also ends the loop.
    assert_eq!(
        pass("LOOP 2\nFSSTAT3 0x0\nENDLOOP"),
        ["2 fsstat", "2 fsstat"]
    );
}

#[test]
fn loops_without_turns_or_content_are_passed_over() {
    let text = "LOOP 0\nFSSTAT3 0x0\nENDLOOP\nLOOP 0x8000000000000000\nRANDOMSTRING 1 \"a\"\nLOOP 9223372036854775808\nENDLOOP\nREPEAT 0\nFSSTAT3 0x0\nENDLOOP\nFSINFO3 0x0";
    assert_eq!(pass(text), ["11 fsinfo"]);
}

#[test]
fn a_repetition_without_end_is_still_one_line_at_a_time() {
    let load = compiled("REPEAT 9223372036854775808\n0.25 FSSTAT3 0x0\n");
    let mut script = Script::new(load, 0, 1, 1);
    for turn in 0..1_000 {
        let Ok(ScriptAction::Operation(line)) = script.next() else {
            panic!("it goes on");
        };
        // Only the first is due at the time stamp.
        assert_eq!(line.stamp.is_some(), turn == 0);
    }
}

#[test]
fn plus_goes_on_from_the_operation_before_of_the_same_client() {
    let text = concat!(
        "READ3 \"/f\" 100 4096 *\n",
        "REPEAT 3\n",
        "READ3 \"/f\" +4096 8 *\n",
        "READ3 \"/f\" +child +num_children *\n",
    );
    let wanted = [
        "1 read f 100 4096",
        "3 read f 4196 8",
        "3 read f 8292 8",
        "3 read f 12388 8",
        "4 read f 12390 11",
    ];
    assert_eq!(pass(text), wanted);
    let mut script = Script::new(compiled(text), 2, 3, 1);
    one_pass(&mut script);
    assert_eq!(one_pass(&mut script), wanted);
}

#[test]
fn random_numbers_depend_on_the_seed_and_the_client_only() {
    let load = compiled("REPEAT 100\nREAD3 \"/f\" *%0x100000/4096 8 *\n");
    let told = |client, seed| one_pass(&mut Script::new(load.clone(), client, 9, seed));
    assert_eq!(told(1, 5), told(1, 5));
    assert_ne!(told(1, 5), told(2, 5));
    assert_ne!(told(1, 5), told(1, 6));
}

#[test]
fn random_strings_go_into_names_and_numbers() {
    let text = concat!(
        "RANDOMSTRING 1 \"/clients/client1/f[7]\"\n",
        "RANDOMSTRING 2 4[2]\n",
        "CREATE3 $1 *\n",
        "READ3 \"/clients/client1/f7\" $2 0x$2 *\n",
        "CREATE3 \"/clients/client1/d$2~$\" *\n",
        "SYMLINK3 \"$1\" \"../$2\" *\n",
    );
    assert_eq!(
        pass(text),
        [
            "3 create clients/client2/f7",
            "4 read clients/client2/f7 42 66",
            "5 create clients/client2/d42~$",
            "6 symlink clients/client2/f7 ../42",
        ]
    );
}

#[test]
fn random_names_outside_are_put_below_clients_if_the_load_changes_them() {
    let text = "RANDOMSTRING 1 \"/test[1].file\"\nCREATE3 $1 *\nREAD3 $1 0 1 0x0\n";
    assert_eq!(
        pass(text),
        [
            "2 create clients/test1.file",
            "3 read clients/test1.file 0 1"
        ]
    );
    // A read-only load uses existing files.
    let text = "RANDOMSTRING 1 \"/test[1].file\"\nREAD3 $1 0 1 0x0\n";
    assert_eq!(pass(text), ["2 read test1.file 0 1"]);
}

#[test]
fn random_strings_are_checked_when_they_are_known() {
    let text = concat!(
        "RANDOMSTRING 1 \"[.][.]\"\n",
        "RANDOMSTRING 2 \"x[/]\"\n",
        "CREATE3 \"/clients/client1/$1/passwd\" *\n",
        "CREATE3 \"$2/../y\" *\n",
        "READ3 \"/f\" $1 0 *\n",
        "RANDOMSTRING 3 \"[c]lients\"\n",
        "REMOVE3 $3 *\n",
        "FSSTAT3 *\n",
    );
    let mut compiler = Compiler::new("test.load");
    text.lines()
        .filter(|line| !line.contains("/../"))
        .for_each(|line| compiler.line(line.as_bytes()));
    let load = Arc::new(compiler.finish().expect("nothing is known before"));
    let told = one_pass(&mut Script::new(load, 0, 1, 1));
    assert_eq!(told.len(), 4);
    assert!(told[0].contains("\"..\""), "{told:?}");
    assert!(told[1].contains("is not a number"), "{told:?}");
    assert!(told[2].contains("may not change it"), "{told:?}");
    assert!(told[3].ends_with("fsstat"), "{told:?}");
}

#[test]
fn patterns_fill_writes_without_the_end_of_the_line() {
    let load = compiled(concat!(
        "MKDIR3 \"/clients/client1\" *\n",
        "WRITEPATTERN 1234 567\n",
        "FSSTAT3 0x0\n",
    ));
    let mut script = Script::new(load, 0, 1, 1);
    let plain = match script.next() {
        Ok(ScriptAction::Operation(line)) => line.data.bytes.to_vec(),
        other => panic!("{other:?}"),
    };
    assert!(plain.len() >= 1 << 16 && plain[..8] != plain[8..16]);
    match script.next() {
        Ok(ScriptAction::Operation(line)) => {
            assert!(line.data.bytes.len() >= 1 << 16);
            assert!(line.data.bytes.chunks(8).all(|chunk| chunk == b"1234 567"));
        }
        other => panic!("{other:?}"),
    }
    script.next().expect("the pass ends");
    // Each iteration starts as the first one did.
    assert!(matches!(script.next(), Ok(ScriptAction::Operation(line)) if line.data.bytes == plain));
}

/// dbench's is zero, too: 7,424 writes of client.txt extend a file by such a byte.
#[test]
fn a_single_byte_is_zero_unless_a_pattern_says_otherwise() {
    let load = compiled(concat!(
        "NTCreateX \"/clients/client1/a\" 0x0 2 7 NT_STATUS_OK\n",
        "WriteX 7 65534 1 1 NT_STATUS_OK\n",
        "WriteX 7 0 2 2 NT_STATUS_OK\n",
        "WRITEPATTERN xyz\n",
        "WriteX 7 65534 1 1 NT_STATUS_OK\n",
        "Close 7 NT_STATUS_OK\n",
    ));
    let mut script = Script::new(load, 0, 1, 1);
    let mut firsts = Vec::new();
    while let Ok(ScriptAction::Operation(line)) = script.next() {
        if let LoadAction::WriteX { len, .. } = line.action {
            firsts.push((len, line.data.bytes.len() > 1, line.data.bytes[0]));
        }
    }
    assert_eq!(firsts[0], (1, false, 0));
    assert_eq!((firsts[1].0, firsts[1].1), (2, true));
    assert_eq!(firsts[2], (1, true, b'x'));
}

#[test]
fn pauses_and_points_are_the_runners_business() {
    let text = "SETSP 3\nWAITSP 1 0x10\nSLEEP 1500\n0.5 Sleep 20 NT_STATUS_OK\nFSSTAT3 0x0\n";
    assert_eq!(
        pass(text),
        [
            "SetSequencePoint(3)",
            "WaitSequencePoint { client: 1, point: 16 }",
            "Sleep(1.5ms)",
            "Sleep(20µs)",
            "5 fsstat",
        ]
    );
}

#[test]
fn a_stamp_of_zero_is_a_stamp() {
    let load = compiled("0.000 FSSTAT3 0x0\nFSSTAT3 0x0\n");
    let mut script = Script::new(load, 0, 1, 1);
    let mut stamp = || match script.next() {
        Ok(ScriptAction::Operation(line)) => line.stamp,
        other => panic!("{other:?}"),
    };
    assert_eq!((stamp(), stamp()), (Some(Duration::ZERO), None));
}

/// A line and the expected compiled form.
fn any_line() -> impl Strategy<Value = (String, String)> {
    let name = "[a-z~ ]{0,6}[a-z]";
    let stamp = prop::option::of(0..5_000_000_u32);
    let read = (name, any::<u64>(), 0..1_u64 << 30).prop_map(|(name, offset, len)| {
        (
            format!("READ3 \"/pub\\{name}\" {offset:#x} {len} *"),
            format!("read pub/{name} {offset} {len}"),
        )
    });
    let create = name.prop_map(|name| {
        (
            format!("create3 \"\\clients\\client1\\{name}\" 0x11"),
            format!("create clients/client2/{name}"),
        )
    });
    (stamp, prop_oneof![read, create]).prop_map(|(stamp, (line, told))| match stamp {
        Some(stamp) => (
            format!("{}.{:06} {line}", stamp / 1_000, stamp % 1_000),
            told,
        ),
        None => (line, told),
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_compiled_to_itself(lines in prop::collection::vec(any_line(), 1..40)) {
        let text: Vec<&str> = lines.iter().map(|(line, _)| line.as_str()).collect();
        let wanted: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(number, (_, told))| format!("{} {told}", number + 1))
            .collect();
        prop_assert_eq!(pass(&text.join("\n")), wanted);
    }

    #[test]
    fn whatever_is_compiled_does_not_panic_and_ends(
        lines in prop::collection::vec(
            "(LOOP|ENDLOOP|REPEAT|READ3|CREATE3|ReadX|NTCreateX|RANDOMSTRING|SMBopenX) [ \"/a-z0-9$*%+x\\[\\]]{0,30}( 0x0| \\*)?",
            0..20,
        )
    ) {
        let mut compiler = Compiler::new("any");
        for line in &lines {
            compiler.line(line.as_bytes());
        }
        if let Ok(load) = compiler.finish() {
            let mut script = Script::new(Arc::new(load), 0, 1, 1);
            for _ in 0..1_000 {
                let _ = script.next();
            }
        }
    }
}
