//! Checks filestone's packets with tshark, an independent implementation of the standard.

use super::TestEnv;
use crate::interop::checks;
use crate::interop::fixture::{FILE, FILE_LEN};
use crate::interop::smb::{Account, Place};
use crate::process;
use crate::record::Record;
use crate::scenario::RUN_LIMIT;
use crate::tshark::{Capture, Dissection};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Output;

/// Bytes per READ: more than the 64 KiB that one credit covers. The next constant is the number of
/// READs.
const READ_LEN: u64 = 100_000;
const READS: u32 = 50;

/// SMB2 command codes (MS-SMB2, section 2.2.1).
const NEGOTIATE: u64 = 0;
const SESSION_SETUP: u64 = 1;
const CREATE: u64 = 5;
const CLOSE: u64 = 6;
const READ: u64 = 8;
const WRITE: u64 = 9;
const CANCEL: u64 = 12;
const QUERY_DIRECTORY: u64 = 14;
const QUERY_INFO: u64 = 16;
const SET_INFO: u64 = 17;

/// Checks that every message of 3.0 is signed, and that tshark computes the same signatures.
///
/// Each request is sent alone: tshark 4.0 takes all messages of a compound after the first for a
/// part of it, and reports wrong signatures for Samba's compounds, too. The check does not include
/// 3.1.1 with AES-GMAC: tshark rejects those signatures of smbclient, too.
pub fn signed(ground: &TestEnv) -> Result<String> {
    let options = "--dialect 3.0 --sign required --no-compound";
    let seen = Seen::of(ground, Run::Reads, options)?;
    let mut signatures = 0;
    for packet in &seen.packets {
        let is_before = |command: &u64| [NEGOTIATE, SESSION_SETUP].contains(command);
        let unsigned = packet.unsigned();
        if let Some(command) = unsigned.iter().find(|command| !is_before(command)) {
            bail!("packet {}: command {command} is not signed", packet.number);
        }
        let wanted = packet.commands.len() - unsigned.len();
        if packet.good != wanted {
            bail!(
                "packet {}: {} of {wanted} signatures are good",
                packet.number,
                packet.good
            );
        }
        signatures += wanted;
    }
    seen.offered(&[0x300])?;
    let reads = seen.reads()?;
    Ok(format!(
        "{}, {reads}, {signatures} good signatures",
        seen.text()
    ))
}

/// Checks that tshark decrypts all messages after the session setup with the session key.
pub fn encrypted(ground: &TestEnv) -> Result<String> {
    let options = "--dialect 3.1.1 --encrypt required";
    let seen = Seen::of(ground, Run::Reads, options)?;
    seen.offered(&[0x311])?;
    let (reads, decrypted) = (seen.reads()?, seen.decrypted()?);
    Ok(format!("{}, {reads}, {decrypted}", seen.text()))
}

/// Checks that three of four connections are bound to the session of the first, and that no nonce
/// is used twice with its key on any of them.
pub fn channels(ground: &TestEnv) -> Result<String> {
    let options = "--connections-per-client 4 -j 4 --encrypt";
    let seen = Seen::of(ground, Run::Reads, options)?;
    let bound = seen.packets.iter().filter(|packet| packet.bindings > 0);
    let bound: BTreeSet<&str> = bound.map(|packet| packet.stream.as_str()).collect();
    if bound.len() != 3 {
        bail!("{} connections are bound to a session, not 3", bound.len());
    }
    let decrypted = seen.decrypted()?;
    Ok(format!("{}, {decrypted}, 3 bindings", seen.text()))
}

/// Captures a load that runs for a moment, with all its kinds of requests.
pub fn load(ground: &TestEnv) -> Result<String> {
    let seen = Seen::of(ground, Run::Office, "--encrypt required")?;
    let commands: BTreeSet<u64> = seen.commands().collect();
    let wanted = [
        CREATE,
        CLOSE,
        READ,
        WRITE,
        QUERY_DIRECTORY,
        QUERY_INFO,
        SET_INFO,
    ];
    if let Some(missing) = wanted.iter().find(|command| !commands.contains(command)) {
        bail!("no packet has command {missing}, but {commands:?}");
    }
    let decrypted = seen.decrypted()?;
    Ok(format!("{}, {decrypted}", seen.text()))
}

