//! Expands `${…}` in the strings of a configuration, as clients do. The environment comes in as an argument.

use std::path::Path;

/// The values of names.
pub struct Names<'a> {
    /// Returns the value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The folder of the project that the configuration belongs to.
    pub workspace: &'a Path,
}

/// An error in the expansion of a string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// The variable is not set and there is no default.
    #[error("the variable {0} is not set")]
    Unset(String),
    /// There is a `${` without a closing brace. Its name is never guessed.
    #[error("a ${{ has no closing brace")]
    Unclosed,
    /// A default has a default, and so on.
    #[error("defaults are nested more than {MAX_DEPTH} times")]
    Depth,
    /// The client would ask the user or read its own settings.
    #[error("${{{0}}} is known only to the client")]
    ClientOnly(String),
}

/// How deep defaults may be nested.
const MAX_DEPTH: u8 = 8;

/// Replaces `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${workspaceFolder}` and `${userHome}` by their values. A default may
/// contain others. Everything else remains: a single `$`, `$VAR`, a shell's `${VAR%.*}`.
///
/// # Errors
///
/// If a variable is not set and has no default, a brace is not closed, defaults are nested too deeply, or only the client
/// knows the value.
pub(crate) fn expand(text: &str, names: &Names<'_>) -> Result<String, ExpandError> {
    expand_within(text, names, MAX_DEPTH)
}

/// As [`expand`], for text within so many more defaults.
fn expand_within(text: &str, names: &Names<'_>, depth: u8) -> Result<String, ExpandError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let end = closing_brace(after).ok_or(ExpandError::Unclosed)?;
        let inside = &after[..end];
        match value(inside, names, depth)? {
            Some(value) => out.push_str(&value),
            None => out.push_str(&format!("${{{inside}}}")),
        }
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Returns the place of the brace that closes a `${` before this text.
fn closing_brace(text: &str) -> Option<usize> {
    let mut open = 1;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' if at > 0 && text.as_bytes()[at - 1] == b'$' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the value of the text between the braces; `None` if it is not a name.
fn value(inside: &str, names: &Names<'_>, depth: u8) -> Result<Option<String>, ExpandError> {
    if inside == "workspaceFolder" {
        return Ok(Some(names.workspace.display().to_string()));
    }
    if ["input:", "config:", "command:"].iter().any(|prefix| inside.starts_with(prefix)) {
        return Err(ExpandError::ClientOnly(inside.to_owned()));
    }
    let plain = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match plain.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (plain, None),
    };
    if !is_name(name) {
        return Ok(None);
    }
    let name = if inside == "userHome" { "HOME" } else { name };
    match ((names.variable)(name), default) {
        (Some(value), _) => Ok(Some(value)),
        (None, Some(_)) if depth == 0 => Err(ExpandError::Depth),
        (None, Some(default)) => expand_within(default, names, depth - 1).map(Some),
        (None, None) => Err(ExpandError::Unset(name.to_owned())),
    }
}

fn is_name(text: &str) -> bool {
    let is_letter = |found: char| found.is_ascii_alphabetic() || found == '_';
    text.starts_with(is_letter) && text.chars().all(|found| is_letter(found) || found.is_ascii_digit())
}

/// Parses a file of `KEY=VALUE` lines. Empty lines, `#` comments, `export` before the name, and quotes around the value
/// are allowed. Other lines are ignored.
pub fn env_file(text: &str) -> Vec<(String, String)> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.strip_prefix("export ").unwrap_or(line).split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), unquoted(value.trim()).to_owned()))
        .filter(|(name, _)| is_name(name))
        .collect()
}

fn unquoted(value: &str) -> &str {
    let inside = |quote| value.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, ExpandError> {
        let variable = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            "HOME" => Some("/home/me".to_owned()),
            _ => None,
        };
        expand(text, &Names { variable: &variable, workspace: Path::new("/work space") })
    }

    #[test]
    fn names_are_replaced_and_the_rest_stays() {
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("${A}${A}-${env:A}", "11-1"),
            ("[${B:-two}] [${A:-two}] [${B:-}] [${EMPTY:-x}]", "[two] [1] [] []"),
            ("${workspaceFolder}/x ${userHome}/y", "/work space/x /home/me/y"),
            ("$ $A $$ ${ ${} A}", "$ $A $$ ${ ${} A}"),
            ("${A%.*} ${1} ${a b}", "${A%.*} ${1} ${a b}"),
            ("é${A}é", "é1é"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(expanded("x${B}"), Err(ExpandError::Unset("B".into())));
        for (text, expected) in [
            ("${B:-${HOME}/.b}:/data:ro", "/home/me/.b:/data:ro"),
            ("${A:-${HOME}/.b}:/data:ro", "1:/data:ro"),
            ("${B:-${C:-${env:A}x}y}z", "1xyz"),
            ("${B:-${A}${A}}", "11"),
            ("${A:-${input:token}}", "1"),
            // No nesting: a brace of its own closes nothing.
            ("${B:-{}}", "{}"),
            ("${B:-a}}", "a}"),
            ("${A%${B}}", "${A%${B}}"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(expanded("${B:-${C}}"), Err(ExpandError::Unset("C".into())));
        let deep = |depth: usize| format!("{}x{}", "${B:-".repeat(depth), "}".repeat(depth));
        assert_eq!(expanded(&deep(8)).as_deref(), Ok("x"));
        assert_eq!(expanded(&deep(9)), Err(ExpandError::Depth));
        assert_eq!(expanded(&deep(1 << 20)), Err(ExpandError::Depth));
        assert_eq!(expanded("x${env:B}"), Err(ExpandError::Unset("B".into())));
        assert_eq!(expanded("${input:token}"), Err(ExpandError::ClientOnly("input:token".into())));
    }

    #[test]
    fn what_is_never_closed_is_an_error() {
        for open in ["${A", "Bearer ${A", "${A} ${", "${A:-x", "${A:-${B}", &"${".repeat(2 << 20)] {
            assert_eq!(expanded(open), Err(ExpandError::Unclosed));
        }
    }

    #[test]
    fn a_value_is_not_expanded_again() {
        let names = Names { variable: &|_| Some("${A}".into()), workspace: Path::new("/") };
        assert_eq!(expand("${B}", &names).as_deref(), Ok("${A}"));
    }

    #[test]
    fn a_file_of_variables_is_read_line_by_line() {
        let text = "# c\r\nA=1\r\n\nexport B = \"two words\"\nC='x=y'\nnothing\n=3\nD=\n1X=4\n";
        let pairs = env_file(text);
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("A", "1"), ("B", "two words"), ("C", "x=y"), ("D", "")]);
    }
}
