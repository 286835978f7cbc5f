//! The options of `filestone help`.

use clap::Args;

/// `filestone help`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone help                     lists commands and topics
  filestone help fleet ctl           the help of a command, as --help prints it
  filestone help gates               a page of the reference
  filestone help mix --page          the page, where a command has the same name
  filestone help percentiles         a section of a page
  filestone help explain#link        the section of the named page
  filestone help goodput             a term of the glossary")]
pub struct HelpOptions {
    /// A command, a page of the reference, the heading of a section, or a term [default: a list of
    /// commands and topics]
    #[arg(value_name = "TOPIC")]
    pub words: Vec<String>,
    /// Print the page of the reference, even if a command has the same name
    #[arg(long, requires = "words")]
    pub page: bool,
}
