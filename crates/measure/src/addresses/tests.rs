//! Tests of creating and removing addresses on a simulated host that applies each change.

use super::advice::{AddressWarning, for_servers, summary, warnings};
use super::*;

/// A host with an address, a gateway, and a MAC-VLAN, an alias and a rule that filestone did not
/// create.
fn host() -> AddressListing {
    let link = |index, name: &str| ListedLink {
        index,
        name: name.into(),
        is_up: true,
        ..ListedLink::default()
    };
    let lo = ListedLink {
        is_loopback: true,
        ..link(1, "lo")
    };
    let foreign = ListedLink {
        mac_vlan: Some(MacVlanOf {
            parent: 2,
            mode: Some(MacVlanMode::Bridge),
        }),
        ..link(3, "other0")
    };
    AddressListing {
        links: vec![lo, link(2, "eth0"), foreign],
        addresses: vec![
            listed(1, "127.0.0.1", 8, Some(1)),
            listed(2, "192.0.2.7", 24, None),
            listed(2, "fe80::7", 64, Some(3)),
            listed(3, "192.0.2.8", 32, None),
        ],
        routes: vec![
            route(254, "0.0.0.0/0", 2, Some("192.0.2.1")),
            route(255, "192.0.2.7/32", 2, None),
        ],
        rules: vec![ListedRule {
            source: Some(network("192.0.2.8/32")),
            table: 7,
            priority: RULE_PRIORITY,
            protocol: 3,
        }],
        keeps_protocols: true,
        arp_ignore_all: 0,
        neighbours_max: Some(1024),
    }
}

fn listed(link: u32, address: &str, prefix_len: u8, protocol: Option<u8>) -> ListedAddress {
    ListedAddress {
        link,
        address: address.parse().expect("an address"),
        prefix_len,
        protocol,
    }
}

fn network(text: &str) -> Network {
    text.parse().expect("a network")
}

fn route(table: u32, to: &str, link: u32, gateway: Option<&str>) -> ListedRoute {
    ListedRoute {
        table,
        destination: network(to),
        link: Some(link),
        gateway: gateway.map(|gateway| gateway.parse().expect("an address")),
        protocol: 3,
        is_local: table == LOCAL_TABLE,
    }
}

/// Applies a change as a kernel would.
fn change(host: &mut AddressListing, change: &AddressChange) {
    let index = |host: &AddressListing, name: &str| host.link(name).expect(name).index;
    match change {
        AddressChange::AddMacVlan {
            name, parent, mode, ..
        } => {
            assert!(host.link(name).is_none(), "{name} is there");
            let last = host.links.iter().map(|link| link.index).max().unwrap_or(0);
            host.links.push(ListedLink {
                index: last + 1,
                name: name.clone(),
                group: LINK_GROUP,
                mac_vlan: Some(MacVlanOf {
                    parent: index(host, parent),
                    mode: Some(*mode),
                }),
                ..ListedLink::default()
            });
        }
        AddressChange::SetUp { link, .. } => {
            let link = host.links.iter_mut().find(|own| own.name == *link);
            link.expect("it is there").is_up = true;
        }
        AddressChange::Add(item) => add(host, item),
        AddressChange::Remove(item) => remove(host, item),
        AddressChange::RemoveMacVlan { name } => {
            let link = index(host, name);
            remove_links(host, |own| own.index == link);
        }
        AddressChange::RemoveAllMacVlans { .. } => {
            remove_links(host, |own| own.group == LINK_GROUP);
        }
    }
}

fn add(host: &mut AddressListing, item: &AddressItem) {
    match item {
        AddressItem::Address { link, address } => {
            let link = host.link(link).expect("it is there").index;
            let len = Network::single(*address).prefix_len();
            let text = address.to_string();
            host.addresses
                .push(listed(link, &text, len, Some(PROTOCOL)));
        }
        AddressItem::Route {
            table,
            destination,
            link,
            gateway,
        } => {
            let link = host.link(link).expect("it is there");
            assert!(link.is_up, "a route by {} needs it up", link.name);
            host.routes.push(ListedRoute {
                table: *table,
                destination: *destination,
                link: Some(link.index),
                gateway: *gateway,
                protocol: PROTOCOL,
                is_local: *table == LOCAL_TABLE,
            });
        }
        AddressItem::Rule { source, table } => host.rules.push(ListedRule {
            source: Some(Network::single(*source)),
            table: *table,
            priority: RULE_PRIORITY,
            protocol: PROTOCOL,
        }),
    }
}

