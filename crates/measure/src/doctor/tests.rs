use super::facts::*;
use super::*;
use crate::measure::run_record::InterfaceRecord;

const GIB: u64 = 1 << 30;

/// Facts of a well-configured host and of a file server in the same network.
fn healthy() -> Facts {
    Facts {
        host: healthy_host(),
        target: Some(healthy_target()),
    }
}

fn healthy_host() -> HostFacts {
    HostFacts {
        is_debug_build: Some(false),
        processors: Some(ProcessorFacts {
            online: 8,
            allowed: 8,
        }),
        processor_quota: Some(ProcessorQuota::Unlimited),
        frequency: Some(FrequencyFacts {
            governors: vec!["performance".into()],
            driver: Some("acpi-cpufreq".into()),
        }),
        clock: Some(ClockFacts {
            source: Some("tsc".into()),
            reads_counter: true,
            read_ns: 11.0,
            step_ns: 10.0,
        }),
        open_files: Some(OpenFileFacts {
            soft: 1024,
            hard: 524_288,
            clients: 524_224,
        }),
        local_ports: Some(28_232),
        reserved_ports: Some(ReservedPortFacts {
            count: 424,
            are_allowed: true,
        }),
        socket_buffers: Some(SocketBufferFacts {
            stream_receive_bytes: 6 << 20,
            stream_send_bytes: 4 << 20,
            receive_bytes: 212_992,
            send_bytes: 212_992,
        }),
        memory: Some(MemoryFacts {
            total_bytes: 16 * GIB,
            available_bytes: 12 * GIB,
            swap_total_bytes: 2 * GIB,
            swap_used_bytes: GIB / 64,
        }),
        look: Some(healthy_look()),
    }
}

fn healthy_look() -> ActivityFacts {
    ActivityFacts {
        elapsed_ns: 500_000_000,
        processors: 8,
        others_percent: Some(3.0),
        busiest: vec![ProgramShare {
            name: "sshd".into(),
            process: 812,
            percent: 2.0,
        }],
        stolen_percent: Some(0.0),
        swapped_pages: Some(0),
        traffic: Some(vec![InterfaceTraffic {
            interface: "eth0".into(),
            packets_per_s: 12.0,
            bytes_per_s: 900.0,
        }]),
        wake_up: Some(WakeUpFacts {
            count: 470,
            p50_ns: 55_000,
            p99_ns: 81_000,
            max_ns: 140_000,
        }),
        load_average: Some(0.31),
    }
}

fn server_interface(rss: bool) -> InterfaceRecord {
    InterfaceRecord {
        address: "10.0.0.5".into(),
        link_bits_per_s: 10_000_000_000,
        rss,
        rdma: false,
    }
}

fn healthy_target() -> TargetFacts {
    let service = |name: &str, port| ServiceFacts {
        name: name.into(),
        port: Some(port),
        needed_for: "locks of loads (--enable-nlm)".into(),
    };
    TargetFacts {
        name: "nfs://server/export".into(),
        way: Some(NetworkPathFacts {
            address: "10.0.0.5".into(),
            is_this_host: false,
            place: SameHostEvidence::NotKnownHere,
            interface: Some("eth0".into()),
            mtu_bytes: Some(1500),
            path_mtu_bytes: Some(1500),
            gateway: None,
            link_mbit_per_s: Some(10_000),
            is_wireless: false,
        }),
        connect: RoundTrips::of(vec![90_000, 110_000, 100_000]),
        call: RoundTrips::of(vec![80_000, 95_000, 85_000]),
        services: vec![service("NFS 3", 2049), service("NLM 4", 4045)],
        programs: Some(vec![ProgramFacts {
            number: 100_003,
            name: Some("NFS".into()),
            versions: vec![3, 4],
        }]),
        channels: Some(ChannelFacts {
            refusal: None,
            interfaces: vec![server_interface(true), server_interface(false)],
        }),
        transfers: Some(TransferFacts {
            read_max_bytes: 1 << 20,
            read_preferred_bytes: 1 << 17,
            write_max_bytes: 1 << 20,
            write_preferred_bytes: 1 << 17,
        }),
        names: Some(NameFacts {
            length_max: 255,
            links_max: 32_000,
            is_case_insensitive: false,
            time_step_ns: 1,
        }),
        rights: Some(RightsFacts {
            user: 1000,
            may_read: true,
            may_change: true,
        }),
        space: Some(SpaceFacts {
            total_bytes: 100 * GIB,
            available_bytes: 60 * GIB,
            available_files: Some(5_000_000),
        }),
        file_system: Some(FileSystemFacts {
            kind: "ext4".into(),
            source: Some("/dev/sda1".into()),
            mount_point: "/srv".into(),
            options: vec!["rw".into(), "relatime".into()],
            medium: FileMedium::Storage,
        }),
        ..TargetFacts::default()
    }
}

