//! Operation mixes against nfs-ganesha and against the built-in server: the result must have the
//! mix and the load without an error, and the file set must have the right place and content.

use super::checks::{Bed, Scenario};
use crate::process::{self, Running};
use crate::record::{self, Record};
use anyhow::{Context, Result, bail};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

/// Time limit of a single run.
const RUN_LIMIT: Duration = Duration::from_secs(120);
/// The in-memory export of nfs-ganesha.
const MEMORY: &str = "nfs://127.0.0.1/mem";
/// The disk export of nfs-ganesha.
const DISK: &str = "nfs://127.0.0.1/export";
/// Largest permitted relative deviation of an operation's share.
const MIX_LIMIT: f64 = 0.02;
/// Largest permitted relative deviation of the achieved load from the due load.
const LOAD_LIMIT: f64 = 0.005;
/// Least number of operations of a kind whose share is checked: above it the granularity of a
/// shuffled mix is below [`MIX_LIMIT`].
const COUNTABLE: f64 = 500.0;

/// Every procedure, some of them rare.
const ALL_22: &str = "null 2\ngetattr 10\nsetattr 5\nlookup 20\naccess 8\nreadlink 4\nread 14\n\
    write 10\ncreate 3\nmkdir 2\nsymlink 2\nmknod 1\nremove 5\nrmdir 2\nrename 2\nlink 2\n\
    readdir 2\nreaddirplus 2\nfsstat 1\nfsinfo 1\npathconf 1\ncommit 1\n";

/// Scenarios for mixes.
pub const SCENARIOS: &[Scenario] = &[
    ("the default mix, memory export", the_default_mix),
    ("the default mix, ourselves", the_default_mix_to_ourselves),
    ("every built-in mix", every_built_in_mix),
    ("all 22 procedures in a mix", all_procedures),
    ("a file set found again, and removed", a_file_set),
    ("a directory that is not ours", a_foreign_directory),
    ("two directories, three clients", two_directories),
    ("a closed loop, by count", a_closed_loop),
    ("as nhfsstone", as_nhfsstone),
];

/// Scenarios with many runs, for a night: tests compute the same curve and objective in virtual
/// time.
pub const THOROUGH: &[Scenario] = &[
    ("a curve of a queue that is known", a_curve),
    ("an objective of a queue that is known", an_objective),
];

fn run(bed: &Bed, arguments: &[&str]) -> Result<Output> {
    process::run(&mut bed.command(arguments), &[], &bed.folder, RUN_LIMIT)
        .with_context(|| format!("filestone {}", arguments.join(" ")))
}

fn mix(bed: &Bed, target: Option<&str>, options: &[&str]) -> Result<Record> {
    let always = ["--as", "json", "--no-calibrate", "--timeout", "10s"];
    let arguments = [&["mix"], target.as_slice(), &always, options].concat();
    Record::read(&run(bed, &arguments)?)
}

/// Checks that a run has no errors, the right shares and the right load.
fn right(record: &Record) -> Result<String> {
    let number = |pointer: &str| record.number(pointer);
    let (scheduled, ok) = (
        number("/totals/ledger/scheduled")?,
        number("/totals/ledger/ok")?,
    );
    if ok != scheduled {
        bail!("{ok} of {scheduled} ok: {:?}", record.failures());
    }
    let mut worst = 0.0_f64;
    for operation in record.list("/mix/operations") {
        let percent = |name: &str| operation[name].as_f64().unwrap_or_default();
        let (want, got) = (percent("want_percent"), percent("got_percent"));
        let expected = want / 100.0 * scheduled;
        // Granularity of a shuffled mix: one operation more or less for each client.
        let off = (got - want).abs() / want;
        if expected >= COUNTABLE {
            worst = worst.max(off);
        }
        if expected >= COUNTABLE && off > MIX_LIMIT {
            bail!(
                "{}: {got:.3} % instead of {want:.3} %",
                operation["operation"]
            );
        }
    }
    let window = number("/window_ns")? / 1e9;
    let achieved = number("/totals/achieved_load_ops_per_s")?;
    let due = scheduled / window;
    // Operations in flight at the start or end of the window were due within the longest response
    // time.
    let at_edges = number("/totals/response_time_ns/max")? / 1e9 / window;
    if scheduled >= COUNTABLE && (achieved / due - 1.0).abs() > LOAD_LIMIT + at_edges {
        bail!("{achieved:.1} operations/s achieved, {due:.1} were due");
    }
    Ok(format!(
        "{scheduled:.0} operations, {achieved:.0}/s of {due:.0} due, worst share off by {:.2} %, mix by {:.3}",
        100.0 * worst,
        number("/mix/off_by_percent")?
    ))
}

