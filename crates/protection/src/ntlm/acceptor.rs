//! The server's side (MS-NLMP, section 3.2.5): verifies that a client knows the password of a user.
//!
//! Anonymous users and guests prove nothing and have no key.

use super::keys::{AuthenticationResult, KEY_LEN, exchanged, hmac_md5, mic_of, ntowf_v2};
use super::messages::{
    BadToken, HAS_MIC, MIC_AT, PAIRS_AT, VERSION, av, body_of, check_pairs, field, find_pair, flag,
    head, push_field, push_pair, utf16, word,
};
use aws_lc_rs::constant_time::verify_slices_are_equal;

/// Length of an NTLMv1 response, too short for an NTLMv2_CLIENT_CHALLENGE.
const V1_LEN: usize = 24;

/// Flags that a client may request and receive.
const OFFERED: u32 = flag::SIGN
    | flag::SEAL
    | flag::ALWAYS_SIGN
    | flag::EXTENDED_SESSIONSECURITY
    | flag::BITS_128
    | flag::KEY_EXCHANGE
    | flag::BITS_56;

/// The user that a client names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthIdentity {
    /// Anonymous.
    Anonymous,
    /// A named user.
    User(String),
}

/// State of one authentication.
#[derive(Debug, Default)]
pub struct Acceptor {
    negotiate: Vec<u8>,
    challenge_message: Vec<u8>,
    challenge: [u8; 8],
}

/// A decoded AUTHENTICATE_MESSAGE.
#[derive(Debug)]
pub struct Authentication<'a> {
    message: &'a [u8],
    response: &'a [u8],
    user: Vec<u16>,
    domain: Vec<u16>,
    encrypted_key: &'a [u8],
    flags: u32,
    /// User that the client names.
    pub claim: AuthIdentity,
}

impl Acceptor {
    /// Returns the CHALLENGE_MESSAGE (section 2.2.1.2) in reply to a NEGOTIATE_MESSAGE: `challenge`
    /// is random, `now` a FILETIME.
    pub fn challenge(
        &mut self,
        negotiate: &[u8],
        challenge: [u8; 8],
        now: u64,
    ) -> Result<Vec<u8>, BadToken> {
        let body = body_of(negotiate, 1)?;
        let asked = word(body, 0)?;
        let fixed = flag::UNICODE
            | flag::REQUEST_TARGET
            | flag::NTLM
            | flag::TARGET_TYPE_SERVER
            | flag::TARGET_INFO
            | flag::VERSION;
        let flags = fixed | asked & OFFERED;
        let name = utf16("FILESTONE");
        let info = target_info(&name, now);
        const PAYLOAD_AT: usize = 56;
        let mut message = head(2);
        push_field(&mut message, name.len(), PAYLOAD_AT);
        message.extend_from_slice(&flags.to_le_bytes());
        message.extend_from_slice(&challenge);
        message.extend_from_slice(&[0; 8]);
        push_field(&mut message, info.len(), PAYLOAD_AT + name.len());
        message.extend_from_slice(&VERSION);
        message.extend_from_slice(&name);
        message.extend_from_slice(&info);
        self.negotiate = negotiate.to_vec();
        self.challenge_message.clone_from(&message);
        self.challenge = challenge;
        Ok(message)
    }

    /// Decodes an AUTHENTICATE_MESSAGE (section 2.2.1.3).
    pub fn read<'a>(&self, message: &'a [u8]) -> Result<Authentication<'a>, BadToken> {
        let body = body_of(message, 3)?;
        let flags = word(body, 48)?;
        let response = field(message, 20)?;
        let units = |at| -> Result<Vec<u16>, BadToken> {
            let (pairs, _) = field(message, at)?.as_chunks();
            Ok(pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect())
        };
        let (domain, user) = (units(28)?, units(36)?);
        if response.len() > V1_LEN {
            check_pairs(response.get(PAIRS_AT..).ok_or(BadToken)?)?;
        }
        let claim = if user.is_empty() && response.is_empty() {
            AuthIdentity::Anonymous
        } else {
            AuthIdentity::User(String::from_utf16_lossy(&user))
        };
        Ok(Authentication {
            message,
            response,
            user,
            domain,
            encrypted_key: field(message, 52).unwrap_or_default(),
            flags,
            claim,
        })
    }

    /// Returns the shared key if the message proves that its sender knows this password.
    pub fn verify(
        &self,
        answer: &Authentication<'_>,
        password: &str,
    ) -> Option<AuthenticationResult> {
        let (proof, blob) = answer.response.split_first_chunk::<KEY_LEN>()?;
        let pairs = answer.response.get(PAIRS_AT..)?;
        let domain: Vec<u8> = answer
            .domain
            .iter()
            .flat_map(|unit| unit.to_le_bytes())
            .collect();
        let owner = ntowf_v2(&String::from_utf16_lossy(&answer.user), &domain, password);
        let expected = hmac_md5(&owner, &[&self.challenge, blob]);
        verify_slices_are_equal(&expected, proof).ok()?;
        let mut key = hmac_md5(&owner, &[proof]);
        if answer.flags & flag::KEY_EXCHANGE != 0 {
            key = exchanged(&key, answer.encrypted_key.first_chunk()?);
        }
        if has_mic(pairs) {
            self.check_mic(answer.message, &key)?;
        }
        Some(AuthenticationResult {
            key,
            flags: answer.flags,
        })
    }

    fn check_mic(&self, message: &[u8], key: &[u8; KEY_LEN]) -> Option<()> {
        let found = message.get(MIC_AT..MIC_AT + KEY_LEN)?;
        let mut without = message.to_vec();
        without.get_mut(MIC_AT..MIC_AT + KEY_LEN)?.fill(0);
        let messages = [&self.negotiate[..], &self.challenge_message, &without];
        verify_slices_are_equal(&mic_of(key, messages), found).ok()
    }
}

