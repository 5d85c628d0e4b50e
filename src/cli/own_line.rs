//! The command line of this process: where the command of a server begins in it, and what the user should have written
//! if `--` is missing there.

use crate::error::{CommandError, ErrorKind};
use crate::process::child::{ServerCommand, SpawnError};
use crate::runtime::parameters;
use clap::{Arg, Command};
use std::ffi::{OsStr, OsString};

/// The options that name a server, so that no command is expected.
const OF_SERVERS: [&str; 4] = ["url", "config", "server", "session"];
/// The arguments whose words have the form of parameters.
const OF_PARAMETERS: [&str; 2] = ["params", "address"];
/// What stands for the method in a corrected line that lacks it.
const A_METHOD: &str = "tools/list";

/// The arguments of this process.
pub(super) fn own_words() -> Vec<OsString> {
    std::env::args_os().skip(1).collect()
}

/// How the command of a server begins on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    /// After `--`.
    Separated,
    /// With the first word that is no argument of mcpreel, as `record` allows it.
    Allowed,
    /// With the first word that is no argument of mcpreel, where `--` is missing.
    Unseparated,
    /// After `--`, before which this word stands, which is no argument of mcpreel.
    Stray,
    /// Perhaps with this word: it could be an argument of mcpreel, but a program has that name.
    Doubtful,
    /// Perhaps with this word, which stands in place of the method.
    Methodless,
    /// After `--`, but this command of mcpreel sends to a host.
    ToHost,
    /// There is none.
    Absent,
}

/// A command line: mcpreel's own words, and those of the server's command.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    own: &'a [OsString],
    command: &'a [OsString],
    beginning: Beginning,
    /// The first option among the arguments of a command after `--` that mcpreel's own command has, too.
    misplaced: Option<String>,
}

impl<'a> Line<'a> {
    fn of(words: &'a [OsString], whole: &Command, is_program: &dyn Fn(&OsStr) -> bool) -> Self {
        let mut reader = Reader { command: whole, positionals: 0, is_in_list: false, names_a_server: false };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.to_string_lossy();
            if text == "--" {
                let beginning = if reader.sends_to_hosts() { Beginning::ToHost } else { Beginning::Separated };
                let line = Self::separated(words, at, beginning);
                return Self {
                    misplaced: line.command.iter().skip(1).find_map(|word| reader.own_option(word)),
                    ..line
                };
            }
            match reader.take(&text, || is_program(word)) {
                Step::Words(count) => at += count,
                Step::Command(Beginning::Unseparated) if separator(words).is_some() => {
                    return Self::separated(words, separator(words).unwrap_or(at), Beginning::Stray);
                }
                Step::Command(beginning) => {
                    return Self { own: &words[..at], command: &words[at..], beginning, misplaced: None };
                }
                Step::Unknown => break,
            }
        }
        Self { own: words, command: &[], beginning: Beginning::Absent, misplaced: None }
    }

    /// A line with `--` at this place.
    fn separated(words: &'a [OsString], at: usize, beginning: Beginning) -> Self {
        Self { own: &words[..at], command: words.get(at + 1..).unwrap_or_default(), beginning, misplaced: None }
    }

    /// The line with `--` in front of the command, and with the words of a quoted command separated.
    fn corrected(&self) -> String {
        let (first, rest) = self
            .command
            .split_first()
            .map_or((String::new(), &[][..]), |(first, rest)| (first.to_string_lossy().into_owned(), rest));
        let own = self.own.iter().map(|word| word.to_string_lossy().into_owned());
        let command = separate(&first).into_iter().chain(rest.iter().map(|word| word.to_string_lossy().into_owned()));
        let method = (self.beginning == Beginning::Methodless).then(|| A_METHOD.to_owned());
        written(own.chain(method).chain(["--".to_owned()]).chain(command))
    }
}

/// A command line of mcpreel as a shell reads it.
fn written(words: impl Iterator<Item = String>) -> String {
    words.fold("mcpreel".to_owned(), |line, word| format!("{line} {}", quoted(&word)))
}

/// Where the server's command is separated.
fn separator(words: &[OsString]) -> Option<usize> {
    words.iter().position(|word| word == "--")
}

