//! Converts the options of `filestone doctor` to the checks.

use super::{
    Environment, TargetConnectOptions, connections, first_given, nfs_target, server_options, share,
};
use crate::error::Error;
use crate::inputs::credentials::DefaultCredentials;
use crate::options::call_target::CallTarget;
use crate::options::doctor::{DoctorOptions, DoctorTarget};
use crate::options::layer_targets::LayerTarget;
use filestone_engine::protocols::ConnectTarget;
use filestone_plan::plan::{TargetPlan, TransportKind};

/// Returns the target with the connection parameters of a run; `None` if there is none.
pub fn contact(
    options: &DoctorOptions,
    credentials: &DefaultCredentials,
    here: &Environment,
) -> Result<Option<ConnectTarget>, Error> {
    let (nfs, transport) = (&options.nfs, options.transport);
    let reaching = TargetConnectOptions {
        nfs,
        transport,
        share: &options.share,
        credentials,
        here,
    };
    let target = match &options.target {
        Some(DoctorTarget::Calls(target)) => reaching.target(Some(target), "/")?,
        Some(DoctorTarget::Layer(LayerTarget::Nfs3(target))) => {
            TargetPlan::Nfs3(nfs_target(target.as_ref(), nfs, transport, "/", here)?)
        }
        Some(DoctorTarget::Layer(LayerTarget::Smb(target))) => {
            reaching.target(Some(&CallTarget::Share(target.clone())), "/")?
        }
        Some(DoctorTarget::Layer(LayerTarget::Local(target))) => TargetPlan::Local(target.clone()),
        Some(DoctorTarget::Layer(LayerTarget::Tcp(target))) => TargetPlan::Tcp(target.clone()),
        None => {
            refuse_server_options(options, "without a target")?;
            return Ok(None);
        }
    };
    if matches!(target, TargetPlan::Local(_) | TargetPlan::Tcp(_)) {
        refuse_server_options(options, "the target is no server of files")?;
    }
    Ok(Some(ConnectTarget {
        password: credentials.password_for(std::iter::once(&target))?,
        connections: connections(nfs),
        target,
    }))
}

/// Rejects server options if there is no server.
fn refuse_server_options(options: &DoctorOptions, why: &str) -> Result<(), Error> {
    share::refuse_options(&options.share, why)?;
    let udp = options.transport == TransportKind::Udp;
    let given = first_given(&[("--transport udp", udp)])
        .or_else(|| first_given(&server_options(&options.nfs)));
    let Some(option) = given else {
        return Ok(());
    };
    Err(Error::usage(format!("{option}: {why}"))
        .with_help("it says how an NFS server is found and called: nfs://host[:port]/path"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{CommandLine, FilestoneCommand};
    use clap::Parser;

    fn contact_of(line: &str) -> Result<Option<ConnectTarget>, Error> {
        let words = ["filestone", "doctor"]
            .into_iter()
            .chain(line.split_whitespace());
        match CommandLine::try_parse_from(words).expect(line).command {
            Some(FilestoneCommand::Doctor(options)) => contact(
                &options,
                &DefaultCredentials::default(),
                &Environment::CANNED,
            ),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_target_becomes_what_a_run_would_have() {
        let target = |line: &str| {
            let contact = contact_of(line).expect(line).expect("a target");
            contact.target.to_string()
        };
        assert_eq!(target("server:/export"), "nfs://server/export");
        assert_eq!(target("nfs://s/x --port 2050"), "nfs://s:2050/x");
        assert_eq!(target("/mnt/a"), "local:/mnt/a");
        assert_eq!(target("tcp:peer:7004"), "tcp:peer:7004");
        assert_eq!(contact_of(""), Ok(None));
    }

    #[test]
    fn it_is_called_from_where_and_as_whom_a_run_would() {
        let contact = contact_of("s:/x --source 10.0.0.7 --uid 12 --reserved-port");
        let contact = contact.expect("options of a server").expect("a target");
        assert_eq!(
            contact.connections.sources.of_client(0),
            "10.0.0.7".parse().ok()
        );
        assert_eq!(contact.target.uid(), Some(12));
        assert!(contact.target.wants_reserved_ports());
    }

    #[test]
    fn options_of_a_server_that_is_not_there_are_refused() {
        for line in [
            "--port 2049",
            "local:/tmp --uid 5",
            "tcp:peer --reserved-port",
            "local:/tmp --transport udp",
        ] {
            let error = contact_of(line).expect_err(line);
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
