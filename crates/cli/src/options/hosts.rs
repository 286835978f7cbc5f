//! How a job of many hosts is made, in a filestone that was built with MPI.

use clap::{Args, ValueEnum};
use filestone_workload::quantity;

/// What the ranks of a job do.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Many hosts (mpirun, srun)")]
pub struct HostsOptions {
    /// Take clients, load and count for those of each host, not of all together
    #[arg(hide_short_help = true, long, global = true)]
    pub per_host: bool,
    /// Let rank 0 make no load
    #[arg(hide_short_help = true, long, global = true)]
    pub coordinator_only: bool,
    /// What happens when a rank is lost
    #[arg(
        hide_short_help = true,
        long,
        global = true,
        value_name = "WHAT",
        default_value = "end"
    )]
    pub on_rank_lost: OnRankLostArgument,
    /// How long a rank may be silent before it counts as lost
    #[arg(hide_short_help = true, long, alias = "watchdog", global = true, value_name = "TIME", default_value = "10s",
          value_parser = quantity::duration)]
    pub rank_timeout: u64,
}

/// What becomes of a job whose rank is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum OnRankLostArgument {
    /// The job ends, with the record of the others
    #[default]
    End,
    /// It goes on without it
    Continue,
}
