//! The procedures of NFSv3 that modify objects (RFC 1813), each under the exclusive lock.
//!
//! Attributes before and after are read under the same lock as the change, so the weak cache
//! consistency data (section 2.6) describe only this change.

use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::mknod::MknodData;
use filestone_wire::nfs3::{
    FileHandle, PreOpAttr, ReplyFail, Status, WccData, commit, create, link, mkdir, mknod, remove,
    rename, rmdir, setattr, symlink, write,
};
use filestone_wire::xdr::{Encode, Writer};

use super::Service;
use super::nfs3::{borrowed, post_op};
use crate::clock;
use crate::tree::access::{MAY_WRITE, check_opened};
use crate::tree::{CreateMode, Identity, InodeNumber, Node, Tree};

impl Service {
    pub(super) fn setattr(
        &self,
        arguments: setattr::Args<'_>,
        by: Identity<'_>,
        out: &mut Writer<'_>,
    ) {
        let now = clock::now();
        let mut tree = self.tree_mut();
        let (result, obj_wcc) = changing(&mut tree, arguments.object, |tree, number| {
            let attributes = &arguments.new_attributes;
            tree.set_attributes(number, attributes, arguments.guard, by, now)
        });
        encode_changed(result, obj_wcc, out);
    }

    pub(super) fn write(&self, arguments: write::Args<'_>, by: Identity<'_>, out: &mut Writer<'_>) {
        let data = arguments.data;
        let data = (data.len() == arguments.count as usize).then_some(data);
        self.write_data(&arguments, data, by, out);
    }

    /// Writes `data`; `None` if their length is not `arguments.count`.
    ///
    /// RFC 1813, section 3.3.7: count is the number of bytes of data to be written, and the data
    /// are those bytes.
    pub(super) fn write_data(
        &self,
        arguments: &write::Args<'_>,
        data: Option<&[u8]>,
        by: Identity<'_>,
        out: &mut Writer<'_>,
    ) {
        let now = clock::now();
        let mut tree = self.tree_mut();
        let (result, file_wcc) = changing(&mut tree, arguments.file, |tree, number| {
            let data = data.ok_or(Status::INVAL)?;
            tree.write(number, arguments.offset, arguments.count, data, by, now)
        });
        let reply: write::Reply = match result {
            // All data here are equally stable; the reply has the stability that the client
            // requested, so that a client that writes UNSTABLE also has to commit.
            Ok(()) => Ok(write::ReplyOk {
                file_wcc,
                count: arguments.count,
                committed: arguments.stable,
                verf: self.verifier,
            }),
            Err(status) => Err(ReplyFail {
                status,
                attributes: file_wcc,
            }),
        };
        reply.encode(out);
    }

    pub(super) fn create(
        &self,
        arguments: create::Args<'_>,
        owner: Identity<'_>,
        out: &mut Writer<'_>,
    ) {
        let now = clock::now();
        let mode = match &arguments.how {
            CreateHow::Unchecked(attributes) => CreateMode::Unchecked(attributes),
            CreateHow::Guarded(attributes) => CreateMode::Guarded(attributes),
            CreateHow::Exclusive(verifier) => CreateMode::Exclusive(*verifier),
        };
        let mut tree = self.tree_mut();
        let (made, dir_wcc) = changing(&mut tree, arguments.where_.dir, |tree, directory| {
            tree.create(directory, arguments.where_.name, mode, owner, now)
        });
        encode_made(&tree, made, dir_wcc, out);
    }

    pub(super) fn mkdir(
        &self,
        arguments: mkdir::Args<'_>,
        owner: Identity<'_>,
        out: &mut Writer<'_>,
    ) {
        let now = clock::now();
        let mut tree = self.tree_mut();
        let (made, dir_wcc) = changing(&mut tree, arguments.where_.dir, |tree, directory| {
            let name = arguments.where_.name;
            tree.make_directory(directory, name, &arguments.attributes, owner, now)
        });
        encode_made(&tree, made, dir_wcc, out);
    }

    pub(super) fn symlink(
        &self,
        arguments: symlink::Args<'_>,
        owner: Identity<'_>,
        out: &mut Writer<'_>,
    ) {
        let now = clock::now();
        let mut tree = self.tree_mut();
        let (made, dir_wcc) = changing(&mut tree, arguments.where_.dir, |tree, directory| {
            let data = &arguments.symlink;
            tree.make_symlink(
                directory,
                arguments.where_.name,
                data.symlink_data,
                &data.symlink_attributes,
                owner,
                now,
            )
        });
        encode_made(&tree, made, dir_wcc, out);
    }

    pub(super) fn mknod(
        &self,
        arguments: mknod::Args<'_>,
        owner: Identity<'_>,
        out: &mut Writer<'_>,
    ) {
        let now = clock::now();
        let mut tree = self.tree_mut();
        let (made, dir_wcc) = changing(&mut tree, arguments.where_.dir, |tree, directory| {
            let (node, attributes) = match &arguments.what {
                MknodData::CharacterDevice(device) => {
                    (Node::Character(device.spec), &device.dev_attributes)
                }
                MknodData::BlockDevice(device) => {
                    (Node::Block(device.spec), &device.dev_attributes)
                }
                MknodData::Socket(attributes) => (Node::Socket, attributes),
                MknodData::Fifo(attributes) => (Node::Fifo, attributes),
                // These types have separate procedures (RFC 1813, section 3.3.11).
                MknodData::Regular | MknodData::Directory | MknodData::Symlink => {
                    return Err(Status::BADTYPE);
                }
            };
            tree.make_node(
                directory,
                arguments.where_.name,
                node,
                attributes,
                owner,
                now,
            )
        });
        encode_made(&tree, made, dir_wcc, out);
    }

