//! Scenarios as data: commands with their expected exit codes, output and records.
//!
//! A sheet of scenarios is TOML; [`Sheet`], [`Scenario`] and [`Step`] describe its fields. In all texts of a step
//! `{name}` stands for a variable of the test bed, of `each`, or for `{folder}`, `{filestone}`, `{count}`, and
//! `{port}`, `{port2}`, `{port3}` and `{port4}`, which are free when the scenario starts.

mod assertion;
mod mix;

use crate::guest::Guest;
use crate::process::{self, Logged, Running};
use crate::record::{self, Record};
use crate::table;
use anyhow::{Context, Result, bail, ensure};
use regex_lite::Regex;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Time limit of a run without another one.
pub const RUN_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of a server to start, and to end after SIGINT.
const SERVER_LIMIT: Duration = Duration::from_secs(20);
/// Longest description of a result, in characters.
const SAID_MAX: usize = 4000;
/// Time from the start of a command to the script that runs beside it.
const INTO_RUN: Duration = Duration::from_millis(1500);

/// The program, the folder and the peers that scenarios need.
pub struct Bed {
    /// Path of filestone.
    pub filestone: PathBuf,
    /// Folder of all files.
    pub folder: PathBuf,
    /// Operations per run.
    pub count: u32,
    /// Values of names in scenarios.
    pub variables: BTreeMap<String, String>,
    /// Machine with Linux's servers and clients, if there is one.
    pub guest: Option<Guest>,
}

/// A sheet of scenarios.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sheet {
    /// Options of every run of a command that the run does not have itself.
    #[serde(default)]
    options: BTreeMap<String, String>,
    /// Named lists of assertions.
    #[serde(default)]
    checks: BTreeMap<String, Vec<String>>,
    /// Variables, whose values may contain other ones.
    #[serde(default)]
    variables: BTreeMap<String, String>,
    /// Named lists of steps.
    #[serde(default)]
    steps: BTreeMap<String, Vec<Step>>,
    scenario: Vec<Scenario>,
}

/// A scenario, which passes if all its steps do.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Scenario {
    name: String,
    /// Whether it is a function, because it cannot be expressed as data.
    is_code: bool,
    /// Whether it only runs with `--thorough`.
    is_thorough: bool,
    /// Whether it only runs with `--only`.
    is_named: bool,
    /// An environment variable; without it the scenario is skipped.
    needs: Option<String>,
    /// Time limit of each step, in seconds.
    limit_s: Option<u64>,
    /// Variables, in addition to those of the sheet.
    variables: BTreeMap<String, String>,
    /// Files in the folder, and their content.
    files: BTreeMap<String, String>,
    /// Named lists of steps, which come before the steps of the scenario.
    steps: Vec<String>,
    step: Vec<Step>,
    /// Description of the result. Expressions of [`assertion`] in braces stand for values of the last record,
    /// `{error}` for the last error, and `{line}` for the last line that matched `output`.
    said: String,
}

/// A step: one of `run`, `sh`, `guest`, `serve` and `answer`, and its expected result.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Step {
    /// Arguments of filestone.
    run: Option<String>,
    /// Command that starts filestone, such as a launcher of jobs.
    under: String,
    /// Shell script on this host, in the folder.
    sh: Option<String>,
    /// Shell script in the guest.
    guest: Option<String>,
    /// Shell script of a server, which is interrupted at the end of the scenario, and its address.
    serve: Option<String>,
    at: String,
    /// Reply of a server at `{answering}` to all connections; if it is empty the server sends nothing.
    answer: Option<String>,
    /// Environment variables of a run.
    env: BTreeMap<String, String>,
    /// Shell script that starts 1.5 s after a run; its variable RUN is the process ID of the run.
    beside: Option<String>,
    /// Shell script that runs in the guest at the same time.
    guest_beside: Option<String>,
    /// Values of variables: the step is repeated for every combination.
    each: BTreeMap<String, Vec<String>>,
    /// Permitted exit codes; by default 0, or that of a run whose sends were late because of other programs.
    codes: Vec<i32>,
    /// Texts in the standard error output, which must also have a line that begins with `error: `.
    errors: Vec<String>,
    /// Regular expressions, each of a line of the output.
    output: Vec<String>,
    /// The same for a run whose sends were late.
    late_output: Vec<String>,
    /// Named lists of assertions on the record, or `mix`: shares and load are right.
    check: Vec<String>,
    /// Assertions on the record.
    record: Vec<String>,
}

