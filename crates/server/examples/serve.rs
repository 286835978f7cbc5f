//! Serves until it is killed: `serve [PORT [FAULT…]]`.
#![allow(clippy::print_stdout, reason = "it is a program")]

use filestone_server::{Options, Server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map_or(Ok(0), |port| port.parse())?;
    let faults = arguments
        .map(|fault| fault.parse())
        .collect::<Result<_, _>>()?;
    let server = Server::start(Options {
        port,
        faults,
        ..Options::default()
    })?;
    for address in server.addresses() {
        println!("listening on {address}");
    }
    loop {
        std::thread::park();
    }
}
