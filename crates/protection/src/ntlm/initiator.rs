//! The client's side (MS-NLMP, section 3.1.5).

use super::keys::{AuthenticationResult, KEY_LEN, exchanged, hmac_md5, mic_of, ntowf_v2};
use super::messages::{
    BadToken, HAS_MIC, MIC_AT, VERSION, av, body_of, field, find_pair, flag, head, pairs_without,
    push_field, push_pair, utf16, word,
};

/// Requested flags. Only with SEAL is a separate key exchanged, instead of one that depends on the
/// password.
const ASKED: u32 = flag::UNICODE
    | flag::REQUEST_TARGET
    | flag::SIGN
    | flag::SEAL
    | flag::NTLM
    | flag::ALWAYS_SIGN
    | flag::EXTENDED_SESSIONSECURITY
    | flag::TARGET_INFO
    | flag::VERSION
    | flag::BITS_128
    | flag::KEY_EXCHANGE
    | flag::BITS_56;
/// Flags that an anonymous user requests, who has no key.
const ASKED_BY_ANONYMOUS: u32 = flag::UNICODE
    | flag::REQUEST_TARGET
    | flag::NTLM
    | flag::ALWAYS_SIGN
    | flag::EXTENDED_SESSIONSECURITY
    | flag::BITS_128
    | flag::BITS_56;

/// Random numbers and time of one authentication.
#[derive(Debug, Clone, Copy)]
pub struct RandomInput {
    /// ClientChallenge.
    pub challenge: [u8; 8],
    /// ExportedSessionKey, if keys are exchanged.
    pub key: [u8; KEY_LEN],
    /// Current time, a FILETIME, for servers that do not send theirs.
    pub now: u64,
}

/// A CHALLENGE_MESSAGE cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChallengeError {
    /// The message is not a CHALLENGE_MESSAGE.
    #[error("the server's answer to NEGOTIATE_MESSAGE is no CHALLENGE_MESSAGE")]
    OtherMessage,
    /// The message is truncated.
    #[error("the server's message ends too early, or its fields lie outside of it")]
    Cut,
    /// Names would have to be in the server's code page, or signatures without a key.
    #[error("the server does not grant Unicode and extended session security")]
    TooOld,
    /// The response does not fit into a message.
    #[error("the server's TargetInfo and the user's names are longer than a message can hold")]
    TooLong,
}

impl From<BadToken> for ChallengeError {
    fn from(_: BadToken) -> Self {
        Self::Cut
    }
}

/// A user to authenticate.
#[derive(Clone)]
pub struct Initiator {
    user: String,
    domain: String,
    password: String,
    is_anonymous: bool,
}

impl Initiator {
    /// Creates a user with a password; `domain` may be empty.
    pub fn user(name: &str, domain: &str, password: &str) -> Self {
        Self {
            user: name.into(),
            domain: domain.into(),
            password: password.into(),
            is_anonymous: false,
        }
    }

    /// Creates an anonymous user, without derived keys.
    pub const fn anonymous() -> Self {
        Self {
            user: String::new(),
            domain: String::new(),
            password: String::new(),
            is_anonymous: true,
        }
    }

    /// Returns whether the user is anonymous.
    pub const fn is_anonymous(&self) -> bool {
        self.is_anonymous
    }

    /// Returns the user's name and domain.
    pub fn names(&self) -> (&str, &str) {
        (&self.user, &self.domain)
    }

    /// Returns the NEGOTIATE_MESSAGE (section 2.2.1.1): no domain and no workstation.
    pub fn negotiate(&self) -> Vec<u8> {
        let mut message = head(1);
        let (asked, version) = if self.is_anonymous {
            (ASKED_BY_ANONYMOUS, &[][..])
        } else {
            (ASKED, &VERSION[..])
        };
        message.extend_from_slice(&asked.to_le_bytes());
        message.extend_from_slice(&[0; 16]);
        message.extend_from_slice(version);
        message
    }

