use filestone_wire::nfs3::{Nfstime3, Sattr3, SetTime, Specdata3};

use super::inode::nfs_time;
use super::*;

const NOW: UnixNanoseconds = 1_000_000_000_000;
const OWNER: Identity<'static> = Identity {
    is_checked: true,
    ..Identity::unchecked(7, 8)
};
/// The owner with all rights.
const TRUSTED: Identity<'static> = Identity::unchecked(OWNER.uid, OWNER.gid);
const LATER_LIFE: u64 = 0xabcd_0000;

fn planted() -> (Tree, InodeNumber) {
    let initial = InitialTree {
        file_size: 1 << 20,
        small_file_count: 3,
        small_file_size: 4096,
        uid: OWNER.uid,
        gid: OWNER.gid,
    };
    let tree = initial.plant(LATER_LIFE, 8 << 20, false, NOW);
    let export = tree.walk(b"/export").unwrap();
    (tree, export)
}

fn touch(tree: &mut Tree, directory: InodeNumber, name: &str) -> InodeNumber {
    let attributes = Sattr3::default();
    let mode = CreateMode::Guarded(&attributes);
    tree.create(directory, name.as_bytes(), mode, OWNER, NOW)
        .unwrap()
}

fn mkdir(tree: &mut Tree, directory: InodeNumber, name: &str) -> InodeNumber {
    let none = Sattr3::default();
    tree.make_directory(directory, name.as_bytes(), &none, OWNER, NOW)
        .unwrap()
}

fn nlink(tree: &Tree, number: InodeNumber) -> u32 {
    tree.inode(number).unwrap().attributes(number).nlink
}

#[test]
fn the_initial_tree_is_as_its_options_say() {
    let (tree, export) = planted();
    let file = tree.walk(b"/export/file").unwrap();
    assert_eq!(tree.inode(file).unwrap().size(), 1 << 20);
    let files = tree.walk(b"/export//files/").unwrap();
    assert_eq!(tree.directory(files).unwrap().len(), 3);
    assert!(tree.lookup(files, b"file0002").is_ok());
    assert_eq!(nlink(&tree, export), 3);
    assert_eq!(tree.inode(files).unwrap().mode, 0o777);
    let InodeKind::Symlink(target) = &tree
        .inode(tree.walk(b"/export/link").unwrap())
        .unwrap()
        .kind
    else {
        panic!("not a link")
    };
    assert_eq!(target.as_ref(), b"file");
}

#[test]
fn a_path_leads_through_the_link_at_its_end_but_not_in_circles() {
    let (mut tree, export) = planted();
    let file = tree.walk(b"/export/file").unwrap();
    assert_eq!(tree.walk_to_object(b"/export/link").unwrap(), file);
    for (name, target) in [
        (b"far".as_slice(), b"/export/link".as_slice()),
        (b"round", b"round"),
        (b"gone", b"nothing"),
    ] {
        tree.make_symlink(export, name, target, &Sattr3::default(), OWNER, NOW)
            .unwrap();
    }
    assert_eq!(tree.walk_to_object(b"/export/far").unwrap(), file);
    assert_eq!(tree.walk_to_object(b"/export/round"), Err(Status::INVAL));
    assert_eq!(tree.walk_to_object(b"/export/gone"), Err(Status::NOENT));
}

#[test]
fn handles_of_the_initial_tree_outlive_a_restart_and_later_ones_do_not() {
    let (mut tree, export) = planted();
    let file = tree.walk(b"/export/file").unwrap();
    let made = touch(&mut tree, export, "new");
    let (old, new) = (tree.handle(file), tree.handle(made));
    let other_life = InitialTree {
        file_size: 1 << 20,
        small_file_count: 3,
        small_file_size: 4096,
        uid: OWNER.uid,
        gid: OWNER.gid,
    };
    let mut restarted = other_life.plant(0x1234, 8 << 20, false, NOW);
    assert_eq!(restarted.resolve(&old), Ok(file));
    assert_eq!(restarted.resolve(&new), Err(Status::STALE));
    // The same inode number, reused, is still not the one in the handle.
    assert_eq!(touch(&mut restarted, export, "other"), made);
    assert_eq!(restarted.resolve(&new), Err(Status::STALE));
}

