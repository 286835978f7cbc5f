//! A reply to READDIR or READDIRPLUS, written entry by entry within the size that the client
//! permits (RFC 1813, sections 3.3.16 and 3.3.17).

use alloc::vec::Vec;

use super::{PostOpAttr, Status, Verifier, readdir, readdirplus};
use crate::xdr::{Encode, Writer};

/// An entry of either kind.
pub trait DirectoryEntry: Encode {
    /// Bytes that count towards `dircount`: file number, name and cookie.
    fn directory_len(&self) -> usize;
}

const fn directory_len(name: &[u8]) -> usize {
    8 + 4 + name.len().next_multiple_of(4) + 8
}

impl DirectoryEntry for readdir::Entry<'_> {
    #[inline]
    fn directory_len(&self) -> usize {
        directory_len(self.name)
    }
}

impl DirectoryEntry for readdirplus::EntryPlus<'_> {
    #[inline]
    fn directory_len(&self) -> usize {
        directory_len(self.name)
    }
}

/// The end of the list, and `eof`.
const END_LEN: usize = 8;

/// Appends a successful reply, starting with its status.
///
/// [`finish`](Self::finish) must be called to end the list. A server that could not append even one
/// entry calls [`abandon`](Self::abandon) instead and returns NFS3ERR_TOOSMALL.
#[derive(Debug)]
pub struct DirectoryWriter<'b> {
    out: &'b mut Vec<u8>,
    /// Offset of the reply.
    start: usize,
    /// Largest end offset of the reply.
    limit: usize,
    /// Remaining bytes of `dircount`.
    directory_left: usize,
    entries: usize,
}

impl<'b> DirectoryWriter<'b> {
    /// Starts a reply with at most `maxcount` bytes of `READDIR3resok` or `READDIRPLUS3resok`, of
    /// which at most `dircount` are names, file numbers and cookies; READDIR has no limit for the
    /// latter.
    pub fn new(
        out: &'b mut Vec<u8>,
        dir_attributes: &PostOpAttr,
        cookieverf: Verifier,
        dircount: u32,
        maxcount: u32,
    ) -> Self {
        let start = out.len();
        let mut writer = Writer::new(out);
        writer.u32(Status::OK.0);
        // The counts are of the `resok`, which begins after the status.
        let limit = writer.position().saturating_add(maxcount as usize);
        dir_attributes.encode(&mut writer);
        cookieverf.encode(&mut writer);
        let directory_left = dircount as usize;
        Self {
            out,
            start,
            limit,
            directory_left,
            entries: 0,
        }
    }

    /// Appends the entry if it fits; returns whether it did.
    #[inline]
    pub fn append(&mut self, entry: &impl DirectoryEntry) -> bool {
        let directory_len = entry.directory_len();
        // Clients treat `dircount` as a hint and send small values, so the first entry only has to
        // fit into the reply as a whole.
        if directory_len > self.directory_left && self.entries > 0 {
            return false;
        }
        let before = self.out.len();
        let mut writer = Writer::new(self.out);
        writer.bool(true);
        entry.encode(&mut writer);
        if self.out.len() + END_LEN > self.limit {
            self.out.truncate(before);
            return false;
        }
        self.directory_left = self.directory_left.saturating_sub(directory_len);
        self.entries += 1;
        true
    }

    /// Returns the number of entries appended.
    #[inline]
    pub const fn entries(&self) -> usize {
        self.entries
    }

    /// Returns whether even a reply without entries exceeds the limit.
    #[inline]
    pub const fn is_over_limit(&self) -> bool {
        self.out.len() + END_LEN > self.limit
    }

    /// Ends the list; `eof` states whether the directory ends, too.
    pub fn finish(self, eof: bool) {
        Writer::new(self.out).words([0, eof.into()]);
    }

    /// Removes everything that was appended, including the status.
    pub fn abandon(self) {
        self.out.truncate(self.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs3::FileHandle;
    use crate::xdr::Decode;

    fn entry(cookie: u64) -> readdir::Entry<'static> {
        readdir::Entry {
            fileid: cookie,
            name: b"name",
            cookie,
        }
    }

    #[test]
    fn a_reply_never_exceeds_the_count_and_never_wastes_an_entry() {
        // Attributes absent 4, verifier 8, end 8; an entry 4 + 8 + 8 + 8.
        for (count, fit) in [
            (19, 0),
            (20, 0),
            (47, 0),
            (48, 1),
            (75, 1),
            (76, 2),
            (1000, 5),
        ] {
            let mut out = b"header".to_vec();
            let mut writer = DirectoryWriter::new(&mut out, &None, [0; 8], u32::MAX, count);
            assert_eq!(writer.is_over_limit(), count < 20);
            let appended = (1..=5)
                .take_while(|cookie| writer.append(&entry(*cookie)))
                .count();
            assert_eq!(appended, fit, "in {count} bytes");
            assert_eq!(writer.entries(), fit);
            writer.finish(fit == 5);
            let reply = readdir::Reply::from_bytes(&out[6..]).unwrap().unwrap();
            assert_eq!(reply.entries.len(), fit);
            assert_eq!(reply.eof, fit == 5);
            assert!(fit == 0 || out.len() - 6 - 4 <= count as usize);
        }
    }

    #[test]
    fn dircount_leaves_out_attributes_and_handles() {
        let entry = readdirplus::EntryPlus {
            fileid: 1,
            name: b"name",
            cookie: 1,
            name_attributes: None,
            name_handle: FileHandle::new(&[7; 64]),
        };
        for (dircount, fit) in [(0, 1), (47, 1), (48, 2), (71, 2), (72, 3)] {
            let mut out = Vec::new();
            let mut writer = DirectoryWriter::new(&mut out, &None, [0; 8], dircount, 10_000);
            let appended = (0..5).take_while(|_| writer.append(&entry)).count();
            assert_eq!(appended, fit, "with dircount {dircount}");
        }
    }

    #[test]
    fn an_abandoned_reply_leaves_nothing_behind() {
        let mut out = b"header".to_vec();
        let mut writer = DirectoryWriter::new(&mut out, &None, [0; 8], u32::MAX, 10);
        assert!(!writer.append(&entry(1)));
        writer.abandon();
        assert_eq!(out, b"header");
    }
}
