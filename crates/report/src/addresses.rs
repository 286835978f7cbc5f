//! Output of `filestone fleet addresses`.

use crate::JsonSchema;
use crate::document::Document;
use crate::document::table::{Column, Table};
use filestone_measure::addresses::advice::AddressWarning;
use filestone_measure::addresses::{AddressChange, OwnedAddresses, OwnedMacVlan};
use filestone_plan::plan::SourceAddresses;
use filestone_workload::text::{counted, thousands};
use serde::Serialize;
use std::collections::BTreeMap;

/// Addresses created by filestone, and obstacles.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownAddresses {
    /// Existing addresses.
    #[serde(flatten)]
    pub owned: OwnedAddresses,
    /// Obstacles.
    pub warnings: Vec<AddressWarning>,
}

/// Formats commands, one per line.
pub fn commands(changes: &[AddressChange]) -> String {
    changes.iter().map(|change| format!("{change}\n")).collect()
}

/// Formats a summary, such as `1 network, 20 aliases, 500 MAC-VLANs`.
pub fn in_a_line(owned: &OwnedAddresses) -> String {
    let aliases: u64 = owned.aliases.iter().map(|own| own.count).sum();
    let parts = [
        (owned.routes.len() as u64, "local route"),
        (aliases, "address alias"),
        (owned.mac_vlans.len() as u64, "MAC-VLAN"),
        (owned.stray_rules.into(), "stray rule"),
    ];
    let there = parts.iter().filter(|(count, _)| *count > 0);
    let texts = there.map(|(count, noun)| match *noun {
        "address alias" if *count > 1 => format!("{} address aliases", thousands(*count)),
        noun => counted(*count, noun),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns a table of addresses and obstacles.
pub fn report(shown: &ShownAddresses) -> Document {
    if shown.owned.is_empty() {
        return Document::default().lines(
            "nothing of filestone is there; all of 127.0.0.0/8 are addresses of this host in any case\n",
        );
    }
    let mut table = Table::new([
        Column::text("INTERFACE"),
        Column::text("MADE AS"),
        Column::figure("COUNT"),
        Column::text("ADDRESSES"),
    ]);
    for network in &shown.owned.routes {
        table.row(["lo", "local route", "1", network]);
    }
    for own in &shown.owned.aliases {
        table.row([
            own.link.clone(),
            "aliases".into(),
            thousands(own.count),
            own.addresses.to_string(),
        ]);
    }
    for ((parent, mode), owned) in by_parent(&shown.owned.mac_vlans) {
        let addresses = SourceAddresses::of(owned.iter().filter_map(|own| own.address));
        table.row([
            parent.into(),
            format!("MAC-VLANs, {mode}"),
            thousands(owned.len() as u64),
            addresses.to_string(),
        ]);
    }
    Document::default()
        .table(table)
        .paragraphs(in_the_way(shown))
}

/// Groups the MAC-VLANs by link and mode.
fn by_parent(owned: &[OwnedMacVlan]) -> BTreeMap<(&str, String), Vec<&OwnedMacVlan>> {
    let mut parents: BTreeMap<_, Vec<&OwnedMacVlan>> = BTreeMap::new();
    for own in owned {
        let mode = own
            .mode
            .map_or("another mode".into(), |mode| mode.to_string());
        parents
            .entry((own.parent.as_str(), mode))
            .or_default()
            .push(own);
    }
    parents
}

/// Describes the obstacles in sentences.
fn in_the_way(shown: &ShownAddresses) -> Vec<String> {
    let half: Vec<&str> = (shown.owned.mac_vlans.iter())
        .filter(|own| !own.is_whole)
        .map(|own| own.name.as_str())
        .collect();
    let mut sentences = vec![];
    if let Some(first) = half.first() {
        sentences.push(format!(
            "{} not whole, such as {first}: `up` with the same addresses completes them, `down` removes them",
            counted(half.len() as u64, "MAC-VLAN")
        ));
    }
    if shown.owned.stray_rules > 0 {
        sentences.push(format!(
            "{} without MAC-VLAN: `down` removes them",
            counted(shown.owned.stray_rules.into(), "rule")
        ));
    }
    let warnings = shown.warnings.iter().map(AddressWarning::sentence);
    sentences.extend(warnings.map(|(what, advice)| format!("{what}: {advice}")));
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use filestone_measure::addresses::{MacVlanMode, OwnedAliases};

    fn shown() -> ShownAddresses {
        let mac_vlans = (1..=3).map(|number| OwnedMacVlan {
            name: format!("fsm{number}"),
            parent: "eth1".into(),
            mode: Some(MacVlanMode::Bridge),
            address: (number < 3).then(|| format!("10.8.0.{number}").parse().expect("one")),
            is_whole: number == 1,
        });
        ShownAddresses {
            owned: OwnedAddresses {
                routes: vec!["10.9.0.0/16".into()],
                aliases: vec![OwnedAliases {
                    link: "eth0".into(),
                    addresses: "192.0.2.10-192.0.2.109".parse().expect("a range"),
                    count: 100,
                }],
                mac_vlans: mac_vlans.collect(),
                stray_rules: 2,
            },
            warnings: vec![
                AddressWarning::LinkDown {
                    link: "eth1".into(),
                },
                AddressWarning::NoArpAnswers {
                    link: "eth0".into(),
                    arp_ignore: 8,
                    most: 1,
                },
                AddressWarning::NoArpAnswersAtAll { arp_ignore: 2 },
                AddressWarning::WrongLinkAnswers {
                    link: "eth1".into(),
                },
                AddressWarning::ManyNeighbours {
                    mac_vlans: 2000,
                    most: 1024,
                },
            ],
        }
    }

    #[test]
    fn what_is_there_is_a_table_and_what_is_in_the_way_follows() {
        let page = PageWidth::default();
        let nothing = ShownAddresses {
            owned: OwnedAddresses::default(),
            warnings: vec![],
        };
        insta::assert_snapshot!(format!(
            "{}\n{}\n{}\n",
            report(&nothing).text(page),
            report(&shown()).text(page),
            in_a_line(&shown().owned)
        ));
    }

    #[test]
    fn the_document_has_all_of_it() {
        insta::assert_snapshot!(crate::json::document(&shown()).expect("JSON"));
    }
}
