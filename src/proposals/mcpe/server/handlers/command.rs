//! What the `command` of a bash handler is: a plain command, which gets arguments, or a script, which reads them as `$1`
//! and so on. Nothing is ever appended to a text that a shell reads. What a part of an event would become in either of
//! them is read in the same way: as simple commands.

use super::input::Way;
use super::programs::{Place, is_of_shell};
use super::script::{Walk, Why, Word};

const ARGUMENT: Why = "the event would be run as code: put a script in `command`, which finds the event in $1";

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
    let mut walk = Walk::new(way == Way::Env);
    let is_fed = way == Way::Stdin;
    let Some(words) = plain_words(command) else {
        if is_fed || walk.mentions(command) {
            walk.script(command, is_fed)?;
        }
        return Ok(Reading { is_data: None, sent: walk.sent });
    };
    let begun = words.len();
    let argument = |text: &String| match way {
        Way::Env => Word::argument(text),
        Way::Stdin | Way::Args => Word::plain(text.clone()),
    };
    let mut words: Vec<Word> = words.into_iter().map(Word::plain).chain(args.iter().map(argument)).collect();
    words.extend((way == Way::Args).then(Word::event));
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
    (is_program && !is_of_shell(program)).then_some(words)
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
            "case a in x) :;; esac; $V",
            "case a in x) :;; esac; echo; $V",
            "declare -i x=$V",
            "${x:-$V}",
            "echo $[$V + 1]",
            "[[ MCPE_X -gt 1 ]]",
            "echo ${x:MCPE_X}",
            "timeout --signal KILL 5 $V",
            "strace -fe x $V",
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
            "case $x in a) :;; b) echo \"$V\";; esac",
            "nice -5 tool $V",
            "case $x in @(a|b)) echo \"$V\";; esac",
            "nice -n5 tool $V",
            "timeout --signal=KILL 5 tool $V",
        ] {
            assert_eq!(refused(command, Way::Env), None, "{command:?}");
        }
        // Without the event's variables, they are of the subscriber's.
        assert_eq!(refused("$V; bash", Way::Args), None);
        assert_eq!(refused("bash -c", Way::Args), Some(ARGUMENT));
    }

    #[test]
    fn standard_input_is_never_code() {
        for command in [
            "bash",
            "sh -x",
            "python3 -",
            "python3",
            "env bash",
            "env '-Sbash -x'",
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
            "timeout --signal KILL 5 bash",
            "strace -fe x bash",
            "tmux",
            "sh /dev/fd//3",
            "bash < <(cat)",
            "echo $(($(jq .n) + 1))",
            "$BASH",
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
            "perl -w tool.pl",
            "timeout 5 bash tool.sh",
            "timeout 5 tool",
            "prlimit --pid 1 --nofile=0",
            "prlimit --pid $of --nofile=0 && echo $of >> set",
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
            "(".repeat(1 << 15),
            "$(".repeat(1 << 15),
            "\"$(".repeat(1 << 15),
            "${x:-".repeat(1 << 15),
            "((".repeat(1 << 15),
            "find ".repeat(1 << 15),
            "find bash ".repeat(1 << 15),
            "find sh -c 'find sh -c \"find sh -c x\"'; ".repeat(1 << 12),
            "`".repeat(1 << 15),
            "cat <<E\n".repeat(1 << 12),
            "a=(".repeat(1 << 12),
            "timeout env ".repeat(1 << 15),
            "{ ".repeat(1 << 15),
        ] {
            let begun = std::time::Instant::now();
            drop(read(&text, &[], Way::Stdin));
            drop(read(&(text.clone() + "$MCPE_X"), &[], Way::Env));
            drop(read("find", &vec![text.clone(); 3], Way::Stdin));
            assert!(begun.elapsed().as_secs() < 20, "{:?}", &text[..9]);
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
