//! Case-insensitive lookup of names for SMB.

use std::collections::HashMap;
use std::sync::Arc;

/// The names of a directory by their case-folded spelling.
///
/// Created when a lookup first fails with the exact spelling, and maintained from then on;
/// directories that only NFS uses never have one.
#[derive(Debug, Default)]
pub struct CaseFoldIndex(HashMap<Box<str>, Vec<Arc<[u8]>>>);

impl CaseFoldIndex {
    pub fn insert(&mut self, name: &Arc<[u8]>) {
        self.0.entry(fold(name)).or_default().push(Arc::clone(name));
    }

    pub fn remove(&mut self, name: &[u8]) {
        let folded = fold(name);
        if let Some(alike) = self.0.get_mut(&folded) {
            alike.retain(|other| other.as_ref() != name);
            if alike.is_empty() {
                self.0.remove(&folded);
            }
        }
    }

    /// Returns the name that differs in case only and was inserted first.
    pub fn find(&self, name: &[u8]) -> Option<&Arc<[u8]>> {
        self.0.get(&fold(name))?.first()
    }
}

/// Returns a name in lower case. A name that is not UTF-8 has no lower case, and its bytes are
/// compared as they are.
fn fold(name: &[u8]) -> Box<str> {
    let text = String::from_utf8_lossy(name);
    text.chars().flat_map(char::to_lowercase).collect()
}
