use super::*;
use crate::client::call_slot::WaitReason;
use crate::client::smb2::SmbCallSlot;
use filestone_wire::smb2::compound::append;
use filestone_wire::smb2::ioctl::RESUME_KEY_LEN;
use filestone_wire::smb2::{ErrorResponse, Header, HeaderFlags};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

const TARGET: FileId = FileId {
    persistent: 3,
    volatile: 4,
};
const KEY: ResumeKey = [9; RESUME_KEY_LEN];

fn response(status: Status, body: &impl Encode) -> Vec<u8> {
    let mut out = Vec::new();
    let header = Header {
        status,
        flags: HeaderFlags::RESPONSE,
        ..Header::request(Command::Ioctl, 7)
    };
    append(&mut out, &header, body);
    out
}

/// A response with these three figures.
fn said(status: Status, figures: [u32; 3]) -> Vec<u8> {
    let [chunks_written, chunk_bytes_written, total_bytes_written] = figures;
    let output = CopychunkResponse {
        chunks_written,
        chunk_bytes_written,
        total_bytes_written,
    };
    let output = output.to_bytes();
    let body = ioctl::Response {
        control_code: ControlCode::SRV_COPYCHUNK,
        file_id: TARGET,
        flags: 0,
        input: &[],
        output: &output,
    };
    response(status, &body)
}

fn copied(asked: &[(u64, u32)]) -> Vec<u8> {
    let sum = asked.iter().map(|(_, len)| len).sum();
    said(Status::SUCCESS, [asked.len() as u32, 0, sum])
}

/// Returns the response of a server with these limits to a request.
fn limited(limits: [u32; 3], asked: &[(u64, u32)]) -> Vec<u8> {
    let [chunks, chunk_len, total] = limits;
    let sum: u32 = asked.iter().map(|(_, len)| len).sum();
    let is_within = asked.len() as u32 <= chunks
        && asked.iter().all(|(_, len)| *len <= chunk_len)
        && sum <= total;
    if is_within {
        copied(asked)
    } else {
        said(Status::INVALID_PARAMETER, limits)
    }
}

/// Copies on a server that answers copy requests with `answer`; returns the result, or the error of
/// the client.
fn copy(
    opens: &OpenTable,
    stretch: DataRange,
    mut answer: impl FnMut(&[(u64, u32)]) -> Vec<u8>,
) -> Result<ActionResult<u32>, String> {
    let mut copying = CopyBuffers::default();
    let what = CopySpec {
        key: KEY,
        target: TARGET,
        stretch,
    };
    let mut call_slot = SmbCallSlot::default();
    let mut future = pin!(copying.copy(SmbCallHandle::HERE, what, opens));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(done) = call_slot.lend(|| future.as_mut().poll(&mut context)) {
            return match call_slot.take_lost() {
                Some(lost) => Err(format!("{:?}", lost.reason)),
                None => Ok(done),
            };
        }
        assert_eq!(call_slot.wanted(), WaitReason::Reply);
        let asked = asked_in(&call_slot.call().arguments);
        let bytes = answer(&asked);
        let (bytes, len) = (&bytes[..], bytes.len());
        call_slot.answer(Results { bytes, len });
    }
}

/// Returns offsets and lengths of the chunks of a request.
fn asked_in(body: &[u8]) -> Vec<(u64, u32)> {
    use filestone_wire::smb2::HEADER_LEN;
    let message = [&[0; HEADER_LEN], body].concat();
    let mut reader = filestone_wire::smb2::codec::Reader::starting_at(&message, HEADER_LEN);
    let request = ioctl::Request::decode(&mut reader).expect("a request");
    assert_eq!(request.control_code, ControlCode::SRV_COPYCHUNK);
    assert_eq!(request.file_id, TARGET);
    let copy = CopychunkCopy::from_bytes(request.input).expect("chunks");
    assert_eq!(copy.source_key, KEY);
    let chunk = |chunk: Chunk| {
        assert_eq!(chunk.source_offset, chunk.target_offset);
        (chunk.target_offset, chunk.length)
    };
    copy.chunks.iter().map(chunk).collect()
}

const fn stretch(at: u64, len: u32) -> DataRange {
    DataRange { at, len }
}

/// Limits of Samba, and of Windows (MS-SMB2, section 3.3.3).
const USUAL: [u32; 3] = [256, 1 << 20, 16 << 20];

