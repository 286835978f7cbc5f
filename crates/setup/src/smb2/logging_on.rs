//! Concurrent logon of many clients, which reduces the total time with servers that are distant or
//! slow to set up sessions.

use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_workload::text::thousands;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

/// Maximum number of concurrent logons.
const AT_A_TIME: usize = 32;
/// Interval of progress reports.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Returns the results of `log_on` for all clients, in order. Clients log on one at a time until
/// `is_in` accepts a result, so that a wrong password is tried once and does not lock an account;
/// then concurrently. `log_on` receives whether a client has succeeded before. Ends at the first
/// error.
pub fn all<C: Send, R: Send>(
    clients: Vec<C>,
    context: &mut RunContext<'_>,
    is_in: impl Fn(&R) -> bool,
    log_on: impl Fn(C, bool) -> Result<R, RunError> + Sync,
) -> Result<Vec<R>, RunError> {
    let mut clients = clients.into_iter();
    let mut joined = Vec::with_capacity(clients.len());
    while !joined.last().is_some_and(&is_in)
        && let Some(next) = clients.next()
    {
        context.check_cancelled()?;
        joined.push(log_on(next, false)?);
    }
    let has_failed = AtomicBool::new(false);
    let others = many_at_a_time(clients.collect(), context, |next| {
        if has_failed.load(Ordering::Relaxed) {
            return None;
        }
        let result = log_on(next, true);
        has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
        Some(result)
    })?;
    for other in others.into_iter().flatten() {
        joined.push(other?);
    }
    Ok(joined)
}

/// Returns the results of `log_on` for all clients, in order, executed concurrently. Reports
/// progress, and ends early if the run is stopped.
fn many_at_a_time<C: Send, R: Send>(
    clients: Vec<C>,
    context: &mut RunContext<'_>,
    log_on: impl Fn(C) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    let count = clients.len();
    let left = Mutex::new(clients.into_iter().enumerate());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (done, results) = channel();
    let work = |done: Sender<(usize, R)>| {
        while let Some((place, client)) = next() {
            // The receiver outlives this thread.
            let _ = done.send((place, log_on(client)));
        }
    };
    scope(|scope| {
        let started = (0..AT_A_TIME.min(count)).map(|_| {
            let (work, done) = (&work, done.clone());
            let thread = Builder::new().name("filestone-logon".into());
            thread.spawn_scoped(scope, move || work(done))
        });
        // If no more threads can be created, the existing ones do all the work.
        let started = started.filter(Result::is_ok).count();
        if started == 0 {
            work(done.clone());
        }
        drop(done);
        let mut gathered: Vec<Option<R>> = (0..count).map(|_| None).collect();
        gather(
            &results,
            &mut gathered,
            context,
            || while next().is_some() {},
        );
        context.check_cancelled()?;
        Ok(gathered.into_iter().flatten().collect())
    })
}

/// Stores each result at its index. When the run is stopped, logons in progress are cancelled and
/// `forget` prevents further ones.
fn gather<R>(
    results: &Receiver<(usize, R)>,
    gathered: &mut [Option<R>],
    context: &mut RunContext<'_>,
    forget: impl Fn(),
) {
    let (mut made, count) = (0, thousands(gathered.len() as u64));
    let mut tell_at = Instant::now() + TELL_EVERY;
    loop {
        match results.recv_timeout(tell_at.saturating_duration_since(Instant::now())) {
            Ok((place, result)) => {
                made += 1;
                if let Some(to) = gathered.get_mut(place) {
                    *to = Some(result);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                tell_at = Instant::now() + TELL_EVERY;
                context.preparing(&format!(
                    "{} of {count} clients have logged on",
                    thousands(made)
                ));
                if context.check_cancelled().is_err() {
                    forget();
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_host::control::NoObserver;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn results_are_in_the_order_of_clients_and_many_are_under_way() {
        let stop = AtomicBool::new(false);
        let mut observer = NoObserver;
        let mut context = RunContext::new(&stop, &mut observer);
        let under_way = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let results = many_at_a_time((0..200).collect(), &mut context, |client: u32| {
            let now = 1 + under_way.fetch_add(1, Ordering::SeqCst);
            most.fetch_max(now, Ordering::SeqCst);
            // The first logons wait until others are in progress.
            while client < 8 && most.load(Ordering::SeqCst) < 8 {
                std::thread::yield_now();
            }
            under_way.fetch_sub(1, Ordering::SeqCst);
            2 * client
        });
        let results = results.expect("nobody stops it");
        assert_eq!(
            results,
            (0..200).map(|client| 2 * client).collect::<Vec<_>>()
        );
        assert!((8..=AT_A_TIME).contains(&most.load(Ordering::SeqCst)));
    }

    #[test]
    fn without_clients_there_is_nothing_to_wait_for() {
        let stop = AtomicBool::new(false);
        let mut observer = NoObserver;
        let mut context = RunContext::new(&stop, &mut observer);
        let results = many_at_a_time(Vec::<u32>::new(), &mut context, |client| client);
        assert_eq!(results.expect("nobody stops it"), Vec::<u32>::new());
    }

    #[test]
    fn they_are_one_by_one_until_one_is_in_and_end_with_the_first_error() {
        let stop = AtomicBool::new(false);
        let mut observer = NoObserver;
        let mut context = RunContext::new(&stop, &mut observer);
        let told = Mutex::new(vec![]);
        let is_in = |client: &u32| *client >= 3;
        let log_on = |client: u32, is_anybody_in: bool| {
            told.lock()
                .expect("nobody panics")
                .push((client, is_anybody_in));
            Ok(client)
        };
        let joined = all((0..100).collect(), &mut context, is_in, log_on);
        assert_eq!(joined.expect("no error"), (0..100).collect::<Vec<_>>());
        let told = told.into_inner().expect("nobody panics");
        assert_eq!(told[..4], [(0, false), (1, false), (2, false), (3, false)]);
        assert!(told[4..].iter().all(|(_, is_anybody_in)| *is_anybody_in));

        let tried = AtomicUsize::new(0);
        let ended = all(
            (0..100_000).collect(),
            &mut context,
            |_| true,
            |client: u32, _| {
                tried.fetch_add(1, Ordering::SeqCst);
                match client {
                    0 => Ok(()),
                    _ => Err(RunError::Internal("refused".into())),
                }
            },
        );
        assert!(ended.is_err());
        assert!(tried.load(Ordering::SeqCst) <= 1 + AT_A_TIME);
    }

    #[test]
    fn nobody_begins_once_it_is_stopped() {
        let stop = AtomicBool::new(false);
        let mut observer = NoObserver;
        let mut context = RunContext::new(&stop, &mut observer);
        let begun = AtomicUsize::new(0);
        let ended = many_at_a_time((0..100_000).collect(), &mut context, |_: u32| {
            begun.fetch_add(1, Ordering::SeqCst);
            stop.store(true, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(20));
        });
        assert!(ended.is_err());
        assert!(begun.load(Ordering::SeqCst) < 100_000);
    }
}
