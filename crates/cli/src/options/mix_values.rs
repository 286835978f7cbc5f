//! Values of options that only `filestone mix` has.

use crate::options::call_target::{self, CallTarget};
use filestone_plan::plan::limits::PRECISION_RANGE;
use filestone_plan::plan::{FileSizes, Objective, Popularity};

/// The longest name that file systems commonly take.
const SET_NAME_MAX: usize = 255;

/// A directory of a server.
pub fn server_directory(text: &str) -> Result<CallTarget, String> {
    call_target::parse(text).map_err(|expected| {
        if text.starts_with(['/', '.']) {
            format!("a directory of this host is named by --layer local:{text}")
        } else {
            expected
        }
    })
}

/// How long files are.
pub fn file_sizes(text: &str) -> Result<FileSizes, String> {
    let sizes = text.parse::<FileSizes>();
    sizes.map_err(|refusal| format!("{refusal}; {}", refusal.help()))
}

/// What must hold.
pub fn objective(text: &str) -> Result<Objective, String> {
    let objective = text.parse::<Objective>();
    objective.map_err(|error| error.to_string())
}

/// A share: `2%` or `2` is 0.02.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let share = number.parse::<f64>().ok().map(|percent| percent / 100.0);
    share
        .filter(|share| PRECISION_RANGE.contains(share))
        .ok_or_else(|| "expected a percentage from 0.1% to 50%".into())
}

/// Which files are chosen how often.
pub fn popularity(text: &str) -> Result<Popularity, String> {
    const EXPECTED: &str = "expected uniform, zipf or zipf:EXPONENT, such as zipf:0.9";
    let exponent = match text.split_once(':') {
        None if text == "uniform" => return Ok(Popularity::Uniform),
        None if text == "zipf" => Some(1.0),
        Some(("zipf", number)) => number.parse().ok(),
        None | Some(_) => None,
    };
    let exponent = exponent.ok_or(EXPECTED)?;
    let popularity = Popularity::Zipf { exponent };
    let checked = popularity.check();
    checked.map_err(|refusal| format!("{refusal}; {}", refusal.help()))?;
    Ok(popularity)
}

/// Name of a directory in the target.
pub fn set_name(text: &str) -> Result<String, String> {
    if is_set_name(text) {
        Ok(text.into())
    } else {
        Err(format!(
            "expected the name of a directory in TARGET, without /, of at most {SET_NAME_MAX} bytes"
        ))
    }
}

/// Whether a file set may be called so: one name, and not one that means another directory.
fn is_set_name(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
        && text.len() <= SET_NAME_MAX
        && !text.contains(|letter: char| letter == '/' || letter.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_in_percent() {
        assert_eq!(percent("2%"), Ok(0.02));
        assert_eq!(percent("50"), Ok(0.5));
        for text in ["0", "0.01%", "51", "nan", "two", "-1%", ""] {
            assert!(percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn popularity_is_uniform_or_zipfs_with_an_exponent() {
        assert_eq!(popularity("uniform"), Ok(Popularity::Uniform));
        assert_eq!(popularity("zipf"), Ok(Popularity::Zipf { exponent: 1.0 }));
        assert_eq!(
            popularity("zipf:0.8"),
            Ok(Popularity::Zipf { exponent: 0.8 })
        );
        for text in [
            "",
            "zipf:",
            "zipf:-1",
            "zipf:101",
            "zipf:nan",
            "uniform:1",
            "hot",
        ] {
            assert!(popularity(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_set_has_a_name_of_its_own() {
        assert_eq!(set_name("filestone-set"), Ok("filestone-set".into()));
        for text in ["", ".", "..", "a/b", "/", "a\nb"] {
            assert!(set_name(text).is_err(), "{text}");
        }
        assert!(set_name(&"x".repeat(256)).is_err());
    }
}
