//! `completions`: completion scripts for shells.

use crate::cli::error::CommandError;
use crate::cli::{self, Context, Outcome};
use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print a shell's completion script.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel completions bash > ~/.local/share/bash-completion/completions/mcpreel
  mcpreel completions --all completions/         as the project keeps them")]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(required_unless_present = "all")]
    shell: Option<Shell>,
    /// Write every shell's script into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    all: Option<PathBuf>,
}

const SHELLS: [Shell; 5] = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];

pub fn run(args: &CompletionsArgs, context: &Context) -> Result<Outcome, CommandError> {
    if let Some(shell) = args.shell {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut cli::command(), "mcpreel", &mut script);
        context.printer.write(&script)?;
    }
    if let Some(folder) = &args.all {
        let failed = |error| CommandError::writing(folder, &error);
        std::fs::create_dir_all(folder).map_err(failed)?;
        for shell in SHELLS {
            clap_complete::generate_to(shell, &mut cli::command(), "mcpreel", folder).map_err(failed)?;
        }
    }
    Ok(Outcome::Clean)
}
