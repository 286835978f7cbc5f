//! Further scenarios: refused accounts, shares and protections, a full file system, ^C, and
//! leftovers.

use super::settings::Purpose;
use super::{FULL, TestEnv, copies, durable_handles, packets, small, tampering};
use crate::interop::checks::{self, Scenario};
use crate::interop::fixture::{DIRECTORY, FILE};
use crate::interop::smb::{Account, DIALECTS, Place};
use crate::process;
use crate::record::{self, Record};
use crate::samba::{DISABLED_USER, GUEST_SHARE, PRINTER, USER, USER_SHARE};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Command, Output};

/// Scenarios against Samba.
pub const ALL: &[Scenario<TestEnv>] = &[
    ("a server that requires signatures", signatures_required),
    ("a server that requires encryption", encryption_required),
    ("every cipher", every_cipher),
    ("every algorithm of signatures", every_signature),
    ("encryption required, 2.1 asked for", too_old_to_encrypt),
    ("encryption required, a guest", a_guest_cannot_encrypt),
    ("a server with nothing older than 3.0", nothing_older),
    ("a server with nothing newer than 2.1", nothing_newer),
    ("several connections of a client", several_connections),
    ("several connections, 2.1 asked for", too_old_for_several),
    ("several connections, 2.1 spoken", too_old_a_server),
    ("several connections, none offered", one_connection),
    ("several connections, a guest", a_guest_has_one),
    (
        "the password from the environment",
        password_from_environment,
    ),
    ("a wrong password", wrong_password),
    ("an account that is disabled", disabled_account),
    ("no guests", no_guests),
    ("a share for others", share_for_others),
    ("no such share", no_such_share),
    ("a share that is a printer", a_printer),
    ("no such file", no_such_file),
    ("copies that the server makes", copies::compared),
    ("doctor names the server's interfaces", interfaces_named),
    ("every load of our own", every_load),
    ("a load that names files by path", by_path),
    ("a load that expects another NT status", other_status),
    ("a profile of Samba as a mix", profile_as_mix),
    ("tshark reads 3.0, signed", packets::signed),
    ("tshark reads 3.1.1, encrypted", packets::encrypted),
    ("tshark reads office, encrypted", packets::load),
    ("tshark reads four connections", packets::channels),
    ("a signature is wrong before a run", tampering::before),
    ("every tenth signature is wrong", tampering::in_probe),
    ("signatures are wrong in a replay", tampering::in_replay),
    (
        "handles that outlive their connection",
        durable_handles::handles,
    ),
    ("a file system that is full", disk_full),
    ("^C in the middle of create", interrupted),
    ("a replay that only reads", reading_only),
    ("as smbtorture", as_smbtorture),
    ("as smbtorture, over SMB1", as_smbtorture_over_smb1),
    ("the README's commands on a small server", small::commands),
    ("nothing is left in the share", nothing_is_left),
];

/// The loads that filestone includes.
const LOADS: &[&str] = &["office", "build", "untar", "mail", "database"];

/// Mix of operations that leave nothing to remove, in percent.
const SHARES: &[(&str, f64)] = &[
    ("null", 4.0),
    ("getattr", 28.0),
    ("setattr", 6.0),
    ("lookup", 24.0),
    ("read", 24.0),
    ("write", 12.0),
    ("commit", 2.0),
];
/// A load in the format of dbench's smb backend.
const BY_PATH: &str = include_str!("../../../../crates/cli/tests/it/by_path.load");

/// Largest permitted deviation of a share, in percentage points.
const SHARE_LIMIT: f64 = 1.0;

const OTHER_STATUS: &str = r#"Mkdir "\clients\client1" NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\none" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_PATH_INFORMATION "\clients\client1\none\below" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_PATH_INFORMATION "\clients\client1\none\below" 1004 0xc000003a
"#;

/// Runs `probe` as the user against the server with this purpose.
fn probe(ground: &TestEnv, purpose: Purpose, options: &[&str]) -> Result<Output> {
    let server = ground.servers.get(purpose);
    let password_file = server.password_file();
    let place = Place {
        authority: &format!("127.0.0.1:{}", server.port),
        dialects: DIALECTS,
        password_file: &password_file,
    };
    let target = place.target(Account::User, FILE);
    let password_file = password_file.display().to_string();
    let always = ["--count", "50", "--password-file", &password_file];
    ground
        .bed
        .probe("read", &target, &[&always, options].concat())
}

