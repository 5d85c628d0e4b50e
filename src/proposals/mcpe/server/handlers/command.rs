//! What the `command` of a bash handler is: a plain command, which gets arguments, or a script, which reads them as `$1`
//! and so on. Nothing is ever appended to a text that a shell reads.

/// Words that only a shell understands: reserved words, and builtins that are no programs. Some of them run their
/// arguments as commands.
const OF_SHELLS: [&str; 70] = [
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "command",
    "compgen",
    "complete",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "elif",
    "else",
    "enable",
    "end",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "fi",
    "for",
    "foreach",
    "function",
    "getopts",
    "hash",
    "history",
    "if",
    "in",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "nocorrect",
    "noglob",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "repeat",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "then",
    "time",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unset",
    "until",
    "while",
];
/// Programs that run a script, or the code in one of their arguments, without the version in the name.
const INTERPRETERS: [&str; 29] = [
    "ash",
    "bash",
    "bun",
    "csh",
    "dash",
    "deno",
    "elixir",
    "fish",
    "groovy",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "mksh",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "pypy",
    "python",
    "rbash",
    "ruby",
    "sh",
    "tclsh",
    "tcsh",
    "tsx",
    "zsh",
];
/// Those that are shells: `-e` is no code to them.
const SHELLS: [&str; 11] = ["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "zsh"];
/// Programs whose first operand is code.
const FILTERS: [&str; 6] = ["awk", "gawk", "jq", "mawk", "nawk", "sed"];
/// Programs that run commands which may stand in any of their arguments.
const RUNNERS: [&str; 56] = [
    "at",
    "batch",
    "bc",
    "bunx",
    "dbus-run-session",
    "dc",
    "docker",
    "ed",
    "emacs",
    "entr",
    "ex",
    "expect",
    "find",
    "flock",
    "gdb",
    "git",
    "gmake",
    "gnuplot",
    "kubectl",
    "less",
    "lldb",
    "m4",
    "make",
    "man",
    "mosh",
    "mysql",
    "npm",
    "npx",
    "nvim",
    "octave",
    "parallel",
    "pnpm",
    "podman",
    "psql",
    "rsh",
    "rsync",
    "runuser",
    "scp",
    "screen",
    "script",
    "sftp",
    "socat",
    "sqlite",
    "ssh",
    "su",
    "systemd-run",
    "tar",
    "tmux",
    "unbuffer",
    "vi",
    "view",
    "vim",
    "watch",
    "xterm",
    "yarn",
    "zip",
];
/// Programs that start the program that their arguments name, and how many operands of their own precede it.
const STARTERS: [(&str, usize); 33] = [
    ("busybox", 0),
    ("bwrap", 0),
    ("catchsegv", 0),
    ("chroot", 1),
    ("choom", 0),
    ("chrt", 1),
    ("doas", 0),
    ("env", 0),
    ("eatmydata", 0),
    ("fakeroot", 0),
    ("firejail", 0),
    ("i386", 0),
    ("ionice", 0),
    ("linux32", 0),
    ("linux64", 0),
    ("ltrace", 0),
    ("nice", 0),
    ("nohup", 0),
    ("nsenter", 0),
    ("prlimit", 0),
    ("proot", 0),
    ("rlwrap", 0),
    ("setarch", 1),
    ("setpriv", 0),
    ("setsid", 0),
    ("stdbuf", 0),
    ("strace", 0),
    ("sudo", 0),
    ("taskset", 1),
    ("timeout", 1),
    ("toybox", 0),
    ("unshare", 0),
    ("xargs", 0),
];
/// What stands before a command in a shell.
const OPENERS: [char; 8] = [';', '&', '|', '\n', '(', '{', '`', '!'];
/// Words before a command, and commands of a shell that run what follows them.
const RUN_NEXT: [&str; 16] = [
    ".", "-c", "builtin", "command", "do", "elif", "else", "env", "eval", "exec", "if", "source", "then", "time",
    "until", "while",
];
/// Options of one letter that take no value, by the kind of program. An option that is not known here may take the next word.
const FLAGS: [(&[&str], &str); 3] =
    [(&["sed"], "nErsuz"), (&["jq"], "rcnesSMCaj"), (&["awk", "gawk", "mawk", "nawk"], "")];
/// The same for interpreters.
const FLAGS_OF_INTERPRETERS: &str = "abdefhiklmnpqstuvxyBEHPT";

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
    (is_program && !OF_SHELLS.contains(&program.as_str())).then_some(words)
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

/// What the next argument of a command would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// An argument like others.
    Data,
    /// Code, the name of a script or a program, or an option of a program that runs code from its options.
    Code,
}

