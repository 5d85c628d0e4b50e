//! What a report says in addition once it is known which messages changed: the names of the things around each change,
//! and a JSON Patch for each message.

use super::normalise::is_comparable;
use super::recording::{Recording, Unit};
use super::report::{Change, ChangeKind, Report, Status, UnitDiff, UnitPlace, UnitSide, parsed};
use crate::wire::json;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// The members that name an item of a list.
const NAMES: &[&str] = &["name", "uri", "uriTemplate", "id"];

/// Completes the report with labels and patches. The left recording must have the texts of all units that changed, as
/// it has after a comparison.
pub(crate) fn complete(report: &mut Report, left: &Recording) {
    let mut units: HashMap<u64, Vec<&Unit>> = HashMap::new();
    for unit in &left.units {
        if unit.has_texts {
            units.entry(unit.seq).or_default().push(unit);
        }
    }
    for unit in report.units.iter_mut().filter(|unit| unit.status == Status::Changed) {
        let place = unit.left.as_ref().map(|place| place.seq);
        let found = place.and_then(|seq| units.get(&seq)).and_then(|all| all.iter().find(|it| is_same(it, unit)));
        if let Some(found) = found {
            complete_unit(unit, &document(found));
        }
    }
}

fn is_same(unit: &Unit, described: &UnitDiff) -> bool {
    let place = UnitPlace::of(unit);
    unit.kind == described.kind
        && unit.method.as_deref() == described.method.as_deref()
        && described.left.as_ref() == Some(&place)
}

fn complete_unit(unit: &mut UnitDiff, document: &Value) {
    for change in &mut unit.changes {
        change.label = label(document, change);
    }
    // A patch needs the values.
    if !unit.changes.iter().any(|change| change.is_too_large) {
        unit.patch = patch(document, &unit.changes);
    }
}

/// Returns the texts of a unit as one object.
fn document(unit: &Unit) -> Value {
    let mut whole = Map::new();
    let mut put = |name: &str, text: Option<&[u8]>| {
        if let Some(text) = text {
            let value = match json::check(text) {
                Ok(()) if is_comparable(text) => json::value_of(text),
                Ok(()) => Value::Null,
                Err(_) => String::from_utf8_lossy(text).into(),
            };
            whole.insert(name.to_owned(), value);
        }
    };
    put("params", unit.params.as_deref());
    put("line", unit.line.as_deref());
    if let Some(answer) = &unit.answer {
        put(answer.side().name(), Some(&answer.text));
    }
    Value::Object(whole)
}

fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

fn pointer(steps: &[String]) -> String {
    steps.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}

fn step_into<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

