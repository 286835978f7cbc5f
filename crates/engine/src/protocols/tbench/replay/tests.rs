use super::*;
use filestone_host::error::ErrorCategory;
use filestone_server::tbench::{TbenchOptions, TbenchServer};
use filestone_wire::tbench::MESSAGE_MAX;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

const DATA: [u8; 3] = *b"abc";

fn site(address: SocketAddr, timeout: Duration) -> TcpSite {
    let options = TcpOptions {
        timeout_nanos: timeout.as_nanos() as u64,
        ..TcpOptions::default()
    };
    TcpSite::claim(address, options).unwrap()
}

fn patient(address: SocketAddr) -> TcpSite {
    site(address, Duration::from_secs(60))
}

const WRITE: LoadAction<'_> = LoadAction::WriteX {
    handle: 1,
    offset: 0,
    len: 65_536,
    expected_len: 65_536,
};

const CLOSE: LoadAction<'_> = LoadAction::Close { handle: 1 };

fn read(expected_len: u64) -> LoadAction<'static> {
    LoadAction::ReadX {
        handle: 1,
        offset: 0,
        len: expected_len,
        expected_len,
    }
}

/// Starts a peer that handles its only connection with `talk`.
fn peer(talk: impl FnOnce(TcpStream) + Send + 'static) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || talk(listener.accept().unwrap().0));
    (address, thread)
}

/// The peer's side of the handshake.
fn handshake(stream: &mut TcpStream) {
    let mut hello = [0; 8];
    stream.read_exact(&mut hello).unwrap();
    assert_eq!(hello, [0, 0, 0, 4, 0, 0, 0, 4]);
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0]).unwrap();
}

/// Reads until the other end closes the connection.
fn drain(mut stream: TcpStream) {
    let mut room = [0; 4096];
    while stream.read(&mut room).is_ok_and(|len| len > 0) {}
}

#[test]
fn both_ends_count_the_same_over_ipv4_and_ipv6() {
    let server = TbenchServer::start(&TbenchOptions::default()).unwrap();
    let (mut sent, mut received, mut calls) = (0, 0, 0);
    for address in server.addresses() {
        let site = patient(*address);
        assert!(site.target().local);
        let mut layer = site.layer(0).unwrap();
        // The handshake.
        (sent, received, calls) = (sent + 8, received + 8, calls + 1);
        for action in [
            CLOSE,
            WRITE,
            read(0),
            read(1989),
            read(1990),
            read(61_440),
            read(1 << 20),
            LoadAction::Unlink {
                path: b"clients/client0/a",
            },
            LoadAction::WriteX {
                handle: 1,
                offset: 0,
                len: 16 << 20,
                expected_len: 0,
            },
        ] {
            let reply = layer.execute(&action, &DATA).unwrap();
            assert_eq!((reply.status, reply.calls), (ActionStatus::Unknown, 1));
            sent += u64::from(reply.bytes_sent);
            received += u64::from(reply.bytes_received);
            calls += 1;
        }
        layer.end_pass().unwrap();
        site.clean_up(0, &mut layer).unwrap();
        site.release(TreeCleanup::Remove).unwrap();
    }
    let counters = server.stop();
    assert_eq!(counters.bytes_received, sent);
    assert_eq!(counters.bytes_sent, received);
    assert_eq!(counters.exchanges, calls);
    assert_eq!((counters.refused, counters.broken), (0, 0));
}

#[test]
fn nothing_is_sent_for_what_has_no_messages() {
    let server = TbenchServer::start(&TbenchOptions::default()).unwrap();
    let mut layer = patient(server.address()).layer(0).unwrap();
    let refused = LayerReply::of(ActionStatus::Refused(Cause::Other));
    for (action, reply) in [
        (
            LoadAction::Deltree { path: b"clients" },
            LayerReply::of(ActionStatus::Unknown),
        ),
        (LoadAction::FileSystemStatus, refused),
        (LoadAction::GetAttr { path: b"a" }, refused),
        (read(u64::MAX), refused),
        (read(MESSAGE_MAX.into()), refused),
    ] {
        assert_eq!(layer.execute(&action, &DATA).unwrap(), reply);
    }
    drop(layer);
    assert_eq!(server.stop().exchanges, 1, "the handshake");
}