/// Runs `probe` as the user; the run must succeed. Returns a short description.
fn succeeds(ground: &TestEnv, purpose: Purpose, options: &[&str]) -> Result<String> {
    match checks::evaluate(&probe(ground, purpose, options)?, 50) {
        Ok(verdict) if verdict == "ok" => Ok("50 operations".into()),
        Ok(other) | Err(other) => bail!("{purpose:?} {}: {other}", options.join(" ")),
    }
}

fn signatures_required(ground: &TestEnv) -> Result<String> {
    for dialect in DIALECTS {
        succeeds(ground, Purpose::Signing, &["--dialect", dialect.name])?;
    }
    Ok(format!("{} dialects", DIALECTS.len()))
}

fn encryption_required(ground: &TestEnv) -> Result<String> {
    let dialects = ["3.0", "3.0.2", "3.1.1"];
    for dialect in dialects {
        succeeds(ground, Purpose::Encrypting, &["--dialect", dialect])?;
    }
    Ok(format!("{} dialects", dialects.len()))
}

fn every_cipher(ground: &TestEnv) -> Result<String> {
    let ciphers = ["AES-128-CCM", "AES-128-GCM", "AES-256-CCM", "AES-256-GCM"];
    for cipher in ciphers {
        succeeds(ground, Purpose::Cipher(cipher), &[])?;
    }
    Ok(ciphers.join(", "))
}

fn every_signature(ground: &TestEnv) -> Result<String> {
    let signatures = ["HMAC-SHA256", "AES-128-CMAC", "AES-128-GMAC"];
    for signature in signatures {
        succeeds(ground, Purpose::Signature(signature), &[])?;
    }
    Ok(signatures.join(", "))
}

fn several_connections(ground: &TestEnv) -> Result<String> {
    let (mut ways, several) = (0, ["--connections-per-client", "4", "-j", "8"]);
    for dialect in ["3.0", "3.0.2", "3.1.1"] {
        for protection in [&["--sign", "off"][..], &["--sign"], &["--encrypt"]] {
            let options = [&several[..], &["--dialect", dialect], protection].concat();
            succeeds(ground, Purpose::Open, &options)?;
            ways += 1;
        }
    }
    Ok(format!("{ways} dialects and protections"))
}

const SEVERAL: [&str; 2] = ["--connections-per-client", "2"];

fn too_old_for_several(ground: &TestEnv) -> Result<String> {
    let options = [&SEVERAL[..], &["--dialect", "2.1"]].concat();
    let output = probe(ground, Purpose::Open, &options)?;
    checks::refused(&output, 2, &["--connections-per-client", "3.0"])
}

fn too_old_a_server(ground: &TestEnv) -> Result<String> {
    let output = probe(ground, Purpose::NoSmb3, &SEVERAL)?;
    checks::refused(&output, 2, &["chose dialect 2.1", "one connection"])
}

fn one_connection(ground: &TestEnv) -> Result<String> {
    let output = probe(ground, Purpose::NoChannels, &SEVERAL)?;
    checks::refused(
        &output,
        2,
        &["no multichannel", "server multi channel support"],
    )
}

fn a_guest_has_one(ground: &TestEnv) -> Result<String> {
    let target = format!("smb://127.0.0.1/{GUEST_SHARE}");
    let options = [&SEVERAL[..], &["--count", "10"]].concat();
    let output = ground.bed.probe("echo", &target, &options)?;
    checks::refused(&output, 2, &["as a guest", "one connection"])
}

fn too_old_to_encrypt(ground: &TestEnv) -> Result<String> {
    let output = probe(ground, Purpose::Encrypting, &["--dialect", "2.1"])?;
    checks::refused(&output, 3, &["STATUS_ACCESS_DENIED", "0xc0000022"])
}

fn a_guest_cannot_encrypt(ground: &TestEnv) -> Result<String> {
    let port = Purpose::Encrypting.port();
    let target = format!("smb://127.0.0.1:{port}/{GUEST_SHARE}");
    let output = ground.bed.probe("echo", &target, &["--count", "10"])?;
    checks::refused(&output, 3, &["STATUS_ACCESS_DENIED"])
}

