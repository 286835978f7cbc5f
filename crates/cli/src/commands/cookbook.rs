//! `filestone fleet cookbook`: the procedure of LANforge's cookbook "Scalability Testing with NFS
//! File-IO" as one command. Half of the clients read what the other half writes, and 25 more
//! clients start at a time; the transfer size changes during the run, to 1 MiB and back, and the
//! load generator's memory is read after each step.

use crate::error::Error;
use crate::execution::interruption;
use crate::execution::rounds::pause;
use crate::execution::server_command::ServerCommand;
use crate::execution::verdict::{FailingCaveats, exit_of};
use crate::options::fleet::CookbookOptions;
use crate::options::run_report::DocumentFormat;
use crate::{ExitStatus, console};
use filestone_host::control_socket::{ask, running};
use filestone_host::system::resident_bytes_of;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::RunOutcome;
use filestone_protocol::fleet_control::{
    Answer, ControlRequest, FleetRequest, ListRequest, SetRequest,
};
use filestone_report::cookbook::{self, CookbookRow, SIZES};
use filestone_report::json;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The cookbook's numbers of clients, preceded by one pair, whose memory is the part that all rows
/// share.
const CLIENTS: [u32; 4] = [2, 100, 250, 500];
/// Clients that start at a time, and the time until the next start.
const STEP: u32 = 25;
const EVERY_NANOS: u64 = 1_000_000_000;
/// Maximum rate of each client.
const RATE: &str = "100Mbit/s";
/// Default duration of one transfer size.
const PHASE_NANOS: u64 = 5_000_000_000;
/// Time between the memory reading of a phase and the end of the phase.
const BEFORE_END_NANOS: u64 = 300_000_000;
/// Interval between polls of a fleet's progress.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// Time without an answer after which a fleet counts as unreachable.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Maximum time for the server to start.
const START_MAX: Duration = Duration::from_secs(20);
/// Server memory for each client: two files of a megabyte, doubled.
const SERVER_BYTES_OF_CLIENT: u64 = 4_000_000;
const SERVER_BYTES_MIN: u64 = 1 << 30;

/// Runs all rows and prints the table.
pub fn run(options: &CookbookOptions) -> Result<ExitStatus, Error> {
    let numbers = numbers(options.to);
    let most = numbers.iter().copied().max().unwrap_or(0);
    let program = program()?;
    if options.plan {
        console::result(&plan(options, &numbers, most))?;
        return Ok(ExitStatus::Done);
    }
    let stop = interruption::stop_flag()?;
    let server = match &options.target {
        Some(_) => None,
        None => Some(server(&program, most, &stop)?),
    };
    let own = server.as_ref().map(|(_, address)| address.clone());
    let target = options.target.clone().or(own).unwrap_or_default();
    let mut rows: Vec<CookbookRow> = Vec::new();
    let made = make(&mut rows, &program, options, &numbers, &target, &stop);
    if !rows.is_empty() {
        show(&rows, options.format)?;
    }
    made?;
    Ok(ended(&rows, stop.load(Ordering::Relaxed)))
}

/// Runs rows up to one that does not complete, because its cause would also end the next one.
fn make(
    rows: &mut Vec<CookbookRow>,
    program: &Path,
    options: &CookbookOptions,
    numbers: &[u32],
    target: &str,
    stop: &AtomicBool,
) -> Result<(), Error> {
    for clients in numbers {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        console::note(&format!("{clients} clients"));
        let (row, steered) = row(program, options, *clients, target, stop)?;
        console::caveats(&row.record);
        let is_whole = matches!(row.record.end, RunOutcome::Finished);
        rows.push(row);
        steered?;
        if !is_whole {
            break;
        }
    }
    Ok(())
}

fn show(rows: &[CookbookRow], format: DocumentFormat) -> Result<(), Error> {
    match format {
        DocumentFormat::Json => {
            let records: Vec<&RunRecord> = rows.iter().map(|row| &row.record).collect();
            console::result(&json::document(&records)?)?
        }
        DocumentFormat::Text => console::result(&cookbook::report(rows).text(console::page()))?,
    };
    Ok(())
}

/// Returns the worst exit code of the rows. After ^C it is the one for ^C, because that is the only
/// reason why the interrupted row does not count.
fn ended(rows: &[CookbookRow], is_interrupted: bool) -> ExitStatus {
    let exits = rows.iter().map(exit_of_row);
    match exits.max().unwrap_or(ExitStatus::Done) {
        exit if is_interrupted && exit < ExitStatus::LedgerError => ExitStatus::Interrupted,
        exit => exit,
    }
}

