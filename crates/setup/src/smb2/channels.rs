//! Multichannel support of a server.

use super::connection::{ConnectedShare, Reaching, RequestError};
use super::error::{SmbError, channels_help};
use super::terms::any_bytes;
use filestone_measure::doctor::facts::{ChannelFacts, ChannelRefusal};
use filestone_measure::measure::run_record::InterfaceRecord;
use filestone_protocol::client::smb2::{ConnectError, ConnectOptions, ConnectionSetup};
use filestone_wire::smb2::ioctl::{InterfaceAddress, InterfaceCapability, NetworkInterface};
use std::sync::Arc;

/// Returns the network interfaces that the server reports; empty if it reports none.
pub fn interfaces_of(connection: &mut ConnectedShare) -> Result<Vec<InterfaceRecord>, SmbError> {
    match connection.call(async |link| link.interfaces().await) {
        Ok(listed) => Ok(listed.into_iter().map(record).collect()),
        Err(RequestError::Answered(_)) => Ok(Vec::new()),
        Err(RequestError::Lost(error)) => Err(error),
    }
}

fn record(interface: NetworkInterface) -> InterfaceRecord {
    InterfaceRecord {
        address: match interface.address {
            InterfaceAddress::Ip(address) => address.to_string(),
            InterfaceAddress::Other(family) => format!("of family {family}"),
        },
        link_bits_per_s: interface.link_speed,
        rss: interface.capability.contains(InterfaceCapability::RSS),
        rdma: interface.capability.contains(InterfaceCapability::RDMA),
    }
}

/// Makes a connection with the same options that requests multichannel, and returns a refusal, if
/// any, and the server's interfaces.
pub fn examine(connection: &mut ConnectedShare) -> Result<ChannelFacts, SmbError> {
    let own = connection.reaching();
    let terms = ConnectOptions {
        channels: own.way.terms.channels.max(2),
        client_guid: any_bytes(),
        ..own.way.terms.clone()
    };
    let reaching = Reaching {
        way: Arc::new(ConnectionSetup::new(terms)),
        ..own.clone()
    };
    let (refusal, interfaces) = match ConnectedShare::make(&reaching, 1) {
        Ok(mut asking) => (None, interfaces_of(&mut asking)?),
        Err(SmbError::Setup {
            source: ConnectError::OneChannel(why),
            ..
        }) => {
            let refusal = ChannelRefusal {
                why: why.to_string(),
                help: channels_help(why).into(),
            };
            (Some(refusal), interfaces_of(connection)?)
        }
        Err(error) => return Err(error),
    };
    Ok(ChannelFacts {
        refusal,
        interfaces,
    })
}