fn nothing_older(ground: &TestEnv) -> Result<String> {
    succeeds(ground, Purpose::NoSmb2, &[])?;
    let output = probe(ground, Purpose::NoSmb2, &["--dialect", "2.1"])?;
    checks::refused(&output, 3, &["STATUS_NOT_SUPPORTED", "0xc00000bb"])
}

fn nothing_newer(ground: &TestEnv) -> Result<String> {
    succeeds(ground, Purpose::NoSmb3, &[])?;
    let output = probe(ground, Purpose::NoSmb3, &["--dialect", "3.1.1"])?;
    checks::refused(&output, 3, &["STATUS_NOT_SUPPORTED", "0xc00000bb"])
}

/// User name and password of a logon.
struct Login {
    user: &'static str,
    password: &'static str,
}

fn login(ground: &TestEnv, login: &Login, share: &str) -> Result<Output> {
    let target = format!("smb://{}@127.0.0.1/{share}", login.user);
    let mut command = ground.bed.command(&[
        "probe",
        "echo",
        &target,
        "--count",
        "10",
        "--as",
        "json",
        "--no-calibrate",
    ]);
    command.env("FILESTONE_PASSWORD", login.password);
    process::run(&mut command, &[], &ground.bed.folder, checks::RUN_LIMIT)
}

const RIGHT: Login = Login {
    user: USER,
    password: crate::samba::PASSWORD,
};

fn password_from_environment(ground: &TestEnv) -> Result<String> {
    let record = Record::read(&login(ground, &RIGHT, USER_SHARE)?)?;
    if record.holds(RIGHT.password) {
        bail!("the password stands in the record");
    }
    Ok(format!(
        "{} operations",
        record.number("/totals/ledger/ok")?
    ))
}

fn wrong_password(ground: &TestEnv) -> Result<String> {
    let wrong = Login {
        password: "guessed",
        ..RIGHT
    };
    let output = login(ground, &wrong, USER_SHARE)?;
    checks::refused(&output, 3, &["STATUS_LOGON_FAILURE", "0xc000006d"])
}

fn disabled_account(ground: &TestEnv) -> Result<String> {
    let disabled = Login {
        user: DISABLED_USER,
        ..RIGHT
    };
    let output = login(ground, &disabled, USER_SHARE)?;
    checks::refused(&output, 3, &["STATUS_ACCOUNT_DISABLED", "0xc0000072"])
}

fn no_guests(ground: &TestEnv) -> Result<String> {
    let port = Purpose::NoGuests.port();
    let target = format!("smb://127.0.0.1:{port}/{USER_SHARE}");
    let output = ground.bed.probe("echo", &target, &["--count", "10"])?;
    checks::refused(&output, 3, &["STATUS_"])
}

/// Runs `probe` as a guest; the run must be refused.
fn refuses_guest(ground: &TestEnv, path: &str, words: &[&str]) -> Result<String> {
    let target = format!("smb://127.0.0.1/{path}");
    let output = ground.bed.probe("read", &target, &["--count", "10"])?;
    checks::refused(&output, 3, words)
}

fn share_for_others(ground: &TestEnv) -> Result<String> {
    let path = format!("{USER_SHARE}/{FILE}");
    refuses_guest(ground, &path, &["STATUS_ACCESS_DENIED", "0xc0000022"])
}

fn no_such_share(ground: &TestEnv) -> Result<String> {
    let words = ["nowhere", "STATUS_BAD_NETWORK_NAME", "0xc00000cc"];
    refuses_guest(ground, "nowhere/file", &words)
}

/// Expects a usage error, not an error of the server: the user must name another share.
fn a_printer(ground: &TestEnv) -> Result<String> {
    let target = format!("smb://127.0.0.1/{PRINTER}/file");
    let output = ground.bed.probe("read", &target, &["--count", "10"])?;
    checks::refused(&output, 2, &["is no disk", "SHARE_TYPE_PRINT"])
}