#[test]
fn handles_of_others_are_bad_and_those_of_another_tree_stale() {
    let (tree, export) = planted();
    assert_eq!(tree.resolve(&[1; 32]), Err(Status::BADHANDLE));
    assert_eq!(tree.resolve(&[]), Err(Status::BADHANDLE));
    let other = InitialTree::default().plant(LATER_LIFE, 8 << 20, false, NOW);
    assert_eq!(other.resolve(&tree.handle(export)), Err(Status::STALE));
}

#[test]
fn lookup_knows_dots_and_refuses_what_is_no_name() {
    let (tree, export) = planted();
    assert_eq!(tree.lookup(export, b"."), Ok(export));
    assert_eq!(tree.lookup(export, b".."), Ok(InodeNumber::ROOT));
    assert_eq!(tree.lookup(InodeNumber::ROOT, b".."), Ok(InodeNumber::ROOT));
    assert_eq!(tree.lookup(export, b"nothing"), Err(Status::NOENT));
    assert_eq!(tree.lookup(export, b""), Err(Status::INVAL));
    assert_eq!(tree.lookup(export, b"a/b"), Err(Status::INVAL));
    assert_eq!(tree.lookup(export, &[b'x'; 256]), Err(Status::NAMETOOLONG));
    assert_eq!(tree.lookup(export, &[b'x'; 255]), Err(Status::NOENT));
    let file = tree.walk(b"/export/file").unwrap();
    assert_eq!(tree.lookup(file, b"x"), Err(Status::NOTDIR));
}

#[test]
fn create_is_unchecked_guarded_or_exclusive() {
    let (mut tree, export) = planted();
    let attributes = Sattr3 {
        mode: Some(0o640),
        size: Some(10),
        ..Sattr3::default()
    };
    let mut create = |mode| tree.create(export, b"f", mode, OWNER, NOW);
    let made = create(CreateMode::Guarded(&attributes)).unwrap();
    assert_eq!(create(CreateMode::Guarded(&attributes)), Err(Status::EXIST));
    assert_eq!(create(CreateMode::Exclusive([1; 8])), Err(Status::EXIST));
    let cut = Sattr3 {
        size: Some(3),
        mode: Some(0o777),
        ..Sattr3::default()
    };
    assert_eq!(create(CreateMode::Unchecked(&cut)), Ok(made));
    let inode = tree.inode(made).unwrap();
    assert_eq!((inode.size(), inode.mode), (3, 0o640));
    assert_eq!((inode.uid, inode.gid), (OWNER.uid, OWNER.gid));

    let mut exclusive = |verifier| {
        let mode = CreateMode::Exclusive(verifier);
        tree.create(export, b"x", mode, OWNER, NOW)
    };
    let made = exclusive([1; 8]).unwrap();
    assert_eq!(exclusive([1; 8]), Ok(made));
    assert_eq!(exclusive([2; 8]), Err(Status::EXIST));

    let none = Sattr3::default();
    let unchecked = CreateMode::Unchecked(&none);
    let over = |tree: &mut Tree, name: &[u8]| tree.create(export, name, unchecked, OWNER, NOW);
    assert_eq!(over(&mut tree, b"files"), Err(Status::EXIST));
    assert_eq!(over(&mut tree, b"."), Err(Status::EXIST));
    assert_eq!(over(&mut tree, &[b'n'; 256]), Err(Status::NAMETOOLONG));
    let huge = Sattr3 {
        size: Some(u64::MAX),
        ..none
    };
    let mode = CreateMode::Guarded(&huge);
    assert_eq!(
        tree.create(export, b"huge", mode, OWNER, NOW),
        Err(Status::FBIG)
    );
    assert_eq!(tree.lookup(export, b"huge"), Err(Status::NOENT));
}

#[test]
fn directories_count_each_other_as_links() {
    let (mut tree, export) = planted();
    assert_eq!(nlink(&tree, export), 3);
    let inner = mkdir(&mut tree, export, "inner");
    assert_eq!((nlink(&tree, export), nlink(&tree, inner)), (4, 2));
    tree.rename(export, b"files", inner, b"moved", OWNER, NOW)
        .unwrap();
    assert_eq!((nlink(&tree, export), nlink(&tree, inner)), (3, 3));
    let moved = tree.lookup(inner, b"moved").unwrap();
    assert_eq!(tree.lookup(moved, b".."), Ok(inner));
    assert_eq!(
        tree.remove_directory(export, b"inner", OWNER, NOW),
        Err(Status::NOTEMPTY)
    );
    tree.rename(inner, b"moved", export, b"back", OWNER, NOW)
        .unwrap();
    tree.remove_directory(export, b"inner", OWNER, NOW).unwrap();
    assert_eq!(nlink(&tree, export), 3);
    assert_eq!(tree.inode(inner).err(), Some(Status::STALE));
}

