//! A set is made once, found again, and mended.

use super::bench::{ALL, Bench, plan};
use crate::support::live::serve;
use filestone_host::control::NoObserver;
use filestone_plan::file_set::{Layout, VolatileDirectory, file_name};
use filestone_protocol::workload::ObjectKind;
use filestone_setup::nfs3::prepare::file_set::NfsFileSet;
use filestone_wire::pattern;
use filestone_workload::operation::{FileId, OpKind};
use std::sync::atomic::AtomicBool;

/// Objects of each client of `plan(files, …)`, with all kinds of operation.
fn objects(files: u64) -> u64 {
    1 + files.div_ceil(1000) + 5 + files + 3 + 5 * 5
}

fn check_table(bench: &mut Bench, set: &NfsFileSet, layout: &Layout) {
    for (client, of_client) in (0..).zip(&set.clients) {
        let root = format!("set/client{client:04}");
        let mut is_at = |id: u32, path: &str, kind: ObjectKind| {
            let files = &set.files;
            let entry = files.table.file(FileId(id)).expect("it is in the table");
            let handle = files.handles.get(FileId(id)).copied();
            assert_eq!((entry.kind, handle), (kind, Some(bench.at(path))), "{path}");
            *entry
        };
        is_at(of_client.root.0, &root, ObjectKind::Directory);
        let lengths = layout.lengths(client);
        for ((id, length), file) in of_client.files.clone().zip(lengths).zip(0..) {
            let name = file_name(file);
            let path = format!("{root}/files{}/{name}", file / 1000);
            let entry = is_at(id, &path, ObjectKind::File);
            assert!(entry.has_pattern && entry.len == length, "{path}");
            let listed = set.files.table.name(of_client.names.start + file);
            assert_eq!(listed, Some(name.as_bytes()));
        }
        for (id, link) in of_client.symbolic_links.clone().zip(0..) {
            is_at(
                id,
                &format!("{root}/sym/{link:03}"),
                ObjectKind::SymbolicLink,
            );
        }
        for (id, directory) in of_client.directories.clone().zip(0..) {
            is_at(
                id,
                &format!("{root}/files{directory}"),
                ObjectKind::Directory,
            );
        }
        let changing = of_client.changing;
        for (id, name) in [
            (changing.created, "new"),
            (changing.links, "lin"),
            (changing.symbolic_links, "sym"),
            (changing.nodes, "nod"),
            (changing.directories, "dir"),
        ] {
            is_at(id.0, &format!("{root}/{name}"), ObjectKind::Directory);
        }
    }
}

fn check_data(bench: &mut Bench, layout: &Layout) {
    for client in 0..layout.clients() {
        for (file, length) in (0..).zip(layout.lengths(client)) {
            let directory = format!("set/client{client:04}/files{}", file / 1000);
            let path = format!("{directory}/{}", file_name(file));
            assert_eq!(bench.len(&path), length, "{path}");
            let data = bench.text(&path);
            assert_eq!(pattern::first_mismatch(0, &data), None, "{path}");
        }
    }
}

#[test]
fn a_set_is_made_and_found_again() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let plan = plan(40, "nhfsstone");
    let layout = Layout::of(&plan, 3).expect("a layout");
    let set = bench.prepare(&plan, 3).expect("it is made");
    assert_eq!((set.record.found, set.record.made), (0, 3 * objects(40)));
    assert_eq!(set.record.files + set.record.other_objects, set.record.made);
    assert_eq!(set.record.paths, ["/export/set"]);
    assert_eq!(set.record.bytes, layout.totals().bytes);
    check_table(&mut bench, &set, &layout);
    check_data(&mut bench, &layout);
    set.release(&bench.session).expect("it can be given up");
    let again = bench.prepare(&plan, 3).expect("it is there");
    assert_eq!(
        (again.record.found, again.record.made),
        (3 * objects(40), 0)
    );
    check_table(&mut bench, &again, &layout);
    again.release(&bench.session).expect("it can be given up");
    // A further client adds its part only.
    let more = bench.prepare(&plan, 4).expect("there is room");
    assert_eq!(more.record.found, 3 * objects(40));
    assert_eq!(more.record.made, objects(40));
    more.release(&bench.session).expect("it can be given up");
}

#[test]
fn files_fill_several_directories() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let plan = plan(2100, "100");
    let set = bench.prepare(&plan, 1).expect("it is made");
    assert_eq!(set.record.made, objects(2100));
    assert_eq!(bench.names("set/client0000/files2").len(), 100);
    check_table(&mut bench, &set, &Layout::of(&plan, 1).expect("a layout"));
    set.release(&bench.session).expect("it can be given up");
    let again = bench.prepare(&plan, 1).expect("it is there");
    assert_eq!(again.record.made, 0);
}

#[test]
fn long_files_are_written_in_pieces() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let plan = plan(2, "5M");
    let set = bench.prepare(&plan, 1).expect("it is made");
    check_data(&mut bench, &Layout::of(&plan, 1).expect("a layout"));
    assert_eq!(set.record.bytes, 10 << 20);
}

