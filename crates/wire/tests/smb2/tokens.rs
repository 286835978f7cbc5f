//! SPNEGO in the NEGOTIATE and the SESSION_SETUP of real clients and servers.

use crate::again;
use crate::real_peers::frames;
use filestone_wire::smb2::compound::Messages;
use filestone_wire::smb2::spnego::{Mechanism, NegState, NegTokenInit, NegTokenResp};
use filestone_wire::smb2::{Command, negotiate, session_setup};

/// The tokens of a file, in its order.
fn tokens(file: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for (word, frame) in frames(file) {
        if word == "encrypted" {
            continue;
        }
        for message in Messages::of(&frame).map(Result::unwrap) {
            let is_response = message.header.is_response();
            let token = match message.header.command {
                Command::Negotiate if is_response => message
                    .reply::<negotiate::Response>()
                    .unwrap()
                    .map(|response| response.security_buffer),
                Command::SessionSetup if is_response => message
                    .reply::<session_setup::Response>()
                    .unwrap()
                    .map(|response| response.security_buffer),
                Command::SessionSetup => Ok(message
                    .body::<session_setup::Request>()
                    .unwrap()
                    .security_buffer),
                _ => continue,
            };
            found.extend(token.map(<[u8]>::to_vec));
        }
    }
    found.retain(|token| !token.is_empty());
    found
}

#[test]
fn tokens_of_windows_and_samba_are_understood() {
    let (mut offers, mut ntlmssp, mut completed) = (0, 0, 0);
    for token in ["samba-smb2.hex", "windows-smb2.hex"]
        .into_iter()
        .flat_map(tokens)
    {
        if let Ok(init) = NegTokenInit::from_bytes(&token) {
            assert!(init.mechanisms().any(|oid| oid == Mechanism::NTLMSSP));
            offers += 1;
            ntlmssp += usize::from(is_ntlmssp(init.mech_token));
        } else if let Ok(response) = NegTokenResp::from_bytes(&token) {
            ntlmssp += usize::from(is_ntlmssp(response.response_token));
            completed += usize::from(response.state == Some(NegState::AcceptCompleted));
        } else {
            // Clients of Linux send the token of NTLMSSP as it is.
            assert!(is_ntlmssp(Some(&token)), "{token:02x?}");
        }
    }
    assert!(
        offers >= 4 && ntlmssp >= 3 && completed >= 1,
        "{offers} {ntlmssp} {completed}"
    );
}

fn is_ntlmssp(token: Option<&[u8]>) -> bool {
    token.is_some_and(|token| token.starts_with(b"NTLMSSP\0"))
}

#[test]
fn no_token_can_do_harm() {
    for token in tokens("samba-smb2.hex")
        .iter()
        .chain(&tokens("windows-smb2.hex"))
    {
        for len in 0..token.len() {
            let _ = again::token(&token[..len]);
        }
        let mut changed = token.clone();
        for at in 0..token.len() {
            for byte in [0, 1, 0x7f, 0x80, 0x81, 0x84, 0xff] {
                changed[at] = byte;
                let _ = again::token(&changed);
            }
            changed[at] = token[at];
        }
    }
}
