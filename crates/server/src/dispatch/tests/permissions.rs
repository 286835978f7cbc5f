//! Permission matrix: operations of NFSv3 by the modes of their objects and by callers, each result
//! derived from POSIX's rules (chapter 4.7, file access permissions; chmod, chown, utimensat,
//! rename, unlink) and the exceptions of knfsd that `tree::access` names.

use super::*;
use crate::tree::{Identity, InodeNumber};

const OWNER: u32 = 10;
const GROUP: u32 = 20;
const STRANGER: u32 = 50;

/// Callers, in the order of results in a row: the owner of the objects, who is not in their group;
/// a user with that primary group; one with it as a supplementary group; another user; root.
const CALLERS: [(u32, u32, &[u32]); 5] = [
    (OWNER, 99, &[]),
    (11, GROUP, &[]),
    (12, 99, &[5, GROUP]),
    (13, 99, &[]),
    (0, 0, &[]),
];

/// Modes of the objects before a call.
#[derive(Clone, Copy)]
struct Setting {
    directory: u32,
    directory_owner: u32,
    file: u32,
    file_owner: u32,
    /// Mode of the subdirectory.
    inner: u32,
    /// Mode of the second directory.
    other: u32,
}

const OPEN: Setting = Setting {
    directory: 0o777,
    directory_owner: OWNER,
    file: 0o666,
    file_owner: OWNER,
    inner: 0o777,
    other: 0o777,
};

const fn file(file: u32) -> Setting {
    Setting { file, ..OPEN }
}

const fn directory(directory: u32) -> Setting {
    Setting { directory, ..OPEN }
}

const fn inner(inner: u32) -> Setting {
    Setting { inner, ..OPEN }
}

const fn sticky(directory_owner: u32, file_owner: u32) -> Setting {
    Setting {
        directory: 0o1777,
        directory_owner,
        file_owner,
        ..OPEN
    }
}

/// A server with the objects of a setting: `d`, containing the file `f` and the directory `i`; and
/// the directory `o` with a file `f`.
struct Ground {
    bench: Bench,
    directory: Handle,
    file: Handle,
    inner: Handle,
    other: Handle,
}

impl Ground {
    fn new(setting: Setting, conduct: ServiceOptions, caller: (u32, u32, &[u32])) -> Self {
        let mut bench = bench_with(conduct);
        let mut tree = bench.service.tree_mut();
        let export = tree.walk(b"/export").unwrap();
        let made = |tree: &mut Tree, parent, name: &[u8], mode, uid| {
            let attributes = Sattr3 {
                mode: Some(mode),
                uid: Some(uid),
                gid: Some(GROUP),
                ..NONE
            };
            let root = Identity::unchecked(0, 0);
            if name == b"f" {
                let how = crate::tree::CreateMode::Guarded(&attributes);
                tree.create(parent, name, how, root, 1).unwrap()
            } else {
                tree.make_directory(parent, name, &attributes, root, 1)
                    .unwrap()
            }
        };
        let Setting {
            directory_owner,
            file_owner,
            ..
        } = setting;
        let d = made(&mut tree, export, b"d", setting.directory, directory_owner);
        let f = made(&mut tree, d, b"f", setting.file, file_owner);
        let i = made(&mut tree, d, b"i", setting.inner, file_owner);
        let o = made(&mut tree, export, b"o", setting.other, OWNER);
        made(&mut tree, o, b"f", 0o666, OWNER);
        let handle =
            |number: InodeNumber| Handle::from(super::super::nfs3::borrowed(&tree.handle(number)));
        let (directory, file, inner, other) = (handle(d), handle(f), handle(i), handle(o));
        drop(tree);
        bench.caller = AuthSys {
            uid: caller.0,
            gid: caller.1,
            gids: Gids::new(caller.2).unwrap(),
            ..bench.caller
        };
        Self {
            bench,
            directory,
            file,
            inner,
            other,
        }
    }

    /// Returns the status of a call.
    fn status(&self, call: Call) -> Status {
        let (procedure, arguments) = call(self);
        let results = self.bench.nfs3(procedure, &Raw(arguments));
        Status(u32::from_be_bytes(*results.first_chunk().unwrap()))
    }

