//! An action stored with its names in reusable memory.

use filestone_workload::load::LoadAction;

/// An action with its names stored separately.
#[derive(Debug)]
pub struct OwnedAction {
    /// The action, without its names.
    action: LoadAction<'static>,
    /// The concatenated names.
    names: Vec<u8>,
    /// End of each name.
    ends: [usize; 2],
}

impl Default for OwnedAction {
    fn default() -> Self {
        Self {
            action: LoadAction::FileSystemStatus,
            names: Vec::new(),
            ends: [0; 2],
        }
    }
}

impl OwnedAction {
    /// Replaces the stored action.
    pub fn keep(&mut self, action: &LoadAction<'_>) {
        self.names.clear();
        let (names, mut ends) = (&mut self.names, self.ends.iter_mut());
        self.action = action.map_names(|name| {
            names.extend_from_slice(name);
            if let Some(end) = ends.next() {
                *end = names.len();
            }
            b""
        });
    }

    /// Returns the stored action.
    pub fn action(&self) -> LoadAction<'_> {
        let (mut start, mut ends) = (0, self.ends.iter());
        self.action.map_names(|_| {
            let end = ends.next().copied().unwrap_or_default();
            let name = self.names.get(start..end).unwrap_or_default();
            start = end;
            name
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_kept_with_its_names() {
        let mut kept = OwnedAction::default();
        let (from, to): (&[u8], &[u8]) = (b"clients/client0/a", b"b");
        for action in [
            LoadAction::Rename { from, to },
            LoadAction::Rename { from: to, to: from },
            LoadAction::Remove { path: to },
            LoadAction::Close { handle: 7 },
            LoadAction::Read {
                path: from,
                offset: 1,
                len: 2,
            },
        ] {
            kept.keep(&action);
            assert_eq!(kept.action(), action);
        }
    }
}