/// The command line of this process with other words in place of some of mcpreel's own.
pub(super) fn rewritten(replace: impl Fn(&str) -> Vec<String>) -> String {
    let words = own_words();
    let (own, rest) = words.split_at(separator(&words).unwrap_or(words.len()));
    let own = own.iter().flat_map(|word| replace(&word.to_string_lossy()));
    written(own.chain(rest.iter().map(|word| word.to_string_lossy().into_owned())))
}

/// What the next word of a command line is.
enum Step {
    /// This many words of mcpreel's own: an option with its value, or an argument.
    Words(usize),
    /// The first word of a server's command.
    Command(Beginning),
    /// Nothing known.
    Unknown,
}

/// Reads a command line as clap does, but without refusing anything.
struct Reader<'a> {
    command: &'a Command,
    /// The number of arguments without a name that were read.
    positionals: usize,
    /// Whether the next argument can have several words, and has one.
    is_in_list: bool,
    names_a_server: bool,
}

impl Reader<'_> {
    fn take(&mut self, word: &str, is_program: impl Fn() -> bool) -> Step {
        if let Some(option) = word.strip_prefix("--") {
            let (name, has_value) = option.split_once('=').map_or((option, false), |(name, _)| (name, true));
            let found = self.command.get_arguments().find(|arg| arg.get_long() == Some(name));
            return found.map_or(Step::Unknown, |arg| self.take_option(arg, has_value));
        }
        if word.len() > 1 && word.starts_with('-') {
            return self.take_short(&word[1..]);
        }
        if self.command.has_subcommands() {
            let Some(inner) = self.command.find_subcommand(word) else { return Step::Unknown };
            self.command = inner;
            return Step::Words(1);
        }
        self.take_positional(word, is_program)
    }

    fn take_option(&mut self, arg: &Arg, has_value: bool) -> Step {
        self.names_a_server |= OF_SERVERS.contains(&arg.get_id().as_str());
        Step::Words(if arg.get_action().takes_values() && !has_value { 2 } else { 1 })
    }

    /// Reads options of one letter, the last of which can have a value.
    fn take_short(&mut self, letters: &str) -> Step {
        for (at, letter) in letters.char_indices() {
            let Some(arg) = self.command.get_arguments().find(|arg| arg.get_short() == Some(letter)) else {
                return Step::Unknown;
            };
            if arg.get_action().takes_values() {
                return self.take_option(arg, at + letter.len_utf8() < letters.len());
            }
        }
        Step::Words(1)
    }

    fn take_positional(&mut self, word: &str, is_program: impl Fn() -> bool) -> Step {
        let mut own = self.command.get_positionals().filter(|arg| !arg.is_last_set());
        let Some(arg) = own.nth(self.positionals) else { return self.beginning(Beginning::Unseparated) };
        if arg.is_trailing_var_arg_set() {
            return Step::Command(Beginning::Allowed);
        }
        let is_needed = arg.is_required_set() && !std::mem::replace(&mut self.is_in_list, true);
        if OF_PARAMETERS.contains(&arg.get_id().as_str()) {
            return if parameters::is_parameter(word) {
                Step::Words(1)
            } else {
                self.beginning(Beginning::Unseparated)
            };
        }
        if !is_needed && is_program() {
            let is_method = arg.get_id() == "method";
            return self.beginning(if is_method { Beginning::Methodless } else { Beginning::Doubtful });
        }
        if arg.get_num_args().is_none_or(|count| count.max_values() == 1) {
            (self.positionals, self.is_in_list) = (self.positionals + 1, false);
        }
        Step::Words(1)
    }

    /// The name of an option of mcpreel's command in a word, unless it means the same to nearly every program.
    fn own_option(&self, word: &OsStr) -> Option<String> {
        let name = word.to_str()?.strip_prefix("--")?.split('=').next()?;
        let is_common = ["help", "version", "verbose"].contains(&name);
        let mut own = self.command.get_arguments().filter(|_| !is_common);
        own.any(|arg| arg.get_long() == Some(name)).then(|| format!("--{name}"))
    }

    fn takes_command(&self) -> bool {
        self.command.get_positionals().any(Arg::is_last_set)
    }

    /// Whether the command is one of `fire` that is a server itself.
    fn sends_to_hosts(&self) -> bool {
        let has = |id: &str| self.command.get_arguments().any(|arg| arg.get_id() == id);
        !self.takes_command() && has("session") && has("listen") && has("on_signal")
    }

    fn beginning(&self, beginning: Beginning) -> Step {
        if self.takes_command() && !self.names_a_server { Step::Command(beginning) } else { Step::Unknown }
    }
}

