//! How the label of a scope is compared with patterns (MCPL 0.4 §7.3 and §7.6).
//!
//! A label is a text that a server chooses, and many texts mean the same place: `/a//b/`, `/a/./b`, `/a/%62`. Whether
//! they do depends on who reads them: a file system takes `%2f` literally, a web server does not. So a label has several
//! readings. A blacklist denies it if any of them matches, a whitelist approves it only if all of them match.

use crate::proposals::host::is_hidden;
use icu_normalizer::ComposingNormalizerBorrowed;

/// Longer labels are not compared, in bytes.
const MAX_BYTES: usize = 16 << 10;
/// How often a label may be percent-encoded.
const MAX_ROUNDS: usize = 4;

/// A label, and its readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label<'a> {
    text: &'a str,
    /// As whoever reads it literally, or takes backslashes for slashes, or percent-decodes it, or both.
    readings: Vec<String>,
    /// Whether it climbs by `..`. Such a path may lead anywhere, because of links.
    climbs: bool,
    /// Why it cannot be compared.
    fault: Option<&'static str>,
}

impl<'a> Label<'a> {
    /// Reads a label.
    pub(super) fn read(text: &'a str) -> Self {
        let mut label = Self { text, readings: Vec::new(), climbs: false, fault: None };
        if text.len() > MAX_BYTES {
            label.fault = Some("it is too long");
            return label;
        }
        let decoded = decoded(text);
        if let Err(why) = decoded {
            label.fault = Some(why);
        }
        for written in [Some(text), decoded.as_deref().ok()].into_iter().flatten() {
            if written.contains(char::is_control) {
                label.fault = Some("it contains control characters");
            }
            for separated in [written.to_owned(), written.replace('\\', "/")] {
                let (reading, climbs) = tidy(&composed(&separated));
                // A system that takes `．` for a dot climbs, too.
                label.climbs |= climbs || tidy(&compatible(&separated)).1;
                if !label.readings.contains(&reading) {
                    label.readings.push(reading);
                }
            }
        }
        label
    }

    /// Why it cannot be compared with patterns.
    pub(super) fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// Whether a whitelist's pattern, which has this text, matches it: in every reading, without a `..`.
    pub(super) fn is_white(&self, pattern: &str, fits: impl Fn(&str) -> bool) -> bool {
        self.fault.is_none()
            && !self.climbs
            && (self.text == pattern || self.readings.iter().all(|reading| fits(reading)))
    }

    /// Whether a blacklist's pattern matches it, in any reading.
    pub(super) fn is_black(&self, fits: impl Fn(&str) -> bool) -> bool {
        fits(self.text) || self.readings.iter().any(|reading| fits(reading))
    }

    /// As [`Self::is_black`], also in the readings of systems that ignore what a text looks like: compatible characters
    /// (`／` for `/`), invisible ones, dots and blanks at the end of a name, and that a path is written as a URL.
    pub(super) fn may_be_black(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.is_black(&fits) || self.readings.iter().flat_map(|reading| loose(reading)).any(|reading| fits(&reading))
    }

    /// A text that is the same for all labels that some system may take for this one.
    pub(super) fn key(&self) -> String {
        self.readings.last().map_or_else(|| self.text.to_owned(), Clone::clone)
    }

    /// The reading of a system that changes nothing but the notation of a path.
    pub(super) fn plain(&self) -> &str {
        self.readings.first().map_or(self.text, String::as_str)
    }
}

/// The notations of a pattern that is a glob: as it is, and as labels are compared.
pub(super) fn notations(glob: &str) -> Vec<String> {
    let mut notations = vec![glob.to_owned()];
    // A glob's backslash and brackets are syntax.
    if !glob.contains(['\\', '[', '{']) {
        let plain = tidy(&composed(glob)).0;
        let decoded =
            decode(glob, |byte| byte.is_ascii_alphanumeric() || b" -._~@:#".contains(&byte) || !byte.is_ascii());
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok()).map(|text| tidy(&composed(&text)).0);
        for other in [Some(plain), decoded].into_iter().flatten() {
            if !notations.contains(&other) {
                notations.push(other);
            }
        }
    }
    notations
}

fn compatible(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfkc().normalize(text).into_owned()
}

fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// Writes a path or a URL without `//`, `.` and `..` segments and without a `/` at its end. Returns whether it climbed.
fn tidy(text: &str) -> (String, bool) {
    let (scheme, path) = split_scheme(text);
    let is_rooted = path.starts_with('/');
    let (mut kept, mut climbs): (Vec<&str>, bool) = (Vec::new(), false);
    for segment in path.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
        if segment != ".." {
            kept.push(segment);
            continue;
        }
        climbs = true;
        if kept.last().is_some_and(|last| *last != "..") {
            kept.pop();
        } else if !is_rooted && scheme.is_empty() {
            kept.push(segment);
        }
    }
    let root = if is_rooted { "/" } else { "" };
    let path = format!("{scheme}{root}{}", kept.join("/"));
    (if path.is_empty() && !text.is_empty() { ".".to_owned() } else { path }, climbs)
}

/// Splits `scheme://` off, if a text begins with it.
fn split_scheme(text: &str) -> (&str, &str) {
    let is_scheme = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_alphabetic())
            && word.chars().all(|found| found.is_ascii_alphanumeric() || "+.-".contains(found))
    };
    match text.find("://") {
        Some(at) if is_scheme(&text[..at]) => text.split_at(at + 3),
        _ => ("", text),
    }
}