/// A rule, a fact just within its limit, and one beyond it.
struct Case {
    id: &'static str,
    holds: fn(&mut HostFacts, &mut TargetFacts),
    fails: fn(&mut HostFacts, &mut TargetFacts),
    level: FindingLevel,
}

fn case(
    id: &'static str,
    level: FindingLevel,
    holds: fn(&mut HostFacts, &mut TargetFacts),
    fails: fn(&mut HostFacts, &mut TargetFacts),
) -> Case {
    Case {
        id,
        holds,
        fails,
        level,
    }
}

macro_rules! known {
    ($field:expr) => {
        $field.as_mut().expect("the healthy host knows it")
    };
}

fn host_cases() -> Vec<Case> {
    use FindingLevel::{Note, Problem, Warning};
    vec![
        case(
            "build",
            Warning,
            |_, _| {},
            |host, _| host.is_debug_build = Some(true),
        ),
        case(
            "processors",
            Note,
            |host, _| known!(host.processors).allowed = 2,
            |host, _| known!(host.processors).allowed = 1,
        ),
        case(
            "affinity",
            Note,
            |_, _| {},
            |host, _| known!(host.processors).allowed = 7,
        ),
        case(
            "processor-quota",
            Warning,
            |host, _| host.processor_quota = Some(ProcessorQuota::Processors(8.0)),
            |host, _| host.processor_quota = Some(ProcessorQuota::Processors(7.5)),
        ),
        case(
            "frequency-governor",
            Warning,
            |_, _| {},
            |host, _| known!(host.frequency).governors = vec!["powersave".into()],
        ),
        case(
            "clock",
            Warning,
            |host, _| known!(host.clock).read_ns = 50.0,
            |host, _| {
                host.clock = Some(ClockFacts {
                    source: Some("acpi_pm".into()),
                    reads_counter: false,
                    read_ns: 900.0,
                    step_ns: 280.0,
                });
            },
        ),
        case(
            "memory",
            Warning,
            |host, _| known!(host.memory).available_bytes = 16 * GIB / 20 + 1,
            |host, _| known!(host.memory).available_bytes = 16 * GIB / 21,
        ),
        case(
            "swap",
            Note,
            |host, _| known!(host.memory).swap_used_bytes = GIB,
            |host, _| known!(host.memory).swap_used_bytes = 2 * GIB,
        ),
        case(
            "open-files",
            Note,
            |host, _| known!(host.open_files).clients = 1000,
            |host, _| {
                let files = known!(host.open_files);
                (files.hard, files.clients) = (1024, 960);
            },
        ),
        case(
            "local-ports",
            Note,
            |host, _| host.local_ports = Some(10_000),
            |host, _| host.local_ports = Some(9_999),
        ),
        case(
            "reserved-ports",
            Problem,
            |_, _| {},
            |host, target| {
                known!(host.reserved_ports).are_allowed = false;
                target.wants_reserved_ports = true;
            },
        ),
        case(
            "socket-buffers",
            Warning,
            |host, _| known!(host.socket_buffers).stream_send_bytes = 1 << 20,
            |host, _| known!(host.socket_buffers).stream_send_bytes = (1 << 20) - 1024,
        ),
        case(
            "datagram-buffers",
            Warning,
            |host, target| {
                let buffers = known!(host.socket_buffers);
                (buffers.receive_bytes, buffers.send_bytes) = (4 << 20, 4 << 20);
                target.uses_datagrams = true;
            },
            |_, target| target.uses_datagrams = true,
        ),
    ]
}

