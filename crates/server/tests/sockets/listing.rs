//! Ten thousand files in one directory, listed while it changes.

use std::collections::HashMap;

use filestone_wire::nfs3::{Handle, Procedure, readdir, readdirplus};
use filestone_wire::xdr::Decode;

use super::client::{Client, start};

const FILES: usize = 10_000;

/// One page of a listing: names, the cookie to go on from, the verifier, whether it is the last.
type Page = (Vec<String>, u64, [u8; 8], bool);

fn readdir_page(client: &mut Client, dir: &Handle, cookie: u64, cookieverf: [u8; 8]) -> Page {
    let arguments = readdir::Args {
        dir: dir.borrow(),
        cookie,
        cookieverf,
        count: 8192,
    };
    let results = client.nfs3(Procedure::Readdir, &arguments);
    let ok = readdir::Reply::from_bytes(&results).unwrap().unwrap();
    let names = ok.entries.iter().map(|entry| name(entry.name)).collect();
    let last = ok.entries.last().map_or(cookie, |entry| entry.cookie);
    (names, last, ok.cookieverf, ok.eof)
}

fn readdirplus_page(client: &mut Client, dir: &Handle, cookie: u64, cookieverf: [u8; 8]) -> Page {
    let arguments = readdirplus::Args {
        dir: dir.borrow(),
        cookie,
        cookieverf,
        dircount: 8192,
        maxcount: 32_768,
    };
    let results = client.nfs3(Procedure::Readdirplus, &arguments);
    let ok = readdirplus::Reply::from_bytes(&results).unwrap().unwrap();
    assert!(ok.entries.iter().all(|entry| entry.name_handle.is_some()));
    let names = ok.entries.iter().map(|entry| name(entry.name)).collect();
    let last = ok.entries.last().map_or(cookie, |entry| entry.cookie);
    (names, last, ok.cookieverf, ok.eof)
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Lists everything, doing `meanwhile` after every page; how often each name came.
fn list(
    page: impl Fn(&mut Client, &Handle, u64, [u8; 8]) -> Page,
    client: &mut Client,
    directory: &Handle,
    mut meanwhile: impl FnMut(usize),
) -> HashMap<String, usize> {
    let mut seen = HashMap::new();
    let (mut cookie, mut verifier) = (0, [0; 8]);
    for turn in 0.. {
        let (names, last, next_verifier, is_end) = page(client, directory, cookie, verifier);
        (cookie, verifier) = (last, next_verifier);
        for name in names {
            *seen.entry(name).or_default() += 1;
        }
        if is_end {
            break;
        }
        meanwhile(turn);
    }
    seen
}

#[test]
fn ten_thousand_files_are_made_listed_while_others_go_and_come_and_removed() {
    let server = start();
    let mut client = Client::new(&server);
    let mut other = Client::new(&server);
    let export = client.mount("/export");
    let directory = client.mkdir(&export, "many");
    let file = |index: usize| format!("file{index:05}");
    for index in 0..FILES {
        client.create(&directory, &file(index)).unwrap();
    }

    // Another client removes every third file, from both ends, while this one lists.
    let mut doomed: Vec<usize> = (0..FILES).step_by(3).collect();
    let seen = list(readdir_page, &mut client, &directory, |turn| {
        for index in 0..40 {
            let place = if (turn + index) % 2 == 0 {
                0
            } else {
                doomed.len() - 1
            };
            other
                .remove(&directory, &file(doomed.remove(place)))
                .unwrap();
        }
        other.create(&directory, &format!("late{turn}")).unwrap();
    });
    assert!(
        seen.values().all(|&count| count == 1),
        "nothing comes twice"
    );
    let survivors = || (0..FILES).filter(|index| index % 3 != 0).map(file);
    assert!(
        survivors().all(|name| seen.contains_key(&name)),
        "nothing is missed"
    );
    assert!(seen.contains_key(".") && seen.contains_key(".."));

    let seen = list(readdirplus_page, &mut client, &directory, |_| {
        for index in doomed.drain(..doomed.len().min(60)) {
            other.remove(&directory, &file(index)).unwrap();
        }
    });
    assert!(
        seen.values().all(|&count| count == 1),
        "nothing comes twice"
    );
    assert!(
        survivors().all(|name| seen.contains_key(&name)),
        "nothing is missed"
    );

    let left = list(readdir_page, &mut client, &directory, |_| {});
    for name in left.keys().filter(|name| !name.starts_with('.')) {
        client.remove(&directory, name).unwrap();
    }
    let empty = list(readdirplus_page, &mut client, &directory, |_| {});
    assert_eq!(empty.len(), 2);
}
