//! Checks of a reply's results against its call: status, lengths, never more than requested.

use super::bad_reply;
use super::read_counts::{ReadCounts, check_written};
use crate::client::Verify;
use crate::workload::FileTable;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    Fattr3, PostOpAttr, ReplyFail, Status, access, commit, create, fsinfo, fsstat, getattr, link,
    lookup, pathconf, read, readdir, readdirplus, readlink, remove, rename, setattr, write,
};
use filestone_wire::xdr::{Decode, DecodeError, Reader};
use filestone_workload::failure::{ReplyFault, StatusSpace};
use filestone_workload::operation::{
    DirectoryCursor, FileId, OpKind, Operation, Outcome, ReplyInfo,
};

/// Result of a checked reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplySummary {
    pub outcome: Outcome,
    pub answer: ReplyInfo,
    pub data_bytes: u32,
}

const OK: ReplySummary = ReplySummary {
    outcome: Outcome::Ok,
    answer: ReplyInfo::Plain,
    data_bytes: 0,
};

/// Returns the result for a reply that cannot be decoded.
fn undecodable() -> ReplySummary {
    bad_reply(ReplyFault::Undecodable)
}

const fn failed(status: Status) -> ReplySummary {
    ReplySummary {
        outcome: Outcome::Failed(StatusSpace::Nfs3.failure(status.0)),
        answer: ReplyInfo::Plain,
        data_bytes: 0,
    }
}

/// Returns whether these are the results of a plain success: a fast check for the most frequent
/// kinds; false for all others.
#[inline]
pub fn is_plain_success(kind: OpKind, results: &[u8]) -> bool {
    match kind {
        OpKind::Null => results.is_empty(),
        OpKind::GetAttr => is_plain_getattr(results),
        _ => false,
    }
}

/// Decodes the results of `operation` and checks them against it.
#[inline]
pub fn check(
    operation: &Operation,
    results: &[u8],
    table: &FileTable,
    verify: Option<&mut Verify>,
) -> ReplySummary {
    match *operation {
        Operation::Null if results.is_empty() => OK,
        Operation::Null => undecodable(),
        Operation::GetAttr { .. } if is_plain_getattr(results) => OK,
        Operation::GetAttr { .. } => simple(getattr::Reply::from_bytes(results)),
        Operation::Read { file, offset, len } => match read::Reply::from_bytes(results) {
            Ok(Ok(ok)) => {
                let checked = check_read(&ok, ReadRequest { file, offset, len }, table);
                if let (Some(verify), Outcome::Ok) = (verify, checked.outcome)
                    && !verify.is_right(file, offset, ok.data)
                {
                    return bad_reply(ReplyFault::WrongData);
                }
                checked
            }
            Ok(Err(fail)) => failed(fail.status),
            Err(_) => undecodable(),
        },
        ref other => check_other(other, results),
    }
}

/// Returns whether these are the results of a successful GETATTR, checked in place: of all fields
/// of fattr3 only the type can be invalid (RFC 1813, section 2.6).
#[inline]
fn is_plain_getattr(results: &[u8]) -> bool {
    const LEN: usize = 4 + Fattr3::LEN;
    match results.first_chunk::<8>() {
        Some([0, 0, 0, 0, 0, 0, 0, 1..=7]) => results.len() == LEN,
        _ => false,
    }
}

#[inline]
fn simple<T, A>(reply: Result<Result<T, ReplyFail<A>>, DecodeError>) -> ReplySummary {
    match reply {
        Ok(Ok(_)) => OK,
        Ok(Err(fail)) => failed(fail.status),
        Err(_) => undecodable(),
    }
}

/// Works like [`simple`], with a condition that a valid reply must meet.
fn conditional<T, A>(
    reply: Result<Result<T, ReplyFail<A>>, DecodeError>,
    is_consistent: impl FnOnce(&T) -> bool,
) -> ReplySummary {
    match reply {
        Ok(Ok(ok)) if !is_consistent(&ok) => bad_reply(ReplyFault::Inconsistent),
        reply => simple(reply),
    }
}

