//! A peer that answers tbench messages.

pub mod replay;

use super::replay_sites::SiteOptions;
use crate::protocols::reaching::reach;
use crate::protocols::{ConnectTarget, Job, Protocol};
use crate::replay::thread::Threads;
use filestone_host::control::{Cancellation, RunContext};
use filestone_host::error::RunError;
use filestone_measure::doctor::facts::TargetFacts;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::TcpTarget;
use filestone_setup::TargetError;
use filestone_setup::addresses::resolve;
use replay::{TcpOptions, TcpSite};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Name of the protocol in plans.
pub const NAME: &str = "tcp";

/// Maximum connect time for one of several addresses.
const FIRST_CONTACT: Duration = Duration::from_secs(3);

/// The protocol of tbench: messages that specify the length of the reply.
pub struct Tbench;

impl Protocol for Tbench {
    fn name(&self) -> &str {
        NAME
    }

    fn examine(
        &self,
        contact: &ConnectTarget,
        facts: &mut TargetFacts,
        cancellation: &Cancellation,
    ) -> Result<(), RunError> {
        let target = contact.target.tcp().ok_or(TargetError::NoPeer)?;
        let host = target.host.as_deref().ok_or(TargetError::NoPeer)?;
        reach(
            host,
            target.port.unwrap_or(replay::PORT),
            contact.source(),
            facts,
            cancellation,
        )
    }

    fn replay(&self, job: &Job<'_>, context: &mut RunContext<'_>) -> Result<RunRecord, RunError> {
        let opening = SiteOptions::of(job)?;
        opening.replay(context, &Threads, |target| {
            Some(open(&opening, target.tcp()?))
        })
    }
}

fn open(opening: &SiteOptions<'_>, target: &TcpTarget) -> Result<TcpSite, RunError> {
    let (timeout, replay) = (opening.plan.timeout_ns, &opening.replay.tcp);
    let mut options = TcpOptions::planned(replay, opening.generation, timeout)?;
    let address = match (&target.host, opening.built_in.tcp) {
        (Some(host), _) => reachable(host, target.port.unwrap_or(replay::PORT))?,
        (None, Some(address)) => {
            options.built_in = true;
            address
        }
        (None, None) => return Err(TargetError::NoPeer.into()),
    };
    TcpSite::claim(address, options)
}

/// Returns the first address of a host that accepts a connection. A name often has both IPv6 and
/// IPv4 addresses, and tbench_srv listens only on the latter.
fn reachable(host: &str, port: u16) -> Result<SocketAddr, RunError> {
    let addresses = resolve(host, port)?;
    let takes = |address: &&SocketAddr| TcpStream::connect_timeout(address, FIRST_CONTACT).is_ok();
    let taken = match addresses.as_slice() {
        [only] => Some(only),
        several => several.iter().find(takes).or(several.first()),
    };
    taken
        .copied()
        .ok_or_else(|| TargetError::NoAddress(host.into()).into())
}
