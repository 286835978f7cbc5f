//! NTLMv2 (MS-NLMP) as authentication mechanism: provides random numbers and the time for its
//! messages. The messages are in the protection crate.

use filestone_protocol::session::smb2::ntlm::{
    AuthenticationResult, Initiator, RandomInput, SigningSide,
};
use filestone_protocol::session::smb2::{AuthMechanism, MechanismError, Mechanisms};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds from 1601, the epoch of FILETIME, to 1970 (MS-DTYP, section 2.3.3).
const UNIX_EPOCH_AT: u64 = 11_644_473_600;

/// NTLM for one user.
#[derive(Clone)]
pub struct Ntlm(Initiator);

impl Ntlm {
    /// Creates the mechanism for a user with a password. Servers with guest access treat unknown
    /// users as guests, whatever the password.
    pub fn user(name: &str, domain: &str, password: &str) -> Self {
        Self(Initiator::user(name, domain, password))
    }

    /// Creates the mechanism for an anonymous user: a null session without keys.
    pub const fn anonymous() -> Self {
        Self(Initiator::anonymous())
    }
}

/// Omits the password.
impl fmt::Debug for Ntlm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_anonymous() {
            return f.write_str("Ntlm(anonymous)");
        }
        let (name, domain) = self.0.names();
        write!(f, "Ntlm({domain:?}, {name:?})")
    }
}

impl Mechanisms for Ntlm {
    fn is_anonymous(&self) -> bool {
        self.0.is_anonymous()
    }

    fn start(&self) -> Box<dyn AuthMechanism> {
        Box::new(Authentication {
            initiator: self.0.clone(),
            negotiate: self.0.negotiate(),
            established: None,
        })
    }
}

/// Authentication exchange of a user or an anonymous user.
struct Authentication {
    initiator: Initiator,
    negotiate: Vec<u8>,
    established: Option<AuthenticationResult>,
}

impl AuthMechanism for Authentication {
    fn first(&mut self) -> Result<Vec<u8>, MechanismError> {
        Ok(self.negotiate.clone())
    }

    fn next(&mut self, challenge: &[u8]) -> Result<Vec<u8>, MechanismError> {
        if self.established.is_some() {
            return Err(failed(
                "the server sends a challenge after the last message",
            ));
        }
        let random = random_input().map_err(failed)?;
        let (message, established) = self
            .initiator
            .authenticate(&self.negotiate, challenge, &random)
            .map_err(failed)?;
        self.established = established;
        Ok(message)
    }

    fn session_key(&self) -> Option<[u8; 16]> {
        self.established.as_ref().map(|established| established.key)
    }

    fn mic(&mut self, mech_types: &[u8]) -> Result<Option<Vec<u8>>, MechanismError> {
        let mic =
            |established: &AuthenticationResult| established.mic(SigningSide::Client, mech_types);
        Ok(self.established.as_ref().map(|signer| mic(signer).to_vec()))
    }
}

fn random_input() -> Result<RandomInput, getrandom::Error> {
    let (mut challenge, mut key) = ([0; 8], [0; 16]);
    getrandom::fill(&mut challenge)?;
    getrandom::fill(&mut key)?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.unwrap_or_default();
    let ticks = u64::from(since.subsec_nanos()) / 100;
    Ok(RandomInput {
        challenge,
        key,
        now: (since.as_secs() + UNIX_EPOCH_AT) * 10_000_000 + ticks,
    })
}

fn failed(error: impl fmt::Display) -> MechanismError {
    MechanismError(format!("NTLM: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_protocol::session::smb2::ntlm::Acceptor;

    /// Returns a server with the password "mellon", and its answer to a NEGOTIATE_MESSAGE.
    fn challenge(negotiate: &[u8]) -> (Acceptor, Vec<u8>) {
        let mut server = Acceptor::default();
        let challenge = server.challenge(negotiate, [7; 8], 132_000_000_000_000_000);
        (server, challenge.expect("a challenge"))
    }

    #[test]
    fn each_authentication_has_another_key_which_the_server_derives_too() {
        let ntlm = Ntlm::user("jane", "LAB", "mellon");
        let keys = [(); 2].map(|()| {
            let mut client = ntlm.start();
            assert_eq!(client.session_key(), None);
            let (server, challenge) = challenge(&client.first().unwrap());
            let answer = client.next(&challenge).unwrap();
            let answer = server.read(&answer).expect("an answer");
            let established = server.verify(&answer, "mellon").expect("the password");
            assert_eq!(client.session_key(), Some(established.key));
            let mic = client.mic(b"types").unwrap().expect("a signature");
            assert!(established.is_mic(b"types", &mic));
            assert!(client.next(&challenge).is_err(), "it is over");
            established.key
        });
        assert_ne!(keys[0], keys[1]);
    }

    #[test]
    fn no_user_has_no_key() {
        let mut client = Ntlm::anonymous().start();
        let negotiate = client.first().unwrap();
        assert!(client.next(&negotiate).is_err(), "no challenge");
        client.next(&challenge(&negotiate).1).unwrap();
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