/// Name of a scenario, and the function that runs it and describes its result.
pub type Code<B> = (&'static str, fn(&B) -> Result<String>);

impl AsRef<Self> for Bed {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Bed {
    /// Returns a bed without variables and without a guest.
    pub fn new(filestone: PathBuf, folder: &Path, count: u32) -> Self {
        Self {
            filestone,
            folder: folder.to_owned(),
            count,
            variables: BTreeMap::new(),
            guest: None,
        }
    }

    /// Returns a command of filestone with these arguments, which contain no spaces.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.filestone);
        command.args(line.split_whitespace());
        command
    }

    /// Runs filestone.
    pub fn run(&self, line: &str) -> Result<Output> {
        process::run(&mut self.command(line), &[], &self.folder, RUN_LIMIT)
            .with_context(|| format!("filestone {line}"))
    }

    /// Runs a probe with these arguments.
    pub fn probe(&self, line: &str) -> Result<Output> {
        self.run(&format!(
            "probe {line} --format json --no-calibrate --timeout 10s"
        ))
    }

    /// Returns the guest.
    pub fn guest(&self) -> Result<&Guest> {
        self.guest.as_ref().context("this test has no guest")
    }

    /// Defines a variable.
    pub fn define(&mut self, name: &str, value: impl ToString) {
        self.variables.insert(name.into(), value.to_string());
    }
}

/// Which scenarios of a sheet run.
#[derive(Clone, Copy, Default)]
pub struct Selection<'o> {
    /// Only scenarios whose names contain this.
    pub only: Option<&'o str>,
    /// Also scenarios that take long.
    pub is_thorough: bool,
}

/// Runs the scenarios of a sheet. Returns whether each had the expected result.
pub fn run<B: AsRef<Bed>>(
    sheet: &str,
    codes: &[Code<B>],
    bed: &B,
    selection: Selection<'_>,
) -> Result<bool> {
    let sheet: Sheet = toml::from_str(sheet)?;
    let (mut rows, mut is_good) = (Vec::new(), true);
    let count = bed.as_ref().count.to_string();
    for scenario in &sheet.scenario {
        let name = &scenario.name.replace("{count}", &count);
        let only = selection.only;
        let is_wanted = only.map_or(!scenario.is_named, |only| name.contains(only));
        if !is_wanted || scenario.is_thorough && !selection.is_thorough {
            continue;
        }
        let start = Instant::now();
        let result = if scenario.is_code {
            let code = codes.iter().find(|(of, _)| of == name);
            code.context("there is no function")
                .and_then(|(_, code)| code(bed))
        } else {
            Course::new(bed.as_ref(), &sheet, scenario).and_then(Course::run)
        };
        is_good &= result.is_ok();
        let word = if result.is_ok() { "ok" } else { "wrong" };
        let said = result.unwrap_or_else(|error| format!("{error:#}"));
        let said = said.chars().take(SAID_MAX).collect();
        let seconds = format!("{:.1} s", start.elapsed().as_secs_f64());
        rows.push(vec![name.clone(), word.to_owned(), seconds, said]);
    }
    println!();
    let head = ["scenario", "", "took", "what it said"];
    print!("{}", table::lay_out(&head, &rows, false));
    Ok(is_good)
}

/// A scenario that runs.
struct Course<'b> {
    bed: &'b Bed,
    sheet: &'b Sheet,
    scenario: &'b Scenario,
    variables: BTreeMap<String, String>,
    servers: Vec<Running>,
    record: Value,
    error: String,
    line: String,
}

impl<'b> Course<'b> {
    fn new(bed: &'b Bed, sheet: &'b Sheet, scenario: &'b Scenario) -> Result<Self> {
        let mut variables = bed.variables.clone();
        variables.extend(sheet.variables.clone());
        variables.extend(scenario.variables.clone());
        let text = |path: &PathBuf| path.display().to_string();
        variables.insert("folder".into(), text(&bed.folder));
        variables.insert("filestone".into(), text(&bed.filestone));
        variables.insert("count".into(), bed.count.to_string());
        for name in ["port", "port2", "port3", "port4"] {
            variables.insert(name.into(), process::free_port()?.to_string());
        }
        Ok(Self {
            bed,
            sheet,
            scenario,
            variables,
            servers: Vec::new(),
            record: Value::Null,
            error: String::new(),
            line: String::new(),
        })
    }

