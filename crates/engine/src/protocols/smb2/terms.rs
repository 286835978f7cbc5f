//! What a plan wants of an SMB server.

use super::connection::{Connection, Reaching};
use super::ntlm::Ntlm;
use crate::control::{Cancellation, Context};
use crate::driver::Dial;
use crate::error::RunError;
use crate::protocols::TargetError;
use crate::protocols::addresses::resolve;
use filestone_measure::measure::run_record::SessionIdentity;
use filestone_plan::plan::{Plan, SmbDialect, SmbProtection, SmbTarget, TransportKind};
use filestone_protocol::client::smb2::{ConnectOptions, ConnectionSetup, HandlePolicy, Protection};
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

const fn protection(protection: SmbProtection) -> Protection {
    match protection {
        SmbProtection::IfAsked => Protection::IfRequired,
        SmbProtection::Required => Protection::Required,
        SmbProtection::Off => Protection::Off,
    }
}

/// Bytes that nobody has chosen: what they are does not matter, and no two are the same.
pub fn any_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    for chunk in bytes.chunks_mut(8) {
        let number = RandomState::new().build_hasher().finish().to_le_bytes();
        chunk.copy_from_slice(number.get(..chunk.len()).unwrap_or_default());
    }
    bytes
}

/// As whom clients log on. A server that has guests takes a name that it does not know for one.
fn mechanism(target: &SmbTarget, password: Option<&Password>) -> Ntlm {
    let password = password.map_or("", Password::reveal);
    let domain = target.domain.as_deref().unwrap_or_default();
    let user = target.user.as_deref().unwrap_or("guest");
    Ntlm::user(user, domain, password)
}

/// What `target` says is wanted, by this password.
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
        signing: protection(target.signing),
        encryption: protection(target.encryption),
        mechanisms: Arc::new(mechanism(target, password)),
        share: format!("\\\\{}\\{}", target.host_name(), target.share),
        server: target.host_name().into(),
        channels: target.connections_per_client,
    }
}

/// The ways of so many connections of another client on the same terms.
pub fn of_connections(way: &ConnectionSetup, count: u32) -> Vec<Arc<ConnectionSetup>> {
    let first = of_another_client(way);
    let others = (1..count).map(|channel| Arc::new(first.of_channel(channel, any_bytes())));
    std::iter::once(Arc::clone(&first)).chain(others).collect()
}

/// The way of another client on the same terms: servers take connections with the same ClientGuid
/// for those of one machine, and Samba serves them by one process.
pub fn of_another_client(way: &ConnectionSetup) -> Arc<ConnectionSetup> {
    Arc::new(ConnectionSetup::new(ConnectOptions {
        client_guid: any_bytes(),
        ..way.terms.clone()
    }))
}

/// How a share is reached before there is a connection to it.
pub struct ShareAddress<'a> {
    /// The password of the target's user.
    pub password: Option<&'a Password>,
    /// Where the built-in server listens, for a target without a host.
    pub built_in: Option<SocketAddr>,
    /// Where connections come from.
    pub source: Option<IpAddr>,
    /// How long a request may stay unanswered.
    pub timeout: Duration,
    /// Ends all waiting.
    pub cancellation: &'a Cancellation,
}

/// Connects as a run does to the first address of the target's host that takes it, and goes on as
/// far as the share.
pub fn reach(
    plan: &Plan,
    target: &SmbTarget,
    built_in: Option<SocketAddr>,
    context: &Context<'_>,
) -> Result<Connection, RunError> {
    let approach = ShareAddress {
        password: context.password,
        built_in,
        source: plan.source_for(|other| other.smb() == Some(target)),
        timeout: Duration::from_nanos(plan.timeout_ns),
        cancellation: &context.cancellation,
    };
    reach_by(&approach, target)
}

/// The same, by what is known without a plan.
pub fn reach_by(approach: &ShareAddress<'_>, target: &SmbTarget) -> Result<Connection, RunError> {
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
        match Connection::make(&reaching, 1) {
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

/// What a user has to know who was not taken for himself: what a guest may do, and how messages are
/// protected, is another matter.
pub fn guest_remark(connection: &Connection, target: &SmbTarget) -> Option<String> {
    let user = target.user.as_deref()?;
    let session = connection.session_record()?;
    (session.account != SessionIdentity::User).then(|| {
        format!(
            "{} lets the clients in as guests, and not as the user {user}",
            target.host_name()
        )
    })
}

/// The target's path as a share has it.
pub fn share_path(target: &SmbTarget) -> String {
    target.path.replace('/', "\\")
}

/// What is asked for beside opens.
pub fn keeping(target: &SmbTarget) -> HandlePolicy {
    HandlePolicy {
        oplock: target.oplock,
        is_durable: target.durable,
        seed: u128::from_le_bytes(any_bytes()),
        ..HandlePolicy::default()
    }
}
