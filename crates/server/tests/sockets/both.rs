//! One tree through both protocols: ten thousand names made through one, listed through both and
//! removed through the other.

use std::collections::BTreeSet;

use filestone_server::{InitialTree, Options, Running, Server, SmbOptions};
use filestone_wire::nfs3::{
    self, Handle, Procedure, Sattr3, lookup, readdir, readdirplus, setattr,
};
use filestone_wire::smb2::codec::Text;
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions};
use filestone_wire::smb2::info::{DirectoryClass, Entries, FileInfoClass};
use filestone_wire::smb2::query_directory::{self, QueryDirectoryFlags};
use filestone_wire::smb2::{Command, FileId, OplockLevel, Status, create};
use filestone_wire::xdr::{Decode as _, Encode as _};

use super::{client, requests, smb};

const NAMES: usize = 10_000;

fn start() -> Running {
    start_with(&[])
}

fn start_with(faults: &[&str]) -> Running {
    Server::start(Options {
        faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
        memory_limit: 64 << 20,
        initial_tree: InitialTree {
            file_size: 4096,
            small_file_count: 0,
            small_file_size: 0,
            uid: 7,
            gid: 8,
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

    /// The names of one page from a cookie on, the last cookie of it, and whether it is the last.
    fn page_by_nfs(&mut self, cookie: u64) -> (Vec<String>, u64, bool) {
        let arguments = readdir::Args {
            dir: self.directory.borrow(),
            cookie,
            cookieverf: [0; 8],
            count: 4096,
        };
        let results = self.nfs.nfs3(Procedure::Readdir, &arguments);
        let ok = readdir::Reply::from_bytes(&results).unwrap().unwrap();
        let names = ok.entries.iter();
        let names = names.map(|entry| String::from_utf8(entry.name.to_vec()).unwrap());
        let last = ok.entries.last().map_or(0, |entry| entry.cookie);
        (names.collect(), last, ok.eof)
    }

    fn page_by_smb(&mut self) -> Vec<String> {
        let request = query_directory::Request {
            class: FileInfoClass::ID_BOTH_DIRECTORY,
            flags: QueryDirectoryFlags::NONE,
            file_index: 0,
            file_id: self.open,
            output_buffer_length: 4096,
            pattern: Text::from("*"),
        };
        let (header, frame) = self.smb.ask(Command::QueryDirectory, &request);
        assert_eq!(header.status, Status::SUCCESS);
        let message = Message::from_bytes(&frame).unwrap();
        let page: query_directory::Response<'_> = message.body().unwrap();
        let entries = Entries::of(DirectoryClass::IdBothDirectory, page.data);
        entries
            .map(|entry| entry.unwrap().name.to_string())
            .collect()
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

#[test]
fn a_listing_that_loops_repeats_its_page_and_never_ends() {
    let server = start_with(&["loop"]);
    let mut both = Both::of(&server);
    let directory = both.directory;
    both.nfs.create(&directory, &name(0)).unwrap();
    let all = vec![".".to_owned(), "..".to_owned(), name(0)];
    let mut cookie = 0;
    for _ in 0..3 {
        let (names, last, is_last) = both.page_by_nfs(cookie);
        assert_eq!((names, is_last), (all.clone(), false));
        cookie = last;
        assert_eq!(both.page_by_smb(), all);
    }
}

/// Users of SMB have no uid: they work as the owner of the tree, whom no mode stops, and what they
/// make is for everybody, as with Samba's `force user` and `create mask = 0666`.
#[test]
fn smb_works_as_the_owner_of_the_tree_with_all_rights() {
    let server = start();
    let mut both = Both::of(&server);
    both.open_and_close(0, &requests::create_of("", OplockLevel::NONE));
    let shared = name(0);
    let lookup = client::at(&both.directory, &shared);
    let results = both.nfs.nfs3(Procedure::Lookup, &lookup);
    let found = lookup::Reply::from_bytes(&results).unwrap().unwrap();
    let (made, attributes) = (Handle::from(found.object), found.obj_attributes.unwrap());
    let owned = (attributes.uid, attributes.gid, attributes.mode);
    assert_eq!(owned, (7, 8, 0o666));
    // The caller of NFS is nobody, who is not the owner.
    assert!(both.nfs.write(&made, 0, b"x").is_ok());
    let chmod = |object: &Handle| {
        setattr::Args {
            object: object.borrow(),
            new_attributes: Sattr3 {
                mode: Some(0),
                ..Sattr3::default()
            },
            guard: None,
        }
        .to_bytes()
    };
    let status = |results: Vec<u8>| u32::from_be_bytes(*results.first_chunk().unwrap());
    let refused = both.nfs.nfs3(Procedure::Setattr, &Raw(chmod(&made)));
    assert_eq!(status(refused), nfs3::Status::PERM.0);
    let directory = both.directory;
    let private = both.nfs.create(&directory, &name(1)).unwrap();
    let done = both.nfs.nfs3(Procedure::Setattr, &Raw(chmod(&private)));
    assert_eq!(status(done), nfs3::Status::OK.0);
    let path = format!("many\\{}", name(1));
    let open = both.smb.create(&path, CreateDisposition::OPEN);
    let written = requests::write_of(open, b"by the owner of the tree");
    let (header, _) = both.smb.ask(Command::Write, &written);
    assert_eq!(header.status, Status::SUCCESS);
}

/// Arguments that are encoded already.
struct Raw(Vec<u8>);

impl filestone_wire::xdr::Encode for Raw {
    fn encode(&self, out: &mut filestone_wire::xdr::Writer<'_>) {
        out.fixed(&self.0);
    }
}