fn exit_of_row(row: &CookbookRow) -> ExitStatus {
    exit_of(&row.record, &FailingCaveats::None)
}

/// Returns the cookbook's numbers of clients, doubled further up to `to`.
fn numbers(to: Option<u32>) -> Vec<u32> {
    let mut numbers = CLIENTS.to_vec();
    let to = to.unwrap_or(0);
    while let Some(last) = numbers.last().copied().filter(|last| *last < to) {
        numbers.push(last.saturating_mul(2).min(to));
    }
    numbers
}

fn phase(options: &CookbookOptions) -> u64 {
    options.duration.unwrap_or(PHASE_NANOS)
}

/// Returns the time until all clients have started, in nanoseconds.
fn ramp(clients: u32) -> u64 {
    u64::from(clients.div_ceil(STEP).saturating_sub(1)) * EVERY_NANOS
}

/// Returns the command of a row.
fn words(options: &CookbookOptions, clients: u32, target: &str) -> Vec<String> {
    let readers = clients / 2;
    let duration = phase(options).saturating_mul(SIZES.len() as u64);
    let rate = options.rate.as_deref().unwrap_or(RATE);
    let mut words = vec![
        "fleet".into(),
        "--format=json".into(),
        format!("--readers={readers}"),
        format!("--writers={}", clients - readers),
        format!("--io-size={}", SIZES[0].1),
        format!("--rate={rate}"),
        format!("--duration={duration}ns"),
    ];
    if clients > STEP {
        words.push(format!("--step={STEP}"));
        words.push(format!("--every={EVERY_NANOS}ns"));
    }
    words.extend(
        options
            .source
            .iter()
            .map(|source| format!("--source={source}")),
    );
    words.push(target.into());
    words
}

/// Returns the settings that change the transfer size of a row's groups.
fn changes(size: &str) -> [SetRequest; 2] {
    [("writers", "write_size"), ("readers", "read_size")].map(|(which, key)| SetRequest {
        which: which.into(),
        settings: [(key.to_string(), size.to_string())].into(),
        dry_run: false,
    })
}

fn server_words(clients: u32) -> Vec<String> {
    let memory = u64::from(clients).saturating_mul(SERVER_BYTES_OF_CLIENT);
    let memory = memory.max(SERVER_BYTES_MIN);
    vec![
        "serve".into(),
        "--port=0".into(),
        format!("--memory={memory}"),
    ]
}

/// Formats the commands that would be run.
fn plan(options: &CookbookOptions, numbers: &[u32], most: u32) -> String {
    let mut lines = Vec::new();
    if options.target.is_none() {
        lines.push(format!("filestone {}", server_words(most).join(" ")));
    }
    let target = options.target.as_deref().unwrap_or("nfs://SERVER/export");
    for clients in numbers {
        lines.push(format!(
            "filestone {}",
            words(options, *clients, target).join(" ")
        ));
        for (place, (_, size)) in (1_u64..).zip(SIZES.iter().skip(1)) {
            let at = ramp(*clients) + place * phase(options);
            lines.push(format!("  after {:.1} s, memory, and:", at as f64 / 1e9));
            lines.extend(changes(size).iter().map(|change| {
                let settings = change
                    .settings
                    .iter()
                    .map(|(key, value)| format!("{key}={value}"));
                let settings: Vec<String> = settings.collect();
                format!(
                    "  filestone fleet ctl set {} {}",
                    change.which,
                    settings.join(" ")
                )
            }));
        }
    }
    lines.join("\n") + "\n"
}

fn program() -> Result<PathBuf, Error> {
    std::env::current_exe()
        .map_err(|error| Error::environment(format!("cannot find this program: {error}")))
}

/// Starts the built-in server in a separate process, whose memory is not in the figures, and
/// returns its export.
fn server(
    program: &Path,
    clients: u32,
    stop: &AtomicBool,
) -> Result<(ServerCommand, String), Error> {
    let quoted = program.display().to_string().replace('\'', r"'\''");
    let line = format!("exec '{quoted}' {}", server_words(clients).join(" "));
    let mut server = ServerCommand::start(&line)?;
    let began = Instant::now();
    while began.elapsed() < START_MAX && !stop.load(Ordering::Relaxed) {
        if let Some(export) = export_of(&server.said()) {
            return Ok((server, export));
        }
        if server.ended().is_some() {
            break;
        }
        pause(ASK_EVERY, stop);
    }
    let said = server.said();
    Err(Error::environment(format!(
        "the built-in server did not start: {said}"
    )))
}

