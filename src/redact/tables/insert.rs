//! Secrets in SQL's `INSERT INTO users (name, password) VALUES (…), (…)`.

use super::{LONGEST_HEADING, MAX_COLUMNS, names};
use std::ops::Range;

/// The maximum length of a list of columns, in bytes.
const LONGEST_LIST: usize = 4096;
/// The minimum number of digits of a secret number.
const SHORTEST_NUMBER: usize = 4;

/// Returns the places of the values of columns whose names suggest a secret.
pub(super) fn values(text: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut done) = (Vec::new(), 0);
    for close in memchr::memchr_iter(b')', text) {
        if close < done {
            continue;
        }
        if let Some(row) = first_row(text, close + 1)
            && let Some(columns) = columns(text, close)
        {
            done = rows(text, row, &columns, &mut found);
        }
    }
    found
}

fn skip_space(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
}

/// Returns the place of the parenthesis after `VALUES`.
fn first_row(text: &[u8], at: usize) -> Option<usize> {
    let at = skip_space(text, at);
    let word = text.get(at..at + 6)?;
    let open = skip_space(text, at + 6);
    (word.eq_ignore_ascii_case(b"values") && text.get(open) == Some(&b'(')).then_some(open)
}

/// Returns which columns of the list that ends here have secrets; `None` if none has.
fn columns(text: &[u8], close: usize) -> Option<Vec<bool>> {
    let before = &text[close.saturating_sub(LONGEST_LIST)..close];
    let list = &before[memchr::memrchr(b'(', before)? + 1..];
    let is_secret = |name: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let start = name.iter().position(is_part).unwrap_or(name.len());
        let name = &name[start..name.iter().rposition(is_part).map_or(start, |last| last + 1)];
        name.len() <= LONGEST_HEADING && names::is_secret(&String::from_utf8_lossy(name))
    };
    let columns: Vec<bool> = list.split(|byte| *byte == b',').take(MAX_COLUMNS + 1).map(is_secret).collect();
    (columns.len() <= MAX_COLUMNS && columns.contains(&true)).then_some(columns)
}

/// Adds the secrets in the rows from this parenthesis on. Returns where the last row ends.
fn rows(text: &[u8], mut open: usize, columns: &[bool], found: &mut Vec<Range<usize>>) -> usize {
    loop {
        let (cells, end) = cells(text, open + 1);
        let Some(end) = end else { return text.len() };
        if cells.len() == columns.len() {
            let secrets = columns.iter().zip(cells).filter(|(is_secret, _)| **is_secret);
            found.extend(secrets.filter_map(|(_, cell)| value(text, cell)));
        }
        let comma = skip_space(text, end + 1);
        open = skip_space(text, comma + 1);
        if text.get(comma) != Some(&b',') || text.get(open) != Some(&b'(') {
            return end;
        }
    }
}

/// Returns the places of the values of a row, which begins here, and of the parenthesis after them, if there is one.
fn cells(text: &[u8], start: usize) -> (Vec<Range<usize>>, Option<usize>) {
    let (mut cells, mut begun, mut depth, mut at) = (Vec::new(), start, 0usize, start);
    while let Some(byte) = text.get(at) {
        match byte {
            b'\'' | b'"' => at = quoted(text, at).end,
            b'(' => depth += 1,
            b')' if depth == 0 => {
                cells.push(begun..at);
                return (cells, Some(at));
            }
            b')' => depth -= 1,
            b',' if depth == 0 => {
                cells.push(begun..at);
                begun = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    (cells, None)
}

/// Returns the place of what is within the quotes that begin here. A doubled quote is a part of it, and so is one after a
/// backslash, unless the value ends there.
fn quoted(text: &[u8], open: usize) -> Range<usize> {
    let quote = text[open];
    let mut at = open + 1;
    while let Some(byte) = text.get(at) {
        let next = text.get(at + 1);
        match byte {
            b'\\' if next == Some(&quote) && !matches!(text.get(at + 2), Some(b',' | b')') | None) => at += 1,
            byte if *byte == quote && next == Some(&quote) => at += 1,
            byte if *byte == quote => break,
            _ => {}
        }
        at += 1;
    }
    open + 1..at.min(text.len())
}

/// Returns the place of the secret in a value: its first text, also as an argument of a function, or a bare number.
fn value(text: &[u8], cell: Range<usize>) -> Option<Range<usize>> {
    let inner = &text[cell.clone()];
    if let Some(quote) = memchr::memchr2(b'\'', b'"', inner) {
        let secret = quoted(text, cell.start + quote);
        let said = &text[secret.clone()];
        return (!is_variable(said) && !names::is_placeholder(said)).then_some(secret);
    }
    let start = inner.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let end = inner.iter().rposition(|byte| !byte.is_ascii_whitespace())? + 1;
    let secret = cell.start + start..cell.start + end;
    (secret.len() >= SHORTEST_NUMBER && text[secret.clone()].iter().all(u8::is_ascii_digit)).then_some(secret)
}

/// Returns whether a text stands for a value that comes from elsewhere.
fn is_variable(text: &[u8]) -> bool {
    let named = |name: &[u8]| names::is_secret(&String::from_utf8_lossy(name));
    match text {
        b"?" | b"%s" | b"%d" | [b'{', .., b'}'] | [b'#', b'{', .., b'}'] => true,
        [b':' | b'@', name @ ..] => named(name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        values(text.as_bytes()).into_iter().map(|value| &text[value]).collect()
    }

    #[test]
    fn the_values_of_telling_columns_are_found() {
        for (text, secrets) in [
            (
                "INSERT INTO users (name, password) VALUES ('bob', 'letmein'), ('eve','trust0no1');",
                &["letmein", "trust0no1"][..],
            ),
            (
                "insert into `u` (`login`,`Password`)\n values\n ('a, (b', 'it''s)'),\n (1, \"x\\\"y\")",
                &["it''s)", "x\\\"y"],
            ),
            ("INSERT INTO u ([api_key], n) VALUES (N'k3y', 1)", &["k3y"]),
            ("INSERT INTO u (n, password) VALUES ('x', crypt('letmein', gen_salt('bf')))", &["letmein"]),
            ("INSERT INTO u (pin) VALUES (482913)", &["482913"]),
            ("INSERT INTO u (path, password) VALUES ('C:\\', 'letmein')", &["letmein"]),
            ("INSERT INTO u (n, password) VALUES ('x', 'letmein'", &[]),
            ("INSERT INTO u (n, password) VALUES ('x'), ('y', '@letmein')", &["@letmein"]),
        ] {
            assert_eq!(found(text), secrets, "{text}");
        }
    }

    #[test]
    fn variables_placeholders_and_other_columns_are_not_found() {
        for text in [
            "INSERT INTO u (n, password) VALUES (?, ?), ($1, $2), (:n, :p), ('x', NULL), ('x', '%s'), ('x', '')",
            "INSERT INTO u (n, password) VALUES ('x', '{password}'), ('x', '********'), ('x', DEFAULT), (n, p), ('x', ':password')",
            "INSERT INTO u (n, role) VALUES ('letmein', 'x')",
            "INSERT INTO u VALUES ('letmein', 'x')",
            "(password) values are (secret)",
            ")values()values(",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
