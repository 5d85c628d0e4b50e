//! What a detector's pattern cannot express: check digits, names, randomness. All functions get the whole text and the
//! groups of a match.

use super::encoding::percent_decoded;
use super::groups::{Group as Match, Groups};
use super::{names, words};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

/// The longest run of characters that may be a random secret; longer ones are data.
const LONGEST_RANDOM: usize = 128;
/// The shortest run that may be one, as the pattern has it.
const SHORTEST_RANDOM: usize = 24;
/// As much of a path before a run is looked at. Unit: bytes.
const LONGEST_PATH: usize = 256;

/// The minimum length of a word that hardly any text contains.
const LONG_WORD: usize = 16;

/// As much of a block of PEM before a run is looked at. Unit: bytes.
const LONGEST_BLOCK: usize = 8 << 10;

/// What is left of a token that was cut short has at least this many characters, with the dots. Unit: bytes.
const SHORTENED: usize = 15;

/// As much of a statement before a password is looked at. Unit: bytes.
const NEAR_STATEMENT: usize = 100;

fn group<'a>(found: &Groups<'a>, number: usize) -> &'a [u8] {
    found.get(number).map_or(b"", |group| group.as_bytes())
}

/// Everything that matches.
pub(super) fn any(_: &[u8], _: &Groups<'_>) -> bool {
    true
}

/// Everything but one character again and again, as in an example.
pub(super) fn varied(_: &[u8], found: &Groups<'_>) -> bool {
    let value = last(found);
    value.iter().any(|byte| *byte != value[0])
}

fn last<'a>(found: &Groups<'a>) -> &'a [u8] {
    found.iter().flatten().last().map_or(b"", |group| group.as_bytes())
}

/// What stands after a label of several words in another language.
pub(super) fn foreign(_: &[u8], found: &Groups<'_>) -> bool {
    let (name, value) = name_and_value(found);
    names::is_foreign(&name) && is_convincing(value)
}

/// Everything but a placeholder.
pub(super) fn not_placeholder(_: &[u8], found: &Groups<'_>) -> bool {
    !names::is_placeholder(group(found, 1))
}

/// Everything but placeholders and plain numbers.
pub(super) fn not_number(text: &[u8], found: &Groups<'_>) -> bool {
    not_placeholder(text, found) && !group(found, 1).iter().all(u8::is_ascii_digit)
}

/// Everything but a placeholder and punctuation. The last group is the value.
pub(super) fn last_not_placeholder(_: &[u8], found: &Groups<'_>) -> bool {
    let value = last(found);
    !names::is_placeholder(value) && value.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

/// A password in a statement of SQL. Without quotes (group 3), it may be a word of a sentence.
pub(super) fn sql(text: &[u8], found: &Groups<'_>) -> bool {
    let is_of_user = |value: &Match<'_>| {
        let before = &text[value.start().saturating_sub(NEAR_STATEMENT)..value.start()];
        before.to_ascii_lowercase().windows(6).any(|word| word == b" user ")
    };
    let is_bare_word = |value: Match<'_>| !is_convincing(value.as_bytes()) && !is_of_user(&value);
    last_not_placeholder(text, found) && !found.get(3).is_some_and(is_bare_word)
}

/// A word with a telling name in a printed structure: the last group, and the first one.
pub(super) fn wrapped(text: &[u8], found: &Groups<'_>) -> bool {
    labelled(text, found) && is_convincing(last(found))
}

/// A value with a telling name: the last group, and the first one.
pub(super) fn labelled(_: &[u8], found: &Groups<'_>) -> bool {
    let (name, value) = name_and_value(found);
    let name = name.rsplit(':').next().unwrap_or_default();
    names::is_secret(name) && !names::is_placeholder(value) && has_few_words(value)
}

/// The argument after a name, or of what a name says it sets: the last group, and the first one.
pub(super) fn argument(_: &[u8], found: &Groups<'_>) -> bool {
    const READING: [&str; 8] = ["get", "find", "has", "is", "read", "load", "fetch", "require"];
    let (name, value) = name_and_value(found);
    let called = name.rsplit('.').next().unwrap_or_default();
    let is_reading = found.get(1).is_some() && READING.iter().any(|start| called.starts_with(start));
    !is_reading && names::is_secret(&name) && is_convincing(value) && has_few_words(value)
}

