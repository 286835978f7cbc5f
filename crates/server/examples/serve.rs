//! Serves until it is killed: `serve [PORT [FAULT…]]`, and SMB with `smb=PORT`, `user=NAME:PASSWORD`,
//! `signing=DEGREE` and `encryption=DEGREE` among the faults.
#![allow(clippy::print_stdout, reason = "it is a program")]

use filestone_server::{Options, Server, SmbOptions, User};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map_or(Ok(0), |port| port.parse())?;
    let mut faults = Vec::new();
    let mut smb: Option<SmbOptions> = None;
    for word in arguments {
        match word.split_once('=') {
            Some(("smb", port)) => smb.get_or_insert_default().port = port.parse()?,
            Some(("user", user)) => {
                let (name, password) = user.split_once(':').unwrap_or((user, ""));
                smb.get_or_insert_default().users.push(User {
                    name: name.into(),
                    password: password.into(),
                });
            }
            Some(("signing", degree)) => smb.get_or_insert_default().signing = degree.parse()?,
            Some(("encryption", degree)) => {
                smb.get_or_insert_default().encryption = degree.parse()?;
            }
            _ => faults.push(word.parse()?),
        }
    }
    let server = Server::start(Options {
        port,
        faults,
        smb,
        ..Options::default()
    })?;
    for address in server.addresses() {
        println!("listening on {address}");
    }
    for address in server.smb_addresses() {
        println!("listening on {address} for SMB");
    }
    loop {
        std::thread::park();
    }
}
