//! Clients that call as users, groups and machines of their own.

use super::run_at;
use crate::support::entry::replay;
use crate::support::live::{probe, serve};
use crate::support::mixes::{ALL_22, mix};
use crate::support::relay::{Fate, Relay};
use crate::support::replays::{self, load};
use filestone_engine::protocols::BuiltIn;
use filestone_host::control::NoObserver;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{ArrivalsPlan, Plan, TransportKind};
use filestone_server::Running;
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::mknod::MknodData;
use filestone_wire::nfs3::{PROGRAM, Procedure, Sattr3, create, mkdir, mknod};
use filestone_wire::rpc::{CallHeader, Credential};
use filestone_wire::xdr::{Decode, Reader};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::Role;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

const CLIENTS: u32 = 5;

/// What calls carried.
#[derive(Debug, Default)]
struct Heard {
    /// The number of a connection, with machine, user and groups of its calls.
    callers: BTreeSet<(usize, String, u32, Vec<u32>)>,
    /// Permissions of what was made: whether it is a directory, and the mode.
    modes: BTreeSet<(bool, u32)>,
}

impl Heard {
    fn hear(&mut self, connection: usize, call: &[u8]) {
        let mut reader = Reader::new(call);
        let header = CallHeader::decode(&mut reader).expect("a call");
        if let Credential::Sys(sys) = header.credential {
            let machine = String::from_utf8(sys.machine_name.to_vec()).expect("ASCII");
            let groups = [&[sys.gid], sys.gids.as_slice()].concat();
            self.callers.insert((connection, machine, sys.uid, groups));
        }
        let procedure = Procedure::from_number(header.procedure);
        if header.program == PROGRAM
            && let Some(mode) = made(procedure, &mut reader)
        {
            self.modes
                .insert((procedure == Some(Procedure::Mkdir), mode));
        }
    }

    fn modes(&self) -> Vec<(bool, u32)> {
        self.modes.iter().copied().collect()
    }
}

/// The permissions that a call asks for.
fn made(procedure: Option<Procedure>, reader: &mut Reader<'_>) -> Option<u32> {
    let attributes: Sattr3 = match procedure? {
        Procedure::Mkdir => mkdir::Args::decode(reader).expect("arguments").attributes,
        Procedure::Create => match create::Args::decode(reader).expect("arguments").how {
            CreateHow::Unchecked(attributes) | CreateHow::Guarded(attributes) => attributes,
            CreateHow::Exclusive(_) => return None,
        },
        Procedure::Mknod => match mknod::Args::decode(reader).expect("arguments").what {
            MknodData::Fifo(attributes) => attributes,
            _ => return None,
        },
        _ => return None,
    };
    attributes.mode
}

/// A server behind a relay that hears what calls carry.
fn heard(judge: impl FnMut() -> Fate + Send + 'static) -> (Running, Relay, Arc<Mutex<Heard>>) {
    let (server, mut judge) = (serve(|_| {}), judge);
    let heard = Arc::new(Mutex::new(Heard::default()));
    let noted = Arc::clone(&heard);
    let relay = Relay::to(server.address(), move |_| judge()).listen(move |connection, call| {
        noted.lock().expect("no test panics").hear(connection, call);
    });
    (server, relay, heard)
}

/// Five clients, of three users, two groups, and an address each, which tells them apart.
fn with_identities(mut plan: Plan) -> Plan {
    plan.clients = CLIENTS;
    let connections = &mut plan.connections;
    connections.sources = "127.9.0.1-127.9.0.5".parse().expect("addresses");
    connections.identities.uids = "1000-1001,7".parse().expect("numbers");
    connections.identities.gids = "50-51".parse().expect("numbers");
    connections.identities.machine_name = Some("client%d".into());
    let target = plan.target.nfs3_mut().expect("an NFS target");
    (target.uid, target.gid) = (1000, 50);
    target.supplementary_gids = "4,24".parse().expect("numbers");
    plan
}

/// Every connection carries the identity of the client that it is of.
fn check_callers(relay: &Relay, heard: &Heard) {
    let peers = relay.peers();
    let mut clients = BTreeSet::new();
    for (connection, machine, uid, groups) in &heard.callers {
        let address = peers[*connection].ip().to_string();
        let number = address.strip_prefix("127.9.0.").map(str::parse::<usize>);
        let client = number.expect("a source").expect("a number") - 1;
        let expected = (
            format!("client{client}"),
            [1000, 1001, 7][client % 3],
            // The supplementary groups are those of the target's user.
            [[50, 51][client % 2]]
                .into_iter()
                .chain([4, 24].into_iter().filter(|_| client.is_multiple_of(3)))
                .collect(),
        );
        assert_eq!(
            (machine.clone(), *uid, groups.clone()),
            expected,
            "{heard:?}"
        );
        clients.insert(client);
    }
    assert_eq!(clients.len(), CLIENTS as usize, "{heard:?}");
}

