//! Pages over small loads.

use super::*;
use crate::document::page::PageWidth;
use filestone_workload::load::Compiler;
use filestone_workload::load::refusals::{LayerKind, refusals};
use filestone_workload::load::statistics;
use std::sync::Arc;

const CIFS: &str = r#"# People's letters.
Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients" NT_STATUS_OK
Mkdir "\clients\client1" NT_STATUS_OK
Mkdir "\clients\client1\papers" NT_STATUS_OK
NTCreateX "\clients\client1\papers\letter.doc" 0x40 1 1 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX "\clients\client1\missing\letter.doc" 0x40 1 1 NT_STATUS_OBJECT_PATH_NOT_FOUND
NTCreateX "\clients\client1\papers\letter.doc" 0x40 2 2 NT_STATUS_OK
LockX 2 0 16 NT_STATUS_OK
REPEAT 200
WriteX 2 0 65536 65536 NT_STATUS_OK
WriteX 2 20000000 1 1 NT_STATUS_OK
ReadX 2 0 4096 4096 NT_STATUS_OK
UnlockX 2 0 16 NT_STATUS_OK
FIND_FIRST "\clients\client1\papers\*.tmp" 260 1366 0 0xc000000f
QUERY_PATH_INFORMATION "\clients\client1\gone" 1004 ERROR
"#;

const NFS: &str = r#"CREATE3 "/clients/client1/data" 0x0
0.5 WRITE3 "/clients/client1/data" 0 512 2 0x0
1.5 GETATTR3 "/clients/client1/data" *
GETATTR3 "/clients/client1/other" 0x2
SLEEP 2500
LOCK4 "/clients/client1/data" 0 1 0x1
SETSP 1
"#;

fn checked(text: &str) -> CheckedLoad {
    let layers = [
        ("local", LayerKind::Local),
        ("tcp", LayerKind::Tcp),
        ("nfs3", LayerKind::Nfs3 { nlm: false }),
    ];
    let mut compiler = Compiler::new("letters.load");
    text.lines().for_each(|line| compiler.line(line.as_bytes()));
    let load = Arc::new(compiler.finish().expect("the load is right"));
    CheckedLoad {
        load: load.name().into(),
        generation: load.generation(),
        lines: load.lines(),
        contents: statistics::of_pass(&load, 1),
        layers: layers
            .map(|(layer, kind)| LayerVerdict {
                layer,
                refusals: refusals(&load, kind),
            })
            .into(),
    }
}

#[test]
fn the_page_of_a_cifs_style_load() {
    insta::assert_snapshot!(report(&checked(CIFS)).text(PageWidth::default()));
}

#[test]
fn the_page_of_an_nfs_load_with_stamps_and_pauses() {
    insta::assert_snapshot!(report(&checked(NFS)).text(PageWidth::default()));
}

#[test]
fn what_layers_refuse_verb_by_verb() {
    let cifs = layers(&checked(CIFS)).text(PageWidth::default());
    let nfs = layers(&checked(NFS)).text(PageWidth::default());
    insta::assert_snapshot!(format!("{cifs}\n{nfs}"));
}

#[test]
fn the_json_of_a_load() {
    let loads = [checked(NFS)];
    insta::assert_snapshot!(crate::json::document(&loads).expect("it is JSON"));
}

#[test]
fn statistics_that_were_cut_off_say_so() {
    let mut load = checked(NFS);
    let mut text = String::new();
    for why in [
        TruncationReason::Steps,
        TruncationReason::Memory,
        TruncationReason::Line {
            line: 12,
            what: "the random string makes the name \"..\"".into(),
        },
    ] {
        load.contents.cut_off = Some(why);
        text.push_str(&heading(&load).text(PageWidth::default()));
    }
    insta::assert_snapshot!(text);
}
