#![no_main]

//! What is received encrypted or signed. First three bytes: which algorithms, and which byte is
//! changed on its way; then a frame.

use filestone_protocol::session::smb2::{DecryptBuffer, KeyMaterial, Preauth, SessionKeys};
use filestone_wire::smb2::codec::Decode;
use filestone_wire::smb2::negotiate::{Cipher, SigningAlgorithm};
use filestone_wire::smb2::transform::{Encrypted, TRANSFORM_HEADER_LEN};
use filestone_wire::smb2::{Dialect, Header};
use libfuzzer_sys::fuzz_target;

const CIPHERS: [Cipher; 4] = [
    Cipher::AES_128_CCM,
    Cipher::AES_128_GCM,
    Cipher::AES_256_CCM,
    Cipher::AES_256_GCM,
];

const SIGNING: [SigningAlgorithm; 3] = [
    SigningAlgorithm::HMAC_SHA256,
    SigningAlgorithm::AES_CMAC,
    SigningAlgorithm::AES_GMAC,
];

struct Sides {
    client: SessionKeys,
    server: SessionKeys,
}

fn sides(selector: u8) -> Sides {
    let selector = usize::from(selector);
    let material = KeyMaterial {
        session_key: &[7; 16],
        dialect: Dialect::SMB_3_1_1,
        signing: SIGNING[selector % SIGNING.len()],
        cipher: Some(CIPHERS[selector % CIPHERS.len()]),
        preauth: Some(&Preauth::default()),
    };
    Sides {
        client: SessionKeys::derive(&material).expect("all of this is known"),
        server: SessionKeys::derive_of_server(&material).expect("all of this is known"),
    }
}

/// Another byte, at one of them.
fn change(bytes: &mut [u8], [high, low]: [u8; 2]) {
    let at = usize::from(u16::from_be_bytes([high, low])) % bytes.len();
    bytes[at] ^= 1;
}

fn encrypted(sides: &Sides, changed: [u8; 2], input: &[u8]) {
    let (Some(sealer), Some(opener)) = (&sides.client.sealer, &sides.server.opener) else {
        return;
    };
    let mut opened = DecryptBuffer::default();
    let mut open = |frame: &[u8], expected: Option<&[u8]>| {
        if let Ok(encrypted) = Encrypted::from_bytes(frame) {
            let is_open = opener.open(&encrypted, &mut opened).is_ok();
            assert_eq!(is_open, expected.is_some());
            assert_eq!(opened.messages(), expected.unwrap_or_default());
        }
    };
    open(input, None);
    let mut frame = [&[0; TRANSFORM_HEADER_LEN], input].concat();
    sealer.seal(1, 2, &mut frame);
    open(&frame, Some(input));
    change(&mut frame, changed);
    open(&frame, None);
}

fn signed(sides: &Sides, changed: [u8; 2], input: &[u8]) {
    let (client, server) = (&sides.client.signer, &sides.server.signer);
    let mut room = Vec::new();
    assert!(!client.verify(input, &mut room));
    if Header::from_bytes(input).is_ok() {
        let mut message = input.to_vec();
        client.sign(&mut message);
        assert!(server.verify(&message, &mut room));
        change(&mut message, changed);
        assert!(!server.verify(&message, &mut room));
    }
}

fuzz_target!(|input: &[u8]| {
    if let Some((&[selector, high, low], frame)) = input.split_first_chunk() {
        let sides = sides(selector);
        encrypted(&sides, [high, low], frame);
        signed(&sides, [high, low], frame);
    }
});