fn no_such_file(ground: &TestEnv) -> Result<String> {
    let words = ["nothing", "STATUS_OBJECT_NAME_NOT_FOUND", "0xc0000034"];
    refuses_guest(ground, &format!("{GUEST_SHARE}/nothing"), &words)
}

/// Checks the findings about multichannel: a user may have several connections and a guest has one.
/// The finding states the reason if the server permits only one.
fn interfaces_named(ground: &TestEnv) -> Result<String> {
    let mut said = Vec::new();
    for (purpose, user, words) in [
        (
            Purpose::Open,
            Account::User,
            "multichannel is offered; 127.0.0.1 at ",
        ),
        (
            Purpose::Open,
            Account::Guest,
            "lets this user in as a guest",
        ),
        (
            Purpose::NoChannels,
            Account::User,
            "the server offers one connection",
        ),
        (Purpose::NoSmb3, Account::User, "chose dialect 2.1"),
    ] {
        let server = ground.servers.get(purpose);
        let password_file = server.password_file();
        let place = Place {
            authority: &format!("127.0.0.1:{}", server.port),
            dialects: DIALECTS,
            password_file: &password_file,
        };
        let target = place.target(user, "");
        let password_file = password_file.display().to_string();
        let arguments = ["doctor", &target, "--as", "json"];
        let with_user = ["--password-file", &password_file];
        let options: &[&str] = match user {
            Account::User => &with_user,
            Account::Guest => &[],
        };
        let output = ground.bed.run(&[&arguments, options].concat())?;
        let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let findings = document["findings"].as_array().into_iter().flatten();
        let mut found = findings.filter(|finding| finding["id"] == "server-interfaces");
        let text = found.next().and_then(|finding| finding["found"].as_str());
        let text = text.with_context(|| format!("{purpose:?}: no word of interfaces"))?;
        if !text.contains(words) {
            bail!("{purpose:?}: {text}");
        }
        said.push(words);
    }
    Ok(said.join(", "))
}

/// Runs one iteration of a load on the guest share.
fn replay(ground: &TestEnv, load: &str) -> Result<Record> {
    let target = format!("smb://127.0.0.1/{GUEST_SHARE}");
    let arguments = [
        "replay",
        load,
        "--on",
        &target,
        "--run-once",
        "--as",
        "json",
    ];
    Record::read(&ground.bed.run(&arguments)?)
}

fn every_load(ground: &TestEnv) -> Result<String> {
    let mut lines = 0.0;
    for load in LOADS {
        let record = replay(ground, load)?;
        if record.number("/replay/mismatch_count")? > 0.0 {
            bail!("{load}: {:?}", record.list("/replay/mismatches"));
        }
        lines += record.number("/totals/ledger/scheduled")?;
    }
    Ok(format!("{lines} lines of {} loads", LOADS.len()))
}

/// Replays a load for which a real server must return the expected result of every line, including
/// the access rights of opened files.
fn by_path(ground: &TestEnv) -> Result<String> {
    let path = ground.bed.folder.join("by-path.load");
    std::fs::write(&path, BY_PATH)?;
    let record = replay(ground, &path.display().to_string())?;
    if record.number("/replay/mismatch_count")? > 0.0 {
        bail!("{:?}", record.list("/replay/mismatches"));
    }
    let lines = record.number("/totals/ledger/scheduled")?;
    let written = record.number("/replay/bytes_written")?;
    Ok(format!("{lines} lines, {written} bytes written"))
}

/// Expects a mismatch for the wrong one of two statuses that both mean that the object does not
/// exist.
fn other_status(ground: &TestEnv) -> Result<String> {
    let path = ground.bed.folder.join("other-status.load");
    std::fs::write(&path, OTHER_STATUS)?;
    let record = replay(ground, &path.display().to_string())?;
    let seen: Vec<String> = record
        .list("/replay/mismatches")
        .iter()
        .map(|seen| format!("{} {} {}", seen["lines"], seen["expected"], seen["got"]))
        .collect();
    let expected = r#"[3] "STATUS_OBJECT_NAME_NOT_FOUND (0xc0000034)" "STATUS_OBJECT_PATH_NOT_FOUND (0xc000003a)""#;
    if seen != [expected] {
        bail!("{seen:?}");
    }
    Ok(expected.to_owned())
}

