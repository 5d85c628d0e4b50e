//! `man`: manual pages, one per subcommand.

use crate::cli::{self, Context, Outcome};
use crate::error::CommandError;
use crate::files::output;
use clap::Args;
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// Print a manual page, or write all of them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel man show | man -l -
  mcpreel man --all man/                         # all pages")]
pub(crate) struct ManArgs {
    /// The subcommand (default: mcpreel itself).
    command: Vec<String>,
    /// Write all pages to this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    all: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ManArgs, context: &Context) -> Result<Outcome, CommandError> {
    let mut root = cli::command();
    root.build();
    if let Some(folder) = &args.all {
        std::fs::create_dir_all(folder).map_err(|error| CommandError::writing(folder, &error))?;
        write_all(&root, "mcpreel", folder)?;
        return Ok(Outcome::Clean);
    }
    let mut found = &root;
    let mut name = "mcpreel".to_owned();
    for word in &args.command {
        found = found.find_subcommand(word).ok_or_else(|| CommandError::usage(format!("no such command: {word}")))?;
        name = format!("{name}-{word}");
    }
    context.printer.write(&page(found, &name)?)?;
    Ok(Outcome::Clean)
}

fn write_all(command: &clap::Command, name: &str, folder: &Path) -> Result<(), CommandError> {
    let path = folder.join(format!("{name}.1"));
    output::write_whole(&path, &page(command, name)?)?;
    command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
        .try_for_each(|sub| write_all(sub, &format!("{name}-{}", sub.get_name()), folder))
}

fn page(command: &clap::Command, name: &str) -> Result<Vec<u8>, CommandError> {
    let mut out = Vec::new();
    let titled = command.clone().name(name.to_owned()).display_name(name.to_owned());
    let man = Man::new(titled).title(name.to_uppercase()).source(concat!("mcpreel ", env!("CARGO_PKG_VERSION")));
    man.render(&mut out).map_err(CommandError::output)?;
    Ok(out)
}
