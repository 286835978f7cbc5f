//! Compares the run's operations with the limits of the server. Runs that exceed them are refused
//! before they begin, because each of their operations would be refused.

use super::connection::ConnectedShare;
use super::error::SmbError;
use filestone_plan::plan::{Plan, SmbTarget};
use filestone_protocol::session::smb2::{BYTES_OF_CREDIT, SmbTransferLimits};
use filestone_workload::operation::OpKind;
use filestone_workload::text::thousands;

/// Returns the server's limits if they are sufficient for the run.
pub fn limits_for(
    connection: &mut ConnectedShare,
    plan: &Plan,
    target: &SmbTarget,
) -> Result<SmbTransferLimits, SmbError> {
    let limits = connection.limits()?;
    let granted = connection.session().credits();
    let kinds: Vec<OpKind> = match (plan.probe(), plan.mix()) {
        (Some(probe), _) => vec![probe.operation],
        (None, Some(mix)) => mix.kinds().iter().map(|(kind, _)| *kind).collect(),
        (None, None) => Vec::new(),
    };
    let path = || target.to_string();
    // The change is made while its notification is pending.
    if kinds.contains(&OpKind::Notify) && granted < 2 {
        return Err(SmbError::BeyondLimits {
            path: path(),
            needs: "notify has two requests under way, which take 2 credits".into(),
            takes: format!("grants {granted} at most"),
            help: "have the server grant more credits (Samba: smb2 max credits)".into(),
        });
    }
    let size = plan.workload.transfer_bytes().unwrap_or_default();
    let moved = [
        (OpKind::Read, limits.read),
        (OpKind::Write, limits.write),
        (OpKind::Commit, limits.write),
    ];
    let beyond = moved
        .into_iter()
        .find(|(kind, most)| kinds.contains(kind) && size > *most);
    let Some((kind, most)) = beyond else {
        return Ok(limits);
    };
    let needed = size.div_ceil(BYTES_OF_CREDIT);
    let is_by_credits = u64::from(most) == u64::from(granted) * u64::from(BYTES_OF_CREDIT);
    let (needs, takes) = if is_by_credits {
        (
            format!("takes {needed} credits"),
            format!("grants {granted} at most"),
        )
    } else {
        (
            "is one request".into(),
            format!("takes {} bytes in one", thousands(most.into())),
        )
    };
    Err(SmbError::BeyondLimits {
        path: path(),
        needs: format!(
            "{} of {} bytes {needs}",
            kind.name(),
            thousands(size.into())
        ),
        takes,
        help: format!("use --io-size {most} or less"),
    })
}
