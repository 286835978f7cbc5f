//! Pages over loads made by hand.

use super::*;
use filestone_model::load::action::{Action, Disposition};
use filestone_model::load::census::Census;
use filestone_model::load::refusals::{LayerKind, Refusals};
use filestone_model::load::{Cause, Expected, Line};
use filestone_model::operation::Stability;
use std::time::Duration;

type Asked = (Action<'static>, Expected);

const OK: Expected = Expected::Success;
const MISSING: Expected = Expected::Failure(Cause::NotFound);

fn open(path: &'static str, disposition: Disposition, handle: u64) -> Action<'static> {
    Action::NtCreateX {
        path: path.as_bytes(),
        options: 0x40,
        disposition,
        handle,
    }
}

fn write(handle: u64, offset: u64, len: u64) -> Action<'static> {
    Action::WriteX {
        handle,
        offset,
        len,
        expected_len: len,
    }
}

fn cifs() -> Vec<Asked> {
    let directory = "clients/client0/papers";
    let letter = "clients/client0/papers/letter.doc";
    let lock = (0, 16);
    let mut asked = vec![
        (
            Action::Deltree {
                path: b"clients/client0",
            },
            OK,
        ),
        (
            Action::Mkdir {
                path: directory.as_bytes(),
            },
            OK,
        ),
        (open(letter, Disposition::Open, 1), MISSING),
        (
            open(letter, Disposition::Open, 1),
            Expected::Failure(Cause::Denied),
        ),
        (open(letter, Disposition::Create, 2), OK),
        (
            Action::LockX {
                handle: 2,
                offset: lock.0,
                len: lock.1,
            },
            OK,
        ),
    ];
    for block in 0..200 {
        asked.push((write(2, block * 65_536, 65_536), OK));
    }
    asked.extend([
        (write(2, 20_000_000, 1), OK),
        (
            Action::ReadX {
                handle: 2,
                offset: 0,
                len: 4096,
                expected_len: 4096,
            },
            OK,
        ),
        (
            Action::UnlockX {
                handle: 2,
                offset: lock.0,
                len: lock.1,
            },
            OK,
        ),
        (open("missing.doc", Disposition::Open, 3), OK),
        (
            Action::QueryPathInformation {
                path: b"clients/client0/gone",
                level: 1004,
            },
            MISSING,
        ),
    ]);
    asked
}

fn nfs() -> Vec<Asked> {
    vec![
        (Action::Create { path: b"data" }, Expected::Number(0)),
        (
            Action::Write {
                path: b"data",
                offset: 0,
                len: 512,
                stability: Stability::FileSync,
            },
            Expected::Number(0),
        ),
        (Action::GetAttr { path: b"data" }, Expected::Anything),
        (Action::GetAttr { path: b"other" }, Expected::Number(2)),
        (
            Action::Lock4 {
                path: b"data",
                offset: 0,
                len: 1,
            },
            Expected::Number(1),
        ),
    ]
}

/// A load whose lines, numbered from 10, are stamped every half second.
fn checked(generation: Generation, asked: &[Asked], stamped: bool) -> CheckedLoad {
    let layers = [
        ("local", LayerKind::Local),
        ("tcp", LayerKind::Tcp),
        ("nfs3", LayerKind::Nfs3 { nlm: false }),
    ];
    let mut census = Census::new(generation);
    let mut refusals = layers.map(|(name, kind)| (name, Refusals::new(generation, kind)));
    for (number, (action, expected)) in (10..).zip(asked) {
        let line = Line {
            number,
            stamp: stamped.then(|| Duration::from_millis(500) * (number - 10)),
            action: *action,
            expected: *expected,
            data: &[0],
        };
        assert!(census.add(&line).is_continue());
        refusals.iter_mut().for_each(|(_, layer)| layer.add(&line));
    }
    if stamped {
        assert!(census.pause(Duration::from_micros(2500)).is_continue());
        assert!(census.sequence_point().is_continue());
    }
    CheckedLoad {
        load: "letters.load".into(),
        generation,
        lines: asked.len() as u64 + 10,
        contents: census.finish(),
        layers: refusals
            .iter()
            .map(|(layer, refusals)| LayerVerdict {
                layer,
                refusals: refusals.finish(),
            })
            .collect(),
    }
}

#[test]
fn the_page_of_a_cifs_style_load() {
    insta::assert_snapshot!(page(&checked(Generation::Cifs, &cifs(), false)));
}

#[test]
fn the_page_of_an_nfs_load_with_stamps_and_pauses() {
    insta::assert_snapshot!(page(&checked(Generation::Nfs, &nfs(), true)));
}

#[test]
fn what_layers_refuse_verb_by_verb() {
    let cifs = layers(&checked(Generation::Cifs, &cifs(), false));
    let nfs = layers(&checked(Generation::Nfs, &nfs(), false));
    insta::assert_snapshot!(format!("{cifs}\n{nfs}"));
}

#[test]
fn the_json_of_a_load() {
    let loads = [checked(Generation::Nfs, &nfs(), true)];
    insta::assert_snapshot!(document(&loads).expect("it is JSON"));
}

#[test]
fn a_census_that_was_cut_off_says_so() {
    let mut load = checked(Generation::Nfs, &nfs(), false);
    let mut text = String::new();
    for why in [
        CutOff::Steps,
        CutOff::Memory,
        CutOff::Line {
            line: 12,
            what: "the random string makes the name \"..\"".into(),
        },
    ] {
        load.contents.cut_off = Some(why);
        text.push_str(&heading(&load));
    }
    insta::assert_snapshot!(text);
}
