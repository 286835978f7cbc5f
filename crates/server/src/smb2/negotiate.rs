//! NEGOTIATE: dialect and message protection (MS-SMB2, sections 3.3.5.3 and 3.3.5.4).

use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::negotiate::{
    Cipher, Context, Contexts, HashAlgorithm, Request, Response, SigningAlgorithm,
};
use filestone_wire::smb2::spnego::NegTokenInit;
use filestone_wire::smb2::{Capabilities, Dialect, SecurityMode, Status};

use super::connection::{MECHANISMS, NegotiatedState};
use super::exchange::{Answered, CommandFailure, Exchange, put};
use super::metadata::file_time;
use super::options::{Protection, TRANSFER_MAX};
use crate::reply::ReplySink;

/// Largest length of a READ, a WRITE or a QUERY without multi-credit requests.
const TRANSFER_MAX_SMALL: u32 = 64 << 10;

/// Dialects, newest first.
const DIALECTS: [Dialect; 5] = [
    Dialect::SMB_3_1_1,
    Dialect::SMB_3_0_2,
    Dialect::SMB_3_0,
    Dialect::SMB_2_1,
    Dialect::SMB_2_0_2,
];

const CIPHERS: [Cipher; 4] = [
    Cipher::AES_128_GCM,
    Cipher::AES_128_CCM,
    Cipher::AES_256_GCM,
    Cipher::AES_256_CCM,
];

const SIGNING_ALGORITHMS: [SigningAlgorithm; 3] = [
    SigningAlgorithm::AES_GMAC,
    SigningAlgorithm::AES_CMAC,
    SigningAlgorithm::HMAC_SHA256,
];

/// Contents of a request's negotiate contexts.
#[derive(Default)]
struct Offers {
    has_hash: bool,
    has_sha512: bool,
    cipher: Option<Cipher>,
    has_ciphers: bool,
    has_signing: bool,
    signing: Option<SigningAlgorithm>,
}