    pub(super) fn remove(&self, object: remove::Args<'_>, by: Identity<'_>, out: &mut Writer<'_>) {
        let now = clock::now();
        let mut tree = self.tree_mut();
        let (result, dir_wcc) = changing(&mut tree, object.dir, |tree, directory| {
            tree.remove(directory, object.name, by, now)
        });
        encode_changed(result, dir_wcc, out);
    }

    pub(super) fn rmdir(&self, object: rmdir::Args<'_>, by: Identity<'_>, out: &mut Writer<'_>) {
        let now = clock::now();
        let mut tree = self.tree_mut();
        let (result, dir_wcc) = changing(&mut tree, object.dir, |tree, directory| {
            tree.remove_directory(directory, object.name, by, now)
        });
        encode_changed(result, dir_wcc, out);
    }

    pub(super) fn rename(
        &self,
        arguments: rename::Args<'_>,
        by: Identity<'_>,
        out: &mut Writer<'_>,
    ) {
        let now = clock::now();
        let mut tree = self.tree_mut();
        let mut fromdir_wcc = WccData::default();
        let (result, todir_wcc) = changing(&mut tree, arguments.to.dir, |tree, to| {
            let (result, wcc) = changing(tree, arguments.from.dir, |tree, from| {
                let (name, new_name) = (arguments.from.name, arguments.to.name);
                tree.rename(from, name, to, new_name, by, now)
            });
            fromdir_wcc = wcc;
            result
        });
        let attributes = rename::ReplyOk {
            fromdir_wcc,
            todir_wcc,
        };
        encode_changed(result, attributes, out);
    }

    pub(super) fn link(&self, arguments: link::Args<'_>, by: Identity<'_>, out: &mut Writer<'_>) {
        let now = clock::now();
        let mut tree = self.tree_mut();
        let file = tree.resolve(arguments.file.as_bytes());
        let (result, linkdir_wcc) = changing(&mut tree, arguments.link.dir, |tree, directory| {
            tree.link(file?, directory, arguments.link.name, by, now)
        });
        let file_attributes = file.ok().and_then(|number| post_op(&tree, number));
        let attributes = link::ReplyOk {
            file_attributes,
            linkdir_wcc,
        };
        encode_changed(result, attributes, out);
    }

    /// COMMIT changes nothing: all data are in memory only.
    pub(super) fn commit(
        &self,
        arguments: commit::Args<'_>,
        by: Identity<'_>,
        out: &mut Writer<'_>,
    ) {
        let tree = self.tree();
        let number = tree.resolve(arguments.file.as_bytes());
        let file = number.and_then(|number| tree.file(number));
        let result = file.and_then(|(inode, _)| check_opened(inode, &by, MAY_WRITE));
        let file_wcc = number.map_or_else(
            |_| WccData::default(),
            |number| WccData {
                before: pre_op(&tree, number),
                after: post_op(&tree, number),
            },
        );
        let reply: commit::Reply = match result {
            Ok(()) => Ok(commit::ReplyOk {
                file_wcc,
                verf: self.verifier,
            }),
            Err(status) => Err(ReplyFail {
                status,
                attributes: file_wcc,
            }),
        };
        reply.encode(out);
    }
}

fn pre_op(tree: &Tree, number: InodeNumber) -> PreOpAttr {
    tree.inode(number).ok().map(|inode| inode.wcc_attributes())
}

/// Encodes the reply of a procedure that creates an object.
fn encode_made(
    tree: &Tree,
    made: Result<InodeNumber, Status>,
    dir_wcc: WccData,
    out: &mut Writer<'_>,
) {
    let handle = made.map(|number| (number, tree.handle(number)));
    let reply: create::Reply<'_> = match &handle {
        Ok((number, handle)) => Ok(create::ReplyOk {
            obj: Some(borrowed(handle)),
            obj_attributes: post_op(tree, *number),
            dir_wcc,
        }),
        Err(status) => Err(ReplyFail {
            status: *status,
            attributes: dir_wcc,
        }),
    };
    reply.encode(out);
}

/// Encodes the reply of a procedure whose success and failure both contain only the attributes.
fn encode_changed<A: Encode>(result: Result<(), Status>, attributes: A, out: &mut Writer<'_>) {
    let reply = match result {
        Ok(()) => Ok(attributes),
        Err(status) => Err(ReplyFail { status, attributes }),
    };
    reply.encode(out);
}

/// Changes the object of `handle`, or something in it, and returns its attributes before and after.
/// A refused change returns both, and they are equal.
fn changing<T>(
    tree: &mut Tree,
    handle: FileHandle<'_>,
    change: impl FnOnce(&mut Tree, InodeNumber) -> Result<T, Status>,
) -> (Result<T, Status>, WccData) {
    match tree.resolve(handle.as_bytes()) {
        Ok(number) => {
            let before = pre_op(tree, number);
            let result = change(tree, number);
            (
                result,
                WccData {
                    before,
                    after: post_op(tree, number),
                },
            )
        }
        Err(status) => (Err(status), WccData::default()),
    }
}
