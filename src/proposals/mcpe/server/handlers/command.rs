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
/// Programs that run code from one of their arguments, without the version in the name.
const INTERPRETERS: [&str; 24] = [
    "ash",
    "bash",
    "bun",
    "csh",
    "dash",
    "deno",
    "fish",
    "ksh",
    "lua",
    "mksh",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "python",
    "rbash",
    "ruby",
    "sh",
    "su",
    "tclsh",
    "tcsh",
    "zsh",
];
/// Programs whose first operand is code.
const FILTERS: [&str; 5] = ["awk", "gawk", "mawk", "nawk", "sed"];
/// Programs that give all their operands to a shell.
const REMOTE: [&str; 3] = ["mosh", "rsh", "ssh"];

/// Programs that start the program that their arguments name.
const STARTERS: [&str; 16] = [
    "busybox", "chrt", "doas", "env", "firejail", "ionice", "nice", "nohup", "setpriv", "setsid", "stdbuf", "sudo",
    "timeout", "unshare", "bwrap", "xargs",
];

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
    /// Code, or an option of a program that runs code from its options.
    Code,
}

/// What the next argument is after these words, as far as that is known.
pub(super) fn next(words: &[String], argument: &str) -> Next {
    let Some((name, after)) = runner(words) else { return Next::Data };
    if REMOTE.contains(&name) {
        return Next::Code;
    }
    let mut is_code = FILTERS.contains(&name);
    for word in after {
        match is_option(word) || word == "eval" {
            true => is_code |= takes_code(word),
            false => is_code = false,
        }
    }
    if is_code || is_option(argument) { Next::Code } else { Next::Data }
}

/// Whether a command without further arguments runs its standard input as code.
pub(super) fn runs_stdin(words: &[String]) -> bool {
    let is_shell = |(name, after): (&str, &[String])| {
        !FILTERS.contains(&name) && !REMOTE.contains(&name) && after.iter().all(|word| word.starts_with('-'))
            || after.iter().any(|word| word == "-s")
    };
    runner(words).is_some_and(is_shell)
}

/// The program that runs code, which may be behind others such as `env` and `sudo`, and what follows it.
fn runner(words: &[String]) -> Option<(&'static str, &[String])> {
    let is_behind = words.first().is_some_and(|word| STARTERS.contains(&base_name(word)));
    let known = |word: &String| {
        let name = base_name(word).trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        INTERPRETERS.iter().chain(&FILTERS).chain(&REMOTE).copied().find(|known| *known == name)
    };
    let mut each = words.iter().enumerate().take(if is_behind { usize::MAX } else { 1 });
    each.find_map(|(at, word)| Some((known(word)?, &words[at + 1..])))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Whether an interpreter takes code after this word.
fn takes_code(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => ["command", "eval", "execute", "print", "run"].contains(&long.to_ascii_lowercase().as_str()),
        None => word == "eval" || word.ends_with(['c', 'e', 'E', 'p', 'r']) || word.eq_ignore_ascii_case("-command"),
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
            ("node", "--eval=x"),
            ("ssh host", "x"),
            ("awk", "x"),
            ("sed -n", "x"),
            ("su me -c", "x"),
            ("perl -e 1 -e", "x"),
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
        ] {
            assert_eq!(runs_stdin(&words(command)), runs, "{command}");
        }
    }
}