    /// Returns the AUTHENTICATE_MESSAGE (sections 2.2.1.3 and 3.1.5.1.2) in reply to a
    /// CHALLENGE_MESSAGE, and the key of the session; an anonymous user has none.
    pub fn authenticate(
        &self,
        negotiate: &[u8],
        challenge: &[u8],
        random: &RandomInput,
    ) -> Result<(Vec<u8>, Option<AuthenticationResult>), ChallengeError> {
        let body = body_of(challenge, 2).map_err(|_| ChallengeError::OtherMessage)?;
        if self.is_anonymous {
            return Ok((anonymous_message(), None));
        }
        let granted = word(body, 8)?;
        let needed = flag::UNICODE | flag::EXTENDED_SESSIONSECURITY;
        if granted & needed != needed {
            return Err(ChallengeError::TooOld);
        }
        let server_challenge: [u8; 8] = *body
            .get(12..)
            .and_then(|rest| rest.first_chunk())
            .ok_or(ChallengeError::Cut)?;
        let offered = match granted & flag::TARGET_INFO {
            0 => &[][..],
            _ => field(challenge, 40)?,
        };
        let time = find_pair(offered, av::TIMESTAMP).and_then(|time| time.first_chunk::<8>());
        let flags = granted & ASKED;
        let domain = utf16(&self.domain);
        let owner = ntowf_v2(&self.user, &domain, &self.password);
        let blob = client_challenge(offered, time, random)?;
        let proof = hmac_md5(&owner, &[&server_challenge, &blob]);
        // With the server's time there is a MIC, and no LMv2 response.
        let lm = match time {
            Some(_) => vec![0; 24],
            None => {
                let proof = hmac_md5(&owner, &[&server_challenge, &random.challenge]);
                [&proof[..], &random.challenge].concat()
            }
        };
        let base = hmac_md5(&owner, &[&proof]);
        let (key, encrypted) = match flags & flag::KEY_EXCHANGE {
            0 => (base, vec![]),
            _ => (random.key, exchanged(&base, &random.key).to_vec()),
        };
        let nt = [&proof[..], &blob].concat();
        let fields = [&lm, &nt, &domain, &utf16(&self.user), &vec![], &encrypted];
        let mut message = message(flags, fields)?;
        if time.is_some() {
            let mic = mic_of(&key, [negotiate, challenge, &message]);
            if let Some(place) = message.get_mut(MIC_AT..MIC_AT + KEY_LEN) {
                place.copy_from_slice(&mic);
            }
        }
        Ok((message, Some(AuthenticationResult { key, flags })))
    }
}

/// NTLMv2_CLIENT_CHALLENGE (section 2.2.2.7), and the four zeros that follow it.
fn client_challenge(
    offered: &[u8],
    time: Option<&[u8; 8]>,
    random: &RandomInput,
) -> Result<Vec<u8>, ChallengeError> {
    let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
    blob.extend_from_slice(time.unwrap_or(&random.now.to_le_bytes()));
    blob.extend_from_slice(&random.challenge);
    blob.extend_from_slice(&[0; 4]);
    blob.extend(pairs_without(offered, av::FLAGS)?);
    let flags = find_pair(offered, av::FLAGS).map_or(Ok(0), |flags| word(flags, 0))?;
    let flags = time.map_or(flags, |_| flags | HAS_MIC);
    if flags != 0 {
        push_pair(&mut blob, av::FLAGS, &flags.to_le_bytes());
    }
    push_pair(&mut blob, av::END, &[]);
    blob.extend_from_slice(&[0; 4]);
    Ok(blob)
}

/// Returns an AUTHENTICATE_MESSAGE of these responses, names and key, with zeros as its MIC.
fn message(flags: u32, fields: [&Vec<u8>; 6]) -> Result<Vec<u8>, ChallengeError> {
    const PAYLOAD_AT: usize = MIC_AT + KEY_LEN;
    let mut message = head(3);
    let mut at = PAYLOAD_AT;
    for field in fields {
        if field.len() > usize::from(u16::MAX) {
            return Err(ChallengeError::TooLong);
        }
        push_field(&mut message, field.len(), at);
        at += field.len();
    }
    message.extend_from_slice(&flags.to_le_bytes());
    message.extend_from_slice(&VERSION);
    message.extend_from_slice(&[0; KEY_LEN]);
    for field in fields {
        message.extend_from_slice(field);
    }
    Ok(message)
}

/// No names, no NtChallengeResponse, and a zero for LmChallengeResponse.
fn anonymous_message() -> Vec<u8> {
    const PAYLOAD_AT: usize = 64;
    let response = [0];
    let mut message = head(3);
    for len in [response.len(), 0, 0, 0, 0, 0] {
        push_field(&mut message, len, PAYLOAD_AT);
    }
    let flags = ASKED_BY_ANONYMOUS | flag::ANONYMOUS;
    message.extend_from_slice(&flags.to_le_bytes());
    message.extend_from_slice(&response);
    message
}
