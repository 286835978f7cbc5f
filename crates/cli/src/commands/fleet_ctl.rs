//! `filestone fleet ctl`: sends a request to a running fleet, and prints its reply.

use crate::error::Error;
use crate::options::fleet_ctl::{CtlCommand, CtlOptions, ListOptions, SetOptions, TellOptions};
use crate::options::run_report::DocumentFormat;
use crate::{ExitStatus, console};
use filestone_host::control_socket::{AskError, RunningFleet, ask, running};
use filestone_protocol::fleet_control::{
    Answer, ClientPage, ControlAnswer, ControlRequest, FleetRequest, ListRequest, Refusal,
    SetRequest, ShowRequest, StateRequest,
};
use filestone_report::{fleet_ctl, json};
use std::path::PathBuf;

/// Sends the request and prints the reply.
pub fn run(options: &CtlOptions) -> Result<ExitStatus, Error> {
    let path = socket_of(options)?;
    let request = ControlRequest::new(request_of(&options.command)?);
    let answer = ask(&path, &request).map_err(unanswered)?;
    if let Answer::Refused(refusal) = answer.answer {
        return Err(refused(refusal));
    }
    console::result(&shown(&answer, options.format)?)?;
    Ok(ExitStatus::Done)
}

fn shown(answer: &ControlAnswer, format: DocumentFormat) -> Result<String, Error> {
    match format {
        DocumentFormat::Text => Ok(fleet_ctl::report(&answer.answer).text(console::page())),
        DocumentFormat::Json => Ok(json::document(answer)?),
    }
}

/// Returns the named socket, or that of the only running fleet.
fn socket_of(options: &CtlOptions) -> Result<PathBuf, Error> {
    if let Some(path) = &options.socket {
        return Ok(path.clone());
    }
    let fleets = running();
    if let Some(pid) = options.pid {
        let fleet = fleets.iter().find(|fleet| fleet.process == pid);
        return fleet.map(|fleet| fleet.path.clone()).ok_or_else(|| {
            let what = format!("--pid {pid}: that process runs no fleet of this user");
            Error::usage(what).with_help(those_that_run(&fleets))
        });
    }
    match fleets.as_slice() {
        [only] => Ok(only.path.clone()),
        [] => Err(Error::usage("no fleet of this user runs")
            .with_help("one whose socket is elsewhere: --socket PATH, as its --ctl says")),
        several => Err(Error::usage(format!("{} fleets run", several.len()))
            .with_help(those_that_run(several))),
    }
}

fn those_that_run(fleets: &[RunningFleet]) -> String {
    if fleets.is_empty() {
        return "none runs now".into();
    }
    let pids: Vec<String> = fleets
        .iter()
        .map(|fleet| format!("--pid {}", fleet.process))
        .collect();
    format!("name one: {}", pids.join(", "))
}

fn request_of(command: &CtlCommand) -> Result<FleetRequest, Error> {
    let tell = |options: &TellOptions| StateRequest {
        which: options.which.clone(),
        dry_run: options.dry_run,
    };
    Ok(match command {
        CtlCommand::List(options) => FleetRequest::List(list(options)),
        CtlCommand::Show(options) => FleetRequest::Show(ShowRequest {
            which: options.which.clone(),
        }),
        CtlCommand::Start(options) => FleetRequest::Start(tell(options)),
        CtlCommand::Stop(options) => FleetRequest::Stop(tell(options)),
        CtlCommand::Quiesce(options) => FleetRequest::Quiesce(tell(options)),
        CtlCommand::Set(options) => FleetRequest::Set(set(options)?),
    })
}

fn list(options: &ListOptions) -> ListRequest {
    let wanted = |which: &String| ClientPage {
        which: Some(which.clone()),
        state: options.state.map(Into::into),
        order: options.order,
        first: options.first,
        count: Some(options.count),
        ..ClientPage::default()
    };
    ListRequest {
        clients: options.clients.as_ref().map(wanted),
    }
}

fn set(options: &SetOptions) -> Result<SetRequest, Error> {
    let mut request = SetRequest {
        which: options.which.clone(),
        settings: Default::default(),
        dry_run: options.dry_run,
    };
    for (key, value) in &options.settings {
        if request
            .settings
            .insert(key.clone(), value.clone())
            .is_some()
        {
            return Err(Error::usage(format!("{key} is set twice")));
        }
    }
    Ok(request)
}

fn refused(refusal: Refusal) -> Error {
    let error = Error::usage(refusal.what);
    match refusal.help {
        Some(help) => error.with_help(help),
        None => error,
    }
}

fn unanswered(error: AskError) -> Error {
    match error {
        AskError::Unreachable { path, error } => Error::file(&path, &error)
            .with_help("name the socket of a fleet of this user that runs"),
        AskError::NoAnswer { .. } => Error::environment(error.to_string()),
    }
}