/// The words of a command that was quoted as one word. Other words stay as they are.
fn separate(word: &str) -> Vec<String> {
    let words = if word.contains(char::is_whitespace) { shlex::split(word) } else { None };
    words.filter(|words| !words.is_empty()).unwrap_or_else(|| vec![word.to_owned()])
}

/// The word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |word: &str| shlex::try_quote(word).is_ok_and(|quoted| quoted == word);
    // After a program's name, these three mean themselves.
    if is_plain(&word.replace(['=', ',', '%'], "")) {
        return word.to_owned();
    }
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

fn is_program(word: &OsStr) -> bool {
    ServerCommand { argv: vec![word.to_owned()], ..ServerCommand::default() }.prepare().is_ok()
}

/// Runs `read` with the division of this process's own command line.
fn with_own_line<T>(read: impl FnOnce(&Line<'_>) -> T) -> T {
    let (words, mut whole) = (own_words(), super::command());
    whole.build();
    read(&Line::of(&words, &whole, &is_program))
}

/// Returns whether a word after these is the program of a server's command, and not one of its arguments.
pub(super) fn ends_before_command(words: &[OsString]) -> bool {
    let mut whole = super::command();
    whole.build();
    Line::of(words, &whole, &is_program).command.is_empty()
}

/// The arguments of this process before the server's command.
pub(super) fn words_before_command() -> Vec<OsString> {
    with_own_line(|line| line.own.to_vec())
}

/// An option of mcpreel's own that stands after `--`, so that the server gets it.
pub(super) fn misplaced_option() -> Option<String> {
    with_own_line(|line| line.misplaced.clone())
}

/// An invalid command line, explained if the reason is a missing `--`.
pub(super) fn explained(error: CommandError) -> CommandError {
    if error.kind != ErrorKind::Usage {
        return error;
    }
    with_own_line(|line| explained_by(line, error))
}

fn explained_by(line: &Line<'_>, error: CommandError) -> CommandError {
    let Some(first) = line.command.first().map(|word| word.to_string_lossy()) else { return error };
    match line.beginning {
        Beginning::Unseparated => {
            let explained = CommandError::usage(format!("\"--\" is missing before the command {first:?}"));
            let explained = explained.hint(line.corrected());
            match line.own.iter().any(|word| word == "overlay") {
                // The one command that a host starts and that needs `--`.
                true => explained.hint(REMOVED),
                false => explained,
            }
        }
        Beginning::ToHost => {
            CommandError::usage(format!("this message goes to a host, so the command {first:?} has no use"))
                .hint("--session NAME sends it in a live session, --listen PORT to the first host that connects")
                .hint("without either, the host starts mcpreel as its server")
        }
        Beginning::Doubtful | Beginning::Methodless => {
            error.hint(format!("if {first:?} is the server's program: {}", line.corrected()))
        }
        Beginning::Separated | Beginning::Stray | Beginning::Allowed | Beginning::Absent => error,
    }
}

/// Why `--` can be missing although the user wrote it.
const REMOVED: &str = "if you wrote it, the program that started mcpreel removed it, as the MCP Inspector does: put its own \
                       options first, then `--`, then mcpreel's command";

/// Refuses a command that is one word with spaces, which is never what a program is called.
///
/// # Errors
///
/// There is no such program.
pub(super) fn check_words(command: &ServerCommand) -> Result<(), CommandError> {
    let Some(first) = command.argv.first() else { return Ok(()) };
    let text = first.to_string_lossy();
    let is_missing = || matches!(command.prepare(), Err(SpawnError::NotFound(_) | SpawnError::NotRunnable(..)));
    if !text.trim().contains(char::is_whitespace) || !is_missing() {
        return Ok(());
    }
    let error = CommandError::usage(format!("there is no program {text:?}: it is several words quoted as one"));
    let corrected = with_own_line(|line| (line.command.first() == Some(first)).then(|| line.corrected()));
    Err(error.hint(corrected.unwrap_or_else(|| format!("write {} as separate words", separate(&text).join(" ")))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_line<T>(line: &str, read: impl FnOnce(&Line<'_>) -> T) -> T {
        let words: Vec<OsString> = shlex::split(line).expect("words").into_iter().map(OsString::from).collect();
        let mut whole = super::super::command();
        whole.build();
        read(&Line::of(&words, &whole, &|word| word == "npx"))
    }

    #[test]
    fn an_option_that_the_server_gets_is_found() {
        for (line, found) in [
            ("call tools/list -- npx --port 1 --timeout=5s --jq x", Some("--timeout")),
            ("--color never call tools/list -- npx --jq x", Some("--jq")),
            ("fire user-message hi -- npx --deadline 1s", Some("--deadline")),
            ("call tools/list -- npx --help --verbose --port 1", None),
            ("call tools/list --timeout 5s -- npx -- jq", None),
            ("call tools/list -- --timeout", None),
        ] {
            assert_eq!(with_line(line, |line| line.misplaced.clone()).as_deref(), found, "{line}");
        }
    }

    #[test]
    fn the_command_is_found_and_the_line_corrected() {
        for (line, beginning, corrected) in [
            ("call tools/list mcp-server-time", Beginning::Unseparated, "call tools/list -- mcp-server-time"),
            ("call tools/list npx -y x", Beginning::Unseparated, "call tools/list -- npx -y x"),
            ("call tools/list 'npx -y x'", Beginning::Unseparated, "call tools/list -- npx -y x"),
            ("call tools/list -- 'npx -y x'", Beginning::Separated, "call tools/list -- npx -y x"),
            (
                "call tools/call name=echo 'arguments:={\"a\":1}' npx",
                Beginning::Unseparated,
                "call tools/call name=echo 'arguments:={\"a\":1}' -- npx",
            ),
            (
                "-v call a --timeout 5s --format json npx -v",
                Beginning::Unseparated,
                "-v call a --timeout 5s --format json -- npx -v",
            ),
            ("call npx -y x", Beginning::Methodless, "call tools/list -- npx -y x"),
            ("call tools/call get-sum -- npx -y x", Beginning::Stray, "call tools/call get-sum -- npx -y x"),
            ("call tools/call npx a=1 -- x", Beginning::Stray, "call tools/call npx a=1 -- x"),
            ("fire push --text x -- npx", Beginning::ToHost, "fire push --text x -- npx"),
            ("call a --timeout=5s npx", Beginning::Unseparated, "call a --timeout=5s -- npx"),
            ("fire user-message 'hi all' npx", Beginning::Unseparated, "fire user-message 'hi all' -- npx"),
            ("fire before-inference npx -y x", Beginning::Doubtful, "fire before-inference -- npx -y x"),
            (
                "fire feature-sets update --enable a npx",
                Beginning::Unseparated,
                "fire feature-sets update --enable a -- npx",
            ),
            ("events watch a.b npx -y x", Beginning::Doubtful, "events watch a.b -- npx -y x"),
            ("host npx -y x", Beginning::Unseparated, "host -- npx -y x"),
            ("replay npx error npx", Beginning::Doubtful, "replay npx error -- npx"),
            ("mock a.reel --on-miss forward npx", Beginning::Doubtful, "mock a.reel --on-miss forward -- npx"),
            ("overlay f.yaml npx", Beginning::Unseparated, "overlay f.yaml -- npx"),
            ("survive client {}", Beginning::Unseparated, "survive -- client '{}'"),
            ("diff --surface a.lock npx -y x", Beginning::Doubtful, "diff --surface a.lock -- npx -y x"),
            ("record -o x.reel npx -o y", Beginning::Allowed, "record -o x.reel -- npx -o y"),
        ] {
            let found = with_line(line, |line| (line.beginning, line.corrected()));
            assert_eq!(found, (beginning, format!("mcpreel {corrected}")), "{line}");
        }
    }

    #[test]
    fn other_mistakes_are_not_taken_for_a_missing_separator() {
        for line in [
            "call --nonsense tools/list npx",
            "call tools/list --session s npx",
            "call tools/list --url http://h npx",
            "show a.reel npx",
            "fire push --text x npx",
            "nonsense npx",
            "call tools/list",
            "events watch a.b",
        ] {
            assert_eq!(with_line(line, |line| line.beginning), Beginning::Absent, "{line}");
        }
    }
}
