//! What a JSON text takes as a tree of values, found before one is built. In memory, a value takes many times its text, so
//! that a limit on the bytes of a message is not enough.

use super::json::{self, MAX_DEPTH};
use serde_json::Value;
use std::fmt;

/// The maximum number of bytes that the tree of a text takes. Whoever holds several trees at once, or needs more than a
/// [`Value`] for each value, gives each a part of it.
pub(crate) const MAX_BYTES: usize = 80 << 20;

/// A text has too many values to be read into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    /// The number of bytes that its tree was allowed to take.
    limit: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "it has too many values to be read into memory (more than {} MiB)", self.limit >> 20)
    }
}

impl std::error::Error for TooLarge {}

/// An item of an array.
const ITEM: usize = size_of::<Value>();
/// A member of an object: its hash, its name, and its value.
const MEMBER: usize = size_of::<(usize, String, Value)>();
/// A slot of the table with which an object finds its members.
const SLOT: usize = size_of::<usize>() + 1;
/// What a table has in addition to its slots.
const TABLE: usize = 32;
/// What the allocator needs in addition to the bytes of a string.
const STRING: usize = 32;
/// No byte of a text adds more than an array in an array: itself, and room for items.
const MAX_PER_BYTE: usize = 4 * ITEM + 1;

/// Checks that the tree of a text takes at most [`MAX_BYTES`].
///
/// # Errors
///
/// It takes more.
pub(crate) fn fits(text: &[u8]) -> Result<(), TooLarge> {
    fits_in(text, MAX_BYTES)
}

/// Checks that the tree of a text takes at most `limit` bytes.
///
/// # Errors
///
/// It takes more.
pub(crate) fn fits_in(text: &[u8], limit: usize) -> Result<(), TooLarge> {
    // Most messages are so short that nothing need be counted.
    let is_short = text.len() < limit / MAX_PER_BYTE;
    if is_short || bytes(text, limit) <= limit { Ok(()) } else { Err(TooLarge { limit }) }
}

/// What several trees may take together that are in memory at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limit: usize,
    left: usize,
}

impl Budget {
    /// A budget of this many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, left: limit }
    }

    /// Takes what the tree of a text takes.
    ///
    /// # Errors
    ///
    /// There is not as much left.
    pub(crate) fn take(&mut self, text: &[u8]) -> Result<(), TooLarge> {
        self.left = self.left.checked_sub(bytes(text, self.left)).ok_or(TooLarge { limit: self.limit })?;
        Ok(())
    }
}

/// An array or object that is not closed yet.
#[derive(Clone, Copy, Default)]
struct Open {
    is_object: bool,
    /// The number of its items or members.
    len: usize,
    /// The number for which it has room.
    room: usize,
}

impl Open {
    /// Counts another item or member. Returns what the room for it takes that was not there before.
    fn grow(&mut self) -> usize {
        self.len += 1;
        if self.len <= self.room {
            return 0;
        }
        let before = self.room;
        // As `Vec` and `IndexMap` grow.
        self.room = match (self.is_object, before) {
            (false, 0) => 4,
            (false, room) => 2 * room,
            (true, 0) => 3,
            (true, 3) => 7,
            (true, room) => 2 * room,
        };
        let added = self.room - before;
        match self.is_object {
            false => added * ITEM,
            // The table has at most twice as many slots as there is room.
            true => added * (MEMBER + 2 * SLOT) + if before == 0 { TABLE } else { 0 },
        }
    }
}

