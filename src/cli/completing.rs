//! Completion: the shell asks this program what may follow on a command line.
//!
//! The registration script of a shell (`mcpreel completions bash`) calls the program with [`VARIABLE`] set and the words
//! so far. `values.rs` knows the values; the table here says which arguments take them.

mod values;

use super::own_line;
use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::ArgValueCompleter;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use std::ffi::OsString;

/// The environment variable with which a shell asks.
const VARIABLE: &str = "MCPREEL_COMPLETE";

/// The registration scripts of our own: those of clap complete neither in quotes nor after `~`.
const BASH_SCRIPT: &str = include_str!("completing/register.bash");
const ZSH_SCRIPT: &str = include_str!("completing/register.zsh");

/// Where some shells say which word is completed (clap's name).
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// The shells, each with the file name of its script.
pub(super) const SHELLS: [(&dyn EnvCompleter, &str); 5] = [
    (&Bash, "mcpreel.bash"),
    (&Elvish, "mcpreel.elv"),
    (&Fish, "mcpreel.fish"),
    (&Powershell, "_mcpreel.ps1"),
    (&Zsh, "_mcpreel"),
];

/// Returns whether the word that is completed is the program of a server's command, not one of its arguments.
fn is_program() -> bool {
    // The program, `--`, and the command line, which begins with the program again.
    let line: Vec<OsString> = std::env::args_os().skip(2).collect();
    let index = completed_index().unwrap_or(line.len().saturating_sub(1));
    own_line::ends_before_command(line.get(1..index).unwrap_or_default())
}

/// The place of the word that is completed, if the shell says it.
fn completed_index() -> Option<usize> {
    std::env::var(INDEX).ok()?.parse().ok()
}

/// Answers the shell, if a shell asks. Returns whether it did.
pub(super) fn answer() -> bool {
    if std::env::var_os(VARIABLE).is_none() {
        return false;
    }
    let words = server_command_first(std::env::args_os().collect(), completed_index());
    let answered =
        CompleteEnv::with_factory(completed).var(VARIABLE).try_complete(words, std::env::current_dir().ok().as_deref());
    answered.unwrap_or_else(|error| error.exit())
}

/// The engine of clap does not know that the words after `--` belong to the last argument. So before a word of a
/// server's command, every command line looks like that of `record`, which has no other positional argument.
///
/// The words are those of this process: the program, `--`, and the command line. `index` is the place of the word that
/// is completed in the command line; without it, that is the last one.
fn server_command_first(mut words: Vec<OsString>, index: Option<usize>) -> Vec<OsString> {
    let line = words.get_mut(2..).unwrap_or_default();
    let index = index.unwrap_or(line.len());
    let start = line.iter().position(|word| word == "--").filter(|start| (2..index).contains(start));
    if let Some(start) = start {
        line[1] = "record".into();
        line[2..start].fill("--force".into());
    }
    words
}

/// Returns the script that makes a shell ask.
pub(super) fn script(shell: &dyn EnvCompleter) -> Vec<u8> {
    for (name, script) in [("bash", BASH_SCRIPT), ("zsh", ZSH_SCRIPT)] {
        if shell.is(name) {
            return script.replace("VARIABLE", VARIABLE).into_bytes();
        }
    }
    let mut script = Vec::new();
    // Writing to memory does not fail.
    let _ = shell.write_registration(VARIABLE, "mcpreel", "mcpreel", "mcpreel", &mut script);
    script
}

/// The command line with what is known about the values of its arguments.
fn completed() -> Command {
    let mut command = super::command();
    command.build();
    with_values(command)
}

fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command.mut_args(|arg| add_values(&name, arg)).mut_subcommands(with_values)
}

/// Adds the values of an argument of a command.
fn add_values(command: &str, arg: Arg) -> Arg {
    let complete: fn(&str) -> Vec<values::Value> = match (command, arg.get_id().as_str()) {
        (_, "argv") => return arg.add(ArgValueCompleter::new(values::ServerCommand)),
        (_, "reel" | "reels" | "left" | "right" | "paths") | ("redact", "input") => {
            return arg.add(ArgValueCompleter::new(values::reels));
        }
        ("show" | "stats" | "export", "words") => return arg.add(ArgValueCompleter::new(values::reels_and_terms)),
        ("cut", "filter") => values::terms,
        ("call", "method") | ("explain", "schema") => values::methods,
        ("call", "params") => return arg.add(ArgValueCompleter::new(values::parameters)),
        ("explain", "name") => values::subjects,
        (_, "session") => values::sessions,
        (_, "server") | ("wrap" | "unwrap", "names") => values::servers,
        (_, "only" | "skip") if arg.get_value_names().is_some_and(|names| names[0] == "RULES") => values::rules,
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(values::Listed(complete)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reel_session_and_server_has_values() {
        let mut command = completed();
        command.build();
        let mut missing = Vec::new();
        check(&command, &mut missing);
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_words_of_a_server_are_completed_alike_everywhere() {
        let first = |line: &str, index| {
            let words = server_command_first(line.split(' ').map(OsString::from).collect(), index);
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(first("m -- mcpreel call ping -- np", None), "m -- mcpreel record --force -- np");
        assert_eq!(first("m -- mcpreel call ping -- np", Some(4)), "m -- mcpreel record --force -- np");
        for (line, index) in [("m -- mcpreel call p -- np", Some(2)), ("m -- mcpreel show a", None), ("m", None)] {
            assert_eq!(first(line, index), line);
        }
    }

    fn check(command: &Command, missing: &mut Vec<String>) {
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let is_known = ["reel", "session", "server", "argv"].contains(&arg.get_id().as_str());
            if is_known && arg.get::<ArgValueCompleter>().is_none() && arg.get_action().takes_values() {
                missing.push(format!("{} {}", command.get_name(), arg.get_id()));
            }
        }
        command.get_subcommands().for_each(|inner| check(inner, missing));
    }
}