#[test]
fn what_was_damaged_is_mended_and_what_a_run_left_is_taken_away() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let plan = plan(40, "3000");
    let set = bench.prepare(&plan, 2).expect("it is made");
    set.release(&bench.session).expect("it can be given up");
    let (files, root) = ("set/client0001/files0", "set/client0001");
    bench.remove(files, &file_name(7));
    bench.cut(&format!("{files}/{}", file_name(8)), 10);
    bench.write(files, &file_name(9), &[7; 4000]);
    bench.remove("set/client0001/sym", "001");
    bench.remove("set/client0001/lin", "l0000000000000002");
    bench.remove("set/client0001/nod", "p0000000000000000");
    bench.write("set/client0001/new", "f00000000000abcde", b"left over");
    bench.write("set/client0001/new", "somebody's", b"not ours");
    bench.make_directory("set/client0001/dir", "d0000000000000063");
    let again = bench.prepare(&plan, 2).expect("it can be mended");
    assert_eq!(again.record.made, 6);
    assert_eq!(again.record.found, 2 * objects(40) - 6);
    check_data(&mut bench, &Layout::of(&plan, 2).expect("a layout"));
    let new = bench.names(&format!("{root}/new"));
    assert_eq!(new.len(), 6, "{new:?}");
    assert_eq!(new.last().map(String::as_str), Some("somebody's"));
    assert_eq!(bench.names(&format!("{root}/dir")).len(), 5);
    again.release(&bench.session).expect("it can be given up");
    assert_eq!(bench.prepare(&plan, 2).expect("it is right").record.made, 0);
}

#[test]
fn many_left_over_names_are_taken_away() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let plan = plan(1, "1");
    let set = bench.prepare(&plan, 1).expect("it is made");
    set.release(&bench.session).expect("it can be given up");
    for number in 100..1500_u64 {
        bench.write("set/client0000/new", &format!("f{number:016x}"), b"x");
    }
    let again = bench.prepare(&plan, 1).expect("it is there");
    assert_eq!(again.record.made, 0);
    assert_eq!(bench.names("set/client0000/new").len(), 5);
}

#[test]
fn only_what_the_mix_needs_is_made() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let kinds = [OpKind::Read, OpKind::GetAttr];
    let set = bench.prepare_for(&plan(4, "1K"), 1, &kinds);
    let set = set.expect("it is made");
    assert_eq!(bench.names("set/client0000"), ["files0"]);
    assert_eq!(set.record.made, 2 + 4);
    assert_eq!(set.clients[0].changing.created, set.clients[0].root);
    assert!(set.clients[0].symbolic_links.is_empty());
    set.release(&bench.session).expect("it can be given up");
    let kinds = [OpKind::ReadLink, OpKind::MkDir];
    let set = bench.prepare_for(&plan(4, "1K"), 1, &kinds);
    let set = set.expect("it is made");
    assert_eq!(bench.names("set/client0000"), ["dir", "files0", "sym"]);
    assert_eq!(bench.names("set/client0000/sym"), ["000", "001", "002"]);
    assert_eq!(set.record.made, 2 + 3 + 5);
    assert_eq!(set.record.found, 6);
}

#[test]
fn two_clients_work_in_two_directories() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    bench.make_directory("", "one");
    bench.make_directory("", "two");
    let roots = ["one", "two"].map(|name| (format!("/export/{name}"), bench.at(name)));
    let go_on = AtomicBool::new(false);
    let plan = plan(10, "1K");
    let set = bench.prepare_in(&roots, &plan, (3, ALL), (&go_on, &mut NoObserver));
    let mut set = set.expect("it is made");
    assert_eq!(set.record.paths, ["/export/one/set", "/export/two/set"]);
    let names = bench.names("one/set");
    assert_eq!(names, ["client0000", "client0002", "made-by-filestone"]);
    assert_eq!(bench.names("two/set"), ["client0001", "made-by-filestone"]);
    let root = set.files.handles.get(set.clients[1].root).copied();
    assert_eq!(root, bench.find("two/set/client0001"));
    set.remove(&bench.session, &go_on).expect("it is removed");
    assert!(bench.names("one").is_empty() && bench.names("two").is_empty());
}

#[test]
fn a_directory_that_is_given_twice_has_one_set() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let roots = [
        ("/export".into(), bench.root),
        ("/export".into(), bench.root),
    ];
    let go_on = AtomicBool::new(false);
    let set = bench.prepare_in(&roots, &plan(2, "1K"), (2, ALL), (&go_on, &mut NoObserver));
    assert_eq!(set.expect("it is made").record.paths, ["/export/set"]);
    assert_eq!(bench.names("set").len(), 3);
}

#[test]
fn a_set_goes_as_a_whole() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let before = bench.names("files").len();
    let mut set = bench.prepare(&plan(1500, "100"), 2).expect("it is made");
    set.remove(&bench.session, &AtomicBool::new(false))
        .expect("it is removed");
    assert!(set.record.removed);
    assert_eq!(bench.find("set"), None);
    assert_eq!(bench.names("files").len(), before);
    // What is not there need not be given up.
    set.release(&bench.session).expect("nothing is claimed");
}

#[test]
fn another_recipe_makes_another_set() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let set = bench.prepare(&plan(40, "1K"), 2).expect("it is made");
    set.release(&bench.session).expect("it can be given up");
    let set = bench.prepare(&plan(30, "2K"), 1).expect("it is made anew");
    assert_eq!((set.record.found, set.record.made), (0, objects(30)));
    assert_eq!(bench.names("set"), ["client0000", "made-by-filestone"]);
    set.release(&bench.session).expect("it can be given up");
    let again = bench.prepare(&plan(30, "2K"), 1).expect("it is there");
    assert_eq!(again.record.made, 0);
}

#[test]
fn the_changing_directories_hold_what_their_letters_say() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let _set = bench.prepare(&plan(2, "1K"), 1).expect("it is made");
    for changing in VolatileDirectory::ALL {
        let directory = format!("set/client0000/{}", changing.directory());
        let names = bench.names(&directory);
        let numbers = names
            .iter()
            .filter_map(|name| changing.number_of(name.as_bytes()));
        let numbers: Vec<u64> = numbers.collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4], "{directory}");
    }
    // Hard links are to data files.
    assert_eq!(bench.len("set/client0000/lin/l0000000000000004"), 1024);
}
