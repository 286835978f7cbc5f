//! Converts options to a share, and rejects options that do not apply to one.

use super::{first_given, server_options};
use crate::error::Error;
use crate::inputs::credentials::DefaultCredentials;
use crate::options::nfs::NfsOptions;
use crate::options::smb::{ShareLocation, SmbArguments};
use filestone_plan::plan::{SmbDialect, SmbOplock, SmbTarget};

/// Returns the share that a URL and the options name.
pub fn target(
    share: &ShareLocation,
    options: &SmbArguments,
    credentials: &DefaultCredentials,
) -> SmbTarget {
    let user = share.user.clone().or_else(|| credentials.user.clone());
    let domain = share.domain.clone().or_else(|| credentials.domain.clone());
    SmbTarget {
        port: share.port,
        path: share.path.clone(),
        domain: domain.filter(|_| user.is_some()),
        user,
        dialect: options.dialect,
        signing: options.sign.unwrap_or_default(),
        encryption: options.encrypt.unwrap_or_default(),
        compounds: !options.no_compound,
        oplock: options.oplock.unwrap_or_else(|| usual_oplock(options)),
        durable: options.durable,
        connections_per_client: options.connections_per_client.unwrap_or(1),
        host: share.host.clone(),
        ..SmbTarget::new("", &share.share)
    }
}

/// Returns the default oplock: durable handles need an oplock or a lease.
fn usual_oplock(options: &SmbArguments) -> SmbOplock {
    match (options.durable, options.dialect) {
        (false, _) => SmbOplock::None,
        (true, Some(SmbDialect::Smb202)) => SmbOplock::Batch,
        (true, _) => SmbOplock::Lease,
    }
}

/// Returns the first option of an NFS server that does not apply to a share; source addresses do
/// apply.
pub fn first_without_meaning(options: &NfsOptions) -> Option<&'static str> {
    let options = NfsOptions {
        source: None,
        ..options.clone()
    };
    first_given(&server_options(&options))
}

/// Returns the first option of a share that is given.
pub fn first_option(options: &SmbArguments) -> Option<&'static str> {
    first_given(&[
        ("--dialect", options.dialect.is_some()),
        ("--sign", options.sign.is_some()),
        ("--encrypt", options.encrypt.is_some()),
        ("--no-compound", options.no_compound),
        ("--oplock", options.oplock.is_some()),
        ("--durable", options.durable),
        (
            "--connections-per-client",
            options.connections_per_client.is_some(),
        ),
        ("--password-file", options.access.password_file.is_some()),
        (
            "--authentication-file",
            options.access.authentication_file.is_some(),
        ),
    ])
}

/// Rejects options of a share if there is no share.
pub fn refuse_options(options: &SmbArguments, why: &str) -> Result<(), Error> {
    first_option(options).map_or(Ok(()), |option| {
        Err(Error::usage(format!("{option}: {why}"))
            .with_help("it says how an SMB server is spoken to: smb://[user@]host/share"))
    })
}
