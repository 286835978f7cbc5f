//! Examines an NFS server before a run, without writing: NULL, port mapper, MOUNT, NLM, and for the
//! object at the path FSINFO, PATHCONF, FSSTAT and ACCESS.

use crate::protocols::ConnectTarget;
use crate::protocols::reaching::{connect_times, repeated};
use filestone_host::control::Cancellation;
use filestone_host::error::RunError;
use filestone_host::way;
use filestone_measure::doctor::facts::{
    NameFacts, ProgramFacts, RightsFacts, ServiceFacts, SpaceFacts, TargetFacts, TransferFacts,
};
use filestone_plan::plan::TransportKind;
use filestone_setup::TargetError;
use filestone_setup::addresses::resolve;
use filestone_setup::nfs3::calls::NfsConnection;
use filestone_setup::nfs3::mount::{self, MountCaller};
use filestone_wire::nfs3::{Handle, Procedure, access, fsinfo, fsstat, pathconf};
use filestone_wire::portmap::{self, Mapping};
use filestone_wire::xdr::{Decode, Encode};
use filestone_wire::{mount as mount_program, nfs3, nlm};
use std::collections::BTreeMap;

/// Maximum time for one call, in nanoseconds; a slower call is worth reporting.
const CALL_MAX_NS: u64 = 2_000_000_000;
/// Number of consecutive NULL calls.
const CALLS: usize = 21;

/// Programs of file servers, with their common names.
const NAMED: [(u32, &str); 6] = [
    (portmap::PROGRAM, "PORTMAP"),
    (nfs3::PROGRAM, "NFS"),
    (mount_program::PROGRAM, "MOUNT"),
    (nlm::PROGRAM, "NLM"),
    // As registered with IANA: NSM (the lock status monitor) and the ACL protocol of NFS.
    (100_024, "STATUS"),
    (100_227, "NFS_ACL"),
];

/// Examines the server and enters each fact as soon as it is known.
pub fn examine(
    contact: &ConnectTarget,
    facts: &mut TargetFacts,
    cancellation: &Cancellation,
) -> Result<(), RunError> {
    let target = contact.target.nfs3().ok_or(TargetError::NoCalls)?;
    let from = contact.source();
    let caller = MountCaller {
        target,
        timeout_ns: CALL_MAX_NS,
        seed: 0,
        wants_link: false,
        source: from,
        identities: contact.connections.identities.clone(),
    };
    let host = target.host.as_deref().unwrap_or("built-in");
    let addresses = resolve(host, target.port.unwrap_or(nfs3::PORT))?;
    facts.way = addresses.first().map(|address| way::to(*address, from));
    let mut session = mount::reach_until(&caller, cancellation)?;
    let dial = *session.dial();
    facts.way = Some(way::to(dial.address, from));
    if target.transport == TransportKind::Tcp {
        facts.connect = connect_times(&dial, cancellation)?;
    }
    facts.call = repeated(CALLS, || session.null())?;
    facts
        .services
        .push(service("NFS 3", Some(dial.address.port()), "all"));
    facts.programs = mount::registered(&caller, dial.address, cancellation).map(programs);
    let lock_manager = mount::find_lock_manager(&caller, dial.address, cancellation);
    let lock_manager = lock_manager.ok().map(|address| address.port());
    facts.services.push(service(
        "NLM 4",
        lock_manager,
        "locks of loads (--enable-nlm)",
    ));
    let (mut session, mounted) = mount::mount_until(&caller, None, cancellation)?;
    mounted.refuse_link(&mut session, target)?;
    facts.durability_is_untold = true;
    facts.services.push(service(
        "MOUNT 3",
        Some(mounted.mount_service.port()),
        "all",
    ));
    ask(&mut session, &mounted.handle, target.uid, facts)
}

fn service(name: &str, port: Option<u16>, needed_for: &str) -> ServiceFacts {
    ServiceFacts {
        name: name.into(),
        port,
        needed_for: needed_for.into(),
    }
}

/// Groups mappings into programs with their versions.
fn programs(mappings: Vec<Mapping>) -> Vec<ProgramFacts> {
    let mut programs: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for mapping in mappings {
        let versions = programs.entry(mapping.program).or_default();
        versions.push(mapping.version);
    }
    let name = |number| {
        NAMED
            .iter()
            .find(|named| named.0 == number)
            .map(|named| named.1)
    };
    programs
        .into_iter()
        .map(|(number, mut versions)| {
            versions.sort_unstable();
            versions.dedup();
            ProgramFacts {
                number,
                name: name(number).map(Into::into),
                versions,
            }
        })
        .collect()
}

/// Examines the object at the path. Facts of a failed procedure stay unknown; a missing reply ends
/// the examination.
fn ask(
    session: &mut NfsConnection,
    object: &Handle,
    user: u32,
    facts: &mut TargetFacts,
) -> Result<(), RunError> {
    let object = object.borrow();
    let info = call(session, Procedure::Fsinfo, &object, |reply| {
        fsinfo::Reply::from_bytes(reply).ok()?.ok()
    })?;
    facts.transfers = info.map(|info| TransferFacts {
        read_max_bytes: info.rtmax.into(),
        read_preferred_bytes: info.rtpref.into(),
        write_max_bytes: info.wtmax.into(),
        write_preferred_bytes: info.wtpref.into(),
    });
    let step = info.map_or(0, |info| {
        u64::from(info.time_delta.seconds) * 1_000_000_000 + u64::from(info.time_delta.nseconds)
    });
    facts.names = call(session, Procedure::Pathconf, &object, |reply| {
        pathconf::Reply::from_bytes(reply)
            .ok()?
            .ok()
            .map(|conf| NameFacts {
                length_max: conf.name_max.into(),
                links_max: conf.linkmax.into(),
                is_case_insensitive: conf.case_insensitive,
                time_step_ns: step,
            })
    })?;
    facts.space = call(session, Procedure::Fsstat, &object, |reply| {
        fsstat::Reply::from_bytes(reply)
            .ok()?
            .ok()
            .map(|stat| SpaceFacts {
                total_bytes: stat.tbytes,
                available_bytes: stat.abytes,
                // A server without a limit on files reports some number or 0.
                available_files: Some(stat.afiles).filter(|_| stat.tfiles > 0),
            })
    })?;
    let arguments = access::Args {
        object,
        access: access::ALL,
    };
    facts.rights = call(session, Procedure::Access, &arguments, |reply| {
        let granted = access::Reply::from_bytes(reply).ok()?.ok()?.access;
        Some(RightsFacts {
            user,
            may_read: granted & access::READ != 0,
            may_change: granted & access::MODIFY != 0 && granted & access::EXTEND != 0,
        })
    })?;
    Ok(())
}

fn call<T>(
    session: &mut NfsConnection,
    procedure: Procedure,
    arguments: &impl Encode,
    read: impl Fn(&[u8]) -> Option<T>,
) -> Result<Option<T>, RunError> {
    let reply = session.results(procedure, arguments)?;
    Ok(read(&reply))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_its_versions_once_and_in_order() {
        let mapping = |program, version, protocol| Mapping {
            program,
            version,
            protocol,
            port: 2049,
        };
        let found = programs(vec![
            mapping(nfs3::PROGRAM, 4, 6),
            mapping(nfs3::PROGRAM, 3, 6),
            mapping(nfs3::PROGRAM, 3, 17),
            mapping(391_002, 1, 6),
        ]);
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_deref(), one.versions.as_slice()))
            .collect();
        assert_eq!(shown, [(Some("NFS"), &[3, 4][..]), (None, &[1][..])]);
    }
}