fn the_default_mix(bed: &Bed) -> Result<String> {
    let options = [
        "--offered",
        "2000",
        "-d",
        "5s",
        "--clients",
        "4",
        "--remove-set",
    ];
    right(&mix(bed, Some(MEMORY), &options)?)
}

fn the_default_mix_to_ourselves(bed: &Bed) -> Result<String> {
    right(&mix(
        bed,
        None,
        &["--offered", "2000", "-d", "5s", "--clients", "4"],
    )?)
}

fn every_built_in_mix(bed: &Bed) -> Result<String> {
    let mixes = [
        "nhfsstone",
        "laddis",
        "sfs97",
        "sfs2008",
        "metadata",
        "read-mostly",
        "write-mostly",
    ];
    for name in mixes {
        let options = ["--mix", name, "--offered", "2000", "-d", "1s"];
        right(&mix(bed, Some(DISK), &options)?).with_context(|| name.to_owned())?;
        right(&mix(bed, None, &options)?).with_context(|| format!("{name}, ourselves"))?;
    }
    let gone = mix(bed, Some(DISK), &["--count", "10", "--remove-set"])?;
    right(&gone)?;
    Ok(format!("{} mixes on two servers", mixes.len()))
}

fn all_procedures(bed: &Bed) -> Result<String> {
    let path = bed.folder.join("all.mix");
    std::fs::write(&path, ALL_22)?;
    let name = path.display().to_string();
    let options = [
        "--mix",
        &name,
        "--offered",
        "2000",
        "-d",
        "3s",
        "--remove-set",
    ];
    right(&mix(bed, None, &options)?)?;
    // The in-memory export of nfs-ganesha does not support MKNOD of pipes; the one on disk does.
    right(&mix(bed, Some(DISK), &options)?)
}

/// Returns the directory of the disk export.
fn disk(bed: &Bed) -> PathBuf {
    bed.folder.join("disk")
}

fn a_file_set(bed: &Bed) -> Result<String> {
    let target = Some(DISK);
    // Reads change nothing, so the second run must find everything as expected.
    let options = [
        "--mix",
        "reading.mix",
        "--count",
        "500",
        "--set",
        "found-again",
    ];
    let reading = bed.folder.join("reading.mix");
    std::fs::write(&reading, "read 3\nlookup 2\n")?;
    let reading = reading.display().to_string();
    let options = options.map(|option| {
        if option == "reading.mix" {
            &reading
        } else {
            option
        }
    });
    let first = mix(bed, target, &options)?;
    let second = mix(bed, target, &options)?;
    let removed = mix(bed, target, &[&options[..], &["--remove-set"]].concat())?;
    for record in [&first, &second, &removed] {
        right(record)?;
    }
    let made = |record: &Record| record.number("/mix/file_set/made");
    if made(&first)? < 320.0 || made(&second)? > 0.0 {
        bail!("{} made at first, then {}", made(&first)?, made(&second)?);
    }
    let tree = disk(bed).join("found-again");
    if tree.exists() {
        let doubts = removed.list("/caveats");
        bail!("{} is still there: {doubts:?}", tree.display());
    }
    Ok(format!("made {}, then {}", made(&first)?, made(&second)?))
}

fn a_foreign_directory(bed: &Bed) -> Result<String> {
    let foreign = disk(bed).join("somebodys");
    std::fs::create_dir(&foreign)?;
    std::fs::write(foreign.join("letter"), b"Dear Jane")?;
    let arguments = [
        "mix",
        "nfs://127.0.0.1/export",
        "--set",
        "somebodys",
        "--count",
        "10",
    ];
    let output = run(
        bed,
        &[&arguments[..], &["--remove-set", "--no-calibrate"]].concat(),
    )?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() || !said.contains("error: ") {
        bail!("ended with {}: {said}", output.status);
    }
    if std::fs::read(foreign.join("letter"))? != b"Dear Jane" {
        bail!("the letter was changed");
    }
    std::fs::remove_dir_all(&foreign)?;
    Ok(said.lines().next().unwrap_or_default().to_owned())
}

