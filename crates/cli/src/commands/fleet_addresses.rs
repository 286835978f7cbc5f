//! `filestone fleet addresses`: adds, removes and lists addresses of this host that clients connect
//! from.

use crate::error::Error;
use crate::execution::interruption;
use crate::options::fleet_addresses::{
    AddressesCommand, AddressesOptions, DownOptions, ShowAddressesOptions, UpOptions,
};
use crate::options::run_report::DocumentFormat;
use crate::{ExitStatus, console};
use filestone_host::addresses::{NetlinkError, execute, list};
use filestone_host::error::{AreaError, RunError};
use filestone_measure::addresses::advice::{for_servers, summary, warnings};
use filestone_measure::addresses::{
    AddressChange, AddressGroup, AddressListing, AddressMethod, OwnedAddresses, to_make, to_remove,
};
use filestone_report::{addresses, json};
use filestone_workload::text::counted;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Minimum number of changes for a progress display; fewer are fast.
const PROGRESS_FROM: u64 = 500;
/// Interval of progress lines where no bar is visible.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// Adds, removes or lists addresses.
pub fn run(options: &AddressesOptions) -> Result<ExitStatus, Error> {
    match &options.command {
        AddressesCommand::Up(options) => up(options),
        AddressesCommand::Down(options) => down(options),
        AddressesCommand::Show(options) => show(options),
    }
}

fn up(options: &UpOptions) -> Result<ExitStatus, Error> {
    let group = group_of(options)?;
    if group.is_loopback() {
        console::note(&format!(
            "{}: nothing is to be made: all of 127.0.0.0/8 are addresses of this host",
            group.addresses
        ));
        return Ok(ExitStatus::Done);
    }
    let naming = options.name.clone().unwrap_or_default();
    let listing = listed()?;
    let changes = to_make(&group, &naming, &listing);
    let changes = changes.map_err(|obstacle| said(NetlinkError::from(obstacle)))?;
    if options.dry_run {
        console::result(&addresses::commands(&changes))?;
    } else if changes.is_empty() {
        console::note(&format!("there already: {}", summary(&group)));
    } else if let Some(exit) = change(&changes, "made")? {
        return Ok(exit);
    } else {
        console::note(&summary(&group));
    }
    console::note(&for_servers(&group, &listing));
    tell_warnings(&[group], &listing);
    Ok(ExitStatus::Done)
}

fn down(options: &DownOptions) -> Result<ExitStatus, Error> {
    let listing = listed()?;
    let changes = to_remove(&listing);
    if options.dry_run {
        console::result(&addresses::commands(&changes))?;
        return Ok(ExitStatus::Done);
    }
    if changes.is_empty() {
        console::note("nothing of filestone is there");
        return Ok(ExitStatus::Done);
    }
    let owned = OwnedAddresses::of(&listing);
    if let Some(exit) = change(&changes, "removed")? {
        return Ok(exit);
    }
    let left = to_remove(&listed()?);
    if let Some(first) = left.first() {
        let count = counted(left.len() as u64, "thing");
        return Err(Error::environment(format!(
            "{count} of filestone came back, or did not go, such as by `{first}`"
        ))
        .with_help("is another `filestone fleet addresses` at work? try again"));
    }
    console::note(&format!("removed: {}", addresses::in_a_line(&owned)));
    Ok(ExitStatus::Done)
}

fn show(options: &ShowAddressesOptions) -> Result<ExitStatus, Error> {
    let listing = listed()?;
    let owned = OwnedAddresses::of(&listing);
    let groups = owned.groups();
    let shown = addresses::ShownAddresses {
        warnings: warnings(&groups, &listing),
        owned,
    };
    console::result(&match options.format {
        DocumentFormat::Text => addresses::report(&shown).text(console::page()),
        DocumentFormat::Json => json::document(&shown)?,
    })?;
    Ok(ExitStatus::Done)
}

/// Returns the requested addresses.
fn group_of(options: &UpOptions) -> Result<AddressGroup, Error> {
    let method = match (&options.aliases, &options.mac_vlans) {
        (Some(link), _) => AddressMethod::Aliases { link: link.clone() },
        (None, Some(parent)) => AddressMethod::MacVlans {
            parent: parent.clone(),
            mode: options.mode.into(),
            gateway: options.gateway,
        },
        (None, None) => AddressMethod::Route,
    };
    AddressGroup::parse(&options.addresses, method).map_err(Error::usage)
}

fn listed() -> Result<AddressListing, Error> {
    list().map_err(said)
}

fn said(error: impl AreaError) -> Error {
    RunError::from(error).into()
}

/// Makes the changes; returns the exit status if it was interrupted.
fn change(changes: &[AddressChange], verb: &str) -> Result<Option<ExitStatus>, Error> {
    let stop = interruption::stop_flag()?;
    let all = changes.len() as u64;
    let bar = bar_of(all);
    let (mut made, mut told) = (0, Instant::now());
    let outcome = execute(changes, &stop, |done| {
        made = done;
        bar.set_position(done);
        if all >= PROGRESS_FROM && bar.is_hidden() && told.elapsed() >= LINE_EVERY {
            told = Instant::now();
            console::note(&format!("{verb}: {done} of {all} changes"));
        }
    });
    bar.finish_and_clear();
    match outcome {
        Ok(()) => Ok(None),
        Err(RunError::Interrupted) if stop.load(Ordering::Relaxed) => {
            console::note(&format!("interrupted after {made} of {all} changes"));
            console::help(
                "`filestone fleet addresses down` removes all that is there of filestone",
            );
            Ok(Some(ExitStatus::Interrupted))
        }
        Err(error) => Err(error.into()),
    }
}

/// Creates a bar if there are many changes and standard error is a terminal.
fn bar_of(changes: u64) -> ProgressBar {
    if changes < PROGRESS_FROM {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(changes), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} changes") {
        bar.set_style(style);
    }
    bar
}

fn tell_warnings(groups: &[AddressGroup], listing: &AddressListing) {
    for warning in warnings(groups, listing) {
        let (what, advice) = warning.sentence();
        console::warning(&what);
        console::help(&advice);
    }
}