fn remove(host: &mut AddressListing, item: &AddressItem) {
    match item {
        AddressItem::Address { link, address } => {
            let link = host.link(link).expect("it is there").index;
            let is_it = |own: &ListedAddress| own.link == link && own.address == *address;
            host.addresses.retain(|own| !is_it(own));
        }
        AddressItem::Route {
            table, destination, ..
        } => host.routes.retain(|own| {
            own.table != *table || own.destination != *destination || own.protocol != PROTOCOL
        }),
        AddressItem::Rule { source, table } => {
            let source = Some(Network::single(*source));
            let is_it = |own: &ListedRule| own.source == source && own.table == *table;
            host.rules
                .retain(|own| !is_it(own) || own.protocol != PROTOCOL);
        }
    }
}

/// Removes links with their addresses and routes, but not their rules.
fn remove_links(host: &mut AddressListing, is_gone: impl Fn(&ListedLink) -> bool) {
    let (gone, kept) = std::mem::take(&mut host.links)
        .into_iter()
        .partition(|link| is_gone(link));
    host.links = kept;
    let gone: Vec<ListedLink> = gone;
    let is_of = |index: u32| gone.iter().any(|link| link.index == index);
    host.addresses.retain(|own| !is_of(own.link));
    host.routes.retain(|own| !own.link.is_some_and(is_of));
}

fn mac_vlans(gateway: Option<&str>) -> AddressMethod {
    AddressMethod::MacVlans {
        parent: "eth0".into(),
        mode: MacVlanMode::Bridge,
        gateway: gateway.map(|gateway| gateway.parse().expect("an address")),
    }
}

fn aliases() -> AddressMethod {
    AddressMethod::Aliases {
        link: "eth0".into(),
    }
}

fn group(text: &str, method: AddressMethod) -> AddressGroup {
    AddressGroup::parse(text, method).expect(text)
}

fn made(
    group: &AddressGroup,
    host: &AddressListing,
) -> Result<Vec<AddressChange>, AddressObstacle> {
    to_make(group, &MacVlanNaming::default(), host)
}

fn up(group: &AddressGroup, host: &AddressListing) -> AddressListing {
    let mut after = host.clone();
    let changes = made(group, host).expect("nothing is in the way");
    changes.iter().for_each(|one| change(&mut after, one));
    after
}

/// Groups used by the tests below.
fn every_group() -> Vec<AddressGroup> {
    vec![
        group("10.9.0.0/16,10.7.0.1-10.7.0.6", AddressMethod::Route),
        group("10.9.0.1-10.9.0.3,fd00::5", aliases()),
        group("192.0.2.20-192.0.2.22,fd00::5", mac_vlans(None)),
        group("192.0.2.20-192.0.2.21", mac_vlans(Some("192.0.2.1"))),
    ]
}

