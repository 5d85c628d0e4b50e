//! What the `command` of a bash handler is: a plain command, which gets arguments, or a script, which reads them as `$1`
//! and so on. Nothing is ever appended to a text that a shell reads.
//!
//! And what of it is run: both are read as simple commands, by one table of what programs do with their arguments.

use super::input::{PREFIX, Way, expand};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a program does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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
/// Options of one letter that take no value. Another may take the next word.
const FLAGS_OF_INTERPRETERS: &str = "abdefhiklmnpqstuvxyBEHPT";
/// Options of filters that take data, and how many words.
const TAKES_DATA: [(&str, usize); 6] =
    [("--arg", 2), ("--argjson", 2), ("--indent", 1), ("-v", 1), ("--assign", 1), ("-F", 1)];
/// Options of curl whose value names a file if it begins with `@`.
const SENT: &str =
    "--data --data-ascii --data-binary --data-urlencode --form --header --json --proxy-header --url-query";
/// Variables that decide which code programs run.
const LOADS: &str = "BASH_ENV ENV LD_LIBRARY_PATH LD_PRELOAD NODE_OPTIONS PATH PROMPT_COMMAND PYTHONPATH";
/// Words before a command, and behind one; `-p` is an option of `time`.
const RESERVED: &str = "! -p time { } do done elif else fi if then until while";
const REDIRECTIONS: [&str; 12] = ["<<<", "<<-", "&>>", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "<", ">"];

/// What surrounds the name of a variable of the event in a word.
const BEGIN: char = '\u{1}';
const END: char = '\u{2}';
/// What stands for other text of the event, and for text of others.
const EVENT: &str = "\u{1}\u{2}";
const OTHER: &str = "\u{3}";

/// Why a handler is refused.
pub(super) type Why = &'static str;

const NAMED: Why = "the event would be run as code, because a variable of it names a command or is code: make it an argument of a command";
const ARGUMENT: Why = "the event would be run as code: put a script in `command`, which finds the event in $1";
const STDIN: Why = "the event would be run as code, because it is on standard input: name a script";
const OPTION: Why = "the event would name an option: put its variable behind `=`, or `--` before it";
const FILE: Why = "the event would name a file to send: put its value into the request itself";
const UNREAD: Why =
    "the event could be run as code, because mcpreel cannot read this script: put it into a file and run that";

/// How deep commands may stand in each other, and how many letters and words are read in all.
const MAX_DEPTH: usize = 40;
const MAX_READ: usize = 1 << 19;
const MAX_WORDS: usize = 500;

/// How a command gets its arguments.
pub(super) struct Reading {
    /// Which of them are surely data, if it is a plain command.
    pub is_data: Option<Vec<bool>>,
    /// The variables whose values must not begin with `@`.
    pub sent: Vec<String>,
}

/// Reads a command with its arguments.
///
/// # Errors
/// Why it must not run.
pub(super) fn read(command: &str, args: &[String], way: Way) -> Result<Reading, Why> {
    let mut walk = Walk { has_variables: way == Way::Env, ..Walk::default() };
    let is_fed = way == Way::Stdin;
    let Some(words) = plain_words(command) else {
        if is_fed || walk.mentions(command) {
            walk.script(command, is_fed)?;
        }
        return Ok(Reading { is_data: None, sent: walk.sent });
    };
    let begun = words.len();
    let argument =
        |text: &String| walk.has_variables.then(|| Word::argument(text)).unwrap_or_else(|| Word::plain(text.clone()));
    let mut words: Vec<Word> = words.into_iter().map(Word::plain).chain(args.iter().map(argument)).collect();
    words.extend((way == Way::Args).then(|| Word::plain(EVENT.to_owned())));
    let places = walk.command(&words, is_fed).map_err(|why| if way == Way::Args { ARGUMENT } else { why })?;
    let is_data = places[begun..].iter().map(|place| matches!(place, Place::Data | Place::Sent)).collect();
    Ok(Reading { is_data: Some(is_data), sent: walk.sent })
}

/// Returns the words of a plain command, `None` for a script.
///
/// A plain command consists of words only. Whatever a shell could expand, end, continue or comment out makes a script,
/// and so does whatever is not known here: a script without its arguments fails, data in the place of a command runs.
pub(super) fn plain_words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => quoted(&mut letters, letter, word.get_or_insert_default())?,
            _ if letter.is_alphanumeric() || "_@%+=:,./-".contains(letter) => word.get_or_insert_default().push(letter),
            _ => return None,
        }
    }
    words.extend(word);
    let program: &String = words.first()?;
    // An assignment is no program, and neither is an option of `exec`.
    let is_program = !program.is_empty() && !program.starts_with('-') && !program.contains('=');
    let is_of_shell = KNOWN.get(program.as_str()).is_some_and(|(by, _)| *by == By::Shell);
    (is_program && !is_of_shell).then_some(words)
}

