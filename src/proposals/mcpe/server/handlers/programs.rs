//! What programs and words of shells do with their arguments, and so what each word of a simple command is.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a program does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// They are data.
    Data,
    /// The same, and it reads no input.
    Silent,
    /// They name variables, options or functions, unless `name=` precedes the data.
    Sets,
    /// It sends them; one behind some of its options names a file if it begins with `@`.
    Sends,
    Shell,
    /// It runs a script, or the code behind an option.
    Interpreter,
    /// Its first operand is code. The letters are options that take no value.
    Filter(&'static str),
    /// It starts the program behind so many operands.
    Starter(usize, &'static str),
    /// The same, but a shell reads what stands there.
    Text(usize, &'static str),
    /// Any of them may be a command.
    Anything,
    /// The same, and so may what it reads.
    Console,
}

/// Who knows a name: only shells, so that no program can be started by it, or everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Shell,
    All,
}

/// No list of this kind is complete. Versions at the end of names are left out.
const TABLE: [(By, Kind, &str); 22] = [
    (
        By::Shell,
        Kind::Data,
        ": bg break caller case cd continue dirs disown do done elif else end esac exit fg fi for foreach function getopts \
         history if in jobs logout popd pushd repeat return select set shift shopt suspend then type ulimit umask until while",
    ),
    (
        By::Shell,
        Kind::Sets,
        "bind compgen complete declare enable export fc hash local mapfile read readarray readonly typeset unset",
    ),
    (By::Shell, Kind::Interpreter, ". source"),
    (By::Shell, Kind::Starter(0, "clpvV"), "builtin command coproc exec nocorrect noglob time"),
    (By::Shell, Kind::Text(0, ""), "alias eval let trap"),
    (
        By::All,
        Kind::Silent,
        "basename date dirname echo hostname id mktemp printf pwd readlink realpath uname which whoami",
    ),
    (By::All, Kind::Sets, "dd"),
    (By::All, Kind::Sends, "curl"),
    (By::All, Kind::Shell, "ash bash csh dash elvish fish ksh mksh nu oksh rbash sh tcsh xonsh yash zsh"),
    (
        By::All,
        Kind::Interpreter,
        "R Rscript elixir escript groovy guile ipython janet jshell julia jython lua luajit node nodejs osascript perl php \
         powershell pwsh pypy python python3-dbg racket raku ruby runghc scala swift tclsh ts-node tsx wish",
    ),
    (By::All, Kind::Filter(""), "awk gawk mawk nawk"),
    (By::All, Kind::Filter("nErsuz"), "gsed sed"),
    (By::All, Kind::Filter("rcnesSMCaj"), "gojq jaq jq"),
    (
        By::All,
        Kind::Starter(0, ""),
        "busybox bwrap catchsegv choom doas eatmydata fakeroot faketime firejail heaptrack hyperfine i386 ionice linux32 \
         linux64 ltrace nice nohup nsenter prlimit proot rlwrap runcon setpriv ssh-agent sshpass stdbuf systemd-inhibit \
         torsocks toybox unshare valgrind x86_64 xvfb-run proxychains",
    ),
    (By::All, Kind::Starter(0, "AbEeHKknPSVv"), "sudo"),
    (By::All, Kind::Starter(0, "i0v"), "env"),
    (By::All, Kind::Starter(0, "0rtpx"), "xargs"),
    (By::All, Kind::Starter(0, "cfw"), "setsid strace"),
    (By::All, Kind::Starter(1, ""), "chroot chrt flock setarch taskset timeout"),
    (By::All, Kind::Text(1, "46AaCfGgKkMNnqsTtVvXxYy"), "mosh rsh ssh"),
    (
        By::All,
        Kind::Anything,
        "bun bunx cargo conda dbus-run-session deno direnv docker dotnet emacs entr find git gmake go hatch helm java just \
         kubectl less mamba man micromamba mise mvn nerdctl nix nix-shell npm npx pdm perf pipenv pipx pixi pnpm podman \
         poetry rsync run-parts runuser rye scp screen script split start-stop-daemon systemd-run tar tmux tox unbuffer uv \
         uvx watch watchexec xterm yarn zip",
    ),
    (
        By::All,
        Kind::Console,
        "at batch bc bpftrace clisp crontab dc ed erl ex expect gdb ghci gnuplot ipdb irb iex lldb m4 make mariadb \
         maxima mysql newgrp nvim octave parallel psql rc sbcl sftp socat sqlite su vi view vim",
    ),
];
static KNOWN: LazyLock<HashMap<&str, (By, Kind)>> = LazyLock::new(|| {
    let each = |(by, kind, names): (By, Kind, &'static str)| names.split(' ').map(move |name| (name, (by, kind)));
    TABLE.into_iter().flat_map(each).collect()
});
/// What starts a shell, or its input, if no program is named.
const START_SHELLS: &str =
    "chroot doas fakeroot firejail i386 linux32 linux64 nsenter proot setarch sudo unshare x86_64 xargs";
/// Options of one letter that take no value. Another may take the next word.
const FLAGS_OF_INTERPRETERS: &str = "abdefhiklmnpqstuvwxyBEHPT";
/// Options of filters that take data, and how many words.
const TAKES_DATA: [(&str, usize); 6] =
    [("--arg", 2), ("--argjson", 2), ("--indent", 1), ("-v", 1), ("--assign", 1), ("-F", 1)];
/// Options of curl whose value names a file if it begins with `@`.
const SENT: &str =
    "--data --data-ascii --data-binary --data-urlencode --form --header --json --proxy-header --url-query";
/// Variables that decide which code programs run.
pub(super) const LOADS: &str = "BASH_ENV ENV LD_LIBRARY_PATH LD_PRELOAD NODE_OPTIONS PATH PROMPT_COMMAND PYTHONPATH";
/// More words behind a program that starts others are not read.
const MAX_WORDS: usize = 500;

/// What begins a part of the event in a word.
pub(super) const BEGIN: char = '\u{1}';

/// Whether only a shell knows a word.
pub(super) fn is_of_shell(word: &str) -> bool {
    KNOWN.get(word).is_some_and(|(by, _)| *by == By::Shell)
}

pub(super) fn has(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

/// What a program does, if it is known.
pub(super) fn kind(program: &str) -> Option<Kind> {
    let name = base_name(program);
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || "._-".contains(letter));
    KNOWN.get(name).or_else(|| KNOWN.get(bare)).map(|(_, kind)| *kind)
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

pub(super) fn is_short(word: &str) -> bool {
    is_option(word) && !word.starts_with("--")
}

pub(super) fn is_named(word: &str) -> bool {
    word.contains(BEGIN)
}

/// The variable that a word assigns.
pub(super) fn assigned(word: &str) -> Option<&str> {
    let name = word.split_once('=')?.0.trim_end_matches('+').split('[').next()?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    (is_name && !is_named(word.split('=').next()?)).then_some(name)
}

/// Whether a file is, or may be, standard input, also in a folder of such files.
pub(super) fn is_stdin(file: &str) -> bool {
    let mut parts = file.rsplit('/').filter(|part| !part.is_empty() && *part != ".");
    let last = parts.next().unwrap_or_default();
    let is_number = !last.is_empty() && last.chars().all(|letter| letter.is_ascii_digit());
    matches!(last, "-" | "stdin" | "0") || is_number && parts.next() == Some("fd")
}

/// What a word of a simple command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Data,
    /// Data that must not begin with `@`.
    Sent,
    /// A program or a script, or what may be one.
    Program,
    /// Code that no shell reads.
    Code,
    /// Code for a shell, together with the words behind it that are, too.
    Text,
    /// Perhaps code for a shell.
    Any,
}

/// Finds what the words of a simple command are. Returns whether it runs its standard input. What is not certain counts
/// as code.
pub(super) fn place(words: &[&str], places: &mut [Place]) -> bool {
    let (Some((first, rest)), Some((own_place, places))) = (words.split_first(), places.split_first_mut()) else {
        return false;
    };
    *own_place = Place::Program;
    match kind(first) {
        None | Some(Kind::Data | Kind::Silent) => false,
        Some(Kind::Sets) => {
            // A number runs what is in its brackets.
            let is_number = rest.iter().any(|word| is_short(word) && word.contains('i'));
            for (word, place) in rest.iter().zip(places) {
                if is_number || assigned(word).is_none_or(|name| has(LOADS, name)) {
                    *place = Place::Program;
                }
            }
            false
        }
        Some(Kind::Sends) => {
            let mut before = "";
            for (word, place) in rest.iter().zip(places) {
                let is_value = is_short(before) && before.ends_with(['d', 'F', 'H']) || has(SENT, before);
                if is_value || ["-d", "-F", "-H"].iter().any(|option| word.starts_with(option)) {
                    *place = Place::Sent;
                }
                before = word;
            }
            // A file of options.
            rest.windows(2).any(|two| has("-K --config", two[0]) && is_stdin(two[1]))
        }
        Some(kind @ (Kind::Shell | Kind::Interpreter | Kind::Filter(_))) => {
            place_code(base_name(first), kind, rest, places)
        }
        // It only says where a program is.
        Some(Kind::Starter(..)) if *first == "command" && rest.first().is_some_and(|word| has("-v -V", word)) => false,
        // So many words are not certain.
        Some(Kind::Starter(..) | Kind::Anything) if rest.len() > MAX_WORDS => {
            places.fill(Place::Program);
            true
        }
        Some(Kind::Starter(own, flags)) => place_started(base_name(first), own, flags, rest, places),
        Some(Kind::Text(own, flags)) => {
            let at = program(rest, own, flags).unwrap_or(rest.len());
            places[..at].fill(Place::Program);
            places[at..].fill(Place::Text);
            own > 0 && at == rest.len()
        }
        Some(Kind::Anything) => {
            places.fill(Place::Any);
            let is_run = |at: usize| {
                is_stdin(rest[at])
                    || matches!(kind(rest[at]), Some(Kind::Shell | Kind::Interpreter))
                        && place(until_end(&rest[at..]), &mut vec![Place::Data; rest.len() - at])
            };
            rest.is_empty() || (0..rest.len()).any(is_run)
        }
        Some(Kind::Console) => {
            places.fill(Place::Any);
            true
        }
    }
}

/// The words of a command that `find` runs.
fn until_end<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    &words[..words.iter().position(|word| has("; +", word)).unwrap_or(words.len())]
}

/// The same behind a program that starts another one.
fn place_started(name: &str, own: usize, flags: &str, rest: &[&str], places: &mut [Place]) -> bool {
    // `env -S` divides a text into words.
    if name == "env" && rest.iter().any(|word| word.starts_with("--split") || is_short(word) && word.contains('S')) {
        places.fill(Place::Any);
        return true;
    }
    let program = program(rest, own, flags);
    let behind = program.map_or(rest.len(), |at| at + 1);
    let runs = |word: &&str| kind(word).is_some_and(|kind| !matches!(kind, Kind::Data | Kind::Silent));
    let known = rest[..behind].iter().position(runs);
    for (word, place) in rest.iter().zip(&mut places[..known.unwrap_or(behind)]) {
        let is_data = assigned(word).is_some_and(|name| !has(LOADS, name));
        *place = if is_data { Place::Data } else { Place::Program };
    }
    match known {
        // xargs makes arguments of its standard input.
        Some(at) => place(&rest[at..], &mut places[at..]) || name == "xargs",
        None => program.is_none() && has(START_SHELLS, name),
    }
}

/// Where the first word is that is certainly behind so many operands: no option, no assignment, and behind no option that
/// may take a value.
fn program(words: &[&str], own: usize, flags: &str) -> Option<usize> {
    let may_take = |option: &str| {
        let last = option.chars().last().filter(|last| !last.is_ascii_digit() && !flags.contains(*last));
        is_option(option) && option != "--" && !option.contains('=') && last.is_some()
    };
    let is_operand = |at: usize| {
        let is_value = at > 0 && may_take(words[at - 1]);
        !is_option(words[at]) && assigned(words[at]).is_none() && !is_value
    };
    (0..words.len()).filter(|at| is_operand(*at)).nth(own)
}

/// The same for an interpreter or a filter.
fn place_code(name: &str, kind: Kind, words: &[&str], places: &mut [Place]) -> bool {
    let (mut has_script, mut has_code, mut is_code_next, mut is_value_next) = (false, false, false, false);
    let (mut runs_input, mut data) = (false, 0);
    let is_filter = matches!(kind, Kind::Filter(_));
    for (word, place) in words.iter().zip(places) {
        let is_begun = !has_script && !has_code;
        let is_own = is_option(word) || is_begun && (*word == "eval" || word.starts_with('+') && word.len() == 2);
        *place = if kind == Kind::Shell { Place::Program } else { Place::Code };
        if data > 0 {
            (data, *place) = (data - 1, Place::Data);
        } else if is_code_next && !is_option(word) {
            (is_code_next, has_code) = (false, true);
            if kind == Kind::Shell {
                *place = Place::Text;
            }
        } else if is_own && has_script && !is_filter {
            *place = Place::Data;
        } else if is_own {
            // Perl and others read options behind code, too.
            is_code_next |= takes_code(name, kind, word);
            is_value_next = !is_code_next && may_take_value(kind, word);
            runs_input |= kind == Kind::Shell && is_begun && is_short(word) && word.contains('s');
            if let Some((_, count)) = TAKES_DATA.iter().find(|(option, _)| is_filter && option == word) {
                (data, is_value_next) = (*count, false);
            } else if is_filter && assigned(word.trim_start_matches("-v")).is_some() && word.starts_with("-v") {
                *place = Place::Data;
            }
            continue;
        } else if is_begun && !is_value_next {
            has_script = true;
            runs_input |= !is_filter && is_stdin(word);
        } else if is_value_next {
            runs_input |= is_stdin(word);
        } else {
            *place = Place::Data;
        }
        is_value_next = false;
    }
    runs_input || !has_script && !has_code && !is_filter
}

/// Whether an option may take the next word.
fn may_take_value(kind: Kind, option: &str) -> bool {
    match kind {
        _ if option == "--" || option == "-" || option.contains('=') => false,
        // `-F,` has its value.
        Kind::Filter(flags) if is_short(option) => option.len() == 2 && !flags.contains(&option[1..]),
        Kind::Shell if option.starts_with("--") => has("--rcfile --init-file", option),
        _ => !is_short(option) || !option[1..].chars().all(|letter| FLAGS_OF_INTERPRETERS.contains(letter)),
    }
}

/// Whether an interpreter or a filter takes code after this word.
fn takes_code(name: &str, kind: Kind, word: &str) -> bool {
    match (word.strip_prefix("--"), kind) {
        (Some(long), _) => has("command eval execute expression print run", &long.to_ascii_lowercase()),
        (None, Kind::Filter(_)) => name.ends_with("sed") && word.ends_with('e'),
        (None, Kind::Shell) => is_short(word) && word.contains('c'),
        (None, _) if word.ends_with('r') => name.starts_with("php"),
        (None, _) => word == "eval" || word.ends_with(['c', 'e', 'E', 'p']) || word.eq_ignore_ascii_case("-command"),
    }
}