fn name_of(value: &Value) -> Option<String> {
    NAMES.iter().find_map(|name| match value.get(*name)? {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// Returns the name of the innermost list item around a change, or of the value itself if it is an item.
fn label(document: &Value, change: &Change) -> Option<String> {
    let steps = steps(&change.pointer());
    // The index of an added item is one of the right side.
    let (walked, own) = match change.kind {
        ChangeKind::Added => (&steps[..steps.len().saturating_sub(1)], change.right.as_deref().map(parsed)),
        _ => (&steps[..], None),
    };
    let is_item = |steps: &[String]| steps.last().is_some_and(|step| step.bytes().all(|byte| byte.is_ascii_digit()));
    let own = own.filter(|_| is_item(&steps)).as_ref().and_then(name_of);
    own.or_else(|| name_around(document, walked))
}

fn name_around(document: &Value, steps: &[String]) -> Option<String> {
    let (mut at, mut found) = (document.clone(), None);
    for step in steps {
        if let Value::String(text) = &at {
            at = json::parsed(text.as_bytes())?;
        }
        let is_list = at.is_array();
        let Some(next) = step_into(&at, step).cloned() else { return found };
        found = Some(&next).filter(|_| is_list).and_then(name_of).or(found);
        at = next;
    }
    found
}

/// One change as an operation on a document.
struct Operation {
    path: Vec<String>,
    kind: ChangeKind,
    value: Value,
}

impl Operation {
    /// The order in which operations must be done, since adding and removing items moves those behind them: inner
    /// places first; within a list, changes, then removals from the end, then additions from the start.
    fn order(&self) -> (Reverse<usize>, Vec<String>, u8, Reverse<usize>, usize) {
        let index = self.path.last().and_then(|step| step.parse().ok()).unwrap_or(0);
        let above = self.path[..self.path.len().saturating_sub(1)].to_vec();
        let (phase, from_end, from_start) = match self.kind {
            ChangeKind::Changed | ChangeKind::Reordered => (0, 0, 0),
            ChangeKind::Removed => (1, index, 0),
            ChangeKind::Added => (2, 0, index),
        };
        (Reverse(self.path.len()), above, phase, Reverse(from_end), from_start)
    }

    fn to_json(&self) -> Value {
        let path = pointer(&self.path);
        match self.kind {
            ChangeKind::Removed => json!({"op": "remove", "path": path}),
            ChangeKind::Added => json!({"op": "add", "path": path, "value": self.value}),
            ChangeKind::Changed | ChangeKind::Reordered => {
                json!({"op": "replace", "path": path, "value": self.value})
            }
        }
    }
}

/// Returns the JSON Patch that makes the changes in a document.
fn patch(document: &Value, changes: &[Change]) -> Vec<Value> {
    let is_content = |change: &&Change| {
        change.kind != ChangeKind::Reordered && ![UnitSide::Envelope, UnitSide::Response].contains(&change.side)
    };
    let operations = changes.iter().filter(is_content).map(|change| {
        let text = if change.kind == ChangeKind::Removed { &change.left } else { &change.right };
        let value = text.as_deref().map_or(Value::Null, parsed);
        Operation { path: steps(&change.pointer()), kind: change.kind, value }
    });
    in_order(document, operations.collect())
}

fn in_order(document: &Value, operations: Vec<Operation>) -> Vec<Value> {
    let (mut whole, mut inside): (Vec<Operation>, BTreeMap<Vec<String>, Vec<Operation>>) = Default::default();
    for operation in operations {
        match text_around(document, &operation.path) {
            None => whole.push(operation),
            Some(depth) => {
                let (text, rest) = operation.path.split_at(depth);
                let inner = Operation { path: rest.to_vec(), kind: operation.kind, value: operation.value };
                inside.entry(text.to_vec()).or_default().push(inner);
            }
        }
    }
    whole.extend(inside.into_iter().filter_map(|(path, inner)| rewritten_text(document, path, inner)));
    whole.sort_by_cached_key(Operation::order);
    whole.iter().map(Operation::to_json).collect()
}

/// Returns the number of steps to a string that has the rest of the path within it, as JSON.
fn text_around(document: &Value, path: &[String]) -> Option<usize> {
    let mut at = document;
    for (depth, step) in path.iter().enumerate() {
        if at.is_string() {
            return Some(depth);
        }
        at = step_into(at, step)?;
    }
    None
}

/// Returns the operation that replaces a string with JSON in it, with changes made in that JSON.
fn rewritten_text(document: &Value, path: Vec<String>, inner: Vec<Operation>) -> Option<Operation> {
    let text = path.iter().try_fold(document, |value, step| step_into(value, step))?.as_str()?;
    let mut value = json::parsed(text.as_bytes())?;
    let operations = in_order(&value, inner);
    let patch: json_patch::Patch = serde_json::from_value(operations.into()).ok()?;
    json_patch::patch(&mut value, &patch).ok()?;
    Some(Operation { path, kind: ChangeKind::Changed, value: value.to_string().into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::recorded;
    use crate::diff::{Options, compare};
    use proptest::prelude::*;

    fn call(result: &Value) -> Vec<String> {
        vec![
            r#"> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#.to_owned(),
            format!("< {}", json!({"jsonrpc": "2.0", "id": 1, "result": result})),
        ]
    }

    fn completed(left: &Value, right: &Value) -> Report {
        let options = Options { exact: true, ..Options::default() };
        let [left, right] = [left, right].map(|result| recorded(&call(result), &options));
        let mut report = compare(&left, &right, &options).expect("all texts");
        complete(&mut report, &left);
        report
    }

    fn patched(left: &Value, report: &Report) -> Value {
        let mut document = json!({"params": {"name": "t"}, "result": left});
        let operations = report.units.first().map(|unit| unit.patch.clone()).unwrap_or_default();
        let patch: json_patch::Patch = serde_json::from_value(operations.into()).expect("a patch");
        json_patch::patch(&mut document, &patch).expect("it applies");
        document["result"].take()
    }

    #[test]
    fn a_patch_makes_the_changes() {
        for (left, right) in [
            (json!({"a": 1, "b": 2}), json!({"a": 3, "c": {"d~/": 1}})),
            (json!({"l": [1, 2, 3, 4]}), json!({"l": [2, 5, 4, 6, 7]})),
            (json!({"l": [{"x": [1, 2]}, "a", "b"]}), json!({"l": [{"x": [2, 9]}, "b"]})),
            (json!({"t": "one\ntwo\n"}), json!({"t": "one\nthree\nfour"})),
            (json!({"t": "{\"a\":[1,2],\"b\":1}"}), json!({"t": "{\"a\":[2],\"b\":3}"})),
        ] {
            assert_eq!(patched(&left, &completed(&left, &right)), right);
        }
    }

    #[test]
    fn a_change_is_labelled_with_the_item_around_it() {
        let tool = |name: &str, about: &str| json!({"name": name, "description": about});
        let left = json!({"tools": [tool("a", "1"), tool("b", "2"), tool("c", "3")]});
        let right = json!({"tools": [tool("b", "9"), tool("c", "3"), tool("d", "4")]});
        let report = completed(&left, &right);
        let found: Vec<_> =
            report.units[0].changes.iter().map(|it| (it.pointer(), it.label.clone().unwrap_or_default())).collect();
        let labelled = |pointer: &str, label: &str| (pointer.to_owned(), label.to_owned());
        let expected = [
            labelled("/result/tools/0", "a"),
            labelled("/result/tools/1/description", "b"),
            labelled("/result/tools/2", "d"),
        ];
        assert_eq!(found, expected);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..9).prop_map(Value::from),
            "[a-c]{0,3}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-d]", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_patch_of_any_two_results_leads_from_one_to_the_other(left in any_json(), right in any_json()) {
            let (left, right) = (json!({"v": left}), json!({"v": right}));
            prop_assert_eq!(patched(&left, &completed(&left, &right)), right);
        }
    }
}
