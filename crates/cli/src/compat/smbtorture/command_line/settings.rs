//! Settings of smb.conf(5), from `--option` and `-m`.

use super::{refusal, shown, wrong};
use crate::compat::ending::CommandLineError;
use filestone_plan::plan::SmbDialect;

/// Settings that affect a run.
#[derive(Debug, Default)]
pub struct Settings {
    /// `torture:targetrate`, in bytes per second and client.
    pub rate: Option<f64>,
    /// `torture:nretries`.
    pub retries: Option<u32>,
    /// `torture:readonly`.
    pub read_only: bool,
    /// Notes on ignored settings.
    pub remarks: Vec<String>,
    highest: Option<Protocol>,
    lowest: Option<Protocol>,
}

/// A protocol with Samba's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Protocol {
    /// NT1 and older protocols.
    Smb1,
    /// SMB2 and newer protocols.
    Smb2(SmbDialect),
}

const OLDEST: SmbDialect = SmbDialect::Smb202;
const NEWEST: SmbDialect = SmbDialect::Smb311;

impl Protocol {
    /// Returns the protocol with a name of smb.conf(5); drafts map to their final dialects.
    fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "CORE" | "COREPLUS" | "LANMAN1" | "LANMAN2" | "NT1" => Self::Smb1,
            "SMB2_02" => Self::Smb2(SmbDialect::Smb202),
            "SMB2" | "SMB2_10" => Self::Smb2(SmbDialect::Smb210),
            "SMB2_22" | "SMB2_24" | "SMB3_00" => Self::Smb2(SmbDialect::Smb300),
            "SMB3_02" => Self::Smb2(SmbDialect::Smb302),
            "SMB3" | "SMB3_10" | "SMB3_11" => Self::Smb2(SmbDialect::Smb311),
            _ => return None,
        })
    }
}

impl Settings {
    /// Applies a setting; returns false if this test does not use it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool, CommandLineError> {
        let mut plain = name.to_ascii_lowercase();
        plain.retain(|letter| !letter.is_whitespace());
        let wrong = |expected: &str| wrong(&format!("--option={name}"), value, expected);
        match plain.as_str() {
            "clientmaxprotocol" => self.highest = self.protocol(name, value),
            "clientminprotocol" => self.lowest = self.protocol(name, value),
            "torture:targetrate" => {
                let rate = value.parse::<f64>().ok();
                let rate = rate.filter(|rate| (0.0..=1e9).contains(rate));
                let rate = rate.ok_or_else(|| wrong("MB per second"))?;
                self.rate = (rate > 0.0).then_some(rate * 1e6);
            }
            "torture:nretries" => {
                let retries = value.parse::<u32>();
                self.retries = Some(retries.map_err(|_| wrong("a number"))?);
            }
            "torture:readonly" => {
                self.read_only = match value.to_ascii_lowercase().as_str() {
                    "yes" | "true" | "on" | "1" => true,
                    "no" | "false" | "off" | "0" => false,
                    _ => return Err(wrong("yes or no")),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn protocol(&mut self, name: &str, value: &str) -> Option<Protocol> {
        let protocol = Protocol::of(value);
        if protocol.is_none() && !value.eq_ignore_ascii_case("default") {
            let value = shown(value);
            self.remarks.push(format!(
                "{name}={value} is passed over: there is no such protocol"
            ));
        }
        protocol
    }

    /// Returns the dialect to use; `None` for the server's best. A range is reduced to its newest
    /// dialect.
    pub fn dialect(
        &self,
        remarks: &mut Vec<String>,
    ) -> Result<Option<SmbDialect>, CommandLineError> {
        let newest = match self.highest {
            Some(Protocol::Smb1) => {
                return Err(refusal(
                    "-m NT1: SMB1 is not spoken",
                    "leave -m out for the best of SMB 2.0.2 to 3.1.1 that the server has, or name \
                     one, such as -m SMB3_11; the load is the same",
                ));
            }
            Some(Protocol::Smb2(newest)) => newest,
            None => NEWEST,
        };
        let oldest = match self.lowest {
            Some(Protocol::Smb2(oldest)) => oldest,
            // SMB1 is permitted but not required.
            Some(Protocol::Smb1) | None => OLDEST,
        };
        if oldest > newest {
            return Err(refusal(
                format!(
                    "SMB {} at least and {} at most",
                    oldest.name(),
                    newest.name()
                ),
                "there is none: -m says the newest, clientminprotocol the oldest",
            ));
        }
        if [oldest, newest] == [OLDEST, NEWEST] {
            return Ok(None);
        }
        if oldest < newest {
            remarks.push(format!(
                "SMB {0} alone is spoken, and nothing older than {0}",
                newest.name()
            ));
        }
        Ok(Some(newest))
    }
}
