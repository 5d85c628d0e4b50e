//! The model's output to channels, as the server observes it (MCPL 0.4 §14.3): chunks in order, then the whole text.

use crate::proposals::recent::{Digest, Recent};
use serde_json::Value;

/// How many outputs are remembered.
const MAX: usize = 1024;

/// The output of one inference to one channel.
#[derive(Debug, Default)]
struct Output {
    chunks: u64,
    text: Digest,
    complete: bool,
}

/// The current outputs.
#[derive(Debug)]
pub(super) struct Outgoing(Recent<(String, String), Output>);

impl Default for Outgoing {
    fn default() -> Self {
        Self(Recent::new(MAX))
    }
}

/// A completed output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Observed {
    /// How many chunks it had.
    pub chunks: u64,
    /// Whether the chunks equal the text; `None` without chunks. They may differ because of moderation.
    pub agrees: Option<bool>,
    /// The whole text.
    pub text: String,
}

/// What a message about an output led to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SendResult {
    /// What is wrong with the message, as phrases.
    pub faults: Vec<&'static str>,
    /// The output, once it is complete.
    pub complete: Option<Observed>,
}

/// The text of a list of content blocks.
pub(super) fn text_of(content: &Value) -> String {
    content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str()).collect()
}

impl Outgoing {
    fn output(&mut self, params: &Value) -> Option<&mut Output> {
        let text = |name: &str| params[name].as_str().map(str::to_owned);
        let key = (text("inferenceId")?, text("channelId")?);
        if !self.0.contains(&key) {
            self.0.insert(key.clone(), Output::default());
        }
        self.0.get_mut(&key)
    }

    /// Handles a chunk. Chunks are numbered from 0 without gaps, and come before the whole text.
    pub(super) fn chunk(&mut self, params: &Value) -> SendResult {
        let Some(output) = self.output(params) else { return nameless() };
        let mut reported = SendResult::default();
        if output.complete {
            reported.faults.push("a chunk came after the whole text");
        }
        if params["index"].as_u64() != Some(output.chunks) {
            reported.faults.push("a chunk is out of order");
        }
        output.chunks = params["index"].as_u64().unwrap_or(output.chunks).saturating_add(1);
        output.text.append(params["delta"].as_str().unwrap_or_default());
        reported
    }

    /// Handles the whole text, which comes once and equals the chunks.
    pub(super) fn complete(&mut self, params: &Value) -> SendResult {
        let Some(output) = self.output(params) else { return nameless() };
        let mut reported = SendResult::default();
        if output.complete {
            reported.faults.push("the whole text came twice");
        }
        output.complete = true;
        let text = text_of(&params["content"]);
        let mut whole = Digest::default();
        whole.append(&text);
        let agrees = (output.chunks > 0).then_some(whole == output.text);
        reported.complete = Some(Observed { chunks: output.chunks, agrees, text });
        reported
    }
}

fn nameless() -> SendResult {
    SendResult { faults: vec!["inferenceId or channelId is missing"], complete: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn params(more: Value) -> Value {
        let mut params = json!({"inferenceId": "i", "conversationId": "c", "channelId": "a:b"});
        params.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        params
    }

    #[test]
    fn c66_chunks_come_in_order_and_are_the_whole() {
        let mut outgoing = Outgoing::default();
        for (index, delta) in [(0, "Hello "), (1, "team")] {
            assert_eq!(outgoing.chunk(&params(json!({"index": index, "delta": delta}))), SendResult::default());
        }
        let whole = params(json!({"content": [{"type": "text", "text": "Hello team"}]}));
        let reported = outgoing.complete(&whole).complete.expect("complete");
        assert_eq!((reported.chunks, reported.agrees, reported.text.as_str()), (2, Some(true), "Hello team"));
        assert_eq!(outgoing.complete(&whole).faults, ["the whole text came twice"]);
        let late = outgoing.chunk(&params(json!({"index": 7, "delta": "x"})));
        assert_eq!(late.faults, ["a chunk came after the whole text", "a chunk is out of order"]);
        assert_eq!(outgoing.chunk(&json!({})).faults, ["inferenceId or channelId is missing"]);
    }

    #[test]
    fn another_text_is_reported_and_no_chunks_say_nothing() {
        let mut outgoing = Outgoing::default();
        outgoing.chunk(&params(json!({"index": 0, "delta": "secret"})));
        let whole = |text: &str| params(json!({"content": [{"type": "text", "text": text}]}));
        assert_eq!(outgoing.complete(&whole("[REDACTED]")).complete.and_then(|it| it.agrees), Some(false));
        let mut other = whole("x");
        other["channelId"] = json!("c:d");
        assert_eq!(outgoing.complete(&other).complete.and_then(|it| it.agrees), None);
    }
}
