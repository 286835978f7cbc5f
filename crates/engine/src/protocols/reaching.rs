//! Checks that a target accepts connections, and measures connect times and the network path.

use filestone_host::connect::Dial;
use filestone_host::control::Cancellation;
use filestone_host::error::RunError;
use filestone_host::way;
use filestone_measure::doctor::facts::{RoundTrips, TargetFacts};
use filestone_plan::plan::TransportKind;
use filestone_setup::addresses::resolve;
use filestone_workload::time::nanos_of;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Maximum time for one connection.
pub(super) const CONNECT_MAX: Duration = Duration::from_secs(2);
/// Number of consecutive connections.
const CONNECTIONS: usize = 9;
/// Maximum total time of repetitions.
const REPEAT_MAX: Duration = Duration::from_millis(500);

/// Connects several times over TCP to the first address of a host that accepts connections, from
/// `source` if given.
pub(super) fn reach(
    host: &str,
    port: u16,
    source: Option<IpAddr>,
    facts: &mut TargetFacts,
    cancellation: &Cancellation,
) -> Result<(), RunError> {
    let addresses = resolve(host, port)?;
    let mut last = None;
    for address in addresses {
        let dial = Dial {
            address,
            transport: TransportKind::Tcp,
            reserved_port: false,
            source,
        };
        facts.way = Some(way::to(address, source));
        match connect_times(&dial, cancellation) {
            Ok(times) => {
                facts.connect = times;
                return Ok(());
            }
            Err(error) => last = Some(last.unwrap_or(error)),
        }
    }
    last.map_or(Ok(()), Err)
}

/// Measures the times of consecutive connections.
pub(super) fn connect_times(
    dial: &Dial,
    cancellation: &Cancellation,
) -> Result<Option<RoundTrips>, RunError> {
    repeated(CONNECTIONS, || {
        let connected = dial.connect_until(CONNECT_MAX, cancellation);
        let connected = connected.map(drop);
        connected.map_err(|source| connect_error(dial.address, source, cancellation))
    })
}

fn connect_error(
    address: SocketAddr,
    source: std::io::Error,
    cancellation: &Cancellation,
) -> RunError {
    if cancellation.is_cancelled() {
        return RunError::Interrupted;
    }
    RunError::Connect { address, source }
}

/// Measures the times of up to `times` consecutive calls of `exchange`; stops early after
/// [`REPEAT_MAX`].
pub(super) fn repeated(
    times: usize,
    mut exchange: impl FnMut() -> Result<(), RunError>,
) -> Result<Option<RoundTrips>, RunError> {
    let began = Instant::now();
    let mut nanos = Vec::with_capacity(times);
    while nanos.len() < times && began.elapsed() < REPEAT_MAX {
        let before = Instant::now();
        exchange()?;
        nanos.push(nanos_of(before.elapsed()));
    }
    Ok(RoundTrips::of(nanos))
}