/// What the next argument is after these words, as far as that is known; what is not certain counts as code.
pub(super) fn next(words: &[String], argument: &str) -> Next {
    let is_data = match Ran::of(words) {
        Ran::Other => true,
        Ran::Anything => false,
        Ran::Code(name, after) => {
            !is_option(argument) && matches!(progress(name, after), Progress::Script(_) | Progress::Code)
        }
    };
    if is_data { Next::Data } else { Next::Code }
}

/// Whether a command without further arguments runs its standard input as code.
pub(super) fn runs_stdin(words: &[String]) -> bool {
    // xargs makes arguments of it.
    let is_given_to = words.first().is_some_and(|first| base_name(first) == "xargs");
    match Ran::of(words) {
        Ran::Other => false,
        Ran::Anything | Ran::Code(..) if is_given_to => true,
        Ran::Anything => false,
        Ran::Code(name, _) if FILTERS.contains(&name) => false,
        Ran::Code(name, after) => match progress(name, after) {
            Progress::Begun => true,
            Progress::Script(script) => is_stdin(script) || after.iter().any(|word| word == "-s"),
            Progress::Code => false,
        },
    }
}

/// Whether what these words run may expand variables in its code, as shells do.
pub(super) fn may_be_shell(words: &[String]) -> bool {
    match Ran::of(words) {
        Ran::Code(name, _) => SHELLS.contains(&name),
        Ran::Anything => true,
        Ran::Other => false,
    }
}

/// Whether shell code has a variable whose name begins with `prefix` in the place of a command, or as the argument of a
/// command that runs its arguments.
pub(super) fn runs_variable(code: &str, prefix: &str) -> bool {
    let is_named =
        |after: &str| after.strip_prefix('{').unwrap_or(after).trim_start_matches(['!', '#']).starts_with(prefix);
    code.match_indices('$').any(|(at, _)| {
        let before = code[..at].trim_end_matches([' ', '\t', '"', '\'']);
        let last = before.rsplit(|letter: char| !letter.is_alphanumeric() && !"_-./".contains(letter)).next();
        is_named(&code[at + 1..])
            && (before.is_empty() || before.ends_with(OPENERS) || last.is_some_and(|word| RUN_NEXT.contains(&word)))
    })
}

/// What a plain command runs.
enum Ran<'a> {
    /// A program about which nothing is known.
    Other,
    /// An interpreter or a filter, by its name, and what follows it.
    Code(&'static str, &'a [String]),
    /// What any of its arguments may name.
    Anything,
}

impl<'a> Ran<'a> {
    fn of(words: &'a [String]) -> Self {
        let Some((first, rest)) = words.split_first() else { return Self::Other };
        if let Some(found) = Self::known(first, rest) {
            return found;
        }
        let Some((_, own)) = STARTERS.iter().find(|(name, _)| *name == base_name(first)) else { return Self::Other };
        // `env -S` divides a text into words.
        if rest.iter().any(|word| word.starts_with("--split") || is_short(word) && word.contains('S')) {
            return Self::Anything;
        }
        let behind = (0..rest.len()).find_map(|at| Self::known(&rest[at], &rest[at + 1..]));
        behind.unwrap_or_else(|| if operands(rest) > *own { Self::Other } else { Self::Anything })
    }

    /// What it is that a program runs, if it is known to run something.
    fn known(program: &str, after: &'a [String]) -> Option<Self> {
        let name = base_name(program).trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        if RUNNERS.contains(&name) {
            return Some(Self::Anything);
        }
        let found = INTERPRETERS.iter().chain(&FILTERS).find(|known| **known == name)?;
        Some(Self::Code(found, after))
    }
}

/// How many words are certainly operands: no option, no assignment, and not behind an option that may take a value.
fn operands(words: &[String]) -> usize {
    let may_take =
        |at: usize| at.checked_sub(1).is_some_and(|before| is_option(&words[before]) && words[before].len() == 2);
    let is_operand = |(at, word): (usize, &String)| !is_option(word) && !word.contains('=') && !may_take(at);
    words.iter().enumerate().filter(|one| is_operand(*one)).count()
}

/// How far the words of an interpreter or a filter go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress<'a> {
    /// Neither a script nor code was given, or an option waits for its value.
    Begun,
    /// A script, or the code of a filter.
    Script(&'a str),
    /// Code in an option.
    Code,
}

fn progress<'a>(name: &str, words: &'a [String]) -> Progress<'a> {
    let (mut done, mut waits_for_code, mut waits) = (Progress::Begun, false, false);
    for word in words {
        if waits_for_code && !is_option(word) {
            (waits_for_code, done) = (false, Progress::Code);
        } else if is_option(word)
            || word == "eval" && done == Progress::Begun
            || word.starts_with('+') && word.len() == 2
        {
            // Perl and others read options behind code, too.
            let is_after_script = matches!(done, Progress::Script(_)) && !FILTERS.contains(&name);
            if !is_after_script && takes_code(name, word) {
                waits_for_code = true;
            } else {
                waits = !is_after_script && may_take_value(name, word);
                continue;
            }
        } else if done == Progress::Begun && !waits {
            done = Progress::Script(word);
        }
        waits = false;
    }
    if waits_for_code || waits { Progress::Begun } else { done }
}