    fn run(mut self) -> Result<String> {
        if let Some(needed) = &self.scenario.needs
            && std::env::var_os(needed).is_none()
        {
            return Ok(format!("left out: there is no {needed}"));
        }
        for (name, content) in &self.scenario.files {
            std::fs::write(self.bed.folder.join(name), content)?;
        }
        for name in &self.scenario.steps {
            let named = self.sheet.steps.get(name);
            for step in named.with_context(|| format!("there are no steps {name}"))? {
                self.repeat(step, step.each.iter().collect())?;
            }
        }
        for step in &self.scenario.step {
            self.repeat(step, step.each.iter().collect())?;
        }
        for server in self.servers.drain(..) {
            server.interrupt()?;
            server.wait(SERVER_LIMIT)?;
        }
        Ok(self.said())
    }

    /// Runs a step for every combination of its variables.
    fn repeat(&mut self, step: &Step, mut each: Vec<(&String, &Vec<String>)>) -> Result<()> {
        let Some((name, values)) = each.pop() else {
            return self.step(step);
        };
        for value in values {
            self.variables.insert(name.clone(), value.clone());
            self.repeat(step, each.clone())
                .with_context(|| value.clone())?;
        }
        Ok(())
    }

    /// Replaces the variables in a text.
    fn fill(&self, text: &str) -> String {
        let fill = |text: String, (name, value): (&String, &String)| {
            text.replace(&format!("{{{name}}}"), value)
        };
        // A value may contain another variable, whose value may contain a third one.
        (0..3).fold(text.to_owned(), |text, _| {
            self.variables.iter().fold(text, fill)
        })
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        if let Some(script) = &step.serve {
            let address = self.fill(&step.at).parse()?;
            let server = serve(&mut self.shell(script), address)?;
            self.servers.push(server);
            return Ok(());
        }
        if let Some(answer) = &step.answer {
            let port = listen(answer.clone().into_bytes())?;
            self.variables.insert("answering".into(), port.to_string());
            return Ok(());
        }
        let limit = self.scenario.limit_s.map_or(RUN_LIMIT, Duration::from_secs);
        let guest = |script: &str| self.bed.guest()?.spawn(&self.fill(script));
        let beside = step.guest_beside.as_deref().map(guest).transpose()?;
        let (output, what) = if let Some(script) = &step.guest {
            let output = self.bed.guest()?.run(&self.fill(script), limit)?;
            std::fs::write(self.bed.folder.join("guest-errors"), &output.stderr)?;
            (output, "the guest".to_owned())
        } else {
            let (mut command, what) = self.command(step)?;
            let output = self.output(&mut command, step.beside.as_deref(), limit);
            (output.with_context(|| what.clone())?, what)
        };
        if let Some(beside) = beside {
            beside.wait(limit)?;
        }
        self.evaluate(step, &output).with_context(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            let doubts = ["failures", "mismatches", "caveats"].map(|name| {
                let all = assertion::text(&self.record, &format!("/totals/kinds/*/{name}"));
                let own = assertion::text(&self.record, &format!("/{name}"));
                let replayed = assertion::text(&self.record, &format!("/replay/{name}"));
                [all, own, replayed]
                    .into_iter()
                    .flatten()
                    .collect::<String>()
            });
            let doubts = doubts.join(" ");
            format!(
                "{what}: {}: {} {}",
                output.status,
                said.trim(),
                doubts.trim()
            )
        })
    }

    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", &self.fill(script)])
            .current_dir(&self.bed.folder);
        command
    }

    /// Returns the command of a step, and its text.
    fn command(&self, step: &Step) -> Result<(Command, String)> {
        if let Some(script) = &step.sh {
            return Ok((self.shell(script), format!("`{}`", self.fill(script))));
        }
        let line = self.fill(step.run.as_deref().context("a step without a command")?);
        let name = line.split(' ').next().unwrap_or_default();
        let options = self.sheet.options.get(name).map_or("", String::as_str);
        let options = options.split("--").map(str::trim);
        let own: Vec<&str> = line.split(' ').collect();
        let missing = options.filter(|option| {
            let name = option.split(' ').next().unwrap_or_default();
            !name.is_empty() && !own.contains(&&*format!("--{name}"))
        });
        let added: String = missing.map(|option| format!(" --{option}")).collect();
        let line = line.clone() + &added;
        let mut command = self.bed.command(&line);
        let under = self.fill(&step.under);
        let mut words = under.split_whitespace();
        if let Some(program) = words.next() {
            let own = std::mem::replace(&mut command, Command::new(program));
            command
                .args(words)
                .arg(own.get_program())
                .args(own.get_args());
        }
        command.envs(
            step.env
                .iter()
                .map(|(name, value)| (name, self.fill(value))),
        );
        Ok((command, format!("filestone {line}")))
    }

    /// Runs a command to its end, and a script beside it.
    fn output(
        &self,
        command: &mut Command,
        beside: Option<&str>,
        limit: Duration,
    ) -> Result<Output> {
        let folder = &self.bed.folder;
        let Some(beside) = beside else {
            return process::run(command, &[], folder, limit);
        };
        let logged = Logged::start(command, &[], folder)?;
        std::thread::sleep(INTO_RUN);
        let mut script = self.shell(beside);
        let script = script
            .env("RUN", logged.running.id().to_string())
            .output()?;
        let said = String::from_utf8_lossy(&script.stderr);
        ensure!(script.status.success(), "`{beside}`: {}", said.trim());
        logged.wait(limit)
    }

    /// Checks what is expected of a step.
    fn evaluate(&mut self, step: &Step, output: &Output) -> Result<()> {
        let is_late = record::is_late(output);
        let code = output.status.code();
        let is_expected = match step.codes.as_slice() {
            [] => code == Some(0) || step.sh.is_none() && is_late,
            codes => code.is_some_and(|code| codes.contains(&code)),
        };
        ensure!(is_expected, "unexpected exit code");
        let errors = String::from_utf8_lossy(&output.stderr);
        if !step.errors.is_empty() {
            let error = errors.lines().find(|line| line.starts_with("error: "));
            self.error = error.context("no line begins with \"error: \"")?.to_owned();
        }
        for text in &step.errors {
            let text = self.fill(text);
            ensure!(errors.contains(&text), "does not say \"{text}\"");
        }
        let late = step.late_output.as_slice();
        let is_other = is_late && !late.is_empty();
        for pattern in if is_other { late } else { &step.output } {
            let said = String::from_utf8_lossy(&output.stdout);
            let pattern = Regex::new(&self.fill(pattern))?;
            let line = said.lines().find(|line| pattern.is_match(line));
            self.line = line
                .with_context(|| format!("no line matches {pattern}: {said}"))?
                .into();
        }
        if step.check.is_empty() && step.record.is_empty() {
            return Ok(());
        }
        self.record = serde_json::from_slice(&output.stdout).context("it printed no record")?;
        for name in &step.check {
            match self.sheet.checks.get(name) {
                Some(assertions) => self.hold(assertions)?,
                None if name == "mix" => self.line = mix::right(&Record::read(output)?)?,
                None => bail!("there is no check {name}"),
            }
        }
        self.hold(&step.record)
    }

    fn hold(&self, assertions: &[String]) -> Result<()> {
        let mut all = assertions.iter();
        all.try_for_each(|one| assertion::check(&self.record, &self.fill(one)))
    }

    fn said(&self) -> String {
        let mut text = self.fill(&self.scenario.said);
        text = text
            .replace("{error}", &self.error)
            .replace("{line}", &self.line);
        while let Some((before, rest)) = text.split_once('{') {
            let Some((expression, after)) = rest.split_once('}') else {
                break;
            };
            let value = assertion::text(&self.record, expression);
            text = format!("{before}{}{after}", value.unwrap_or_default());
        }
        text
    }
}

