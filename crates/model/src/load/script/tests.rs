use super::*;
use crate::load::{Cause, Compiler};

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

#[test]
fn a_line_is_what_it_says() {
    let load = compiled(
        "NTCreateX \"\\clients\\client1\\a b\" 0x40 0x2 7 NT_STATUS_OK\n\
         0.5 ReadX 7 4096 100 99 NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\\none\" 0x40 0x1 8 NT_STATUS_OBJECT_NAME_NOT_FOUND\n",
    );
    assert_eq!((load.operations(), load.lines()), (3, 3));
    let mut script = Script::new(load, 4, 5, 1);
    let Ok(Next::Operation(line)) = script.next() else {
        panic!("it begins with an operation");
    };
    assert_eq!(
        (line.number, line.stamp, line.expected),
        (1, None, Expected::Success)
    );
    assert!(!line.data.is_empty());
    let Action::NtCreateX {
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
    let Ok(Next::Operation(line)) = script.next() else {
        panic!("it goes on");
    };
    assert_eq!(line.stamp, Some(Duration::from_millis(500)));
    assert_eq!(
        line.action,
        Action::ReadX {
            handle: 7,
            offset: 4_096,
            len: 100,
            expected_len: 99
        }
    );
    let Ok(Next::Operation(line)) = script.next() else {
        panic!("it goes on");
    };
    assert_eq!(line.expected, Expected::Failure(Cause::NotFound));
    assert_eq!(script.next(), Ok(Next::EndOfPass));
    assert!(matches!(
        script.next(),
        Ok(Next::Operation(Line { number: 1, .. }))
    ));
}
