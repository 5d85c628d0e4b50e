//! The verdicts of `validate` against those of the official JSON Schemas of MCP, revision by revision: messages of all
//! definitions, valid ones and mutated ones. `MCPREEL_MCP_SCHEMAS` names a folder with `schema-REVISION.json`, which are
//! not part of the repository.

use crate::common::{Stage, message};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN];
const MODERN: &str = "2026-07-28";
/// Messages of each kind of each method.
const EACH: usize = 60;
/// Sessions in a file: `validate` keeps a limited number of findings per rule.
const IN_A_FILE: usize = 300;

/// The schema of a revision, corrected where others than the schema say what counts. These are the only known reasons for
/// which verdicts differ:
///
/// - It says `integer` where the TypeScript source, from which it is made, says `number` (or `null`): values of forms, and
///   JSON values of 2026-07-28.
/// - 2025-06-18 and 2025-11-25: it accepts an invalid `enum`, such as one that is no array, as an unknown member of a
///   StringSchema; in 2025-11-25 also an invalid `oneOf`.
/// - 2026-07-28: the description of InputRequiredResult says that `inputRequests` or `requestState` MUST be present.
fn schema_of(folder: &str, revision: &str) -> Value {
    let text = std::fs::read_to_string(format!("{folder}/schema-{revision}.json")).expect("a schema");
    let mut schema: Value = serde_json::from_str(&text).expect("JSON");
    let defs = defs_name(&schema);
    if revision == MODERN {
        schema[defs]["JSONValue"]["anyOf"][2]["type"] = json!(["string", "number", "boolean", "null"]);
        let either = json!([{"required": ["inputRequests"]}, {"required": ["requestState"]}]);
        schema[defs]["InputRequiredResult"]["allOf"] = json!([{"anyOf": either}]);
    }
    if matches!(revision, "2025-06-18" | "2025-11-25") {
        schema[defs]["StringSchema"]["properties"]["enum"] = json!(false);
    }
    if revision == "2025-11-25" {
        schema[defs]["StringSchema"]["properties"]["oneOf"] = json!(false);
    }
    if let Some(result) = schema[defs].get_mut("ElicitResult") {
        let values = &mut result["properties"]["content"]["additionalProperties"];
        let plain = if values["anyOf"].is_array() { &mut values["anyOf"][1] } else { values };
        plain["type"] = json!(["string", "number", "boolean"]);
    }
    schema
}

fn defs_name(schema: &Value) -> &'static str {
    if schema["$defs"].is_object() { "$defs" } else { "definitions" }
}

/// Numbers that are always the same (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn any(&mut self) -> Value {
        let all = json!([null, true, 0, 7, 7.0, 7.5, -1, "", "x", [], {}, ["x"], {"a": 1}]);
        self.choose(all.as_array().expect("an array")).clone()
    }
}

/// Makes values that conform to definitions.
struct Maker<'a> {
    defs: &'a Map<String, Value>,
    dice: Dice,
}