#[test]
fn what_was_made_is_removed_wherever_making_it_was_broken_off() {
    for group in every_group() {
        let changes = made(&group, &host()).expect("nothing is in the way");
        let whole = up(&group, &host());
        for broken_off in 0..=changes.len() {
            let mut half = host();
            changes[..broken_off]
                .iter()
                .for_each(|one| change(&mut half, one));
            let mut after = half.clone();
            let removals = to_remove(&half);
            removals.iter().for_each(|one| change(&mut after, one));
            assert_eq!(after, host(), "{group:?} after {broken_off} changes");

            // Removal may be interrupted, too.
            for broken_off in 0..removals.len() {
                let mut after = half.clone();
                removals[..broken_off]
                    .iter()
                    .for_each(|one| change(&mut after, one));
                let rest = to_remove(&after);
                rest.iter().for_each(|one| change(&mut after, one));
                assert_eq!(after, host(), "{group:?} after {broken_off} removals");
            }

            // Alternatively, creation is completed.
            let completed = up(&group, &half);
            assert_eq!(made(&group, &completed), Ok(vec![]), "{group:?}");
            let (own, wanted) = (OwnedAddresses::of(&completed), OwnedAddresses::of(&whole));
            assert_eq!(own.aliases, wanted.aliases);
            assert_eq!(own.routes, wanted.routes);
            assert!(own.mac_vlans.iter().all(|own| own.is_whole), "{own:?}");
            assert_eq!(own.mac_vlans.len(), wanted.mac_vlans.len());
        }
    }
}

#[test]
fn what_is_there_already_is_not_made_again() {
    for group in every_group() {
        let after = up(&group, &host());
        assert_eq!(made(&group, &after), Ok(vec![]), "{group:?}");
    }
    let first = group("192.0.2.20-192.0.2.22", mac_vlans(None));
    let after = up(&first, &host());
    let more = group("192.0.2.21-192.0.2.23", mac_vlans(None));
    let changes = made(&more, &after).expect("one more");
    let texts: Vec<String> = changes.iter().map(ToString::to_string).collect();
    assert_eq!(changes.len(), 5, "{texts:?}");
    assert!(
        texts[0].starts_with("ip link add fsm3 link eth0 "),
        "{texts:?}"
    );
}