/// Returns how many bytes the tree of a text takes at most: its strings take no more than the text. The count ends above
/// `limit`. It needs no memory itself, and the text need not be valid.
fn bytes(text: &[u8], limit: usize) -> usize {
    let mut open = [Open::default(); MAX_DEPTH];
    let (mut depth, mut sum, mut at) = (0usize, ITEM + text.len(), 0);
    while let Some(byte) = text.get(at)
        && sum <= limit
    {
        at += 1;
        match byte {
            b'"' => {
                let end = json::skip_string(text, at).unwrap_or(text.len());
                sum += if end > at + 1 { STRING } else { 0 };
                at = end;
            }
            b'[' | b'{' => {
                let is_object = *byte == b'{';
                if let Some(inner) = open.get_mut(depth) {
                    *inner = Open { is_object, ..Open::default() };
                }
                depth += 1;
                if !is_object && text.get(json::skip_space(text, at)) != Some(&b']') {
                    sum += grow(&mut open, depth, false);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => sum += grow(&mut open, depth, false),
            b':' => sum += grow(&mut open, depth, true),
            _ => {}
        }
    }
    sum
}

/// Counts another item of the innermost array, or another member of the innermost object. What is nested deeper than a
/// tree can be counts as if each container grew alone.
fn grow(open: &mut [Open; MAX_DEPTH], depth: usize, is_member: bool) -> usize {
    match depth.checked_sub(1).map(|level| open.get_mut(level)) {
        Some(Some(inner)) if inner.is_object == is_member => inner.grow(),
        Some(None) if is_member => 3 * (MEMBER + 2 * SLOT) + TABLE,
        Some(None) => 4 * ITEM,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a tree takes, from a walk of it. Nothing says for how many members an object has room; it has room for as many as
    /// there are.
    fn taken(value: &Value) -> usize {
        match value {
            Value::String(text) => text.capacity(),
            Value::Array(items) => {
                (items.capacity() - items.len()) * ITEM + items.iter().map(|item| ITEM + taken(item)).sum::<usize>()
            }
            Value::Object(members) => {
                members.iter().map(|(name, inner)| MEMBER + SLOT + name.capacity() + taken(inner)).sum()
            }
            _ => 0,
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,40}".prop_map(Value::from),
            "[\"\\\\\\n,:\\[{]{0,9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 200, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
                prop::collection::btree_map("\\PC{0,9}", inner, 0..20)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_tree_takes_more_than_its_text_says(value in any_json(), is_pretty: bool) {
            let text = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text = text.expect("JSON");
            let read: Value = serde_json::from_str(&text).expect("JSON");
            let (most, real) = (bytes(text.as_bytes(), usize::MAX), ITEM + taken(&read));
            prop_assert!(most >= real, "{most} < {real}: {text}");
            // Most of what is too much is room of small objects, which the walk cannot see.
            let overhead = text.len() + (STRING + TABLE) * text.matches(['"', '{']).count();
            prop_assert!(most <= 4 * real + overhead, "{most} > 4 * {real} + {overhead}: {text}");
            prop_assert!(most <= ITEM + text.len() * MAX_PER_BYTE, "{most}: {text}");
        }

        #[test]
        fn any_text_is_counted(text in "[\\[\\]{}\",:\\\\ 0]{0,60}", limit in 0usize..9000) {
            let most = bytes(text.as_bytes(), usize::MAX);
            prop_assert!(most <= ITEM + text.len() * MAX_PER_BYTE, "{most}: {text}");
            prop_assert_eq!(fits_in(text.as_bytes(), limit).is_ok(), most <= limit, "{}", text);
        }
    }

    /// As many pieces between brackets as take `bytes` of text.
    fn many(piece: &str, bytes: usize) -> Vec<u8> {
        format!("[{}{piece}]", format!("{piece},").repeat(bytes / (piece.len() + 1))).into_bytes()
    }

    #[test]
    fn many_small_values_are_too_large_and_a_long_text_is_not() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        for piece in ["0", "[]", "{}", "[0]", "\"x\"", "{\"a\":0}", "{\"a\":{\"b\":[]}}", &deep] {
            assert!(fits(&many(piece, 5 << 20)).is_err(), "{piece}");
            assert!(fits(&many(piece, 100 << 10)).is_ok(), "{piece}");
        }
        let members: Vec<String> = (0..600_000).map(|at| format!("\"k{at}\":0")).collect();
        assert!(fits(format!("{{{}}}", members.join(",")).as_bytes()).is_err());
        assert!(fits(format!("{{{}}}", members[..100_000].join(",")).as_bytes()).is_ok());
        let nested = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
        assert!(fits(nested.as_bytes()).is_err(), "one array in another");
        for long in ["QUJD".repeat(5 << 20), "\\n".repeat(5 << 20), "[0,".repeat(3 << 20)] {
            assert!(fits(format!("{{\"data\":\"{long}\"}}").as_bytes()).is_ok());
        }
        let image = format!("\"{}\"", "x".repeat(64 << 20));
        assert!(fits(image.as_bytes()).is_ok() && fits_in(image.as_bytes(), 64 << 20).is_err());
        assert!(fits(&[b' '; 1 << 20]).is_ok());
        assert!(fits(&many("12345678901234567890123456789012345678901234567890", 10 << 20)).is_ok());
    }

    #[test]
    fn several_trees_share_a_budget() {
        let (text, mut budget) = (many("0", 100 << 10), Budget::new(12 << 20));
        assert_eq!([1, 2, 3].map(|_| budget.take(&text).is_ok()), [true, true, false]);
        assert!(budget.take(b"[]").is_ok());
    }

    #[test]
    fn the_reason_names_the_limit() {
        let error = fits_in(&many("0", 1 << 20), 32 << 20).expect_err("too large").to_string();
        assert_eq!(error, "it has too many values to be read into memory (more than 32 MiB)");
    }
}
