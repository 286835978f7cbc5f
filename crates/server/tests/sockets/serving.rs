//! What a well-behaved client sees.

use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use filestone_server::{Options, Server};
use filestone_wire::nfs3::{self, Procedure, Status, commit, fsstat, read};
use filestone_wire::pattern;
use filestone_wire::xdr::Decode;

use super::client::{
    Client, Datagrams, call, null, options, read_arguments, record, results, start,
};

#[test]
fn both_transports_and_both_address_families_share_one_port() {
    let server = start();
    let addresses = server.addresses();
    assert_eq!(addresses.len(), 2);
    for address in addresses {
        assert_eq!(address.port(), server.port());
        let mut client = Client::connect(*address);
        client.null();
        let file = client.mount("/export/file");
        let udp = Datagrams::new(*address);
        udp.send(&null(7));
        assert_eq!(results(&udp.receive(), 7), []);
        let arguments = read_arguments(&file, 12_345, 20_000);
        udp.send(&call(8, nfs3::PROGRAM, 6, &arguments));
        let results = results(&udp.receive(), 8);
        let ok = read::Reply::from_bytes(&results).unwrap().unwrap();
        assert_eq!(ok.data.len(), 20_000);
        assert_eq!(pattern::first_mismatch(12_345, ok.data), None);
    }
    assert_eq!(server.stop().calls(Procedure::Read), 2);
}

#[test]
fn a_read_by_udp_is_as_long_as_a_datagram_can_be() {
    let server = start();
    let file = Client::new(&server).mount("/export/file");
    let udp = Datagrams::new(server.address());
    udp.send(&call(
        1,
        nfs3::PROGRAM,
        6,
        &read_arguments(&file, 0, 1 << 20),
    ));
    let results = results(&udp.receive(), 1);
    let ok = read::Reply::from_bytes(&results).unwrap().unwrap();
    assert_eq!((ok.data.len(), ok.eof), (32 << 10, false));
}

#[test]
fn an_address_in_use_is_an_error_that_names_it() {
    let server = start();
    let error = Server::start(Options {
        port: server.port(),
        ..options()
    })
    .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    let address = format!("TCP 127.0.0.1:{}: ", server.port());
    assert!(error.to_string().starts_with(&address), "{error}");
}

#[test]
fn a_processor_that_does_not_exist_is_an_error() {
    let error = Server::start(Options {
        pin: vec![100_000],
        ..options()
    })
    .unwrap_err();
    assert!(error.to_string().contains("processor 100000"), "{error}");
}

#[test]
fn a_server_may_be_pinned_and_have_several_threads() {
    let server = Server::start(Options {
        threads: 2,
        pin: vec![0],
        addresses: vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()],
        ..options()
    })
    .unwrap();
    assert!(server.address().is_ipv6());
    for _ in 0..4 {
        Client::new(&server).null();
    }
    assert_eq!(server.counters().connections, 4);
}

#[test]
fn two_clients_work_at_once() {
    let server = Server::start(Options {
        threads: 2,
        ..options()
    })
    .unwrap();
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let server = &server;
            scope.spawn(move || {
                let mut client = Client::new(server);
                let export = client.mount("/export");
                let directory = client.mkdir(&export, name);
                for index in 0..500 {
                    let file_name = format!("{name}{index}");
                    let file = client.create(&directory, &file_name).unwrap();
                    client.write(&file, 0, file_name.as_bytes()).unwrap();
                    assert_eq!(client.read(&file, 0, 100).unwrap(), file_name.as_bytes());
                    if index % 2 == 0 {
                        client.remove(&directory, &file_name).unwrap();
                        assert_eq!(client.read(&file, 0, 1), Err(Status::STALE));
                    }
                }
            });
        }
    });
    assert_eq!(server.counters().calls(Procedure::Create), 1000);
}

#[test]
fn a_restart_keeps_the_initial_handles_and_changes_the_write_verifier() {
    let server = start();
    let port = server.port();
    let mut client = Client::new(&server);
    let file = client.mount("/export/files/file0003");
    let export = client.mount("/export");
    let made = client.create(&export, "made").unwrap();
    let verifier = |client: &mut Client| {
        let arguments = commit::Args {
            file: file.borrow(),
            offset: 0,
            count: 0,
        };
        let results = client.nfs3(Procedure::Commit, &arguments);
        commit::Reply::from_bytes(&results).unwrap().unwrap().verf
    };
    let before = verifier(&mut client);
    assert_eq!(verifier(&mut client), before);
    server.stop();
    assert!(client.receive().is_err(), "the connection is closed");

    let server = Server::start(Options { port, ..options() }).unwrap();
    let mut client = Client::new(&server);
    assert_ne!(verifier(&mut client), before);
    let data = client.read(&file, 0, 4096).unwrap();
    assert_eq!(pattern::first_mismatch(0, &data), None);
    assert_eq!(client.read(&made, 0, 1), Err(Status::STALE));
}