fn two_directories(bed: &Bed) -> Result<String> {
    let folders = ["one", "two"].map(|name| disk(bed).join(name));
    for folder in &folders {
        std::fs::create_dir(folder)?;
    }
    let arguments = [
        "mix",
        "nfs://127.0.0.1/export/one",
        "nfs://127.0.0.1/export/two",
        "--clients",
        "3",
        "--count",
        "300",
        "--as",
        "json",
        "--no-calibrate",
    ];
    right(&Record::read(&run(bed, &arguments)?)?)?;
    let has =
        |folder: usize, client: &str| folders[folder].join("filestone-set").join(client).exists();
    let found = [(0, "client0000"), (1, "client0001"), (0, "client0002")];
    if let Some((folder, client)) = found.iter().find(|(folder, client)| !has(*folder, client)) {
        bail!("{client} is not in {}", folders[*folder].display());
    }
    let said = right(&Record::read(&run(
        bed,
        &[&arguments[..], &["--remove-set"]].concat(),
    )?)?)?;
    for folder in &folders {
        std::fs::remove_dir(folder).context("something was left in it")?;
    }
    Ok(said)
}

fn a_closed_loop(bed: &Bed) -> Result<String> {
    let options = [
        "--arrivals",
        "closed",
        "--clients",
        "8",
        "--count",
        "8000",
        "--remove-set",
    ];
    right(&mix(bed, Some(MEMORY), &options)?)
}

fn as_nhfsstone(bed: &Bed) -> Result<String> {
    let arguments = [
        "as",
        "nhfsstone",
        "-v",
        "-t",
        "3",
        "-l",
        "300",
        "-p",
        "3",
        MEMORY,
    ];
    let output = run(bed, &arguments)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said
        .lines()
        .find(|line| line.contains("msec/call") && line.contains(" sec "));
    if record::is_late(&output) && said.contains("INVALID RUN") {
        return Ok("not let send in time, and says so".into());
    }
    let Some(line) = line.filter(|_| output.status.success()) else {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("ended with {}: {said}{errors}", output.status);
    };
    Ok(line.to_owned())
}

/// Starts the built-in server as a queue with this number of workers and this service time.
fn queue(bed: &Bed, service: &str, workers: &str) -> Result<(Running, String)> {
    let port = process::free_port()?;
    let text = port.to_string();
    let arguments = [
        "serve",
        "--port",
        &text,
        "--bind",
        "127.0.0.1",
        "--service-time",
        service,
        "--service-workers",
        workers,
    ];
    let mut command = bed.command(&arguments);
    let mut server = Running::start(command.stdout(Stdio::null()), &[])?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    server.wait_for(address, Duration::from_secs(10))?;
    Ok((server, format!("nfs://127.0.0.1:{port}/export")))
}

/// Measures the curve of two workers of 1 ms each: at most 2,000 operations/s.
fn a_curve(bed: &Bed) -> Result<String> {
    let (server, target) = queue(bed, "exp:1ms", "2")?;
    // Virtual-time tests cover the search for the peak; here it would take a minute.
    let options = [
        "--curve",
        "--peak",
        "1800",
        "--points",
        "4",
        "--point-duration",
        "2s",
        "--no-down",
    ];
    let record = mix(bed, Some(&target), &options)?;
    server.interrupt()?;
    server.wait(Duration::from_secs(10))?;
    let peak = record.number("/curve/peak_ops_per_s")?;
    if !(1600.0..2000.0).contains(&peak) {
        bail!("a peak of {peak:.0} operations/s, of 2,000");
    }
    let up = record.list("/curve/points").iter();
    let points = up.filter(|point| point["leg"] == "up").count();
    if points != 4 {
        bail!("{points} points instead of 4");
    }
    // The intervals of four points of 2 s on a busy machine may be too wide to name a knee.
    let knee = record.number("/curve/knee/load_ops_per_s");
    let knee = knee.map_or_else(
        |_| "no knee that could be named".into(),
        |at| format!("knee at {at:.0}/s"),
    );
    Ok(format!("peak {peak:.0}/s of 2,000, {knee}"))
}

fn an_objective(bed: &Bed) -> Result<String> {
    let (server, target) = queue(bed, "exp:1ms", "2")?;
    let options = [
        "--slo",
        "p90<5ms",
        "--search-time",
        "15s",
        "--precision",
        "5%",
    ];
    let record = mix(bed, Some(&target), &options)?;
    server.interrupt()?;
    server.wait(Duration::from_secs(10))?;
    let load = record.number("/objective/load_ops_per_s")?;
    if !(1000.0..2000.0).contains(&load) {
        bail!("{load:.0} operations/s, of 2,000");
    }
    // A search on a busy machine may have found only one of the two.
    let bound = |of: &str| {
        let number = record.number(&format!("/objective/{of}_ops_per_s"));
        number.map_or_else(|_| "unknown".into(), |number| format!("{number:.0}"))
    };
    let (lower, upper) = (bound("lower"), bound("upper"));
    Ok(format!("{load:.0}/s, between {lower} and {upper}"))
}
