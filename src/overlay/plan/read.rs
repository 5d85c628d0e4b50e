//! Turns an overlay document into a checked plan with compiled patterns. Every error gives a line.

use super::super::format::{
    AnswerPart, Document, HookPart, MessagePart, ResultPart, RulePart, TestPart, WayPart, WhenPart,
};
use super::super::template;
use super::{
    AnswerTool, CONVERSATION, HOOKS, HookTool, MessageTest, Plan, ResultTest, Rule, Test, Want, When, proposal_of,
};
use crate::proposals::policy::regex_error;
use crate::proposals::{REGISTRY, by_name};
use crate::scenario::{Placed, ScenarioError, TextPosition};
use crate::server::Fired;
use crate::wire::Direction;
use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The kinds of messages that rules can send.
const KINDS: [&str; 3] = ["reminder", "push", "event"];
/// The feature set of pushed events that name none.
const PUSH_SET: &str = "overlay.push";

impl Plan {
    /// Reads an overlay from YAML; `values` override its own of the same names.
    ///
    /// # Errors
    ///
    /// The first mistake, in form or meaning.
    pub fn read(text: &str, values: &[(String, String)]) -> Result<Self, ScenarioError> {
        let options = serde_saphyr::options! { strict_booleans: true };
        let document: Document = serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| ScenarioError::from_yaml(text, &error))?;
        let mut known = document.values.clone();
        known.extend(values.iter().map(|(name, value)| (name.clone(), value.clone().into())));
        let plan = Self { name: document.name.clone(), ..Self::default() };
        Reader { text, values: Value::Object(known), plan }.read(document)
    }
}

type Result<T, E = ScenarioError> = std::result::Result<T, E>;

struct Reader<'a> {
    text: &'a str,
    values: Value,
    plan: Plan,
}

