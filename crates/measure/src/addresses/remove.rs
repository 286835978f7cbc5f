//! Computes the changes that remove addresses.

use super::LINK_GROUP;
use super::change::{AddressChange, AddressItem};
use super::listing::{AddressListing, ListedAddress, ListedLink};
use std::collections::HashSet;

/// Returns the changes that remove exactly the objects that filestone created on a host with this
/// `listing`.
pub fn to_remove(listing: &AddressListing) -> Vec<AddressChange> {
    let ours: HashSet<u32> = links(listing).map(|link| link.index).collect();
    let rules = listing.rules.iter().filter(|rule| rule.is_ours());
    let rules = rules.filter_map(|rule| {
        Some(AddressItem::Rule {
            source: rule.source?.first(),
            table: rule.table,
        })
    });
    // The kernel removes the routes and the address of a MAC-VLAN with it.
    let routes = listing.routes.iter().filter(|route| route.is_our_any_ip());
    let routes = routes.filter_map(|route| {
        Some(AddressItem::any_ip(
            route.destination,
            &listing.name_of(route.link?),
        ))
    });
    let is_alias = |listed: &&ListedAddress| listed.is_ours() && !ours.contains(&listed.link);
    let addresses = listing.addresses.iter().filter(is_alias);
    let addresses = addresses.map(|listed| AddressItem::Address {
        link: listing.name_of(listed.link),
        address: listed.address,
    });
    let items = rules.chain(routes).chain(addresses);
    let mut changes: Vec<AddressChange> = items.map(AddressChange::Remove).collect();
    changes.extend(mac_vlans(listing));
    changes
}

fn links(listing: &AddressListing) -> impl Iterator<Item = &ListedLink> {
    listing.links.iter().filter(|link| link.is_ours())
}

/// Removes all MAC-VLANs at once, unless a foreign link is in their group.
fn mac_vlans(listing: &AddressListing) -> Vec<AddressChange> {
    let is_foreign = |link: &ListedLink| link.group == LINK_GROUP && !link.is_ours();
    let count = links(listing).count() as u32;
    if count > 1 && !listing.links.iter().any(is_foreign) {
        return vec![AddressChange::RemoveAllMacVlans { count }];
    }
    let each = links(listing).map(|link| AddressChange::RemoveMacVlan {
        name: link.name.clone(),
    });
    each.collect()
}
