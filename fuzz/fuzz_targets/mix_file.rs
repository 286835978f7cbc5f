#![no_main]

//! Whatever a mix file says, reading it does not panic; what is a mix asks something of
//! NFSv3, and what is none has a message. The same text as counters of the kernel gives no
//! more calls of a kind than in all.

use filestone_plan::mix::{self, Mix, counters};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    match mix::parse(&text, "fuzz") {
        Ok(mix) => check(&mix),
        Err(error) => assert!(!error.message.is_empty() && error.to_string().starts_with("fuzz:")),
    }
    if let Ok(counters) = counters::of_rpc_nfs(&text) {
        assert!(
            counters
                .calls
                .iter()
                .all(|(_, calls)| *calls <= counters.total)
        );
        assert_eq!(counters.since(&counters).total, 0);
    }
    for mount in counters::mounts(&text).unwrap_or_default() {
        if let Ok(counters) = counters::of_mountstats(&text, &mount.mount_point) {
            assert!(counters.unlike() <= counters.total);
        }
    }
});

/// A mix asks something, each procedure once, and its shares sum to 1.
fn check(mix: &Mix) {
    assert!(mix.sum() > 0);
    assert_eq!(mix.to_plan_counts().len(), mix.counts.len());
    let shares: f64 = mix.percent_rows().iter().map(|(_, percent)| percent).sum();
    assert!((shares - 100.0).abs() < 1e-6);
}
