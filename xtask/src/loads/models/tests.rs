//! Tests of the loads as texts. `cargo xtask loads` and its tests verify that their content is
//! consistent, independent of the writer.

use super::*;
use filestone_host::load_file::read_text;
use filestone_workload::load::{Generation, Load, LoadAction, Script, ScriptAction};
use filestone_workload::operation::OpKind;
use std::collections::BTreeMap;
use std::sync::Arc;

#[test]
fn each_load_says_what_it_is_before_it_begins() {
    for synthetic in SyntheticLoad::ALL {
        let text = synthetic.text();
        let head: Vec<&str> = text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .collect();
        assert!(head[0].contains(synthetic.name()) && head[0].contains(synthetic.about()));
        assert!(head.iter().any(|line| line.contains("MIT OR Apache-2.0")));
        assert!(head.iter().any(|line| line.contains("seed 1")));
    }
}

#[test]
fn no_load_keeps_time() {
    for synthetic in SyntheticLoad::ALL {
        for line in synthetic.text().lines() {
            let first = line.as_bytes().first().copied().unwrap_or(b'0');
            assert!(first == b'#' || first.is_ascii_uppercase(), "{line}");
            assert!(!line.starts_with("SLEEP"), "{line}");
        }
    }
}

/// Returns the counts in the generated part of a load's page, by the text before them.
fn counts(synthetic: SyntheticLoad) -> BTreeMap<String, Vec<u64>> {
    let path = format!("docs/loads/{}.md", synthetic.name());
    let page = std::fs::read_to_string(filestone_interop::root().join(path));
    let page = page.expect("has a page");
    let (_, part) = page
        .split_once(super::super::BEGIN)
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

fn compiled(synthetic: SyntheticLoad) -> Load {
    read_text(synthetic.name(), &synthetic.text()).expect("is a load")
}

#[test]
fn each_load_compiles_to_the_counts_of_its_page() {
    for synthetic in SyntheticLoad::ALL {
        let (load, counts) = (compiled(synthetic), counts(synthetic));
        assert_eq!(load.generation(), Generation::Cifs);
        assert!(!load.has_stamps());
        assert_eq!(load.operations(), counts["together"][0], "{synthetic:?}");
        let mut kinds = 0;
        for (what, numbers) in &counts {
            if let Some(kind) = OpKind::from_name(what) {
                assert_eq!(load.lines_of(kind), numbers[0], "{synthetic:?} {what}");
                kinds += 1;
            }
        }
        assert_eq!(load.kinds().len(), kinds, "{synthetic:?}");
    }
}

#[test]
fn a_pass_of_each_load_asks_for_the_bytes_and_failures_of_its_page() {
    for synthetic in SyntheticLoad::ALL {
        let counts = counts(synthetic);
        let mut script = Script::new(Arc::new(compiled(synthetic)), 0, 1, 1);
        let (mut read, mut written, mut failures) = (0, 0, 0);
        loop {
            let line = match script.next().expect("nothing in it can go wrong") {
                ScriptAction::Operation(line) => line,
                ScriptAction::EndOfPass => break,
                other => panic!("{other:?}"),
            };
            match line.action {
                LoadAction::ReadX { len, .. } => read += len,
                LoadAction::WriteX { len, .. } => written += len,
                _ => {}
            }
            failures += u64::from(line.expected.is_failure());
        }
        assert_eq!(read, counts["bytes read"][0], "{synthetic:?}");
        assert_eq!(written, counts["bytes written"][0], "{synthetic:?}");
        assert_eq!(failures, counts["together"][1], "{synthetic:?}");
    }
}
