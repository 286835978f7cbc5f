//! The loads as texts. That they are true is for `cargo xtask loads` and its tests,
//! which know nothing of the writer.

use super::*;

/// What stands in the repository.
fn published(made: Made) -> &'static str {
    match made {
        Made::Office => include_str!("../../../../../loads/office.load"),
        Made::Build => include_str!("../../../../../loads/build.load"),
        Made::Untar => include_str!("../../../../../loads/untar.load"),
        Made::Mail => include_str!("../../../../../loads/mail.load"),
        Made::Database => include_str!("../../../../../loads/database.load"),
    }
}

#[test]
fn each_load_comes_out_bit_by_bit_as_it_is_published() {
    for made in Made::ALL {
        let differs = made
            .text()
            .lines()
            .zip(published(made).lines())
            .position(|(new, old)| new != old);
        assert_eq!(differs, None, "{}: run `cargo xtask loads`", made.name());
        assert_eq!(made.text().len(), published(made).len(), "{}", made.name());
    }
}

#[test]
fn each_load_says_what_it_is_before_it_begins() {
    for made in Made::ALL {
        let text = made.text();
        let head: Vec<&str> = text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .collect();
        assert!(head[0].contains(made.name()) && head[0].contains(made.about()));
        assert!(head.iter().any(|line| line.contains("MIT OR Apache-2.0")));
        assert!(head.iter().any(|line| line.contains("seed 1")));
    }
}

#[test]
fn no_load_keeps_time() {
    for made in Made::ALL {
        for line in made.text().lines() {
            let first = line.as_bytes().first().copied().unwrap_or(b'0');
            assert!(first == b'#' || first.is_ascii_uppercase(), "{line}");
            assert!(!line.starts_with("SLEEP"), "{line}");
        }
    }
}

#[test]
fn names_lead_back_to_their_loads() {
    for made in Made::ALL {
        assert_eq!(Made::from_name(made.name()), Some(made));
    }
    assert_eq!(Made::from_name("Office"), None);
}