impl Reader<'_> {
    fn wrong(&self, place: TextPosition, why: impl Into<String>) -> ScenarioError {
        ScenarioError::new(self.text, place, why)
    }

    fn read(mut self, document: Document) -> Result<Plan> {
        let mut declarations = Vec::new();
        for Placed { value, place } in document.hooks {
            declarations.push(self.hook(value, place)?);
        }
        for Placed { value, place } in document.conversation {
            let answering = self.answering(value, place)?;
            self.plan.conversation.push(answering);
        }
        let mut places = Vec::new();
        for Placed { value, place } in document.rules {
            places.push(value.fire.place);
            let rule = self.rule(value, place)?;
            self.plan.rules.push(rule);
        }
        self.proposals(!declarations.is_empty());
        self.settings(&declarations, document.settings)?;
        self.check_rules(&places)?;
        Ok(self.plan)
    }

    fn hook(&mut self, part: HookPart, place: TextPosition) -> Result<Value> {
        let HookPart { event, matcher, priority, context, context_tool, context_tool_args, answer } = part;
        let mut hook = Map::new();
        let mut put = |name: &str, value: Option<Value>| drop(value.map(|value| hook.insert(name.to_owned(), value)));
        put("event", Some(event.into()));
        put("matcher", matcher.map(Value::Object));
        put("context", context.map(Value::String));
        if let Some(tool) = &context_tool {
            self.plan.named.push((tool.clone(), place.line));
        }
        put("context_tool", context_tool.map(Value::String));
        put("context_tool_args", context_tool_args.map(Value::Object));
        if let Some(answer) = answer {
            let answering = self.answering(answer, place)?;
            let name = format!("hook_{}", self.plan.tools.len() + 1);
            put("context_tool", Some(name.clone().into()));
            put("context_tool_args", Some(answering.arguments.clone()));
            self.plan.tools.push(HookTool { name, answering });
        }
        put("priority", Some(priority.into()));
        let hook = template::fill(&Value::Object(hook), &self.values);
        let given = [&hook["context"], &hook["context_tool"]];
        if given.iter().filter(|given| !given.is_null()).count() != 1 {
            return Err(self.wrong(place, "a hook needs exactly one of context, context_tool and answer"));
        }
        if hook["context_tool"].is_null() && !hook["context_tool_args"].is_null() {
            return Err(self.wrong(place, "context_tool_args needs context_tool"));
        }
        let schemas = by_name(HOOKS).map(|proposal| proposal.descriptor().schemas);
        let violations =
            schemas.and_then(|schemas| schemas.check("capability:server", &json!({"declarations": [hook]})));
        match violations.unwrap_or_default().first() {
            Some(violation) => Err(self.wrong(place, format!("invalid hook: {violation}"))),
            None => Ok(hook),
        }
    }

    fn answering(&mut self, part: AnswerPart, place: TextPosition) -> Result<AnswerTool> {
        let AnswerPart { tool, arguments, text, unless } = part;
        self.plan.named.push((tool.clone(), place.line));
        let unless = unless.map(|test| self.test(test, place)).transpose()?;
        let arguments = template::fill(&Value::Object(arguments), &self.values);
        Ok(AnswerTool { tool, arguments, text: template::fill_text(&text, &self.values), unless })
    }

    fn rule(&self, part: RulePart, place: TextPosition) -> Result<Rule> {
        let RulePart { when, times, cooldown, fire } = part;
        let when = self.when(when, place)?;
        let fired = Fired::deserialize(&fire.value)
            .map_err(|_| "expected an object with a kind: reminder, push or event".to_owned())
            .and_then(|fired| fired.check().map(|()| fired));
        let fired = fired.map_err(|why| self.wrong(fire.place, format!("invalid message: {why}")))?;
        if !KINDS.contains(&fired.kind()) {
            let why = format!("an overlay can send {}, but not {:?}", KINDS.join(", "), fired.kind());
            return Err(self.wrong(fire.place, why));
        }
        let mut fire = template::fill(&fire.value, &self.values);
        if fired.kind() == "push" && fire.get("featureSet").is_none() {
            fire["featureSet"] = PUSH_SET.into();
        }
        let cooldown = cooldown.map_or(Duration::ZERO, |span| span.0);
        Ok(Rule { when, times: times.unwrap_or(u64::MAX), cooldown, fire, line: place.line })
    }

    fn when(&self, part: WhenPart, place: TextPosition) -> Result<When> {
        let WhenPart { message, result, after, every, file, resource } = part;
        let every = match every {
            Some(every) if every.0.is_zero() => return Err(self.wrong(place, "every: expected a time above zero")),
            every => every.map(|every| Ok(When::Time(every.0, true))),
        };
        let found = [
            message.map(|part| self.message(part, place)),
            result.map(|part| self.result(part, place)),
            after.map(|after| Ok(When::Time(after.0, false))),
            every,
            file.map(|file| {
                let file = template::fill_text(&file, &self.values);
                let file = file.strip_prefix("./").unwrap_or(&file).to_owned();
                Ok(When::File(file.clone(), self.glob(&file, true, place)?))
            }),
            resource
                .map(|uri| template::fill_text(&uri, &self.values))
                .map(|uri| Ok(When::Resource(uri.clone(), self.glob(&uri, false, place)?))),
        ];
        let mut found = found.into_iter().flatten();
        match (found.next(), found.next()) {
            (Some(when), None) => when,
            _ => {
                let why = "when: expected exactly one of message, result, after, every, file and resource";
                Err(self.wrong(place, why))
            }
        }
    }

    fn message(&self, part: MessagePart, place: TextPosition) -> Result<When> {
        let MessagePart { method, direction, tool, matches } = part;
        Ok(When::Message(MessageTest {
            method: self.glob(&method, false, place)?,
            direction: direction.map(|way| match way {
                WayPart::C2s => Direction::ClientToServer,
                WayPart::S2c => Direction::ServerToClient,
            }),
            tool: tool.map(|tool| self.glob(&tool, false, place)).transpose()?,
            test: matches.map(|test| self.test(test, place)).transpose()?,
        }))
    }

    fn result(&self, part: ResultPart, place: TextPosition) -> Result<When> {
        let ResultPart { method, tool, matches } = part;
        Ok(When::Result(ResultTest {
            method: self.glob(&method, false, place)?,
            tool: tool.map(|tool| self.glob(&tool, false, place)).transpose()?,
            test: matches.map(|test| self.test(test, place)).transpose()?,
        }))
    }

    fn test(&self, part: TestPart, place: TextPosition) -> Result<Test> {
        let TestPart { pointer, equals, regex, glob } = part;
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(self.wrong(place, format!("invalid JSON Pointer {pointer:?}: it must begin with a slash")));
        }
        let want = match (equals, regex, glob) {
            (Some(value), None, None) => Want::Equal(value),
            (None, Some(regex), None) => {
                let regex = Regex::new(&regex);
                Want::Regex(regex.map_err(|error| self.wrong(place, format!("regex: {}", regex_error(&error))))?)
            }
            (None, None, Some(glob)) => Want::Glob(self.glob(&glob, false, place)?),
            _ => return Err(self.wrong(place, "a test needs exactly one of equals, regex and glob")),
        };
        Ok(Test { pointer, want })
    }

    fn glob(&self, pattern: &str, by_folders: bool, place: TextPosition) -> Result<GlobMatcher> {
        let glob = GlobBuilder::new(pattern).literal_separator(by_folders).build();
        let wrong = |error: globset::Error| self.wrong(place, format!("invalid pattern {pattern:?}: {}", error.kind()));
        Ok(glob.map_err(wrong)?.compile_matcher())
    }

    /// Finds the proposals that the overlay uses.
    fn proposals(&mut self, has_hooks: bool) {
        let fires = |proposal: &str| {
            self.plan.rules.iter().any(|rule| rule.fire["kind"].as_str().and_then(proposal_of) == Some(proposal))
        };
        let is_meant = |proposal: &&str| match *proposal {
            HOOKS => has_hooks,
            CONVERSATION => !self.plan.conversation.is_empty(),
            proposal => fires(proposal),
        };
        self.plan.proposals = REGISTRY.iter().map(|proposal| proposal.descriptor().name).filter(is_meant).collect();
    }

    fn settings(&mut self, declarations: &[Value], given: Option<Placed<Value>>) -> Result<()> {
        let pushes = self.plan.rules.iter().filter(|rule| rule.fire["kind"] == "push");
        let mut sets: Vec<Value> = pushes.map(|rule| rule.fire["featureSet"].clone()).collect();
        sets.dedup();
        let place = given.as_ref().map(|given| given.place).unwrap_or_default();
        let given = given.map_or_else(|| json!({}), |given| given.value);
        let Value::Object(given) = given else {
            return Err(self.wrong(place, "settings: expected an object with a member per proposal"));
        };
        self.plan.settings = given.into_iter().collect();
        if let Some(other) = self.plan.settings.keys().find(|proposal| by_name(proposal).is_none()) {
            let known: Vec<_> = REGISTRY.iter().map(|proposal| proposal.descriptor().name).collect();
            let why = format!("settings: unknown proposal {other:?}; known proposals: {}", known.join(", "));
            return Err(self.wrong(place, why));
        }
        if !declarations.is_empty() {
            self.plan.settings.insert(HOOKS.to_owned(), json!({"declarations": declarations}));
        }
        if let Some(proposal) = proposal_of("push").filter(|_| !sets.is_empty()) {
            let settings = self.plan.settings.entry(proposal.to_owned()).or_insert_with(|| json!({}));
            // Anything but an object is refused by the check below.
            if let Some(settings) = settings.as_object_mut() {
                settings.insert("push_only".to_owned(), true.into());
                settings.insert("push_sets".to_owned(), sets.into());
            }
        }
        self.plan.config(0, 0).check().map_err(|why| self.wrong(place, format!("settings: {why}")))
    }

    /// Checks what the rules send against the settings.
    fn check_rules(&self, places: &[TextPosition]) -> Result<()> {
        let config = self.plan.config(0, 0);
        self.plan.rules.iter().zip(places).try_for_each(|(rule, place)| {
            let fired = Fired::deserialize(&rule.fire).map_err(|error| error.to_string());
            let checked = fired.and_then(|fired| fired.check_for(&config));
            checked.map_err(|why| self.wrong(*place, format!("invalid message: {why}")))
        })
    }
}
