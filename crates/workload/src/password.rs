//! A password: it gets into no message, plan or record by accident.

use core::fmt;

/// A password. It is not shown, not even by `{:?}`, and no document can hold it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The password that is spelt so.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// How it is spelt: for what computes with it, and for nothing that a person reads.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Nothing of it, not even its length.
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
