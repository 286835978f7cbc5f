//! What could exist when a line runs: to find files that nothing before it could
//! have made.
//!
//! Errs towards silence: what was taken away may still be there, directories on
//! the way to something made are there, upper and lower case are the same, and
//! one random name that makes something ends all knowledge.

use super::super::names::{CLIENTS, NameId};
use std::collections::HashMap;

/// The root of the tree of names.
const ROOT: u32 = 0;
/// How many names are remembered before nothing is known any more.
const MOST_NODES: usize = 1 << 20;
/// The client's own directory in `clients`.
const OWN: &[u8] = b"client1";

#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    /// Something of that name may be there.
    is_made: bool,
    /// And anything below it.
    is_made_below: bool,
    /// It is below the client's own directory.
    is_own: bool,
}

/// What a load may have made so far.
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
    /// The next name of the table is this one.
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

    /// Something of that name is made, and all that leads to it.
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

    /// Something is given that name, with whatever is below it.
    pub(super) fn made_with_content(&mut self, name: NameId) {
        self.made(name);
        let node = self.of(name) as usize;
        if let Some(node) = self.nodes.get_mut(node) {
            node.is_made_below = true;
        }
    }

    /// Something is made of which the name is not known.
    pub(super) fn made_anything(&mut self) {
        self.is_unknown = true;
    }

    /// Whether something in the client's own tree was made by that name.
    pub(super) fn is_made_and_own(&self, name: NameId) -> bool {
        let node = self.nodes.get(self.of(name) as usize);
        node.is_some_and(|node| node.is_own && node.is_made)
    }

    /// Whether nothing of that name can be there, in the client's own tree.
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
