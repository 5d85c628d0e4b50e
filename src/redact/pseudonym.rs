//! Pseudonyms: what replaces a secret. A pseudonym has the length of the secret and looks like one of the same kind; the
//! same secret gets the same pseudonym under the same key. Without the key, a guess cannot be tested.

use ring::hmac;
use std::borrow::Cow;

/// What [`Pseudonyms::of`] puts at the beginning of a pseudonym, so that everyone recognises it, also without the key.
const MARKS: [&[u8]; 3] = [b"redacted", b"REDACTED", HEX_MARK];
/// The same for a text of hexadecimal digits.
const HEX_MARK: &[u8] = b"5ec2e75ec2e7";
/// The same for a text that is too short for a mark.
const SHORT_MARK: &[u8] = b"xxxx";
/// The same for digits. No card has a number that begins like this.
const DIGITS_MARK: &[u8] = b"9999";
/// The minimum length of a text with a mark: eight bytes of mark, four that tell pseudonyms apart.
const MARKED: usize = 12;
/// The minimum length of hexadecimal digits with a mark.
const MARKED_HEX: usize = 16;

/// How many pseudonyms of a secret are tried, until one looks as wanted.
const MAX_ATTEMPTS: u8 = 128;
/// Of a longer secret, the pseudonym is made of its digest. Unit: bytes.
const LONGEST_SEED: usize = 4096;
/// Of a longer secret, only one is made. Unit: bytes.
const MAX_LIKE: usize = 256;

/// The characters of pseudonyms.
const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &[u8] = b"0123456789";
const HEX: &[u8] = b"0123456789abcdef";

/// What kind of text a secret is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A token: separators such as dots, hyphens and line breaks stay where they are.
    Token,
    /// A password: every character is replaced.
    Password,
    /// An e-mail address: `@` and the dots of its domain stay.
    Email,
    /// Digits with spaces or hyphens between them, such as the number of a card.
    Digits,
}

/// Makes pseudonyms with a key, or replaces all secrets of the same length alike.
#[derive(Clone, Debug)]
pub(crate) struct Pseudonyms(Option<hmac::Key>);

impl Pseudonyms {
    /// Creates the pseudonyms of a key of any length; at least 16 random bytes are secure.
    pub(crate) fn new(key: &[u8]) -> Self {
        Self(Some(hmac::Key::new(hmac::HMAC_SHA256, key)))
    }

    /// Replaces secrets, and the pseudonyms of secrets, by texts that depend on nothing but their length: so that a
    /// secret can be compared with a pseudonym whose key nobody knows.
    pub(crate) fn alike() -> Self {
        Self(None)
    }

    /// Returns the pseudonym of a secret. It has the secret's length in bytes, and consists of ASCII characters. Where that
    /// is possible, `has` returns the same for both.
    pub(crate) fn like(&self, secret: &[u8], kind: Kind, has: fn(&[u8]) -> bool) -> Vec<u8> {
        let Some(key) = &self.0 else { return anonymous(secret) };
        if secret.len() > MAX_LIKE {
            return Keyed { key, attempt: 0 }.of(secret, kind);
        }
        let wanted = has(secret);
        let mut attempts = (0..MAX_ATTEMPTS).map(|attempt| Keyed { key, attempt }.of(secret, kind));
        let first = attempts.next().unwrap_or_default();
        if has(&first) == wanted { first } else { attempts.find(|made| has(made) == wanted).unwrap_or(first) }
    }

    /// Returns a pseudonym whatever it looks like.
    #[cfg(test)]
    pub(crate) fn of(&self, secret: &[u8], kind: Kind) -> Vec<u8> {
        self.like(secret, kind, |_| true)
    }
}

/// Makes pseudonyms with a key.
struct Keyed<'a> {
    key: &'a hmac::Key,
    /// How many others were made of the same secret.
    attempt: u8,
}

/// Returns what stands for any secret of this length. A number remains one.
fn anonymous(secret: &[u8]) -> Vec<u8> {
    let is_number = secret.iter().all(u8::is_ascii_digit);
    vec![if is_number { b'9' } else { b'x' }; secret.len()]
}

