use super::messages::{MIC_AT, PAIRS_AT, av, field, find_pair, flag, utf16};
use super::*;

const RANDOM: RandomInput = RandomInput {
    challenge: [0xaa; 8],
    key: [0x55; KEY_LEN],
    now: 0,
};

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

/// CHALLENGE_MESSAGE of MS-NLMP, section 4.2.4.3.
fn the_standards_challenge() -> Vec<u8> {
    bytes(concat!(
        "4e544c4d53535000020000000c000c003800000033828ae20123456789abcdef",
        "00000000000000002400240044000000060070170000000f5300650072007600",
        "6500720002000c0044006f006d00610069006e0001000c005300650072007600",
        "6500720000000000"
    ))
}

#[test]
fn a_client_answers_the_standards_challenge_as_the_standard_does() {
    let user = Initiator::user("User", "Domain", "Password");
    let challenge = the_standards_challenge();
    let (message, established) = user.authenticate(&[], &challenge, &RANDOM).unwrap();
    let established = established.unwrap();
    assert_eq!(established.key, [0x55; KEY_LEN]);
    let lm = bytes("86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa");
    assert_eq!(field(&message, 12), Ok(&lm[..]));
    let nt = bytes(concat!(
        "68cd0ab851e51c96aabc927bebef6a1c",
        "01010000000000000000000000000000aaaaaaaaaaaaaaaa00000000",
        "02000c0044006f006d00610069006e0001000c0053006500720076006500720000000000",
        "00000000"
    ));
    assert_eq!(field(&message, 20), Ok(&nt[..]));
    assert_eq!(field(&message, 28), Ok(&utf16("Domain")[..]));
    assert_eq!(field(&message, 36), Ok(&utf16("User")[..]));
    let key = bytes("c5dad2544fc9799094ce1ce90bc9d03e");
    assert_eq!(field(&message, 52), Ok(&key[..]));
    // The server sent no time, so there is no MIC.
    assert_eq!(message[MIC_AT..MIC_AT + KEY_LEN], [0; KEY_LEN]);
}

/// An acceptor after the exchange with this client, the challenge and the client's response to it.
fn conversation(user: &Initiator) -> (Acceptor, Vec<u8>, Vec<u8>, Option<AuthenticationResult>) {
    let mut acceptor = Acceptor::default();
    let negotiate = user.negotiate();
    let challenge = acceptor.challenge(&negotiate, [7; 8], 42).unwrap();
    let (message, established) = user.authenticate(&negotiate, &challenge, &RANDOM).unwrap();
    (acceptor, challenge, message, established)
}

#[test]
fn both_sides_have_the_same_key_and_signatures_if_the_password_is_the_same() {
    // Names whose upper case in Unicode has several letters, or is also that of another letter.
    for name in ["jane", "straße", "ŉx", "ıstanbul", "ſµ", ""] {
        let user = Initiator::user(name, "LAB", "mellon");
        let (acceptor, _, message, established) = conversation(&user);
        let established = established.unwrap();
        let answer = acceptor.read(&message).unwrap();
        assert_eq!(answer.claim, AuthIdentity::User(name.into()), "{name}");
        let accepted = acceptor.verify(&answer, "mellon").expect(name);
        assert_eq!((established.key, accepted.key), (RANDOM.key, RANDOM.key));
        let mic = established.mic(SigningSide::Client, b"types");
        assert!(accepted.is_mic(b"types", &mic), "{name}");
        assert!(!accepted.is_mic(b"other types", &mic), "{name}");
        assert!(acceptor.verify(&answer, "melon").is_none(), "{name}");
    }
}

#[test]
fn a_server_that_sends_its_time_gets_it_back_with_a_mic_over_all_messages() {
    let user = Initiator::user("jane", "", "mellon");
    let (acceptor, _, message, _) = conversation(&user);
    let response = field(&message, 20).unwrap();
    assert_eq!(response[24..32], 42_u64.to_le_bytes());
    let pairs = &response[PAIRS_AT..];
    assert_eq!(find_pair(pairs, av::FLAGS), Some(&[2, 0, 0, 0][..]));
    assert_eq!(field(&message, 12), Ok(&[0; 24][..]));
    for at in [14, 60, MIC_AT, message.len() - 1] {
        let mut changed = message.clone();
        changed[at] ^= 1;
        let answer = acceptor.read(&changed);
        let accepted = answer.map(|answer| acceptor.verify(&answer, "mellon").is_some());
        assert_ne!(accepted, Ok(true), "byte {at} was changed");
    }
}

#[test]
fn an_anonymous_user_says_so() {
    let (acceptor, challenge, message, established) = conversation(&Initiator::anonymous());
    #[rustfmt::skip]
    let expected = [
        b'N', b'T', b'L', b'M', b'S', b'S', b'P', 0, 3, 0, 0, 0,
        1, 0, 1, 0, 64, 0, 0, 0,  0, 0, 0, 0, 64, 0, 0, 0,
        0, 0, 0, 0, 64, 0, 0, 0,  0, 0, 0, 0, 64, 0, 0, 0,
        0, 0, 0, 0, 64, 0, 0, 0,  0, 0, 0, 0, 64, 0, 0, 0,
        0x05, 0x8a, 0x08, 0xa0, 0,
    ];
    assert_eq!(message, expected);
    assert!(established.is_none());
    assert_eq!(
        acceptor.read(&message).unwrap().claim,
        AuthIdentity::Anonymous
    );
    assert!(
        Initiator::anonymous()
            .authenticate(&[], &challenge[1..], &RANDOM)
            .is_err()
    );
}

#[test]
fn a_challenge_cut_or_changed_at_any_byte_is_no_more_than_an_error() {
    let user = Initiator::user("jane", "", "mellon");
    let (_, challenge, ..) = conversation(&user);
    for len in 0..challenge.len() {
        let answer = user.authenticate(&[], &challenge[..len], &RANDOM);
        assert!(answer.is_err(), "{len} bytes");
    }
    for at in 0..challenge.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = challenge.clone();
            changed[at] = value;
            let _ = user.authenticate(&[], &changed, &RANDOM);
        }
    }
}

#[test]
fn what_cannot_be_answered_has_its_reason() {
    let user = Initiator::user("jane", "", "mellon");
    let error_of = |user: &Initiator, challenge: &[u8]| {
        let answer = user.authenticate(&[], challenge, &RANDOM);
        answer.expect_err("it cannot be answered")
    };
    let (_, challenge, ..) = conversation(&user);
    assert_eq!(
        error_of(&user, &user.negotiate()),
        ChallengeError::OtherMessage
    );
    let flags = u32::from_le_bytes(*challenge[20..].first_chunk().unwrap());
    let mut old = challenge.clone();
    old[20..24].copy_from_slice(&(flags & !flag::EXTENDED_SESSIONSECURITY).to_le_bytes());
    assert_eq!(error_of(&user, &old), ChallengeError::TooOld);
    let long = Initiator::user(&"j".repeat(1 << 16), "", "mellon");
    assert_eq!(error_of(&long, &challenge), ChallengeError::TooLong);
}