/// The password of a login. After `machine`, any word is one.
pub(super) fn login(_: &[u8], found: &Groups<'_>) -> bool {
    let is_netrc = found
        .get(0)
        .is_some_and(|whole| whole.as_bytes().get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"machine")));
    let (_, value) = name_and_value(found);
    is_netrc && !names::is_placeholder(value) || is_convincing(value)
}

fn name_and_value<'a>(found: &Groups<'a>) -> (String, &'a [u8]) {
    let mut groups = found.iter().skip(1).flatten().map(|group| group.as_bytes());
    let name = groups.next().unwrap_or_default();
    (String::from_utf8_lossy(name).into_owned(), groups.last().unwrap_or(name))
}

fn has_few_words(value: &[u8]) -> bool {
    value.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count() <= 5
}

/// Whether a value beside a telling name looks like a secret. In a list, it may be another name.
pub(super) fn is_convincing(value: &[u8]) -> bool {
    !names::is_placeholder(value) && (is_unlike_prose(value) || has_symbol(value)) && !is_name(value)
}

/// Whether a value is a name with digits, such as `user_id2`.
fn is_name(value: &[u8]) -> bool {
    let letters: Vec<u8> = value.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect();
    let has = |class: fn(&u8) -> bool| letters.iter().any(class);
    let is_mixed =
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) || has(|byte| b"!#$%^*~@+=".contains(byte));
    !is_mixed && words::is_ordinary(&letters) || names::is_secret(&String::from_utf8_lossy(value))
}

/// What a sentence says is a password, if no sentence goes on like that. Group 2 is the value.
pub(super) fn told(_: &[u8], found: &Groups<'_>) -> bool {
    let value = group(found, 2);
    let inner = value.get(1..).unwrap_or_default();
    let is_mixed = inner.iter().any(u8::is_ascii_uppercase) && inner.iter().any(u8::is_ascii_lowercase);
    !names::is_placeholder(value) && (is_unlike_prose(value) || is_mixed || has_symbol(value))
}

/// A word that is neither prose nor a name: with digits, letters of both cases or a symbol, and no part of a path.
pub(super) fn mixed(_: &[u8], found: &Groups<'_>) -> bool {
    let value = group(found, 1);
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    let is_varied = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) || has_symbol(value);
    is_varied
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !value.contains(&b'/')
        && is_convincing(value)
}

/// A value that no prose contains: with a digit, or long and in mixed case. It is the last group.
pub(super) fn random(_: &[u8], found: &Groups<'_>) -> bool {
    let value = last(found);
    is_unlike_prose(value) && !names::is_placeholder(value)
}

/// The same, or a long word that is not an ordinary one.
pub(super) fn credentials(_: &[u8], found: &Groups<'_>) -> bool {
    let value = group(found, 1);
    let is_word = value.len() >= LONG_WORD && value.iter().all(u8::is_ascii_alphabetic);
    !names::is_placeholder(value) && (is_unlike_prose(value) || is_word && !words::is_ordinary(value))
}

fn is_unlike_prose(value: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && value.len() >= 16;
    has(u8::is_ascii_digit) || is_mixed
}

/// Base64 of `user:password`.
pub(super) fn basic(_: &[u8], found: &Groups<'_>) -> bool {
    let Ok(decoded) = BASE64.decode(group(found, 1)) else { return false };
    decoded.contains(&b':') && std::str::from_utf8(&decoded).is_ok_and(|text| !text.chars().any(char::is_control))
}

/// A parameter with a telling name: the last group, and the first one.
pub(super) fn parameter(_: &[u8], found: &Groups<'_>) -> bool {
    let (name, value) = name_and_value(found);
    let name = percent_decoded(name.as_bytes());
    names::is_secret_parameter(&String::from_utf8_lossy(&name)) && !names::is_placeholder(value)
}

/// A flag with a telling name. Group 2 is the value.
pub(super) fn flag(_: &[u8], found: &Groups<'_>) -> bool {
    let (name, value) = (String::from_utf8_lossy(group(found, 1)), group(found, 2));
    // Another detector looks into the cookies of a command line.
    let is_cookie = name.ends_with("cookie") && value.contains(&b'=');
    names::is_reporting(&name)
        && !is_cookie
        && !names::is_placeholder(value)
        && (name.len() > 2 || is_unlike_prose(value))
}

/// A flag in a list without quotes, as Java and YAML print it. In prose, another flag or a word follows.
pub(super) fn listed_flag(text: &[u8], found: &Groups<'_>) -> bool {
    flag(text, found) && is_convincing(group(found, 2))
}

