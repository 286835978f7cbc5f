//! ACCESS: which of the asked rights a caller has (RFC 1813, section 3.3.4).
//!
//! Answered from owner, group and mode bits as POSIX has them; uid 0 may do everything. The
//! operations themselves do not enforce it, so a benchmark never fails for want of a mode bit.

use filestone_wire::nfs3::access::{DELETE, EXECUTE, EXTEND, LOOKUP, MODIFY, READ};

use super::inode::Inode;

/// Who asks.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    pub uid: u32,
    pub gid: u32,
    pub gids: &'a [u32],
}

impl Identity<'_> {
    fn is_in(&self, group: u32) -> bool {
        self.gid == group || self.gids.contains(&group)
    }
}

/// The subset of `asked` that `identity` has on `inode`.
pub fn granted(inode: &Inode, identity: &Identity<'_>, asked: u32) -> u32 {
    let shift = if identity.uid == inode.uid {
        6
    } else if identity.is_in(inode.gid) {
        3
    } else {
        0
    };
    let bits = if identity.uid == 0 {
        0o7
    } else {
        inode.mode >> shift
    };
    asked & rights(bits, inode.is_directory())
}

fn rights(bits: u32, is_directory: bool) -> u32 {
    let mut rights = 0;
    if bits & 4 != 0 {
        rights |= READ;
    }
    if bits & 2 != 0 {
        rights |= MODIFY | EXTEND;
        // Only an entry of a directory can be deleted, so the right is the directory's.
        if is_directory {
            rights |= DELETE;
        }
    }
    if bits & 1 != 0 {
        rights |= if is_directory { LOOKUP } else { EXECUTE };
    }
    rights
}

#[cfg(test)]
mod tests {
    use super::super::content::Content;
    use super::super::inode::Kind;
    use super::*;

    const ALL: u32 = READ | LOOKUP | MODIFY | EXTEND | DELETE | EXECUTE;

    #[test]
    fn owner_group_and_others_get_their_own_bits_and_root_gets_all() {
        let file = Inode::new(Kind::File(Content::default()), 0o640, 10, 20, 0);
        let ask = |uid, gid, gids: &[u32]| granted(&file, &Identity { uid, gid, gids }, ALL);
        assert_eq!(ask(10, 99, &[]), READ | MODIFY | EXTEND);
        assert_eq!(ask(11, 20, &[]), READ);
        assert_eq!(ask(11, 99, &[1, 20]), READ);
        assert_eq!(ask(11, 99, &[]), 0);
        assert_eq!(ask(0, 0, &[]), READ | MODIFY | EXTEND | EXECUTE);
    }
}