    fn setattr(&self, new_attributes: Sattr3) -> (Procedure, Vec<u8>) {
        let arguments = setattr::Args {
            object: self.file.borrow(),
            new_attributes,
            guard: None,
        };
        (Procedure::Setattr, arguments.to_bytes())
    }

    fn rename(&self, name: &str, to: &Handle, new_name: &str) -> (Procedure, Vec<u8>) {
        let arguments = rename::Args {
            from: at(&self.directory, name),
            to: at(to, new_name),
        };
        (Procedure::Rename, arguments.to_bytes())
    }

    fn create(&self, name: &str, how: CreateHow) -> (Procedure, Vec<u8>) {
        let where_ = at(&self.directory, name);
        (Procedure::Create, create::Args { where_, how }.to_bytes())
    }

    fn mkdir(&self, name: &str) -> (Procedure, Vec<u8>) {
        let arguments = mkdir::Args {
            where_: at(&self.directory, name),
            attributes: NONE,
        };
        (Procedure::Mkdir, arguments.to_bytes())
    }

    fn mknod(&self, what: MknodData) -> (Procedure, Vec<u8>) {
        let where_ = at(&self.directory, "new");
        (Procedure::Mknod, mknod::Args { where_, what }.to_bytes())
    }

    fn attributes(&self, object: &Handle) -> nfs3::Fattr3 {
        let object = object.borrow();
        let results = self.bench.nfs3(Procedure::Getattr, &object);
        let reply = getattr::Reply::from_bytes(&results).unwrap();
        reply.unwrap()
    }
}

type Call = fn(&Ground) -> (Procedure, Vec<u8>);