impl Keyed<'_> {
    fn of(&self, secret: &[u8], kind: Kind) -> Vec<u8> {
        match kind {
            Kind::Email => self.email(secret),
            Kind::Digits => self.digits(secret),
            Kind::Token => {
                let start = secret.len() - secret.trim_ascii_start().len();
                let mut made = secret[..start].to_vec();
                made.extend(self.body(secret, &secret[start..], true));
                made
            }
            Kind::Password => self.body(secret, secret, false),
        }
    }

    /// Returns the pseudonym of a part of a secret.
    fn body(&self, secret: &[u8], part: &[u8], keeps_separators: bool) -> Vec<u8> {
        if !part.is_empty() && part.iter().all(u8::is_ascii_digit) {
            return self.digits(part);
        }
        let (alphabet, mark) = alphabet(part);
        let mark = match part.len() {
            length if length >= MARKED => mark,
            length => &SHORT_MARK[..SHORT_MARK.len().min(length)],
        };
        let mut random = Random::new(self, secret);
        let rest = part.iter().skip(mark.len()).map(|byte| match byte {
            b'.' | b'-' | b'_' | b'\n' | b'\r' | b'=' | b':' | b'/' | b'\\' if keeps_separators => *byte,
            _ => random.one_of(&alphabet),
        });
        let mut made: Vec<u8> = mark.to_vec();
        if part.len() <= SHORT_MARK.len() {
            return vec![b'x'; part.len()];
        }
        made.extend(rest);
        // The trailing padding of base64 shows nothing; the last characters of a mark must be followed by others.
        made.truncate(part.len());
        made
    }

    fn email(&self, address: &[u8]) -> Vec<u8> {
        let at = address.iter().position(|byte| *byte == b'@').unwrap_or(address.len());
        let mut made = self.body(address, &address[..at], false);
        let labels: Vec<&[u8]> = address[at..].split(|byte| *byte == b'.').collect();
        for (number, label) in labels.iter().enumerate() {
            let is_last = number + 1 == labels.len();
            match (number, is_last) {
                (0, _) if label.is_empty() => {}
                (0, _) => {
                    made.push(b'@');
                    made.extend(self.body(&label[1..], &label[1..], false));
                }
                (_, true) => made.extend([b".", *label].concat()),
                _ => {
                    made.push(b'.');
                    made.extend(self.body(label, label, false));
                }
            }
        }
        made
    }

    fn digits(&self, secret: &[u8]) -> Vec<u8> {
        let plain: Vec<u8> = secret.iter().copied().filter(u8::is_ascii_digit).collect();
        let mut random = Random::new(self, &plain);
        let mut place = 0;
        let digit = |byte: &u8| {
            if !byte.is_ascii_digit() {
                return *byte;
            }
            place += 1;
            if place <= DIGITS_MARK.len() { DIGITS_MARK[place - 1] } else { random.one_of(DIGITS) }
        };
        secret.iter().map(digit).collect()
    }
}

/// Returns the characters that a text consists of, by class, and its mark.
fn alphabet(text: &[u8]) -> (Vec<u8>, &'static [u8]) {
    let has = |class: fn(&u8) -> bool| text.iter().any(class);
    let (lower, upper, digit) = (has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase), has(u8::is_ascii_digit));
    let is_hex = text.iter().all(|byte| HEX.contains(byte) || !byte.is_ascii_alphanumeric());
    if is_hex && lower && digit && text.len() >= MARKED_HEX {
        return (HEX.to_vec(), HEX_MARK);
    }
    let classes = [(lower || !upper, LOWER), (upper, UPPER), (digit, DIGITS)];
    let alphabet = classes.iter().filter(|class| class.0).flat_map(|class| class.1).copied().collect();
    (alphabet, if upper && !lower { MARKS[1] } else { MARKS[0] })
}

/// Bytes that depend on a key and a secret, as many as needed.
struct Random<'a> {
    keyed: &'a Keyed<'a>,
    secret: Cow<'a, [u8]>,
    block: Vec<u8>,
    blocks: u32,
}

