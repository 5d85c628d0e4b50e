//! Foreign text as it can be shown: nothing in it steers a terminal or breaks a line.

/// A character as it can stand on a terminal's line: control characters become their pictures, so that no peer's
/// text can steer the terminal.
pub fn visible(found: char) -> char {
    match found {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + found as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' => '\u{fffd}',
        '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    }
}

/// A text as it can stand on a terminal's line, line ends too made visible.
pub fn visible_text(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// The beginning of a text, `most` characters at most, on one line and visible; white space becomes single spaces.
pub fn excerpt(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut left = most;
    for word in text.split(|found: char| found.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        let space = if out.is_empty() { "" } else { " " };
        for found in space.chars().chain(word.chars()) {
            let Some(less) = left.checked_sub(1) else {
                out.push('…');
                return out;
            };
            left = less;
            out.push(visible(found));
        }
    }
    out
}

/// An error with everything that caused it, separated by colons.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        let said = found.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = found.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_visible_line() {
        assert_eq!(excerpt(" no \u{1b}[31m such\r\n\tthing\u{202e} ", 99), "no ␛[31m such thing\u{fffd}");
        assert_eq!(excerpt(&"é".repeat(9), 3), "ééé…");
        assert_eq!(
            (excerpt("abc", 3), excerpt("", 3), excerpt(" \n", 3)),
            ("abc".into(), String::new(), String::new())
        );
    }
}
