//! The procedures of NFSv3 that modify nothing (RFC 1813), and the dispatch of all 22.

use filestone_wire::nfs3::{
    FileHandle, Nfstime3, PostOpAttr, Procedure, ReplyFail, Status, access, fsinfo, fsstat,
    getattr, lookup, pathconf, read, readdir, readdirplus, readlink,
};
use filestone_wire::rpc::{CallHeader, Credential};
use filestone_wire::xdr::{Decode, DecodeError, Encode, Reader, Writer};

use super::{CallTransport, Caller, Service, with_arguments};
use crate::reply::ReplySink;
use crate::tree::access::{Identity, MAY_EXECUTE, MAY_READ, check_opened, granted};
use crate::tree::handle::HANDLE_LEN;
use crate::tree::inode::{Inode, InodeKind};
use crate::tree::{FILE_MAX, InodeNumber, LINK_MAX, NAME_MAX, Tree};

/// The user and group of callers without AUTH_SYS: "nobody".
pub const NOBODY: u32 = 65_534;

impl Service {
    #[inline]
    pub(super) fn nfs3<'c>(
        &self,
        procedure: Procedure,
        header: &CallHeader<'c>,
        mut reader: Reader<'c>,
        caller: Caller<'_>,
        sink: &mut ReplySink,
    ) -> Result<(), DecodeError> {
        let transport = caller.ends.transport;
        let by = self.identity(&header.credential);
        let out = &mut sink.writer();
        match procedure {
            Procedure::Null => reader.finish(),
            Procedure::Getattr => with_arguments(reader, out, |a, out| self.getattr(a, out)),
            Procedure::Setattr => with_arguments(reader, out, |a, out| self.setattr(a, by, out)),
            Procedure::Lookup => with_arguments(reader, out, |a, out| self.lookup(a, by, out)),
            Procedure::Access => with_arguments(reader, out, |a, out| self.access(a, by, out)),
            Procedure::Readlink => with_arguments(reader, out, |a, out| self.readlink(a, out)),
            Procedure::Read => {
                let arguments = read::Args::decode(&mut reader)?;
                reader.finish()?;
                self.read(arguments, by, caller, sink);
                Ok(())
            }
            Procedure::Write if self.conduct.discard => self.write_discarding(reader, by, out),
            Procedure::Write => with_arguments(reader, out, |a, out| self.write(a, by, out)),
            Procedure::Create => with_arguments(reader, out, |a, out| self.create(a, by, out)),
            Procedure::Mkdir => with_arguments(reader, out, |a, out| self.mkdir(a, by, out)),
            Procedure::Symlink => with_arguments(reader, out, |a, out| self.symlink(a, by, out)),
            Procedure::Mknod => with_arguments(reader, out, |a, out| self.mknod(a, by, out)),
            Procedure::Remove => with_arguments(reader, out, |a, out| self.remove(a, by, out)),
            Procedure::Rmdir => with_arguments(reader, out, |a, out| self.rmdir(a, by, out)),
            Procedure::Rename => with_arguments(reader, out, |a, out| self.rename(a, by, out)),
            Procedure::Link => with_arguments(reader, out, |a, out| self.link(a, by, out)),
            Procedure::Readdir => {
                let arguments = readdir::Args::decode(&mut reader)?;
                reader.finish()?;
                self.readdir(&arguments, by, caller, sink.bytes_mut());
                Ok(())
            }
            Procedure::Readdirplus => {
                let arguments = readdirplus::Args::decode(&mut reader)?;
                reader.finish()?;
                self.readdirplus(&arguments, by, caller, sink.bytes_mut());
                Ok(())
            }
            Procedure::Fsstat => with_arguments(reader, out, |a, out| self.fsstat(a, out)),
            Procedure::Fsinfo => {
                with_arguments(reader, out, |a, out| self.fsinfo(a, transport, out))
            }
            Procedure::Pathconf => with_arguments(reader, out, |a, out| self.pathconf(a, out)),
            Procedure::Commit => with_arguments(reader, out, |a, out| self.commit(a, by, out)),
        }
    }

    /// Returns the caller of a call, with its rights on this server.
    fn identity<'c>(&self, credential: &'c Credential<'_>) -> Identity<'c> {
        let is_checked = !self.conduct.ignores_permissions;
        match credential {
            Credential::Sys(sys) => Identity {
                uid: sys.uid,
                gid: sys.gid,
                gids: sys.gids.as_slice(),
                is_checked,
            },
            Credential::None | Credential::Other(_) => Identity {
                is_checked,
                ..Identity::unchecked(NOBODY, NOBODY)
            },
        }
    }

    fn getattr(&self, object: getattr::Args<'_>, out: &mut Writer<'_>) {
        let tree = self.tree();
        let reply = found(&tree, object).map(|(number, inode)| inode.attributes(number));
        getattr::Reply::encode(&reply.map_err(ReplyFail::from), out);
    }

    fn lookup(&self, what: lookup::Args<'_>, by: Identity<'_>, out: &mut Writer<'_>) {
        let tree = self.tree();
        let directory = tree.resolve(what.dir.as_bytes());
        let object = directory.and_then(|number| {
            tree.directory(number)?;
            tree.check(number, &by, MAY_EXECUTE)?;
            tree.lookup(number, what.name)
        });
        let dir_attributes = directory.ok().and_then(|number| post_op(&tree, number));
        match object {
            Ok(number) => {
                let handle = tree.handle(number);
                let reply: lookup::Reply<'_> = Ok(lookup::ReplyOk {
                    object: borrowed(&handle),
                    obj_attributes: post_op(&tree, number),
                    dir_attributes,
                });
                reply.encode(out);
            }
            Err(status) => ReplyFail {
                status,
                attributes: dir_attributes,
            }
            .encode(out),
        }
    }

    fn access(&self, arguments: access::Args<'_>, by: Identity<'_>, out: &mut Writer<'_>) {
        let tree = self.tree();
        let reply = found(&tree, arguments.object).map(|(number, inode)| access::ReplyOk {
            obj_attributes: Some(inode.attributes(number)),
            access: granted(inode, &by, arguments.access),
        });
        access::Reply::encode(&reply.map_err(ReplyFail::from), out);
    }

    fn readlink(&self, object: readlink::Args<'_>, out: &mut Writer<'_>) {
        let tree = self.tree();
        let reply = found(&tree, object).map_err(ReplyFail::from);
        let reply: readlink::Reply<'_> = reply.and_then(|(number, inode)| {
            let symlink_attributes = Some(inode.attributes(number));
            match &inode.kind {
                InodeKind::Symlink(data) => Ok(readlink::ReplyOk {
                    symlink_attributes,
                    data,
                }),
                _ => Err(ReplyFail {
                    status: Status::INVAL,
                    attributes: symlink_attributes,
                }),
            }
        });
        reply.encode(out);
    }

    fn read(
        &self,
        arguments: read::Args<'_>,
        by: Identity<'_>,
        caller: Caller<'_>,
        sink: &mut ReplySink,
    ) {
        let tree = self.tree();
        let number = tree.resolve(arguments.file.as_bytes());
        let file = number.and_then(|number| {
            let file = tree.file(number)?;
            check_opened(file.0, &by, MAY_READ)?;
            Ok((number, file))
        });
        let (number, (inode, content)) = match file {
            Ok(file) => file,
            Err(status) => {
                let attributes = number.ok().and_then(|number| post_op(&tree, number));
                return ReplyFail { status, attributes }.encode(&mut sink.writer());
            }
        };
        inode.touch(caller.now);
        let count = arguments.count.min(caller.ends.transport.reply_data_max());
        let extent = Tree::read_extent(content, arguments.offset, count);
        let head = read::ReplyOk {
            file_attributes: Some(inode.attributes(number)),
            count: extent.count,
            eof: extent.is_eof,
            data: &[],
        };
        head.encode_head(extent.count as usize, &mut sink.writer());
        tree.read(content, arguments.offset, extent.count, |run| {
            sink.splice(run)
        });
        sink.writer().pad(extent.count as usize);
    }

    fn fsstat(&self, object: fsstat::Args<'_>, out: &mut Writer<'_>) {
        let tree = self.tree();
        let free = tree.memory_limit().saturating_sub(tree.memory_used());
        let inodes_free = tree.inodes_free();
        let reply = found(&tree, object).map(|(number, inode)| fsstat::ReplyOk {
            obj_attributes: Some(inode.attributes(number)),
            tbytes: tree.memory_limit(),
            fbytes: free,
            abytes: free,
            tfiles: tree.inode_count() + inodes_free,
            ffiles: inodes_free,
            afiles: inodes_free,
            // The values may change at any time.
            invarsec: 0,
        });
        fsstat::Reply::encode(&reply.map_err(ReplyFail::from), out);
    }

    fn fsinfo(&self, object: fsinfo::Args<'_>, transport: CallTransport, out: &mut Writer<'_>) {
        let tree = self.tree();
        let max = transport.reply_data_max();
        let reply = found(&tree, object).map(|(number, inode)| fsinfo::ReplyOk {
            obj_attributes: Some(inode.attributes(number)),
            rtmax: max,
            rtpref: max.min(128 << 10),
            rtmult: 4096,
            wtmax: max,
            wtpref: max.min(128 << 10),
            wtmult: 4096,
            dtpref: max.min(64 << 10),
            maxfilesize: FILE_MAX,
            time_delta: Nfstime3 {
                seconds: 0,
                nseconds: 1,
            },
            properties: fsinfo::LINK | fsinfo::SYMLINK | fsinfo::HOMOGENEOUS | fsinfo::CANSETTIME,
        });
        fsinfo::Reply::encode(&reply.map_err(ReplyFail::from), out);
    }

    fn pathconf(&self, object: pathconf::Args<'_>, out: &mut Writer<'_>) {
        let tree = self.tree();
        let reply = found(&tree, object).map(|(number, inode)| pathconf::ReplyOk {
            obj_attributes: Some(inode.attributes(number)),
            linkmax: LINK_MAX,
            name_max: NAME_MAX as u32,
            no_trunc: true,
            chown_restricted: !self.conduct.ignores_permissions,
            case_insensitive: false,
            case_preserving: true,
        });
        pathconf::Reply::encode(&reply.map_err(ReplyFail::from), out);
    }
}