/// A value after a telling name and `=` or `:`. Group 2 is the value. Code (`token = read()`) and prose (`token: the …`)
/// are not meant.
pub(super) fn assignment(text: &[u8], found: &Groups<'_>) -> bool {
    let (Some(name), Some(value)) = (found.get(1), found.get(2)) else { return false };
    if !names::is_secret(&String::from_utf8_lossy(name.as_bytes())) || names::is_placeholder(value.as_bytes()) {
        return false;
    }
    // The name of a test, as in `test_token.py::test_1`.
    let is_path = value.as_bytes().starts_with(b":");
    let is_call = is_path || matches!(text.get(value.end()), Some(b'(' | b'[' | b'{'));
    let is_tight = text.get(name.end()..value.start()) == Some(b"=");
    // A log may cut a token short with dots.
    let is_cut = value.as_bytes().ends_with(b"...") && value.as_bytes().len() >= SHORTENED;
    let ends_like_prose = !is_cut && matches!(value.as_bytes().last(), Some(b'.' | b':' | b'?' | b'!'));
    // In a sentence of another language, digits are numbers.
    let is_foreign = value.as_bytes().iter().filter(|byte| !byte.is_ascii()).count() > 4;
    let is_random =
        is_unlike_prose(value.as_bytes()) && !ends_like_prose && !is_foreign || has_symbol(value.as_bytes());
    let is_below = text.get(name.end()..value.start()).is_some_and(|between| between.contains(&b'\n'));
    !is_call && (is_tight || is_random || !is_below && is_line(text, name, value))
}

/// Whether a name and its value, a word that is not ordinary, are all of a line, as in YAML.
fn is_line(text: &[u8], name: Match<'_>, value: Match<'_>) -> bool {
    let is_free = |byte: &u8| byte.is_ascii_whitespace() || b"-\"'".contains(byte);
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b'\n');
    let before = text[..name.start()].iter().rev().find(|byte| **byte == b'\n' || !is_free(byte));
    let after = text[value.end()..].iter().find(|byte| **byte == b'\n' || !is_free(byte));
    // The list of ordinary words is English.
    let is_foreign = !value.as_bytes().is_ascii() || names::is_foreign(&String::from_utf8_lossy(name.as_bytes()));
    is_end(before) && is_end(after) && !is_foreign && !words::is_ordinary(value.as_bytes())
}

fn has_symbol(value: &[u8]) -> bool {
    value.iter().filter(|byte| b"!#$%^*~@".contains(byte)).count() > 0 && value.len() >= 6
}

/// The number of a payment card: begins like one and has the right check digit.
pub(super) fn card(text: &[u8], found: &Groups<'_>) -> bool {
    let Some(place) = found.get(1) else { return false };
    let digits: Vec<u8> =
        place.as_bytes().iter().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0').collect();
    let start = |count: usize| digits.iter().take(count).fold(0u32, |sum, digit| sum * 10 + u32::from(*digit));
    let is_known = match digits.len() {
        13 | 19 => start(1) == 4,
        14 => matches!(start(2), 36 | 38 | 39) || (300..=305).contains(&start(3)),
        15 => matches!(start(2), 34 | 37),
        16 => {
            start(1) == 4
                || (51..=55).contains(&start(2))
                || (2221..=2720).contains(&start(4))
                || matches!(start(4), 6011 | 3528..=3589)
                || start(2) == 65
        }
        _ => false,
    };
    is_known
        && has_check_digit(&digits)
        && !has_digit_beside(text, place)
        && digits.iter().any(|digit| *digit != digits[0])
}

/// Luhn's check.
fn has_check_digit(digits: &[u8]) -> bool {
    let doubled = |digit: u8| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| u32::from(if place % 2 == 1 { doubled(*digit) } else { *digit }))
        .sum();
    sum.is_multiple_of(10)
}

/// Whether the match is a part of a longer number or name.
fn has_digit_beside(text: &[u8], place: Match<'_>) -> bool {
    let before = text[..place.start()].last();
    let after = text.get(place.end());
    matches!(before, Some(b'.' | b'-' | b'_' | b'/' | b':'))
        || matches!(after, Some(b'.' | b'-' | b'_')) && {
            text.get(place.end() + 1).is_some_and(u8::is_ascii_alphanumeric)
        }
}