fn look_cases() -> Vec<Case> {
    use FindingLevel::{Note, Warning};
    vec![
        case(
            "wake-up",
            Warning,
            |host, _| known!(known!(host.look).wake_up).p50_ns = 100_000,
            |host, _| known!(known!(host.look).wake_up).p50_ns = 101_000,
        ),
        case(
            "other-programs",
            Warning,
            |host, _| known!(host.look).others_percent = Some(39.0),
            |host, _| known!(host.look).others_percent = Some(40.0),
        ),
        case(
            "stolen-time",
            Warning,
            |host, _| known!(host.look).stolen_percent = Some(15.0),
            |host, _| known!(host.look).stolen_percent = Some(16.0),
        ),
        case(
            "load-average",
            Note,
            |host, _| known!(host.look).load_average = Some(8.0),
            |host, _| known!(host.look).load_average = Some(8.1),
        ),
        case(
            "traffic",
            Warning,
            |host, _| known!(known!(host.look).traffic)[0].packets_per_s = 999.0,
            |host, _| known!(known!(host.look).traffic)[0].packets_per_s = 25_000.0,
        ),
        case(
            "swapping",
            Warning,
            |host, _| known!(host.look).swapped_pages = Some(15),
            |host, _| known!(host.look).swapped_pages = Some(16),
        ),
    ]
}

fn way_cases() -> Vec<Case> {
    use FindingLevel::{Note, Warning};
    vec![
        case(
            "loopback",
            Warning,
            |_, _| {},
            |_, target| known!(target.way).is_this_host = true,
        ),
        case(
            "route",
            Note,
            |_, _| {},
            |_, target| known!(target.way).gateway = Some("10.0.0.1".into()),
        ),
        case(
            "mtu",
            Note,
            |_, _| {},
            |_, target| known!(target.way).path_mtu_bytes = Some(1420),
        ),
        case(
            "link",
            Warning,
            |_, target| known!(target.way).link_mbit_per_s = Some(1000),
            |_, target| known!(target.way).link_mbit_per_s = Some(100),
        ),
        case(
            "connect-time",
            Note,
            |_, target| target.connect = RoundTrips::of(vec![2_000_000]),
            |_, target| target.connect = RoundTrips::of(vec![2_000_001]),
        ),
        case(
            "round-trip",
            Note,
            |_, target| target.call = RoundTrips::of(vec![2_000_000]),
            |_, target| target.call = RoundTrips::of(vec![20_000_000]),
        ),
    ]
}