/// Extracts `nfs://127.0.0.1:1234/export` from the server's announcement.
fn export_of(said: &str) -> Option<String> {
    let line = said.lines().find(|line| line.contains("nfs://"))?;
    let url = line
        .split_whitespace()
        .find(|word| word.starts_with("nfs://"))?;
    Some(url.strip_suffix("/files").unwrap_or(url).into())
}

/// Runs a row in a separate process, so that its memory is not part of the next row. Returns the
/// row and whether all sizes were used.
fn row(
    program: &Path,
    options: &CookbookOptions,
    clients: u32,
    target: &str,
    stop: &AtomicBool,
) -> Result<(CookbookRow, Result<(), Error>), Error> {
    let words = words(options, clients, target);
    let mut command = Command::new(program);
    let mut fleet = RowFleet::start(command.args(&words), ramp(clients), phase(options))?;
    let steered = fleet.go_through(stop);
    let memory_bytes = fleet.memory_bytes;
    let [out, err] = fleet.end()?;
    // By way of a value, as records in files: a second reader of records would compile for long.
    let record = serde_json::from_slice(&out).and_then(serde_json::from_value::<RunRecord>);
    let record = record.map_err(|_| {
        let told = String::from_utf8_lossy(&err);
        let told = told.lines().find(|line| line.starts_with("error: "));
        let told = told
            .unwrap_or("error: it gave no record")
            .trim_start_matches("error: ");
        Error::target(told).with_help(format!("filestone {}", words.join(" ")))
    })?;
    let row = CookbookRow {
        record,
        memory_bytes,
    };
    // The row's own error explains more than the error of changing its size.
    let steered = match exit_of_row(&row) {
        ExitStatus::Done | ExitStatus::CaveatFailure => steered,
        _ => Ok(()),
    };
    Ok((row, steered))
}

/// The fleet of a row while it runs.
struct RowFleet {
    child: Child,
    /// Standard output (the record) and standard error.
    said: [Option<JoinHandle<Vec<u8>>>; 2],
    /// Memory at the end of each size that was used.
    memory_bytes: [u64; SIZES.len()],
    /// Time when all clients have started, and the duration of each size from then on.
    began: u64,
    phase: u64,
}

impl RowFleet {
    fn start(command: &mut Command, began: u64, phase: u64) -> Result<Self, Error> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Error::environment(format!("cannot start a row: {error}")))?;
        let said = [
            child.stdout.take().map(read_all),
            child.stderr.take().map(read_all),
        ];
        Ok(Self {
            child,
            said,
            memory_bytes: [0; SIZES.len()],
            began,
            phase,
        })
    }

    /// Waits until the row ends; returns both outputs.
    fn end(mut self) -> Result<[Vec<u8>; 2], Error> {
        let ended = self.child.wait();
        ended.map_err(|error| Error::environment(format!("cannot follow a row: {error}")))?;
        let text = |said: Option<JoinHandle<Vec<u8>>>| said.and_then(|said| said.join().ok());
        Ok(self.said.map(|said| text(said).unwrap_or_default()))
    }

    /// Uses one size after the other and reads the memory at the end of each.
    fn go_through(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        for (place, (_, size)) in (0_usize..).zip(SIZES) {
            if place > 0 {
                for change in changes(size) {
                    self.ask(FleetRequest::Set(change))?;
                }
            }
            let end = self.began + (place as u64 + 1) * self.phase;
            self.wait_until(end.saturating_sub(BEFORE_END_NANOS), stop)?;
            let taken = resident_bytes_of(self.child.id()).unwrap_or(0);
            if let Some(place) = self.memory_bytes.get_mut(place) {
                *place = taken;
            }
            self.wait_until(end.saturating_sub(BEFORE_END_NANOS / 2), stop)?;
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }

    /// Waits until the run has lasted `wanted_ns`.
    fn wait_until(&mut self, wanted_ns: u64, stop: &AtomicBool) -> Result<(), Error> {
        let mut answered = Instant::now();
        loop {
            let is_over = matches!(self.child.try_wait(), Ok(Some(_)));
            if is_over || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            match self.ask(FleetRequest::List(ListRequest::default())) {
                Ok(Answer::Fleet(view)) if view.now_ns >= wanted_ns => return Ok(()),
                Ok(_) => answered = Instant::now(),
                // The row has no socket before it runs.
                Err(error) if answered.elapsed() > SILENCE_MAX => return Err(error),
                Err(_) => {}
            }
            pause(ASK_EVERY, stop);
        }
    }

    fn ask(&self, request: FleetRequest) -> Result<Answer, Error> {
        let process = self.child.id();
        let fleet = running().into_iter().find(|fleet| fleet.process == process);
        let fleet = fleet.ok_or_else(|| Error::environment("a row cannot be controlled"))?;
        let answer = ask(&fleet.path, &ControlRequest::new(request))
            .map_err(|error| Error::environment(error.to_string()))?;
        match answer.answer {
            Answer::Refused(refusal) => Err(Error::environment(refusal.what)),
            answer => Ok(answer),
        }
    }
}

