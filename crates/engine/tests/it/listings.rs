//! Directories of many pages, on servers that have their own idea of how long a page is.
//!
//! Linux's server holds the entries of a page to what was asked for and sends the directory's
//! attributes and the verifier on top of them (seen on knfsd 6.1); the built-in server can do
//! the same.

use crate::support::live::{checked, probe, serve};
use crate::support::mixes::mix;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::caveat::Caveat;
use filestone_plan::plan::{ArrivalsPlan, TransportKind};
use filestone_server::{ListingBound, Running};
use filestone_workload::operation::OpKind;

/// Files in the directory; the built-in server calls them file0000 and so on.
const FILES: u64 = 1000;

/// What is in a reply beside its entries: record mark, RPC header, status, attributes,
/// verifier, the end of the list and that of the directory.
const FRAME: u64 = 4 + 24 + 4 + 88 + 8 + 4 + 4;

/// A listing: bytes asked for per page, bytes of an entry of eight letters (one of a letter or
/// two has four fewer), and how many pages the directory has if the entries alone are bounded.
struct Shape {
    operation: OpKind,
    asked: u32,
    entry_len: u64,
    pages: u64,
}

/// 1016 bytes of entries are `.`, `..` and 30 files, then 31 files at a time; 4088 are `.`, `..`
/// and 24 files, then 26. The first page of READDIR is full to the last byte.
const SHAPES: [Shape; 2] = [
    Shape {
        operation: OpKind::ReadDir,
        asked: 1024,
        entry_len: 4 + 8 + 12 + 8,
        pages: 1 + 970_u64.div_ceil(31),
    },
    Shape {
        operation: OpKind::ReadDirPlus,
        asked: 4096,
        entry_len: 4 + 8 + 12 + 8 + 88 + 36,
        pages: 1 + 976_u64.div_ceil(26),
    },
];

impl Shape {
    fn listed(&self, server: &Running, pages: u64) -> RunRecord {
        let mut plan = probe(self.operation, TransportKind::Tcp, pages);
        plan.in_flight = 1;
        plan.probe_mut().expect("a probe").size_bytes = self.asked;
        checked(&plan, server)
    }

    /// The bytes of all entries.
    fn entries_len(&self) -> u64 {
        FILES * self.entry_len + 2 * (self.entry_len - 4)
    }
}

fn serve_bounding(listing_bound: ListingBound) -> Running {
    serve(|options| options.listing_bound = listing_bound)
}

#[test]
fn a_server_that_bounds_the_entries_alone_is_listed_page_by_page_to_the_end() {
    let server = serve_bounding(ListingBound::Entries);
    for shape in SHAPES {
        // Once through the directory, and a second time.
        for times in [1, 2] {
            let record = shape.listed(&server, times * shape.pages);
            let kind = record.measured().expect("a row");
            assert_eq!(kind.ledger.ok, times * shape.pages, "{:?}", kind.failures);
            assert_eq!(
                kind.bytes_received,
                times * (shape.pages * FRAME + shape.entries_len()),
                "each entry came {times} times: {}",
                shape.operation.name()
            );
            assert_eq!(record.totals.oversized_listings, 0);
        }
    }
}

#[test]
fn a_server_that_bounds_nothing_is_noted_once_and_nothing_fails() {
    let server = serve_bounding(ListingBound::Nothing);
    for shape in SHAPES {
        let record = shape.listed(&server, 20);
        let kind = record.measured().expect("a row");
        assert_eq!(kind.ledger.ok, 20, "{:?}", kind.failures);
        let excess = shape.entries_len() + 8 - u64::from(shape.asked);
        let noted: Vec<&Caveat> = record
            .caveats
            .iter()
            .filter(|caveat| matches!(caveat, Caveat::LongListings { .. }))
            .collect();
        let expected = Caveat::LongListings {
            count: 20,
            excess_bytes_max: excess,
        };
        assert_eq!(noted, [&expected]);
    }
}

#[test]
fn a_server_that_bounds_the_whole_reply_is_noted_nowhere() {
    let server = serve_bounding(ListingBound::Reply);
    for shape in SHAPES {
        let record = shape.listed(&server, 50);
        assert_eq!(
            (record.totals.ledger.ok, record.totals.oversized_listings),
            (50, 0)
        );
    }
}

#[test]
fn mixes_and_what_is_found_before_a_run_go_through_all_pages() {
    let server = serve_bounding(ListingBound::Entries);
    // Pages of 32 KiB, of which the directory has several.
    for operation in [OpKind::Lookup, OpKind::GetAttr] {
        let record = checked(&probe(operation, TransportKind::Tcp, 10), &server);
        assert_eq!(record.target.files, FILES, "{}", operation.name());
    }
    let counts = [
        (OpKind::ReadDir, 1),
        (OpKind::ReadDirPlus, 1),
        (OpKind::Lookup, 1),
    ];
    let mut plan = mix(&counts, ArrivalsPlan::Closed, 600);
    plan.mix_mut().expect("a mix").listing_bytes = 512;
    let record = checked(&plan, &server);
    let ledger = &record.totals.ledger;
    assert_eq!(ledger.ok, ledger.scheduled, "{:?}", record.totals.kinds);
}
