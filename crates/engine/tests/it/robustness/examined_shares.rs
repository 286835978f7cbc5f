//! What is said of a share before a run.

use super::shares::any_plan;
use crate::support::smb_peer::{Reaction, serve};
use filestone_engine::Protocols;
use filestone_engine::doctor::examine;
use filestone_engine::protocols::ConnectTarget;
use filestone_host::control::{NoObserver, RunContext};
use filestone_wire::smb2::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

#[test]
fn a_server_of_one_connection_is_told_and_looked_at_all_the_same() {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    let plan = any_plan(serve(move |header| {
        if header.command == Command::Ioctl {
            counted.fetch_add(1, Ordering::Relaxed);
        }
        Reaction::Usual
    }));
    let contact = ConnectTarget {
        target: plan.target,
        connections: plan.connections,
        password: None,
    };
    let stop = AtomicBool::new(false);
    let mut silent = NoObserver;
    let context = &mut RunContext::new(&stop, &mut silent);
    let examination = examine(Some(&contact), &Protocols::default(), context);
    let target = examination.facts.target.expect("it was asked");
    assert_eq!(target.failure, None);
    assert!(target.call.is_some());
    let channels = target.channels.expect("it was asked");
    let refusal = channels.refusal.expect("2.1 has one connection");
    assert!(refusal.why.contains("dialect 2.1"), "{}", refusal.why);
    // It does not say by which interfaces it can be reached, which is no error.
    assert_eq!(
        (channels.interfaces.len(), asked.load(Ordering::Relaxed)),
        (0, 1)
    );
}
