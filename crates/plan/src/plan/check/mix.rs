//! Rules of mixes and their file sets.

use super::error::{RuleMessage, wrong};
use super::sharing::{SharedKind, none_idle, none_twice, one_server};
use super::{FieldName, PlanError, at_least_1, ensure, transfer, within};
use crate::file_set::{FileSetError, Layout};
use crate::plan::limits::{CLIENTS_OF_REPLAY_MAX, FILES_OF_ALL_MAX, LISTING_MIN, SIZE_MAX};
use crate::plan::{ArrivalsPlan, Field, FileSetPlan, Interface, MixPlan, Plan, TargetPlan};
use filestone_workload::operation::OpKind;
use filestone_workload::text::thousands;

/// Error returned when a mix is invalid.
#[derive(Debug, Clone, PartialEq)]
pub enum MixPlanError {
    /// The operation does not correspond to a call.
    Operation(OpKind),
    /// An operation occurs twice.
    OperationTwice(OpKind),
    /// The sum of the shares is 0 or too large.
    Sum,
    /// The target is neither a server nor a directory.
    Target(String),
    /// The number of files exceeds the limit of the file table.
    TooManyFiles {
        /// Files of each client.
        files_per_client: u32,
        /// Number of clients.
        clients: u32,
    },
    /// The file set is invalid.
    FileSet(FileSetError),
    /// Through a mount, each client makes one system call at a time; the field has a larger number.
    OneCallAtATime(Field),
    /// Feedback needs an offered load, which a closed loop does not have.
    FeedbackOfClosed,
}

impl MixPlanError {
    pub(super) fn explanation(&self, name: FieldName) -> RuleMessage {
        match self {
            MixPlanError::Operation(kind) => wrong(format!(
                "{}: {} is no procedure of NFSv3",
                name(Field::Counts),
                kind.name()
            )),
            MixPlanError::OperationTwice(kind) => wrong(format!(
                "{}: {} is there twice",
                name(Field::Counts),
                kind.name()
            )),
            MixPlanError::Sum => wrong(format!(
                "{}: expected a sum of at least 1 and less than 2^64",
                name(Field::Counts)
            )),
            MixPlanError::Target(target) => wrong(format!(
                "{}: {target} is neither an NFS server nor a directory on a mount",
                name(Field::Target)
            )),
            MixPlanError::TooManyFiles {
                files_per_client,
                clients,
            } => wrong(format!(
                "{} {files_per_client}: {} clients would have {} files, more than {}",
                name(Field::FilesPerClient),
                thousands((*clients).into()),
                thousands(files_of_all(*files_per_client, *clients)),
                thousands(FILES_OF_ALL_MAX)
            ))
            .with_help(format!(
                "{} is per client; use fewer of either",
                name(Field::FilesPerClient)
            )),
            MixPlanError::FileSet(error) => {
                wrong(format!("the file set: {error}")).with_help(error.help())
            }
            MixPlanError::OneCallAtATime(field) => wrong(format!(
                "{} with {} local: each client is a thread that makes one system call at a time",
                name(*field),
                name(Field::Target)
            ))
            .with_help(format!(
                "{} says how many there are; the mount's options say the rest",
                name(Field::Clients)
            )),
            MixPlanError::FeedbackOfClosed => wrong(format!(
                "{} closed with {} local: feedback corrects an offered load, and there is none",
                name(Field::Arrivals),
                name(Field::Target)
            ))
            .with_help(format!(
                "add {}, or leave {} out",
                name(Field::NoFeedback),
                name(Field::Arrivals)
            )),
        }
    }
}

pub(super) fn check(plan: &Plan, mix: &MixPlan) -> Result<(), PlanError> {
    check_targets(plan, mix)?;
    if plan.target.is_directory() {
        check_mount(plan, mix)?;
    }
    check_counts(mix)?;
    transfer(&plan.target, Field::TransferBytes, mix.transfer_bytes)?;
    within(
        Field::ListingBytes,
        mix.listing_bytes,
        LISTING_MIN..=SIZE_MAX,
    )?;
    transfer(&plan.target, Field::ListingBytes, mix.listing_bytes)?;
    check_file_set(&mix.file_set, mix, plan.clients)
}

fn check_targets(plan: &Plan, mix: &MixPlan) -> Result<(), PlanError> {
    let targets: Vec<&TargetPlan> = plan.targets().collect();
    let is_nowhere = |target: &&&TargetPlan| match target.interface() {
        Interface::Calls => false,
        Interface::SystemCalls => target.is_built_in(),
        Interface::Bytes => true,
    };
    if let Some(target) = targets.iter().find(is_nowhere) {
        return Err(PlanError::Mix(MixPlanError::Target(target.to_string())));
    }
    one_server(&plan.target, &mix.more_targets)?;
    none_twice(SharedKind::Directories, &targets)?;
    none_idle(SharedKind::Directories, targets.len(), plan.clients)
}

fn check_mount(plan: &Plan, mix: &MixPlan) -> Result<(), PlanError> {
    let one_at_a_time = |field, number: u32| {
        ensure(number == 1, || {
            PlanError::Mix(MixPlanError::OneCallAtATime(field))
        })
    };
    one_at_a_time(Field::InFlight, plan.in_flight)?;
    one_at_a_time(Field::Workers, plan.workers)?;
    within(Field::Clients, plan.clients, 1..=CLIENTS_OF_REPLAY_MAX)?;
    ensure(
        plan.arrivals != ArrivalsPlan::Closed || !mix.local.feedback,
        || PlanError::Mix(MixPlanError::FeedbackOfClosed),
    )
}

fn check_counts(mix: &MixPlan) -> Result<(), PlanError> {
    let mut sum = Some(0_u64);
    for (index, count) in mix.counts.iter().enumerate() {
        let kind = count.operation;
        ensure(OpKind::STATELESS.contains(&kind), || {
            PlanError::Mix(MixPlanError::Operation(kind))
        })?;
        let mut before = mix.counts.iter().take(index);
        ensure(before.all(|before| before.operation != kind), || {
            PlanError::Mix(MixPlanError::OperationTwice(kind))
        })?;
        sum = sum.and_then(|sum| sum.checked_add(count.count));
    }
    ensure(sum.is_some_and(|sum| sum > 0), || {
        PlanError::Mix(MixPlanError::Sum)
    })
}

fn check_file_set(set: &FileSetPlan, mix: &MixPlan, clients: u32) -> Result<(), PlanError> {
    if let Some(bytes) = set.working_set_bytes {
        at_least_1(Field::WorkingSet, bytes)?;
    }
    let mut kinds = mix.kinds().into_iter();
    if kinds.any(|(kind, _)| kind == OpKind::ReadLink) {
        let links = set.symbolic_links_per_client;
        within(Field::SymbolicLinks, links, 1..=u32::MAX)?;
    }
    let files_per_client = set.files_per_client;
    ensure(
        files_of_all(files_per_client, clients) <= FILES_OF_ALL_MAX,
        || {
            PlanError::Mix(MixPlanError::TooManyFiles {
                files_per_client,
                clients,
            })
        },
    )?;
    let layout = Layout::of(set, clients);
    layout
        .map(|_| ())
        .map_err(|error| PlanError::Mix(MixPlanError::FileSet(error)))
}

fn files_of_all(files_per_client: u32, clients: u32) -> u64 {
    u64::from(files_per_client) * u64::from(clients)
}