#[test]
fn a_full_memory_is_nospc_and_fsstat_says_so() {
    let server = Server::start(Options {
        memory_limit: 2 << 20,
        ..options()
    })
    .unwrap();
    let mut client = Client::new(&server);
    let export = client.mount("/export");
    let file = client.create(&export, "f").unwrap();
    let data = vec![1; 512 << 10];
    let mut written = 0;
    let status = loop {
        match client.write(&file, written, &data) {
            Ok(ok) => written += u64::from(ok.count),
            Err(fail) => break fail.status,
        }
    };
    assert_eq!((status, written), (Status::NOSPC, (3 * 512) << 10));
    let fsroot = export.borrow();
    let results = client.nfs3(Procedure::Fsstat, &fsroot);
    let ok = fsstat::Reply::from_bytes(&results).unwrap().unwrap();
    assert!(ok.tbytes == 2 << 20 && ok.fbytes < 512 << 10);
    client.remove(&export, "f").unwrap();
    let file = client.create(&export, "g").unwrap();
    assert!(client.write(&file, 0, &data).is_ok());
}

#[test]
fn a_client_that_does_not_read_is_waited_for_and_then_gets_everything() {
    let server = start();
    let mut client = Client::new(&server);
    let file = client.mount("/export/file");
    const CALLS: u64 = 64;
    for index in 0..CALLS {
        let arguments = read_arguments(&file, index * 1000, 1 << 20);
        client.send(nfs3::PROGRAM, 6, &arguments);
    }
    let first = client.xid - CALLS as u32 + 1;
    for index in 0..CALLS {
        let reply = client.receive().unwrap();
        let results = results(&reply, first + index as u32);
        let ok = read::Reply::from_bytes(&results).unwrap().unwrap();
        assert_eq!(ok.data.len(), 1 << 20);
        assert_eq!(pattern::first_mismatch(index * 1000, ok.data), None);
    }
    client.null();
}

#[test]
fn calls_may_come_in_crumbs_in_fragments_and_in_heaps() {
    let server = start();
    let mut client = Client::new(&server);
    for byte in record(&null(1)) {
        client.stream.write_all(&[byte]).unwrap();
    }
    assert_eq!(client.receive_xid(), 1);
    let call = null(2);
    let mut fragments = Vec::new();
    for (index, part) in call.chunks(7).enumerate() {
        let is_last = (index + 1) * 7 >= call.len();
        let mark = part.len() as u32 | u32::from(is_last) << 31;
        fragments.extend(mark.to_be_bytes());
        fragments.extend(part);
    }
    client.stream.write_all(&fragments).unwrap();
    assert_eq!(client.receive_xid(), 2);
    let heap: Vec<u8> = (0..20_000).flat_map(|xid| record(&null(xid))).collect();
    let mut writer = client.stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || writer.write_all(&heap).unwrap());
        for xid in 0..20_000 {
            assert_eq!(client.receive_xid(), xid);
        }
    });
}

#[test]
fn large_writes_arrive_whole_with_and_without_discarding() {
    for discard in [false, true] {
        let server = Server::start(Options {
            discard,
            ..options()
        })
        .unwrap();
        let mut client = Client::new(&server);
        let export = client.mount("/export");
        let file = client.create(&export, "f").unwrap();
        let mut data = vec![0; 1 << 20];
        for offset in [0, 1 << 20, 100] {
            pattern::fill(offset, &mut data);
            let ok = client.write(&file, offset, &data).unwrap();
            assert_eq!(ok.count, 1 << 20);
        }
        let got = client.read(&file, 3, 1 << 20).unwrap();
        assert_eq!(pattern::first_mismatch(3, &got), None);
        let got = client.read(&file, (2 << 20) - 10, 1 << 20).unwrap();
        assert_eq!(got.len(), 10);
        client.null();
    }
}

#[test]
fn a_thousand_connections_are_served_side_by_side() {
    let server = Server::start(Options {
        threads: 2,
        ..options()
    })
    .unwrap();
    let mut clients: Vec<Client> = (0..1000).map(|_| Client::new(&server)).collect();
    let xids: Vec<u32> = clients.iter_mut().map(Client::send_null).collect();
    for (client, xid) in clients.iter_mut().zip(xids) {
        assert_eq!(client.receive_xid(), xid);
    }
    assert_eq!(server.counters().connections, 1000);
}
