//! The options of `filestone check`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `filestone check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone check client.txt
  filestone check office --layers
  filestone check *.load --format json | jq '.[].contents.tree.live_set_bytes'

  filestone check sfs2008
  filestone check /proc/net/rpc/nfsd
  nfsstat -s | filestone check -

Nothing is sent and nothing is written. Exit code 2 if a file cannot be used.")]
pub struct CheckOptions {
    /// Load files of dbench 1 to 5, tbench or smbtorture, plain or gzip; mix files; names of
    /// filestone's own loads and mixes; or - for a mix on standard input
    #[arg(value_name = "FILE", required = true)]
    pub loads: Vec<PathBuf>,
    /// What to print; json is a list with an object per load
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: CheckFormat,
    /// Print only what each layer would refuse or answer without a call, verb by verb
    #[arg(long)]
    pub layers: bool,
}

/// What `filestone check` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CheckFormat {
    /// Tables for people
    #[default]
    Text,
    /// Everything, for programs
    Json,
}