#[test]
fn remove_and_rmdir_each_take_their_own() {
    let (mut tree, export) = planted();
    assert_eq!(
        tree.remove(export, b"files", OWNER, NOW),
        Err(Status::ISDIR)
    );
    assert_eq!(tree.remove(export, b"none", OWNER, NOW), Err(Status::NOENT));
    assert_eq!(tree.remove(export, b".", OWNER, NOW), Err(Status::INVAL));
    let rmdir = |tree: &mut Tree, name: &[u8]| tree.remove_directory(export, name, OWNER, NOW);
    assert_eq!(rmdir(&mut tree, b"file"), Err(Status::NOTDIR));
    assert_eq!(rmdir(&mut tree, b"files"), Err(Status::NOTEMPTY));
    assert_eq!(rmdir(&mut tree, b"none"), Err(Status::NOENT));
    assert_eq!(rmdir(&mut tree, b"."), Err(Status::INVAL));
    assert_eq!(rmdir(&mut tree, b".."), Err(Status::EXIST));
}

#[test]
fn a_file_lives_until_its_last_name_is_removed() {
    let (mut tree, export) = planted();
    let file = touch(&mut tree, export, "a");
    let handle = tree.handle(file);
    tree.link(file, export, b"b", OWNER, NOW).unwrap();
    assert_eq!(nlink(&tree, file), 2);
    assert_eq!(
        tree.link(file, export, b"b", OWNER, NOW),
        Err(Status::EXIST)
    );
    tree.remove(export, b"a", OWNER, NOW).unwrap();
    assert_eq!(tree.resolve(&handle), Ok(file));
    tree.remove(export, b"b", OWNER, NOW).unwrap();
    assert_eq!(tree.resolve(&handle), Err(Status::STALE));
    let directory = tree.walk(b"/export/files").unwrap();
    assert_eq!(
        tree.link(directory, export, b"hard", OWNER, NOW),
        Err(Status::INVAL)
    );
}

#[test]
fn rename_does_what_posix_says() {
    let (mut tree, export) = planted();
    let outer = mkdir(&mut tree, export, "outer");
    let inner = mkdir(&mut tree, outer, "inner");
    let full = mkdir(&mut tree, export, "full");
    touch(&mut tree, full, "x");
    let a = touch(&mut tree, export, "a");
    let b = touch(&mut tree, export, "b");
    let rename = |tree: &mut Tree, from, from_name: &str, to, to_name: &str| {
        tree.rename(
            from,
            from_name.as_bytes(),
            to,
            to_name.as_bytes(),
            OWNER,
            NOW,
        )
    };
    let t = &mut tree;
    assert_eq!(rename(t, export, "none", export, "c"), Err(Status::NOENT));
    assert_eq!(
        rename(t, export, "outer", inner, "down"),
        Err(Status::INVAL)
    );
    assert_eq!(
        rename(t, export, "outer", outer, "self"),
        Err(Status::INVAL)
    );
    assert_eq!(rename(t, export, ".", export, "c"), Err(Status::INVAL));
    assert_eq!(rename(t, export, "a", export, ".."), Err(Status::INVAL));
    assert_eq!(rename(t, export, "a", a, "c"), Err(Status::NOTDIR));
    assert_eq!(rename(t, export, "outer", export, "a"), Err(Status::NOTDIR));
    assert_eq!(rename(t, export, "a", export, "outer"), Err(Status::ISDIR));
    assert_eq!(
        rename(t, export, "outer", export, "full"),
        Err(Status::NOTEMPTY)
    );
    let long = "n".repeat(256);
    assert_eq!(
        rename(t, export, "a", export, &long),
        Err(Status::NAMETOOLONG)
    );
    // Over another file, which is removed.
    assert_eq!(rename(t, export, "a", export, "b"), Ok(()));
    assert_eq!(t.lookup(export, b"b"), Ok(a));
    assert_eq!(t.inode(b).err(), Some(Status::STALE));
    // Onto itself, and onto another name of the same file: no effect.
    assert_eq!(rename(t, export, "b", export, "b"), Ok(()));
    t.link(a, export, b"alias", OWNER, NOW).unwrap();
    assert_eq!(rename(t, export, "b", export, "alias"), Ok(()));
    assert_eq!(nlink(t, a), 2);
    assert!(t.lookup(export, b"b").is_ok());
    // A directory over an empty one.
    let empty = mkdir(t, export, "empty");
    assert_eq!(rename(t, export, "outer", export, "empty"), Ok(()));
    assert_eq!(t.lookup(export, b"empty"), Ok(outer));
    assert_eq!(t.inode(empty).err(), Some(Status::STALE));
    assert_eq!(nlink(t, export), 5);
}

