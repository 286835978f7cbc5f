//! The report for people, by what was run.

use super::parts::page::{Detail, Page};
use super::{mix, probe, replay};
use filestone_model::measure::RunRecord;

/// The whole report; caveats are told apart from it, on standard error.
pub fn render(record: &RunRecord, detail: Detail, page: Page) -> String {
    if record.replay.is_some() {
        replay::render(record, detail, page)
    } else if record.mix.is_some() {
        mix::render(record, detail, page)
    } else {
        probe::render(record, detail, page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::canned;

    #[test]
    fn a_plain_run() {
        insta::assert_snapshot!(render(&canned::plain(), Detail::Whole, Page::default()));
    }

    #[test]
    fn a_run_with_errors_and_companions() {
        insta::assert_snapshot!(render(
            &canned::with_errors(),
            Detail::Clients,
            Page::default()
        ));
    }

    #[test]
    fn an_open_loop_that_was_interrupted() {
        insta::assert_snapshot!(render(
            &canned::interrupted(),
            Detail::Whole,
            Page::default()
        ));
    }
}
