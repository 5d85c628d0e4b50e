//! Changes of a state as a JSON Patch (RFC 6902), as the results of a server's tools contain them (MCPL 0.4 §8.3).

use crate::wire::json;
use json_patch::PatchOperation;
use serde_json::{Number, Value};

/// Why a patch was not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PatchError {
    /// It is not a JSON Patch, or it does not fit the state.
    #[error("{0}")]
    Unfit(String),
    /// The state would become too large.
    #[error("the state would have more than {0} bytes")]
    TooLarge(usize),
}

/// How many times the permitted size a patch may copy and count in all.
const MAX_WORK: usize = 64;

/// Applies a patch, one operation at a time, to stop one that copies repeatedly before the state has more than
/// `max_bytes` bytes.
///
/// # Errors
/// Why it was not applied.
pub(super) fn apply(mut data: Value, patch: &Value, max_bytes: usize) -> Result<Value, PatchError> {
    let unfit = |error: &dyn ToString| PatchError::Unfit(error.to_string());
    let patch: json_patch::Patch = serde_json::from_value(patch.clone()).map_err(|error| unfit(&error))?;
    // At least the size of the data: it is counted again when it seems too large.
    let (mut bytes, mut work) = (size(&data), 0_usize);
    for operation in patch.0 {
        let more = growth(&data, &operation);
        let tested = match &operation {
            PatchOperation::Test(test) => {
                data.pointer(test.path.as_str()).filter(|found| json::same_by(found, &test.value, equal))
            }
            _ => None,
        };
        if tested.is_none() {
            json_patch::patch(&mut data, std::slice::from_ref(&operation)).map_err(|error| unfit(&error))?;
        }
        (bytes, work) = (bytes.saturating_add(more), work.saturating_add(more));
        if bytes > max_bytes {
            bytes = size(&data);
            work = work.saturating_add(bytes);
        }
        if bytes > max_bytes || work > max_bytes.saturating_mul(MAX_WORK) {
            return Err(PatchError::TooLarge(max_bytes));
        }
    }
    Ok(data)
}

/// Whether two numbers are numerically equal (RFC 6902 §4.6), such as 1 and 1.0. Integers are compared exactly.
fn equal(one: &Number, other: &Number) -> bool {
    one == other || one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64()
}

/// The number of bytes that an operation can add to the data.
fn growth(data: &Value, operation: &PatchOperation) -> usize {
    let name = |path: &str| path.len() + 4;
    match operation {
        PatchOperation::Add(add) => size(&add.value) + name(add.path.as_str()),
        PatchOperation::Replace(replace) => size(&replace.value),
        PatchOperation::Copy(copy) => data.pointer(copy.from.as_str()).map_or(0, size) + name(copy.path.as_str()),
        PatchOperation::Move(moved) => name(moved.path.as_str()),
        PatchOperation::Remove(_) | PatchOperation::Test(_) => 0,
    }
}

/// The size of a value as JSON, in bytes.
pub(super) fn size(data: &Value) -> usize {
    data.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn c29_a_patch_that_does_not_fit_or_grows_too_much_fails() {
        let add = json!([{"op": "add", "path": "/a/-", "value": 1}]);
        assert_eq!(apply(json!({"a": []}), &add, 100), Ok(json!({"a": [1]})));
        assert!(matches!(apply(json!({}), &add, 100), Err(PatchError::Unfit(_))));
        assert_eq!(apply(json!({"a": []}), &add, 8), Err(PatchError::TooLarge(8)));
        let copy = json!({"op": "copy", "from": "/a", "path": "/b"});
        let remove = json!({"op": "remove", "path": "/b"});
        let patch = |times: usize| Value::from(vec![vec![copy.clone(), remove.clone()]; times].concat());
        assert_eq!(apply(json!({"a": "0123456789"}), &patch(2), 40), Ok(json!({"a": "0123456789"})));
        assert_eq!(apply(json!({"a": "0123456789"}), &patch(1000), 40), Err(PatchError::TooLarge(40)));
    }
}
