//! READDIR and READDIRPLUS (RFC 1813, sections 3.3.16 and 3.3.17).

use filestone_wire::nfs3::directory::DirectoryWriter;
use filestone_wire::nfs3::{
    FileHandle, PostOpAttr, ReplyFail, Status, Verifier, readdir, readdirplus,
};
use filestone_wire::xdr::{Encode, Writer};

use super::nfs3::{borrowed, post_op};
use super::{Service, Transport};
use crate::options::ListingBound;
use crate::tree::directory::{COOKIE_PARENT, COOKIE_SELF, Directory};
use crate::tree::handle::HANDLE_LEN;
use crate::tree::{InodeNumber, Tree};

impl Service {
    pub(super) fn readdir(
        &self,
        arguments: &readdir::Args<'_>,
        transport: Transport,
        out: &mut Vec<u8>,
    ) {
        let tree = self.tree();
        let place = Listing {
            cookie: arguments.cookie,
            cookieverf: arguments.cookieverf,
        };
        let (number, directory) = match self.listed(&tree, arguments.dir, &place) {
            Ok(listed) => listed,
            Err(fail) => return fail.encode(&mut Writer::new(out)),
        };
        let attributes = post_op(&tree, number);
        let count = self.listing_max(arguments.count, &attributes, transport);
        let mut writer = DirectoryWriter::readdir(out, &attributes, self.verifier, count);
        let mut is_complete = true;
        for (cookie, name, inode) in entries(number, directory, place.cookie) {
            if !writer.append(&readdir::Entry {
                fileid: inode.fileid(),
                name,
                cookie,
            }) {
                is_complete = false;
                break;
            }
        }
        if is_too_small(writer.entries(), is_complete, writer.is_over_limit()) {
            writer.abandon();
            let status = Status::TOOSMALL;
            return ReplyFail { status, attributes }.encode(&mut Writer::new(out));
        }
        writer.finish(is_complete);
    }

    pub(super) fn readdirplus(
        &self,
        arguments: &readdirplus::Args<'_>,
        transport: Transport,
        out: &mut Vec<u8>,
    ) {
        let tree = self.tree();
        let place = Listing {
            cookie: arguments.cookie,
            cookieverf: arguments.cookieverf,
        };
        let (number, directory) = match self.listed(&tree, arguments.dir, &place) {
            Ok(listed) => listed,
            Err(fail) => return fail.encode(&mut Writer::new(out)),
        };
        let attributes = post_op(&tree, number);
        let maxcount = self.listing_max(arguments.maxcount, &attributes, transport);
        // The handles must outlive the writer that borrows them, so as many are looked up at once
        // as the reply could hold, and no more.
        let dircount = match self.conduct.listing_bound {
            ListingBound::Reply | ListingBound::Entries => arguments.dircount,
            ListingBound::Nothing => maxcount,
        };
        let most = (maxcount as usize).min(dircount as usize * 8) / ENTRY_PLUS_LEN_MIN;
        let listed: Vec<_> = entries(number, directory, place.cookie)
            .take(most + 2)
            .map(|(cookie, name, inode)| (cookie, name, inode, tree.handle(inode)))
            .collect();
        let mut writer =
            DirectoryWriter::readdirplus(out, &attributes, self.verifier, dircount, maxcount);
        for (cookie, name, inode, handle) in &listed {
            let entry = readdirplus::EntryPlus {
                fileid: inode.fileid(),
                name,
                cookie: *cookie,
                name_attributes: post_op(&tree, *inode),
                name_handle: Some(borrowed(handle)),
            };
            if !writer.append(&entry) {
                break;
            }
        }
        let last = listed
            .get(writer.entries().wrapping_sub(1))
            .map_or(place.cookie, |entry| entry.0);
        let is_complete = entries(number, directory, last).next().is_none();
        if is_too_small(writer.entries(), is_complete, writer.is_over_limit()) {
            writer.abandon();
            let status = Status::TOOSMALL;
            return ReplyFail { status, attributes }.encode(&mut Writer::new(out));
        }
        writer.finish(is_complete);
    }

    /// How many bytes a `resok` may have of which `count` were asked for.
    fn listing_max(&self, count: u32, attributes: &PostOpAttr, transport: Transport) -> u32 {
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

    /// Checks the directory of a listing and the place where it goes on.
    fn listed<'t>(
        &self,
        tree: &'t Tree,
        handle: FileHandle<'_>,
        place: &Listing,
    ) -> Result<(InodeNumber, &'t Directory), ReplyFail<PostOpAttr>> {
        let number = tree.resolve(handle.as_bytes())?;
        let fail = |status| ReplyFail {
            status,
            attributes: post_op(tree, number),
        };
        let directory = tree.directory(number).map_err(fail)?;
        // Cookies hold as long as the server lives, and so does the verifier. The first call of
        // a listing has cookie 0 and should have verifier 0, which nobody needs to insist on.
        let is_known = place.cookie == 0
            || (place.cookieverf == self.verifier && place.cookie <= directory.cookie_last());
        if is_known {
            Ok((number, directory))
        } else {
            Err(fail(Status::BAD_COOKIE))
        }
    }
}

/// Where a listing goes on.
struct Listing {
    cookie: u64,
    cookieverf: Verifier,
}

/// The shortest `entryplus3` of this server: mark, fileid, a name of four bytes with its length,
/// cookie, attributes, handle.
const ENTRY_PLUS_LEN_MIN: usize = 4 + 8 + 8 + 8 + 88 + 8 + HANDLE_LEN;

/// All entries behind `cookie`, `.` and `..` first.
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

/// Not even one entry fits, or not even an empty list (RFC 1813, section 3.3.16).
fn is_too_small(entries: usize, is_complete: bool, is_over_limit: bool) -> bool {
    is_over_limit || (entries == 0 && !is_complete)
}
