//! READDIR and READDIRPLUS (RFC 1813, sections 3.3.16 and 3.3.17).

use filestone_wire::nfs3::directory::DirectoryWriter;
use filestone_wire::nfs3::{
    FileHandle, PostOpAttr, ReplyFail, Status, Verifier, readdir, readdirplus,
};
use filestone_wire::xdr::{Encode, Writer};

use super::nfs3::{borrowed, post_op};
use super::{CallTransport, Caller, Service};
use crate::options::ListingBound;
use crate::tree::access::{MAY_EXECUTE, MAY_READ};
use crate::tree::directory::{COOKIE_PARENT, COOKIE_SELF, Directory};
use crate::tree::{Identity, InodeNumber, Tree};

impl Service {
    pub(super) fn readdir(
        &self,
        arguments: &readdir::Args<'_>,
        by: Identity<'_>,
        caller: Caller<'_>,
        out: &mut Vec<u8>,
    ) {
        let asked = Listing {
            dir: arguments.dir,
            cookie: if caller.loops { 0 } else { arguments.cookie },
            cookieverf: arguments.cookieverf,
            dircount: u32::MAX,
            maxcount: arguments.count,
            by,
        };
        self.list(&asked, caller, out, |_, entry, _, writer| {
            writer.append(&entry)
        });
    }

    pub(super) fn readdirplus(
        &self,
        arguments: &readdirplus::Args<'_>,
        by: Identity<'_>,
        caller: Caller<'_>,
        out: &mut Vec<u8>,
    ) {
        let asked = Listing {
            dir: arguments.dir,
            cookie: if caller.loops { 0 } else { arguments.cookie },
            cookieverf: arguments.cookieverf,
            dircount: arguments.dircount,
            maxcount: arguments.maxcount,
            by,
        };
        self.list(&asked, caller, out, |tree, entry, inode, writer| {
            let handle = inode.map(|inode| tree.handle(inode));
            writer.append(&readdirplus::EntryPlus {
                fileid: entry.fileid,
                name: entry.name,
                cookie: entry.cookie,
                name_attributes: inode.and_then(|inode| post_op(tree, inode)),
                name_handle: handle.as_ref().map(borrowed),
            })
        });
    }

    /// Encodes a listing; `append` appends one entry, if it fits, with its object if the caller may
    /// look up names here (as in knfsd).
    fn list(
        &self,
        asked: &Listing<'_>,
        caller: Caller<'_>,
        out: &mut Vec<u8>,
        append: impl Fn(
            &Tree,
            readdir::Entry<'_>,
            Option<InodeNumber>,
            &mut DirectoryWriter<'_>,
        ) -> bool,
    ) {
        let tree = self.tree();
        let (number, directory) = match self.listed(&tree, asked) {
            Ok(listed) => listed,
            Err(fail) => return fail.encode(&mut Writer::new(out)),
        };
        let attributes = post_op(&tree, number);
        let maxcount = self.listing_max(asked.maxcount, &attributes, caller.ends.transport);
        let dircount = match self.conduct.listing_bound {
            ListingBound::Reply | ListingBound::Entries => asked.dircount,
            ListingBound::Nothing => maxcount,
        };
        let mut writer = DirectoryWriter::new(out, &attributes, self.verifier, dircount, maxcount);
        let is_searched = tree.check(number, &asked.by, MAY_EXECUTE).is_ok();
        let is_complete = entries(number, directory, asked.cookie).all(|(cookie, name, inode)| {
            let fileid = inode.fileid();
            let entry = readdir::Entry {
                fileid,
                name,
                cookie,
            };
            let is_found = is_searched || cookie <= COOKIE_PARENT;
            append(&tree, entry, is_found.then_some(inode), &mut writer)
        });
        // Not even one entry fits, or not even an empty list (RFC 1813, section 3.3.16).
        if writer.is_over_limit() || (writer.entries() == 0 && !is_complete) {
            writer.abandon();
            let status = Status::TOOSMALL;
            return ReplyFail { status, attributes }.encode(&mut Writer::new(out));
        }
        writer.finish(is_complete && !caller.loops);
    }

    /// Returns the largest length of a `resok`, in bytes, for a request with `count`.
    fn listing_max(&self, count: u32, attributes: &PostOpAttr, transport: CallTransport) -> u32 {
        let most = transport.reply_data_max();
        match self.conduct.listing_bound {
            ListingBound::Reply => count.min(most),
            ListingBound::Entries => {
                let head = attributes.to_bytes().len() + size_of::<Verifier>();
                count.saturating_add(head as u32).min(most)
            }
            ListingBound::Nothing => most,
        }
    }

    /// Checks the directory of a listing and the cookie where it continues.
    fn listed<'t>(
        &self,
        tree: &'t Tree,
        asked: &Listing<'_>,
    ) -> Result<(InodeNumber, &'t Directory), ReplyFail<PostOpAttr>> {
        let number = tree.resolve(asked.dir.as_bytes())?;
        let fail = |status| ReplyFail {
            status,
            attributes: post_op(tree, number),
        };
        let directory = tree.directory(number).map_err(fail)?;
        tree.check(number, &asked.by, MAY_READ).map_err(fail)?;
        // Cookies are valid until the server ends, and so is the verifier. The first call of a
        // listing has cookie 0 and should have verifier 0, which is not enforced.
        let is_known = asked.cookie == 0
            || (asked.cookieverf == self.verifier && asked.cookie <= directory.cookie_last());
        if is_known {
            Ok((number, directory))
        } else {
            Err(fail(Status::BAD_COOKIE))
        }
    }
}

/// Parameters of a listing.
struct Listing<'a> {
    dir: FileHandle<'a>,
    cookie: u64,
    cookieverf: Verifier,
    dircount: u32,
    maxcount: u32,
    by: Identity<'a>,
}

/// Returns all entries after `cookie`, `.` and `..` first.
fn entries(
    number: InodeNumber,
    directory: &Directory,
    cookie: u64,
) -> impl Iterator<Item = (u64, &[u8], InodeNumber)> {
    let dots = [
        (COOKIE_SELF, b".".as_slice(), number),
        (COOKIE_PARENT, b"..".as_slice(), directory.parent()),
    ];
    let dots = dots.into_iter().filter(move |entry| entry.0 > cookie);
    dots.chain(directory.entries_after(cookie.max(COOKIE_PARENT)))
}
