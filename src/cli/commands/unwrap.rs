//! `unwrap`: removes `mcpreel record` from a client's configuration.

use super::wrap::{Edits, Selection};
use crate::cli::{Context, Outcome};
use crate::config::entry::Entry;
use crate::config::file::ConfigFile;
use crate::config::wrap::{bare_words, unwrap};
use crate::error::CommandError;
use clap::Args;

/// Remove mcpreel from an MCP client's configuration.
///
/// Whatever `mcpreel wrap` changed is restored byte for byte. If the entry was changed since then, or if `mcpreel
/// record` was added by hand, the entry becomes the command or URL behind it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel unwrap everything                          # asks first
  mcpreel unwrap --all --config .mcp.json --dry-run  # only shows the change
  mcpreel unwrap --all --config .mcp.json --yes

Exit codes: 0 written, shown, or nothing to do; 2 no such server, several matches, or no terminal to ask on; 3 the file cannot \
be read or edited.")]
pub(crate) struct UnwrapArgs {
    #[command(flatten)]
    selection: Selection,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &UnwrapArgs, context: &Context) -> Result<Outcome, CommandError> {
    let edit = |file: &ConfigFile, text: &str, entry: &Entry| unwrap(text, file.format, entry);
    let edits = Edits { edit: &edit, words: &bare_words, advise: &|_| (), done: "is not wrapped" };
    args.selection.edit(&edits, context)
}
