//! Logs session keys on request, so that wireshark can decrypt captures.
//!
//! As with SSLKEYLOGFILE for TLS, an environment variable names the file, so that no option and no
//! plan can enable this by accident.

use filestone_protocol::session::smb2::Established;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;

/// Environment variable with the path of the file.
const VARIABLE: &str = "FILESTONE_SMB_KEYLOG";

/// Appends the session to the file, if there is one: a line of wireshark's table `smb2_seskey_list`
/// with the SessionId in wire order and the session key. Write errors are ignored.
pub fn note(established: &Established) {
    let Some(path) = std::env::var_os(VARIABLE) else {
        return;
    };
    let Some(key) = &established.session_key else {
        return;
    };
    let line = line(&established.session_id.to_le_bytes(), key);
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path);
    if let Ok(mut file) = file {
        let _ = file.write_all(line.as_bytes());
    }
}

fn line(session_id: &[u8], key: &[u8]) -> String {
    format!("{},{},\"\",\"\"\n", hex(session_id), hex(key))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_of_wiresharks_table() {
        let id = 0x0102_0304_0506_0708_u64.to_le_bytes();
        assert_eq!(line(&id, &[0xab, 0]), "0807060504030201,ab00,\"\",\"\"\n");
    }
}
