//! Rejects options of `filestone mix` that cannot be combined, with reasons.

use crate::error::Error;
use crate::options::mix::{
    MixArrivals, MixLoadOptions, MixOptions, MixTargetOptions, SteeringOptions,
};
use crate::planning::{OptionsOf, first_given, refuse_unused, server_options, share};

/// Rejects contradictions that do not depend on the target.
pub fn refuse(options: &MixOptions) -> Result<(), Error> {
    refuse_in_load(&options.load)?;
    refuse_in_steering(&options.load, &options.steering)?;
    match &options.target.layer {
        Some(_) => refuse_through_mount(options),
        None => refuse_without_mount(&options.target),
    }
}

fn refuse_in_load(load: &MixLoadOptions) -> Result<(), Error> {
    match (load.arrivals, load.offered) {
        (Some(MixArrivals::Closed), Some(offered)) => Err(Error::usage(format!(
            "--offered {offered}: with --arrivals closed the server's pace decides on the load"
        ))
        .with_help("leave one of them out; --clients and --in-flight make a closed loop busier")),
        _ => Ok(()),
    }
}

fn refuse_in_steering(load: &MixLoadOptions, steering: &SteeringOptions) -> Result<(), Error> {
    let what = match (steering.curve, steering.slo) {
        (true, _) => "--curve",
        (false, Some(_)) => "--slo",
        (false, None) => return Ok(()),
    };
    let (time, offered) = match what {
        "--curve" => (
            "--point-duration says how long each load point is measured",
            "--peak RATE names the highest load point",
        ),
        _ => (
            "--search-timeout says how long the search may take",
            "the search begins low and finds its way",
        ),
    };
    let refused = [
        (
            load.offered.is_some(),
            "--offered",
            "the load is what is looked for",
            offered,
        ),
        (
            load.duration.is_some(),
            "--duration",
            "what is found ends the run, not the clock",
            time,
        ),
        (
            load.warm_up.is_some(),
            "--warm-up",
            "every load has a warm-up of its own, and a test ends it",
            match what {
                "--curve" => "--point-warm-up says how long it may take",
                _ => "leave it out",
            },
        ),
    ];
    let refused = refused.into_iter().find(|(is_given, ..)| *is_given);
    refused.map_or(Ok(()), |(_, option, why, help)| {
        Err(Error::usage(format!("{option} with {what}: {why}")).with_help(help))
    })
}

/// Rejects options that only the kernel's NFS client has.
fn refuse_without_mount(target: &MixTargetOptions) -> Result<(), Error> {
    let given = first_given(&[
        ("--proc", target.proc.is_some()),
        ("--no-feedback", target.no_feedback),
    ]);
    let layers = &["local"];
    refuse_unused(&[], &[OptionsOf { layers, given }])
}

/// Rejects options that do not apply to a mount.
fn refuse_through_mount(options: &MixOptions) -> Result<(), Error> {
    let load = &options.load;
    let in_load = [
        ("--in-flight", load.in_flight.is_some()),
        ("--workers", load.workers.is_some()),
        ("--busy-poll", load.generator.busy_poll),
        ("--pin", load.generator.pin.is_some()),
        ("--timeout", load.generator.timeout.is_some()),
        ("--reconnect", load.generator.reconnect.is_some()),
    ];
    if let Some(option) = first_given(&in_load) {
        return Err(Error::usage(format!(
            "{option} with --layer local: each client is a thread that makes one system call at a \
             time"
        ))
        .with_help("--clients says how many there are; the mount's options say the rest"));
    }
    if options.access.stable.is_some() {
        return Err(Error::usage(
            "--stable with --layer local: the kernel decides how its WRITEs are stored",
        )
        .with_help("mount the directory with the option sync"));
    }
    share::refuse_options(&options.share, "the target is no SMB share")?;
    let target = &options.target;
    let in_target = first_given(&[("--transport", target.transport.is_some())])
        .or_else(|| first_given(&server_options(&target.nfs)));
    if let Some(option) = in_target {
        return Err(Error::usage(format!(
            "{option} with --layer local: this host's NFS client has its own way to the server"
        ))
        .with_help("mount the directory with the options that you want"));
    }
    Ok(())
}
