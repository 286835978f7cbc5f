//! What the fuzz targets share: the list of all messages and the check each
//! must pass, both from the tests of filestone-wire, what clients of SMB say,
//! from the tests of filestone-server, and how the first byte of an input says
//! what the rest is to be read as.

#[path = "../../crates/wire/tests/messages/again.rs"]
pub mod again;
#[path = "../../crates/wire/tests/messages/list/mod.rs"]
pub mod list;
#[path = "../../crates/wire/tests/smb2/again.rs"]
pub mod smb2_again;
#[path = "../../crates/server/tests/sockets/requests.rs"]
pub mod smb2_requests;

pub mod conversation;
pub mod load_conversation;
pub mod smb2_conversation;

use filestone_wire::{mount, nfs3, nlm, portmap};
use list::Kind;

/// Reads the rest of the input as what its first byte says.
pub fn selected(input: &[u8], kind: fn(u8) -> Kind) {
    if let Some((selector, bytes)) = input.split_first() {
        // An error is a fine answer to most inputs.
        let _ = kind(*selector).again(bytes);
    }
}

fn pick<T: Copy>(all: &[T], selector: u8) -> T {
    all[usize::from(selector) % all.len()]
}

/// Arguments of a procedure of NFSv3.
pub fn nfs3_call(selector: u8) -> Kind {
    Kind::Nfs3Args(pick(&nfs3::Procedure::ALL, selector))
}

/// A reply to a procedure of NFSv3.
pub fn nfs3_reply(selector: u8) -> Kind {
    Kind::Nfs3Reply(pick(&nfs3::Procedure::ALL, selector))
}

/// Either side of a procedure of MOUNT.
pub fn mount(selector: u8) -> Kind {
    let procedure = pick(&mount::Procedure::ALL, selector >> 1);
    if selector & 1 == 0 {
        Kind::MountArgs(procedure)
    } else {
        Kind::MountReply(procedure)
    }
}

/// Either side of a procedure of NLM.
pub fn nlm(selector: u8) -> Kind {
    let procedure = pick(&nlm::Procedure::ALL, selector >> 1);
    if selector & 1 == 0 {
        Kind::NlmArgs(procedure)
    } else {
        Kind::NlmReply(procedure)
    }
}

/// Either side of a procedure of portmap or rpcbind.
pub fn portmap(selector: u8) -> Kind {
    let (version_2, rest) = (selector & 2 != 0, selector >> 2);
    let (old, new) = (
        pick(&portmap::Procedure::ALL, rest),
        pick(&portmap::rpcbind::Procedure::ALL, rest),
    );
    match (selector & 1 == 0, version_2) {
        (true, true) => Kind::PortmapArgs(old),
        (false, true) => Kind::PortmapReply(old),
        (true, false) => Kind::RpcbindArgs(new),
        (false, false) => Kind::RpcbindReply(new),
    }
}