impl Maker<'_> {
    fn make(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().expect("a name");
            return self.make(&self.defs[name].clone(), depth);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.dice.choose(values).clone();
        }
        if let Some(forms) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            let form = self.dice.choose(forms).clone();
            return self.make(&form, depth);
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => self.dice.choose(kinds).clone(),
            kind => kind.clone(),
        };
        match kind.as_str() {
            Some("object") => self.object(schema, depth),
            Some("array") => {
                let count = if depth < 6 { self.dice.below(3) } else { 0 };
                (0..count).map(|_| self.make(&schema["items"], depth + 1)).collect()
            }
            Some("string") if schema["format"] == "uri" => json!("file:///a"),
            Some("string") => json!(self.dice.choose(&["x", "aGk=", "2026-01-01T00:00:00Z"])),
            Some("integer") => self.dice.choose(&[json!(1), json!(7), json!(7.0)]).clone(),
            Some("number") => self.dice.choose(&[json!(0.5), json!(1)]).clone(),
            Some("boolean") => json!(self.dice.below(2) == 0),
            Some("null") => Value::Null,
            _ => self.dice.any(),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut made = Map::new();
        let is_required = |name: &str| {
            schema["required"].as_array().is_some_and(|required| required.iter().any(|other| other == name))
        };
        let members = schema["properties"].as_object().into_iter().flatten();
        for (name, member) in members.filter(|(_, member)| member.is_object()) {
            if is_required(name) || depth < 6 && self.dice.below(2) == 0 {
                // The schema of 2026-07-28 accepts any text; `era/unknown-result-type` knows which ones are defined.
                let is_type = name == "resultType" && member.get("const").is_none();
                let value = if is_type { json!("complete") } else { self.make(member, depth + 1) };
                made.insert(name.clone(), value);
            }
        }
        if schema["additionalProperties"].is_object() && depth < 6 && self.dice.below(5) < 2 {
            made.insert("k1".to_owned(), self.make(&schema["additionalProperties"], depth + 1));
        }
        Value::Object(made)
    }

    /// Changes one place of a message. The method stays, and so does what a response answers.
    fn mutate(&mut self, message: &mut Value) {
        let mut places = Vec::new();
        pointers(message, "", &mut places);
        let is_response = message["method"].is_null();
        places.retain(|place| place != "/method" && !(is_response && place == "/id"));
        if places.is_empty() {
            return;
        }
        let place = self.dice.choose(&places).clone();
        let (parent, name) = place.rsplit_once('/').expect("a pointer");
        let (how, value) = (self.dice.below(6), self.dice.any());
        let holder = message.pointer_mut(parent).expect("a place");
        match (how, &mut *holder) {
            (0, Value::Object(members)) => {
                members.remove(name);
            }
            (1, Value::Object(members)) => {
                let moved = members.remove(name).expect("a member");
                members.insert(format!("{name}X"), moved);
            }
            (0 | 1, Value::Array(items)) => {
                items.remove(name.parse().expect("an index"));
            }
            _ => {
                let target = message.pointer_mut(&place).expect("a place");
                match (how, &mut *target) {
                    (2, Value::Object(members)) => {
                        members.insert("unknownMember".to_owned(), value);
                    }
                    (2, Value::Array(items)) => items.push(value),
                    (3, _) => *target = json!([target.take()]),
                    _ => *target = value,
                }
            }
        }
    }
}

/// Collects the JSON Pointers of all places but the whole. No name has a `/` or a `~`.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            members.iter().filter(|(name, _)| !name.contains('/')).map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => return,
    };
    for (name, member) in members {
        let place = format!("{at}/{name}");
        pointers(member, &place, all);
        all.push(place);
    }
}

/// What a message is an example of.
struct Form {
    /// The name of the definition of the request or notification, or of the error.
    definition: String,
    /// The direction of the message.
    direction: &'static str,
    method: String,
    is_result: bool,
}

/// One official schema.
struct Oracle<'a> {
    revision: &'static str,
    schema: &'a Value,
    defs: &'a Map<String, Value>,
    validators: BTreeMap<String, jsonschema::Validator>,
}

/// A message, the definition that judges it, and its verdict.
struct Sample {
    /// What comes before it in its session, with directions.
    before: Vec<(&'static str, Value)>,
    direction: &'static str,
    message: Value,
    judge: String,
    is_valid: bool,
}

impl<'a> Oracle<'a> {
    fn new(revision: &'static str, schema: &'a Value) -> Self {
        let defs = schema[defs_name(schema)].as_object().expect("definitions");
        Self { revision, schema, defs, validators: BTreeMap::new() }
    }

    fn has(&self, name: &str) -> bool {
        self.defs.contains_key(name)
    }

    /// All requests, notifications and results, by the unions of what each side sends; and errors.
    fn forms(&self) -> Vec<Form> {
        let mut forms = Vec::new();
        for (union, direction) in [
            ("ClientRequest", "c2s"),
            ("ClientNotification", "c2s"),
            ("ServerRequest", "s2c"),
            ("ServerNotification", "s2c"),
        ] {
            let Some(union) = self.defs.get(union) else { continue };
            for reference in union["anyOf"].as_array().unwrap_or(&vec![union.clone()]) {
                let Some(name) = reference["$ref"].as_str().and_then(|name| name.rsplit('/').next()) else { continue };
                let Some(method) = self.defs[name]["properties"]["method"]["const"].as_str() else { continue };
                for is_result in [false, true].into_iter().take(if name.ends_with("Request") { 2 } else { 1 }) {
                    let (definition, method) = (name.to_owned(), method.to_owned());
                    forms.push(Form { definition, direction, method, is_result });
                }
            }
        }
        let error = if self.has("JSONRPCError") { "JSONRPCError" } else { "JSONRPCErrorResponse" };
        let (definition, method) = (error.to_owned(), "tools/list".to_owned());
        forms.push(Form { definition, direction: "c2s", method, is_result: true });
        forms
    }