#[test]
fn long_data_are_sent_as_they_are_and_short_data_over_and_over() {
    for data in [b"abc".to_vec(), (0..=250).cycle().take(100_000).collect()] {
        let expected = data.clone();
        let (address, thread) = peer(move |mut stream| {
            handshake(&mut stream);
            let mut request = vec![0; 59 + 65_536];
            stream.read_exact(&mut request).unwrap();
            let data: Vec<u8> = expected
                .into_iter()
                .cycle()
                .take(request.len() - 8)
                .collect();
            assert!(request[8..] == data, "the padding is the data");
            stream.write_all(&51_u32.to_be_bytes()).unwrap();
            stream.write_all(&[0; 51]).unwrap();
        });
        let mut layer = patient(address).layer(0).unwrap();
        assert_eq!(layer.execute(&WRITE, &data).unwrap().data_bytes, 65_536);
        thread.join().unwrap();
    }
}

#[test]
fn data_that_change_are_sent_as_they_are_now() {
    const PATTERNS: [&[u8]; 3] = [b"abc", b"xyz", b"xyzxyz+"];
    let (address, thread) = peer(move |mut stream| {
        handshake(&mut stream);
        for pattern in PATTERNS {
            let mut request = vec![0; 59 + 65_536];
            stream.read_exact(&mut request).unwrap();
            let expected = pattern.iter().cycle();
            assert!(request[8..].iter().eq(expected.take(request.len() - 8)));
            stream.write_all(&51_u32.to_be_bytes()).unwrap();
            stream.write_all(&[0; 51]).unwrap();
        }
    });
    let mut layer = patient(address).layer(0).unwrap();
    for pattern in PATTERNS {
        assert!(layer.execute(&WRITE, pattern).is_ok());
    }
    thread.join().unwrap();
}

#[test]
fn nobody_at_that_port_is_said_so() {
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let error = patient(gone).layer(0).unwrap_err();
    assert!(error.to_string().contains("cannot connect: "), "{error}");
    assert_eq!(error.category(), ErrorCategory::Target);
    assert!(error.help().unwrap().contains("filestone serve --tbench"));
}

#[test]
fn what_speaks_another_protocol_is_quoted() {
    let (address, thread) = peer(|mut stream| {
        stream.write_all(b"HTTP/1.0 400 Bad Request\r\n").unwrap();
        drain(stream);
    });
    let error = patient(address).layer(0).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{address}: what answers there does not speak tbench: it sent \"HTTP/1.0\"")
    );
    assert_eq!(error.category(), ErrorCategory::Target);
    thread.join().unwrap();
}

#[test]
fn what_stays_silent_or_hangs_up_is_no_peer() {
    let (address, thread) = peer(drain);
    let error = site(address, Duration::from_millis(20))
        .layer(0)
        .unwrap_err();
    let silent = "does not speak tbench: it sent nothing for 20ms";
    assert!(error.to_string().ends_with(silent), "{error}");
    thread.join().unwrap();
    let (address, thread) = peer(drop);
    let error = patient(address).layer(0).unwrap_err();
    let gone = "does not speak tbench: it closed the connection";
    assert!(error.to_string().ends_with(gone), "{error}");
    thread.join().unwrap();
}

#[test]
fn a_peer_that_falls_silent_costs_its_client() {
    let (address, thread) = peer(|mut stream| {
        handshake(&mut stream);
        // Half a reply.
        stream.write_all(&[0, 0]).unwrap();
        drain(stream);
    });
    let site = site(address, Duration::from_secs(1));
    let mut layer = site.layer(0).unwrap();
    let lost = layer.execute(&CLOSE, &DATA).unwrap_err();
    assert_eq!(lost.to_string(), format!("{address}: no answer within 1s"));
    drop(layer);
    thread.join().unwrap();
}

