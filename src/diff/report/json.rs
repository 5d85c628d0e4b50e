//! The report as JSON, and changes from it.

use super::{Change, ChangeKind, Hunk, HunkLine, LineTag, Mapped, PlaceUse, Report, UnitDiff, UnitPlace, UnitSide};
use crate::wire::json;
use serde_json::{Value, json};

impl Report {
    /// Returns the report as one JSON object:
    ///
    /// ```text
    /// {"only_left":N, "only_right":N, "changed":N, "moved":N, "same":N, "learned":N, "volatile":VOLATILE,
    ///  "places":[{"option":"ignore|unordered", "place":TEXT, "used":BOOL}…], "units":[UNIT…]}
    /// VOLATILE: {"mapped":N, "kinds":{KIND:N…}, "values":[{"kind":KIND, "left":TEXT, "right":TEXT, "count":N}…]}
    /// UNIT:   {"status":"only_left|only_right|changed|moved", "kind":"request|notification|orphan|line|stderr",
    ///          "direction":"c2s|s2c", "method":TEXT|null, "subject":TEXT|null, "moved":BOOL,
    ///          "left":PLACE|null, "right":PLACE|null, "changes":[CHANGE…], "crossed_result":true,
    ///          "patch":[OPERATION…]}
    /// PLACE:  {"seq":N, "answer_seq":N|null, "time_ns":N, "latency_ns":N|null}
    /// CHANGE: {"side":"envelope|params|result|error|line", "place":POINTER, "pointer":POINTER,
    ///          "kind":"added|removed|changed|reordered", "label":TEXT, "left":ANY, "right":ANY, "alike":[N, N],
    ///          "hunks":[HUNK…]}
    /// HUNK:   {"left_line":N, "right_line":N, "lines":[["both|removed|added", TEXT, N]…]}
    /// ```
    ///
    /// `alike` is the length of the beginning of `left` and `right` that has only volatile differences, in bytes of their
    /// JSON texts; the number in a line is the same for its text.
    /// Absent values of `places`, `label`, `left`, `right`, `alike`, `hunks`, `crossed_result` and `patch`, and a number 0 in a line, are left out. A number that a double cannot represent in
    /// its notation is given as a string.
    ///
    /// `patch` is a JSON Patch (RFC 6902) for the object `{"params":…, "result":…, "error":…}` of the left side. It
    /// makes only the reported changes, and none for a different order.
    pub fn to_json(&self) -> Value {
        let mut value = json!({
            "only_left": self.only_left,
            "only_right": self.only_right,
            "changed": self.changed,
            "moved": self.moved,
            "same": self.same,
            "learned": self.learned,
            "volatile": self.mapped.to_json(),
            "units": self.units.iter().map(unit_json).collect::<Vec<_>>(),
        });
        if !self.places.is_empty() {
            let place = |one: &PlaceUse| json!({"option": one.option, "place": one.place, "used": one.is_used});
            value["places"] = self.places.iter().map(place).collect();
        }
        value
    }
}

impl Mapped {
    fn to_json(&self) -> Value {
        let kinds: serde_json::Map<_, _> =
            self.kinds.iter().map(|(kind, count)| (kind.name().to_owned(), Value::from(*count))).collect();
        let values = self.values.iter().map(
            |value| json!({"kind": value.kind.name(), "left": value.left, "right": value.right, "count": value.count}),
        );
        json!({"mapped": self.total(), "kinds": kinds, "values": values.collect::<Vec<_>>()})
    }
}

impl Change {
    /// Reads a change from its JSON in a report; `None` if it has another form.
    pub(crate) fn from_json(json: &Value) -> Option<Self> {
        let named = |member: &str| json[member].as_str();
        let text = |member: &str| json.get(member).map(Value::to_string);
        let place = named("place").unwrap_or_default().to_owned();
        let side = UnitSide::ALL.into_iter().find(|side| Some(side.name()) == named("side"))?;
        let kind = ChangeKind::ALL.into_iter().find(|kind| Some(kind.name()) == named("kind"))?;
        let (left, right, label) = (text("left"), text("right"), named("label").map(str::to_owned));
        let alike = [0, 1].map(|side| number(&json["alike"][side]));
        let hunks = json["hunks"].as_array().into_iter().flatten().map(Hunk::from_json).collect();
        let is_too_large = json["too_large"] == true;
        Some(Self { side, place, kind, left, right, alike, hunks, label, is_too_large })
    }
}

impl Hunk {
    fn from_json(json: &Value) -> Self {
        let line = |json: &Value| {
            let tag = LineTag::ALL.into_iter().find(|tag| json[0] == tag.name())?;
            Some(HunkLine { tag, text: json[1].as_str()?.to_owned(), alike: number(&json[2]) })
        };
        let lines = json["lines"].as_array().into_iter().flatten().filter_map(line).collect();
        Self { left_line: number(&json["left_line"]), right_line: number(&json["right_line"]), lines }
    }
}

fn number(json: &Value) -> usize {
    json.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
}

fn unit_json(unit: &UnitDiff) -> Value {
    let mut value = json!({
        "status": unit.status.name(),
        "kind": unit.kind.name(),
        "direction": unit.direction.short(),
        "method": unit.method,
        "subject": unit.subject,
        "moved": unit.moved,
        "left": unit.left.as_ref().map(place_json),
        "right": unit.right.as_ref().map(place_json),
        "changes": unit.changes.iter().map(change_json).collect::<Vec<_>>(),
    });
    if unit.crossed {
        value["crossed_result"] = true.into();
    }
    if !unit.patch.is_empty() {
        value["patch"] = unit.patch.clone().into();
    }
    value
}

fn place_json(place: &UnitPlace) -> Value {
    json!({
        "seq": place.seq,
        "answer_seq": place.answer_seq,
        "time_ns": place.time,
        "latency_ns": place.latency,
    })
}

fn change_json(change: &Change) -> Value {
    let mut value = json!({
        "side": change.side.name(),
        "place": change.place,
        "pointer": change.pointer(),
        "kind": change.kind.name(),
    });
    if let Some(label) = &change.label {
        value["label"] = label.as_str().into();
    }
    if let Some(text) = &change.left {
        value["left"] = parsed(text);
    }
    if let Some(text) = &change.right {
        value["right"] = parsed(text);
    }
    if change.alike != [0; 2] {
        value["alike"] = json!(change.alike);
    }
    if change.is_too_large {
        value["too_large"] = true.into();
    }
    if !change.hunks.is_empty() {
        value["hunks"] = change.hunks.iter().map(hunk_json).collect();
    }
    value
}

/// Returns the value of a JSON text; a number that a double cannot represent in its notation as a string.
pub(in crate::diff) fn parsed(text: &str) -> Value {
    match json::parsed(text.as_bytes()) {
        Some(Value::Number(number)) if number.to_string() != text => Value::from(text),
        Some(value) => value,
        None => Value::from(text),
    }
}

fn hunk_json(hunk: &Hunk) -> Value {
    let line = |line: &HunkLine| match line.alike {
        0 => json!([line.tag.name(), line.text]),
        alike => json!([line.tag.name(), line.text, alike]),
    };
    let lines: Vec<_> = hunk.lines.iter().map(line).collect();
    json!({"left_line": hunk.left_line, "right_line": hunk.right_line, "lines": lines})
}
