//! Replays a load over bare TCP, as tbench does, with its `tbench_srv` or the built-in peer.
//!
//! Every operation becomes one exchange of as many bytes as a file server and its client would have
//! moved. The peer stores no files, so operations cannot fail, and every answer is
//! [`ActionStatus::Unknown`](filestone_workload::load::ActionStatus). Subtracting the result from a run against
//! a file server leaves the cost of the server.
//!
//! The messages and their lengths are in [`filestone_wire::tbench`].

mod connection;
mod error;
mod exchanges;
pub mod socket_options;
#[cfg(test)]
mod tests;

pub use error::{PeerError, TcpError};
pub use socket_options::{SocketOption, SocketOptionError, SocketOptionList};

use crate::replay::layer::{Layer, LayerLost, LayerReply};
use crate::replay::site::{BlockingWorkDir, TreeCleanup, WorkDir};
use connection::TbenchConnection;
use exchanges::Exchanges;
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::Target;
use filestone_plan::plan::TcpReplay;
use filestone_workload::load::{ActionStatus, Cause, Generation, LoadAction};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Default port of `tbench_srv`.
pub const PORT: u16 = filestone_wire::tbench::PORT;

/// Options of a replay over TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpOptions {
    /// Load-file generation, which determines message lengths.
    pub generation: Generation,
    /// Prefix of names, as with dbench's `-D`; lengthens messages of dbench 3 and later.
    pub prefix: String,
    /// Options set on the sockets.
    pub socket_options: SocketOptionList,
    /// Timeout of connecting and of each message, in nanoseconds.
    pub timeout_nanos: u64,
    /// Whether the peer is the built-in one.
    pub built_in: bool,
}

impl Default for TcpOptions {
    fn default() -> Self {
        Self {
            generation: Generation::Cifs,
            prefix: ".".into(),
            socket_options: SocketOptionList::default(),
            timeout_nanos: 60_000_000_000,
            built_in: false,
        }
    }
}

impl TcpOptions {
    /// Returns the options of a plan for a load of that generation.
    pub fn planned(
        replay: &TcpReplay,
        generation: Generation,
        timeout_nanos: u64,
    ) -> Result<Self, RunError> {
        Ok(Self {
            generation,
            prefix: replay.prefix.clone(),
            socket_options: replay.socket_options.parse::<SocketOptionList>()?,
            timeout_nanos,
            built_in: false,
        })
    }

    fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout_nanos)
    }
}

/// A peer that speaks tbench.
#[derive(Debug)]
pub struct TcpSite {
    address: SocketAddr,
    options: TcpOptions,
}

impl TcpSite {
    /// Creates the site. The peer stores nothing, so nothing is claimed; connecting shows whether
    /// it exists.
    pub fn claim(address: SocketAddr, options: TcpOptions) -> Result<Self, RunError> {
        if address.port() == 0 {
            return Err(PeerError::PortZero { address }.into());
        }
        Ok(Self { address, options })
    }

    /// Whether the peer is on this host, that is, both ends have the same address.
    fn is_local(&self) -> bool {
        let any = match self.address {
            SocketAddr::V4(_) => "0.0.0.0:0",
            SocketAddr::V6(_) => "[::]:0",
        };
        // Connecting a datagram socket only determines the route; nothing is sent.
        let socket = UdpSocket::bind(any).and_then(|socket| {
            socket.connect(self.address)?;
            socket.local_addr()
        });
        self.address.ip().is_loopback() || socket.is_ok_and(|here| here.ip() == self.address.ip())
    }
}

impl WorkDir for TcpSite {
    fn target(&self) -> Target {
        Target {
            address: self.address.to_string(),
            built_in: self.options.built_in,
            local: self.is_local(),
            object: "connection".into(),
            ..Target::default()
        }
    }

    fn release(self, _trees: TreeCleanup) -> Result<(), RunError> {
        Ok(())
    }
}

impl BlockingWorkDir for TcpSite {
    type Layer = TcpLayer;

    fn layer(&self, _client: u32) -> Result<TcpLayer, RunError> {
        let connection = TbenchConnection::open(
            self.address,
            &self.options.socket_options,
            self.options.timeout(),
        )
        .map_err(|source| PeerError::TbenchConnection {
            address: self.address,
            source,
        })?;
        Ok(TcpLayer {
            address: self.address,
            connection,
            exchanges: Exchanges::new(self.options.generation, &self.options.prefix),
        })
    }

    fn clean_up(&self, _client: u32, _layer: &mut TcpLayer) -> Result<(), LayerLost> {
        Ok(())
    }
}

/// Connection of one client.
#[derive(Debug)]
pub struct TcpLayer {
    address: SocketAddr,
    connection: TbenchConnection,
    exchanges: Exchanges,
}

impl Layer for TcpLayer {
    fn execute(&mut self, action: &LoadAction<'_>, data: &[u8]) -> Result<LayerReply, LayerLost> {
        let Some(operation) = self.exchanges.operation(action) else {
            // The peer has no tree to remove.
            let is_done = matches!(action, LoadAction::Deltree { .. });
            return Ok(LayerReply::of(if is_done {
                ActionStatus::Unknown
            } else {
                ActionStatus::Refused(Cause::Other)
            }));
        };
        let Ok(exchange) = self.exchanges.sizes(operation).exchange() else {
            // Longer than the maximum message.
            return Ok(LayerReply::of(ActionStatus::Refused(Cause::Other)));
        };
        self.connection
            .exchange(exchange, data)
            .map_err(|error| LayerLost::Lost(format!("{}: {error}", self.address)))?;
        Ok(LayerReply {
            status: ActionStatus::Unknown,
            calls: 1,
            bytes_sent: exchange.request_len(),
            bytes_received: exchange.reply_len(),
            data_bytes: exchanges::data_bytes(action),
        })
    }

    fn end_pass(&mut self) -> Result<(), LayerLost> {
        Ok(())
    }
}
