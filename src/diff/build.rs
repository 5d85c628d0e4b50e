//! What a payload becomes while it is parsed: a tree ([`Tree`]), or only a hash ([`Hashing`]), which is much faster.

use super::node::{Node, pieces};
use super::volatile::{Kind, Span, ValueKey};
use foldhash::quality::{FixedState, FoldHasher};
use std::borrow::Cow;
use std::hash::{BuildHasher, Hash, Hasher};

/// A value without parts; see [`Node`] for the meaning of each.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leaf<'t> {
    Null,
    Bool(bool),
    Number { text: &'t str, value: &'t str },
    Text(&'t str),
    Prose { text: &'t str, spans: &'t [Span] },
    Volatile { text: &'t str, kind: Kind, form: u8 },
    Reference(&'t str),
    Raw(&'t [u8]),
    TooLarge { bytes: usize, hash: u64 },
    Ignored,
}

/// Takes the values of a payload, inner ones first.
pub(super) trait Build {
    /// What a value becomes.
    type Out;

    /// Takes a value without parts.
    fn leaf(&mut self, leaf: Leaf<'_>) -> Self::Out;

    /// Takes an array.
    fn list(&mut self, items: Vec<Self::Out>) -> Self::Out;

    /// Takes an array whose order has no meaning, and the member that identifies an item.
    fn set(&mut self, items: Vec<Self::Out>, key: Option<&str>) -> Self::Out;

    /// Takes an object. Each name occurs once, unless all values are compared exactly.
    fn map(&mut self, members: Vec<(Cow<'_, str>, Self::Out)>) -> Self::Out;

    /// Takes a string that contains an object or an array in JSON, or a text with volatile parts in base64.
    fn json(&mut self, text: &str, inner: Self::Out) -> Self::Out;
}

/// Builds a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree;

impl Build for Tree {
    type Out = Node;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Node {
        match leaf {
            Leaf::Null => Node::Null,
            Leaf::Bool(value) => Node::Bool(value),
            Leaf::Number { text, value } => Node::Number { text: text.into(), value: value.into() },
            Leaf::Text(text) => Node::Text(text.into()),
            Leaf::Prose { text, spans } => Node::Prose { text: text.into(), spans: spans.into() },
            Leaf::Volatile { text, kind, form } => Node::Volatile { text: text.into(), kind, form },
            Leaf::Reference(text) => Node::Reference(text.into()),
            Leaf::Raw(bytes) => Node::Raw(bytes.into()),
            Leaf::TooLarge { bytes, hash } => Node::TooLarge { bytes, hash },
            Leaf::Ignored => Node::Ignored,
        }
    }

    fn list(&mut self, items: Vec<Node>) -> Node {
        Node::List(items)
    }

    fn set(&mut self, items: Vec<Node>, key: Option<&str>) -> Node {
        Node::Set { items, key: key.map(Into::into) }
    }

    fn map(&mut self, members: Vec<(Cow<'_, str>, Node)>) -> Node {
        Node::Map(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    fn json(&mut self, text: &str, inner: Node) -> Node {
        Node::Json { text: text.into(), inner: Box::new(inner) }
    }
}

/// The hash of a value. Volatile values are not part of it; they are listed, in the same order for values with the same
/// hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    pub hash: u64,
    pub values: Vec<ValueKey>,
}

/// Computes the hash that is the same for equal values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hashing {
    /// The order of members matters.
    is_ordered: bool,
    /// The texts of the volatile values, if they are wanted.
    pub(super) texts: Option<Vec<(ValueKey, Box<str>)>>,
}

/// What is hashed first, so that values of different types differ.
#[derive(Hash)]
enum Tag {
    Leaf(u8),
    List(usize),
    Set(usize),
    Map(usize),
    Json,
}

impl Hashing {
    /// Creates one for which the order of members matters or not.
    pub(crate) fn new(is_ordered: bool) -> Self {
        Self { is_ordered, texts: None }
    }

    /// Keeps the texts of volatile values.
    pub(super) fn with_texts(mut self, with_texts: bool) -> Self {
        self.texts = with_texts.then(Vec::new);
        self
    }

    fn value(&mut self, key: ValueKey, text: &str) -> ValueKey {
        if let Some(texts) = &mut self.texts {
            texts.push((key, text.into()));
        }
        key
    }
}

impl Build for Hashing {
    type Out = Digest;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Digest {
        let (mut hasher, mut values) = (hasher(), Vec::new());
        let tag = match leaf {
            Leaf::Null => 0,
            Leaf::Bool(_) => 1,
            Leaf::Number { .. } => 2,
            Leaf::Text(_) => 3,
            Leaf::Prose { .. } => 4,
            Leaf::Volatile { .. } => 5,
            Leaf::Reference(_) => 6,
            Leaf::Raw(_) => 7,
            Leaf::Ignored => 8,
            Leaf::TooLarge { .. } => 9,
        };
        Tag::Leaf(tag).hash(&mut hasher);
        match leaf {
            Leaf::Null | Leaf::Reference(_) | Leaf::Ignored => {}
            Leaf::Bool(value) => value.hash(&mut hasher),
            Leaf::Number { value: text, .. } | Leaf::Text(text) => text.hash(&mut hasher),
            Leaf::Raw(bytes) => bytes.hash(&mut hasher),
            Leaf::TooLarge { bytes, hash } => (bytes, hash).hash(&mut hasher),
            Leaf::Prose { text, spans } => {
                pieces(text, spans).iter().for_each(|piece| piece.hash(&mut hasher));
                values.extend(spans.iter().map(|span| self.value(span.key(text), span.of(text))));
            }
            Leaf::Volatile { text, kind, form } => {
                (kind, form).hash(&mut hasher);
                values.push(self.value(ValueKey::new(kind, text), text));
            }
        }
        Digest { hash: hasher.finish(), values }
    }

    fn list(&mut self, items: Vec<Digest>) -> Digest {
        combined(Tag::List(items.len()), items)
    }

    fn set(&mut self, mut items: Vec<Digest>, _: Option<&str>) -> Digest {
        items.sort_by_key(|item| item.hash);
        combined(Tag::Set(items.len()), items)
    }

    fn map(&mut self, mut members: Vec<(Cow<'_, str>, Digest)>) -> Digest {
        if !self.is_ordered {
            members.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        }
        let tag = Tag::Map(members.len());
        combined(tag, members.into_iter().map(|(name, value)| Digest { hash: hash_of(&(name, value.hash)), ..value }))
    }

    /// A string that contains JSON differs from that JSON, so that a change from one to the other is found.
    fn json(&mut self, _: &str, inner: Digest) -> Digest {
        combined(Tag::Json, [inner])
    }
}

/// Returns the digest of a value that has these parts, in order.
fn combined(tag: Tag, parts: impl IntoIterator<Item = Digest>) -> Digest {
    let (mut hasher, mut values) = (hasher(), Vec::new());
    tag.hash(&mut hasher);
    for part in parts {
        part.hash.hash(&mut hasher);
        if values.is_empty() { values = part.values } else { values.extend(part.values) }
    }
    Digest { hash: hasher.finish(), values }
}

/// Returns a hasher that gives the same hashes in every run.
fn hasher() -> FoldHasher<'static> {
    FixedState::default().build_hasher()
}

/// Returns the hash of a value, the same in every run.
pub(super) fn hash_of(what: &impl Hash) -> u64 {
    FixedState::default().hash_one(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_different_types_differ() {
        let mut by = Hashing::default();
        let one = by.leaf(Leaf::Text("1"));
        let leaves = [
            by.leaf(Leaf::Number { text: "1", value: "1" }),
            by.leaf(Leaf::Raw(b"1")),
            by.leaf(Leaf::Null),
            by.leaf(Leaf::Ignored),
            by.list(vec![one.clone()]),
            by.set(vec![one.clone()], None),
            by.map(vec![("1".into(), one.clone())]),
            by.json("1", one.clone()),
        ];
        let different: std::collections::HashSet<u64> = leaves.iter().map(|digest| digest.hash).collect();
        assert_eq!(different.len(), leaves.len());
        assert!(!different.contains(&one.hash));
    }

    #[test]
    fn only_the_order_that_matters_is_hashed() {
        let (mut by, mut strictly) = (Hashing::default(), Hashing::new(true));
        let (one, two) = (by.leaf(Leaf::Text("1")), by.leaf(Leaf::Text("2")));
        let map =
            |by: &mut Hashing, names: [&'static str; 2]| by.map(names.map(|name| (name.into(), one.clone())).into());
        assert_eq!(map(&mut by, ["a", "b"]), map(&mut by, ["b", "a"]));
        assert_ne!(map(&mut strictly, ["a", "b"]), map(&mut strictly, ["b", "a"]));
        assert_eq!(by.set(vec![one.clone(), two.clone()], None), by.set(vec![two.clone(), one.clone()], None));
        assert_ne!(by.list(vec![one.clone(), two.clone()]), by.list(vec![two, one]));
    }
}
