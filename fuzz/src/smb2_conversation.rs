//! Conversations with the built-in server of SMB, as an input says.
//!
//! The first byte is of the whole: without bit 0 the server has guests, and without bit 1 both
//! connections have logged on and come to the share before the input's own frames begin. Each of
//! these has a byte of flags and two of length before it: bit 0 is the connection, and without
//! bit 1 the numbers that a client counts (message, session, tree) are put right, so that what is
//! asked with them is reached.

use std::sync::LazyLock;

use filestone_server::SmbConversation;
use filestone_wire::smb2::codec::Encode;
use filestone_wire::smb2::{Command, HEADER_LEN, Header, Route, compound};

use crate::smb2_requests::{
    bodies, negotiate_of, ntlm_authenticate, ntlm_negotiate, setup_of, tree_connect_of,
};

/// The server has no guests.
const ONLY_USERS: u8 = 1;
/// Nothing is said before the input's first frame.
const FROM_THE_START: u8 = 2;

/// What is said of a frame: it is the second connection's.
const SECOND: u8 = 1;
/// Its numbers stay as they are.
const AS_IT_IS: u8 = 2;

/// What a client says on its way to the share.
static PROLOGUE: LazyLock<[Vec<u8>; 4]> = LazyLock::new(|| {
    [
        frame_of(Command::Negotiate, &negotiate_of().to_bytes()),
        frame_of(
            Command::SessionSetup,
            &setup_of(&ntlm_negotiate()).to_bytes(),
        ),
        frame_of(
            Command::SessionSetup,
            &setup_of(&ntlm_authenticate()).to_bytes(),
        ),
        frame_of(Command::TreeConnect, &tree_connect_of().to_bytes()),
    ]
});

/// A request whose numbers are put right when it is sent.
fn frame_of(command: Command, body: &[u8]) -> Vec<u8> {
    let header = Header {
        credits: 64,
        credit_charge: 1,
        route: Route::Sync {
            process_id: 0,
            tree_id: 1,
        },
        ..Header::request(command, 0)
    };
    [&header.to_bytes(), body].concat()
}

/// Both ends of a conversation, and what a client counts.
struct Talk {
    conversation: SmbConversation,
    next_ids: [u64; 2],
    sessions: [u64; 2],
    /// The frame that is being said.
    frame: Vec<u8>,
}

impl Talk {
    fn say(&mut self, flags: u8, frame: &[u8]) {
        let is_second = flags & SECOND != 0;
        let index = usize::from(is_second);
        self.frame.clear();
        self.frame.extend_from_slice(frame);
        if flags & AS_IT_IS == 0 {
            self.put_right(index);
        }
        let Some(answer) = self.conversation.frame(is_second, &self.frame) else {
            return;
        };
        // SessionId of what a SESSION_SETUP is answered with, behind the mark of four bytes.
        if answer.get(16) == Some(&1)
            && let Some(id) = answer.get(44..).and_then(|tail| tail.first_chunk())
        {
            self.sessions[index] = u64::from_le_bytes(*id);
        }
    }

    fn put_right(&mut self, index: usize) {
        let frame = &mut self.frame;
        if frame.len() >= HEADER_LEN && frame.starts_with(b"\xfeSMB") {
            frame[24..32].copy_from_slice(&self.next_ids[index].to_le_bytes());
            frame[36..40].copy_from_slice(&1_u32.to_le_bytes());
            frame[40..48].copy_from_slice(&self.sessions[index].to_le_bytes());
        }
        self.next_ids[index] += 1;
    }
}

/// Says all that an input has.
pub fn talk(input: &[u8]) {
    let Some((of_all, mut rest)) = input.split_first() else {
        return;
    };
    let mut talk = Talk {
        conversation: SmbConversation::new(of_all & ONLY_USERS == 0),
        next_ids: [0; 2],
        sessions: [0; 2],
        frame: Vec::new(),
    };
    if of_all & FROM_THE_START == 0 {
        for flags in [0, SECOND] {
            PROLOGUE.iter().for_each(|frame| talk.say(flags, frame));
        }
    }
    while let Some(([flags, low, high], tail)) = rest.split_first_chunk::<3>() {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (frame, tail) = tail.split_at(len);
        rest = tail;
        talk.say(*flags, frame);
    }
}

/// An input that says these frames.
fn input(of_all: u8, frames: &[(u8, &[u8])]) -> Vec<u8> {
    let mut input = vec![of_all];
    for (flags, frame) in frames {
        input.push(*flags);
        input.extend((frame.len() as u16).to_le_bytes());
        input.extend_from_slice(frame);
    }
    input
}

/// Inputs to begin with: the way to the share, and each request after two files were opened: by
/// one connection, by the other, and in a compound.
pub fn seeds() -> Vec<Vec<u8>> {
    let prologue: Vec<(u8, &[u8])> = PROLOGUE.iter().map(|frame| (0, &frame[..])).collect();
    let mut seeds = vec![
        input(FROM_THE_START, &prologue),
        input(FROM_THE_START | ONLY_USERS, &prologue),
    ];
    let frames: Vec<Vec<u8>> = bodies(1)
        .iter()
        .map(|(command, body)| frame_of(*command, body))
        .collect();
    let creates = bodies(1);
    let creates = creates
        .iter()
        .filter(|(command, _)| *command == Command::Create);
    for (number, (_, create)) in creates.enumerate() {
        let create = frame_of(Command::Create, create);
        for frame in frames.iter().skip(number % 3).step_by(3) {
            let said: [(u8, &[u8]); 4] =
                [(0, &create), (SECOND, &create), (0, frame), (SECOND, frame)];
            seeds.push(input(0, &said));
        }
    }
    for pair in frames.windows(2) {
        let [first, second] = pair else { continue };
        let mut both = first.clone();
        compound::link(&mut both, 0);
        both.extend_from_slice(second);
        seeds.push(input(0, &[(0, &both)]));
    }
    seeds
}
