//! docs/limits.md against the program: a limit that a command can run into is one that fails, and
//! an entry whose command does not fail any more has to go. Nothing is sent: all are refused before.

use crate::support::{filestone, text};
use std::path::Path;

/// An entry of the page.
struct Limit {
    /// Words of it.
    says: &'static str,
    /// What runs into it.
    command: &'static str,
    /// Words of what that is told.
    refusal: &'static str,
}

const fn limit(says: &'static str, command: &'static str, refusal: &'static str) -> Limit {
    Limit {
        says,
        command,
        refusal,
    }
}

const LIMITS: [Limit; 14] = [
    limit(
        "No NFSv4.",
        "probe null nfs://127.0.0.1:1/x?version=4",
        "NFSv3 only",
    ),
    limit(
        "no Kerberos",
        "compat smbtorture //127.0.0.1/x --use-kerberos=required bench.nbench",
        "Kerberos is not spoken",
    ),
    limit(
        "no durable handles in mixes",
        "mix smb: --durable",
        "durable",
    ),
    limit(
        "A plan may have a million",
        "probe null -c 1000001",
        "1000000",
    ),
    limit(
        "16 supplementary groups at most",
        "probe null --gids 1-17",
        "16 supplementary groups",
    ),
    limit(
        "RPCSEC_GSS is refused",
        "probe null nfs://127.0.0.1:1/x?sec=krb5",
        "sec=krb5",
    ),
    limit(
        "so is TLS",
        "probe null nfs://127.0.0.1:1/x?xprtsec=tls",
        "xprtsec=tls",
    ),
    limit(
        "A probe has one object under test",
        "probe null nfs://127.0.0.1:1/a nfs://127.0.0.1:1/b",
        "nfs://127.0.0.1:1/b",
    ),
    limit(
        "a READ or WRITE is 1 MiB at most",
        "probe read --io-size 2M",
        "1 MiB",
    ),
    limit(
        "so a READ or WRITE is 63 KiB at most",
        "probe read --transport udp --io-size 64K",
        "64512",
    ),
    limit(
        "Replays do not compare.",
        "replay office --layer nfs: --data verify",
        "--data",
    ),
    limit(
        "each client has one call in flight",
        "mix --layer local:/tmp --in-flight 2",
        "--in-flight",
    ),
    limit(
        "the load cannot be steered",
        "mix --layer local:/tmp --curve",
        "--curve",
    ),
    limit(
        "the load cannot be steered",
        "mix --layer local:/tmp --slo p99<2ms",
        "--slo",
    ),
];

#[test]
fn a_limit_that_can_be_run_into_is_still_one() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let words: Vec<&str> = page.split_whitespace().collect();
    let page = words.join(" ");
    for limit in LIMITS {
        let Limit {
            says,
            command,
            refusal,
        } = limit;
        assert!(page.contains(says), "docs/limits.md does not say: {says}");
        let words: Vec<&str> = command.split(' ').collect();
        let output = filestone(&words);
        let told = text(&output.stderr);
        let code = output.status.code();
        assert!(
            matches!(code, Some(1 | 2)) && told.contains(refusal),
            "{command}: {code:?}: {told}\ndocs/limits.md says: {says}"
        );
    }
}