fn target_cases() -> Vec<Case> {
    use FindingLevel::{Note, Problem, Warning};
    vec![
        case(
            "target",
            Problem,
            |_, _| {},
            |_, target| {
                target.failure = Some(TargetFailure {
                    what: "10.0.0.5:2049: cannot connect: connection refused (111)".into(),
                    help: Some("is the server running, and is this its port?".into()),
                    is_unreachable: true,
                });
            },
        ),
        case(
            "services",
            Note,
            |_, _| {},
            |_, target| {
                target.services[1].port = None;
                target.programs = None;
            },
        ),
        case(
            "server-interfaces",
            Note,
            |_, target| known!(target.channels).interfaces.clear(),
            |_, target| {
                let channels = known!(target.channels);
                channels.interfaces = vec![server_interface(true); 10];
                channels.refusal = Some(ChannelRefusal {
                    why: "the server offers one connection for a session (no multichannel)".into(),
                    help: "have the server offer multichannel".into(),
                });
            },
        ),
        case(
            "transfer-sizes",
            Note,
            |_, target| known!(target.transfers).write_max_bytes = 131_072,
            |_, target| known!(target.transfers).write_max_bytes = 65_536,
        ),
        case(
            "names",
            Note,
            |_, target| known!(target.names).links_max = 2,
            |_, target| known!(target.names).is_case_insensitive = true,
        ),
        case(
            "rights",
            Note,
            |_, _| {},
            |_, target| {
                target.rights = Some(RightsFacts {
                    user: 0,
                    may_read: true,
                    may_change: false,
                });
            },
        ),
        case(
            "durability",
            Note,
            |_, _| {},
            |_, target| target.durability_is_untold = true,
        ),
        case(
            "file-system",
            Note,
            |_, _| {},
            |_, target| known!(target.file_system).medium = FileMedium::Memory,
        ),
        case(
            "mount-options",
            Problem,
            |_, target| known!(target.file_system).options.push("noatime".into()),
            |_, target| known!(target.file_system).options = vec!["ro".into()],
        ),
        case(
            "free-space",
            Warning,
            |_, target| known!(target.space).available_bytes = GIB / 4,
            |_, target| known!(target.space).available_bytes = GIB / 4 - 1024,
        ),
        case(
            "free-files",
            Note,
            |_, target| known!(target.space).available_files = Some(100_000),
            |_, target| known!(target.space).available_files = Some(99_999),
        ),
    ]
}

fn cases() -> Vec<Case> {
    [host_cases(), look_cases(), way_cases(), target_cases()]
        .into_iter()
        .flatten()
        .collect()
}

fn changed(change: fn(&mut HostFacts, &mut TargetFacts)) -> Facts {
    let mut facts = healthy();
    let target = facts.target.as_mut().expect("a target");
    change(&mut facts.host, target);
    facts
}

fn finding(facts: Facts, id: &str) -> Option<Finding> {
    let findings = Diagnosis::of(facts).findings;
    findings.into_iter().find(|finding| finding.id == id)
}

#[test]
fn a_host_that_measures_well_gives_nothing_but_ok() {
    let diagnosis = Diagnosis::of(healthy());
    assert_eq!(diagnosis.worst(), FindingLevel::Ok, "{diagnosis:#?}");
    assert_eq!(diagnosis.unknown, Vec::<String>::new());
    assert!(
        diagnosis
            .findings
            .iter()
            .all(|finding| finding.consequence.is_none() && finding.fix.is_none())
    );
}

#[test]
fn every_rule_has_a_fixture_that_holds_and_one_that_fails() {
    let cases = cases();
    for rule in RULES {
        assert!(cases.iter().any(|case| case.id == rule.id), "{}", rule.id);
    }
    for case in cases {
        let id = case.id;
        let held = finding(changed(case.holds), id).map(|finding| finding.level);
        // Without a fact to report there is no finding.
        let expected = (id != "durability").then_some(FindingLevel::Ok);
        assert_eq!(held, expected, "{id} holds");
        let failed = finding(changed(case.fails), id).expect(id);
        assert_eq!(failed.level, case.level, "{id} fails");
        assert!(failed.consequence.is_some(), "{id} says what it does");
    }
}

