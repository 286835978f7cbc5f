//! Control of a fleet, shared by all interfaces through which it is controlled.

use super::RequestHandler;
use filestone_protocol::fleet_control::ControlAnswer;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest pause after a reply.
const REST_MAX: Duration = Duration::from_millis(100);

/// Handle to control a running fleet. Clones control the same fleet.
///
/// Requests are answered one after the other, and after each the thread that serves them pauses for
/// four times the time of the reply: regardless of the number of requests and interfaces, they use
/// at most a fifth of a processor.
#[derive(Clone)]
pub struct FleetControl(Arc<Mutex<Answering>>);

struct Answering {
    serves: Box<dyn RequestHandler>,
    rests_until: Instant,
}

impl FleetControl {
    /// Returns a handle whose requests `serves` answers.
    pub fn new(serves: impl RequestHandler) -> Self {
        Self(Arc::new(Mutex::new(Answering {
            serves: Box::new(serves),
            rests_until: Instant::now(),
        })))
    }

    /// Returns how long to wait before the next request.
    pub fn rest(&self) -> Duration {
        let answering = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answering
            .rests_until
            .saturating_duration_since(Instant::now())
    }

    /// Returns the reply to a line. The caller has waited for [`Self::rest`].
    pub fn answer(&self, line: &[u8]) -> ControlAnswer {
        let mut answering = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        let answer = answering.serves.answer(line);
        answering.rests_until = Instant::now() + (4 * begun.elapsed()).min(REST_MAX);
        answer
    }
}

impl fmt::Debug for FleetControl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FleetControl")
    }
}