fn serve(command: &mut Command, address: SocketAddr) -> Result<Running> {
    let mut server = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()), &[])?;
    server.wait_for(address, SERVER_LIMIT)?;
    Ok(server)
}

/// Answers every connection with `answer`, or sends nothing if it is empty. Returns the port.
fn listen(answer: Vec<u8>) -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    // The thread ends with this process, without being joined.
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().flatten() {
            if answer.is_empty() {
                kept.push(stream);
            } else {
                let _ = stream.read(&mut [0; 512]);
                let _ = stream.write_all(&answer);
            }
        }
    });
    Ok(port)
}

/// Checks that a sheet can be read, and that these are its scenarios that are functions.
#[cfg(test)]
pub fn check_sheet(sheet: &str, codes: &[&str]) {
    let sheet: Sheet = toml::from_str(sheet).expect("a sheet");
    let is_code = sheet.scenario.iter().filter(|scenario| scenario.is_code);
    let names: Vec<&str> = is_code.map(|scenario| scenario.name.as_str()).collect();
    assert_eq!(names, codes);
    let names = sheet.scenario.iter().flat_map(|scenario| &scenario.steps);
    names.for_each(|name| assert!(sheet.steps.contains_key(name), "{name}"));
    let own = sheet.scenario.iter().flat_map(|scenario| &scenario.step);
    for step in own.chain(sheet.steps.values().flatten()) {
        let kinds = [&step.run, &step.sh, &step.guest, &step.serve, &step.answer];
        assert_eq!(kinds.into_iter().flatten().count(), 1);
        let is_known = |name: &String| name == "mix" || sheet.checks.contains_key(name);
        assert!(step.check.iter().all(is_known), "{:?}", step.check);
    }
}