#[test]
fn setattr_sets_what_it_says_and_heeds_its_guard() {
    let (mut tree, export) = planted();
    let file = touch(&mut tree, export, "f");
    let time = Nfstime3 {
        seconds: 5,
        nseconds: 6,
    };
    let attributes = Sattr3 {
        mode: Some(0o100_4755),
        uid: Some(1),
        gid: Some(2),
        size: Some(100),
        atime: SetTime::ClientTime(time),
        mtime: SetTime::ServerTime,
    };
    tree.set_attributes(file, &attributes, None, TRUSTED, NOW + 5)
        .unwrap();
    let got = tree.inode(file).unwrap().attributes(file);
    // A change of the owner clears set-user-id, even if the same call sets it.
    assert_eq!((got.mode, got.uid, got.gid), (0o0755, 1, 2));
    assert_eq!((got.size, got.atime), (100, time));
    assert_eq!(
        (got.mtime, got.ctime),
        (nfs_time(NOW + 5), nfs_time(NOW + 5))
    );
    let cut = Sattr3 {
        size: Some(0),
        ..Sattr3::default()
    };
    let guarded =
        |tree: &mut Tree, guard| tree.set_attributes(file, &cut, Some(guard), TRUSTED, NOW + 9);
    assert_eq!(guarded(&mut tree, time), Err(Status::NOT_SYNC));
    assert_eq!(guarded(&mut tree, got.ctime), Ok(()));
    assert_eq!(
        tree.set_attributes(export, &cut, None, TRUSTED, NOW),
        Err(Status::ISDIR)
    );
    let huge = Sattr3 {
        size: Some(1 << 63),
        ..cut
    };
    assert_eq!(
        tree.set_attributes(file, &huge, None, TRUSTED, NOW),
        Err(Status::FBIG)
    );
}

#[test]
fn read_and_write_are_for_files() {
    let (mut tree, export) = planted();
    let fifo = tree
        .make_node(export, b"fifo", Node::Fifo, &Sattr3::default(), OWNER, NOW)
        .unwrap();
    assert_eq!(tree.file(export).err(), Some(Status::ISDIR));
    assert_eq!(tree.file(fifo).err(), Some(Status::INVAL));
    assert_eq!(
        tree.write(export, 0, 1, b"x", OWNER, NOW),
        Err(Status::ISDIR)
    );
    let file = touch(&mut tree, export, "f");
    let end = FILE_MAX - 1;
    assert_eq!(
        tree.write(file, end, 2, b"xx", OWNER, NOW),
        Err(Status::FBIG)
    );
    assert_eq!(
        tree.write(file, u64::MAX, 1, b"x", OWNER, NOW),
        Err(Status::FBIG)
    );
    assert_eq!(tree.write(file, end, 1, b"x", OWNER, NOW), Ok(()));
    let (_, content) = tree.file(file).unwrap();
    let extent = Tree::read_extent(content, end, 10);
    assert_eq!((extent.count, extent.is_eof), (1, true));
    let extent = Tree::read_extent(content, u64::MAX, 10);
    assert_eq!((extent.count, extent.is_eof), (0, true));
    let extent = Tree::read_extent(content, 0, 10);
    assert_eq!((extent.count, extent.is_eof), (10, false));
}

#[test]
fn nodes_and_links_say_what_they_are() {
    let (mut tree, export) = planted();
    let none = Sattr3::default();
    let device = Specdata3 { major: 8, minor: 1 };
    let block = tree.make_node(export, b"sda1", Node::Block(device), &none, TRUSTED, NOW);
    let number = block.unwrap();
    let attributes = tree.inode(number).unwrap().attributes(number);
    assert_eq!(attributes.rdev, device);
    assert_eq!(
        attributes.file_type,
        filestone_wire::nfs3::FileType::BlockDevice
    );
    let symlink = |tree: &mut Tree, name: &[u8], target: &[u8]| {
        tree.make_symlink(export, name, target, &none, TRUSTED, NOW)
    };
    assert!(symlink(&mut tree, b"s", b"../anywhere").is_ok());
    assert_eq!(symlink(&mut tree, b"s", b"x"), Err(Status::EXIST));
    assert_eq!(symlink(&mut tree, b"e", b""), Err(Status::INVAL));
    assert_eq!(
        symlink(&mut tree, b"l", &[b'x'; 4097]),
        Err(Status::NAMETOOLONG)
    );
}