#[test]
fn changes_are_the_commands_that_would_do_the_same() {
    let mut text = String::new();
    for group in every_group() {
        let after = up(&group, &host());
        text += &format!("{}\n", summary(&group));
        for change in made(&group, &host()).expect("nothing is in the way") {
            text += &format!("  {change}\n");
        }
        text += &format!("{}\ndown\n", for_servers(&group, &host()));
        for change in to_remove(&after) {
            text += &format!("  {change}\n");
        }
        text += "\n";
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_link_of_others_in_our_group_is_not_removed_with_ours() {
    let mut host = up(&group("192.0.2.20-192.0.2.22", mac_vlans(None)), &host());
    host.links[0].group = LINK_GROUP;
    let removals = to_remove(&host);
    let links = removals
        .iter()
        .filter(|change| matches!(change, AddressChange::RemoveMacVlan { .. }));
    assert_eq!(links.count(), 3);
    removals.iter().for_each(|one| change(&mut host, one));
    assert_eq!(host.links.len(), 3);
}

#[test]
fn what_is_in_the_way_is_refused_by_name() {
    let mut host = host();
    host.links.push(ListedLink {
        index: 9,
        name: "fsm4".into(),
        ..ListedLink::default()
    });
    host.routes.push(route(LOCAL_TABLE, "10.5.0.0/16", 1, None));
    let aliased = up(&group("10.9.0.1", aliases()), &host);
    let passthru = AddressMethod::MacVlans {
        parent: "eth0".into(),
        mode: MacVlanMode::Passthru,
        gateway: None,
    };
    let on = |link: &str| AddressMethod::MacVlans {
        parent: link.into(),
        mode: MacVlanMode::Bridge,
        gateway: None,
    };
    let old = AddressListing {
        keeps_protocols: false,
        ..host.clone()
    };
    let cases = [
        (&host, group("192.0.2.0/24", AddressMethod::Route)),
        (&host, group("192.0.0.0/20", AddressMethod::Route)),
        (&host, group("192.0.2.0/30", AddressMethod::Route)),
        (&host, group("fd00::/64", AddressMethod::Route)),
        (&host, group("10.5.0.0/16", AddressMethod::Route)),
        (&host, group("192.0.2.5-192.0.2.9", aliases())),
        (&host, group("10.0.0.0/8", aliases())),
        (&host, group("10.9.0.1-10.9.0.3", mac_vlans(None))),
        (&host, group("10.9.0.1-10.9.0.3", passthru)),
        (&host, group("10.9.0.1", on("lo"))),
        (&host, group("10.9.0.1", on("eth7"))),
        (&host, group("10.9.0.1", mac_vlans(Some("10.9.0.1")))),
        (&aliased, group("10.9.0.1", on("other0"))),
        (&old, group("10.9.0.1", aliases())),
    ];
    let mut text = String::new();
    for (host, group) in cases {
        let naming = match &group.method {
            AddressMethod::MacVlans { parent, .. } if parent == "other0" => "mv-",
            _ => "fsm",
        };
        let naming = MacVlanNaming::parse(naming).expect("a name");
        let obstacle = to_make(&group, &naming, host).expect_err("something is in the way");
        let sort = if obstacle.is_usage() { "usage" } else { "host" };
        text += &format!("{sort}: {obstacle}\n  help: {}\n", obstacle.help());
    }
    insta::assert_snapshot!(text);
}

#[test]
fn names_of_mac_vlans_leave_room_for_their_number() {
    for good in ["fsm", "a", "client-m", "abcdefghij"] {
        assert!(MacVlanNaming::parse(good).is_ok(), "{good}");
    }
    for bad in ["", "7a", "a7", "abcdefghijk", "a/b", "-a"] {
        assert!(MacVlanNaming::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn settings_that_stop_addresses_are_warned_of() {
    let mut host = host();
    let in_subnet = group("192.0.2.32/28", AddressMethod::Route);
    let of_all =
        |host: &AddressListing, group: &AddressGroup| warnings(std::slice::from_ref(group), host);
    assert_eq!(of_all(&host, &in_subnet), []);
    host.links[1].arp_ignore = 1;
    let none = AddressWarning::NoArpAnswers {
        link: "eth0".into(),
        arp_ignore: 1,
        most: 0,
    };
    assert_eq!(of_all(&host, &in_subnet), [none]);
    // Servers have a route to the others and need no further one.
    assert_eq!(
        of_all(&host, &group("10.9.0.0/16", AddressMethod::Route)),
        []
    );
    assert_eq!(of_all(&host, &group("192.0.2.33", aliases())), []);
    host.links[1].arp_ignore = 2;
    assert_eq!(of_all(&host, &group("192.0.2.33", aliases())).len(), 1);

    let many = group("10.9.0.1-10.9.8.0", mac_vlans(None));
    host.links[1].arp_ignore = 0;
    let neighbours = AddressWarning::ManyNeighbours {
        mac_vlans: 2048,
        most: 1024,
    };
    let expected = std::slice::from_ref(&neighbours);
    assert_eq!(of_all(&host, &many), expected);
    (host.links[1].rp_filter, host.links[1].is_up) = (1, false);
    let link = || String::from("eth0");
    let all = [
        AddressWarning::LinkDown { link: link() },
        AddressWarning::WrongLinkAnswers { link: link() },
        neighbours,
    ];
    assert_eq!(of_all(&host, &many), all);
}

#[test]
fn what_is_ours_can_be_asked_for_again() {
    let mut after = host();
    for group in every_group().into_iter().take(3) {
        // An address is created once.
        let group = AddressGroup {
            addresses: filestone_plan::plan::SourceAddresses::of(
                group.addresses.values().filter(|own| own.is_ipv4()),
            ),
            ..group
        };
        after = up(&group, &after);
    }
    let own = OwnedAddresses::of(&after);
    assert_eq!(own.groups().len(), 3);
    let there: Vec<String> = own.groups().iter().map(summary).collect();
    assert!(
        there[1].contains("3 addresses as aliases of eth0: 10.9.0.1-10.9.0.3"),
        "{there:?}"
    );
    assert!(
        there[2].contains("3 addresses as MAC-VLANs (bridge) of eth0: 192.0.2.20-192.0.2.22"),
        "{there:?}"
    );
    assert_eq!(own.stray_rules, 0);
    remove_links(&mut after, ListedLink::is_ours);
    assert_eq!(OwnedAddresses::of(&after).stray_rules, 3);
}
