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

use draw::Draw;
use writer::Writer;

/// A load of our own. The number is part of its seed and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
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

impl Made {
    /// All of them, in the order of the documentation.
    pub const ALL: [Made; 5] = [
        Made::Office,
        Made::Build,
        Made::Untar,
        Made::Mail,
        Made::Database,
    ];

    /// What it is called; its file is `loads/NAME.load`.
    pub const fn name(self) -> &'static str {
        match self {
            Made::Office => "office",
            Made::Build => "build",
            Made::Untar => "untar",
            Made::Mail => "mail",
            Made::Database => "database",
        }
    }

    /// The load of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|made| made.name() == name)
    }

    /// What it stands for, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Made::Office => "people working with documents on a file server",
            Made::Build => "a source tree being compiled",
            Made::Untar => "an archive of small files being unpacked, then looked through",
            Made::Mail => "mail being delivered, read and thrown away",
            Made::Database => "transactions on a database kept in files",
        }
    }

    /// The load file.
    pub fn text(self) -> String {
        let mut writer = Writer::begin(self);
        let draw = Draw::new(self);
        match self {
            Made::Office => office::write(&mut writer, draw),
            Made::Build => build::write(&mut writer, draw),
            Made::Untar => untar::write(&mut writer, draw),
            Made::Mail => mail::write(&mut writer, draw),
            Made::Database => database::write(&mut writer, draw),
        }
        writer.finish()
    }
}
