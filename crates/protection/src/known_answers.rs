//! Keys, signatures and encryption against published examples and recorded messages.

use super::{DecryptBuffer, KeyMaterial, OpeningKey, Preauth, SealingKey, SessionKeys, SigningKey};
use filestone_wire::smb2::codec::{Decode, Encode};
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::negotiate::{Cipher, Context, Response, SigningAlgorithm};
use filestone_wire::smb2::transform::{Encrypted, TRANSFORM_HEADER_LEN};
use filestone_wire::smb2::{Command, Dialect, Header, HeaderFlags, ProtocolId};

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// The recorded conversations with real clients and servers.
mod recorded {
    use super::*;

    const SESSIONS: &str = include_str!("../tests/vectors/smb2-sessions.hex");
    /// Frames before the last response of SESSION_SETUP, the first signed message.
    const BEFORE_KEYS: usize = 5;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Sender {
        Client,
        Server,
    }

    struct Conversation {
        name: &'static str,
        session_key: Vec<u8>,
        frames: Vec<Frame>,
    }

    struct Frame {
        sender: Sender,
        bytes: Vec<u8>,
    }

    fn conversation(text: &'static str) -> Conversation {
        let mut lines = text.lines();
        let name = lines.next().unwrap();
        let session_key = bytes(lines.next().unwrap().strip_prefix("key ").unwrap());
        let frames = lines.filter_map(|line| {
            let (sender, frame) = match line.split_once(' ')? {
                ("C", frame) => (Sender::Client, frame),
                (_, frame) => (Sender::Server, frame),
            };
            let bytes = bytes(frame);
            Some(Frame { sender, bytes })
        });
        Conversation {
            name,
            session_key,
            frames: frames.collect(),
        }
    }

    /// Conversations whose name contains this word.
    fn conversations(word: &str) -> Vec<Conversation> {
        conversations_in(SESSIONS, word)
    }

    fn conversations_in(file: &'static str, word: &str) -> Vec<Conversation> {
        let texts = file.split("\nconversation ").skip(1);
        let found: Vec<_> = texts
            .map(conversation)
            .filter(|conversation| conversation.name.contains(word))
            .collect();
        assert!(!found.is_empty());
        found
    }

    struct BothSides {
        client: SessionKeys,
        server: SessionKeys,
    }

    impl Conversation {
        fn frames_with_keys(&self) -> &[Frame] {
            &self.frames[BEFORE_KEYS..]
        }

        /// Keys for the parameters that the server has selected.
        fn keys(&self) -> BothSides {
            self.with_material(|material| BothSides {
                client: SessionKeys::derive(material).unwrap(),
                server: SessionKeys::derive_of_server(material).unwrap(),
            })
        }

        /// Applies `derive` to the input of the key derivation.
        fn with_material<T>(&self, derive: impl FnOnce(&KeyMaterial<'_>) -> T) -> T {
            let mut preauth = Preauth::default();
            let unsigned = &self.frames[..BEFORE_KEYS];
            unsigned.iter().for_each(|frame| preauth.add(&frame.bytes));
            let response = Message::from_bytes(&self.frames[1].bytes).unwrap();
            let response: Response<'_> = response.body().unwrap();
            let mut material = KeyMaterial {
                session_key: &self.session_key,
                dialect: response.dialect,
                signing: match response.dialect {
                    Dialect::SMB_2_0_2 | Dialect::SMB_2_1 => SigningAlgorithm::HMAC_SHA256,
                    _ => SigningAlgorithm::AES_CMAC,
                },
                cipher: (response.dialect == Dialect::SMB_3_0).then_some(Cipher::AES_128_CCM),
                preauth: Some(&preauth),
            };
            for context in response.contexts.iter() {
                match context {
                    Context::Encryption(chosen) => material.cipher = chosen.get(0),
                    Context::Signing(chosen) => material.signing = chosen.get(0).unwrap(),
                    _ => {}
                }
            }
            derive(&material)
        }
    }