    /// The definition of a result, by the name of its request.
    fn result(&self, request: &str) -> String {
        let name = format!("{}Result", request.trim_end_matches("Request"));
        if self.has(&name) { name } else { "EmptyResult".to_owned() }
    }

    fn may_require_input(&self, request: &str) -> bool {
        let response = format!("{}ResultResponse", request.trim_end_matches("Request"));
        self.defs.get(&response).is_some_and(|response| response.to_string().contains("InputRequiredResult"))
    }

    /// Returns whether a message conforms to a definition and to its envelope.
    fn accepts(&mut self, judge: &str, message: &Value) -> bool {
        let (schema, defs, modern_names) = (self.schema, defs_name(self.schema), self.has("JSONRPCResultResponse"));
        let validator = self.validators.entry(judge.to_owned()).or_insert_with(|| {
            let reference = |name: &str| json!({"$ref": format!("#/{defs}/{name}")});
            let parts = match judge {
                _ if judge.starts_with("JSONRPC") => json!([reference(judge)]),
                _ if judge.ends_with("Request") => json!([reference("JSONRPCRequest"), reference(judge)]),
                _ if judge.ends_with("Notification") => json!([reference("JSONRPCNotification"), reference(judge)]),
                _ => {
                    let response = if modern_names { "JSONRPCResultResponse" } else { "JSONRPCResponse" };
                    json!([reference(response), {"properties": {"result": reference(judge)}}])
                }
            };
            let root = json!({"$schema": schema["$schema"], "allOf": parts, defs: schema[defs]});
            jsonschema::options().should_validate_formats(false).build(&root).expect("a schema")
        });
        validator.is_valid(message)
    }

    fn sample(&mut self, form: &Form, maker: &mut Maker<'_>) -> Sample {
        let is_error = form.definition.starts_with("JSONRPC");
        let mut before = self.beginning(&form.method);
        let mut judge = form.definition.clone();
        let mut message = if form.is_result {
            let request = if is_error { json!({}) } else { maker.make(&self.defs[&form.definition].clone(), 0) };
            before.push((form.direction, self.asked(request, &form.method)));
            match is_error {
                true => maker.make(&self.defs[&form.definition].clone(), 0),
                false => json!({"result": self.make_result(&form.definition, maker)}),
            }
        } else {
            maker.make(&self.defs[&form.definition].clone(), 0)
        };
        message["jsonrpc"] = json!("2.0");
        if form.is_result || form.definition.ends_with("Request") {
            message["id"] = json!(1);
        }
        (0..*maker.dice.choose(&[0, 1, 1, 2])).for_each(|_| maker.mutate(&mut message));
        if form.is_result && !is_error {
            // The schema accepts any text; `era/unknown-result-type` knows which ones are defined.
            if let Some(kind) = message.pointer_mut("/result/resultType")
                && kind.as_str().is_some_and(|kind| kind != "input_required")
            {
                *kind = json!("complete");
            }
            let requires = message["result"]["resultType"] == "input_required";
            let may = requires && self.may_require_input(&form.definition);
            judge = if may { "InputRequiredResult".to_owned() } else { self.result(&form.definition) };
        }
        let direction = match (form.is_result, form.direction) {
            (true, "c2s") | (false, "s2c") => "s2c",
            _ => "c2s",
        };
        let is_valid = self.accepts(&judge, &message);
        Sample { before, direction, message, judge, is_valid }
    }

    fn make_result(&self, request: &str, maker: &mut Maker<'_>) -> Value {
        if self.may_require_input(request) && maker.dice.below(3) == 0 {
            let mut result = maker.make(&self.defs["InputRequiredResult"].clone(), 0);
            result["resultType"] = json!("input_required");
            return result;
        }
        maker.make(&self.defs[&self.result(request)].clone(), 0)
    }

    /// The request that a result answers.
    fn asked(&self, mut request: Value, method: &str) -> Value {
        request["jsonrpc"] = json!("2.0");
        request["id"] = json!(1);
        request["method"] = json!(method);
        if self.revision == MODERN {
            request["params"]["_meta"] = modern_meta();
        } else if method == "initialize" {
            request["params"]["protocolVersion"] = json!(self.revision);
        }
        request
    }