/// Reads to the closing quote. `None` if there is none, or if the text is more than itself.
fn quoted(letters: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Option<()> {
    loop {
        match letters.next()? {
            letter if letter == quote => return Some(()),
            '$' | '`' | '\\' if quote == '"' => return None,
            letter if letter.is_control() => return None,
            letter => word.push(letter),
        }
    }
}

fn has(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

/// What a program does, if it is known.
fn kind(program: &str) -> Option<Kind> {
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

fn is_short(word: &str) -> bool {
    is_option(word) && !word.starts_with("--")
}

fn is_named(word: &str) -> bool {
    word.contains(BEGIN)
}

/// The variable that a word assigns.
fn assigned(word: &str) -> Option<&str> {
    let name = word.split_once('=')?.0.trim_end_matches('+').split('[').next()?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    (is_name && !is_named(word.split('=').next()?)).then_some(name)
}

/// Whether a file is, or may be, standard input, also in a folder of such files.
fn is_stdin(file: &str) -> bool {
    let mut parts = file.rsplit('/').filter(|part| !part.is_empty() && *part != ".");
    let last = parts.next().unwrap_or_default();
    let is_number = !last.is_empty() && last.chars().all(|letter| letter.is_ascii_digit());
    matches!(last, "-" | "stdin" | "0") || is_number && parts.next() == Some("fd")
}

/// What a word of a simple command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
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
fn place(words: &[&str], places: &mut [Place]) -> bool {
    let (Some((first, rest)), Some((own_place, places))) = (words.split_first(), places.split_first_mut()) else {
        return false;
    };
    *own_place = Place::Program;
    match kind(first) {
        None | Some(Kind::Data | Kind::Silent) => false,
        Some(Kind::Sets) => {
            let code = rest.iter().zip(places).filter(|(word, _)| assigned(word).is_none_or(|name| has(LOADS, name)));
            code.for_each(|(_, place)| *place = Place::Program);
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
        Some(Kind::Starter(0, _)) if rest.is_empty() => !has("exec command builtin time env", base_name(first)),
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
        None => program.is_none(),
    }
}

/// Where the first word is that is certainly behind so many operands: no option, no assignment, and behind no option that
/// may take a value.
fn program(words: &[&str], own: usize, flags: &str) -> Option<usize> {
    let may_take = |option: &str| is_short(option) && option.len() == 2 && !flags.contains(&option[1..]);
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
    let is_waiting = is_code_next || is_value_next || !has_script && !has_code;
    runs_input || is_waiting && !is_filter
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

/// A word of a simple command.
#[derive(Clone, Debug)]
struct Word {
    /// The event's variables are marked in it.
    text: String,
    /// What stays of it where it is code; nothing of a word that a shell expands before the program gets it.
    literal: Option<String>,
}

impl Word {
    /// A word that its program gets as it is.
    fn plain(text: String) -> Self {
        Self { text, literal: None }
    }

    /// An argument in which mcpreel replaces the event's variables, if it is data.
    fn argument(text: &str) -> Self {
        let mark = |name: &str| name.starts_with(PREFIX).then(|| format!("{BEGIN}{name}{END}").into());
        let marked = expand(text, mark, usize::MAX).unwrap_or_default();
        Self { text: marked, literal: Some(text.to_owned()) }
    }
}

/// Reads commands for what they would run of an event.
#[derive(Default)]
struct Walk {
    /// Whether variables have it.
    has_variables: bool,
    /// Variables whose values must not begin with `@`.
    sent: Vec<String>,
    depth: usize,
    read: usize,
}

impl Walk {
    /// Whether a text has a variable of the event.
    fn mentions(&self, text: &str) -> bool {
        self.has_variables && text.contains(PREFIX)
    }

    /// Reads the text of a script. `is_fed` says whether its standard input has something of the event. Returns whether
    /// its output may.
    fn script(&mut self, text: &str, is_fed: bool) -> Result<bool, Why> {
        // Otherwise, nothing could feed it.
        let is_fed = is_fed || self.mentions(text) && (text.contains(['|', '<']) || text.contains(">("));
        self.spend(text.len())?;
        let mut reader = Reader { walk: self, rest: text, behind: None, is_fed, tells: false };
        let (depth, read) = (reader.walk.depth, reader.list(None));
        reader.walk.depth = depth;
        read.map(|()| reader.tells)
    }

    /// Reads a simple command, and returns what its words are.
    fn command(&mut self, words: &[Word], is_fed: bool) -> Result<Vec<Place>, Why> {
        self.spend(words.len())?;
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let mut places = vec![Place::Data; words.len()];
        if place(&texts, &mut places) && is_fed {
            return Err(STDIN);
        }
        let (mut code, mut is_behind_options) = (String::new(), false);
        for (word, place) in words.iter().zip(&places) {
            let is_code = !matches!(place, Place::Data | Place::Sent);
            let text: &str = match &word.literal {
                Some(literal) if is_code && *place != Place::Program => literal,
                _ if is_code && is_named(&word.text) => return Err(NAMED),
                _ => &word.text,
            };
            match place {
                Place::Program | Place::Code => {}
                Place::Data | Place::Sent if !is_behind_options && names_option(text) => return Err(OPTION),
                Place::Data => {}
                Place::Sent => self.send(text)?,
                // The second word of `trap` is no part of the first.
                Place::Text => code.extend([text, if words[0].text == "trap" { "\n" } else { " " }]),
                Place::Any => self.any(text, is_fed)?,
            }
            is_behind_options |= text == "--";
        }
        if !code.is_empty() {
            self.script(&code, is_fed)?;
        }
        Ok(places)
    }

    /// Reads a word that may be a command of several words, or have one behind `=`. What is no script is none.
    fn any(&mut self, word: &str, is_fed: bool) -> Result<(), Why> {
        let value = word.split_once('=').map(|(_, value)| value);
        if value.is_none() && !word.contains([' ', '$', ';', '|', '\n']) {
            return Ok(());
        }
        match self.script(value.unwrap_or(word), is_fed) {
            Err(why) if why != UNREAD => Err(why),
            _ => Ok(()),
        }
    }

    /// Notes which variables begin a value that is sent.
    fn send(&mut self, word: &str) -> Result<(), Why> {
        let word = if is_short(word) { &word[2..] } else { word };
        for (at, _) in word.match_indices(BEGIN) {
            let before = &word[..at];
            let bare = before.trim_end_matches(['@', '<']);
            if !bare.is_empty() && !bare.ends_with('=') {
                continue;
            } else if bare.len() < before.len() {
                return Err(FILE);
            }
            self.sent.extend(word[at + 1..].split(END).next().map(str::to_owned));
        }
        Ok(())
    }

    fn deepen(&mut self) -> Result<(), Why> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(UNREAD) } else { Ok(()) }
    }

    fn spend(&mut self, amount: usize) -> Result<(), Why> {
        self.read += amount + 1;
        if self.read > MAX_READ { Err(UNREAD) } else { Ok(()) }
    }
}

/// Whether the event would be an option, or a part of its name.
fn names_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let is_long = word.starts_with("--") && is_named(name) && !name.contains(char::is_whitespace);
    word.starts_with('-') && word.trim_start_matches('-').starts_with(BEGIN) || is_long
}

/// A simple command that is being read.
#[derive(Default)]
struct Simple {
    words: Vec<String>,
    /// Whether its own standard input has something of the event.
    fed: Option<bool>,
}

/// Reads the text of a script, one simple command after another.
struct Reader<'w, 'a> {
    walk: &'w mut Walk,
    rest: &'a str,
    /// What follows the here-documents of this line.
    behind: Option<&'a str>,
    is_fed: bool,
    tells: bool,
}

impl<'a> Reader<'_, 'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn take(&mut self, start: &str) -> bool {
        self.rest.strip_prefix(start).map(|rest| self.rest = rest).is_some()
    }

    fn blanks(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\r") || self.take("\\\n") {}
        if self.rest.starts_with('#') {
            self.rest = self.rest.find('\n').map_or("", |at| &self.rest[at..]);
        }
    }

    fn lines(&mut self) {
        self.blanks();
        while self.newline() {
            self.blanks();
        }
    }

    fn newline(&mut self) -> bool {
        let is_one = self.take("\n");
        if is_one {
            self.rest = self.behind.take().unwrap_or(self.rest);
        }
        is_one
    }

    /// Reads commands up to the end, or to the parenthesis that ends them.
    fn list(&mut self, end: Option<char>) -> Result<(), Why> {
        self.walk.deepen()?;
        let (mut now, mut cases, mut is_pattern) = (Simple::default(), 0_usize, false);
        loop {
            self.blanks();
            let start = self.rest;
            match self.peek() {
                None if end.is_some() => return Err(UNREAD),
                None => break,
                Some(')') if is_pattern => {
                    self.next();
                    (now, is_pattern) = (Simple::default(), false);
                }
                Some(')') if end.is_some() => {
                    self.next();
                    break;
                }
                Some(')') => return Err(UNREAD),
                Some('(') if is_pattern => drop(self.next()),
                Some('(') if !now.words.is_empty() && now.words != ["for"] => {
                    // A function is defined.
                    self.next();
                    self.blanks();
                    if !self.take(")") {
                        return Err(UNREAD);
                    }
                    now = Simple::default();
                }
                Some('(') if self.arithmetic(1)? => {}
                Some('(') => {
                    self.next();
                    self.list(Some(')'))?;
                }
                Some('\n') => {
                    self.finish(&mut now)?;
                    self.newline();
                }
                Some(';' | '&' | '|') if !start.starts_with("&>") => {
                    self.finish(&mut now)?;
                    self.rest = start.trim_start_matches([';', '&', '|']);
                    is_pattern |= cases > 0 && (start.starts_with(";;") || start.starts_with(";&"));
                }
                Some('<' | '>' | '&') if !start[1..].starts_with('(') => self.redirect("", &mut now)?,
                Some(_) => {
                    let word = self.word()?;
                    let raw = &start[..start.len() - self.rest.len()];
                    if raw == "esac" && (is_pattern || now.words.is_empty()) {
                        (cases, is_pattern) = (cases.saturating_sub(1), false);
                    } else if is_pattern {
                    } else if raw.chars().all(|letter| letter.is_ascii_digit()) && self.rest.starts_with(['<', '>']) {
                        self.redirect(raw, &mut now)?;
                    } else if raw == "{" && now.words.first().is_some_and(|first| first == "coproc") {
                        now = Simple::default();
                    } else if !now.words.is_empty() {
                        now.words.push(word);
                    } else if raw == "case" {
                        self.lines();
                        self.word()?;
                        self.lines();
                        is_pattern = self.take("in");
                        cases += 1;
                    } else if raw == "function" {
                        self.blanks();
                        self.word()?;
                    } else if raw == "[[" {
                        self.test()?;
                    } else if let Some(name) = assigned(&word) {
                        if is_named(&word) && has(LOADS, name) {
                            return Err(NAMED);
                        }
                    } else if !has(RESERVED, raw) {
                        now.words.push(word);
                    }
                }
            }
        }
        self.walk.depth -= 1;
        self.finish(&mut now)
    }

    fn finish(&mut self, now: &mut Simple) -> Result<(), Why> {
        let Simple { words, fed } = std::mem::take(now);
        let Some(first) = words.first() else { return Ok(()) };
        let is_fed = fed.unwrap_or(self.is_fed);
        self.tells |= words.iter().any(|word| is_named(word)) || is_fed && kind(first) != Some(Kind::Silent);
        let words: Vec<Word> = words.into_iter().map(Word::plain).collect();
        self.walk.command(&words, is_fed).map(drop)
    }

    fn redirect(&mut self, descriptor: &str, now: &mut Simple) -> Result<(), Why> {
        let operator = REDIRECTIONS.into_iter().find(|operator| self.take(operator)).ok_or(UNREAD)?;
        self.blanks();
        let start = self.rest;
        let target = self.word()?;
        let is_fed = match operator {
            "<" | "<>" => is_named(&target) || is_stdin(&target),
            "<<<" => is_named(&target),
            "<<" | "<<-" => {
                let is_literal = start[..start.len() - self.rest.len()].contains(['\'', '"', '\\']);
                let body = self.here(&target, operator == "<<-");
                !is_literal && is_named(&self.within(body)?)
            }
            _ => return Ok(()),
        };
        if descriptor.is_empty() || descriptor == "0" {
            now.fed = Some(is_fed);
        }
        Ok(())
    }

    /// The body of a here-document.
    fn here(&mut self, end: &str, is_indented: bool) -> &'a str {
        let from = self.behind.unwrap_or_else(|| self.rest.split_once('\n').map_or("", |(_, after)| after));
        let mut rest = from;
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if end == if is_indented { line.trim_start_matches('\t') } else { line } {
                self.behind = Some(after);
                return &from[..from.len() - rest.len()];
            }
            rest = after;
        }
        self.behind = Some("");
        from
    }

    /// Reads a text like one in double quotes.
    fn within(&mut self, text: &str) -> Result<String, Why> {
        let mut inner = Reader { walk: self.walk, rest: text, behind: None, is_fed: self.is_fed, tells: false };
        inner.expanded(None)
    }

    /// Reads `[[ … ]]`, which expands variables in numbers, and runs what is in their brackets.
    fn test(&mut self) -> Result<(), Why> {
        let (mut is_number, mut has_event) = (false, false);
        loop {
            self.lines();
            match self.peek().ok_or(UNREAD)? {
                '(' | ')' | '<' | '>' | '&' | '|' | ';' => drop(self.next()),
                _ => match self.word()?.as_str() {
                    "]]" => break,
                    word => {
                        is_number |= has("-eq -ne -lt -le -gt -ge -v", word);
                        has_event |= is_named(word);
                    }
                },
            }
        }
        if is_number && has_event { Err(NAMED) } else { Ok(()) }
    }

    /// Reads `((…))`, if it begins behind so many letters. Numbers run what is in brackets.
    fn arithmetic(&mut self, at: usize) -> Result<bool, Why> {
        let Some(inner) = self.rest.get(at..).filter(|rest| rest.starts_with('(')) else { return Ok(false) };
        let mut depth = 0_usize;
        let end = inner.find(|letter| {
            depth = if letter == '(' { depth + 1 } else { depth - usize::from(letter == ')') };
            depth == 0
        });
        let Some((text, after)) = end.and_then(|end| Some((&inner[1..end], inner[end + 1..].strip_prefix(')')?)))
        else {
            return Ok(false);
        };
        self.rest = after;
        let has_name = self.walk.has_variables && text.contains(PREFIX);
        if has_name || is_named(&self.within(text)?) { Err(NAMED) } else { Ok(true) }
    }

    fn word(&mut self) -> Result<String, Why> {
        self.walk.deepen()?;
        let mut word = String::new();
        while let Some(letter) = self.peek() {
            match letter {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | ')' => break,
                '<' | '>' if self.rest[1..].starts_with('(') => {
                    self.next();
                    self.substitution(&mut word)?;
                }
                '<' | '>' => break,
                '(' if assigned(&word).is_some() && word.ends_with('=') => {
                    self.next();
                    while {
                        self.lines();
                        !self.take(")")
                    } {
                        let length = self.rest.len();
                        word += &self.word()?;
                        if self.rest.len() == length {
                            return Err(UNREAD);
                        }
                    }
                }
                '(' if word.ends_with(['@', '!', '?', '+', '*']) => {
                    self.next();
                    word += &self.expanded(Some(')'))?;
                }
                '(' => break,
                '\'' => {
                    let (text, rest) = self.rest[1..].split_once('\'').ok_or(UNREAD)?;
                    word += text;
                    self.rest = rest;
                }
                '"' => {
                    self.next();
                    word += &self.expanded(Some('"'))?;
                }
                '\\' => {
                    self.next();
                    word.extend(self.next().filter(|letter| *letter != '\n'));
                }
                '$' if self.rest.starts_with("$'") => {
                    self.rest = &self.rest[2..];
                    let mut letter = self.next().ok_or(UNREAD)?;
                    while letter != '\'' {
                        let is_escape = letter == '\\';
                        if is_escape {
                            word.push_str(OTHER);
                        } else {
                            word.push(letter);
                        }
                        letter = if is_escape { self.next().and_then(|_| self.next()) } else { self.next() }
                            .ok_or(UNREAD)?;
                    }
                }
                '$' if self.rest.starts_with("$\"") => drop(self.next()),
                '$' | '`' => self.expansion(&mut word)?,
                _ => word.extend(self.next()),
            }
        }
        self.walk.depth -= 1;
        Ok(word)
    }

    /// Reads up to a closing letter as in double quotes.
    fn expanded(&mut self, end: Option<char>) -> Result<String, Why> {
        self.walk.deepen()?;
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            match letter {
                '$' | '`' => {
                    self.expansion(&mut text)?;
                    continue;
                }
                _ => drop(self.next()),
            }
            match letter {
                _ if Some(letter) == end => {
                    self.walk.depth -= 1;
                    return Ok(text);
                }
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped) if "$`\"\\".contains(escaped) => text.push(escaped),
                    Some(other) => text.extend(['\\', other]),
                },
                '"' if end == Some('}') => text += &self.expanded(Some('"'))?,
                _ => text.push(letter),
            }
        }
        self.walk.depth -= 1;
        if end.is_some() { Err(UNREAD) } else { Ok(text) }
    }

    /// Reads what begins with `$` or a backquote.
    fn expansion(&mut self, word: &mut String) -> Result<(), Why> {
        if self.take("`") {
            let mut text = String::new();
            loop {
                match self.next().ok_or(UNREAD)? {
                    '`' => break,
                    '\\' if self.rest.starts_with(['`', '$', '\\']) => text.extend(self.next()),
                    letter => text.push(letter),
                }
            }
            word.push_str(if self.walk.script(&text, self.is_fed)? { EVENT } else { OTHER });
            return Ok(());
        }
        self.next();
        if self.rest.starts_with("((") && self.arithmetic(1)? {
            word.push_str(OTHER);
        } else if self.rest.starts_with('(') {
            self.substitution(word)?;
        } else if self.take("{") {
            let inner = self.expanded(Some('}'))?;
            word.push_str(&self.parameter(&inner)?);
        } else {
            let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            let is_name = name.starts_with(|first: char| !first.is_ascii_digit());
            if is_name {
                self.rest = rest;
                word.push_str(&self.parameter(name)?);
            } else if self.rest.starts_with(|letter: char| letter.is_ascii_digit() || "@*#?-$!".contains(letter)) {
                self.next();
                word.push_str(OTHER);
            } else {
                word.push('$');
            }
        }
        Ok(())
    }

    /// What stands for a variable in a word.
    fn parameter(&self, inner: &str) -> Result<String, Why> {
        let name = inner.trim_start_matches(['!', '#']);
        let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(name.len());
        let (name, how) = name.split_at(end);
        let is_event = self.walk.has_variables && name.starts_with(PREFIX);
        // An index and a position are numbers, which run what is in their brackets; `!` reads the value as a name.
        let is_number = how.starts_with('[') || how.starts_with(':') && !how[1..].starts_with(['-', '+', '=', '?']);
        let is_run = is_event && (inner.starts_with('!') || how.ends_with("@P")) || is_number && is_named(how);
        match name {
            _ if is_run => Err(NAMED),
            "SHELL" | "BASH" => Ok("sh".to_owned()),
            _ if is_event => Ok(format!("{BEGIN}{name}{END}")),
            _ if is_named(how) => Ok(EVENT.to_owned()),
            _ => Ok(OTHER.to_owned()),
        }
    }

    /// Reads commands in parentheses, whose output is a part of a word.
    fn substitution(&mut self, word: &mut String) -> Result<(), Why> {
        self.next();
        let told = std::mem::take(&mut self.tells);
        self.list(Some(')'))?;
        word.push_str(if self.tells { EVENT } else { OTHER });
        self.tells |= told;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        plain_words(command).unwrap_or_else(|| panic!("{command:?} is plain"))
    }

    #[test]
    fn a_plain_command_consists_of_words_only() {
        for (command, expected) in [
            ("notify-send", &["notify-send"][..]),
            ("  notify-send\t-u critical ", &["notify-send", "-u", "critical"]),
            (
                "/opt/my.tools/run_1 --level=high a,b c:d 50% me@host +x",
                &["/opt/my.tools/run_1", "--level=high", "a,b", "c:d", "50%", "me@host", "+x"],
            ),
            ("printf '%s\\n' \"two words\" '' a'b'\"c\"", &["printf", "%s\\n", "two words", "", "abc"]),
            ("logger 'a; b | c && d > e # $(f) `g` ~ * {h}'", &["logger", "a; b | c && d > e # $(f) `g` ~ * {h}"]),
            ("./grüße größer", &["./grüße", "größer"]),
            // Reserved words in other places are words.
            ("tool if eval", &["tool", "if", "eval"]),
        ] {
            assert_eq!(words(command), expected, "{command:?}");
        }
    }

    #[test]
    fn whatever_a_shell_could_end_continue_or_expand_is_a_script() {
        for ending in [
            "\n",
            "\r\n",
            "\r",
            " \n ",
            ";",
            " ;",
            "; ",
            "&",
            "&&",
            "||",
            "|",
            "|&",
            ";;",
            " #",
            " # comment",
            "\\",
            " \\",
            " <<EOF",
            " <<EOF\nEOF\n",
            " <<<",
            " >",
            " > out",
            " 2>&1",
            " <in",
            " $(",
            " `",
            " $X",
            " ${X}",
            " {",
            " }",
            " (",
            ")",
            " '",
            " \"",
            " '\n'",
            " \"$X\"",
            " \"`x`\"",
            " \"a\\\"",
            " *",
            " ?",
            " [a]",
            " ~/x",
            " !",
            " ^",
            "\u{b}",
            "\u{c}",
            "\u{a0}",
            "\u{2028}",
            "\u{3000}",
            "\u{85}",
            "\0",
            "\u{200b}",
        ] {
            let command = format!("tool{ending}");
            assert_eq!(plain_words(&command), None, "{command:?}");
        }
        for command in [
            "",
            " ",
            "\n",
            "#",
            "''",
            "-c",
            "A=1",
            "A=1 tool",
            "$X",
            "$X tool",
            "~/bin/tool",
            "\\tool",
            "! tool",
            "{ tool",
            "( tool )",
            "[[ -n x",
            "if",
            "if true",
            "then",
            "while",
            "for x",
            "case x",
            "function f",
            "time",
            "time tool",
            "coproc",
            "exec",
            "exec -a x",
            "eval",
            "command",
            "builtin eval",
            ".",
            "source",
            "trap",
            "cd",
            ":",
            "export",
            "let",
            "\u{feff}tool",
            "=tool",
            "'A=1' tool",
        ] {
            assert_eq!(plain_words(command), None, "{command:?}");
        }
    }

    /// Whether a handler without arguments is refused, and why.
    fn refused(command: &str, way: Way) -> Option<Why> {
        read(&command.replace("$V", "$MCPE_EVENT_TYPE"), &[], way).err()
    }

    #[test]
    fn a_variable_of_the_event_is_never_a_command_or_code() {
        for command in [
            "$V",
            " \"${MCPE_X}\" a",
            "true; $V",
            "true && \"$V\"",
            "true\n$V",
            "x=$($V)",
            "x=`$V`",
            "echo \"`$V`\"",
            "echo \"a $(date; $V)\"",
            "if true; then $V; fi",
            "while $V; do :; done",
            "! $V",
            "{ $V; }",
            "($V)",
            "f() { $V; }",
            "function f { $V; }",
            "a$V",
            "./$V.sh",
            "eval \"$V\"",
            "eval $V",
            "eval \"x $V\"",
            "eval x \"$V\"",
            "bash -c \"$V\"",
            "exec \"$V\"",
            "${!MCPE_X}",
            "echo ${!MCPE_X}",
            "echo \"${MCPE_X@P}\"",
            "nohup $V",
            "timeout 5 $V",
            "true; timeout 5 $V",
            "X=1 $V",
            ">f $V",
            "2>&1 $V",
            "case a in x) $V;; esac",
            "case a in x) :;; y|z) $V;; esac",
            "trap \"$V\" EXIT",
            "find . -exec $V \\;",
            "xargs $V",
            "env A=1 $V",
            "sudo -u me $V",
            "echo \"$V\" | sh",
            "echo \"$V\" | timeout 5 bash",
            "for t in $V; do echo $t; done | sh",
            "bash <<< \"$V\"",
            "bash <<EOF\n$V\nEOF",
            "{ bash; } <<< \"$V\"",
            "bash <(echo \"$V\")",
            ". <(echo \"$V\")",
            "tee >(bash) <<< \"$V\"",
            "sh -c \"echo $V\"",
            "sh -c 'true; $V'",
            "sh -c 'sh -c \"$V\"'",
            "ssh host \"$V\"",
            "ssh host 'true; $V'",
            "awk \"$V\"",
            "awk -f \"$V\"",
            "python3 -c \"$V\"",
            "python3 \"$V\"",
            "bash \"$V\"",
            "bash -$V",
            "$(echo \"$V\")",
            "bash -c \"$(echo \"$V\")\"",
            "env -S \"$V\"",
            "PATH=$V tool",
            "export PATH=$V",
            "export \"$V\"",
            "[[ $V -gt 1 ]]",
            "echo $(($V + 1))",
            "echo $((MCPE_EVENT_DATA + 1))",
            "((MCPE_EVENT_DATA > 1))",
            "echo ${x[$V]}",
            "dd $V",
            "tool --x$V=1",
            "time { $V; }",
            "coproc x { $V; }",
            "tool -$V",
            "curl -d @$V url",
            "uvx $V",
            "pipx run $V",
            "Rscript -e \"$V\"",
            "perf stat $V",
            "valgrind $V",
            "nix-shell --run \"$V\"",
            "sshpass -p x ssh host $V",
            "conda run $V",
            "poetry run $V",
            "hyperfine \"$V\"",
            "gdb --args $V",
            "dotnet $V",
            "java $V",
            "go run $V",
            "cargo run $V",
            "erl -eval \"$V\"",
            "R -e \"$V\"",
            "lua5.4 -e \"$V\"",
            "ts-node $V",
            "deno run $V",
            "bun -e \"$V\"",
            "osascript -e \"$V\"",
            "echo $V \"",
            "echo $V; (",
        ] {
            assert!(refused(command, Way::Env).is_some(), "{command:?}");
        }
        for command in [
            "echo $V",
            "echo \"$V\"; true",
            "test \"$V\" = a && echo",
            "[ \"$V\" = a ]",
            "[[ $V == (a|b)* && -n $x ]]",
            "case $V in a) ;; esac",
            "case \"$x\" in \"$V\"|b) echo a;; (c) echo;; esac; echo \"$V\"",
            "x=$V",
            "x=($V \"$V\")",
            "x=1 tool $V",
            "export X=\"$V\"",
            "echo a$V",
            "for tag in $V; do echo \"$tag\"; done",
            "for ((i = 0; i < 3; i++)); do echo \"$V\"; done",
            "$OTHER",
            "$OTHER $V",
            "grep -e \"$V\"",
            "if [ \"$V\" = a ]; then notify-send b; fi",
            "logger -t x -- $V",
            "tool -- --x$V",
            "tool --x=$V",
            "tool -n$V",
            "bash -c 'echo \"$V\"'",
            "sh -c \"echo \\$V\"",
            "sh -c 'echo \"$1\"' sh \"$V\"",
            "bash script.sh \"$V\"",
            "python3 tool.py \"$V\" --x=$V",
            "timeout 5 tool $V",
            "nohup tool \"$V\"",
            "nohup tool \"$V\" &",
            "env A=\"$V\" tool",
            "sudo -u me tool $V",
            "sudo -n tool $V",
            ">f tool $V",
            "trap 'echo \"$V\"' EXIT",
            "trap 'rm x' EXIT; echo $V",
            "eval 'echo \"$V\"'",
            "eval \"$(tool)\"; echo \"$V\"",
            "echo \"$V\" | tee log",
            "echo \"$V\" | xargs tool",
            "echo \"$V\" | bash script.sh",
            "bash < script.sh; echo $V",
            "bash <<'EOF'\necho \"$V\"\nEOF",
            "cat <<EOF\n$V\nEOF",
            "cat <<-EOF > f; true\n\t$V ) (\n\tEOF\necho \"$V\"",
            "ssh host 'cat >> log' <<< \"$V\"",
            "ssh host 'echo \"$V\"'",
            "find . -name x -exec tool \\; ; echo $V",
            "awk -v t=\"$V\" '{ print t }' f",
            "awk '{ print }' <<< \"$V\"",
            "jq -n --arg t \"$V\" '{t: $t}' > f",
            "sed -n p <<< \"$V\"",
            "curl -d \"$V\" url",
            "curl -sS -H \"X: $V\" url",
            "dd of=f <<< \"$V\"",
            "ffmpeg -i $V",
            "echo \"${MCPE_X:-none} ${x:-$V} ${MCPE_X%%[a-z]*} ${MCPE_X//b/(}\"",
            "echo \"$((1 + 2))\" $V",
            "echo $'it\\'s' \"$V\"",
            "echo 'a; $V' '(' \\( \"(\" # $V; ( '",
            "# $V\ntrue",
            "f() { echo \"$1\"; }; f \"$V\"",
            "{ echo a; echo \"$V\"; } >> log 2>&1",
            "(cd x && tool \"$V\") || true",
            "command -v jq > /dev/null && notify-send \"$V\"",
            "echo \"$(dirname \"$0\")\" \"$V\"",
            "while read -r line; do echo \"$line\"; done <<< \"$V\"",
            "grep bash <<< \"$V\"",
            "echo bash $V",
            "time tool $V",
            "tool $V |& tee log",
            "tool $V &> log",
        ] {
            assert_eq!(refused(command, Way::Env), None, "{command:?}");
        }
        // Without the event's variables, they are of the subscriber's.
        assert_eq!(refused("$V; bash", Way::Args), None);
    }

    #[test]
    fn standard_input_is_never_code() {
        for command in [
            "bash",
            "sh -x",
            "python3 -",
            "python3",
            "env bash",
            "bash -s x",
            "bash -o pipefail",
            "bash -O extglob",
            "bash +o posix",
            "bash --rcfile x",
            "bash /dev/stdin",
            "sh /dev//stdin",
            "sh /dev/./stdin",
            "sh /proc/self/fd/0",
            "sh /proc/self/fd/3",
            "cd /dev; sh stdin",
            "bash -e /dev/fd/0",
            "bash < /dev/stdin",
            "xargs '-I{}' bash -c '{}'",
            "xargs",
            "xargs sh",
            "xargs -d , bash",
            "timeout -s KILL 5 bash",
            "time { bash; }",
            "curl -K - url",
            "flock f bash",
            "split --filter=bash",
            "split '--filter=bash -x'",
            "script -qc bash",
            "docker exec -i c bash",
            "find . -exec sh ';'",
            "ssh-agent bash",
            "setarch x86_64 bash",
            "ssh host",
            "ssh -p 22 host bash",
            "ssh host 'cd x; sh'",
            "su me",
            "sudo -s",
            "chroot x",
            "bash > out",
            "exec bash",
            "(bash)",
            "{ bash; }",
            "cat | bash",
            "tee x | sh",
            "if bash; then :; fi",
            "nohup sh &",
            ". /dev/stdin",
            "source /dev/stdin",
            "command bash",
            "command . /dev/stdin",
            "time -p bash",
            "case x in x) bash;; esac",
            "f() { bash; }; f",
            "sh -c 'bash'",
            "sh -c 'sh -c bash'",
            "eval bash",
            "eval \"$(cat)\"",
            "bash -c \"$(cat)\"",
            "$(cat)",
            "`jq -r .command`",
            "bash <(cat)",
            "echo x > >(bash)",
            "awk -f /dev/stdin x",
            "$SHELL",
            "\\bash",
            "b'a's\"h\"",
            "bash <&3",
            "bash 3<f",
            "psql",
            "gdb x",
            "erl",
            "R --no-save",
            "deno run -",
            "python3.12",
            "/opt/lua-5.4",
            "trap bash EXIT",
            "coproc bash",
            "cat <<EOF | sh\nx\nEOF",
            "cat 'x",
            "cat <<EOF\n$(bash)\nEOF",
        ] {
            assert!(refused(command, Way::Stdin).is_some(), "{command:?}");
        }
        for command in [
            "cat",
            "cat >> events.log",
            "jq .data >> x",
            "jq -r '.type' | while read -r line; do echo \"$line\"; done",
            "while read -r line; do echo \"$line\"; done",
            "logger -t bash",
            "grep bash",
            "echo bash",
            "bash tool.sh",
            "bash -c true",
            "bash -e tool.sh",
            "bash -o pipefail -c true",
            "bash --posix tool.sh -s",
            "bash script.sh > out 2>&1",
            "sh -c 'cat >> x'",
            "awk 1",
            "sed s/a/b/",
            "python3 tool.py",
            "python3 -u tool.py",
            "python3 -m json.tool",
            "perl -ne print",
            "timeout 5 bash tool.sh",
            "timeout 5 tool",
            "xargs tool",
            "bash < script.sh",
            "bash <<'EOF'\ntrue\nEOF",
            "ssh host 'cat >> log'",
            "ssh -p 22 host cat",
            "flock f tool",
            "flock f bash tool.sh",
            "split -l 1",
            "docker exec -i c tool",
            "java -jar tool.jar",
            "x=$(jq -r .type); notify-send \"$x\"",
            "notify-send \"$(jq -r .type)\"",
            "\"$(dirname \"$0\")/tool\"",
            "exec >> log 2>&1; cat",
            "command -v bash > /dev/null; cat",
            "trap '' TERM; cat",
            "# bash\ncat # | bash",
            "cat << EOF | tee x\nbash\nEOF",
            "IFS= read -r x; [ \"$x\" ] || exit 1",
            "printf '%s\n' \"${x:-bash}\"",
            "cat > \"f-$(date +%s).json\"",
            "curl -d @- url",
            "mapfile -t x",
        ] {
            assert_eq!(refused(command, Way::Stdin), None, "{command:?}");
        }
    }

    #[test]
    fn a_text_of_any_depth_and_length_is_read_in_time() {
        for text in [
            "(".repeat(1 << 20),
            "$(".repeat(1 << 20),
            "\"$(".repeat(1 << 18),
            "${x:-".repeat(1 << 18),
            "((".repeat(1 << 18),
            "find ".repeat(1 << 18),
            "find bash ".repeat(1 << 18),
            "find sh -c 'find sh -c \"find sh -c x\"'; ".repeat(1 << 14),
            "`".repeat(1 << 18),
            "cat <<E\n".repeat(1 << 16),
            "a=(".repeat(1 << 16),
            "timeout env ".repeat(1 << 17),
            "{ ".repeat(1 << 18),
        ] {
            let begun = std::time::Instant::now();
            drop(read(&text, &[], Way::Stdin));
            drop(read(&(text.clone() + "$MCPE_X"), &[], Way::Env));
            drop(read("find", &vec![text.clone(); 3], Way::Stdin));
            assert!(begun.elapsed().as_secs() < 5, "{:?}", &text[..9]);
        }
    }

    #[test]
    fn what_an_interpreter_runs_is_code() {
        // What an argument is does not depend on what stands in it, as long as that is the event's.
        let is_data = |command: &str, argument: &str| {
            let argument = argument.replace('x', "$MCPE_X");
            read(command, &[argument], Way::Env).is_ok_and(|reading| reading.is_data == Some(vec![true]))
        };
        for (command, argument) in [
            ("bash -c", "x"),
            ("/bin/sh -lc", "x"),
            ("env A=1 bash -c", "x"),
            ("sudo -u me dash -x -c", "x"),
            ("bash -c -l", "x"),
            ("python3.12 -c", "x"),
            ("perl -ne", "x"),
            ("node --eval", "x"),
            ("deno eval", "x"),
            ("php -r", "x"),
            ("ruby", "-ex"),
            ("bash -ce", "x"),
            ("node", "--eval=x"),
            ("ssh host", "x"),
            ("awk", "x"),
            ("sed -n", "x"),
            ("su me -c", "x"),
            ("perl -e 1 -e", "x"),
            ("awk -F ,", "x"),
            ("awk -F, -v a=1", "x"),
            ("awk -v a=1 -F ,", "x"),
            ("bash", "x"),
            ("bash -o pipefail", "x"),
            ("python3 -W ignore", "x"),
            ("node -r tool", "x"),
            ("timeout 5", "x"),
            ("timeout -k 1 5", "x"),
            ("env", "x"),
            ("env -i", "x"),
            ("env A=1", "x"),
            ("nice -n 5", "x"),
            ("xargs", "x"),
            ("taskset 1", "x"),
            ("env -S 'bash -c'", "x"),
            ("env -iS 'bash -c'", "x"),
            ("find . -exec sh -c", "x"),
            ("flock f -c", "x"),
            ("script -qc", "x"),
            ("setarch x86_64 bash -c", "x"),
            ("strace -f python3 -c", "x"),
            ("npx -c", "x"),
            ("git -c", "x"),
            ("vim -c", "x"),
            ("make", "x"),
        ] {
            assert!(!is_data(command, argument), "{command} {argument}");
        }
        for (command, argument) in [
            ("notify-send -c", "x"),
            ("grep -e", "x"),
            ("bash -c true", "x"),
            ("bash script.sh", "x"),
            ("python3 tool.py", "x"),
            ("awk 1", "x"),
            ("bashful -c", "x"),
            ("env A=1 tool", "x"),
            ("timeout 5 tool", "x"),
            ("nice -n 5 tool --level", "x"),
            ("timeout 5 bash tool.sh", "x"),
            ("sudo -u me bash -c true", "x"),
            ("awk -F, '{ print }'", "x"),
            ("bash -x tool.sh --level", "x"),
            ("perl -e 1", "x"),
            ("find-it", "x"),
        ] {
            assert!(is_data(command, argument), "{command} {argument}");
        }
    }
}
