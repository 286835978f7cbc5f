#![no_main]

//! A message of NTLM, as each side takes it from the other.

use filestone_protocol::session::smb2::ntlm::{Acceptor, Initiator, RandomInput, SigningSide};
use libfuzzer_sys::fuzz_target;

const RANDOM: RandomInput = RandomInput {
    challenge: [1; 8],
    key: [2; 16],
    now: 3,
};

fuzz_target!(|input: &[u8]| {
    let user = Initiator::user("jane", "LAB", "mellon");
    let mut server = Acceptor::default();
    if let Ok((message, Some(established))) = user.authenticate(&[], input, &RANDOM) {
        let mic = established.mic(SigningSide::Client, input);
        assert!(established.is_mic(input, &mic));
        // Of a long challenge the answer is longer than a server takes.
        let _ = server.read(&message);
    }
    if let Ok(challenge) = server.challenge(input, [4; 8], 5) {
        let _ = user.authenticate(input, &challenge, &RANDOM);
    }
    if let Ok(answer) = server.read(input) {
        assert!(server.verify(&answer, "mellon").is_none());
    }
});