/// Parameters of a READ.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadRequest {
    pub file: FileId,
    pub offset: u64,
    pub len: u32,
}

fn check_read(ok: &read::ReplyOk<'_>, asked: ReadRequest, table: &FileTable) -> ReplySummary {
    if ok.data.len() > asked.len as usize {
        return bad_reply(ReplyFault::TooMuchData);
    }
    // `count` must match the length of the data.
    if ok.count as usize != ok.data.len() {
        return bad_reply(ReplyFault::Inconsistent);
    }
    let file_len = ok.file_attributes.as_ref().map(|file| file.size);
    let amount = asked.answered(ok.count, ok.eof, file_len, table);
    match amount.check() {
        Ok(()) => ReplySummary {
            data_bytes: ok.count,
            ..OK
        },
        Err(fault) => bad_reply(fault),
    }
}

impl ReadRequest {
    /// Returns the counts in a reply, with the length of the file: from the reply, or from the time
    /// when the file was looked up.
    #[inline]
    fn answered(
        self,
        count: u32,
        eof: bool,
        file_len: Option<u64>,
        table: &FileTable,
    ) -> ReadCounts {
        ReadCounts {
            offset: self.offset,
            requested: self.len,
            count,
            eof,
            file_len: file_len.or_else(|| table.file(self.file).map(|file| file.len)),
        }
    }
}

/// Checks a READ reply from its head alone; returns the length of the head. `results_len` is the
/// length of the complete results. `None` if anything is unusual: then the complete reply must be
/// checked.
pub(super) fn check_read_head(
    head: &[u8],
    results_len: usize,
    asked: ReadRequest,
    table: &FileTable,
) -> Option<(ReplySummary, usize)> {
    let mut reader = Reader::new(head);
    if reader.u32().ok()? != Status::OK.0 {
        return None;
    }
    let file_len = PostOpAttr::decode(&mut reader).ok()?.map(|file| file.size);
    let [count, eof, data_len] = reader.words::<3>().ok()?;
    let padded = (data_len as usize).checked_next_multiple_of(4)?;
    let is_usual = count == data_len
        && count > 0
        && eof <= 1
        && asked
            .answered(count, eof == 1, file_len, table)
            .check()
            .is_ok()
        && reader.position().checked_add(padded)? == results_len;
    let checked = ReplySummary {
        data_bytes: count,
        ..OK
    };
    is_usual.then_some((checked, reader.position()))
}

fn check_other(operation: &Operation, results: &[u8]) -> ReplySummary {
    match *operation {
        // The first three are checked elsewhere, the others refused before the run.
        Operation::Null
        | Operation::GetAttr { .. }
        | Operation::Read { .. }
        | Operation::Open { .. }
        | Operation::Close { .. }
        | Operation::Lock { .. }
        | Operation::Unlock { .. }
        | Operation::SessionSetup
        | Operation::TreeConnect
        | Operation::Notify { .. }
        | Operation::Copy { .. } => undecodable(),
        Operation::SetAttr { .. } => simple(setattr::Reply::from_bytes(results)),
        Operation::Lookup { .. } => conditional(lookup::Reply::from_bytes(results), |ok| {
            !ok.object.as_bytes().is_empty()
        }),
        // The server may grant less than requested, not more (section 3.3.4).
        Operation::Access { wanted, .. } => conditional(access::Reply::from_bytes(results), |ok| {
            ok.access & !wanted == 0
        }),
        Operation::ReadLink { .. } => simple(readlink::Reply::from_bytes(results)),
        Operation::Write { len, stability, .. } => check_write(results, len, stability),
        Operation::Create { .. }
        | Operation::MakeDirectory { .. }
        | Operation::MakeSymlink { .. }
        | Operation::MakeNode { .. } => simple(create::Reply::from_bytes(results)),
        Operation::Remove { .. } | Operation::RemoveDirectory { .. } => {
            simple(remove::Reply::from_bytes(results))
        }
        Operation::Rename { .. } => simple(rename::Reply::from_bytes(results)),
        Operation::Link { .. } => simple(link::Reply::from_bytes(results)),
        Operation::ReadDirectory { len, cursor, .. } => {
            check_listing(results, len, cursor, |reader| {
                readdir::Entry::decode(reader).map(|entry| entry.cookie)
            })
        }
        Operation::ReadDirectoryPlus { len, cursor, .. } => {
            check_listing(results, len, cursor, |reader| {
                readdirplus::EntryPlus::decode(reader).map(|entry| entry.cookie)
            })
        }
        Operation::FileSystemStatus { .. } => simple(fsstat::Reply::from_bytes(results)),
        Operation::FileSystemInfo { .. } => simple(fsinfo::Reply::from_bytes(results)),
        Operation::PathConfiguration { .. } => simple(pathconf::Reply::from_bytes(results)),
        Operation::Commit { .. } => simple(commit::Reply::from_bytes(results)),
    }
}