#[test]
fn the_memory_limit_holds_and_what_is_removed_is_given_back() {
    let (mut tree, export) = planted();
    let before = tree.memory_used();
    let file = touch(&mut tree, export, "f");
    let data = vec![1; 1 << 20];
    let mut written = 0;
    let status = loop {
        match tree.write(file, written, 1 << 20, &data, OWNER, NOW) {
            Ok(()) => written += 1 << 20,
            Err(status) => break status,
        }
    };
    assert_eq!(status, Status::NOSPC);
    assert_eq!(written, 7 << 20);
    assert!(tree.memory_used() <= tree.memory_limit());
    // Overwriting needs no additional memory.
    assert_eq!(tree.write(file, 0, 1 << 20, &data, OWNER, NOW), Ok(()));
    let mut made = 0;
    while tree
        .make_directory(
            export,
            format!("d{made}").as_bytes(),
            &Sattr3::default(),
            OWNER,
            NOW,
        )
        .is_ok()
    {
        made += 1;
    }
    let none = Sattr3::default();
    let full = tree.create(export, b"g", CreateMode::Guarded(&none), OWNER, NOW);
    assert_eq!(full, Err(Status::NOSPC));
    assert_eq!(
        tree.link(file, export, &[b'l'; 255], OWNER, NOW),
        Err(Status::NOSPC)
    );
    for index in 0..made {
        tree.remove_directory(export, format!("d{index}").as_bytes(), OWNER, NOW)
            .unwrap();
    }
    tree.remove(export, b"f", OWNER, NOW).unwrap();
    assert_eq!(tree.memory_used(), before);
}

#[test]
fn a_group_is_handed_on_by_a_set_group_id_directory() {
    let (mut tree, export) = planted();
    let directory = mkdir(&mut tree, export, "shared");
    let shared = Sattr3 {
        mode: Some(0o2775),
        gid: Some(99),
        ..Sattr3::default()
    };
    tree.set_attributes(directory, &shared, None, TRUSTED, NOW)
        .unwrap();
    let file = touch(&mut tree, directory, "f");
    assert_eq!(tree.inode(file).unwrap().gid, 99);
}

#[test]
fn a_set_group_id_directory_hands_the_bit_on_to_directories_and_to_nothing_else() {
    let (mut tree, export) = planted();
    let directory = mkdir(&mut tree, export, "shared");
    let mode = |mode| Sattr3 {
        mode: Some(mode),
        ..Sattr3::default()
    };
    tree.set_attributes(directory, &mode(0o2775), None, OWNER, NOW)
        .unwrap();
    let below = mkdir(&mut tree, directory, "below");
    assert_eq!(tree.inode(below).unwrap().mode, 0o2755);
    let asked = tree.make_directory(directory, b"asked", &mode(0o700), OWNER, NOW);
    assert_eq!(tree.inode(asked.unwrap()).unwrap().mode, 0o2700);
    let deep = mkdir(&mut tree, below, "deep");
    assert_eq!(tree.inode(deep).unwrap().mode, 0o2755);
    let file = touch(&mut tree, directory, "file");
    assert_eq!(tree.inode(file).unwrap().mode, 0o644);
    let beside = mkdir(&mut tree, export, "beside");
    assert_eq!(tree.inode(beside).unwrap().mode, 0o755);
}

