//! Hides webhook secrets (`whsec_…`) in text that is displayed: the letters of the key become asterisks.
//!
//! The length stays, so that columns, offsets and JSON stay as they are. Pseudonyms of redaction are no secrets, and stay.

use std::borrow::Cow;
use std::io::{self, Write};

/// How a secret begins.
const BEGINNING: &[u8] = b"whsec_";
/// How the key of a pseudonym begins.
const PSEUDONYM: &[u8] = b"redacted";

/// Hides secrets in text that comes in pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mask {
    place: Place,
    /// Whether anything was hidden.
    has_hidden: bool,
}

/// Where the last piece ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Outside, after so many letters of [`BEGINNING`].
    Outside(usize),
    /// In a key that may be a pseudonym, after so many letters of [`PSEUDONYM`].
    MaybePseudonym(usize),
    /// In a pseudonym.
    Pseudonym,
    /// In a key.
    Key,
    /// In a key, after a backslash, which may escape a slash.
    Escape,
}

impl Default for Place {
    fn default() -> Self {
        Self::Outside(0)
    }
}

impl Mask {
    /// Returns whether anything was hidden so far.
    pub(crate) fn has_hidden(&self) -> bool {
        self.has_hidden
    }

    /// Returns whether a piece certainly has nothing to hide, and takes it.
    pub(crate) fn passes(&mut self, piece: &[u8]) -> bool {
        let passes = self.place == Place::Outside(0) && memchr::memmem::find(piece, BEGINNING).is_none();
        if passes {
            self.place = Place::Outside(ending(piece));
        }
        passes
    }

    /// Hides the secrets in a piece.
    pub(crate) fn hide(&mut self, piece: &mut [u8]) {
        let mut at = 0;
        while let Some(&byte) = piece.get(at) {
            if self.place == Place::Outside(0) {
                let Some(found) = memchr::memmem::find(&piece[at..], BEGINNING) else {
                    self.place = Place::Outside(ending(&piece[at..]));
                    return;
                };
                at += found + BEGINNING.len();
                self.place = Place::MaybePseudonym(0);
                continue;
            }
            let (place, is_hidden, is_taken) = step(self.place, byte);
            if is_hidden {
                piece[at] = b'*';
                self.has_hidden = true;
            }
            self.place = place;
            at += usize::from(is_taken);
        }
    }
}

/// Returns the place after a byte, whether the byte is hidden, and whether it belongs to what came before.
fn step(place: Place, byte: u8) -> (Place, bool, bool) {
    let is_key = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'*');
    match place {
        Place::Outside(matched) if BEGINNING.get(matched) == Some(&byte) => match matched + 1 {
            whole if whole == BEGINNING.len() => (Place::MaybePseudonym(0), false, true),
            more => (Place::Outside(more), false, true),
        },
        Place::Outside(_) => (Place::Outside(0), false, false),
        Place::MaybePseudonym(matched) if PSEUDONYM.get(matched) == Some(&byte) => match matched + 1 {
            whole if whole == PSEUDONYM.len() => (Place::Pseudonym, false, true),
            more => (Place::MaybePseudonym(more), false, true),
        },
        Place::Pseudonym if is_key => (Place::Pseudonym, false, true),
        Place::MaybePseudonym(_) | Place::Key if is_key => (Place::Key, true, true),
        // To hide a part of an escape would break the JSON.
        Place::Escape if byte == b'/' => (Place::Key, false, true),
        Place::MaybePseudonym(_) | Place::Key if byte == b'\\' => (Place::Escape, false, true),
        _ => (Place::Outside(0), false, false),
    }
}

/// A writer that hides secrets in what is written.
#[derive(Debug)]
pub(crate) struct MaskedWriter<W> {
    /// Where the text goes.
    pub to: W,
    /// What was hidden.
    pub mask: Mask,
}

impl<W: Write> MaskedWriter<W> {
    /// Creates a writer that has hidden nothing yet.
    pub(crate) fn new(to: W) -> Self {
        Self { to, mask: Mask::default() }
    }
}

impl<W: Write> Write for MaskedWriter<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.mask.passes(piece) {
            self.to.write_all(piece)?;
        } else {
            let mut piece = piece.to_vec();
            self.mask.hide(&mut piece);
            self.to.write_all(&piece)?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Returns how many letters of [`BEGINNING`] end the text.
fn ending(text: &[u8]) -> usize {
    (1..BEGINNING.len()).rev().find(|length| text.ends_with(&BEGINNING[..*length])).unwrap_or(0)
}

/// Returns a text with its secrets hidden.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let mut mask = Mask::default();
    if mask.passes(text.as_bytes()) {
        return text.into();
    }
    let mut bytes = text.as_bytes().to_vec();
    Mask::default().hide(&mut bytes);
    // ASCII replaces ASCII, so this is still text.
    String::from_utf8(bytes).map_or_else(|_| "*".repeat(text.len()).into(), Cow::Owned)
}

/// Returns bytes with the secrets in them hidden.
pub(crate) fn masked_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    if Mask::default().passes(bytes) {
        return bytes.into();
    }
    let mut owned = bytes.to_vec();
    Mask::default().hide(&mut owned);
    owned.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_hidden_to_their_end() {
        for (text, shown) in [
            (r#"{"secret":"whsec_MDEy+/=","x":1}"#, r#"{"secret":"whsec_*******","x":1}"#),
            (r#""whsec_ab\/cd" "whsec_x""#, r#""whsec_**\/**" "whsec_*""#),
            (r#""whsec_ab\ncd""#, r#""whsec_**\ncd""#),
            (r#""whsec_ab\"cd""#, r#""whsec_**\"cd""#),
            ("whwhsec_abc whsec_", "whwhsec_*** whsec_"),
            ("whsec_redactedX9 whsec_reda9", "whsec_redactedX9 whsec_reda*"),
            ("whsec_whsec_a.b", "whsec_*******.b"),
            ("no secret: whse c_x", "no secret: whse c_x"),
        ] {
            assert_eq!(masked(text), shown);
            assert_eq!(masked(&masked(text)), shown);
        }
    }

    proptest! {
        #[test]
        fn pieces_are_hidden_like_the_whole(text in r#"(whsec_|[a-c\\/" ]|redacted){0,12}"#, cuts in prop::collection::vec(0usize..80, 0..6)) {
            let mut mask = Mask::default();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let mut out = Vec::new();
            for range in cuts.windows(2) {
                let mut piece = text.as_bytes()[range[0]..range[1]].to_vec();
                if !mask.passes(&piece) {
                    mask.hide(&mut piece);
                }
                out.extend(piece);
            }
            prop_assert_eq!(String::from_utf8(out).expect("ASCII"), masked(&text).into_owned());
        }
    }
}
