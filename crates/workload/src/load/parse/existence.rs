//! Tracking of objects that can exist when a line runs, to report names that no previous line can
//! have created.
//!
//! The check avoids false reports: removed objects may still exist, parent directories of created
//! objects exist, case is ignored, and a single random name that creates an object disables the
//! check.

use super::super::names::{CLIENTS, NameId};
use std::collections::HashMap;

/// The root of the tree of names.
const ROOT: u32 = 0;
/// Maximum number of names; with more, the check is disabled.
const MOST_NODES: usize = 1 << 20;
/// The client's directory in `clients`.
const OWN: &[u8] = b"client1";

#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    /// Whether an object with that name may exist.
    is_made: bool,
    /// Whether any object below it may exist.
    is_made_below: bool,
    /// Whether it is below the client's directory.
    is_own: bool,
}

/// Objects that previous lines of a load may have created.
#[derive(Debug)]
pub(super) struct PossibleNames {
    nodes: Vec<Node>,
    children: HashMap<(u32, Box<[u8]>), u32>,
    by_name: Vec<u32>,
    is_unknown: bool,
}

impl Default for PossibleNames {
    fn default() -> Self {
        let root = Node {
            parent: ROOT,
            is_made: true,
            is_made_below: false,
            is_own: false,
        };
        Self {
            nodes: vec![root],
            children: HashMap::new(),
            by_name: Vec::new(),
            is_unknown: false,
        }
    }
}

impl PossibleNames {
    /// Adds the next name of the table.
    pub(super) fn record_name(&mut self, id: NameId, name: &[u8]) {
        let node = self.node(&name.to_ascii_lowercase());
        self.by_name.resize(id as usize, ROOT);
        self.by_name.push(node);
    }

    fn node(&mut self, name: &[u8]) -> u32 {
        let mut at = ROOT;
        let mut is_own = true;
        let components = name.split(|byte| *byte == b'/');
        for (depth, component) in components.enumerate() {
            is_own &= match depth {
                0 => component == CLIENTS.as_bytes(),
                1 => component == OWN,
                _ => true,
            };
            at = match self.children.get(&(at, component.into())) {
                Some(child) => *child,
                None if self.nodes.len() >= MOST_NODES => {
                    self.is_unknown = true;
                    return ROOT;
                }
                None => self.add(at, component, is_own && depth > 1),
            };
        }
        at
    }

    fn add(&mut self, parent: u32, component: &[u8], is_own: bool) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent,
            is_made: false,
            is_made_below: false,
            is_own,
        });
        self.children.insert((parent, component.into()), node);
        node
    }

    fn of(&self, name: NameId) -> u32 {
        self.by_name.get(name as usize).copied().unwrap_or(ROOT)
    }

    /// Records that an object with that name was created, and its parent directories.
    pub(super) fn made(&mut self, name: NameId) {
        let mut at = self.of(name);
        while let Some(node) = self.nodes.get_mut(at as usize) {
            if node.is_made {
                break;
            }
            node.is_made = true;
            at = node.parent;
        }
    }

    /// Records that an object of unknown content got that name.
    pub(super) fn made_with_content(&mut self, name: NameId) {
        self.made(name);
        let node = self.of(name) as usize;
        if let Some(node) = self.nodes.get_mut(node) {
            node.is_made_below = true;
        }
    }

    /// Records that an object with an unknown name was created.
    pub(super) fn made_anything(&mut self) {
        self.is_unknown = true;
    }

    /// Whether an object of that name was created in the client's tree.
    pub(super) fn is_made_and_own(&self, name: NameId) -> bool {
        let node = self.nodes.get(self.of(name) as usize);
        node.is_some_and(|node| node.is_own && node.is_made)
    }

    /// Whether the name is in the client's tree, and no object with it can exist.
    pub(super) fn is_missing(&self, name: NameId) -> bool {
        let mut at = self.of(name);
        let Some(node) = self.nodes.get(at as usize) else {
            return false;
        };
        if self.is_unknown || !node.is_own || node.is_made {
            return false;
        }
        while let Some(node) = self.nodes.get(at as usize).filter(|_| at != ROOT) {
            if node.is_made_below {
                return false;
            }
            at = node.parent;
        }
        true
    }
}