/// As observed on knfsd 6.1, except for the size: there Linux's own clients clear the bits.
#[test]
fn what_others_than_root_change_loses_set_user_id_and_set_group_id() {
    const ROOT: Identity<'static> = Identity::unchecked(0, 0);
    const OTHER: Identity<'static> = Identity::unchecked(70, 80);
    type Change = fn(&mut Tree, InodeNumber, Identity<'_>) -> Result<(), Status>;
    let set = |tree: &mut Tree, file, by, attributes: &Sattr3| {
        tree.set_attributes(file, attributes, None, by, NOW)
    };
    let write: Change = |tree, file, by| tree.write(file, 0, 1, b"x", by, NOW);
    let nothing: Change = |tree, file, by| tree.write(file, 0, 0, b"", by, NOW);
    let cut: Change = |tree, file, by| {
        let size = Sattr3 {
            size: Some(0),
            ..Sattr3::default()
        };
        tree.set_attributes(file, &size, None, by, NOW)
    };
    let chown: Change = |tree, file, by| {
        let uid = Sattr3 {
            uid: Some(OWNER.uid),
            ..Sattr3::default()
        };
        tree.set_attributes(file, &uid, None, by, NOW)
    };
    let (mut tree, export) = planted();
    let file = touch(&mut tree, export, "program");
    for (change, by, before, after) in [
        (write, OTHER, 0o6755, 0o0755),
        (write, OWNER, 0o6755, 0o0755),
        (write, OTHER, 0o6745, 0o2745),
        (write, ROOT, 0o6755, 0o6755),
        (nothing, OTHER, 0o6755, 0o6755),
        (cut, OTHER, 0o6755, 0o0755),
        (cut, ROOT, 0o6755, 0o6755),
        (chown, ROOT, 0o6755, 0o0755),
        (chown, OWNER, 0o6745, 0o2745),
    ] {
        let mode = Sattr3 {
            mode: Some(before),
            ..Sattr3::default()
        };
        set(&mut tree, file, ROOT, &mode).unwrap();
        change(&mut tree, file, by).unwrap();
        let left = tree.inode(file).unwrap().mode;
        assert_eq!(left, after, "{before:o} changed by {by:?}: {left:o}");
    }
    let directory = mkdir(&mut tree, export, "directory");
    let mode = Sattr3 {
        mode: Some(0o2775),
        gid: Some(99),
        ..Sattr3::default()
    };
    set(&mut tree, directory, TRUSTED, &mode).unwrap();
    assert_eq!(tree.inode(directory).unwrap().mode, 0o2775);
}

#[test]
fn an_exclusive_create_is_the_same_until_its_file_is_worked_on() {
    let (mut tree, export) = planted();
    let exclusive = |tree: &mut Tree, name: &[u8]| {
        tree.create(export, name, CreateMode::Exclusive([1; 8]), OWNER, NOW)
    };
    let made = exclusive(&mut tree, b"set").unwrap();
    assert_eq!(exclusive(&mut tree, b"set"), Ok(made), "sent again");
    let times = Sattr3 {
        mtime: SetTime::ServerTime,
        ..Sattr3::default()
    };
    tree.set_attributes(made, &times, None, OWNER, NOW).unwrap();
    assert_eq!(exclusive(&mut tree, b"set"), Err(Status::EXIST));
    let made = exclusive(&mut tree, b"written").unwrap();
    tree.write(made, 0, 1, b"x", OWNER, NOW).unwrap();
    assert_eq!(exclusive(&mut tree, b"written"), Err(Status::EXIST));
}

#[test]
fn a_time_has_less_than_a_second_of_nanoseconds() {
    let (mut tree, export) = planted();
    let at = |nseconds| Sattr3 {
        mtime: SetTime::ClientTime(Nfstime3 {
            seconds: 5,
            nseconds,
        }),
        ..Sattr3::default()
    };
    let (last, beyond) = (at(999_999_999), at(1_000_000_000));
    let mut made = Vec::new();
    for (attributes, name, is_right) in [(&last, "a", true), (&beyond, "b", false)] {
        let name = |kind: &str| format!("{name}{kind}").into_bytes();
        let results = [
            tree.create(
                export,
                &name("u"),
                CreateMode::Unchecked(attributes),
                OWNER,
                NOW,
            ),
            tree.create(
                export,
                &name("g"),
                CreateMode::Guarded(attributes),
                OWNER,
                NOW,
            ),
            tree.create(
                export,
                b"file",
                CreateMode::Unchecked(attributes),
                OWNER,
                NOW,
            ),
            tree.make_directory(export, &name("d"), attributes, OWNER, NOW),
            tree.make_symlink(export, &name("s"), b"to", attributes, OWNER, NOW),
            tree.make_node(export, &name("n"), Node::Fifo, attributes, OWNER, NOW),
            tree.set_attributes(export, attributes, None, OWNER, NOW)
                .map(|()| export),
        ];
        for result in results {
            let status = result.map(|_| ()).err();
            assert_eq!(status, (!is_right).then_some(Status::INVAL));
        }
        made.push(tree.lookup(export, &name("d")).is_ok());
    }
    assert_eq!(made, [true, false], "what is refused is not made");
}
