//! Remembers short texts without secrets. Most of a session's names and values are repeated in every message; they are
//! searched once.

use std::cell::RefCell;
use std::collections::HashSet;

/// The maximum length of a text with its name, in bytes.
const MAX_TEXT_BYTES: usize = 96;
/// The maximum number of texts; with it, all of them are forgotten.
const MAX_TEXTS: usize = 16 << 10;
/// What divides the name from the text; no UTF-8 has this byte.
const DIVIDER: u8 = 0xff;

/// Texts without secrets, each with the name that describes it.
#[derive(Default)]
pub(super) struct Clean {
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The name and the text that were asked for last.
    key: Vec<u8>,
    texts: HashSet<Vec<u8>, foldhash::fast::RandomState>,
}

impl Clean {
    /// Returns whether `search` finds nothing in a text. It is called if the text is not known to be clean.
    pub(super) fn is_clean(&self, name: Option<&str>, text: &[u8], search: impl FnOnce() -> bool) -> bool {
        let length = text.len() + name.map_or(0, str::len);
        if length >= MAX_TEXT_BYTES || text.contains(&DIVIDER) {
            return search();
        }
        if self.inner.borrow_mut().has(name, text) {
            return true;
        }
        let is_clean = search();
        if is_clean {
            self.inner.borrow_mut().add(name, text);
        }
        is_clean
    }

    /// Forgets all texts, because from now on more is a secret.
    pub(super) fn clear(&self) {
        self.inner.borrow_mut().texts.clear();
    }
}

impl Inner {
    fn set_key(&mut self, name: Option<&str>, text: &[u8]) {
        self.key.clear();
        if let Some(name) = name {
            self.key.extend_from_slice(name.as_bytes());
            self.key.push(DIVIDER);
        }
        self.key.extend_from_slice(text);
    }

    fn has(&mut self, name: Option<&str>, text: &[u8]) -> bool {
        self.set_key(name, text);
        self.texts.contains(&self.key)
    }

    /// Adds a text. The search may have asked for other texts, so the key is made again.
    fn add(&mut self, name: Option<&str>, text: &[u8]) {
        if self.texts.len() == MAX_TEXTS {
            self.texts.clear();
        }
        self.set_key(name, text);
        self.texts.insert(self.key.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_text_is_searched_once_under_each_name() {
        let clean = Clean::default();
        assert!(clean.is_clean(None, b"x", || true) && clean.is_clean(Some("token"), b"x", || true));
        assert!(clean.is_clean(None, b"x", || false), "it is known");
        assert!(!clean.is_clean(Some("password"), b"x", || false), "under this name, it is not");
        assert!(!clean.is_clean(Some("password"), b"x", || false), "what is a secret is not remembered");
        clean.clear();
        assert!(!clean.is_clean(None, b"x", || false));
    }

    #[test]
    fn names_and_texts_are_not_mixed_up_and_there_is_a_limit() {
        let clean = Clean::default();
        assert!(clean.is_clean(Some("a"), b"b", || true));
        assert!(!clean.is_clean(None, b"ab", || false) && !clean.is_clean(Some("ab"), b"", || false));
        assert!(!clean.is_clean(None, b"a\xffb", || false));
        for number in 0..2 * MAX_TEXTS {
            assert!(clean.is_clean(None, number.to_string().as_bytes(), || true));
            assert!(clean.inner.borrow().texts.len() <= MAX_TEXTS);
        }
        assert!(clean.is_clean(None, &[b'x'; MAX_TEXT_BYTES], || true));
        assert!(!clean.is_clean(None, &[b'x'; MAX_TEXT_BYTES], || false), "long texts are not remembered");
    }
}