const READ: Call = |ground| {
    let arguments = read::Args {
        file: ground.file.borrow(),
        offset: 0,
        count: 1,
    };
    (Procedure::Read, arguments.to_bytes())
};
const WRITE: Call = |ground| {
    let arguments = write::Args {
        file: ground.file.borrow(),
        offset: 0,
        count: 1,
        stable: StableHow::Unstable,
        data: b"x",
    };
    (Procedure::Write, arguments.to_bytes())
};
const COMMIT: Call = |ground| {
    let arguments = commit::Args {
        file: ground.file.borrow(),
        offset: 0,
        count: 0,
    };
    (Procedure::Commit, arguments.to_bytes())
};
const GETATTR: Call = |ground| {
    let object = ground.file.borrow();
    (Procedure::Getattr, object.to_bytes())
};
const TRUNCATE: Call = |ground| {
    ground.setattr(Sattr3 {
        size: Some(0),
        ..NONE
    })
};
const TOUCH: Call = |ground| {
    ground.setattr(Sattr3 {
        mtime: nfs3::SetTime::ServerTime,
        ..NONE
    })
};
const SET_TIME: Call = |ground| {
    let time = nfs3::Nfstime3 {
        seconds: 5,
        nseconds: 0,
    };
    ground.setattr(Sattr3 {
        mtime: nfs3::SetTime::ClientTime(time),
        ..NONE
    })
};
const CHMOD: Call = |ground| {
    ground.setattr(Sattr3 {
        mode: Some(0o600),
        ..NONE
    })
};
const KEEP_OWNER: Call = |ground| {
    ground.setattr(Sattr3 {
        uid: Some(OWNER),
        ..NONE
    })
};
const GIVE_AWAY: Call = |ground| {
    ground.setattr(Sattr3 {
        uid: Some(11),
        ..NONE
    })
};
const KEEP_GROUP: Call = |ground| {
    ground.setattr(Sattr3 {
        gid: Some(GROUP),
        ..NONE
    })
};
/// To the owner's own group.
const TO_OWN_GROUP: Call = |ground| {
    ground.setattr(Sattr3 {
        gid: Some(99),
        ..NONE
    })
};
const TO_ANY_GROUP: Call = |ground| {
    ground.setattr(Sattr3 {
        gid: Some(77),
        ..NONE
    })
};
const LOOKUP: Call = |ground| {
    let what = at(&ground.directory, "f");
    (Procedure::Lookup, what.to_bytes())
};
const READDIR: Call = |ground| {
    let arguments = readdir::Args {
        dir: ground.directory.borrow(),
        cookie: 0,
        cookieverf: [0; 8],
        count: 999,
    };
    (Procedure::Readdir, arguments.to_bytes())
};
const READDIRPLUS: Call = |ground| {
    let arguments = readdirplus::Args {
        dir: ground.directory.borrow(),
        cookie: 0,
        cookieverf: [0; 8],
        dircount: 999,
        maxcount: 9999,
    };
    (Procedure::Readdirplus, arguments.to_bytes())
};
const CREATE: Call = |ground| ground.create("new", CreateHow::Guarded(NONE));
const CREATE_EXCLUSIVE: Call = |ground| ground.create("new", CreateHow::Exclusive([1; 8]));
const CREATE_AGAIN: Call = |ground| ground.create("f", CreateHow::Guarded(NONE));
const OPEN_FILE: Call = |ground| ground.create("f", CreateHow::Unchecked(NONE));
const OPEN_TO_TRUNCATE: Call = |ground| {
    let size = Some(0);
    ground.create("f", CreateHow::Unchecked(Sattr3 { size, ..NONE }))
};
const MKDIR: Call = |ground| ground.mkdir("new");
const MKDIR_AGAIN: Call = |ground| ground.mkdir("i");
const SYMLINK: Call = |ground| {
    let arguments = symlink::Args {
        where_: at(&ground.directory, "new"),
        symlink: symlink::SymlinkData {
            symlink_attributes: NONE,
            symlink_data: b"f",
        },
    };
    (Procedure::Symlink, arguments.to_bytes())
};
const MAKE_FIFO: Call = |ground| ground.mknod(MknodData::Fifo(NONE));
const MAKE_DEVICE: Call = |ground| {
    ground.mknod(MknodData::CharacterDevice(DeviceData {
        dev_attributes: NONE,
        spec: Specdata3 { major: 1, minor: 3 },
    }))
};
const LINK: Call = |ground| {
    let arguments = link::Args {
        file: ground.file.borrow(),
        link: at(&ground.directory, "new"),
    };
    (Procedure::Link, arguments.to_bytes())
};
const REMOVE: Call = |ground| {
    let object = at(&ground.directory, "f");
    (Procedure::Remove, object.to_bytes())
};
const RMDIR: Call = |ground| {
    let object = at(&ground.directory, "i");
    (Procedure::Rmdir, object.to_bytes())
};
const RENAME: Call = |ground| ground.rename("f", &ground.directory, "new");
const MOVE: Call = |ground| ground.rename("f", &ground.other, "new");
const REPLACE: Call = |ground| ground.rename("f", &ground.other, "f");
const RENAME_DIRECTORY: Call = |ground| ground.rename("i", &ground.directory, "new");
const MOVE_DIRECTORY: Call = |ground| ground.rename("i", &ground.other, "new");