/// Reads a pipe to its end: a full pipe without a reader would stop the row.
fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // Data before an error is still used.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_report::fixtures;

    fn options() -> CookbookOptions {
        CookbookOptions {
            target: None,
            to: None,
            duration: Some(2_000_000_000),
            rate: None,
            source: Some("10.9.0.1-10.9.0.9".into()),
            plan: true,
            format: DocumentFormat::Text,
        }
    }

    #[test]
    fn numbers_go_on_twice_as_many_each_time() {
        assert_eq!(numbers(None), CLIENTS);
        assert_eq!(numbers(Some(500)), CLIENTS);
        assert_eq!(numbers(Some(1500)), [2, 100, 250, 500, 1000, 1500]);
    }

    #[test]
    fn the_plan_is_the_cookbooks() {
        let text = plan(&options(), &[2, 100], 100);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "filestone serve --port=0 --memory=1073741824");
        let of_100 = "filestone fleet --format=json --readers=50 --writers=50 --io-size=4K --rate=100Mbit/s \
                      --duration=6000000000ns --step=25 --every=1000000000ns --source=10.9.0.1-10.9.0.9 \
                      nfs://SERVER/export";
        assert_eq!(lines[8], of_100);
        // Three steps of a second, and then each size for two.
        let changed = [
            "  after 5.0 s, memory, and:",
            "  filestone fleet ctl set writers write_size=1M",
            "  filestone fleet ctl set readers read_size=1M",
            "  after 7.0 s, memory, and:",
            "  filestone fleet ctl set writers write_size=4K",
            "  filestone fleet ctl set readers read_size=4K",
        ];
        assert_eq!(lines[9..], changed);
    }

    #[test]
    fn a_server_says_where_its_export_is() {
        let said = "serving NFSv3 and MOUNT at 127.0.0.1:40001\ntry: filestone probe getattr \
                    nfs://127.0.0.1:40001/export/files\n";
        let export = export_of(said);
        assert_eq!(export.as_deref(), Some("nfs://127.0.0.1:40001/export"));
        assert_eq!(export_of("serving"), None);
    }

    #[test]
    fn the_worst_row_decides_the_exit_code() {
        let row = |change: &dyn Fn(&mut RunRecord)| {
            let mut record = fixtures::fleet();
            record.caveats.clear();
            change(&mut record);
            CookbookRow {
                record,
                memory_bytes: [0; SIZES.len()],
            }
        };
        let fine = || row(&|_| ());
        let nothing = row(&|record| {
            record.totals.ledger.failed += record.totals.ledger.ok;
            record.totals.ledger.ok = 0;
        });
        let lost = row(&|record| {
            record.end = RunOutcome::TargetLost {
                message: "gone".into(),
            };
        });
        let unbalanced = row(&|record| record.totals.ledger.ok += 1);
        assert_eq!(ended(&[fine(), fine()], false), ExitStatus::Done);
        assert_eq!(ended(&[fine(), fine()], true), ExitStatus::Interrupted);
        assert_eq!(
            ended(&[fine(), nothing, fine()], false),
            ExitStatus::DoesNotCount
        );
        let lost = [fine(), lost];
        assert_eq!(ended(&lost, false), ExitStatus::TargetLost);
        assert_eq!(ended(&lost, true), ExitStatus::Interrupted);
        assert_eq!(ended(&[unbalanced, fine()], true), ExitStatus::LedgerError);
    }

    #[test]
    fn a_row_that_says_much_comes_to_its_end() {
        let mut much = Command::new("head");
        much.args(["-c", "1000000", "/dev/zero"]);
        let mut fleet = RowFleet::start(&mut much, 0, PHASE_NANOS).expect("head is there");
        let began = Instant::now();
        let waited = fleet.wait_until(u64::MAX, &AtomicBool::new(false));
        assert_eq!(waited, Ok(()));
        assert!(began.elapsed() < SILENCE_MAX, "it was stopped by its pipe");
        let [out, err] = fleet.end().expect("it has ended");
        assert_eq!((out.len(), err.len()), (1_000_000, 0));
    }
}
