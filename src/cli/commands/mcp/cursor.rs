//! Cursors: where the next page begins, and of which request. They are texts without a meaning for clients.

use super::answer::Problem;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Returns the cursor of the page that begins here. `request` is what the pages have in common.
pub(super) fn make(request: &impl Hash, at: &str) -> String {
    format!("{:08x}.{at}", digest(request))
}

/// Returns where a page begins.
///
/// # Errors
///
/// The cursor is of another request, or none at all.
pub(super) fn read<'a>(request: &impl Hash, cursor: &'a str) -> Result<&'a str, Problem> {
    let (of, at) = cursor.split_once('.').unwrap_or_default();
    if of != format!("{:08x}", digest(request)) {
        return Err(Problem::new("unknown cursor, or one of another request")
            .hint("pass a cursor with the same arguments as the request that returned it, or leave it out"));
    }
    Ok(at)
}

/// Returns the number at which a page begins; without a cursor, 0.
///
/// # Errors
///
/// As [`read`].
pub(super) fn number(request: &impl Hash, cursor: Option<&str>) -> Result<u64, Problem> {
    let Some(cursor) = cursor else { return Ok(0) };
    read(request, cursor)?.parse().map_err(|_| Problem::new("unknown cursor"))
}

fn digest(request: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    request.hash(&mut hasher);
    u32::try_from(hasher.finish() & u64::from(u32::MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_belongs_to_its_request() {
        let cursor = make(&("show", "a"), "17");
        assert_eq!(number(&("show", "a"), Some(&cursor)), Ok(17));
        assert_eq!(number(&("show", "a"), None), Ok(0));
        for wrong in [cursor.as_str(), "", "17", "00000000.17"] {
            assert!(number(&("show", "b"), Some(wrong)).is_err(), "{wrong}");
        }
        assert!(number(&("show", "a"), Some(&make(&("show", "a"), "x"))).is_err());
    }
}