fn check_write(
    results: &[u8],
    asked: u32,
    stability: filestone_workload::operation::Stability,
) -> ReplySummary {
    match write::Reply::from_bytes(results) {
        Ok(Ok(ok)) => {
            // The server may store data more safely than requested, not less (section 3.3.7).
            let is_stable_enough = match stability {
                filestone_workload::operation::Stability::Unstable => true,
                filestone_workload::operation::Stability::DataSync => {
                    ok.committed != StableHow::Unstable
                }
                filestone_workload::operation::Stability::FileSync => {
                    ok.committed == StableHow::FileSync
                }
            };
            match check_written(asked, ok.count) {
                Ok(()) if is_stable_enough => ReplySummary {
                    data_bytes: ok.count,
                    ..OK
                },
                Ok(()) => bad_reply(ReplyFault::Inconsistent),
                Err(fault) => bad_reply(fault),
            }
        }
        Ok(Err(fail)) => failed(fail.status),
        Err(_) => undecodable(),
    }
}

/// READDIR3res and READDIRPLUS3res differ in their entries only. Checked in place instead of
/// decoded into a list, because this path must not allocate.
fn check_listing<'a>(
    results: &'a [u8],
    asked: u32,
    asked_at: DirectoryCursor,
    mut entry: impl FnMut(&mut Reader<'a>) -> Result<u64, DecodeError>,
) -> ReplySummary {
    let mut walk = || -> Result<ReplySummary, DecodeError> {
        let mut reader = Reader::new(results);
        let status = Status(reader.u32()?);
        PostOpAttr::decode(&mut reader)?;
        if status != Status::OK {
            reader.finish()?;
            return Ok(failed(status));
        }
        let verifier = *reader.fixed::<8>()?;
        let list_start = reader.position();
        let mut last = None;
        while reader.bool()? {
            last = Some(entry(&mut reader)?);
        }
        let end = reader.bool()?;
        reader.finish()?;
        // count and maxcount limit the size of the whole READDIR3resok (sections 3.3.16 and
        // 3.3.17). Linux's server applies them only to the list, without dir_attributes and
        // cookieverf, and Linux clients accept that; so this amount is not counted as excess. A
        // larger page is not an error either: it can be read, and the listing can continue. The
        // record reports the excess.
        let list_len = results.len() - list_start;
        let excess_bytes = u32::try_from(list_len.saturating_sub(asked as usize));
        let next = last.and_then(|cookie| asked_at.after(cookie, verifier));
        let cursor = match next {
            Some(next) => next,
            None if end => DirectoryCursor::default(),
            // An empty page before the end, or a repeated page: the listing would never end.
            None => return Ok(bad_reply(ReplyFault::Inconsistent)),
        };
        Ok(ReplySummary {
            answer: ReplyInfo::Directory {
                cursor,
                end,
                excess_bytes: excess_bytes.unwrap_or(u32::MAX),
            },
            ..OK
        })
    };
    walk().unwrap_or_else(|_| undecodable())
}