#[inline]
fn found<'t>(tree: &'t Tree, handle: FileHandle<'_>) -> Result<(InodeNumber, &'t Inode), Status> {
    let number = tree.resolve(handle.as_bytes())?;
    Ok((number, tree.inode(number)?))
}

/// Returns `post_op_attr` of an inode, if it still exists.
#[inline]
pub fn post_op(tree: &Tree, number: InodeNumber) -> PostOpAttr {
    tree.inode(number)
        .ok()
        .map(|inode| inode.attributes(number))
}

/// Returns a handle of this server in the type of the messages.
#[inline]
pub fn borrowed(handle: &[u8; HANDLE_LEN]) -> FileHandle<'_> {
    FileHandle::new(handle).expect("our handles are shorter than NFS3_FHSIZE")
}

/// Encodes the failure arm of any procedure's reply, with all optional attributes absent.
pub fn encode_failure(procedure: Procedure, status: Status, out: &mut Writer<'_>) {
    out.u32(status.0);
    // A boolean for each `post_op_attr`, two for each `wcc_data`.
    let absent = match procedure {
        Procedure::Null | Procedure::Getattr => 0,
        Procedure::Lookup
        | Procedure::Access
        | Procedure::Readlink
        | Procedure::Read
        | Procedure::Readdir
        | Procedure::Readdirplus
        | Procedure::Fsstat
        | Procedure::Fsinfo
        | Procedure::Pathconf => 1,
        Procedure::Setattr
        | Procedure::Write
        | Procedure::Create
        | Procedure::Mkdir
        | Procedure::Symlink
        | Procedure::Mknod
        | Procedure::Remove
        | Procedure::Rmdir
        | Procedure::Commit => 2,
        Procedure::Link => 3,
        Procedure::Rename => 4,
    };
    for _ in 0..absent {
        out.bool(false);
    }
}
