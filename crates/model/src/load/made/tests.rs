//! The loads as texts. That they are true is for `cargo xtask loads` and its tests,
//! which know nothing of the writer.

use super::*;
use crate::load::{Action, Compiler, Expected, Generation, Load, Next, Script};
use crate::operation::OpKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What stands in the repository.
fn published(made: Made) -> &'static str {
    match made {
        Made::Office => include_str!("../../../../../loads/office.load"),
        Made::Build => include_str!("../../../../../loads/build.load"),
        Made::Untar => include_str!("../../../../../loads/untar.load"),
        Made::Mail => include_str!("../../../../../loads/mail.load"),
        Made::Database => include_str!("../../../../../loads/database.load"),
    }
}

#[test]
fn each_load_comes_out_bit_by_bit_as_it_is_published() {
    for made in Made::ALL {
        let differs = made
            .text()
            .lines()
            .zip(published(made).lines())
            .position(|(new, old)| new != old);
        assert_eq!(differs, None, "{}: run `cargo xtask loads`", made.name());
        assert_eq!(made.text().len(), published(made).len(), "{}", made.name());
    }
}

#[test]
fn each_load_says_what_it_is_before_it_begins() {
    for made in Made::ALL {
        let text = made.text();
        let head: Vec<&str> = text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .collect();
        assert!(head[0].contains(made.name()) && head[0].contains(made.about()));
        assert!(head.iter().any(|line| line.contains("MIT OR Apache-2.0")));
        assert!(head.iter().any(|line| line.contains("seed 1")));
    }
}

#[test]
fn no_load_keeps_time() {
    for made in Made::ALL {
        for line in made.text().lines() {
            let first = line.as_bytes().first().copied().unwrap_or(b'0');
            assert!(first == b'#' || first.is_ascii_uppercase(), "{line}");
            assert!(!line.starts_with("SLEEP"), "{line}");
        }
    }
}

#[test]
fn names_lead_back_to_their_loads() {
    for made in Made::ALL {
        assert_eq!(Made::from_name(made.name()), Some(made));
    }
    assert_eq!(Made::from_name("Office"), None);
}

fn page(made: Made) -> &'static str {
    match made {
        Made::Office => include_str!("../../../../../docs/loads/office.md"),
        Made::Build => include_str!("../../../../../docs/loads/build.md"),
        Made::Untar => include_str!("../../../../../docs/loads/untar.md"),
        Made::Mail => include_str!("../../../../../docs/loads/mail.md"),
        Made::Database => include_str!("../../../../../docs/loads/database.md"),
    }
}

/// The counts in the made part of a load's page, by what stands before them.
fn counts(made: Made) -> BTreeMap<String, Vec<u64>> {
    let (_, part) = page(made)
        .split_once("<!-- made by")
        .expect("has a made part");
    part.lines()
        .filter_map(|row| row.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|row| {
            let mut cells = row.split(" | ");
            let what = cells.next().unwrap_or_default().to_owned();
            let numbers = cells.filter_map(|cell| cell.replace(',', "").parse().ok());
            (what, numbers.collect())
        })
        .collect()
}

fn compiled(made: Made) -> Load {
    let mut compiler = Compiler::new(made.name());
    for line in made.text().lines() {
        compiler.line(line.as_bytes());
    }
    match compiler.finish() {
        Ok(load) => load,
        Err(errors) => panic!("{errors}"),
    }
}

#[test]
fn each_load_compiles_to_the_counts_of_its_page() {
    for made in Made::ALL {
        let (load, counts) = (compiled(made), counts(made));
        assert_eq!(load.generation(), Generation::Cifs);
        assert!(!load.has_stamps());
        assert_eq!(load.operations(), counts["together"][0], "{made:?}");
        let mut kinds = 0;
        for (what, numbers) in &counts {
            if let Some(kind) = OpKind::from_name(what) {
                assert_eq!(load.lines_of(kind), numbers[0], "{made:?} {what}");
                kinds += 1;
            }
        }
        assert_eq!(load.kinds().len(), kinds, "{made:?}");
    }
}

#[test]
fn a_pass_of_each_load_asks_for_the_bytes_and_failures_of_its_page() {
    for made in Made::ALL {
        let counts = counts(made);
        let mut script = Script::new(Arc::new(compiled(made)), 0, 1, 1);
        let (mut read, mut written, mut failures) = (0, 0, 0);
        loop {
            let line = match script.next().expect("nothing in it can go wrong") {
                Next::Operation(line) => line,
                Next::EndOfPass => break,
                other => panic!("{other:?}"),
            };
            match line.action {
                Action::ReadX { len, .. } => read += len,
                Action::WriteX { len, .. } => written += len,
                _ => {}
            }
            failures += u64::from(matches!(line.expected, Expected::Failure(_)));
        }
        assert_eq!(read, counts["bytes read"][0], "{made:?}");
        assert_eq!(written, counts["bytes written"][0], "{made:?}");
        assert_eq!(failures, counts["together"][1], "{made:?}");
    }
}
