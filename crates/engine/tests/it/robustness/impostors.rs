//! Things at the server's address that are no servers.

use super::{MS, error_at};
use crate::support::SECOND;
use crate::support::live::{probe, serve};
use filestone_host::error::{ErrorCategory, RunError};
use filestone_plan::plan::{Plan, TransportKind};
use filestone_setup::driver::{CallError, UnmeasuredCallError};
use filestone_workload::operation::OpKind;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Instant;

fn any_plan() -> Plan {
    let mut plan = probe(OpKind::GetAttr, TransportKind::Tcp, 10);
    plan.timeout_ns = 300 * MS;
    plan
}

/// Listens, and does this to everybody who comes. The thread ends with the test.
fn listen(answer: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer));
    address
}

/// An address where nobody listens.
fn closed_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
}

#[test]
fn nobody_there_is_said_at_once() {
    let address = closed_port();
    let error = error_at(&any_plan(), address);
    assert!(matches!(error, RunError::Connect { .. }), "{error:?}");
    assert_eq!(error.category(), ErrorCategory::Target);
    assert!(
        error
            .to_string()
            .starts_with(&format!("{address}: cannot connect: "))
    );
    assert!(error.help().expect("help").contains("--port"));
}

#[test]
fn nobody_there_is_said_over_udp_too() {
    let mut plan = any_plan();
    plan.target.nfs3_mut().expect("an NFS target").transport = TransportKind::Udp;
    let address = closed_port();
    let error = error_at(&plan, address);
    assert_eq!(error.category(), ErrorCategory::Target);
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[test]
fn a_web_server_does_not_speak_onc_rpc() {
    let address = listen(|mut stream| {
        let mut request = [0; 1024];
        let _ = stream.read(&mut request);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    });
    let error = error_at(&any_plan(), address);
    assert_eq!(error.category(), ErrorCategory::Target);
    let text = error.to_string();
    assert!(
        text.starts_with(&format!(
            "{address}: NULL: what answers there does not speak ONC RPC"
        )),
        "{text}"
    );
    assert!(error.help().is_some());
}

#[test]
fn silence_is_not_waited_out_for_longer_than_the_time_out() {
    let address = listen(std::mem::forget);
    let start = Instant::now();
    let error = error_at(&any_plan(), address);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    let failed = error.of_area::<UnmeasuredCallError>();
    assert!(
        failed.is_some_and(|failed| matches!(failed.source, CallError::NeverAnswered(_))),
        "{error:?}"
    );
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let mut plan = any_plan();
    plan.target.nfs3_mut().expect("an NFS target").transport = TransportKind::Udp;
    let error = error_at(&plan, silent.local_addr().expect("it is bound"));
    assert!(
        error.to_string().contains("no answer within 300ms"),
        "{error}"
    );
}

#[test]
fn a_server_that_hangs_up_is_said_to() {
    let address = listen(drop);
    let error = error_at(&any_plan(), address);
    assert_eq!(error.category(), ErrorCategory::Target);
    assert!(
        error.of_area::<UnmeasuredCallError>().is_some(),
        "{error:?}"
    );
}

#[test]
fn rubbish_in_a_record_is_no_reply() {
    for rubbish in [
        &[0x80, 0, 0, 4, 1, 2, 3, 4][..],
        &[0x80, 0, 0, 0],
        &[0xff; 64],
        &[0; 400],
    ] {
        let rubbish = rubbish.to_vec();
        let address = listen(move |mut stream| {
            let mut request = [0; 1024];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(&rubbish);
        });
        let error = error_at(&any_plan(), address);
        assert_eq!(error.category(), ErrorCategory::Target, "{error}");
    }
}

#[test]
fn a_host_without_a_name_is_said_to_have_none() {
    let mut plan = any_plan();
    plan.target.nfs3_mut().expect("an NFS target").host = Some("no such host".into());
    plan.target.nfs3_mut().expect("an NFS target").port = Some(1);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let error =
        crate::support::entry::run(&plan, None, &stop, &mut filestone_host::control::NoObserver)
            .expect_err("there is no such host");
    assert!(matches!(error, RunError::Resolve { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .starts_with("no such host: no such host: ")
    );
}

#[test]
fn a_server_named_by_host_and_port_needs_no_portmapper() {
    let server = serve(|_| {});
    let mut plan = any_plan();
    plan.target.nfs3_mut().expect("an NFS target").host = Some("127.0.0.1".into());
    plan.target.nfs3_mut().expect("an NFS target").port = Some(server.port());
    plan.timeout_ns = 10 * SECOND;
    let stop = std::sync::atomic::AtomicBool::new(false);
    let record =
        crate::support::entry::run(&plan, None, &stop, &mut filestone_host::control::NoObserver)
            .expect("the run is made");
    super::check(&record);
    assert!(!record.target.built_in);
    assert_eq!(record.totals.ledger.ok, 10);
}