/// Returns AV_PAIRs (section 2.2.2.1).
fn target_info(name: &[u8], now: u64) -> Vec<u8> {
    let mut info = Vec::new();
    let lower = utf16("filestone");
    for (id, value) in [
        (av::DOMAIN, name),
        (av::COMPUTER, name),
        (av::DNS_DOMAIN, &[]),
        (av::DNS_COMPUTER, &lower),
        (av::TIMESTAMP, &now.to_le_bytes()),
        (av::END, &[]),
    ] {
        push_pair(&mut info, id, value);
    }
    info
}

/// Returns whether the AV_PAIRs of a client announce a MIC.
fn has_mic(pairs: &[u8]) -> bool {
    let flags = find_pair(pairs, av::FLAGS);
    flags.is_some_and(|flags| word(flags, 0).is_ok_and(|flags| flags & HAS_MIC != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntlm::messages::SIGNATURE;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    }

    /// MS-NLMP, sections 4.2.1 and 4.2.4: NTLMv2 of "User" in "Domain" with "Password".
    #[test]
    fn the_standards_own_example_is_accepted() {
        let acceptor = Acceptor {
            challenge: *bytes("0123456789abcdef").first_chunk().unwrap(),
            ..Acceptor::default()
        };
        let blob = bytes(concat!(
            "01010000000000000000000000000000aaaaaaaaaaaaaaaa00000000",
            "02000c0044006f006d00610069006e0001000c0053006500720076006500720000000000",
            "00000000"
        ));
        let mut response = bytes("68cd0ab851e51c96aabc927bebef6a1c");
        response.extend_from_slice(&blob);
        let units = |text: &str| text.encode_utf16().collect();
        let encrypted = bytes("c5dad2544fc9799094ce1ce90bc9d03e");
        let mut answer = Authentication {
            message: &[],
            response: &response,
            user: units("User"),
            domain: units("Domain"),
            encrypted_key: &encrypted,
            flags: 0xe28a_8233,
            claim: AuthIdentity::User("User".into()),
        };
        let established = acceptor.verify(&answer, "Password").unwrap();
        assert_eq!(established.key, [0x55; 16]);
        assert!(acceptor.verify(&answer, "password").is_none());
        answer.flags &= !flag::KEY_EXCHANGE;
        let established = acceptor.verify(&answer, "Password").unwrap();
        assert_eq!(
            established.key.to_vec(),
            bytes("8de40ccadbc14a82f15cb0ad0de95ca3")
        );
    }

    #[test]
    fn a_message_cut_or_changed_at_any_byte_is_no_more_than_refused() {
        let mut acceptor = Acceptor::default();
        let negotiate = [&SIGNATURE[..], &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]].concat();
        for len in 0..negotiate.len() {
            assert!(acceptor.challenge(&negotiate[..len], [1; 8], 2).is_err());
        }
        acceptor.challenge(&negotiate, [1; 8], 2).unwrap();
        let mut message = [&SIGNATURE[..], &[3, 0, 0, 0]].concat();
        for at in [64, 64, 124, 124, 128, 130] {
            push_field(&mut message, 60, at);
        }
        message.resize(200, 7);
        for len in 0..message.len() {
            let _ = acceptor
                .read(&message[..len])
                .map(|read| acceptor.verify(&read, "x"));
        }
        for at in 0..message.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = message.clone();
                changed[at] = value;
                let _ = acceptor
                    .read(&changed)
                    .map(|read| acceptor.verify(&read, "x"));
            }
        }
    }
}
