//! Places in messages: JSON Pointers with globs, of all messages or of those with some method.

/// A JSON Pointer from the root of the message, in which `*` stands for any part of one name or index, and `**` for any
/// number of them: `/result/content/*/text`, `/result/**/updated_at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    parts: Vec<String>,
}

/// A place in all messages, or in those with some method, and about some tool, prompt or resource:
/// `[METHOD[:NAME]=]POINTER`, such as `tools/call:echo=/result/content/0/text`. In both, `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scoped {
    method: Option<String>,
    subject: Option<String>,
    pub(crate) pattern: Pattern,
}

impl Scoped {
    /// Parses a place.
    pub(crate) fn new(text: &str) -> Self {
        let (scope, pointer) = divided(text);
        let (method, subject) = match scope.map(|scope| scope.split_once(':').ok_or(scope)) {
            Some(Ok((method, subject))) => (Some(method), Some(subject)),
            Some(Err(method)) => (Some(method), None),
            None => (None, None),
        };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self { method: owned(method), subject: owned(subject), pattern: Pattern::new(pointer) }
    }

    /// Returns whether it is a place of messages with this method and subject.
    pub(crate) fn is_for(&self, method: Option<&str>, subject: Option<&str>) -> bool {
        let fits = |pattern: &Option<String>, name: Option<&str>| match pattern {
            None => true,
            Some(pattern) => name.is_some_and(|name| is_glob(pattern, name)),
        };
        fits(&self.method, method) && fits(&self.subject, subject)
    }
}

/// Divides a place into the messages and the pointer.
pub(crate) fn divided(text: &str) -> (Option<&str>, &str) {
    match text.find("=/").filter(|_| !text.starts_with('/')) {
        Some(at) => (Some(&text[..at]), &text[at + 1..]),
        None => (None, text),
    }
}

/// One step of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// The name of a member.
    Name(&'a str),
    /// The index of an item.
    Index(usize),
}

impl Pattern {
    /// Parses a pattern. The slash at the beginning may be missing.
    pub(crate) fn new(pointer: &str) -> Self {
        Self { parts: segments(pointer) }
    }

    /// Returns whether it names nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns whether it names one item of a list by its index.
    pub(crate) fn has_index(&self) -> bool {
        self.parts.iter().any(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Returns whether it names exactly this place.
    pub(crate) fn matches<'a>(&self, place: impl Iterator<Item = Step<'a>> + Clone) -> bool {
        is_match(&self.parts, place)
    }

    /// Returns whether it names this place, given as a JSON Pointer, or one above it.
    pub(crate) fn covers(&self, pointer: &str) -> bool {
        let steps = segments(pointer);
        (1..=steps.len()).any(|count| is_match(&self.parts, steps[..count].iter().map(|step| Step::Name(step))))
    }
}

fn is_match<'a>(parts: &[String], mut place: impl Iterator<Item = Step<'a>> + Clone) -> bool {
    match parts.split_first() {
        None => place.next().is_none(),
        Some((part, rest)) if part == "**" => {
            is_match(rest, place.clone()) || (place.next().is_some() && is_match(parts, place))
        }
        Some((part, rest)) => place.next().is_some_and(|step| step.fits(part)) && is_match(rest, place),
    }
}

impl Step<'_> {
    fn fits(self, part: &str) -> bool {
        match self {
            Self::Name(name) => is_glob(part, name),
            Self::Index(index) => part == "*" || part.parse() == Ok(index),
        }
    }
}

/// Returns whether a name fits a pattern in which `*` stands for any text.
fn is_glob(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.len() >= tail.len() && left.ends_with(tail)
}

/// Returns the segments of a JSON pointer, with escapes resolved.
fn segments(pointer: &str) -> Vec<String> {
    let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
    pointer.split('/').filter(|_| !pointer.is_empty()).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_places() {
        let covers = |pattern: &str, place: &str| Pattern::new(pattern).covers(place);
        assert!(covers("/result/content/*/text", "/result/content/0/text"));
        assert!(covers("/result/content/*/text", "/result/content/0/text/deeper"));
        assert!(!covers("/result/content/*/text", "/result/content/0/data"));
        assert!(covers("/result/**/updated_at", "/result/a/0/updated_at"));
        assert!(covers("/result/**/updated_at", "/result/updated_at"));
        assert!(covers("/result/x-*", "/result/x-trace") && !covers("/result/x-*", "/result/trace"));
        assert!(covers("/result/*-*d", "/result/a-id") && !covers("/result/*-*d", "/result/a-ip"));
        assert!(covers("result/k~1k", "/result/k~1k") && !covers("", "/result"));
        assert!(Pattern::new("/result/tools/3/x").has_index() && !Pattern::new("/result/*/x").has_index());
    }

    #[test]
    fn a_place_may_be_one_of_some_methods_and_tools() {
        let is_for = |text: &str, method: &str, subject: Option<&str>| Scoped::new(text).is_for(Some(method), subject);
        assert!(is_for("/result/x", "tools/call", None) && is_for("/a=/b", "ping", None));
        assert!(is_for("tools/*=/result/x", "tools/list", None) && !is_for("tools/*=/result/x", "ping", None));
        assert!(is_for("tools/call:e*o=/x", "tools/call", Some("echo")));
        assert!(!is_for("tools/call:echo=/x", "tools/call", Some("add")));
        assert!(!is_for("tools/call:echo=/x", "tools/call", None));
        assert!(is_for("resources/read:demo://x?a=1=/x", "resources/read", Some("demo://x?a=1")));
        assert_eq!(Scoped::new("tools/call:echo=/result/x").pattern, Pattern::new("/result/x"));
        assert_eq!(Scoped::new("/a=/b").pattern, Pattern::new("/a=/b"));
    }
}