    fn is_signed_as_sent(signer: &SigningKey, frame: &Frame) -> bool {
        let mut message = frame.bytes.clone();
        let is_right = signer.verify(&message, &mut Vec::new());
        message[Header::SIGNATURE_AT] ^= 0x10;
        let is_wrong = !signer.verify(&message, &mut Vec::new());
        signer.sign(&mut message);
        is_right && is_wrong && message == frame.bytes
    }

    #[test]
    fn what_others_have_signed_is_signed_the_same() {
        for conversation in conversations("") {
            let keys = conversation.keys();
            let frames = conversation.frames_with_keys().iter();
            let signed = frames.filter(|frame| {
                let header = Header::from_bytes(&frame.bytes);
                header.is_ok_and(|header| header.flags.contains(HeaderFlags::SIGNED))
            });
            let are_as_sent: Vec<_> = signed
                .map(|frame| match frame.sender {
                    Sender::Client => is_signed_as_sent(&keys.client.signer, frame),
                    Sender::Server => is_signed_as_sent(&keys.server.signer, frame),
                })
                .collect();
            let name = conversation.name;
            assert!(are_as_sent.contains(&true), "{name}");
            assert!(!are_as_sent.contains(&false), "{name}: {are_as_sent:?}");
        }
    }

    /// Requests that bind a connection, and the response that continues the exchange, are signed
    /// with the key of the session; the final response with the key of the channel.
    #[test]
    fn microsofts_second_channel_is_signed_with_a_key_of_its_own() {
        let channels = include_str!("../tests/vectors/smb2-channels.hex");
        let [first, second] = ["first", "second"].map(|name| {
            let found = conversations_in(channels, name);
            found.into_iter().next().unwrap()
        });
        let of_session = first.keys().client;
        let of_channel =
            second.with_material(|material| of_session.derive_for_channel(material).unwrap());
        assert!(is_signed_as_sent(&of_session.signer, &first.frames[5]));
        for frame in &second.frames[2..5] {
            assert!(is_signed_as_sent(&of_session.signer, frame));
            assert!(!of_channel.signer.verify(&frame.bytes, &mut Vec::new()));
        }
        assert!(is_signed_as_sent(&of_channel.signer, &second.frames[5]));
        let last = &second.frames[5].bytes;
        assert!(!of_session.signer.verify(last, &mut Vec::new()));
    }