/// A captured run.
#[derive(Clone, Copy)]
enum Run {
    Reads,
    Office,
}

impl Run {
    /// Makes the run, which must succeed.
    fn make(self, ground: &TestEnv, place: &Place, options: &str, keys: &Path) -> Result<()> {
        let line = match self {
            Self::Reads => {
                let file = place.target(Account::User, FILE);
                format!("probe read {file} --no-calibrate --size {READ_LEN} --count {READS}")
            }
            Self::Office => {
                let share = place.target(Account::User, "");
                format!("replay office --on {share} --duration 500ms --warm-up 0s")
            }
        };
        let password_file = place.password_file.display();
        let line = format!("{line} --as json --password-file {password_file} {options}");
        let mut command = ground.bed.command(&line);
        command.env("FILESTONE_SMB_KEYLOG", keys);
        let folder = &ground.bed.folder;
        let output = process::run(&mut command, &[], folder, RUN_LIMIT)?;
        self.evaluate(&output)
    }

    fn evaluate(self, output: &Output) -> Result<()> {
        match self {
            Self::Reads => match checks::evaluate(output, READS) {
                Ok(verdict) if verdict == "ok" => Ok(()),
                Ok(other) | Err(other) => bail!(other),
            },
            Self::Office => {
                let mismatches = Record::read(output)?.number("/replay/mismatch_count")?;
                if mismatches > 0.0 {
                    bail!("{mismatches} mismatches");
                }
                Ok(())
            }
        }
    }
}

/// A packet of filestone as dissected by tshark; fields that can occur more than once are lists, in
/// order.
struct Packet {
    number: String,
    /// TCP connection of the packet.
    stream: String,
    /// Sessions of its messages.
    sessions: Vec<String>,
    commands: Vec<u64>,
    ids: Vec<u64>,
    charges: Vec<u64>,
    credits: Vec<u64>,
    signed: Vec<u64>,
    /// Number of correct signatures.
    good: usize,
    /// Nonces of encrypted messages.
    nonces: Vec<String>,
    lengths: Vec<u64>,
    offsets: Vec<u64>,
    dialects: Vec<u64>,
    /// Number of SESSION_SETUPs that bind the connection to a session.
    bindings: usize,
}

const FIELDS: &[&str] = &[
    "frame.number",
    "tcp.stream",
    "smb2.sesid",
    "smb2.cmd",
    "smb2.msg_id",
    "smb2.credit.charge",
    "smb2.credits.requested",
    "smb2.flags.signature",
    "smb2.good_signature",
    "smb2.header.transform.nonce",
    "smb2.read_length",
    "smb2.file_offset",
    "smb2.dialect",
    "smb2.ses_req_flags.session_binding",
];

/// Parses the numbers in a cell; other text is an error.
fn numbers(cell: &str) -> Result<Vec<u64>> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    texts(cell)
        .iter()
        .map(|text| number(text).with_context(|| format!("\"{text}\" is no number")))
        .collect()
}

fn texts(cell: &str) -> Vec<String> {
    let values = cell.split(',').filter(|value| !value.is_empty());
    values.map(str::to_owned).collect()
}

impl Packet {
    fn read(cells: &[String]) -> Result<Self> {
        let [number, stream, sessions, rest @ ..] = cells else {
            bail!("tshark printed {cells:?}");
        };
        let [
            commands,
            ids,
            charges,
            credits,
            signed,
            good,
            nonces,
            lengths,
            offsets,
            dialects,
            bindings,
        ] = rest
        else {
            bail!("tshark printed {cells:?}");
        };
        Ok(Self {
            number: number.clone(),
            stream: stream.clone(),
            sessions: texts(sessions),
            commands: numbers(commands)?,
            ids: numbers(ids)?,
            charges: numbers(charges)?,
            credits: numbers(credits)?,
            signed: numbers(signed)?,
            good: texts(good).len(),
            nonces: texts(nonces),
            lengths: numbers(lengths)?,
            offsets: numbers(offsets)?,
            dialects: numbers(dialects)?,
            bindings: texts(bindings).iter().filter(|is| *is == "1").count(),
        })
    }

    /// Returns the commands without a signature.
    fn unsigned(&self) -> Vec<u64> {
        let signed = self.commands.iter().zip(&self.signed);
        let unsigned = signed.filter(|(_, is_signed)| **is_signed == 0);
        unsigned.map(|(command, _)| *command).collect()
    }
}

