//! A password type that prevents accidental output in messages, plans and records.

use core::fmt;

/// A password. It is not printed, not even by `{:?}`, and cannot be serialized.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Creates a password from its text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text, for computations only, never for output.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Prints a placeholder, which does not show the length.
impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_password_is_shown() {
        let password = Password::new("secret".into());
        assert_eq!(format!("{:?}", Some(&password)), "Some(Password(…))");
        assert_eq!(password.reveal(), "secret");
    }
}