    #[test]
    fn what_others_have_encrypted_is_their_tree_connect() {
        for conversation in conversations("-aes-") {
            let BothSides { client, server } = conversation.keys();
            let (of_client, of_server) = (server.opener.unwrap(), client.opener.unwrap());
            let frames = conversation.frames_with_keys().iter();
            let encrypted =
                frames.filter(|frame| ProtocolId::of(&frame.bytes) == Some(ProtocolId::Transform));
            let opened = encrypted.map(|frame| match frame.sender {
                Sender::Client => open(&of_client, &frame.bytes),
                Sender::Server => open(&of_server, &frame.bytes),
            });
            let opened: Vec<_> = opened.collect();
            assert_eq!(opened.len(), 2, "{}", conversation.name);
            for message in opened {
                let header = Header::from_bytes(&message).unwrap();
                assert_eq!(header.command, Command::TreeConnect);
            }
        }
    }
}

fn open(opener: &OpeningKey, frame: &[u8]) -> Vec<u8> {
    let mut opened = DecryptBuffer::default();
    let encrypted = Encrypted::from_bytes(frame).unwrap();
    opener.open(&encrypted, &mut opened).unwrap();
    opened.messages().to_vec()
}

/// An encrypted WRITE published by Microsoft, and the response to it.
struct Example {
    session_key: &'static str,
    dialect: Dialect,
    cipher: Cipher,
    preauth: Option<Preauth>,
    request: &'static str,
    encrypted_request: &'static str,
    response: &'static str,
    encrypted_response: &'static str,
}

fn is_as_published(example: &Example) {
    let keys = SessionKeys::derive(&KeyMaterial {
        session_key: &bytes(example.session_key),
        dialect: example.dialect,
        signing: SigningAlgorithm::AES_CMAC,
        cipher: Some(example.cipher),
        preauth: example.preauth.as_ref(),
    });
    let keys = keys.unwrap();
    let expected = bytes(example.encrypted_request);
    let header = Encrypted::from_bytes(&expected).unwrap().header;
    let mut frame = vec![0; TRANSFORM_HEADER_LEN];
    frame.extend(bytes(example.request));
    let sealer = keys.sealer.unwrap();
    sealer.seal_with(header.nonce, header.session_id, &mut frame);
    assert_eq!(frame, expected);
    let response = open(&keys.opener.unwrap(), &bytes(example.encrypted_response));
    assert_eq!(response, bytes(example.response));
}

/// "Encryption in SMB 3.0: A protocol perspective", Microsoft's open specifications blog, 2012.
#[test]
fn microsofts_example_of_smb_3_0() {
    is_as_published(&Example {
        session_key: "b4546771b515f766a86735532dd6c4f0",
        dialect: Dialect::SMB_3_0,
        cipher: Cipher::AES_128_CCM,
        preauth: None,
        request: "fe534d4240000100000000000900400008000000000000000400000000000000fffe000001\
                  0000001100001400e4080000000000000000000000000000000000310070001700000000000000\
                  0000000015010000390000020100000039020000000000000000000070000000000000005\
                  36d623320656e6372797074696f6e2074657374696e67",
        encrypted_request: "fd534d4281a286535415445dae393921e44fa42e66e69a111892584fb5ed524a744da3\
                  ee87000000000001001100001400e4080025c8fee16605a437832d1cd52da9f4645333482a175f\
                  e5384563f45fcdafaef38bc62ba4d5c62897996625a44c29be5658de2e6117585779e7b59ffd97\
                  1278d08580d7fa899e410e910eabf5aa1db43050b33b49182637759ac15d84bfcdf5b6b238993c\
                  0f4cf4d6012023f6c627297075d84b7803912d0a9639634453595ef3e33ffe4e7ac2ab",
        response: "fe534d4240000100000000000900210009000000000000000400000000000000fffe000001\
                  0000001100001400e408000000000000000000000000000000000011000000170000000000000\
                  000000000",
        encrypted_response: "fd534d42a6015530a18f6d9affe22afae8e66484860000000000000011000014\
                  00e4080050000000000001001100001400e40800dbf46435c5f14169293ce079\
                  e344479bf670227e49873f458672c3098dac467dd5809f369d67409166515787\
                  1483e01f7becd02064eac3e235f913668bbc2f097980d4b378f1993eff6e60d1\
                  77309e5b",
    });
}

/// "SMB 3.1.1 Encryption in Windows 10", Microsoft's open specifications blog, 2015.
#[test]
fn microsofts_example_of_smb_3_1_1() {
    let preauth = "b23f3cbfd69487d9832b79b1594a367cdd950909b774c3a4c412b4fcea9edddba7db256ba2ea30e9\
                   77f11f9b113247578e0e915c6d2a513b8f2fca5707dc8770";
    is_as_published(&Example {
        session_key: "419fddf34c1e001909d362ae7fb6af79",
        dialect: Dialect::SMB_3_1_1,
        cipher: Cipher::AES_128_GCM,
        preauth: Some(Preauth(bytes(preauth).try_into().unwrap())),
        request: "fe534d4240000100000000000900010008000000000000000500000000000000fffe000001000000\
                  250000000010000000000000000000000000000000000000310070001700000000000000000000\
                  000600000004000000010000000400000000000000000000007000000000000000536d623320656e63\
                  72797074696f6e2074657374696e67",
        encrypted_request: "fd534d42bd73d97d2bc9001bcafac0fdff5feebcc7d6822d269caf48904c664c0000000\
                  0870000000000010025000000001000006ecdd2a7afc7b47763057a041b8fd4daffe990b70c9e09\
                  d36c084e02d14ef247f8bde38acf6256f8b1d3b56f77fbdeb312fea5e92cbcc1ed8fb2ebbfaa75e\
                  49a4a394bb44576545567c24d4c014d47c9fbdfdafd2c4f9b72f8d256452620a299f48e29e53d6b\
                  61d1c13a19e91af013f00d17e3abc2fc3d36c8c1b6b93973253852dbd442e46ee8",
        response: "fe534d4240000100000000000900010001000000000000000500000000000000fffe000001000000\
                  250000000010000000000000000000000000000000000000110000001700000000000000000000\
                  00",
        encrypted_response: "fd534d42acbe1cb7ed343adf1725ef144d90d4b0e06831dd2e8eb7b4000000000000000\
                  05000000000000100250000000010000026bbbf949983a6c1c796559d0f2c510cb651d1f7b6ac8d\
                  ed32a2a0b8f2d793a815c6f6b848d69767a215841a42d400ae6ddb5f0b44173a014973321fdd795\
                  0da6179159b82e03c9e18a050ff0ea1c967",
    });
}

/// "SMB 2 and SMB 3 security in Windows 10: the anatomy of signing and cryptographic keys",
/// Microsoft's open specifications blog, 2017: keys of the two channels of a session of SMB 3.0.
#[test]
fn microsofts_example_of_two_channels_of_smb_3_0() {
    let [first, second] = [
        "7cd451825d0450d235424e44ba6e78cc",
        "4e01a2b313bcf660cc250bef021aede6",
    ]
    .map(bytes);
    let material = |session_key| KeyMaterial {
        session_key,
        dialect: Dialect::SMB_3_0,
        signing: SigningAlgorithm::AES_CMAC,
        cipher: Some(Cipher::AES_128_CCM),
        preauth: None,
    };
    let of_session = SessionKeys::derive(&material(&first)).unwrap();
    let of_channel = of_session.derive_for_channel(&material(&second)).unwrap();
    let signed = |signer: &SigningKey| {
        let mut message = Header::request(Command::Echo, 7).to_bytes();
        signer.sign(&mut message);
        message
    };
    for (keys, published) in [
        (&of_session, "0b7e9c5cac36c0f6ea9ab275298cedce"),
        (&of_channel, "ba1a17dbbfec349bca105563d598952f"),
    ] {
        let key = bytes(published).try_into().unwrap();
        let published = SigningKey::new(SigningAlgorithm::AES_CMAC, &key).unwrap();
        assert_eq!(signed(&keys.signer), signed(&published));
        // "Alternate channel: Copy encryption/decryption keys from main channel".
        let (sealer, opener) = (keys.sealer.as_ref(), keys.opener.as_ref());
        let [mut own, mut expected] = [[5; TRANSFORM_HEADER_LEN + 70]; 2];
        sealer.unwrap().seal(1, 2, &mut own);
        let key = bytes("fad27796665b313ebb578f388632b4f7");
        let published = SealingKey::new(Cipher::AES_128_CCM, &key).unwrap();
        published.seal(1, 2, &mut expected);
        assert_eq!(own, expected);
        let key = bytes("b0f0427f7ceb416d1d9dcc0cd4f99447");
        let of_server = SealingKey::new(Cipher::AES_128_CCM, &key).unwrap();
        let mut frame = [5; TRANSFORM_HEADER_LEN + 70];
        of_server.seal(1, 2, &mut frame);
        assert_eq!(open(opener.unwrap(), &frame), [5; 70]);
    }
}

/// "SMB 3.1.1 Pre-authentication integrity in Windows 10", Microsoft's open specifications blog,
/// 2015: its first message.
#[test]
fn microsofts_example_of_preauthentication_integrity() {
    let mut preauth = Preauth::default();
    preauth.add(&bytes(
        "fe534d4240000100000000000000800000000000000000000100000000000000fffe000000000000\
         00000000000000000000000000000000000000000000000024000500000000003f000000ecd86f32\
         6276024f9f7752b89bb33f3a70000000020000000202100200030203110300000100260000000000\
         010020000100fa49e6578f1f3a9f4cd3e9cc14a67aa884b3d05844e0e5a118225c15887f32ff0000\
         0200060000000000020002000100",
    ));
    let expected = "dd94efc5321bb618a2e208ba8920d2f422992526947a409b5037de1e0fe8c7362b8c47122594cde0\
                    ce26aa9dfc8bcdbde0621957672623351a7540f1e54a0426";
    assert_eq!(preauth.bytes()[..], bytes(expected));
}