/// Runs a mix and converts the difference of the server's counters into a mix: the shares must be
/// nearly equal. In addition to the mix, the run searches for its file set, which the previous run
/// made.
fn profile_as_mix(ground: &TestEnv) -> Result<String> {
    let server = ground.servers.get(Purpose::Open);
    let folder = &ground.bed.folder;
    let (asked, counted) = (folder.join("asked.mix"), folder.join("counted.mix"));
    let lines = SHARES
        .iter()
        .map(|(name, percent)| format!("{name} {percent}%\n"));
    std::fs::write(&asked, lines.collect::<String>())?;
    mix(ground, &asked, &["--duration", "500ms"])?;
    let before = server.profile(folder)?;
    mix(ground, &asked, &["--duration", "3s"])?;
    let after = server.profile(folder)?;
    std::fs::write(&counted, difference(&before, &after))?;
    let plan: serde_json::Value =
        serde_json::from_slice(&mix(ground, &counted, &["--dry-run"])?.stdout)?;
    mix(ground, &asked, &["--duration", "500ms", "--remove-set"])?;
    let counts = plan["workload"]["counts"]
        .as_array()
        .context("the plan has no counts")?;
    let count = |entry: &serde_json::Value| entry["count"].as_f64().unwrap_or_default();
    let sum: f64 = counts.iter().map(count).sum();
    let mut worst = 0.0_f64;
    for (name, percent) in SHARES {
        let of_kind = counts.iter().filter(|entry| entry["operation"] == *name);
        let got = 100.0 * of_kind.map(count).sum::<f64>() / sum;
        if (got - percent).abs() > SHARE_LIMIT {
            bail!("{name}: {got:.2} % instead of {percent} %: {counts:?}");
        }
        worst = worst.max((got - percent).abs());
    }
    Ok(format!(
        "{sum} requests; the worst share is off by {worst:.2} points"
    ))
}

