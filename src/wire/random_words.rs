//! Tells random words, such as keys and hashes, from others. Pure functions of text.

/// The longest word that is a token. Longer ones are data. Unit: bytes.
const LONGEST: usize = 128;

/// The length of a UUID without hyphens.
const UUID: usize = 32;

/// Returns where a random word begins and ends, and whether it is a UUID without hyphens; `None` if the word is not
/// random. Parts that hyphens join to it belong to it if they can be random, too.
pub(crate) fn place(text: &str, start: usize, end: usize, last: usize) -> Option<(usize, usize, bool)> {
    let word = text.get(start..end)?;
    if word.len() > LONGEST || !(is_random(word) || word.split('_').any(is_random)) {
        return None;
    }
    if word.len() == UUID && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Some((start, end, true));
    }
    let may_be = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let after = text.as_bytes()[end..].iter().take_while(|byte| may_be(**byte)).count();
    let before = text[last..start].bytes().rev().take_while(|byte| may_be(*byte)).count();
    let joined = &text[start - before..start];
    let odd = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let kept: usize = joined.rsplit_terminator('-').take_while(|part| odd(part)).map(|part| part.len() + 1).sum();
    let tail = text[end..end + after].trim_end_matches('-').len();
    Some((start - kept.min(before), end + tail, false))
}

/// Returns whether a text contains a random word.
pub(crate) fn is_in(text: &[u8]) -> bool {
    let is_separator = |byte: &u8| !byte.is_ascii_alphanumeric();
    let words = text.split(is_separator).filter_map(|word| std::str::from_utf8(word).ok());
    words.filter(|word| word.len() <= LONGEST).any(is_random)
}

/// Returns whether a word has digits among its letters as only random ones have.
fn is_random(word: &str) -> bool {
    let bytes = word.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if digits == 0 || letters == 0 || bytes.len() < 7 {
        return false;
    }
    // From a letter to a digit, from a digit to a letter, or from a small letter to a capital one.
    let turns = bytes.windows(2).filter(|pair| {
        pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic()
            || pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
            || pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()
    });
    let turns = turns.count();
    if bytes.iter().all(u8::is_ascii_hexdigit) {
        return bytes.len() >= 12 || turns >= 2;
    }
    bytes.len() >= 8 && turns >= 3 && 10 * turns >= 3 * (bytes.len() - 1)
        || bytes.len() >= 20 && 4 * turns >= bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_contain_one() {
        for text in ["q9w8e7r6t5y4u3i2", "see ghp_8f3kd92mxk2 there", "8f3a9bc"] {
            assert!(is_in(text.as_bytes()), "{text}");
        }
        for text in ["", "other-k3y-4711", "hunter2", "correct horse battery"] {
            assert!(!is_in(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn random_words_are_told_from_names() {
        for word in ["8f3a9bc", "da39a3ee5e6b4b0d", "V1StGXR8Z5jdHi6B", "8f3kd92mxk2", "ckv9x2q8p0001"] {
            assert!(is_random(word), "{word}");
        }
        for word in ["deadbeef", "1234567890", "sha256sum", "camelCaseName2", "version12", "1920x1080", "Http2Client"] {
            assert!(!is_random(word), "{word}");
        }
    }
}
