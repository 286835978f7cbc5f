//! A server that returns the data it receives (RFC 862), over TCP or UDP: measures the time and CPU
//! cost of bare socket exchanges.

use crate::backend::sockets::SocketOptions;
use crate::protocols::{BuiltIn, Protocol, clients};
use crate::run::{ConnectedClients, OpenTarget, TargetObjects};
use filestone_host::clock::Clock;
use filestone_host::connect::Dial;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::Target;
use filestone_plan::plan::{OtherTarget, Plan, TargetPlan, TransportKind};
use filestone_protocol::client::Unsupported;
use filestone_protocol::client::echo::{self, EchoClient, EchoMessages};
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind};
use filestone_setup::TargetError;
use filestone_setup::addresses::resolve;
use filestone_workload::operation::OpKind;
use std::sync::Arc;

/// Name of the protocol in plans.
pub const NAME: &str = "rfc862";

/// Returns the target for a server at a port of a host, with messages of `message_bytes` bytes.
pub fn target(host: &str, port: u16, transport: TransportKind, message_bytes: u32) -> TargetPlan {
    TargetPlan::Other(OtherTarget {
        name: NAME.into(),
        host: host.into(),
        port,
        path: format!("/{message_bytes}"),
        transport,
    })
}

/// Returns the message length in the path of a target, clamped to the supported range.
fn message_bytes(target: &OtherTarget) -> u32 {
    let named = target.path.trim_matches('/').parse().ok();
    let named = named.unwrap_or(echo::MESSAGE_MIN);
    named.clamp(echo::MESSAGE_MIN, echo::MESSAGE_MAX)
}

/// The echo protocol.
pub struct Echo;

impl Protocol for Echo {
    fn name(&self) -> &str {
        NAME
    }

    fn supports(&self, kind: OpKind) -> Result<(), Unsupported> {
        echo::supports(kind)
    }

    fn request_of(&self, _: OpKind) -> String {
        "echo".into()
    }

    fn open<'plan>(
        &self,
        plan: &'plan Plan,
        _: BuiltIn,
        _: &mut RunContext<'_>,
    ) -> Result<Box<dyn OpenTarget + 'plan>, RunError> {
        let target = plan.target.other().ok_or(TargetError::NoCalls)?;
        let addresses = resolve(&target.host, target.port)?;
        let address = addresses.first().copied();
        let address = address.ok_or_else(|| TargetError::NoAddress(target.host.clone()))?;
        let dial = Dial {
            address,
            transport: target.transport,
            reserved_port: false,
            source: plan.source_of(0),
        };
        Ok(Box::new(OpenEcho::new(plan, target, dial)))
    }
}

/// An echo server, of which only the address is known.
struct OpenEcho<'plan> {
    plan: &'plan Plan,
    messages: EchoMessages,
    options: SocketOptions,
    subjects: TargetObjects,
    target: Target,
}

impl<'plan> OpenEcho<'plan> {
    fn new(plan: &'plan Plan, target: &OtherTarget, dial: Dial) -> Self {
        // Operations need a subject, even though it is not used.
        let mut table = FileTable::default();
        table.add(FileEntry {
            len: 0,
            kind: ObjectKind::Directory,
            has_pattern: false,
        });
        table.subjects = 0..table.len();
        Self {
            plan,
            messages: EchoMessages {
                bytes: message_bytes(target),
                transport: target.transport,
                timeout_nanos: plan.timeout_ns,
            },
            options: SocketOptions::of(plan, dial, Arc::default()),
            subjects: TargetObjects {
                table: Arc::new(table),
                sets: [].into(),
            },
            target: Target {
                address: dial.address.to_string(),
                built_in: false,
                local: dial.address.ip().is_loopback(),
                export: "/".into(),
                object: ObjectKind::Directory.name().into(),
                ..Target::default()
            },
        }
    }
}

impl OpenTarget for OpenEcho<'_> {
    fn describe(&self) -> &Target {
        &self.target
    }

    fn connect(
        &mut self,
        clock: &Clock,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let (messages, in_flight) = (self.messages, self.plan.in_flight);
        let make = |_| EchoClient::new(messages, in_flight);
        let (plan, options, subjects) = (self.plan, &self.options, &self.subjects);
        clients::connect(plan, options, subjects, clock, context, make)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_messages_is_within_what_there_may_be() {
        for (path, expected) in [
            ("/44", 44),
            ("/0", echo::MESSAGE_MIN),
            ("/", echo::MESSAGE_MIN),
            ("/4000000000", echo::MESSAGE_MAX),
        ] {
            let target = OtherTarget {
                name: NAME.into(),
                host: "server".into(),
                port: 7,
                path: path.into(),
                transport: TransportKind::Tcp,
            };
            assert_eq!(message_bytes(&target), expected, "{path}");
        }
    }
}
