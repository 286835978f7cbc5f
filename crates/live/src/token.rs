//! The secret that authorizes changes of a run.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

/// Bytes of a token: too many to guess.
const LEN: usize = 24;

/// A random token created for this process.
#[derive(Clone)]
pub struct AccessToken(String);

/// The host provides no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("this host gives no random numbers for a token: {0}")]
pub struct NoRandomness(getrandom::Error);

impl AccessToken {
    /// Creates a token from the random numbers of the operating system.
    pub fn new() -> Result<Self, NoRandomness> {
        let mut bytes = [0; LEN];
        getrandom::fill(&mut bytes).map_err(NoRandomness)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Returns the text shown to the user who started the run.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether `shown` is this token. The comparison takes constant time.
    pub fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_is_it() {
        let token = AccessToken::new().expect("random numbers");
        let text = token.text().to_owned();
        assert_eq!(text.len(), 32);
        assert!(token.is(&text));
        for other in ["", "x", &text[1..], &text[..31], &(text.clone() + "x")] {
            assert!(!token.is(other), "{other}");
        }
        let another = AccessToken::new().expect("random numbers");
        assert!(!another.is(&text));
        assert_eq!(format!("{token:?}"), "Token");
    }
}