impl<'a> Random<'a> {
    fn new(keyed: &'a Keyed<'a>, secret: &'a [u8]) -> Self {
        // Each block is made of all of the secret.
        let secret = match secret.len() {
            0..=LONGEST_SEED => Cow::Borrowed(secret),
            _ => Cow::Owned(hmac::sign(keyed.key, secret).as_ref().to_vec()),
        };
        Self { keyed, secret, block: Vec::new(), blocks: 0 }
    }

    fn one_of(&mut self, alphabet: &[u8]) -> u8 {
        // A byte would favour some characters; two bytes hardly do.
        let number = usize::from(self.byte()) << 8 | usize::from(self.byte());
        alphabet.get(number % alphabet.len().max(1)).copied().unwrap_or(b'x')
    }

    fn byte(&mut self) -> u8 {
        if self.block.is_empty() {
            let mut context = hmac::Context::with_key(self.keyed.key);
            context.update(b"mcpreel pseudonym 1\0");
            if self.keyed.attempt > 0 {
                context.update(&[self.keyed.attempt]);
            }
            context.update(&self.blocks.to_le_bytes());
            context.update(&self.secret);
            self.block = context.sign().as_ref().to_vec();
            self.blocks += 1;
        }
        self.block.pop().unwrap_or_default()
    }
}

/// Returns whether a text looks like the pseudonym of a secret of a kind.
pub(super) fn is_pseudonym_of(text: &[u8], kind: Kind) -> bool {
    match kind {
        Kind::Email => is_pseudonym(text.split(|byte| *byte == b'@').next().unwrap_or_default()),
        _ => is_pseudonym(text),
    }
}

/// Returns whether a text looks like a pseudonym, or contains one at its end, or is [`super::REDACTED`].
pub(crate) fn is_pseudonym(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let is_short = text.len() < MARKED && (text.starts_with(SHORT_MARK) || text.iter().all(|byte| *byte == b'x'));
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    let is_number =
        text.starts_with(DIGITS_MARK) && text.iter().all(|byte| byte.is_ascii_digit() || b" -".contains(byte));
    let is_short_number = digits.count() == text.len() && text.iter().all(|byte| *byte == b'9');
    super::is_removed(text)
        || is_short
        || is_number
        || is_short_number
        || has_mark(text)
        || is_beginning(text)
        || is_shortened(text)
}

/// Returns whether a text is the beginning of a pseudonym in a text that was shortened for display.
fn is_shortened(text: &[u8]) -> bool {
    let shown = text.strip_suffix("…".as_bytes()).filter(|shown| !shown.is_empty());
    shown.is_some_and(|shown| MARKS.iter().any(|mark| mark.starts_with(shown) || shown.starts_with(mark)))
}

/// Returns whether a text is the beginning of a pseudonym that goes on elsewhere: a mark with less behind it than a whole
/// one has, or the beginning of a mark.
fn is_beginning(text: &[u8]) -> bool {
    MARKS.iter().any(|mark| match text.strip_prefix(*mark) {
        Some(rest) => rest.len() < 4,
        None => text.len() >= SHORT_MARK.len() && mark.starts_with(text),
    })
}

/// The marks, for those who look for the beginning of a pseudonym.
pub(crate) mod marks {
    use super::{DIGITS_MARK, MARKS, SHORT_MARK};

    /// Returns the mark with which a text begins.
    pub(crate) fn at(text: &[u8]) -> Option<&'static [u8]> {
        MARKS.into_iter().chain([SHORT_MARK, DIGITS_MARK]).find(|mark| text.starts_with(mark))
    }
}

