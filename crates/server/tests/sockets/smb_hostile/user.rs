//! A user with a password, and the keys of his session.

use filestone_protection::ntlm::{Initiator, RandomInput};
use filestone_protection::{DecryptBuffer, KeyMaterial, Preauth, SessionKeys};
use filestone_server::Running;
use filestone_wire::smb2::codec::{Decode, Encode};
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::negotiate::{Cipher, SigningAlgorithm};
use filestone_wire::smb2::transform::{Encrypted, TRANSFORM_HEADER_LEN};
use filestone_wire::smb2::{Command, Dialect, Header, Status, echo, session_setup};

use super::super::requests::ntlm_negotiate;
use super::attacker::Attacker;
use super::bodies::{self, header, with};
use super::{Got, fails};

pub const PASSWORD: &str = "mellon";
pub const NEWEST: Dialect = Dialect::SMB_3_1_1;
const NAME: &str = "anna";

/// A connection of his.
pub struct Client {
    pub attacker: Attacker,
    keys: SessionKeys,
    encrypts: bool,
    nonce: u64,
}

/// How a session was begun.
struct Begun {
    attacker: Attacker,
    preauth: Preauth,
    got: Got,
    key: [u8; 16],
}

/// AUTHENTICATE_MESSAGE to a CHALLENGE_MESSAGE, and the key of the session.
fn authenticate(challenge: &[u8], name: &str, password: &str) -> (Vec<u8>, [u8; 16]) {
    let random = RandomInput {
        challenge: [5; 8],
        key: [6; 16],
        now: 0,
    };
    let user = Initiator::user(name, "", password);
    let authenticated = user.authenticate(&ntlm_negotiate(), challenge, &random);
    let (message, established) = authenticated.expect("an answer");
    (message, established.expect("a key").key)
}

/// Goes as far as the last SESSION_SETUP, and says what that got.
fn start(server: &Running, dialect: Dialect, mode: u8, name: &str, password: &str) -> Begun {
    const SECURITY_MODE: usize = 4;
    let mut attacker = Attacker::connected(server);
    let mut preauth = Preauth::default();
    let body = if dialect == NEWEST {
        bodies::negotiate_3_1_1(&[
            bodies::hashes(&[1]),
            bodies::ciphers(&[Cipher::AES_128_GCM.0]),
            bodies::signing(&[SigningAlgorithm::AES_CMAC.0]),
        ])
    } else {
        bodies::negotiate(&[dialect.0])
    };
    let body = with(body, SECURITY_MODE, &[mode]);
    let mut exchange = |attacker: &mut Attacker, command, body: &[u8], is_last: bool| {
        let message = attacker.message(command, body);
        attacker.say(&message);
        let (header, frame) = attacker.answer().expect("an answer");
        preauth.add(&message);
        if !is_last {
            preauth.add(&frame);
        }
        (header, frame)
    };
    exchange(&mut attacker, Command::Negotiate, &body, false);
    let body = bodies::setup(&ntlm_negotiate());
    let (header, frame) = exchange(&mut attacker, Command::SessionSetup, &body, false);
    attacker.session_id = header.session_id;
    let answer: session_setup::Response<'_> = Message::from_bytes(&frame).unwrap().body().unwrap();
    let (token, key) = authenticate(answer.security_buffer, name, password);
    let body = bodies::setup(&token);
    let (header, _) = exchange(&mut attacker, Command::SessionSetup, &body, true);
    Begun {
        attacker,
        preauth,
        got: Got::Status(header.status),
        key,
    }
}

impl Client {
    /// What a user gets who is not let in.
    pub fn refused(server: &Running, name: &str, password: &str) -> Got {
        start(server, Dialect::SMB_3_0_2, 1, name, password).got
    }

    /// The same for one who speaks this dialect.
    pub fn refused_in(server: &Running, dialect: Dialect) -> Got {
        start(server, dialect, 1, NAME, PASSWORD).got
    }

    /// One who has no tree.
    pub fn logged_on(server: &Running, dialect: Dialect, mode: u8) -> Self {
        let Begun {
            attacker,
            preauth,
            got,
            key,
        } = start(server, dialect, mode, NAME, PASSWORD);
        assert_eq!(got, fails(Status::SUCCESS));
        let signing = match dialect {
            NEWEST => SigningAlgorithm::AES_CMAC,
            _ => SigningAlgorithm::HMAC_SHA256,
        };
        let material = KeyMaterial {
            session_key: &key,
            dialect,
            signing,
            cipher: (dialect == NEWEST).then_some(Cipher::AES_128_GCM),
            preauth: (dialect == NEWEST).then_some(&preauth),
        };
        Self {
            attacker,
            keys: SessionKeys::derive(&material).unwrap(),
            encrypts: dialect == NEWEST && mode == 1,
            nonce: 0,
        }
    }

    /// One who wants his session signed, and has no tree yet but in 2.1.
    pub fn signing(server: &Running, dialect: Dialect) -> Self {
        let mut client = Self::logged_on(server, dialect, 3);
        client.connect_tree();
        client
    }

    /// One who encrypts.
    pub fn mounted(server: &Running, dialect: Dialect) -> Self {
        let mut client = Self::logged_on(server, dialect, 1);
        client.connect_tree();
        client
    }

    fn connect_tree(&mut self) {
        let body = bodies::tree_connect("\\\\a\\export");
        let header = self.ask(Command::TreeConnect, &body);
        assert_eq!(header.status, Status::SUCCESS);
        self.attacker.tree_id = header.tree_id().unwrap();
    }

    fn ask(&mut self, command: Command, body: &[u8]) -> Header {
        let message = self.attacker.message(command, body);
        if !self.encrypts {
            let message = self.signed(message);
            self.attacker.say(&message);
            return self.attacker.answer().expect("an answer").0;
        }
        let frame = self.sealed(&message);
        self.attacker.say(&frame);
        let frame = self.attacker.frame().expect("an answer");
        let mut opened = DecryptBuffer::default();
        let opener = self.keys.opener.as_ref().unwrap();
        let encrypted = Encrypted::from_bytes(&frame).expect("an encrypted answer");
        opener.open(&encrypted, &mut opened).unwrap();
        Header::from_bytes(opened.messages()).unwrap()
    }

    /// A message with its signature.
    pub fn signed(&self, message: Vec<u8>) -> Vec<u8> {
        let mut message = with(message, header::FLAGS, &[header::SIGNED]);
        self.keys.signer.sign(&mut message);
        message
    }

    /// A frame with these messages, encrypted.
    pub fn sealed(&mut self, messages: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; TRANSFORM_HEADER_LEN];
        frame.extend_from_slice(messages);
        self.nonce += 1;
        let sealer = self.keys.sealer.as_ref().unwrap();
        sealer.seal(self.nonce, self.attacker.session_id, &mut frame);
        frame
    }

    pub fn is_served(&mut self) -> bool {
        let header = self.ask(Command::Echo, &echo::Request {}.to_bytes());
        header.status == Status::SUCCESS
    }
}