/// A row: an operation, the modes of its objects, and the result for each of the callers: + for
/// success, A for NFS3ERR_ACCES, P for NFS3ERR_PERM, E for NFS3ERR_EXIST.
const ROWS: &[(&str, Call, Setting, &str)] = &[
    // The owner always has access: there is no OPEN, and the mode may have changed since.
    ("READ", READ, file(0o400), "+AAA+"),
    ("READ", READ, file(0o040), "+++A+"),
    ("READ", READ, file(0o004), "+AA++"),
    ("READ", READ, file(0o000), "+AAA+"),
    // An executable program may be read.
    ("READ", READ, file(0o111), "+++++"),
    ("READ", READ, file(0o010), "+++A+"),
    ("WRITE", WRITE, file(0o200), "+AAA+"),
    ("WRITE", WRITE, file(0o020), "+++A+"),
    ("WRITE", WRITE, file(0o002), "+AA++"),
    ("WRITE", WRITE, file(0o555), "+AAA+"),
    ("COMMIT", COMMIT, file(0o020), "+++A+"),
    ("COMMIT", COMMIT, file(0o444), "+AAA+"),
    ("GETATTR", GETATTR, file(0o000), "+++++"),
    ("truncate", TRUNCATE, file(0o020), "+++A+"),
    ("truncate", TRUNCATE, file(0o444), "+AAA+"),
    ("touch", TOUCH, file(0o020), "+++A+"),
    ("touch", TOUCH, file(0o444), "+AAA+"),
    ("utimes", SET_TIME, file(0o666), "+PPP+"),
    ("utimes", SET_TIME, file(0o000), "+PPP+"),
    ("chmod", CHMOD, file(0o666), "+PPP+"),
    ("chown to its owner", KEEP_OWNER, file(0o666), "+PPP+"),
    ("chown to another", GIVE_AWAY, file(0o666), "PPPP+"),
    ("chgrp to its group", KEEP_GROUP, file(0o666), "+PPP+"),
    (
        "chgrp to the owner's group",
        TO_OWN_GROUP,
        file(0o666),
        "+PPP+",
    ),
    ("chgrp to another", TO_ANY_GROUP, file(0o666), "PPPP+"),
    // Directories: the bits of the caller's own class count, also for the owner.
    ("LOOKUP", LOOKUP, directory(0o100), "+AAA+"),
    ("LOOKUP", LOOKUP, directory(0o010), "A++A+"),
    ("LOOKUP", LOOKUP, directory(0o001), "AAA++"),
    ("LOOKUP", LOOKUP, directory(0o666), "AAAA+"),
    ("READDIR", READDIR, directory(0o400), "+AAA+"),
    ("READDIR", READDIR, directory(0o040), "A++A+"),
    ("READDIR", READDIR, directory(0o333), "AAAA+"),
    ("READDIRPLUS", READDIRPLUS, directory(0o004), "AAA++"),
    ("READDIRPLUS", READDIRPLUS, directory(0o333), "AAAA+"),
    ("CREATE", CREATE, directory(0o300), "+AAA+"),
    ("CREATE", CREATE, directory(0o030), "A++A+"),
    ("CREATE", CREATE, directory(0o003), "AAA++"),
    ("CREATE without search", CREATE, directory(0o222), "AAAA+"),
    ("CREATE without write", CREATE, directory(0o555), "AAAA+"),
    (
        "CREATE, exclusive",
        CREATE_EXCLUSIVE,
        directory(0o030),
        "A++A+",
    ),
    (
        "CREATE of what is there",
        CREATE_AGAIN,
        directory(0o555),
        "EEEEE",
    ),
    (
        "CREATE of what is there",
        CREATE_AGAIN,
        directory(0o666),
        "AAAAE",
    ),
    ("CREATE, unchecked", OPEN_FILE, directory(0o111), "+++++"),
    (
        "CREATE that truncates",
        OPEN_TO_TRUNCATE,
        file(0o444),
        "+AAA+",
    ),
    (
        "CREATE that truncates",
        OPEN_TO_TRUNCATE,
        file(0o020),
        "+++A+",
    ),
    ("MKDIR", MKDIR, directory(0o030), "A++A+"),
    (
        "MKDIR of what is there",
        MKDIR_AGAIN,
        directory(0o555),
        "AAAAE",
    ),
    ("SYMLINK", SYMLINK, directory(0o030), "A++A+"),
    ("SYMLINK", SYMLINK, directory(0o555), "AAAA+"),
    ("MKNOD of a FIFO", MAKE_FIFO, directory(0o030), "A++A+"),
    ("MKNOD of a device", MAKE_DEVICE, directory(0o777), "PPPP+"),
    ("LINK", LINK, directory(0o030), "A++A+"),
    ("LINK", LINK, directory(0o555), "AAAA+"),
    ("REMOVE", REMOVE, directory(0o030), "A++A+"),
    ("REMOVE", REMOVE, directory(0o555), "AAAA+"),
    // The mode of the file is ignored.
    ("REMOVE", REMOVE, file(0o000), "+++++"),
    ("REMOVE", REMOVE, sticky(OWNER, OWNER), "+PPP+"),
    ("REMOVE", REMOVE, sticky(STRANGER, OWNER), "+PPP+"),
    ("REMOVE", REMOVE, sticky(OWNER, STRANGER), "+PPP+"),
    ("REMOVE", REMOVE, sticky(STRANGER, STRANGER), "PPPP+"),
    (
        "CREATE in a sticky directory",
        CREATE,
        sticky(STRANGER, STRANGER),
        "+++++",
    ),
    ("RMDIR", RMDIR, directory(0o030), "A++A+"),
    ("RMDIR", RMDIR, directory(0o555), "AAAA+"),
    ("RMDIR", RMDIR, sticky(STRANGER, OWNER), "+PPP+"),
    ("RMDIR", RMDIR, sticky(STRANGER, STRANGER), "PPPP+"),
    ("RENAME", RENAME, directory(0o030), "A++A+"),
    ("RENAME", RENAME, directory(0o555), "AAAA+"),
    ("RENAME", RENAME, sticky(STRANGER, OWNER), "+PPP+"),
    ("RENAME", RENAME, sticky(STRANGER, STRANGER), "PPPP+"),
    ("RENAME elsewhere", MOVE, OPEN, "+++++"),
    (
        "RENAME elsewhere",
        MOVE,
        Setting {
            other: 0o555,
            ..OPEN
        },
        "AAAA+",
    ),
    ("RENAME elsewhere", MOVE, directory(0o555), "AAAA+"),
    (
        "RENAME over a file",
        REPLACE,
        Setting {
            other: 0o1777,
            ..OPEN
        },
        "+PPP+",
    ),
    // A moved directory gets another `..`, which requires write access to the directory.
    (
        "RENAME of a directory",
        RENAME_DIRECTORY,
        inner(0o555),
        "+++++",
    ),
    (
        "RENAME of a directory elsewhere",
        MOVE_DIRECTORY,
        inner(0o555),
        "AAAA+",
    ),
    (
        "RENAME of a directory elsewhere",
        MOVE_DIRECTORY,
        inner(0o030),
        "A++A+",
    ),
];

