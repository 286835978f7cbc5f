//! The options of `filestone doctor`.

use super::call_target::{self, CallTarget};
use super::layer_targets::{self, LayerTarget};
use super::nfs::NfsOptions;
use super::run_report::DocumentFormat;
use super::smb::SmbArguments;
use crate::options::choice::choice;
use clap::Args;
use filestone_plan::plan::{LocalTarget, TransportKind};

/// `filestone doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone doctor
  filestone doctor nfs://server/export
  filestone doctor local:/mnt/test
  filestone doctor tcp:peer --format json | jq '.findings[] | select(.level == \"warning\")'

Nothing is written, to the target neither.

Exit codes:
  0    nothing worse than a note
  1    a warning, or a problem
  2, 3, 4
       what a run on TARGET would end with, if it cannot be measured; what was found on this
       host is shown all the same")]
pub struct DoctorOptions {
    /// nfs://host[:port]/path, host:/path, smb://[[domain;]user@]host[:port]/share[/path], local:DIR,
    /// a path, or tcp:HOST[:PORT]; without it, this host alone
    #[arg(value_name = "TARGET", value_parser = parse)]
    pub target: Option<DoctorTarget>,
    /// How operations will travel
    #[arg(long, value_name = "PROTOCOL", default_value = "tcp", value_parser = choice::<TransportKind>())]
    pub transport: TransportKind,
    #[command(flatten)]
    pub nfs: NfsOptions,
    #[command(flatten)]
    pub share: SmbArguments,
    /// What to print; json has what was found, and the facts that it comes from
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: DocumentFormat,
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DoctorTarget {
    /// What probes and mixes go to.
    Calls(CallTarget),
    /// What loads are replayed on.
    Layer(LayerTarget),
}

fn parse(text: &str) -> Result<DoctorTarget, String> {
    if text.starts_with(['/', '.']) {
        let directory = Some(text.to_string());
        return Ok(DoctorTarget::Layer(LayerTarget::Local(LocalTarget {
            directory,
        })));
    }
    // `tcp://host` is as good as `tcp:host`.
    if !["local:", "tcp:"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
    {
        return call_target::parse(text).map(DoctorTarget::Calls);
    }
    match layer_targets::single(text)? {
        LayerTarget::Tcp(peer) if peer.host.is_none() => {
            Err("the built-in peer runs only while it is measured; expected tcp:HOST[:PORT]".into())
        }
        layer => Ok(DoctorTarget::Layer(layer)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_directory_and_the_rest_is_as_elsewhere() {
        let local = |path: &str| {
            let directory = Some(path.into());
            Ok(DoctorTarget::Layer(LayerTarget::Local(LocalTarget {
                directory,
            })))
        };
        assert_eq!(parse("/mnt/a"), local("/mnt/a"));
        assert_eq!(parse("./a"), local("./a"));
        assert_eq!(parse("local:/mnt/a"), local("/mnt/a"));
        assert!(matches!(parse("server:/x"), Ok(DoctorTarget::Calls(_))));
        assert!(matches!(
            parse("nfs://s:2050/x"),
            Ok(DoctorTarget::Calls(_))
        ));
        assert!(matches!(parse("tcp://s:7003"), Ok(DoctorTarget::Layer(_))));
        assert!(parse("tcp:").is_err());
        assert!(parse("server").is_err());
    }
}
