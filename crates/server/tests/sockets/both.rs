//! One tree through both protocols: ten thousand names made through one, listed through both and
//! removed through the other.

use std::collections::BTreeSet;

use filestone_server::{InitialTree, Options, Running, Server, SmbOptions};
use filestone_wire::nfs3::{Handle, Procedure, readdirplus};
use filestone_wire::smb2::codec::Text;
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions};
use filestone_wire::smb2::info::{DirectoryClass, Entries, FileInfoClass};
use filestone_wire::smb2::query_directory::{self, QueryDirectoryFlags};
use filestone_wire::smb2::{Command, FileId, OplockLevel, Status, create};
use filestone_wire::xdr::Decode as _;

use super::{client, requests, smb};

const NAMES: usize = 10_000;

fn start() -> Running {
    Server::start(Options {
        memory_limit: 64 << 20,
        initial_tree: InitialTree {
            file_size: 4096,
            small_file_count: 0,
            small_file_size: 0,
        },
        smb: Some(SmbOptions::default()),
        ..Options::default()
    })
    .unwrap()
}

fn name(index: usize) -> String {
    format!("Name-{index:05}")
}

fn all() -> BTreeSet<String> {
    (0..NAMES).map(name).collect()
}

/// A client of each protocol, in the same directory.
struct Both {
    nfs: client::Client,
    smb: smb::Client,
    directory: Handle,
    open: FileId,
}

impl Both {
    fn of(server: &Running) -> Self {
        let mut nfs = client::Client::new(server);
        let export = nfs.mount("/export");
        let directory = nfs.mkdir(&export, "many");
        let mut smb = smb::Client::mounted(server);
        let open = smb.create("many", CreateDisposition::OPEN);
        Self {
            nfs,
            smb,
            directory,
            open,
        }
    }

    fn listed_by_nfs(&mut self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let (mut cookie, mut verifier) = (0, [0; 8]);
        loop {
            let arguments = readdirplus::Args {
                dir: self.directory.borrow(),
                cookie,
                cookieverf: verifier,
                dircount: 8192,
                maxcount: 32_768,
            };
            let results = self.nfs.nfs3(Procedure::Readdirplus, &arguments);
            let ok = readdirplus::Reply::from_bytes(&results).unwrap().unwrap();
            for entry in ok.entries.iter() {
                cookie = entry.cookie;
                let name = String::from_utf8(entry.name.to_vec()).unwrap();
                assert!(names.insert(name), "nothing comes twice");
            }
            verifier = ok.cookieverf;
            if ok.eof {
                break;
            }
        }
        without_dots(names)
    }

    fn listed_by_smb(&mut self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut flags = QueryDirectoryFlags::RESTART_SCANS;
        loop {
            let request = query_directory::Request {
                class: FileInfoClass::ID_BOTH_DIRECTORY,
                flags,
                file_index: 0,
                file_id: self.open,
                output_buffer_length: 32_768,
                pattern: Text::from("*"),
            };
            let (header, frame) = self.smb.ask(Command::QueryDirectory, &request);
            if header.status == Status::NO_MORE_FILES {
                break;
            }
            assert_eq!(header.status, Status::SUCCESS);
            let message = Message::from_bytes(&frame).unwrap();
            let page: query_directory::Response<'_> = message.body().unwrap();
            for entry in Entries::of(DirectoryClass::IdBothDirectory, page.data) {
                let name = entry.unwrap().name.to_string();
                assert!(names.insert(name), "nothing comes twice");
            }
            flags = QueryDirectoryFlags::NONE;
        }
        without_dots(names)
    }

    fn open_and_close(&mut self, index: usize, request: &create::Request<'_>) {
        let path = format!("many\\{}", name(index));
        let request = create::Request {
            name: Text::from(&*path),
            ..*request
        };
        self.smb.send(Command::Create, &request);
        let (file_id, _) = self.smb.created();
        let (closed, _) = self.smb.ask(Command::Close, &requests::close_of(file_id));
        assert_eq!(closed.status, Status::SUCCESS);
    }
}

fn without_dots(mut names: BTreeSet<String>) -> BTreeSet<String> {
    assert!(names.remove(".") && names.remove(".."));
    names
}

#[test]
fn what_smb_has_made_is_listed_by_both_and_removed_by_nfs() {
    let server = start();
    let mut both = Both::of(&server);
    for index in 0..NAMES {
        both.open_and_close(index, &requests::create_of("", OplockLevel::NONE));
    }
    assert_eq!(both.listed_by_nfs(), all());
    assert_eq!(both.listed_by_smb(), all());
    let directory = both.directory;
    for index in 0..NAMES {
        both.nfs.remove(&directory, &name(index)).unwrap();
    }
    assert!(both.listed_by_smb().is_empty());
    assert!(both.listed_by_nfs().is_empty());
}

#[test]
fn what_nfs_has_made_is_listed_by_both_and_removed_by_smb() {
    let server = start();
    let mut both = Both::of(&server);
    let directory = both.directory;
    for index in 0..NAMES {
        both.nfs.create(&directory, &name(index)).unwrap();
    }
    assert_eq!(both.listed_by_smb(), all());
    assert_eq!(both.listed_by_nfs(), all());
    for index in 0..NAMES {
        let request = create::Request {
            disposition: CreateDisposition::OPEN,
            options: CreateOptions::DELETE_ON_CLOSE,
            ..requests::create_of("", OplockLevel::NONE)
        };
        both.open_and_close(index, &request);
    }
    assert!(both.listed_by_nfs().is_empty());
    assert!(both.listed_by_smb().is_empty());
}
