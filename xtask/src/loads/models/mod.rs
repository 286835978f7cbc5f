//! Synthetic loads: the content of `loads/`, generated from documented models.
//!
//! Each load is a program here and a page in `docs/loads/`: the page describes the scenario and the
//! sources of its numbers, the program implements exactly that model. No data are copied from a
//! recorded load.
//!
//! The text is identical on all platforms and in all versions: one named generator with a separate
//! seed per load, bounded numbers from its 64 bits by a rule in this module, and only integers.
//! Floating point is avoided because `ln`, `exp` and similar functions differ between mathematical
//! libraries, and a size that differs by one byte makes a different load.

mod build;
mod database;
mod draw;
mod mail;
mod office;
mod untar;
mod writer;

#[cfg(test)]
mod tests;

use draw::LoadRng;
use writer::Writer;

/// A synthetic load, generated from a model. The number is part of its seed and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntheticLoad {
    /// Users who work with documents on a file server.
    Office = 1,
    /// Compilation of a source tree.
    Build = 2,
    /// An archive of small files that is unpacked, then searched.
    Untar = 3,
    /// Delivery, reading and removal of mail.
    Mail = 4,
    /// Transactions on a database in files.
    Database = 5,
}

impl SyntheticLoad {
    /// All loads, in the order of the documentation.
    pub const ALL: [SyntheticLoad; 5] = [
        SyntheticLoad::Office,
        SyntheticLoad::Build,
        SyntheticLoad::Untar,
        SyntheticLoad::Mail,
        SyntheticLoad::Database,
    ];

    /// Returns the name; the file is `loads/NAME.load`.
    pub const fn name(self) -> &'static str {
        match self {
            SyntheticLoad::Office => "office",
            SyntheticLoad::Build => "build",
            SyntheticLoad::Untar => "untar",
            SyntheticLoad::Mail => "mail",
            SyntheticLoad::Database => "database",
        }
    }

    /// Returns a description in one line.
    pub const fn about(self) -> &'static str {
        match self {
            SyntheticLoad::Office => "people working with documents on a file server",
            SyntheticLoad::Build => "a source tree being compiled",
            SyntheticLoad::Untar => "an archive of small files being unpacked, then looked through",
            SyntheticLoad::Mail => "mail being delivered, read and thrown away",
            SyntheticLoad::Database => "transactions on a database kept in files",
        }
    }

    /// Returns the content of the load file.
    pub fn text(self) -> String {
        let mut writer = Writer::start(self);
        let draw = LoadRng::new(self);
        match self {
            SyntheticLoad::Office => office::write(&mut writer, draw),
            SyntheticLoad::Build => build::write(&mut writer, draw),
            SyntheticLoad::Untar => untar::write(&mut writer, draw),
            SyntheticLoad::Mail => mail::write(&mut writer, draw),
            SyntheticLoad::Database => database::write(&mut writer, draw),
        }
        writer.finish()
    }
}