/// Packets that filestone sent in a run.
struct Seen {
    packets: Vec<Packet>,
}

impl Seen {
    /// Captures a run, dissects it with tshark, and makes the checks that apply to every run.
    fn of(ground: &TestEnv, run: Run, options: &str) -> Result<Self> {
        let place = ground.servers.place("open", None)?;
        let port = ground.servers.get("open")?.port;
        // In a separate folder that is removed at the end: captures are large.
        let folder = process::Folder::within(&ground.bed.folder, "tshark")?;
        let keys = folder.path.join("smb2_seskey_list");
        let capture = Capture::start(&folder.path, port)?;
        run.make(ground, &place, options, &keys)?;
        let capture = capture.stop()?;
        let sent = format!("tcp.dstport == {port} && smb2");
        let mut dissection = Dissection {
            capture: &capture,
            configuration: &folder.path,
            preferences: &[],
        };
        let malformed = format!("{sent} && _ws.malformed");
        no_packet(&dissection, &malformed, "", "malformed")?;
        // In both directions: the server encrypts with a key of the same session.
        let encrypted = "smb2.header.transform.nonce";
        no_packet(&dissection, encrypted, "Encrypted SMB3", "not decrypted")?;
        dissection.preferences = &["smb2.verify_signatures:TRUE"];
        let rows = dissection.fields(&sent, FIELDS)?;
        let packets: Result<Vec<Packet>> = rows.iter().map(|cells| Packet::read(cells)).collect();
        let seen = Self { packets: packets? };
        seen.message_ids_are_unique()?;
        Ok(seen)
    }

    fn commands(&self) -> impl Iterator<Item = u64> {
        self.packets
            .iter()
            .flat_map(|packet| packet.commands.iter().copied())
    }

    fn text(&self) -> String {
        format!(
            "{} packets with {} requests",
            self.packets.len(),
            self.commands().count()
        )
    }

    /// Checks that each request uses as many message IDs as its credit charge (MS-SMB2, section
    /// 3.2.4.1.5) and requests at least as many credits. A CANCEL has the ID of the request that it
    /// cancels.
    fn message_ids_are_unique(&self) -> Result<()> {
        let mut taken: BTreeSet<(&str, u64)> = BTreeSet::new();
        for packet in &self.packets {
            let place = &packet.number;
            let count = packet.commands.len();
            let lists = [&packet.ids, &packet.charges, &packet.credits];
            if lists.iter().any(|list| list.len() != count) {
                bail!("packet {place}: headers of {count} commands have other counts of fields");
            }
            for (index, _) in
                (packet.commands.iter().enumerate()).filter(|(_, command)| **command != CANCEL)
            {
                let (id, charge) = (packet.ids[index], packet.charges[index].max(1));
                if packet.credits[index] < charge {
                    bail!("packet {place}: asks for fewer credits than the {charge} it takes");
                }
                if let Some(twice) =
                    (id..id + charge).find(|id| !taken.insert((&packet.stream, *id)))
                {
                    bail!("packet {place}: message id {twice} has been used before");
                }
            }
        }
        Ok(())
    }

    /// Checks that every NEGOTIATE offers these dialects.
    fn offered(&self, dialects: &[u64]) -> Result<()> {
        let negotiates = self.packets.iter();
        let mut count = 0;
        for packet in negotiates.filter(|packet| packet.commands == [NEGOTIATE]) {
            count += 1;
            if packet.dialects != dialects {
                bail!("packet {} offers {:x?}", packet.number, packet.dialects);
            }
        }
        if count == 0 {
            bail!("no packet is a NEGOTIATE");
        }
        Ok(())
    }