/// Whether an option may take the next word.
fn may_take_value(name: &str, option: &str) -> bool {
    if option == "--" || option == "-" || option.contains('=') {
        return false;
    }
    let of_filter = FLAGS.iter().find(|(names, _)| names.contains(&name)).map(|(_, flags)| *flags);
    let flags = of_filter.unwrap_or(FLAGS_OF_INTERPRETERS);
    match (is_short(option), of_filter) {
        // `-F,` has its value.
        (true, Some(_)) if option.len() > 2 => false,
        (true, _) => !option[1..].chars().all(|letter| flags.contains(letter)),
        (false, _) => true,
    }
}

/// Whether a file is standard input.
fn is_stdin(file: &str) -> bool {
    matches!(file, "-" | "/dev/stdin") || file.ends_with("/fd/0")
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

/// Whether an interpreter or a filter takes code after this word.
fn takes_code(name: &str, word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => ["command", "eval", "execute", "print", "run"].contains(&long.to_ascii_lowercase().as_str()),
        None if FILTERS.contains(&name) => name == "sed" && word.ends_with('e'),
        None if SHELLS.contains(&name) => is_short(word) && word.contains('c'),
        None if word.ends_with('r') => name == "php",
        None => word == "eval" || word.ends_with(['c', 'e', 'E', 'p']) || word.eq_ignore_ascii_case("-command"),
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

    #[test]
    fn a_variable_in_the_place_of_a_command_is_run() {
        for (code, is_run) in [
            ("$MCPE_X", true),
            (" \"${MCPE_X}\" a", true),
            ("true; $MCPE_X", true),
            ("true && \"$MCPE_X\"", true),
            ("true\n$MCPE_X", true),
            ("x=$($MCPE_X)", true),
            ("x=`$MCPE_X`", true),
            ("if true; then $MCPE_X; fi", true),
            ("eval \"$MCPE_X\"", true),
            ("eval $MCPE_X", true),
            ("bash -c \"$MCPE_X\"", true),
            ("exec '$MCPE_X'", true),
            ("${!MCPE_X}", true),
            ("echo $MCPE_X", false),
            ("echo \"$MCPE_X\"; true", false),
            ("test \"$MCPE_X\" = a && echo", false),
            ("[ \"$MCPE_X\" = a ]", false),
            ("case $MCPE_X in a) ;; esac", false),
            ("x=$MCPE_X", false),
            ("echo a$MCPE_X", false),
            ("for tag in $MCPE_X; do echo; done", false),
            ("$OTHER", false),
            ("grep -e \"$MCPE_X\"", false),
            ("", false),
        ] {
            assert_eq!(runs_variable(code, "MCPE_"), is_run, "{code:?}");
        }
    }

    #[test]
    fn what_an_interpreter_runs_is_code() {
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
            assert_eq!(next(&words(command), argument), Next::Code, "{command} {argument}");
        }
        for (command, argument) in [
            ("notify-send -c", "x"),
            ("grep -e", "x"),
            ("bash -c true", "x"),
            ("bash script.sh", "x"),
            ("python3 tool.py", "x"),
            ("awk 1", "x"),
            ("bashful -c", "x"),
            ("tool", "-x"),
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
            assert_eq!(next(&words(command), argument), Next::Data, "{command} {argument}");
        }
        for (command, runs) in [
            ("bash", true),
            ("sh -x", true),
            ("python3 -", true),
            ("env bash", true),
            ("bash -s x", true),
            ("bash tool.sh", false),
            ("bash -c true", false),
            ("cat", false),
            ("logger -t bash", false),
            ("awk 1", false),
            ("ssh host", false),
            ("bash -o pipefail", true),
            ("bash -O extglob", true),
            ("bash +o posix", true),
            ("bash --rcfile x", true),
            ("sh -o errexit", true),
            ("bash /dev/stdin", true),
            ("bash -e /dev/fd/0", true),
            ("xargs '-I{}' bash -c '{}'", true),
            ("xargs", true),
            ("xargs tool", false),
            ("bash -e tool.sh", false),
            ("python3 -u tool.py", false),
            ("timeout 5 bash tool.sh", false),
            ("bash -o pipefail -c true", false),
        ] {
            assert_eq!(runs_stdin(&words(command)), runs, "{command}");
        }
    }
}
