//! Connection options of a plan for an SMB server.

use super::connection::{ConnectedShare, Reaching};
use super::ntlm::Ntlm;
use crate::TargetError;
use crate::addresses::resolve;
use filestone_host::connect::Dial;
use filestone_host::control::{Cancellation, RunContext};
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::SessionIdentity;
use filestone_plan::plan::{Plan, SmbDialect, SmbTarget, TransportKind};
use filestone_protocol::client::smb2::{ConnectOptions, ConnectionSetup, HandlePolicy};
use filestone_wire::pattern;
use filestone_wire::smb2::Dialect;
use filestone_wire::smb2::negotiate::Cipher;
use filestone_workload::password::Password;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

const fn dialect(dialect: SmbDialect) -> Dialect {
    match dialect {
        SmbDialect::Smb202 => Dialect::SMB_2_0_2,
        SmbDialect::Smb210 => Dialect::SMB_2_1,
        SmbDialect::Smb300 => Dialect::SMB_3_0,
        SmbDialect::Smb302 => Dialect::SMB_3_0_2,
        SmbDialect::Smb311 => Dialect::SMB_3_1_1,
    }
}

/// Returns arbitrary bytes that are different for each call.
pub fn any_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    for chunk in bytes.chunks_mut(8) {
        let number = RandomState::new().build_hasher().finish().to_le_bytes();
        chunk.copy_from_slice(number.get(..chunk.len()).unwrap_or_default());
    }
    bytes
}

/// Returns the authentication mechanism of the clients. A server with guest access treats an
/// unknown user as a guest.
fn mechanism(target: &SmbTarget, password: Option<&Password>) -> Ntlm {
    let password = password.map_or("", Password::reveal);
    let domain = target.domain.as_deref().unwrap_or_default();
    let user = target.user.as_deref().unwrap_or("guest");
    Ntlm::user(user, domain, password)
}

/// Returns the connection options of `target` with this password.
pub fn terms(target: &SmbTarget, password: Option<&Password>) -> ConnectOptions {
    let dialects = match target.dialect {
        Some(one) => vec![dialect(one)],
        None => ConnectOptions::DIALECTS.to_vec(),
    };
    ConnectOptions {
        dialects,
        ciphers: vec![
            Cipher::AES_128_GCM,
            Cipher::AES_128_CCM,
            Cipher::AES_256_GCM,
            Cipher::AES_256_CCM,
        ],
        client_guid: any_bytes(),
        salt: any_bytes(),
        signing: target.signing,
        encryption: target.encryption,
        mechanisms: Arc::new(mechanism(target, password)),
        share: format!("\\\\{}\\{}", target.host_name(), target.share),
        server: target.host_name().into(),
        channels: target.connections_per_client,
    }
}

/// Returns the setups of `count` connections of another client with the same options.
pub fn of_connections(way: &ConnectionSetup, count: u32) -> Vec<Arc<ConnectionSetup>> {
    let first = of_another_client(way);
    let others = (1..count).map(|channel| Arc::new(first.of_channel(channel, any_bytes())));
    std::iter::once(Arc::clone(&first)).chain(others).collect()
}

/// Returns the setup of another client with the same options. Servers assume that connections with
/// the same ClientGuid come from one machine, and Samba serves them with one process.
pub fn of_another_client(way: &ConnectionSetup) -> Arc<ConnectionSetup> {
    Arc::new(ConnectionSetup::new(ConnectOptions {
        client_guid: any_bytes(),
        ..way.terms.clone()
    }))
}

/// Parameters for connecting to a share.
pub struct ShareAddress<'a> {
    /// Password of the target's user.
    pub password: Option<&'a Password>,
    /// Address of the built-in server, for a target without a host.
    pub built_in: Option<SocketAddr>,
    /// Local source address.
    pub source: Option<IpAddr>,
    /// Timeout of a request.
    pub timeout: Duration,
    /// Cancels all waits.
    pub cancellation: &'a Cancellation,
}

/// Connects as a run does to the first address of the target's host that accepts a connection, and
/// to the share.
pub fn reach(
    plan: &Plan,
    target: &SmbTarget,
    built_in: Option<SocketAddr>,
    context: &RunContext<'_>,
) -> Result<ConnectedShare, RunError> {
    let approach = ShareAddress {
        password: context.password,
        built_in,
        source: plan.source_for(|other| other.smb() == Some(target)),
        timeout: Duration::from_nanos(plan.timeout_ns),
        cancellation: &context.cancellation,
    };
    reach_by(&approach, target)
}

/// Connects to a share with parameters that do not come from a plan.
pub fn reach_by(
    approach: &ShareAddress<'_>,
    target: &SmbTarget,
) -> Result<ConnectedShare, RunError> {
    let way = Arc::new(ConnectionSetup::new(terms(target, approach.password)));
    let pattern: Arc<[u8]> = pattern::table().into();
    let mut last = None;
    let addresses = match (&target.host, approach.built_in) {
        (Some(host), _) => resolve(host, target.port())?,
        (None, Some(address)) => vec![address],
        (None, None) => return Err(TargetError::NoServer.into()),
    };
    for address in addresses {
        let reaching = Reaching {
            dial: Dial {
                address,
                transport: TransportKind::Tcp,
                reserved_port: false,
                source: approach.source,
            },
            way: Arc::clone(&way),
            timeout: approach.timeout,
            compounds: target.compounds,
            pattern: Arc::clone(&pattern),
            cancellation: approach.cancellation.clone(),
        };
        match ConnectedShare::make(&reaching, 1) {
            Ok(connection) => return Ok(connection),
            Err(error) => {
                let error = error.into_run_error();
                if !error.is_unreachable() {
                    return Err(error);
                }
                last = Some(last.unwrap_or(error));
            }
        }
    }
    Err(last.unwrap_or_else(|| RunError::Internal("no address was tried".into())))
}

/// Returns a note if the user was logged on as a guest, since this affects permissions and message
/// protection.
pub fn guest_remark(connection: &ConnectedShare, target: &SmbTarget) -> Option<String> {
    let user = target.user.as_deref()?;
    let session = connection.session_record()?;
    (session.account != SessionIdentity::User).then(|| {
        format!(
            "{} lets the clients in as guests, and not as the user {user}",
            target.host_name()
        )
    })
}

/// Converts the target's path to the notation of a share.
pub fn share_path(target: &SmbTarget) -> String {
    target.path.replace('/', "\\")
}

/// Returns the oplock, lease and durability settings for opens.
pub fn keeping(target: &SmbTarget) -> HandlePolicy {
    HandlePolicy {
        oplock: target.oplock,
        is_durable: target.durable,
        seed: u128::from_le_bytes(any_bytes()),
        ..HandlePolicy::default()
    }
}
