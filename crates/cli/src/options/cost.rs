//! What is read so that the cost of an operation can be told.

use super::values::{Processors, processors};
use clap::Args;
use filestone_plan::plan::CostPlan;
use filestone_workload::quantity;

const SECOND: u64 = 1_000_000_000;
const IDLE_DEFAULT: u64 = 3 * SECOND;
const INTERVAL_DEFAULT: u64 = SECOND;

/// What is read of the server and of this host while a run lasts.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cost")]
pub struct CostOptions {
    /// Count bytes and packets for each operation, by this host's interface and by a model; implied
    /// by what reads the server
    #[arg(hide_short_help = true, long)]
    pub cost: bool,
    /// The server is this process of this host: its processor time and context switches
    #[arg(hide_short_help = true, long, value_name = "PID")]
    pub server_pid: Option<u32>,
    /// The server is on this host: what its processors, interrupts and context switches come to,
    /// those of filestone included
    #[arg(hide_short_help = true, long, alias = "server-here")]
    pub server_local: bool,
    /// The same of another host, by a Prometheus node_exporter there, such as
    /// http://server:9100/metrics
    #[arg(hide_short_help = true, long, value_name = "URL", value_parser = metrics_url)]
    pub server_metrics: Option<String>,
    /// The same, by a line of sh that prints files of its /proc, such as 'ssh server cat /proc/stat
    /// /proc/uptime /proc/interrupts /proc/net/dev'
    #[arg(
        hide_short_help = true,
        long,
        alias = "server-proc",
        value_name = "COMMAND"
    )]
    pub server_command: Option<String>,
    /// Count these processors of the server's host only, such as 0,2 or 0-3
    #[arg(hide_short_help = true, long, value_name = "CPUS", value_parser = processors)]
    pub server_cpus: Option<Processors>,
    /// Count what goes through this interface of the server's host
    #[arg(hide_short_help = true, long, value_name = "NAME")]
    pub server_interface: Option<String>,
    /// Send nothing for so long before the run: what is there anyway costs no operation anything
    /// [default: 3 s]
    #[arg(hide_short_help = true, long, alias = "cost-idle", value_name = "TIME", value_parser = quantity::duration)]
    pub idle_baseline: Option<u64>,
    /// Read so often [default: 1 s]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::positive_duration)]
    pub cost_interval: Option<u64>,
}

/// What `--server-metrics` takes: plain HTTP.
fn metrics_url(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("http://");
    match host {
        Some(host) if !host.is_empty() && !host.starts_with('/') => Ok(text.into()),
        _ => Err("expected http://HOST[:PORT]/metrics; TLS is not spoken".into()),
    }
}

impl CostOptions {
    /// Whether anything of the server is to be read.
    pub const fn reads_server(&self) -> bool {
        let is_named = self.server_metrics.is_some() || self.server_command.is_some();
        self.server_pid.is_some() || self.server_local || is_named
    }

    /// What is to be read; `None` if nothing is asked for.
    pub fn plan(&self) -> Option<CostPlan> {
        (self.cost || self.reads_server()).then(|| CostPlan {
            process: self.server_pid,
            this_host: self.server_local,
            metrics: self.server_metrics.clone(),
            command: self.server_command.clone(),
            processors: self.server_cpus.clone().map_or(vec![], |list| list.0),
            interface: self.server_interface.clone(),
            ..CostPlan::of_this_end(
                self.idle_baseline.unwrap_or(IDLE_DEFAULT),
                self.cost_interval.unwrap_or(INTERVAL_DEFAULT),
            )
        })
    }

    /// An option that says something of readings where there are none.
    pub fn without_readings(&self) -> Option<&'static str> {
        let reads_host =
            self.server_local || self.server_metrics.is_some() || self.server_command.is_some();
        let is_cost = self.plan().is_some();
        [
            ("--server-cpus", self.server_cpus.is_some() && !reads_host),
            (
                "--server-interface",
                self.server_interface.is_some() && !reads_host,
            ),
            ("--idle-baseline", self.idle_baseline.is_some() && !is_cost),
            ("--cost-interval", self.cost_interval.is_some() && !is_cost),
        ]
        .into_iter()
        .find(|(_, is_idle)| *is_idle)
        .map(|(option, _)| option)
    }
}