/// An international bank account number (ISO 13616), by its check sum.
pub(super) fn iban(_: &[u8], found: &Groups<'_>) -> bool {
    let plain: Vec<u8> = group(found, 1).iter().copied().filter(|byte| *byte != b' ').collect();
    if !(15..=34).contains(&plain.len()) {
        return false;
    }
    let (country, rest) = plain.split_at(4);
    rest.iter().chain(country).fold(0u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
    }) == 1
}

/// An address of a person: not one of documentation, of git, or the name of a file.
pub(super) fn email(text: &[u8], found: &Groups<'_>) -> bool {
    const RESERVED: [&str; 8] =
        ["example.com", "example.org", "example.net", "test", "invalid", "localhost", "local", "example"];
    const FILES: [&str; 12] = ["png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "json", "py", "md", "service"];
    let Some(place) = found.get(1) else { return false };
    let address = String::from_utf8_lossy(place.as_bytes()).to_ascii_lowercase();
    let Some((user, domain)) = address.split_once('@') else { return false };
    let is_reserved = RESERVED
        .iter()
        .any(|reserved| domain == *reserved || domain.strip_suffix(reserved).is_some_and(|rest| rest.ends_with('.')));
    let is_file = domain.rsplit('.').next().is_some_and(|end| FILES.contains(&end));
    let is_of_git = user == "git";
    let is_in_url = text[..place.start()].ends_with(b"//");
    !is_reserved && !is_file && !is_of_git && !is_in_url
}

/// A user's name in the path of a home folder, unless many have it.
pub(super) fn user(_: &[u8], found: &Groups<'_>) -> bool {
    !is_common_user(group(found, 1))
}

/// Whether many users have a name, or it stands for any name.
pub(super) fn is_common_user(name: &[u8]) -> bool {
    const COMMON: [&[u8]; 22] = [
        b"user",
        b"you",
        b"me",
        b"shared",
        b"public",
        b"default",
        b"runner",
        b"ubuntu",
        b"node",
        b"app",
        b"root",
        b"dev",
        b"username",
        b"admin",
        b"vscode",
        b"linuxbrew",
        b"guest",
        b"name",
        b"all",
        b"xxx",
        b"USER",
        b"your-name",
    ];
    let name = name.to_ascii_lowercase();
    COMMON.contains(&name.as_slice()) || names::is_placeholder(&name)
}

/// A run of characters that looks random: all classes of characters, mixed as words are not.
pub(super) fn entropy(text: &[u8], found: &Groups<'_>) -> bool {
    let Some(place) = found.get(1) else { return false };
    let run = place.as_bytes();
    if is_in_run(text[..place.start()].last()) || is_in_run(text.get(place.end())) {
        return false;
    }
    // A part of a path is a secret only if it would be one alone.
    let runs = match is_in_path(text, place.clone()) {
        true => run.split(|byte| *byte == b'/').filter(|part| part.len() >= SHORTEST_RANDOM).collect(),
        false => vec![run],
    };
    !is_digest(text, place.clone()) && !is_public(text, &place) && runs.into_iter().any(is_random)
}

/// Whether a byte beside a run of the pattern belongs to it, so that the run is longer than any that is looked at.
fn is_in_run(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/_-".contains(byte))
}

fn is_random(run: &[u8]) -> bool {
    let (mut counts, mut changes) = ([0usize; 4], 0);
    for (at, byte) in run.iter().enumerate().take(LONGEST_RANDOM + 1) {
        counts[class(*byte)] += 1;
        changes += usize::from(at > 0 && class(run[at - 1]) != class(*byte));
    }
    let [lower, upper, digits, separators] = counts;
    let is_mixed = lower >= 3 && upper >= 3 && digits >= 2 && changes * 5 >= run.len() * 2;
    let is_random = is_mixed && run.len() <= LONGEST_RANDOM && separators * 8 <= run.len() && bits(run) >= 3.8;
    is_random && !is_path(run) && !is_encoded(run)
}

/// Whether a run belongs to an absolute path: what precedes it begins with `/` and a word, as in `/tmp/tmp.3fIDDEqyJh`.
fn is_in_path(text: &[u8], place: Match<'_>) -> bool {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`=(<[{,;:".contains(byte);
    let before = &text[place.start().saturating_sub(LONGEST_PATH)..place.end()];
    let token = before.iter().rposition(ends).map_or(before, |end| &before[end + 1..]);
    let first = token.strip_prefix(b"/").and_then(|path| path.split(|byte| *byte == b'/').next());
    let is_longer = |first: &[u8]| token.len() > first.len() + 1;
    first.is_some_and(|first| first.len() > 2 && is_longer(first) && first.iter().all(u8::is_ascii_lowercase))
}

/// Whether it is a path: two of its parts are words. A random part of it, as in the names of temporary folders, is short.
fn is_path(run: &[u8]) -> bool {
    let is_word = |part: &&[u8]| part.len() > 2 && part.iter().all(u8::is_ascii_lowercase);
    run.split(|byte| *byte == b'/').filter(is_word).count() > 1
}

fn class(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// Shannon's entropy in bits per character.
fn bits(run: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    run.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let length = run.len() as f64;
    let share = |count: &u32| f64::from(*count) / length;
    -counts.iter().filter(|count| **count > 0).map(|count| share(count) * share(count).log2()).sum::<f64>()
}

/// Whether a digest's name stands before the run, as in `sha512-…` and `sha256:…`.
fn is_digest(text: &[u8], place: Match<'_>) -> bool {
    let start = place.start().saturating_sub(8);
    let around = text[start..place.end()].to_ascii_lowercase();
    [&b"sha1"[..], b"sha256", b"sha384", b"sha512", b"md5", b"h1:"]
        .iter()
        .any(|name| memchr::memmem::find(&around, name).is_some())
}

/// Whether the run belongs to a public key or a certificate.
fn is_public(text: &[u8], place: &Match<'_>) -> bool {
    let before = &text[place.start().saturating_sub(LONGEST_BLOCK)..place.start()];
    let Some(begin) = memchr::memmem::rfind(before, b"-----BEGIN ") else { return false };
    let block = &before[begin..];
    let has = |word: &[u8]| memchr::memmem::find(block, word).is_some();
    !has(b"PRIVATE") && !has(b"-----END")
}

/// Whether the run is base64 of text, of an image or of compressed data, which are searched in another way or no secrets.
fn is_encoded(run: &[u8]) -> bool {
    const STARTS: [&[u8]; 8] = [b"iVBOR", b"R0lGOD", b"/9j/", b"UklGR", b"JVBER", b"H4sI", b"AAAA", b"PHN2Zy"];
    if STARTS.iter().any(|start| run.starts_with(start)) {
        return true;
    }
    super::decoded(run).is_some_and(|inner| inner.is_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_checked() {
        let digits = |text: &str| text.bytes().map(|byte| byte - b'0').collect::<Vec<_>>();
        assert!(has_check_digit(&digits("4111111111111111")) && has_check_digit(&digits("378282246310005")));
        assert!(!has_check_digit(&digits("4111111111111112")));
    }

    #[test]
    fn a_random_folder_is_no_secret_and_a_long_random_segment_is() {
        let pattern = super::super::pattern::Pattern::new("([A-Za-z0-9+/_=-]{24,})");
        let is_secret = |text: &str| {
            let found = pattern.find(text.as_bytes(), 0..text.len());
            found.is_some_and(|found| entropy(text.as_bytes(), &found))
        };
        assert!(!is_secret("File \"/tmp/tmp.3fIDDEqyJh/Weather2-Server/a\", line 3"));
        assert!(!is_secret("cannot open /tmp/tmp.3fIDDEqyJh/K8zW2-b_Q/R7"));
        assert!(is_secret("/srv/3fIDDEqyJhK8zW2bQR7xT4mN9v/a"), "one segment is long enough");
        assert!(is_secret("key 3fIDDEqyJhK8zW2bQR7xT4mN9v"));
        assert!(is_secret("key /3fIDDEqyJhK8zW2bQ/R7xT4mN9v"), "base64 contains slashes, too");
    }

    #[test]
    fn a_value_in_a_list_of_names_is_none_of_them() {
        for value in ["hunter2", "Q7abcdefgh", "x7-Kp9!q", "tr0ub4dor&3"] {
            assert!(is_convincing(value.as_bytes()), "{value}");
        }
        for value in ["user_id2", "email", "API_KEY_2", "oauth2", "username", "${PASSWORD}", "4711"] {
            assert!(!is_convincing(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn entropy_is_counted_in_bits() {
        assert!((bits(b"aabb") - 1.0).abs() < 1e-9);
        assert!((bits(b"abcdefgh") - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_path_with_a_random_part_is_no_secret() {
        assert!(is_path(b"tmpG37LeX/home/you/project"));
        assert!(!is_path(b"kJ8/x2Qm7Vt/9RbYc4WzLpN1dSfG"), "base64 with slashes");
    }
}