#[test]
fn a_long_copy_is_many_requests_of_sixteen_chunks() {
    let (opens, mut requests) = (OpenTable::default(), Vec::new());
    let done = copy(&opens, stretch(4096, 20 << 20), |asked| {
        requests.push((asked.len(), asked[0].0));
        limited(USUAL, asked)
    });
    assert_eq!(done, Ok(Ok(20 << 20)));
    assert_eq!(requests, [(16, 4096), (4, 4096 + (16 << 20))]);
}

#[test]
fn what_is_shorter_than_a_chunk_is_one() {
    let opens = OpenTable::default();
    let done = copy(&opens, stretch(70_000, 100), |asked| {
        assert_eq!(asked, [(70_000, 100)]);
        copied(asked)
    });
    assert_eq!(done, Ok(Ok(100)));
}

#[test]
fn a_server_s_limits_are_taken_once_for_all() {
    for limits in [
        [4, 65_536, 131_072],
        [1, 1 << 16, 1 << 30],
        [300, 1000, 1 << 16],
    ] {
        let (opens, mut refusals) = (OpenTable::default(), 0);
        for _ in 0..2 {
            let mut next = 0;
            let done = copy(&opens, stretch(0, 1_000_000), |asked| {
                let answer = limited(limits, asked);
                if answer == copied(asked) {
                    for (at, len) in asked {
                        assert_eq!(*at, next, "nothing twice, nothing left out");
                        next += u64::from(*len);
                    }
                } else {
                    refusals += 1;
                }
                answer
            });
            assert_eq!(done, Ok(Ok(1_000_000)));
        }
        assert_eq!(refusals, 1, "{limits:?}");
    }
}

#[test]
fn a_refusal_that_is_about_no_limit_is_the_answer() {
    let refused = Ok(Err(Status::INVALID_PARAMETER.into()));
    for figures in [USUAL, [0, 0, 0], [0, 1 << 20, 1 << 20], [u32::MAX; 3]] {
        let mut requests = 0;
        let done = copy(&OpenTable::default(), stretch(0, 65_536), |_| {
            requests += 1;
            said(Status::INVALID_PARAMETER, figures)
        });
        assert_eq!((done, requests), (refused.clone(), 1), "{figures:?}");
    }
    // A server that returns new limits every time is not asked forever.
    let mut requests: u32 = 0;
    let done = copy(&OpenTable::default(), stretch(0, 1 << 30), |asked| {
        requests += 1;
        let limits = [1, asked[0].1 / 2, 1 << 20];
        said(Status::INVALID_PARAMETER, limits)
    });
    assert_eq!((done, requests), (refused, REFUSALS_MAX + 1));
}

#[test]
fn other_failures_have_a_body_of_their_own_or_none() {
    let full = Ok(Err(Status::DISK_FULL.into()));
    let with = |_: &[(u64, u32)]| said(Status::DISK_FULL, [3, 0, 3 << 20]);
    assert_eq!(copy(&OpenTable::default(), stretch(0, 1 << 24), with), full);
    let without = |_: &[(u64, u32)]| response(Status::DISK_FULL, &ErrorResponse::default());
    assert_eq!(
        copy(&OpenTable::default(), stretch(0, 1 << 24), without),
        full
    );
}

#[test]
fn a_copy_that_goes_on_no_more_is_short() {
    let mut left = vec![0, 1 << 20];
    let done = copy(&OpenTable::default(), stretch(0, 20 << 20), |_| {
        said(Status::SUCCESS, [1, 0, left.pop().unwrap_or_default()])
    });
    assert_eq!(done, Ok(Ok(1 << 20)));
}

#[test]
fn answers_that_make_no_sense_end_the_client() {
    let more = |_: &[(u64, u32)]| said(Status::SUCCESS, [1, 0, 101]);
    let why = copy(&OpenTable::default(), stretch(0, 100), more).expect_err("a violation");
    assert!(why.contains("more data than was asked for"), "{why}");
    let mut cut = said(Status::SUCCESS, [1, 0, 100]);
    cut.truncate(cut.len() - 4);
    let why = copy(&OpenTable::default(), stretch(0, 100), |_| cut.clone()).expect_err("cut short");
    assert!(why.contains("Decode"), "{why}");
}
