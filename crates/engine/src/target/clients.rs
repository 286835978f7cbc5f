//! The clients of all workers, connected one after the other.

use crate::backend::sockets::{SocketOptions, Sockets};
use crate::clock::Clock;
use crate::control::Context;
use crate::error::RunError;
use crate::run::WorkerBody;
use filestone_model::client::Client;
use filestone_model::language::Operations;
use filestone_model::plan::Plan;
use std::time::Duration;

/// How long one connection may take to be made before the run.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// One socket for each client of `plan`, and the clients that `make` gives.
pub fn connect<C: Client<Language = Operations> + Send + 'static>(
    plan: &Plan,
    options: &SocketOptions,
    clock: &Clock,
    context: &mut Context<'_>,
    make: impl Fn() -> C,
) -> Result<Vec<Box<dyn WorkerBody>>, RunError> {
    if plan.clients > 1 {
        context.preparing(&format!("connecting {} clients", plan.clients));
    }
    let dial = options.dial;
    let connect = |_| {
        context.go_on()?;
        let socket = dial.connect(CONNECT_TIMEOUT);
        let socket = socket.map_err(|source| RunError::Connect {
            address: dial.address,
            source,
        })?;
        Ok((make(), socket))
    };
    let of_worker = |worker| -> Result<Box<dyn WorkerBody>, RunError> {
        let clients: Result<Vec<_>, RunError> =
            plan.clients_of_worker(worker).map(connect).collect();
        let sockets = Sockets::new(clock.clone(), options.clone(), clients?)?;
        Ok(Box::new(sockets))
    };
    (0..plan.workers).map(of_worker).collect()
}
