//! NTLMv2 (MS-NLMP) as the mechanism by which users authenticate.
//!
//! The messages are sspi's, which draws its random numbers itself: that is why this is not in
//! the model. It has no anonymous user, whose two messages are fixed bytes and prove nothing.

use std::fmt;

use filestone_model::session::smb2::{Mechanism, MechanismError, Mechanisms};
use sspi::{
    AuthIdentityBuffers, BufferType, ClientRequestFlags, DataRepresentation, SecurityBuffer,
    SecurityBufferRef, Sspi, SspiImpl,
};

/// Bytes of a session key and of a signature of NTLM.
const KEY_LEN: usize = 16;

/// NTLM for one user.
#[derive(Clone)]
pub struct Ntlm(Option<AuthIdentityBuffers>);

impl Ntlm {
    /// A user with a password. Servers that have guests take a user for one whom they do not
    /// know, whatever the password.
    pub fn user(name: &str, domain: &str, password: &str) -> Self {
        Self(Some(AuthIdentityBuffers::from_utf8(name, domain, password)))
    }

    /// No user: a null session, of which no keys are derived.
    pub const fn anonymous() -> Self {
        Self(None)
    }
}

/// Without the password.
impl fmt::Debug for Ntlm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(user) = &self.0 else {
            return f.write_str("Ntlm(anonymous)");
        };
        let (domain, name) = (user.domain.to_string(), user.user.to_string());
        write!(f, "Ntlm({domain:?}, {name:?})")
    }
}

impl Mechanisms for Ntlm {
    fn is_anonymous(&self) -> bool {
        self.0.is_none()
    }

    fn begin(&self) -> Box<dyn Mechanism> {
        match &self.0 {
            Some(_) => Box::new(Authentication {
                credentials: self.0.clone(),
                context: sspi::Ntlm::new(),
            }),
            None => Box::new(Anonymous),
        }
    }
}

/// The authentication of a user.
struct Authentication {
    credentials: Option<AuthIdentityBuffers>,
    context: sspi::Ntlm,
}

impl Authentication {
    fn step(&mut self, received: &[u8]) -> Result<Vec<u8>, MechanismError> {
        let mut input = [SecurityBuffer::new(received.to_vec(), BufferType::Token)];
        let mut output = [SecurityBuffer::new(Vec::new(), BufferType::Token)];
        // Only with confidentiality does it exchange a key of its own instead of one that depends
        // on the password.
        let asked = ClientRequestFlags::INTEGRITY | ClientRequestFlags::CONFIDENTIALITY;
        let mut step = self
            .context
            .initialize_security_context()
            .with_credentials_handle(&mut self.credentials)
            .with_context_requirements(asked)
            .with_target_data_representation(DataRepresentation::Native)
            .with_input(&mut input)
            .with_output(&mut output);
        self.context
            .initialize_security_context_impl(&mut step)
            .and_then(|mut step| step.resolve_to_result())
            .map_err(failed)?;
        let [token] = output;
        Ok(token.buffer)
    }
}

impl Mechanism for Authentication {
    fn first(&mut self) -> Result<Vec<u8>, MechanismError> {
        self.step(&[])
    }

    fn next(&mut self, challenge: &[u8]) -> Result<Vec<u8>, MechanismError> {
        self.step(challenge)
    }

    fn session_key(&self) -> Option<[u8; KEY_LEN]> {
        let keys = self.context.query_context_session_key().ok()?;
        keys.session_key.as_ref().first_chunk().copied()
    }

    fn mic(&mut self, mech_types: &[u8]) -> Result<Option<Vec<u8>>, MechanismError> {
        let (mut signature, mut signed) = (vec![0; KEY_LEN], mech_types.to_vec());
        let mut buffers = [
            SecurityBufferRef::token_buf(&mut signature),
            SecurityBufferRef::data_buf(&mut signed),
        ];
        let first_message = 0;
        self.context
            .make_signature(0, &mut buffers, first_message)
            .map_err(failed)?;
        Ok(Some(signature))
    }
}

