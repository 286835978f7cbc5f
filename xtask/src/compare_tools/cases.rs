//! The comparisons and their bars.

use super::dbench::{self, Figures, Peer};
use super::{Bar, Bed, Comparison};
use crate::figures::median;
use anyhow::{Result, bail};

/// A comparison.
pub struct Case {
    /// Name of the case.
    pub name: String,
    clients: u32,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    /// MB/s on a file system.
    Local,
    /// CPU time of the program per line, without reads and writes.
    OwnCost,
    /// MB/s against tbench_srv.
    Tcp,
}

/// Returns all cases.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for what in [What::Local, What::OwnCost, What::Tcp] {
        for clients in [1, 2, 4] {
            let plural = if clients == 1 { "" } else { "s" };
            let name = match what {
                What::Local => format!("local, {clients} client{plural}"),
                What::OwnCost if clients > 1 => continue,
                What::OwnCost => "user CPU per line, --fake-io".into(),
                What::Tcp => format!("tcp, {clients} client{plural}"),
            };
            cases.push(Case {
                name,
                clients,
                what,
            });
        }
    }
    cases
}

impl Case {
    /// Runs the pairs.
    pub fn compare(&self, bed: &Bed, rounds: usize) -> Result<Comparison> {
        if !dbench::exists() {
            bail!(
                "{}: there is no such file\nhelp: it is in Debian's package dbench",
                dbench::LOAD
            );
        }
        let _peer = match self.what {
            What::Tcp => Some(Peer::start()?),
            What::Local | What::OwnCost => None,
        };
        let (mut theirs, mut ours, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..rounds {
            // The order alternates, so that neither side always finds the caches warm.
            let pair = if round % 2 == 0 {
                let their = self.theirs(bed)?;
                (their, self.ours(bed)?)
            } else {
                let our = self.ours(bed)?;
                (self.theirs(bed)?, our)
            };
            let (their, our) = (self.figure(&pair.0), self.figure(&pair.1));
            theirs.push(their);
            ours.push(our);
            ratios.push(our / their);
        }
        Ok(Comparison {
            name: self.name.clone(),
            reference: median(&theirs),
            generator: median(&ours),
            ratio: median(&ratios),
            bar: match self.what {
                What::Local | What::Tcp => Bar::AtLeast(1.0),
                What::OwnCost => Bar::AtMost(0.5),
            },
            unit: match self.what {
                What::Local | What::Tcp => "MB/s",
                What::OwnCost => "ns",
            },
        })
    }

    fn theirs(&self, bed: &Bed) -> Result<Figures> {
        match self.what {
            What::Local => dbench::dbench(bed, self.clients, &[]),
            What::OwnCost => dbench::dbench(bed, self.clients, &["--fake-io"]),
            What::Tcp => dbench::tbench(bed, self.clients),
        }
    }

    fn ours(&self, bed: &Bed) -> Result<Figures> {
        match self.what {
            What::Local => dbench::local(bed, self.clients, &[]),
            What::OwnCost => dbench::local(bed, self.clients, &["--fake-io"]),
            What::Tcp => dbench::tcp(bed, self.clients),
        }
    }

    fn figure(&self, figures: &Figures) -> f64 {
        match self.what {
            What::Local | What::Tcp => figures.mb_per_s,
            What::OwnCost => figures.user_ns_per_line(),
        }
    }
}
