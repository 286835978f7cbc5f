//! What controls a fleet, shared by all through whom it is controlled.

use super::RequestHandler;
use filestone_protocol::fleet_control::ControlAnswer;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest rest after an answer.
const REST_MAX: Duration = Duration::from_millis(100);

/// The way to a fleet that runs. Clones lead to the same one.
///
/// Answers are given one after the other, and after each, whoever serves them rests four times as long as
/// it took: however much is asked, and through however many ways, it is a fifth of a processor at most.
#[derive(Clone)]
pub struct FleetControl(Arc<Mutex<Answering>>);

struct Answering {
    serves: Box<dyn RequestHandler>,
    rests_until: Instant,
}

impl FleetControl {
    /// The way to what answers.
    pub fn new(serves: impl RequestHandler) -> Self {
        Self(Arc::new(Mutex::new(Answering {
            serves: Box::new(serves),
            rests_until: Instant::now(),
        })))
    }

    /// How long is still to be waited before something is asked.
    pub fn rest(&self) -> Duration {
        let answering = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answering
            .rests_until
            .saturating_duration_since(Instant::now())
    }

    /// The answer to a line. Whoever asks has waited for [`Self::rest`].
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