/// Of what cannot be read sspi's description is the debug form of an error of its reader.
fn failed(error: sspi::Error) -> MechanismError {
    let what = if error.description.starts_with("IO error") {
        "the server's message ends too early, or its fields lie outside of it"
    } else {
        &error.description
    };
    MechanismError(format!("NTLM: {what}"))
}

/// The authentication of no user.
struct Anonymous;

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";
/// NTLMSSP_NEGOTIATE_UNICODE, NTLM, ALWAYS_SIGN, EXTENDED_SESSIONSECURITY, 128 and 56, and
/// NTLMSSP_REQUEST_TARGET (MS-NLMP, section 2.2.2.5).
const FLAGS: u32 = 0xa008_8205;
/// NTLMSSP_ANONYMOUS.
const ANONYMOUS: u32 = 0x0800;

impl Mechanism for Anonymous {
    /// NEGOTIATE_MESSAGE, section 2.2.1.1: no domain and no workstation.
    fn first(&mut self) -> Result<Vec<u8>, MechanismError> {
        let mut message = head(1);
        message.extend_from_slice(&FLAGS.to_le_bytes());
        message.extend_from_slice(&[0; 16]);
        Ok(message)
    }

    /// AUTHENTICATE_MESSAGE, sections 2.2.1.3 and 3.1.5.1.2: no names, no NtChallengeResponse, and
    /// a zero for LmChallengeResponse.
    fn next(&mut self, challenge: &[u8]) -> Result<Vec<u8>, MechanismError> {
        if !challenge.starts_with(&head(2)) {
            let error = "the server's answer to NEGOTIATE_MESSAGE is no CHALLENGE_MESSAGE";
            return Err(MechanismError(format!("NTLM: {error}")));
        }
        const PAYLOAD_AT: u32 = 64;
        let response = [0];
        let mut message = head(3);
        for len in [response.len() as u16, 0, 0, 0, 0, 0] {
            message.extend_from_slice(&len.to_le_bytes());
            message.extend_from_slice(&len.to_le_bytes());
            message.extend_from_slice(&PAYLOAD_AT.to_le_bytes());
        }
        message.extend_from_slice(&(FLAGS | ANONYMOUS).to_le_bytes());
        message.extend_from_slice(&response);
        Ok(message)
    }

    fn session_key(&self) -> Option<[u8; KEY_LEN]> {
        None
    }

    fn mic(&mut self, _: &[u8]) -> Result<Option<Vec<u8>>, MechanismError> {
        Ok(None)
    }
}