/// Percent-decodes a label until nothing changes any more.
fn decoded(text: &str) -> Result<String, &'static str> {
    let mut text = text.to_owned();
    for _ in 0..=MAX_ROUNDS {
        let Some(bytes) = decode(&text, |_| true) else { return Ok(text) };
        text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 when it is percent-decoded")?;
    }
    Err("it is percent-encoded too often")
}

/// Percent-decodes those bytes that `takes` accepts; `None` if there are none.
fn decode(text: &str, takes: impl Fn(u8) -> bool) -> Option<Vec<u8>> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let pair = (*byte == b'%').then(|| digit(bytes.get(at + 1)).zip(digit(bytes.get(at + 2)))).flatten();
        let found = pair.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()).filter(|found| takes(*found));
        out.push(found.unwrap_or(*byte));
        at += if found.is_some() { 3 } else { 1 };
    }
    (out.len() < text.len()).then_some(out)
}

/// What systems that compare names loosely may take a reading for.
fn loose(reading: &str) -> Vec<String> {
    let visible: String = reading.chars().filter(|found| !is_hidden(*found)).collect();
    let text = compatible(&visible);
    let text = tidy(&text).0;
    let trimmed = text.split('/').enumerate().filter_map(|(at, segment)| {
        match segment.trim_end_matches(['.', ' ']) {
            "" if at == 0 || segment == ".." => Some(segment),
            // What is left of `...` is the folder itself.
            "" => None,
            name => Some(name),
        }
    });
    let text = trimmed.collect::<Vec<_>>().join("/");
    let path = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:")).map(|_| {
        let path = text[5..].trim_start_matches('/');
        format!("/{}", path.strip_prefix("localhost/").unwrap_or(path))
    });
    std::iter::once(text).chain(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_of_a_place_have_the_same_readings() {
        for (label, reading) in [
            ("/a/b/", "/a/b"),
            ("/a/b/.", "/a/b"),
            ("/a//b", "/a/b"),
            ("//a/./b//", "/a/b"),
            ("./a/b", "a/b"),
            ("/a/x/../b", "/a/b"),
            ("/../a", "/a"),
            ("a/../../b", "../b"),
            ("/", "/"),
            ("", ""),
            ("./", "."),
            ("https://h//a/", "https://h/a"),
            ("file:///a/b", "file:///a/b"),
            ("#general", "#general"),
            ("discord:acme/general", "discord:acme/general"),
            ("/cafe\u{301}", "/caf\u{e9}"),
        ] {
            assert_eq!(Label::read(label).readings, [reading], "{label}");
        }
        assert_eq!(Label::read("/a%2Fb\\c").readings, ["/a%2Fb\\c", "/a%2Fb/c", "/a/b\\c", "/a/b/c"]);
        assert_eq!(Label::read("100% %zz %").readings, ["100% %zz %"]);
        assert_eq!(Label::read("/a/%252e%252E/b").key(), "/b");
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
        for (label, why) in [
            ("/a\0b".to_owned(), "control characters"),
            ("/a%00b".to_owned(), "control characters"),
            ("/a\n/b".to_owned(), "control characters"),
            ("/a/%ff".to_owned(), "not UTF-8"),
            ("/%2525252525252e".to_owned(), "too often"),
            ("x".repeat(MAX_BYTES + 1), "too long"),
        ] {
            assert!(Label::read(&label).fault().is_some_and(|fault| fault.contains(why)), "{label:.30}");
        }
        for good in ["/a/\u{1f469}\u{200d}\u{1f4bb}", "%", "/a b/c", "/%2525.txt"] {
            assert_eq!(Label::read(good).fault(), None, "{good}");
        }
    }

    #[test]
    fn c22_percent_encoded_dots_climb_too() {
        for (label, does) in [
            ("/a/../b", true),
            ("/a/%2e%2E/b", true),
            ("/a%2F..%2fb", true),
            ("..\\b", true),
            ("/a/%252e./b", true),
            ("/a..b//c", false),
            ("/a/...", false),
        ] {
            assert_eq!(Label::read(label).climbs, does, "{label}");
        }
    }

    #[test]
    fn a_name_of_dots_and_blanks_is_no_folder_of_its_own() {
        for (label, does) in [
            ("/p/secret/.../", true),
            ("/p/secret/... ./ ", true),
            ("/p/.../secret", true),
            ("/p/secret./", true),
            ("/p/secret/a", false),
            ("/p/...a/secret", false),
        ] {
            assert_eq!(Label::read(label).may_be_black(|reading| reading == "/p/secret"), does, "{label}");
        }
    }

    #[test]
    fn globs_are_compared_in_the_notation_of_labels() {
        assert_eq!(notations("/a/b/"), ["/a/b/", "/a/b"]);
        assert_eq!(notations("./a//**"), ["./a//**", "a/**"]);
        assert_eq!(notations("https://h/my%20docs/%2a"), ["https://h/my%20docs/%2a", "https://h/my docs/%2a"]);
        for plain in ["/project/**", "**/.env", "#dev-*", "[[]odd/", "{a,b}//"] {
            assert_eq!(notations(plain), [plain]);
        }
    }
}