#[test]
fn what_each_rule_says_when_it_fails() {
    let mut text = String::new();
    for rule in RULES {
        let cases = cases();
        let case = cases.iter().find(|case| case.id == rule.id).expect(rule.id);
        let finding = finding(changed(case.fails), rule.id).expect(rule.id);
        let Finding { id, found, .. } = finding;
        text.push_str(&format!("{} {id}: {found}\n", finding.level.name()));
        text.extend(finding.consequence.map(|line| format!("    {line}\n")));
        if let Some(fix) = finding.fix {
            text.push_str(&format!("    fix: {}\n", fix.what));
            text.extend(fix.command.map(|line| format!("        {line}\n")));
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_not_known_is_neither_well_nor_wrong() {
    let diagnosis = Diagnosis::of(Facts::default());
    assert_eq!(diagnosis.findings, vec![]);
    let of_host = RULES.iter().filter(|rule| rule.is_of_host());
    assert_eq!(diagnosis.unknown.len(), of_host.count());
    // A virtual machine without a governor, and an interface without a speed.
    let mut facts = healthy();
    facts.host.frequency = None;
    known!(known!(facts.target).way).link_mbit_per_s = None;
    let diagnosis = Diagnosis::of(facts);
    assert_eq!(diagnosis.unknown, ["frequency-governor"]);
    assert_eq!(diagnosis.worst(), FindingLevel::Ok);
}

#[test]
fn usual_circumstances_are_no_warnings() {
    let usual: [fn(&mut HostFacts, &mut TargetFacts); 6] = [
        // A laptop, whose CPU selects its frequency itself.
        |host, _| {
            host.frequency = Some(FrequencyFacts {
                governors: vec!["powersave".into()],
                driver: Some("intel_pstate".into()),
            });
        },
        |host, _| known!(host.frequency).governors = vec!["schedutil".into()],
        // Not root.
        |host, _| known!(host.reserved_ports).are_allowed = false,
        // A tunnel.
        |_, target| {
            let way = known!(target.way);
            (way.mtu_bytes, way.path_mtu_bytes) = (Some(1460), Some(1460));
        },
        // A directory of another user.
        |_, target| known!(target.rights).may_change = false,
        |_, target| {
            target.services[1].port = None;
            target.programs = None;
        },
    ];
    for change in usual {
        let diagnosis = Diagnosis::of(changed(change));
        assert_eq!(diagnosis.worst(), FindingLevel::Note, "{diagnosis:#?}");
    }
}

#[test]
fn names_of_others_bring_no_control_characters_and_no_commands() {
    let facts = changed(|host, _| {
        let look = known!(host.look);
        look.others_percent = Some(90.0);
        look.busiest[0].name = "\u{1b}[2Ja\nb".into();
    });
    let found = finding(facts, "other-programs").expect("it is known").found;
    assert!(!found.contains(char::is_control), "{found:?}");
    let facts = changed(|_, target| {
        let file_system = known!(target.file_system);
        file_system.options = vec!["ro".into()];
        file_system.mount_point = "/mnt/a b;reboot".into();
    });
    let fix = finding(facts, "mount-options").and_then(|finding| finding.fix);
    assert_eq!(
        fix.and_then(|fix| fix.command).as_deref(),
        Some("sudo mount -o remount,rw '/mnt/a b;reboot'")
    );
}

#[test]
fn of_no_file_that_may_be_opened_no_run_can_be_made() {
    let facts = changed(|host, _| known!(host.open_files).clients = 0);
    let finding = finding(facts, "open-files").expect("it is known");
    assert_eq!(finding.level, FindingLevel::Problem);
}

#[test]
fn interfaces_of_a_server_are_shown_with_what_they_can() {
    let said = |facts| {
        finding(facts, "server-interfaces")
            .expect("it is known")
            .found
    };
    assert_eq!(
        said(changed(|_, _| {})),
        "multichannel is offered; 10.0.0.5 at 10,000 Mbit/s with RSS; 10.0.0.5 at 10,000 Mbit/s"
    );
    let none = said(changed(|_, target| {
        known!(target.channels).interfaces.clear()
    }));
    assert_eq!(
        none,
        "multichannel is offered; the server names no interface"
    );
    let many = said(changed(|_, target| {
        known!(target.channels).interfaces = vec![server_interface(true); 10];
    }));
    assert!(many.ends_with("with RSS; 2 more"), "{many}");
}

#[test]
fn round_trips_are_told_by_their_median() {
    let times = RoundTrips::of(vec![5, 1, 9]).expect("three");
    assert_eq!((times.min_ns, times.p50_ns, times.max_ns), (1, 5, 9));
    assert_eq!(RoundTrips::of(vec![]), None);
}
