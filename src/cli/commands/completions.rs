//! `completions`: completion scripts for shells.

use crate::cli::{self, Context, Outcome};
use crate::error::CommandError;
use crate::files::output;
use clap::Args;
use clap_complete::{Generator, Shell};
use std::path::PathBuf;

/// Print a shell's completion script.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel completions bash > ~/.local/share/bash-completion/completions/mcpreel
  mcpreel completions --all completions/         # all shells")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(required_unless_present = "all")]
    shell: Option<Shell>,
    /// Write the scripts of all shells to this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    all: Option<PathBuf>,
}

const SHELLS: [Shell; 5] = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &CompletionsArgs, context: &Context) -> Result<Outcome, CommandError> {
    if let Some(shell) = args.shell {
        context.printer.write(&script(shell))?;
    }
    if let Some(folder) = &args.all {
        std::fs::create_dir_all(folder).map_err(|error| CommandError::writing(folder, &error))?;
        for shell in SHELLS {
            output::write_whole(&folder.join(shell.file_name("mcpreel")), &script(shell))?;
        }
    }
    Ok(Outcome::Clean)
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "mcpreel", &mut script);
    script
}
