//! NEGOTIATE, and the check that it was not modified in transit (MS-SMB2, sections 3.2.4.2.2 and
//! 3.2.5.2).

use super::connect_options::{
    ConnectError, ConnectOptions, MultichannelUnavailable, Result, SetupStep, refused,
};
use super::link::{DecodeResult, SmbCallHandle, one};
use super::negotiated::Negotiated;
use super::protection_policy::{accepts_signing, capabilities, security_mode};
use crate::client::call_slot::{ActionError, ActionResult, Results};
use crate::session::smb2::{Preauth, Scope, SmbTransferLimits};
use filestone_wire::smb2::codec::{Array, Decode, Encode, Text};
use filestone_wire::smb2::ioctl::{
    self, ControlCode, ValidateNegotiateRequest, ValidateNegotiateResponse,
};
use filestone_wire::smb2::negotiate::{
    self, Cipher, Context, Contexts, HashAlgorithm, SigningAlgorithm,
};
use filestone_wire::smb2::{Capabilities, Command, Dialect, FileId};

/// Sends NEGOTIATE with these options.
pub async fn negotiate(link: SmbCallHandle, terms: &ConnectOptions) -> Result<Negotiated> {
    let negotiated = ask_to_negotiate(link, terms).await;
    let mut negotiated = negotiated.map_err(refused(SetupStep::Negotiate))??;
    accepts_signing(terms, &negotiated)?;
    if !terms.dialects.contains(&negotiated.dialect) {
        return Err(ConnectError::Dialect(negotiated.dialect));
    }
    if terms.channels > 1 {
        has_channels(&negotiated).map_err(ConnectError::OneChannel)?;
    }
    for (what, bytes) in [
        ("reads", negotiated.limits.read),
        ("writes", negotiated.limits.write),
        ("requests", negotiated.limits.transact),
    ] {
        // The minimum that every server accepts (section 3.3.5.4).
        if bytes < 4096 {
            return Err(ConnectError::Limits { what, bytes });
        }
    }
    negotiated.limits = negotiated.limits.over(negotiated.is_large_mtu());
    let is_3_0 = [Dialect::SMB_3_0, Dialect::SMB_3_0_2].contains(&negotiated.dialect);
    if is_3_0 && negotiated.capabilities.contains(Capabilities::ENCRYPTION) {
        negotiated.cipher = Some(Cipher::AES_128_CCM);
    }
    Ok(negotiated)
}

/// Returns an error if a session cannot have several connections.
fn has_channels(negotiated: &Negotiated) -> std::result::Result<(), MultichannelUnavailable> {
    if negotiated.dialect.0 < Dialect::SMB_3_0.0 {
        return Err(MultichannelUnavailable::Dialect(negotiated.dialect));
    }
    let offers = negotiated
        .capabilities
        .contains(Capabilities::MULTI_CHANNEL);
    if offers {
        Ok(())
    } else {
        Err(MultichannelUnavailable::Server)
    }
}

async fn ask_to_negotiate(
    link: SmbCallHandle,
    terms: &ConnectOptions,
) -> ActionResult<Result<Negotiated>> {
    let algorithms = [
        SigningAlgorithm::AES_GMAC,
        SigningAlgorithm::AES_CMAC,
        SigningAlgorithm::HMAC_SHA256,
    ];
    let contexts = [
        Context::PreauthIntegrity {
            hash_algorithms: Array::from(&[HashAlgorithm::SHA_512][..]),
            salt: &terms.salt,
        },
        Context::Encryption(Array::from(&terms.ciphers[..])),
        Context::Signing(Array::from(&algorithms[..])),
        Context::Netname(Text::from(terms.server.as_str())),
    ];
    let is_3_1_1 = terms.dialects.contains(&Dialect::SMB_3_1_1);
    let contexts = if is_3_1_1 { &contexts[..] } else { &[] };
    let request = negotiate::Request {
        security_mode: security_mode(terms),
        capabilities: capabilities(terms),
        client_guid: terms.client_guid,
        dialects: Array::from(&terms.dialects[..]),
        contexts: Contexts::from(contexts),
    };
    let asked = link.send(
        |chaining| {
            let chaining = chaining.of(Scope::Connection).kept();
            chaining.request(Command::Negotiate, 0, &request).chain()
        },
        |results| {
            let message = results.bytes.to_vec();
            Ok(negotiated(results)?.map(|negotiated| negotiated.map(|it| (it, message))))
        },
    );
    Ok(asked.await?.map(|(mut negotiated, response)| {
        link.with_sent(|request| negotiated.preauth.add(request));
        negotiated.preauth.add(&response);
        negotiated
    }))
}