#[test]
fn operations_ask_for_the_rights_that_posix_asks_for() {
    let mut wrong = Vec::new();
    for (what, call, setting, expected) in ROWS {
        let got: String = CALLERS
            .iter()
            .map(|caller| {
                let ground = Ground::new(*setting, ServiceOptions::default(), *caller);
                match ground.status(*call) {
                    Status::OK => '+',
                    Status::ACCES => 'A',
                    Status::PERM => 'P',
                    Status::EXIST => 'E',
                    _ => '?',
                }
            })
            .collect();
        if got != *expected {
            let Setting {
                directory,
                file,
                inner,
                other,
                ..
            } = setting;
            wrong.push(format!(
                "{what}, directory {directory:o}, file {file:o}, inner {inner:o}, other {other:o}: \
                 {got} instead of {expected}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_server_that_ignores_permissions_refuses_nobody() {
    let conduct = ServiceOptions {
        ignores_permissions: true,
        ..ServiceOptions::default()
    };
    for (what, call, setting, _) in ROWS {
        for caller in CALLERS {
            let status = Ground::new(*setting, conduct, caller).status(*call);
            let is_done = matches!(status, Status::OK | Status::EXIST);
            assert!(is_done, "{what} by {}: {status:?}", caller.0);
        }
    }
}

/// ACCESS returns to each caller the rights that determine the results of the operations.
#[test]
fn access_says_what_operations_do() {
    use access::{DELETE, EXECUTE, EXTEND, LOOKUP, MODIFY, READ};
    const CHANGE: u32 = MODIFY | EXTEND;
    let rows: [(u32, bool, [u32; 5]); 7] = [
        (0o640, false, [READ | CHANGE, READ, READ, 0, READ | CHANGE]),
        (
            0o751,
            false,
            [
                READ | CHANGE | EXECUTE,
                READ | EXECUTE,
                READ | EXECUTE,
                EXECUTE,
                READ | CHANGE | EXECUTE,
            ],
        ),
        (0o000, false, [0, 0, 0, 0, READ | CHANGE]),
        (
            0o077,
            false,
            [
                0,
                READ | CHANGE | EXECUTE,
                READ | CHANGE | EXECUTE,
                READ | CHANGE | EXECUTE,
                READ | CHANGE | EXECUTE,
            ],
        ),
        (
            0o750,
            true,
            [
                READ | LOOKUP | CHANGE | DELETE,
                READ | LOOKUP,
                READ | LOOKUP,
                0,
                READ | LOOKUP | CHANGE | DELETE,
            ],
        ),
        // Write access without search changes no entry.
        (
            0o632,
            true,
            [
                READ,
                LOOKUP | CHANGE | DELETE,
                LOOKUP | CHANGE | DELETE,
                0,
                READ | LOOKUP | CHANGE | DELETE,
            ],
        ),
        (0o000, true, [0, 0, 0, 0, READ | LOOKUP | CHANGE | DELETE]),
    ];
    for (mode, is_directory, expected) in rows {
        let setting = if is_directory {
            inner(mode)
        } else {
            file(mode)
        };
        let got = CALLERS.map(|caller| {
            let ground = Ground::new(setting, ServiceOptions::default(), caller);
            let object = if is_directory {
                &ground.inner
            } else {
                &ground.file
            };
            let arguments = access::Args {
                object: object.borrow(),
                access: access::ALL,
            };
            let results = ground.bench.nfs3(Procedure::Access, &arguments);
            access::Reply::from_bytes(&results).unwrap().unwrap().access
        });
        assert_eq!(got, expected, "{mode:o}, directory: {is_directory}");
    }
}

#[test]
fn a_listing_without_search_has_the_names_alone() {
    let listed = |mode| {
        let ground = Ground::new(directory(mode), ServiceOptions::default(), CALLERS[3]);
        let (procedure, arguments) = READDIRPLUS(&ground);
        let results = ground.bench.nfs3(procedure, &Raw(arguments));
        let listed = readdirplus::Reply::from_bytes(&results).unwrap().unwrap();
        let known = |entry: &readdirplus::EntryPlus<'_>| {
            let is_known = entry.name_handle.is_some();
            assert_eq!(is_known, entry.name_attributes.is_some());
            (String::from_utf8_lossy(entry.name).into_owned(), is_known)
        };
        listed.entries.iter().map(known).collect::<Vec<_>>()
    };
    let with = |is_known| {
        [(".", true), ("..", true), ("f", is_known), ("i", is_known)]
            .map(|(name, is_known)| (name.to_owned(), is_known))
    };
    assert_eq!(listed(0o004), with(false));
    assert_eq!(listed(0o005), with(true));
}

/// Requests beyond a caller's rights that are not refused: chmod(2) clears set-group-id for callers
/// that are not in the group; created objects belong to their creator.
#[test]
fn objects_are_their_makers_and_set_group_id_their_groups() {
    let made = |caller| {
        let ground = Ground::new(OPEN, ServiceOptions::default(), caller);
        let attributes = Sattr3 {
            mode: Some(0o2755),
            uid: Some(70),
            gid: Some(80),
            ..NONE
        };
        let how = CreateHow::Guarded(attributes);
        let made = ground.bench.create(&ground.directory, "new", how).unwrap();
        let attributes = ground.attributes(&made);
        (attributes.uid, attributes.gid, attributes.mode)
    };
    assert_eq!(made(CALLERS[1]), (11, GROUP, 0o2755));
    assert_eq!(made(CALLERS[4]), (70, 80, 0o2755));
    let set = |caller| {
        let ground = Ground::new(OPEN, ServiceOptions::default(), caller);
        let status = ground.status(|ground| {
            ground.setattr(Sattr3 {
                mode: Some(0o2755),
                ..NONE
            })
        });
        assert_eq!(status, Status::OK);
        ground.attributes(&ground.file).mode
    };
    assert_eq!(set(CALLERS[0]), 0o755, "the owner is not in the group");
    assert_eq!(set((OWNER, GROUP, &[])), 0o2755);
    assert_eq!(set(CALLERS[4]), 0o2755);
}

#[test]
fn a_caller_without_credentials_is_nobody() {
    let ground = Ground::new(file(0o660), ServiceOptions::default(), CALLERS[0]);
    let (procedure, arguments) = READ(&ground);
    let mut header = ground.bench.header(nfs3::PROGRAM, 3, procedure.number());
    header.credential = Credential::None;
    let (_, results) = ground.bench.body(&header, &Raw(arguments));
    assert_eq!(results[..4], Status::ACCES.0.to_be_bytes());
}