    /// The messages before: the handshake, or a pending request of the modern era.
    fn beginning(&self, method: &str) -> Vec<(&'static str, Value)> {
        let info = json!({"name": "n", "version": "1"});
        if self.revision == MODERN {
            let params = json!({"_meta": modern_meta(), "notifications": {}});
            return vec![(
                "c2s",
                json!({"jsonrpc": "2.0", "id": "h", "method": "subscriptions/listen", "params": params}),
            )];
        }
        if method == "initialize" {
            return Vec::new();
        }
        let client = json!({"protocolVersion": self.revision, "capabilities": {}, "clientInfo": info});
        let server = json!({"protocolVersion": self.revision, "capabilities": {}, "serverInfo": info});
        vec![
            ("c2s", json!({"jsonrpc": "2.0", "id": "h", "method": "initialize", "params": client})),
            ("s2c", json!({"jsonrpc": "2.0", "id": "h", "result": server})),
            ("c2s", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        ]
    }
}

fn modern_meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}})
}

/// Returns whether a finding means that the message does not conform to its definition.
fn rejects(finding: &Value) -> bool {
    let rule = finding["rule"].as_str().expect("a rule");
    let is_about_form = rule.starts_with("schema/") || rule.starts_with("envelope/") || rule == "method/kind";
    is_about_form && finding["severity"] == "error"
        // A result without `resultType` may come from a server of an earlier revision.
        || rule == "era/legacy-answer"
}

/// The samples that `validate` rejects, by their numbers.
fn rejected(stage: &Stage, samples: &[Sample]) -> BTreeSet<usize> {
    let (mut events, mut numbers) = (Vec::new(), BTreeMap::new());
    for (stream, sample) in samples.iter().enumerate() {
        let last = (sample.direction, &sample.message);
        for (direction, text) in sample.before.iter().map(|(direction, text)| (*direction, text)).chain([last]) {
            numbers.insert(events.len() as u64, stream);
            let mut event = message(events.len() as u64, direction, text.clone());
            event["stream"] = json!(stream);
            events.push(event);
        }
        numbers.retain(|at, other| *other != stream || *at == events.len() as u64 - 1);
    }
    let _ = std::fs::remove_file(stage.path("samples.reel"));
    stage.reel("samples.reel", &events);
    let report = stage.run(&["validate", "samples.reel", "-f", "json"], "").json();
    assert_eq!(report["notKept"], json!({}), "too many findings in a file");
    let findings = report["findings"].as_array().expect("findings").iter().filter(|finding| rejects(finding));
    findings.filter_map(|finding| numbers.get(&finding["seq"].as_u64()?).copied()).collect()
}

#[test]
#[ignore = "needs the official JSON Schemas of MCP: set MCPREEL_MCP_SCHEMAS to their folder"]
fn verdicts_are_those_of_the_official_schemas() {
    let folder = std::env::var("MCPREEL_MCP_SCHEMAS").expect("MCPREEL_MCP_SCHEMAS is set");
    let stage = Stage::new();
    for revision in REVISIONS {
        let schema = schema_of(&folder, revision);
        let mut oracle = Oracle::new(revision, &schema);
        let mut maker = Maker { defs: oracle.defs, dice: Dice(0x9e37_79b9_7f4a_7c15) };
        let mut samples = Vec::new();
        for form in oracle.forms() {
            samples.extend((0..EACH).map(|_| oracle.sample(&form, &mut maker)));
        }
        let valid = samples.iter().filter(|sample| sample.is_valid).count();
        assert!(
            samples.len() > 1500 && valid * 5 > samples.len() && valid * 5 < samples.len() * 4,
            "{revision}: {valid}"
        );
        let mut differing = Vec::new();
        for file in samples.chunks(IN_A_FILE) {
            let rejected = rejected(&stage, file);
            for (_, sample) in file.iter().enumerate().filter(|(at, it)| it.is_valid == rejected.contains(at)) {
                let (judge, verdict) = (&sample.judge, if sample.is_valid { "accepts" } else { "refuses" });
                differing.push(format!("{judge} {verdict} {}", sample.message));
            }
        }
        let agreed = samples.len() - differing.len();
        #[expect(clippy::print_stderr, reason = "the figures are what the run is for")]
        {
            eprintln!("{revision}: {agreed} of {} messages are judged alike", samples.len());
        }
        assert!(differing.len() * 1000 <= samples.len(), "{revision}: {} messages: {differing:#?}", samples.len());
    }
}
