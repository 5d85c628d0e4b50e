//! `completions`: completion scripts for shells.

use crate::cli::completing::{SHELLS, script};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::output;
use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print the script that makes a shell complete mcpreel's command line.
///
/// The script asks mcpreel itself, so it offers reels, live sessions, configured servers, methods, the tools of a live session
/// and rules. It need not be replaced when mcpreel is updated.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel completions bash > mcpreel.bash
  mcpreel completions --all completions/         # all shells

bash, in ~/.bashrc:
  source <(mcpreel completions bash)
bash, if bash-completion is installed:
  mkdir -p ~/.local/share/bash-completion/completions
  mcpreel completions bash > ~/.local/share/bash-completion/completions/mcpreel
zsh, in ~/.zshrc, after compinit:
  source <(mcpreel completions zsh)
fish:
  mkdir -p ~/.config/fish/completions
  mcpreel completions fish > ~/.config/fish/completions/mcpreel.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(required_unless_present = "all")]
    shell: Option<Shell>,
    /// Write the scripts of all shells to this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    all: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &CompletionsArgs, context: &Context) -> Result<Outcome, CommandError> {
    if let Some(shell) = args.shell {
        let name = shell.to_string();
        let known = SHELLS.iter().filter(|(known, _)| known.is(&name));
        known.map(|(known, _)| script(*known)).try_for_each(|script| context.printer.write(&script))?;
    }
    if let Some(folder) = &args.all {
        std::fs::create_dir_all(folder).map_err(|error| CommandError::writing(folder, &error))?;
        for (shell, name) in SHELLS {
            output::write_whole(&folder.join(name), &script(shell))?;
        }
    }
    Ok(Outcome::Clean)
}