fn mix(ground: &TestEnv, file: &Path, options: &[&str]) -> Result<Output> {
    let target = format!("smb://127.0.0.1/{GUEST_SHARE}");
    let file = file.display().to_string();
    let always = [
        "mix",
        &target,
        "--mix",
        &file,
        "--offered",
        "1000",
        "--clients",
        "2",
        "--no-calibrate",
        "--as",
        "json",
    ];
    let output = ground.bed.run(&[&always, options].concat())?;
    if !output.status.success() && !record::is_late(&output) {
        bail!(
            "ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output)
}

/// Returns the difference of two readings of the counters, in the format of one.
fn difference(before: &str, after: &str) -> String {
    let count = |line: &str| line.split_once(": ")?.1.trim().parse::<u64>().ok();
    let lines = before.lines().zip(after.lines());
    lines
        .map(
            |(before, after)| match (count(before), count(after), after.split_once(": ")) {
                (Some(before), Some(now), Some((name, _))) => {
                    format!("{name}: {}\n", now.saturating_sub(before))
                }
                _ => format!("{after}\n"),
            },
        )
        .collect()
}

/// Tests a disk with enough space for the directory of the run and a few files.
fn disk_full(ground: &TestEnv) -> Result<String> {
    let target = format!("smb://127.0.0.1/{GUEST_SHARE}/{FULL}");
    let output = ground
        .bed
        .probe("write", &target, &["--count", "50", "--size", "65536"])?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    if !said.contains("STATUS_DISK_FULL (0xc000007f)") {
        bail!("ended with {}: {}", output.status, said.trim());
    }
    let left = std::fs::read_dir(ground.directory().join(FULL))?.count();
    if left > 0 {
        bail!("{left} files were left in it");
    }
    Ok(format!("ended with {}", output.status))
}

fn interrupted(ground: &TestEnv) -> Result<String> {
    let target = format!("smb://127.0.0.1/{GUEST_SHARE}");
    let arguments = [
        "probe",
        "create",
        &target,
        "--duration",
        "20s",
        "-j",
        "4",
        "--as",
        "json",
        "--no-calibrate",
    ];
    let end = checks::cut_short(&ground.bed, &arguments, process::Running::interrupt)?;
    checks::ended(&end, 130, "interrupted")
}

/// Runs the load `office` on the guest share for a second.
fn office(ground: &TestEnv, options: &[&str]) -> Result<Record> {
    let share = format!("smb://127.0.0.1/{GUEST_SHARE}");
    let always = ["replay", "office", "--on", &share, "--as", "json"];
    let mut command = ground.bed.command(&[&always, options].concat());
    let folder = &ground.bed.folder;
    // Whether the run counts is not relevant: a read-only load may miss files that a whole
    // iteration makes.
    Record::read_ended(&process::run(&mut command, &[], folder, checks::RUN_LIMIT)?)
}

/// Returns the names in the clients' trees, with the time of their last change.
fn clients_trees(ground: &TestEnv) -> Result<String> {
    let clients = ground.directory().join("clients");
    let mut find = Command::new("find");
    let find = find.arg(&clients).args(["-printf", "%P %s %T@\n"]);
    let found = find.output().context("find did not start")?;
    let mut lines: Vec<&str> = str::from_utf8(&found.stdout)?.lines().collect();
    lines.sort_unstable();
    Ok(lines.join("\n"))
}

fn reading_only(ground: &TestEnv) -> Result<String> {
    office(ground, &["-d", "1s", "--warm-up", "0", "--skip-cleanup"])?;
    let before = clients_trees(ground)?;
    let record = office(ground, &["-d", "1s", "--read-only"])?;
    if clients_trees(ground)? != before {
        bail!("it changed the tree");
    }
    office(ground, &["--run-once", "--remove-leftover"])?;
    let number = |name: &str| record.number(&format!("/replay/{name}"));
    let (written, read) = (number("bytes_written")?, number("bytes_read")?);
    let left_out = record.list("/replay/left_out").len();
    if written > 0.0 || read <= 0.0 || left_out == 0 {
        bail!("{written} bytes written, {read} read, {left_out} kinds left out");
    }
    Ok(format!("{read} bytes read, {left_out} kinds left out"))
}

/// Runs the load `office` with smbtorture's command line, as the user.
fn smbtorture(ground: &TestEnv, options: &[&str]) -> Result<Output> {
    let share = format!("//127.0.0.1/{USER_SHARE}");
    let always = ["as", "smbtorture", &share, "-U", USER, "--loadfile=office"];
    let mut command = ground.bed.command(&[&always, options].concat());
    command.env("FILESTONE_PASSWORD", RIGHT.password);
    process::run(&mut command, &[], &ground.bed.folder, checks::RUN_LIMIT)
}

fn as_smbtorture(ground: &TestEnv) -> Result<String> {
    let output = smbtorture(ground, &["--num-progs=4", "-t", "3", "bench.nbench"])?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let has = |words: &[&str]| {
        let mut lines = said.lines();
        lines.any(|line| words.iter().all(|word| line.contains(word)))
    };
    let throughput = said
        .lines()
        .find_map(|line| line.strip_prefix("Throughput "));
    let rate = throughput.and_then(|line| line.strip_suffix(" MB/sec")?.parse::<f64>().ok());
    let is_whole = has(&["4 clients started"])
        && has(&["   4  ", "MB/sec  execute", "latency", "msec"])
        && has(&["MB/sec  cleanup 3 sec"])
        && has(&["success: nbench"]);
    match rate.filter(|rate| *rate > 1.0) {
        Some(rate) if is_whole && output.status.success() => Ok(format!("{rate} MB/sec")),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("ended with {}: {said}{errors}", output.status)
        }
    }
}

fn as_smbtorture_over_smb1(ground: &TestEnv) -> Result<String> {
    let output = smbtorture(ground, &["-m", "NT1", "bench.nbench"])?;
    checks::refused(&output, 1, &["SMB1 is not spoken", "-m SMB3_11"])
}

fn nothing_is_left(ground: &TestEnv) -> Result<String> {
    let server = ground.servers.get(Purpose::Open);
    let status = server.status(&ground.bed.folder)?;
    let (sessions, files) = (status.sessions().count(), status.open_files());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(ground.directory())? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    if names != [FILE, DIRECTORY, FULL] || sessions + files > 0 {
        bail!(
            "{sessions} sessions, {files} open files, and {}",
            names.join(", ")
        );
    }
    Ok(format!(
        "no session, no open file, and {}",
        names.join(", ")
    ))
}