impl Exchange<'_> {
    pub fn negotiate(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        // A second NEGOTIATE ends the connection (section 3.3.5.4).
        if self.connection.agreed.is_some() {
            return Err(CommandFailure::Hangup);
        }
        let request: Request<'_> = message.body()?;
        if request.dialects.is_empty() {
            return Err(Status::INVALID_PARAMETER.into());
        }
        let newest = self.shared.options.dialect_max;
        let mut served = DIALECTS.into_iter().filter(|dialect| *dialect <= newest);
        let dialect = served.find(|dialect| request.dialects.iter().any(|asked| asked == *dialect));
        let dialect = dialect.ok_or(Status::NOT_SUPPORTED)?;
        let agreed = self.agree(dialect, &request)?;
        self.connection.preauth.add(message.bytes);
        let answered = self.put_agreed(&agreed, dialect, &request, sink);
        self.connection.agreed = Some(Box::new(agreed));
        answered
    }

    fn agree(&self, dialect: Dialect, request: &Request<'_>) -> Result<NegotiatedState, Status> {
        let options = &self.shared.options;
        let encrypts = options.encryption != Protection::Refused;
        let mut capabilities = Capabilities::NONE;
        if dialect >= Dialect::SMB_2_1 {
            capabilities = Capabilities::LARGE_MTU.with(Capabilities::LEASING);
        }
        let (mut cipher, mut signing) = (None, SigningAlgorithm::HMAC_SHA256);
        if dialect >= Dialect::SMB_3_0 {
            signing = SigningAlgorithm::AES_CMAC;
        }
        if dialect == Dialect::SMB_3_1_1 {
            let offers = offers_of(request)?;
            cipher = offers.cipher.filter(|_| encrypts);
            signing = offers.signing.unwrap_or(signing);
        } else if dialect >= Dialect::SMB_3_0
            && encrypts
            && request.capabilities.contains(Capabilities::ENCRYPTION)
        {
            capabilities = capabilities.with(Capabilities::ENCRYPTION);
            cipher = Some(Cipher::AES_128_CCM);
        }
        let mut security_mode = SecurityMode::SIGNING_ENABLED;
        if options.signing == Protection::Required {
            security_mode = security_mode.with(SecurityMode::SIGNING_REQUIRED);
        }
        Ok(NegotiatedState {
            dialect,
            cipher,
            signing,
            client_guid: request.client_guid,
            client_capabilities: request.capabilities,
            client_security_mode: request.security_mode,
            capabilities,
            security_mode,
        })
    }

    fn put_agreed(
        &self,
        agreed: &NegotiatedState,
        dialect: Dialect,
        request: &Request<'_>,
        sink: &mut ReplySink,
    ) -> Answered {
        let mut salt = [0; 32];
        super::random::fill(&mut salt)?;
        let hashes = [HashAlgorithm::SHA_512];
        let cipher = [agreed.cipher.unwrap_or(Cipher(0))];
        let signing = [agreed.signing];
        let mut contexts = vec![Context::PreauthIntegrity {
            hash_algorithms: (&hashes).into(),
            salt: &salt,
        }];
        let asks = |of: fn(&Context<'_>) -> bool| request.contexts.iter().any(|asked| of(&asked));
        if asks(|asked| matches!(asked, Context::Encryption(_))) {
            contexts.push(Context::Encryption((&cipher).into()));
        }
        if asks(|asked| matches!(asked, Context::Signing(_))) {
            contexts.push(Context::Signing((&signing).into()));
        }
        if dialect != Dialect::SMB_3_1_1 {
            contexts.clear();
        }
        self.put_response(
            agreed.security_mode,
            dialect,
            agreed.capabilities,
            &contexts,
            sink,
        )
    }

    fn put_response(
        &self,
        security_mode: SecurityMode,
        dialect: Dialect,
        capabilities: Capabilities,
        contexts: &[Context<'_>],
        sink: &mut ReplySink,
    ) -> Answered {
        let mut token = Vec::new();
        NegTokenInit::encode(MECHANISMS, None, &mut token);
        let is_large = capabilities.contains(Capabilities::LARGE_MTU);
        let most = if is_large {
            TRANSFER_MAX
        } else {
            TRANSFER_MAX_SMALL
        };
        let response = Response {
            security_mode,
            dialect,
            server_guid: self.shared.guid,
            capabilities,
            max_transact_size: most.min(self.shared.options.transact_max),
            max_read_size: most.min(self.shared.options.transfer_max),
            max_write_size: most.min(self.shared.options.transfer_max),
            system_time: file_time(self.now),
            server_start_time: self.shared.start,
            security_buffer: &token,
            contexts: Contexts::from(contexts),
        };
        put(sink, &response)
    }

    /// Answers SMB1's NEGOTIATE (section 3.3.5.3) with the wildcard, or with 2.0.2 if the client
    /// offers no later dialect.
    pub fn negotiate_from_smb1(&mut self, message: &[u8], sink: &mut ReplySink) -> Answered {
        if self.connection.agreed.is_some() || self.connection.has_wildcard {
            return Err(CommandFailure::Hangup);
        }
        let names = dialect_names(message).ok_or(CommandFailure::Hangup)?;
        let speaks = |wanted: &[u8]| names.split(|byte| *byte == 0).any(|name| name == wanted);
        let newest = self.shared.options.dialect_max;
        if speaks(b"\x02SMB 2.???") && newest > Dialect::SMB_2_0_2 {
            self.connection.has_wildcard = true;
            let mode = self.security_mode();
            return self.put_response(mode, Dialect::WILDCARD, Capabilities::LARGE_MTU, &[], sink);
        }
        if !speaks(b"\x02SMB 2.002") {
            return Err(CommandFailure::Hangup);
        }
        let agreed = NegotiatedState {
            dialect: Dialect::SMB_2_0_2,
            cipher: None,
            signing: SigningAlgorithm::HMAC_SHA256,
            client_guid: [0; 16],
            client_capabilities: Capabilities::NONE,
            client_security_mode: SecurityMode::NONE,
            capabilities: Capabilities::NONE,
            security_mode: self.security_mode(),
        };
        let mode = agreed.security_mode;
        self.connection.agreed = Some(Box::new(agreed));
        self.put_response(mode, Dialect::SMB_2_0_2, Capabilities::NONE, &[], sink)
    }

    fn security_mode(&self) -> SecurityMode {
        match self.shared.options.signing {
            Protection::Required => {
                SecurityMode::SIGNING_ENABLED.with(SecurityMode::SIGNING_REQUIRED)
            }
            Protection::Offered | Protection::Refused => SecurityMode::SIGNING_ENABLED,
        }
    }
}

/// Returns the offers in the contexts of 3.1.1, in the client's order of preference.
fn offers_of(request: &Request<'_>) -> Result<Offers, Status> {
    let mut offers = Offers::default();
    for context in request.contexts.iter() {
        match context {
            Context::PreauthIntegrity {
                hash_algorithms, ..
            } => {
                if offers.has_hash {
                    return Err(Status::INVALID_PARAMETER);
                }
                offers.has_hash = true;
                let mut hashes = hash_algorithms.iter();
                offers.has_sha512 = hashes.any(|hash| hash == HashAlgorithm::SHA_512);
            }
            Context::Encryption(ciphers) => {
                if offers.has_ciphers || ciphers.is_empty() {
                    return Err(Status::INVALID_PARAMETER);
                }
                offers.has_ciphers = true;
                offers.cipher = ciphers.iter().find(|cipher| CIPHERS.contains(cipher));
            }
            Context::Signing(algorithms) => {
                if offers.has_signing || algorithms.is_empty() {
                    return Err(Status::INVALID_PARAMETER);
                }
                offers.has_signing = true;
                let mut known = algorithms.iter();
                offers.signing = known.find(|one| SIGNING_ALGORITHMS.contains(one));
            }
            _ => {}
        }
    }
    if !offers.has_hash {
        return Err(Status::INVALID_PARAMETER);
    }
    // SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP.
    if !offers.has_sha512 {
        return Err(Status(0xc05d_0000));
    }
    Ok(offers)
}

/// Returns the dialects of an SMB_COM_NEGOTIATE (MS-CIFS, section 2.2.4.52.1), each between a byte
/// 2 and a byte 0.
fn dialect_names(message: &[u8]) -> Option<&[u8]> {
    const COMMAND_AT: usize = 4;
    const HEADER_LEN: usize = 32;
    const NEGOTIATE: u8 = 0x72;
    if *message.get(COMMAND_AT)? != NEGOTIATE {
        return None;
    }
    let (word_count, rest) = message.get(HEADER_LEN..)?.split_first()?;
    let (count, names) = rest
        .get(usize::from(*word_count) * 2..)?
        .split_first_chunk()?;
    names.get(..usize::from(u16::from_le_bytes(*count)))
}
