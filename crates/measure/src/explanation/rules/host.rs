//! Rules about the load generator and its host.

use crate::explanation::Limit;
use crate::explanation::evidence::{Evidence, amount, rate};
use crate::explanation::generator::GeneratorPart;
use crate::measure::Caveat;
use crate::measure::shortfall::Shortfall;
use crate::measure::verdict::caveats::{did_not_run, waited_for_others};
use crate::measure::verdict::{
    CheckSubject, achieved_load_ops_per_s, due_load_ops_per_s, generator_use,
};
use filestone_workload::text::{counted, time_text};

/// Minimum time of threads waiting for a CPU, in percent; below it the effect is negligible.
const WAITED_MIN: f64 = 10.0;

/// No CPU time was left, or operations were sent so late that load was lost.
pub(super) fn generator(evidence: &Evidence<'_>, _: f64) -> Option<Limit> {
    let is_busy = evidence.generator == GeneratorPart::Limit;
    if !is_busy && evidence.shortfall() != Some(Shortfall::Generator) {
        return None;
    }
    let (record, used) = (evidence.record, generator_use(evidence.record)?);
    let busy = used.percent;
    let late_ns = record.totals.dispatch_delay_ns.mean;
    let workers = record.plan.workers;
    let what = if let (true, Some(processors)) = (is_busy, used.processors) {
        format!(
            "its {workers} workers used {busy:.0} % of the time of {} processors",
            amount(processors)
        )
    } else if is_busy {
        format!(
            "worker {} of {workers} was busy for {busy:.0} % of the time",
            used.worker
        )
    } else {
        format!(
            "operations left {} late on average, though its workers were at most {busy:.0} % busy",
            time_text(late_ns)
        )
    };
    let due = due_load_ops_per_s(record).filter(|_| evidence.shortfall().is_some());
    let lost = due.map_or_else(String::new, |due| {
        format!(
            ", and of {}/s that were due {}/s were achieved",
            rate(due),
            rate(achieved_load_ops_per_s(record))
        )
    });
    let suggestion = if workers < record.host.cpus && used.processors.is_none() {
        format!(
            "more workers (--workers {}, of {}) or a second host: the server may take more than this",
            record.host.cpus,
            counted(record.host.cpus.into(), "processor")
        )
    } else {
        "a second host, or one with more processors: the server may take more than this".into()
    };
    let told = Limit::new(format!("the load generator: {what}{lost}"), suggestion);
    Some(
        told.with("busy_percent", busy)
            .with("dispatch_delay_mean_ns", late_ns),
    )
}

/// The load generator could not run: the time that it measured then is its own pause.
pub(super) fn absent(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let caveat = did_not_run(evidence.record)?;
    let Caveat::DidNotRun { percent, .. } = caveat else {
        return None;
    };
    if percent < most {
        return None;
    }
    let (sentence, help) = caveat.sentence();
    let told = Limit::new(
        format!("time in which the load generator could not run: {sentence}"),
        help.unwrap_or_default(),
    );
    Some(told.with("did_not_run_percent", percent))
}

pub(super) fn other_programs(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let Caveat::CpuRunDelay {
        worker,
        run_delay_percent: waited_percent,
    } = waited_for_others(evidence.record)?
    else {
        return None;
    };
    if waited_percent < most {
        return None;
    }
    let target = &evidence.record.target;
    let is_server_among_them = target.local && !target.built_in && !evidence.is_directory();
    let among_them = if is_server_among_them {
        ", the server among them"
    } else {
        ""
    };
    let told = Limit::new(
        format!(
            "other programs on this host{among_them}: thread {worker} of the load generator was ready to run but \
             had no processor for {waited_percent:.0} % of the time"
        ),
        "end them, give the load generator a processor of its own (--pin), or use another host; then \
         measure again",
    );
    Some(told.with("waited_percent", waited_percent))
}

/// Response times that consist in good part of the load generator's delay.
pub(super) fn late(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let mut checks = evidence.checks.iter().filter(|check| check.fails());
    let (late_ns, response_ns) = checks.find_map(|check| match check.subject {
        CheckSubject::DispatchDelay {
            response_time_mean_ns,
            ..
        } => Some((check.figure, response_time_mean_ns)),
        _ => None,
    })?;
    let percent = 100.0 * late_ns / response_ns;
    if percent < most || evidence.shortfall() == Some(Shortfall::Generator) {
        return None;
    }
    let told = Limit::new(
        format!(
            "the load generator, as to response times: operations left {} late on average, which is \
             {percent:.0} % of the mean response time of {}",
            time_text(late_ns),
            time_text(response_ns)
        ),
        "leave a processor to the load generator, use --busy-poll, or offer less; service times are \
         without it",
    );
    Some(
        told.with("dispatch_delay_mean_ns", late_ns)
            .with("response_time_mean_ns", response_ns),
    )
}

/// The host runs the server, too, all its CPUs are busy, and the load generator had to wait for
/// one. Time that workers spin for replies does not count as busy.
pub(super) fn processors(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let record = evidence.record;
    if !(record.target.local || evidence.is_directory()) {
        return None;
    }
    let used = record.processors.as_ref()?;
    let spun_ns: u64 = record.totals.workers.iter().map(|of| of.busy_poll_ns).sum();
    let spun = spun_ns as f64 / record.window_ns.max(1) as f64;
    let own = (used.own_percent / 100.0 - spun).max(0.0);
    let others = used.others_percent.unwrap_or(0.0) / 100.0;
    let all = f64::from(used.processors.max(1));
    let percent = (100.0 * (own + others) / all).min(100.0);
    if percent < most || used.run_delay_percent < WAITED_MIN {
        return None;
    }
    let (shared, suggestion) = if evidence.is_directory() {
        (
            "which do the file system's work, too",
            "fewer clients than processors show what one operation takes; more clients only wait for \
             a processor",
        )
    } else {
        (
            "which the server shares with the load generator",
            "a server on another host, or the load generator on another one",
        )
    };
    let told = Limit::new(
        format!(
            "this host's processors, {shared}: {percent:.0} % of {} were in use, {} of them by \
             filestone and {} by other programs, and the load generator's threads waited for one for \
             {:.0} % of the time",
            counted(used.processors.into(), "processor"),
            amount(own),
            amount(others),
            used.run_delay_percent
        ),
        suggestion,
    );
    Some(
        told.with("processors", all)
            .with("own_processors", own)
            .with("others_processors", others)
            .with("waited_percent", used.run_delay_percent),
    )
}