fn check_record(record: &RunRecord) {
    let json = serde_json::to_value(record).expect("a record can be written");
    let identities = &json["plan"]["connections"]["identities"];
    let expected = serde_json::json!({
        "uids": "1000-1001,7", "gids": "50-51", "machine_name": "client%d",
    });
    assert_eq!(*identities, expected);
}

#[test]
fn clients_of_a_probe_call_as_they_are_told_also_when_they_come_back() {
    let mut replies = 0;
    let (_server, relay, heard) = heard(move || {
        replies += 1;
        match replies {
            150 => Fate::CutOne(0),
            _ => Fate::Pass,
        }
    });
    let plan = with_identities(probe(OpKind::GetAttr, TransportKind::Tcp, 500));
    let stop = AtomicBool::new(false);
    let record = run_at(&plan, relay.address(), &stop, &mut NoObserver);
    assert_eq!(record.totals.reconnections, 1);
    check_callers(&relay, &heard.lock().expect("no test panics"));
    check_record(&record);
}

#[test]
fn what_a_mix_of_several_users_makes_is_for_all_of_them() {
    let (_server, relay, heard) = heard(|| Fate::Pass);
    let plan = with_identities(mix(ALL_22, ArrivalsPlan::Closed, 2000));
    let stop = AtomicBool::new(false);
    let record = run_at(&plan, relay.address(), &stop, &mut NoObserver);
    // The server holds its callers to permissions: only SETATTR of the mode is the owner's alone.
    let mut refused = 0;
    let kinds = record.totals.kinds.iter();
    for kind in kinds.filter(|kind| kind.role == Role::Measured) {
        let ledger = &kind.ledger;
        if kind.operation != OpKind::SetAttr {
            assert_eq!(ledger.ok, ledger.scheduled, "{:?}", kind.failures);
            continue;
        }
        refused = ledger.scheduled - ledger.ok;
        for failure in &kind.failures {
            assert!(failure.failure.contains("NFS3ERR_PERM"), "{failure:?}");
        }
    }
    assert!(refused > 0);
    assert_eq!(record.totals.ledger.ok + refused, 2000);
    let heard = heard.lock().expect("no test panics");
    check_callers(&relay, &heard);
    check_record(&record);
    assert_eq!(heard.modes(), [(false, 0o666), (true, 0o777)]);
}

#[test]
fn what_a_mix_of_one_user_makes_is_its_own() {
    let (_server, relay, heard) = heard(|| Fate::Pass);
    let mut plan = mix(ALL_22, ArrivalsPlan::Closed, 1000);
    plan.clients = 2;
    let stop = AtomicBool::new(false);
    run_at(&plan, relay.address(), &stop, &mut NoObserver);
    let modes = heard.lock().expect("no test panics").modes();
    assert_eq!(modes, [(false, 0o600), (true, 0o700)]);
}

const LOAD: &str = r#"
NTCreateX "\clients\client1" 0x1 0x2 16385 NT_STATUS_OK
NTCreateX "\clients\client1\a.txt" 0x40 0x2 10 NT_STATUS_OK
WriteX 10 0 100 100 NT_STATUS_OK
Close 10 NT_STATUS_OK
"#;

#[test]
fn clients_of_a_replay_call_as_they_are_told_and_make_what_all_may_use() {
    let (_server, relay, heard) = heard(|| Fate::Pass);
    let load = load(LOAD);
    let mut target = crate::support::plan(ArrivalsPlan::Closed, 1, 1).target;
    let nfs = target.nfs3_mut().expect("an NFS target");
    nfs.host = Some("127.0.0.1".into());
    nfs.port = Some(relay.address().port());
    nfs.path = "/export".into();
    let plan = with_identities(replays::plan(target, &load, CLIENTS));
    let stop = AtomicBool::new(false);
    let loads = [load];
    let record = replay(&plan, &loads, BuiltIn::default(), &stop, &mut NoObserver);
    let record = record.expect("the run is made");
    super::check(&record);
    assert_eq!(record.totals.ledger.ok, 4 * u64::from(CLIENTS));
    let heard = heard.lock().expect("no test panics");
    check_callers(&relay, &heard);
    check_record(&record);
    assert_eq!(heard.modes(), [(false, 0o666), (true, 0o777)]);
}
