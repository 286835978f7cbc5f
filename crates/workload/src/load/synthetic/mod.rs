//! The loads of our own: what stands in `loads/`, made from documented models.
//!
//! Each load is a program here and a page in `docs/loads/`: the page says what the
//! load stands for and where its numbers come from, the program is that model and
//! nothing else. Nothing is copied from a recorded load.
//!
//! The same text comes out everywhere, bit by bit, for ever: one named generator
//! with a seed of its own per load, bounded numbers drawn from its 64 bits by our
//! own rule, and integers only. Floating point stays out because `ln`, `exp` and
//! the like differ between mathematical libraries, and a size that differs by one
//! byte is another load.
//!
//! What reads load files is not here, nor is what carries them out.

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

/// A synthetic load: one of our own, from a model. The number is part of its seed and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntheticLoad {
    /// People working with documents on a file server.
    Office = 1,
    /// A source tree being compiled.
    Build = 2,
    /// An archive of small files being unpacked, then looked through.
    Untar = 3,
    /// Mail being delivered, read and thrown away.
    Mail = 4,
    /// Transactions on a database kept in files.
    Database = 5,
}

impl SyntheticLoad {
    /// All of them, in the order of the documentation.
    pub const ALL: [SyntheticLoad; 5] = [
        SyntheticLoad::Office,
        SyntheticLoad::Build,
        SyntheticLoad::Untar,
        SyntheticLoad::Mail,
        SyntheticLoad::Database,
    ];

    /// What it is called; its file is `loads/NAME.load`.
    pub const fn name(self) -> &'static str {
        match self {
            SyntheticLoad::Office => "office",
            SyntheticLoad::Build => "build",
            SyntheticLoad::Untar => "untar",
            SyntheticLoad::Mail => "mail",
            SyntheticLoad::Database => "database",
        }
    }

    /// The load of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|load| load.name() == name)
    }

    /// What it stands for, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            SyntheticLoad::Office => "people working with documents on a file server",
            SyntheticLoad::Build => "a source tree being compiled",
            SyntheticLoad::Untar => "an archive of small files being unpacked, then looked through",
            SyntheticLoad::Mail => "mail being delivered, read and thrown away",
            SyntheticLoad::Database => "transactions on a database kept in files",
        }
    }

    /// The load file.
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