    /// Checks that every READ has the requested length, and that the offsets cycle through the file
    /// from start to end.
    fn reads(&self) -> Result<String> {
        let reads = || {
            self.packets
                .iter()
                .filter(|packet| packet.commands.contains(&READ))
        };
        let mut lengths: BTreeMap<u64, u32> = BTreeMap::new();
        let mut offsets: BTreeMap<u64, u32> = BTreeMap::new();
        for packet in reads() {
            for &length in &packet.lengths {
                *lengths.entry(length).or_default() += 1;
            }
            for &offset in &packet.offsets {
                *offsets.entry(offset).or_default() += 1;
            }
            if let Some(charge) = packet.charges.iter().find(|charge| **charge != 2) {
                bail!("packet {}: a charge of {charge}", packet.number);
            }
        }
        let mut expected: BTreeMap<u64, u32> = BTreeMap::new();
        let in_order = (0..FILE_LEN).step_by(READ_LEN as usize).cycle();
        for offset in in_order.take(READS as usize) {
            *expected.entry(offset).or_default() += 1;
        }
        if lengths != BTreeMap::from([(READ_LEN, READS)]) || offsets != expected {
            bail!("READs of lengths {lengths:?} at {offsets:?}, not {expected:?}");
        }
        Ok(format!("{READS} READs of {READ_LEN}"))
    }

    /// Checks that all messages except the session setup are encrypted, and that no nonce is used
    /// twice.
    fn decrypted(&self) -> Result<String> {
        let mut nonces: BTreeSet<(&str, &str)> = BTreeSet::new();
        for packet in &self.packets {
            let is_setup = |command: &u64| [NEGOTIATE, SESSION_SETUP].contains(command);
            let is_encrypted = !packet.nonces.is_empty();
            if is_encrypted == packet.commands.iter().any(is_setup) {
                bail!(
                    "packet {}: commands {:?} with {} nonces",
                    packet.number,
                    packet.commands,
                    packet.nonces.len()
                );
            }
            for nonce in &packet.nonces {
                let session = packet.sessions.first().map_or("", String::as_str);
                if !nonces.insert((session, nonce)) {
                    bail!(
                        "packet {}: nonce {nonce} has been used before",
                        packet.number
                    );
                }
            }
        }
        Ok(format!("{} of them encrypted", nonces.len()))
    }
}

/// Fails if a packet matches the filter and tshark's text for it contains `says`; the error has the
/// text of the first one.
fn no_packet(dissection: &Dissection, filter: &str, says: &str, what: &str) -> Result<()> {
    let fields = ["frame.number", "_ws.col.Info", "_ws.expert.message"];
    let mut found = dissection.fields(filter, &fields)?;
    found.retain(|cells| cells.iter().any(|cell| cell.contains(says)));
    if let Some(first) = found.first() {
        bail!(
            "{} packets are {what}: packet {}",
            found.len(),
            first.join(": ")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a READ with this message ID in a packet of the only connection.
    fn read(id: &str, nonce: &str, offset: &str) -> Packet {
        let cells = [
            "7", "0", "0x1", "8", id, "2", "2", "0", "", nonce, "100000", offset, "", "",
        ];
        Packet::read(&cells.map(str::to_owned)).expect("cells")
    }

    #[test]
    fn numbers_that_a_request_has_taken_are_no_other_s() {
        let seen = |ids: [&str; 2]| Seen {
            packets: ids.map(|id| read(id, "", "0")).into(),
        };
        assert!(seen(["4", "6"]).message_ids_are_unique().is_ok());
        assert!(seen(["4", "5"]).message_ids_are_unique().is_err());
    }

    #[test]
    fn a_nonce_is_used_once() {
        let seen = |nonces: [&str; 2]| Seen {
            packets: nonces.map(|nonce| read("4", nonce, "0")).into(),
        };
        assert!(seen(["0100", "0200"]).decrypted().is_ok());
        assert!(seen(["0100", "0100"]).decrypted().is_err());
        // A packet without a nonce was sent unencrypted.
        assert!(seen(["0100", ""]).decrypted().is_err());
    }

    #[test]
    fn reads_are_where_they_were_meant_to_be() {
        let at = |number: u64| {
            let offset = (number % 11) * READ_LEN;
            read(&(2 * number).to_string(), "", &format!("{offset:#x}"))
        };
        let mut packets: Vec<Packet> = (0..u64::from(READS)).map(at).collect();
        assert!(
            Seen {
                packets: packets.split_off(0)
            }
            .reads()
            .is_ok()
        );
        let packets = (1..=u64::from(READS)).map(at).collect();
        assert!(Seen { packets }.reads().is_err());
    }

    #[test]
    fn a_cell_may_hold_several_numbers_in_either_notation() {
        assert_eq!(numbers("5,0x10,6").expect("numbers"), [5, 16, 6]);
        assert!(numbers("").expect("none").is_empty());
        assert!(numbers("Create").is_err());
    }
}