fn negotiated(results: Results<'_>) -> DecodeResult<Result<Negotiated>> {
    one(
        results,
        Command::Negotiate,
        |response: negotiate::Response<'_>| {
            let mut negotiated = Negotiated {
                dialect: response.dialect,
                capabilities: response.capabilities,
                security_mode: response.security_mode,
                server_guid: response.server_guid,
                limits: SmbTransferLimits {
                    read: response.max_read_size,
                    write: response.max_write_size,
                    transact: response.max_transact_size,
                },
                cipher: None,
                signing: if response.dialect.0 >= Dialect::SMB_3_0.0 {
                    SigningAlgorithm::AES_CMAC
                } else {
                    SigningAlgorithm::HMAC_SHA256
                },
                preauth: Preauth::default(),
            };
            if response.dialect != Dialect::SMB_3_1_1 {
                return Ok(negotiated);
            }
            let mut has_preauth = false;
            for context in response.contexts.iter() {
                match context {
                    Context::PreauthIntegrity {
                        hash_algorithms, ..
                    } => {
                        has_preauth = hash_algorithms.iter().eq([HashAlgorithm::SHA_512]);
                    }
                    Context::Encryption(ciphers) => {
                        negotiated.cipher = ciphers.iter().next().filter(|cipher| cipher.0 != 0);
                    }
                    Context::Signing(algorithms) => {
                        let chosen = algorithms.iter().next();
                        negotiated.signing = chosen.unwrap_or(negotiated.signing);
                    }
                    _ => {}
                }
            }
            if has_preauth {
                Ok(negotiated)
            } else {
                Err(ConnectError::Terms(
                    "the server chose dialect 3.1.1 and no hash for pre-authentication integrity",
                ))
            }
        },
    )
}

/// Sends FSCTL_VALIDATE_NEGOTIATE_INFO (section 3.2.5.5): repeats the negotiation that took place
/// before there was a key.
pub(super) async fn validate(
    link: SmbCallHandle,
    terms: &ConnectOptions,
    negotiated: &Negotiated,
    scope: Scope,
) -> Result<()> {
    let input = ValidateNegotiateRequest {
        capabilities: capabilities(terms),
        guid: terms.client_guid,
        security_mode: security_mode(terms),
        dialects: Array::from(&terms.dialects[..]),
    }
    .to_bytes();
    let request = ioctl::Request {
        control_code: ControlCode::VALIDATE_NEGOTIATE_INFO,
        file_id: FileId::OF_PREVIOUS,
        max_input_response: 0,
        max_output_response: 24,
        flags: ioctl::Request::IS_FSCTL,
        input: &input,
    };
    let asked = link.send(
        |chaining| {
            let chaining = chaining.of(scope);
            chaining.request(Command::Ioctl, 0, &request).chain()
        },
        |results| {
            one(results, Command::Ioctl, |response: ioctl::Response<'_>| {
                ValidateNegotiateResponse::from_bytes(response.output)
            })
        },
    );
    let said = match asked.await {
        Ok(said) => said.map_err(|_| ConnectError::Changed)?,
        // A server without this FSCTL has still signed its response.
        Err(ActionError::Status(_)) => return Ok(()),
        Err(failure) => return Err(refused(SetupStep::Validate)(failure)),
    };
    let is_same = said.dialect == negotiated.dialect
        && said.capabilities == negotiated.capabilities
        && said.guid == negotiated.server_guid
        && said.security_mode == negotiated.security_mode;
    if is_same {
        Ok(())
    } else {
        Err(ConnectError::Changed)
    }
}
