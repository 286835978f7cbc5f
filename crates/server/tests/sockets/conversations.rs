//! Conversations of SMB at random: requests as a client sends them, changed at a few bytes or cut,
//! in any order, over two connections. Nothing panics, and a server is served on.

use std::env;

use filestone_server::SmbConversation;
use filestone_wire::smb2::codec::Encode;
use filestone_wire::smb2::{Command, Header, Route, compound};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::requests::{
    bodies, negotiate_of, ntlm_authenticate, ntlm_negotiate, setup_of, tree_connect_of,
};

/// Frames of the usual run; `FILESTONE_FRAMES` asks for more.
const FRAMES: u64 = 60_000;

/// One of the connections, as its client counts.
#[derive(Default)]
struct Side {
    next_id: u64,
    session_id: u64,
}

struct Talk {
    conversation: SmbConversation,
    random: Xoshiro256PlusPlus,
    sides: [Side; 2],
}

impl Talk {
    fn new(seed: u64) -> Self {
        let mut talk = Self {
            conversation: SmbConversation::new(true),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            sides: Default::default(),
        };
        for second in [false, true] {
            talk.say(second, Command::Negotiate, &negotiate_of().to_bytes());
            for token in [ntlm_negotiate(), ntlm_authenticate()] {
                let answer = talk.say(second, Command::SessionSetup, &setup_of(&token).to_bytes());
                let answer = answer.expect("it goes on");
                let id = answer[44..].first_chunk().expect("a header");
                talk.sides[usize::from(second)].session_id = u64::from_le_bytes(*id);
            }
            talk.say(second, Command::TreeConnect, &tree_connect_of().to_bytes());
        }
        talk
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound.max(1) as u64) as usize
    }

    fn frame(&mut self, second: bool, command: Command, body: &[u8]) -> Vec<u8> {
        let side = &mut self.sides[usize::from(second)];
        let header = Header {
            credits: 64,
            credit_charge: 1,
            route: Route::Sync {
                process_id: 0,
                tree_id: 1,
            },
            session_id: side.session_id,
            ..Header::request(command, side.next_id)
        };
        side.next_id += u64::from(command != Command::Cancel);
        let mut frame = header.to_bytes();
        frame.extend_from_slice(body);
        frame
    }

    fn say(&mut self, second: bool, command: Command, body: &[u8]) -> Option<Vec<u8>> {
        let frame = self.frame(second, command, body);
        self.conversation.frame(second, &frame)
    }

    /// A request at random, or two of them, changed at random; whether the server still listens.
    fn say_anything(&mut self) -> bool {
        let open = 1 + self.below(12) as u64;
        let bodies = bodies(open);
        let second = self.below(2) == 1;
        let (command, body) = bodies[self.below(bodies.len())].clone();
        let mut frame = self.frame(second, command, &body);
        if self.below(8) == 0 {
            compound::link(&mut frame, 0);
            let (command, body) = bodies[self.below(bodies.len())].clone();
            let next = self.frame(second, command, &body);
            frame.extend(next);
        }
        let changes = self.below(4).saturating_sub(1);
        for _ in 0..changes {
            // Seldom in the header, which ends most conversations.
            let from = if self.below(20) == 0 { 0 } else { 64 };
            let at = from + self.below(frame.len().saturating_sub(from));
            let value = [0, 1, 0x7f, 0x80, 0xff, self.random.next_u64() as u8][self.below(6)];
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        if self.below(30) == 0 {
            let len = self.below(frame.len());
            frame.truncate(len);
        }
        self.conversation.frame(second, &frame).is_some()
    }
}

#[test]
fn no_conversation_brings_the_server_down() {
    let frames = env::var("FILESTONE_FRAMES").ok();
    let frames = frames
        .and_then(|frames| frames.parse().ok())
        .unwrap_or(FRAMES);
    let (mut said, mut talks) = (0, 0);
    while said < frames {
        let mut talk = Talk::new(talks);
        talks += 1;
        let mut hung_up = 0;
        while hung_up < 2 && said < frames {
            said += 1;
            hung_up += u32::from(!talk.say_anything());
        }
    }
    assert!(
        talks > 10 && talks < said / 5,
        "{talks} conversations of {said} frames"
    );
}
