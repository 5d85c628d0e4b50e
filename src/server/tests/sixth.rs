//! A sixth proposal, defined in this file: the server supports it without any code of its own for it.

use super::*;
use crate::proposals::server::{Answer, Declaration, Firing, Granted, ServerCx, ServerSide, ToolCall, Unsent, success};
use crate::proposals::{CapabilityPlace, Descriptor, Observer, Proposal, Rule, Side, SummarizedMessage};
use crate::protocol::schema::SchemaSet;
use crate::protocol::{MethodKind, MethodSpec, Sender};

/// A proposal in which servers ring a bell. Hosts ask how often it rang, and are notified each time.
struct Bell;

static SCHEMAS: SchemaSet = SchemaSet::new(
    r#"{"$defs": {"fire:ring": {"type": "object", "required": ["times"],
        "properties": {"times": {"type": "integer", "minimum": 1, "description": "How often"}}}}}"#,
);

static DESCRIPTOR: Descriptor = Descriptor {
    name: "bell",
    title: "Bells",
    source: "this test",
    glossary: "",
    about: "The client wants bells.",
    texts: &[],
    errors: &[],
    methods: &[
        MethodSpec::proposed("bell/count", MethodKind::Request, Sender::Client, &[], "this test"),
        MethodSpec::proposed("bell/rung", MethodKind::Request, Sender::Server, &["times"], "this test"),
    ],
    dialects: &[],
    tools: &["polish"],
    places: &[CapabilityPlace::new(Side::Client, &["bell"], true)],
    schemas: &SCHEMAS,
};

impl Proposal for Bell {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn summarize(&self, _spoken: &SummarizedMessage<'_>, _out: &mut String) {}

    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn observer(&self) -> Box<dyn Observer> {
        unreachable!("nothing observes here")
    }

    fn server_side(&self) -> Option<Box<dyn ServerSide>> {
        Some(Box::<BellSide>::default())
    }
}

#[derive(Default)]
struct BellSide {
    rung: u64,
    /// When the bell was polished.
    polished: Option<Duration>,
}

impl ServerSide for BellSide {
    fn declare(&mut self, client: &Value) -> Vec<Declaration> {
        let declaration = Declaration { path: &["experimental", "bell"], value: json!({"loud": true}) };
        client.get("bell").map(|_| declaration).into_iter().collect()
    }

    fn fires(&self) -> &'static [Firing] {
        &[Firing { kind: "ring", method: "bell/rung", occurrence: None, time: None }]
    }

    fn fire(&mut self, _kind: &str, params: &Value, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        self.rung += params["times"].as_u64().unwrap_or(0);
        Ok(cx.ask("bell/rung", params, json!({"rung": self.rung})))
    }

    fn list_tools(&self, tools: &mut Vec<Value>) {
        tools.push(json!({"name": "polish", "inputSchema": {"type": "object"}}));
    }

    fn call(&mut self, call: &ToolCall<'_>, cx: &mut dyn ServerCx) -> Option<Answer> {
        (call.tool == "polish").then(|| {
            self.polished = Some(cx.now() + seconds(60));
            cx.remember("The bell was polished".to_owned(), "bell".to_owned());
            Ok(success("in a minute"))
        })
    }

    fn request(&mut self, method: &str, _params: &Value, _cx: &mut dyn ServerCx) -> Option<Answer> {
        (method == "bell/count").then(|| Ok(json!({"rung": self.rung})))
    }

    fn granted(&mut self, granted: &Granted<'_>, cx: &mut dyn ServerCx) -> bool {
        cx.report(json!({"report": "heard", "id": granted.id, "rung": granted.about["rung"],
            "heard": granted.result["heard"]}));
        true
    }

    fn next_timeout(&self, _cx: &dyn ServerCx) -> Option<Duration> {
        self.polished
    }

    fn handle_timeout(&mut self, cx: &mut dyn ServerCx) {
        self.polished = None;
        cx.report(json!({"report": "polished"}));
    }
}

fn bell(capabilities: &Value) -> (Host, Value) {
    let config = Config { declare: ["bell".to_owned()].into(), ..Config::default() };
    let mut host = Host::with(Server::with_proposals(config, &[&Bell]));
    let result = host.shake_hands("2025-11-25", capabilities);
    (host, result)
}

#[test]
fn it_is_declared_served_called_and_fired() {
    let (mut host, result) = bell(&json!({"bell": {}}));
    assert_eq!(result["capabilities"]["experimental"], json!({"bell": {"loud": true}}));

    let listed = host.request("tools/list", &json!({}))["result"]["tools"].clone();
    let tool = |name: &str| listed.as_array().expect("tools").iter().find(|tool| tool["name"] == name).expect(name);
    assert!(tool("polish").is_object());
    let emit = &tool("emit")["inputSchema"]["properties"];
    assert_eq!(emit["kind"]["enum"], json!(["ring", "log"]));
    assert_eq!(emit["times"]["description"], "ring: How often");
    assert_eq!(text(&host.tool("polish", &json!({}))), "in a minute");
    assert_eq!(host.reported(), &json!({"report": "remembered", "id": "mem_4", "source": "bell"}));
    host.pass(seconds(60));
    assert_eq!(host.reported(), &json!({"report": "polished"}));

    // Bypasses the test host's schema check, which asks the registry and does not know this proposal.
    let rung = host.server.fire(host.now, &Fired::new("ring", json!({"times": 2})));
    let Output::Send(request) = &rung[0] else { panic!("a request comes first: {rung:?}") };
    let request: Value = serde_json::from_slice(request).expect("JSON");
    assert_eq!((&request["method"], &request["params"]), (&json!("bell/rung"), &json!({"times": 2})));
    host.answer(&request["id"], &json!({"heard": true}));
    assert_eq!(host.reported(), &json!({"report": "heard", "id": 1, "rung": 2, "heard": true}));

    let counted = host.line(r#"{"jsonrpc":"2.0","id":"c","method":"bell/count"}"#);
    assert_eq!(counted[0]["result"], json!({"rung": 2}));
    assert!(host.fire(&json!({"kind": "ring", "times": 0})).is_empty());
    assert!(host.unsent()["fault"].as_str().is_some_and(|fault| fault.contains("times")));
}

#[test]
fn it_takes_no_part_where_it_declares_nothing() {
    let (mut host, result) = bell(&json!({}));
    assert!(result["capabilities"].get("experimental").is_none());
    assert_eq!(host.request("bell/count", &json!({}))["error"]["code"], -32601);
    assert_eq!(host.request("tools/call", &json!({"name": "polish"}))["error"]["code"], -32602);
    assert!(host.fire(&json!({"kind": "ring", "times": 1})).is_empty());
    assert_eq!(host.unsent(), &json!({"why": "not_declared", "proposal": "bell"}));
}