/// Returns whether a text contains the mark of a pseudonym, followed by at least the four characters that a pseudonym
/// has after it.
pub(crate) fn has_mark(text: &[u8]) -> bool {
    MARKS.iter().any(|mark| {
        memchr::memmem::find_iter(text, mark).any(|at| text.get(at + mark.len()..at + mark.len() + 4).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRETS: [(&[u8], Kind); 12] = [
        (b"hunter2", Kind::Password),
        (b"correct horse battery", Kind::Password),
        (b"abc", Kind::Password),
        (b"p\xc3\xa4ssw\xc3\xb6rter!", Kind::Password),
        (b"0123456789abcdef0123456789abcdef", Kind::Token),
        (b"AbCdEf0123456789AbCdEf0123456789", Kind::Token),
        (b"IOSFODNN7EXAMPLE", Kind::Token),
        (b"\nMIIEow\nIBAAK\nCAQEA0Z\n", Kind::Token),
        (b"4111 1111 1111 1111", Kind::Digits),
        (b"123456", Kind::Password),
        (b"jane.doe@corp.example.net", Kind::Email),
        (b"a@b.io", Kind::Email),
    ];

    #[test]
    fn a_pseudonym_has_the_length_and_kind_of_its_secret_and_is_recognised() {
        let names = Pseudonyms::new(b"a key of 16 bytes");
        for (secret, kind) in SECRETS {
            let made = names.of(secret, kind);
            let shown = String::from_utf8_lossy(&made).into_owned();
            assert_eq!(made.len(), secret.len(), "{shown}");
            assert_ne!(made, secret);
            assert_eq!(made, names.of(secret, kind), "the same secret, the same pseudonym");
            match kind {
                Kind::Email => assert!(is_pseudonym(made.split(|byte| *byte == b'@').next().unwrap()), "{shown}"),
                _ => assert!(is_pseudonym(&made), "{shown}"),
            }
            assert!(!is_pseudonym(secret), "{}", String::from_utf8_lossy(secret));
            assert!(made.is_ascii(), "{shown}");
        }
    }

    #[test]
    fn another_key_gives_other_pseudonyms() {
        let (one, two) = (Pseudonyms::new(b"one"), Pseudonyms::new(b"two"));
        for (secret, kind) in SECRETS.iter().filter(|(secret, _)| secret.len() > 6) {
            assert_ne!(one.of(secret, *kind), two.of(secret, *kind));
        }
    }

    #[test]
    fn the_alphabet_stays() {
        let names = Pseudonyms::new(b"key");
        let hex = names.of(b"0123456789abcdef0123456789abcdef", Kind::Token);
        assert!(hex.iter().all(|byte| HEX.contains(byte)));
        let upper = names.of(b"IOSFODNN7EXAMPLE", Kind::Token);
        assert!(upper.iter().all(|byte| UPPER.contains(byte) || DIGITS.contains(byte)));
        let card = names.of(b"4111 1111 1111 1111", Kind::Digits);
        assert!(card.starts_with(b"9999 ") && card[9] == b' ' && card[14] == b' ');
        assert!(names.of(b"jane@corp.example.net", Kind::Email).ends_with(b".net"));
    }

    #[test]
    fn a_pseudonym_looks_as_random_as_its_secret() {
        let is_mixed = |text: &[u8]| {
            text.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count() > 4
        };
        for number in 0..50 {
            let names = Pseudonyms::new(format!("key {number}").as_bytes());
            assert!(is_mixed(&names.like(b"q9w8e7r6t5y4u3i2", Kind::Password, is_mixed)), "{number}");
            assert!(!is_mixed(&names.like(b"other-k3y-4711", Kind::Password, is_mixed)), "{number}");
            assert_eq!(
                names.like(b"q9w8e7r6t5y4u3i2", Kind::Password, is_mixed),
                names.like(b"q9w8e7r6t5y4u3i2", Kind::Password, is_mixed)
            );
        }
    }

    #[test]
    fn the_beginning_of_a_pseudonym_is_recognised() {
        for text in ["reda", "redact", "redacted", "redactedQz1", "5ec2e75ec2e7", "REDACTE"] {
            assert!(is_pseudonym(text.as_bytes()), "{text}");
        }
        for text in ["red", "Reda", "redaction", "secret"] {
            assert!(!is_pseudonym(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn no_character_is_much_more_frequent_than_another() {
        let names = Pseudonyms::new(b"key");
        let mut counts = [0u32; 256];
        for number in 0..2000u32 {
            let made = names.of(format!("secret{number:020}z").as_bytes(), Kind::Password);
            made[8..].iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        }
        let used: Vec<u32> = counts.into_iter().filter(|count| *count > 0).collect();
        let (least, most) = (used.iter().min().unwrap(), used.iter().max().unwrap());
        assert!(used.len() == 36 && most - least < least / 2, "{used:?}");
    }
}