/// Signature and MessageType.
fn head(message_type: u32) -> Vec<u8> {
    [&SIGNATURE[..], &message_type.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sspi::{AuthIdentity, CredentialUse, ServerRequestFlags};

    /// The other side, which knows the password of one user.
    struct Server {
        context: sspi::Ntlm,
        known: Option<AuthIdentityBuffers>,
    }

    impl Server {
        fn new(name: &str, domain: &str, password: &str) -> Self {
            let mut context = sspi::Ntlm::new();
            let known = AuthIdentity {
                username: sspi::Username::new(name, Some(domain)).unwrap(),
                password: password.to_string().into(),
            };
            let known = context
                .acquire_credentials_handle()
                .with_credential_use(CredentialUse::Inbound)
                .with_auth_data(&known)
                .execute(&mut context)
                .unwrap();
            let known = known.credentials_handle;
            Self { context, known }
        }

        fn answer(&mut self, token: &[u8]) -> Vec<u8> {
            let mut input = [SecurityBuffer::new(token.to_vec(), BufferType::Token)];
            let mut output = [SecurityBuffer::new(Vec::new(), BufferType::Token)];
            let step = self
                .context
                .accept_security_context()
                .with_credentials_handle(&mut self.known)
                .with_context_requirements(ServerRequestFlags::empty())
                .with_target_data_representation(DataRepresentation::Native)
                .with_input(&mut input)
                .with_output(&mut output);
            let step = self.context.accept_security_context_impl(step);
            step.unwrap().resolve_to_result().unwrap();
            let [token] = output;
            token.buffer
        }

        /// The session key, if the last token proves that its sender knows the password.
        fn complete(mut self, token: &[u8]) -> Option<Vec<u8>> {
            self.answer(token);
            self.context.complete_auth_token(&mut []).ok()?;
            let keys = self.context.query_context_session_key().ok()?;
            Some(keys.session_key.as_ref().to_vec())
        }
    }

    #[test]
    fn who_knows_the_password_has_the_same_key_as_the_server() {
        let ntlm = Ntlm::user("jane", "LAB", "mellon");
        let mut client = ntlm.begin();
        assert_eq!(client.session_key(), None);
        let mut server = Server::new("jane", "LAB", "mellon");
        let challenge = server.answer(&client.first().unwrap());
        let answer = client.next(&challenge).unwrap();
        let key = client.session_key().unwrap();
        assert_eq!(server.complete(&answer), Some(key.to_vec()));
        assert_eq!(client.mic(b"types").unwrap().unwrap()[..4], [1, 0, 0, 0]);
        assert!(client.next(&challenge).is_err(), "it is over");
    }

    #[test]
    fn who_does_not_is_refused() {
        let mut client = Ntlm::user("jane", "LAB", "melon").begin();
        let mut server = Server::new("jane", "LAB", "mellon");
        let challenge = server.answer(&client.first().unwrap());
        let answer = client.next(&challenge).unwrap();
        assert_eq!(server.complete(&answer), None);
    }

    #[test]
    fn a_challenge_cut_or_changed_at_any_byte_is_no_more_than_an_error() {
        let challenge = {
            let mut client = Ntlm::user("jane", "", "").begin();
            Server::new("jane", "LAB", "mellon").answer(&client.first().unwrap())
        };
        let answer_to = |challenge: &[u8]| {
            let mut client = Ntlm::user("jane", "", "").begin();
            client.first().unwrap();
            client.next(challenge)
        };
        assert!(answer_to(&challenge).is_ok());
        for len in 0..challenge.len() {
            let error = answer_to(&challenge[..len]).expect_err("it is cut");
            assert!(!error.to_string().contains('{'), "{len} bytes: {error}");
        }
        for at in 0..challenge.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = challenge.clone();
                changed[at] = value;
                let _ = answer_to(&changed);
            }
        }
    }

    #[test]
    fn nobody_says_so_and_has_no_key() {
        let mut client = Ntlm::anonymous().begin();
        let negotiate = client.first().unwrap();
        assert!(client.next(&negotiate).is_err(), "no challenge");
        let challenge = Server::new("jane", "LAB", "mellon").answer(&negotiate);
        #[rustfmt::skip]
        let expected = [
            b'N', b'T', b'L', b'M', b'S', b'S', b'P', 0, 3, 0, 0, 0,
            1, 0, 1, 0, 64, 0, 0, 0,  0, 0, 0, 0, 64, 0, 0, 0,
            0, 0, 0, 0, 64, 0, 0, 0,  0, 0, 0, 0, 64, 0, 0, 0,
            0, 0, 0, 0, 64, 0, 0, 0,  0, 0, 0, 0, 64, 0, 0, 0,
            0x05, 0x8a, 0x08, 0xa0, 0,
        ];
        assert_eq!(client.next(&challenge).unwrap(), expected);
        assert_eq!(
            (client.session_key(), client.mic(b"types")),
            (None, Ok(None))
        );
    }

    #[test]
    fn a_password_is_in_no_message() {
        let shown = format!(
            "{:?} {:?}",
            Ntlm::user("jane", "LAB", "mellon"),
            Ntlm::anonymous()
        );
        assert_eq!(shown, r#"Ntlm("LAB", "jane") Ntlm(anonymous)"#);
    }
}
