//! What does not go together on the command line of `filestone mix`, and why.

use crate::error::Error;
use crate::options::mix::{
    FILES_OF_ALL_MAX, MixArrivals, MixLoadOptions, MixOptions, MixTargetOptions, SteeringOptions,
};
use crate::options::nfs::Transport;
use crate::quantity::grouped;
use filestone_model::file_set::Layout;
use filestone_model::plan::{FileSetPlan, TargetPlan};

/// A datagram holds 65,507 bytes; the headers of the call and the reply need some of them.
const UDP_SIZE_MAX: u32 = 63 << 10;

/// Refuses what contradicts itself, whatever the target says.
pub fn refuse(options: &MixOptions) -> Result<(), Error> {
    refuse_in_load(&options.load)?;
    refuse_in_steering(&options.load, &options.steering)?;
    if let Some(_on) = &options.target.on {
        refuse_through_mount(options)?;
    }
    match (options.target.transport, options.access.transfer) {
        (Some(Transport::Udp), Some(bytes)) if bytes > UDP_SIZE_MAX => Err(Error::usage(format!(
            "--transfer {bytes}: a datagram holds at most {UDP_SIZE_MAX} bytes of data"
        ))
        .with_help("use --transport tcp, or --transfer 32K")),
        _ => Ok(()),
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
            "--search-time says how long the search may take",
            "the search begins low and finds its way",
        ),
    };
    let refused = [
        (
            load.arrivals == Some(MixArrivals::Closed),
            "--arrivals closed",
            "a closed loop has no offered load that could be steered",
            "use --arrivals poisson or constant",
        ),
        (
            load.offered.is_some(),
            "--offered",
            "the load is what is looked for",
            offered,
        ),
        (
            load.count.is_some(),
            "--count",
            "what is found ends the run, not a number of operations",
            time,
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

/// What a mount has nothing to do with.
fn refuse_through_mount(options: &MixOptions) -> Result<(), Error> {
    let load = &options.load;
    if options.steering.curve || options.steering.slo.is_some() {
        let option = if options.steering.curve {
            "--curve"
        } else {
            "--slo"
        };
        return Err(Error::usage(format!(
            "{option} with --on local: the load through a mount is corrected every 2 s by what \
             its counters show, too slowly to be steered"
        ))
        .with_help("name the server as TARGET, or run --on local:DIR at several --offered"));
    }
    if load.arrivals == Some(MixArrivals::Closed) && !options.target.no_feedback {
        return Err(Error::usage(
            "--arrivals closed with --on local: feedback corrects an offered load, and there is \
             none",
        )
        .with_help("add --no-feedback, or leave --arrivals out"));
    }
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
            "{option} with --on local: each client is a thread that makes one system call at a \
             time"
        ))
        .with_help("--clients says how many there are; the mount's options say the rest"));
    }
    if let Some(option) = first_given(&in_target(&options.target)) {
        return Err(Error::usage(format!(
            "{option} with --on local: this host's NFS client has its own way to the server"
        ))
        .with_help("mount the directory with the options that you want"));
    }
    Ok(())
}

fn in_target(target: &MixTargetOptions) -> [(&'static str, bool); 6] {
    [
        ("--transport", target.transport.is_some()),
        ("--port", target.nfs.port.is_some()),
        ("--mount-port", target.nfs.mount_port.is_some()),
        ("--reserved-port", target.nfs.reserved_port),
        ("--uid", target.nfs.uid.is_some()),
        ("--gid", target.nfs.gid.is_some()),
    ]
}

fn first_given(options: &[(&'static str, bool)]) -> Option<&'static str> {
    let given = options.iter().find(|(_, is_given)| *is_given);
    given.map(|(name, _)| *name)
}

/// Several directories are those of one server, each named once.
pub fn refuse_strangers(targets: &[TargetPlan]) -> Result<(), Error> {
    let Some(first) = targets.first() else {
        return Ok(());
    };
    if let Some(stranger) = targets.iter().find(|other| !first.is_beside(other)) {
        return Err(Error::usage(format!(
            "{} and {} are different servers: what a mix finds out is about one",
            first, stranger
        ))
        .with_help("name directories of the same server, in the same spelling and with one port"));
    }
    for (index, target) in targets.iter().enumerate() {
        if targets.iter().take(index).any(|before| before == target) {
            return Err(Error::usage(format!("{} is named twice", target))
                .with_help("--clients alone makes more clients in one directory"));
        }
    }
    Ok(())
}

/// What cannot be a file set, and what is too large to be one: the table of all files is
/// held in memory.
pub fn refuse_set(set: &FileSetPlan, clients: u32) -> Result<(), Error> {
    let all = u64::from(set.files_per_client) * u64::from(clients);
    if all > FILES_OF_ALL_MAX {
        return Err(Error::usage(format!(
            "--files {}: {} clients would have {} files, more than {}",
            set.files_per_client,
            grouped(clients.into()),
            grouped(all),
            grouped(FILES_OF_ALL_MAX)
        ))
        .with_help("--files is per client; use fewer of either"));
    }
    let layout = Layout::of(set, clients);
    layout.map(|_| ()).map_err(|refusal| {
        Error::usage(format!("the file set: {refusal}")).with_help(refusal.help())
    })
}
