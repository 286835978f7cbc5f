//! The README's commands on servers with small limits: credits, bytes of a listing, of a READ and
//! of a WRITE, and connections.

use super::TestEnv;
use crate::peers::fixture::{DIRECTORY, FILE};
use crate::peers::readme::{self, Place};
use crate::process;
use crate::samba::{GUEST_SHARE, PASSWORD, USER, USER_SHARE};
use anyhow::{Result, anyhow, bail};
use filestone_plan::plan::FileSetPlan;
use std::time::Duration;

/// Runs that are short enough to finish on both servers in less than a minute.
const USUAL: &str = "-d 300ms --no-calibrate";
const REPLAY_LIMIT: Duration = Duration::from_secs(60);
const LADDER: &str = "-d 200ms --warm-up 0 --idle-baseline 200ms --pause 0 --no-calibrate";

/// Runs all commands on both servers at the same time: as the user on one, and as a guest on the
/// other.
pub fn commands(ground: &TestEnv) -> Result<String> {
    let as_user = format!("{USER}@");
    std::thread::scope(|scope| {
        let on = |credits: &'static str, user: &str, share| {
            let authority = &ground.bed.variables[credits];
            let target = format!("smb://{user}{authority}/{share}");
            scope.spawn(move || on_one(ground, credits, &target))
        };
        let both = [
            on("1-credit", &as_user, USER_SHARE),
            on("8-credits", "", GUEST_SHARE),
        ];
        let ended = both.map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("panicked"))));
        let wrong = ended.iter().filter_map(|ended| ended.as_ref().err());
        let wrong: Vec<String> = wrong.map(|error| format!("{error:#}")).collect();
        if !wrong.is_empty() {
            bail!("{}", wrong.join("\n"));
        }
        let [one, _] = ended;
        Ok(format!("with 1 and 8 credits: {}", one?))
    })
}

fn on_one(ground: &TestEnv, credits: &str, target: &str) -> Result<String> {
    let server = ground.servers.get(credits)?;
    let folder = ground.bed.folder.join(format!("readme-{credits}"));
    let place = Place {
        target,
        password: target.contains(USER).then_some(PASSWORD),
        usual: USUAL,
        ladder: LADDER,
        longest: "64K",
    };
    let ran = readme::on(&ground.bed, &folder, &place)
        .map_err(|error| anyhow!("{credits}: {error:#}"))?;
    // The README has no replay on an SMB share.
    let line = format!("replay office --layer {target} -d 300ms");
    let mut replay = ground.bed.command(&line);
    replay.envs(
        place
            .password
            .map(|password| ("FILESTONE_PASSWORD", password)),
    );
    let output = process::run(&mut replay, &[], &folder, REPLAY_LIMIT)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{credits}: a replay: {}: {said}", output.status);
    }
    for entry in std::fs::read_dir(server.directory())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // The file set of a mix stays for the next one.
        if ![FILE, DIRECTORY, FileSetPlan::NAME_DEFAULT].contains(&name.as_str()) {
            bail!("{credits}: {name} is left in the share");
        }
    }
    Ok(ran)
}
