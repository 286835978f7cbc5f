//! Names whatever their case: what SMB finds an entry by that is spelt otherwise.

use std::collections::HashMap;
use std::sync::Arc;

/// The names of a directory by their folded spelling.
///
/// It is made when a name is first looked for that is not there as it is spelt, and kept up from
/// then on; directories that only NFS uses never have one.
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

    /// A name that differs in case only, the one that was entered first.
    pub fn find(&self, name: &[u8]) -> Option<&Arc<[u8]>> {
        self.0.get(&fold(name))?.first()
    }
}

/// A name in lower case. What is no UTF-8 has none, and its bytes are told apart no further.
fn fold(name: &[u8]) -> Box<str> {
    let text = String::from_utf8_lossy(name);
    text.chars().flat_map(char::to_lowercase).collect()
}
