//! `unwrap`: the tap taken out of a client's configuration.

use super::wrap::Selection;
use crate::cli::clients::file::ConfigFile;
use crate::cli::{Context, Outcome};
use crate::config::entry::Entry;
use crate::config::wrap::unwrap;
use crate::error::CommandError;
use clap::Args;

/// Take the tap out of an MCP client's configuration again.
///
/// What `mcpreel wrap` changed is as it was before, byte for byte. Where somebody has changed the entry meanwhile, or
/// has put the tap there by hand, it becomes what stands behind the tap.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel unwrap everything                          asks first
  mcpreel unwrap --all --config .mcp.json --dry-run  shows what would change
  mcpreel unwrap --all --config .mcp.json --yes

Exit codes: 0 written, shown, or nothing to do; 2 no such server, several places, or nobody to ask; 3 the file cannot \
be read or edited.")]
pub struct UnwrapArgs {
    #[command(flatten)]
    selection: Selection,
}

pub fn run(args: &UnwrapArgs, context: &Context) -> Result<Outcome, CommandError> {
    let edit = |file: &ConfigFile, text: &str, entry: &Entry| unwrap(text, file.format, entry);
    args.selection.edit(&edit, "has no tap in front of it", context)
}
