#![no_main]

//! Whole conversations with the built-in server of SMB, over two connections. Each frame of the
//! input has a byte of flags and two of length before it: bit 0 is the connection, and without
//! bit 1 the numbers that a client counts (message, session, tree) are put right, so that what is
//! asked with them is reached.

use filestone_server::SmbConversation;
use libfuzzer_sys::fuzz_target;

const HEADER_LEN: usize = 64;

fn put_right(frame: &mut [u8], message_id: u64, session_id: u64) {
    if frame.len() >= HEADER_LEN && frame.starts_with(b"\xfeSMB") {
        frame[24..32].copy_from_slice(&message_id.to_le_bytes());
        frame[36..40].copy_from_slice(&1_u32.to_le_bytes());
        frame[40..48].copy_from_slice(&session_id.to_le_bytes());
    }
}

fuzz_target!(|data: &[u8]| {
    let mut conversation = SmbConversation::new(data.first().is_some_and(|byte| byte & 4 != 0));
    let (mut rest, mut next_ids, mut sessions) = (data, [0_u64; 2], [0_u64; 2]);
    while let Some(([flags, low, high], tail)) = rest.split_first_chunk::<3>() {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (frame, tail) = tail.split_at(len);
        rest = tail;
        let mut frame = frame.to_vec();
        let second = flags & 1 != 0;
        let index = usize::from(second);
        if flags & 2 == 0 {
            put_right(&mut frame, next_ids[index], sessions[index]);
            next_ids[index] += 1;
        }
        let Some(answer) = conversation.frame(second, &frame) else {
            continue;
        };
        // SessionId of what a SESSION_SETUP is answered with.
        if answer.get(16) == Some(&1)
            && let Some(id) = answer.get(44..).and_then(|tail| tail.first_chunk())
        {
            sessions[index] = u64::from_le_bytes(*id);
        }
    }
});
