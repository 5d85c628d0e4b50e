//! Secrets in the cookies of a text: the value of each, so that it is known wherever it occurs.

use std::ops::Range;

/// What begins a list of cookies.
const NAME: &[u8] = b"cookie:";
/// Members of `Set-Cookie` that are about the cookie (RFC 6265, section 4.1.1).
const ATTRIBUTES: [&[u8]; 5] = [b"domain", b"expires", b"max-age", b"path", b"samesite"];

/// Returns the places of the values, in order.
pub(super) fn values(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].windows(NAME.len()).position(|word| word.eq_ignore_ascii_case(NAME)) {
        at += start + NAME.len();
        while let Some((name, value, after)) = pair(text, at) {
            let is_attribute = ATTRIBUTES.iter().any(|known| known.eq_ignore_ascii_case(&text[name.clone()]));
            if !is_attribute && !value.is_empty() {
                found.push(value);
            }
            at = after;
            if text.get(at) != Some(&b';') {
                break;
            }
            at += 1;
        }
    }
    found
}

/// Reads one cookie after blanks and empty ones: the places of its name and of its value, and where it ends. A flag (`Secure`) has an empty
/// value. `None` if there is none, or if it is the last one and has no value, as in prose.
fn pair(text: &[u8], from: usize) -> Option<(Range<usize>, Range<usize>, usize)> {
    let run = |from: usize, is_in: fn(u8) -> bool| {
        from + text[from..].iter().position(|byte| !is_in(*byte)).unwrap_or(text.len() - from)
    };
    let start = run(from, |byte| b" \t;".contains(&byte));
    let end = run(start, |byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+.^_`|~-".contains(&byte));
    if end == start {
        return None;
    }
    let (value, after) = match text.get(end) {
        Some(b'=') => {
            let first = run(end + 1, |byte| byte == b'"' || byte == b'\\');
            let last = run(first, |byte| byte > b' ' && !b"\";,\\()<>".contains(&byte) && byte != 0x7f);
            (first..last, run(last, |byte| byte == b'"' || byte == b'\\'))
        }
        Some(b';') => (end..end, end),
        _ => return None,
    };
    Some((start..end, value, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        values(text.as_bytes()).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn each_value_is_a_secret_and_nothing_around_it() {
        assert_eq!(found("Cookie: sid=9f86d081; theme=dark; csrf=\"x1y2z3\""), ["9f86d081", "dark", "x1y2z3"]);
        assert_eq!(found("Cookie: v=1; session=a8Kd92mQ"), ["1", "a8Kd92mQ"]);
        assert_eq!(found("Set-Cookie: id=a3fWa; Path=/; Secure; HttpOnly; Max-Age=3600"), ["a3fWa"]);
        assert_eq!(found("(session cookie: sid=9f86d081) and more"), ["9f86d081"]);
        assert_eq!(found("cookie: a=1234, then b=5678"), ["1234"]);
        assert_eq!(found(r#"{\"Cookie: a=12345\", Cookie: b=67890"#), ["12345", "67890"]);
        assert_eq!(found("the cookie: chocolate-chip-recipe is good; cookie:"), [""; 0]);
        assert_eq!(found("Cookie: id=a3fWa\r\nHost: x=y"), ["a3fWa"]);
    }
}