#[test]
fn a_peer_that_takes_nothing_costs_its_client() {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let (address, thread) = peer(move |mut stream| {
        handshake(&mut stream);
        let _ = wait.recv();
    });
    let mut layer = site(address, Duration::from_secs(1)).layer(0).unwrap();
    let write = LoadAction::WriteX {
        handle: 1,
        offset: 0,
        len: 16 << 20,
        expected_len: 16 << 20,
    };
    let lost = layer.execute(&write, &DATA).unwrap_err();
    assert!(lost.to_string().ends_with("no answer within 1s"), "{lost}");
    drop(done);
    thread.join().unwrap();
}

#[test]
fn a_peer_that_hangs_up_in_the_middle_is_told_with_the_lengths() {
    let (address, thread) = peer(|mut stream| {
        handshake(&mut stream);
        stream.read_exact(&mut [0; 59]).unwrap();
        stream.write_all(&(65_536_u32 + 55).to_be_bytes()).unwrap();
        stream.write_all(&[0; 1000]).unwrap();
    });
    let mut layer = patient(address).layer(0).unwrap();
    let lost = layer.execute(&read(65_536), &DATA).unwrap_err();
    assert_eq!(
        lost.to_string(),
        format!("{address}: the peer closed the connection in an exchange of 59 bytes for 65595")
    );
    thread.join().unwrap();
}

#[test]
fn a_reply_of_another_length_is_out_of_step() {
    for expected_len in [0, 65_536] {
        let (address, thread) = peer(|mut stream| {
            handshake(&mut stream);
            stream.read_exact(&mut [0; 59]).unwrap();
            stream.write_all(&[0xff; 100]).unwrap();
            drain(stream);
        });
        let mut layer = patient(address).layer(0).unwrap();
        let lost = layer.execute(&read(expected_len), &DATA).unwrap_err();
        let got = "bytes was to come, and one of 4294967299 did";
        assert!(lost.to_string().ends_with(got), "{lost}");
        drop(layer);
        thread.join().unwrap();
    }
}

#[test]
fn options_of_the_socket_are_set_and_a_timeout_among_them_counts() {
    let (address, thread) = peer(|mut stream| {
        handshake(&mut stream);
        drain(stream);
    });
    let options = TcpOptions {
        socket_options: "SO_RCVTIMEO=1 TCP_NODELAY".parse().unwrap(),
        ..TcpOptions::default()
    };
    let mut layer = TcpSite::claim(address, options).unwrap().layer(0).unwrap();
    let lost = layer.execute(&CLOSE, &DATA).unwrap_err();
    assert!(lost.to_string().ends_with("no answer within 1s"), "{lost}");
    drop(layer);
    thread.join().unwrap();
}

#[test]
fn port_0_is_no_peer() {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let error = TcpSite::claim(address, TcpOptions::default()).unwrap_err();
    assert_eq!(error.category(), ErrorCategory::Usage);
}

#[test]
fn a_plan_with_an_unknown_socket_option_is_refused() {
    let planned = |socket_options: &str| {
        let replay = TcpReplay {
            prefix: ".".into(),
            socket_options: socket_options.into(),
        };
        TcpOptions::planned(&replay, Generation::Cifs, 60_000_000_000)
    };
    let default = planned("TCP_NODELAY SO_REUSEADDR").unwrap();
    assert_eq!(default, TcpOptions::default());
    let error = planned("TCP_QUICK").unwrap_err();
    assert_eq!(error.category(), ErrorCategory::Usage);
    assert!(
        error.to_string().contains("called TCP_QUICK; there are"),
        "{error}"
    );
}
