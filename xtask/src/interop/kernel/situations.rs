//! What Linux's server and client do that neither ours nor nfs-ganesha does.

use super::Ground;
use super::guest::GUEST;
use crate::interop::checks::Situation;
use crate::record::Record;
use anyhow::{Result, bail};
use std::time::Duration;

/// No single script in the guest takes longer.
const SCRIPT_LIMIT: Duration = Duration::from_secs(60);

/// All of them.
pub const ALL: &[Situation<Ground>] = &[(
    "a directory of many pages is listed",
    a_directory_of_many_pages,
)];

/// knfsd holds the entries to the count, and leaves attributes and verifier out of it.
fn a_directory_of_many_pages(ground: &Ground) -> Result<String> {
    const NAMES: u32 = 2000;
    let script =
        format!("mkdir -p /export/many; cd /export/many; seq -f name%05g 1 {NAMES} | xargs touch");
    ground.guest.succeed(&script, SCRIPT_LIMIT)?;
    let target = format!("nfs://{GUEST}/export/many");
    let mut said = Vec::new();
    for operation in ["readdir", "readdirplus"] {
        let output =
            ground
                .bed
                .probe(operation, &target, &["--count", "200", "--in-flight", "4"])?;
        let record = Record::read(&output)?;
        let (scheduled, ok) = (
            record.number("/totals/ledger/scheduled")?,
            record.number("/totals/ledger/ok")?,
        );
        if ok != scheduled {
            bail!("{operation}: {ok} of {scheduled} ok");
        }
        said.push(format!("{operation}: {ok} of {scheduled} ok"));
    }
    Ok(said.join(", "))
}
