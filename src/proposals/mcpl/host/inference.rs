//! Inferences that servers request (MCPL 0.4 §11): whether they are permitted, and the response.

use super::{McplHostSide, Peer};
use crate::proposals::host::{Finish, HostCx, Inference, Inferred, Refusal, ServerId, Usage, Utterance, tokens};
use crate::proposals::mcpl::blocks;
use crate::protocol::errors;
use serde_json::{Value, json};

/// The policy or a limit forbids the inference. MCPL defines no error code for that.
const NOT_PERMITTED: i64 = -32000;

/// How many inferences of a server may be open at once.
const MAX_OPEN: usize = 64;

/// A running inference.
pub(super) struct Running {
    /// The server that requested it.
    pub server: ServerId,
    /// The id of the request exactly as it was received.
    pub id: Vec<u8>,
    /// The feature set that it named.
    pub set: String,
    streams: bool,
    /// The text that was sent in chunks, and how many chunks.
    sent: String,
    pieces: u64,
    given: u64,
}

/// A request for an inference that waits for the end of a hook.
pub(super) struct Parked {
    /// The server that sent it.
    pub server: ServerId,
    /// The id of the request exactly as it was received.
    pub id: Vec<u8>,
    params: Value,
}

impl Peer {
    /// Whether the policy lets an inference run: the first matching route decides (MCPL 0.4 §11.5).
    fn routes(&self, set: &str, conversation: &str) -> bool {
        let fits = |pattern: &str| match pattern.strip_prefix("conversation:") {
            Some(of) => of == conversation,
            None => self.sets.fits(pattern, set),
        };
        let mut routes = self.policy.words("route").iter().filter_map(|route| route.split_once('='));
        routes.find(|(pattern, _)| fits(pattern)).is_none_or(|(_, way)| way != "deny")
    }
}

impl McplHostSide {
    /// Handles `inference/request` (MCPL 0.4 §11.1).
    pub(super) fn infer(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &[u8], params: &Value) {
        let data = |outcome: &str| json!({"feature_set": params["featureSet"], "outcome": outcome});
        if self.waits_for_hook(server) {
            let text = "the server requested an inference during a hook; it waits until the hook ends";
            cx.report("inference", Some(server), text, data("waits"));
            return self.parked.push(Parked { server, id: id.to_vec(), params: params.clone() });
        }
        match self.may_infer(cx, server, params) {
            Ok(messages) => {
                let number = |name: &str| &params["preferences"][name];
                let given = messages.iter().map(|said| tokens(&said.text)).sum();
                let streams = params["stream"] == true;
                let token = cx.infer(Inference {
                    token: 0,
                    server,
                    messages,
                    max_tokens: number("maxTokens").as_u64(),
                    temperature: number("temperature").as_f64(),
                    stream: streams,
                });
                let set = params["featureSet"].as_str().unwrap_or_default().to_owned();
                let (id, sent) = (id.to_vec(), String::new());
                self.inferring.insert(token, Running { server, id, set, streams, sent, pieces: 0, given });
                cx.report("inference", Some(server), "the server requested an inference", data("begun"));
            }
            Err(refused) => {
                let text = format!("inference refused: {} {}", refused.code, refused.message);
                let is_mistake = self.is_mistake(server, &refused, &params["featureSet"], cx.now);
                cx.report_verdict("refused", server, text, data("failure"), is_mistake);
                cx.respond(server, id, Err(refused));
            }
        }
    }

    /// Whether an inference that the server requests now has to wait: nothing on the wire shows whether a hook caused
    /// it (MCPL 0.4 §10.7).
    fn waits_for_hook(&self, server: ServerId) -> bool {
        let queues = self.peers.get(&server).is_some_and(|peer| peer.policy.word("nested") == "queue");
        queues && self.is_in_hook(server) && self.open_inferences(server) < MAX_OPEN
    }

    fn open_inferences(&self, server: ServerId) -> usize {
        let running = self.inferring.values().filter(|running| running.server == server);
        running.count() + self.parked.iter().filter(|parked| parked.server == server).count()
    }

    /// Handles the requests that waited for hooks that have ended.
    pub(super) fn resume_inferences(&mut self, cx: &mut HostCx<'_>) {
        let (waiting, due) =
            std::mem::take(&mut self.parked).into_iter().partition(|parked| self.is_in_hook(parked.server));
        self.parked = waiting;
        due.iter().for_each(|parked: &Parked| self.infer(cx, parked.server, &parked.id, &parked.params));
    }

    fn may_infer(&mut self, cx: &mut HostCx<'_>, server: ServerId, params: &Value) -> Result<Vec<Utterance>, Refusal> {
        let is_in_hook = self.is_in_hook(server);
        let open = self.open_inferences(server);
        let Some(peer) = self.peers.get_mut(&server) else {
            return Err(Refusal::new(errors::INTERNAL_ERROR, "the server is gone"));
        };
        let odd = peer.sets.gate(&params["featureSet"], "inferenceRequest", &peer.policy)?;
        odd.into_iter().for_each(|odd| odd.report(cx, server));
        if is_in_hook && peer.policy.word("nested") != "allow" {
            return Err(Refusal::new(
                errors::INVALID_REQUEST,
                "a server must not request an inference while it handles a hook",
            ));
        }
        let messages = messages(params, peer.policy.length("most_bytes"))?;
        let denied = |why: String| Err(Refusal::new(NOT_PERMITTED, why));
        let set = params["featureSet"].as_str().unwrap_or_default();
        if !peer.routes(set, params["conversationId"].as_str().unwrap_or_default()) {
            return denied(format!("the host's policy forbids inferences of {set}"));
        }
        if open >= MAX_OPEN || self.is_over {
            return denied("too many inferences are open, or the session ends".to_owned());
        }
        if peer.inferences >= peer.policy.number("inferences") {
            return denied(format!("the limit of inferences in a session ({}) is reached", peer.inferences));
        }
        if peer.inference_tokens >= peer.policy.number("inference_tokens") {
            return denied(format!(
                "the limit of inference tokens in a session is reached: {} were used",
                peer.inference_tokens
            ));
        }
        peer.inferences += 1;
        Ok(messages)
    }

    /// Handles a piece of the model's answer: sends it as a chunk if the server asked for a stream (MCPL 0.4 §11.4).
    pub(super) fn piece_of(&mut self, cx: &mut HostCx<'_>, token: u64, text: &str) {
        if let Some(running) = self.inferring.get_mut(&token).filter(|running| running.streams && !text.is_empty()) {
            running.piece(cx, text);
        }
    }

    /// Handles the end of the inference: sends the response (MCPL 0.4 §11.3).
    pub(super) fn end_of(&mut self, cx: &mut HostCx<'_>, token: u64, outcome: &Result<Inferred, String>) {
        let Some(mut running) = self.inferring.remove(&token) else { return };
        let server = running.server;
        let answer = match outcome {
            Ok(inferred) => {
                running.rest(cx, &inferred.text);
                let usage = Usage { input: running.given, output: tokens(&inferred.text) };
                if let Some(peer) = self.peers.get_mut(&server) {
                    peer.inference_tokens += usage.input + usage.output;
                }
                let finish = if inferred.finish == Finish::MaxTokens { "max_tokens" } else { "end_turn" };
                Ok(json!({"content": inferred.text, "model": cx.model.id, "finishReason": finish,
                    "usage": {"inputTokens": usage.input, "outputTokens": usage.output}}))
            }
            Err(why) => Err(Refusal::new(errors::INTERNAL_ERROR, format!("the model failed: {why}"))),
        };
        let (outcome, text) = match &answer {
            Ok(result) => ("success", format!("output tokens: {}", result["usage"]["outputTokens"])),
            Err(refused) => ("failure", refused.message.clone()),
        };
        let data = json!({"feature_set": running.set, "model": cx.model.id, "pieces": running.pieces,
            "usage": answer.as_ref().map(|result| result["usage"].clone()).unwrap_or_default(), "outcome": outcome});
        cx.report("inferred", Some(server), text, data);
        cx.respond(server, &running.id, answer);
    }
}

impl Running {
    fn piece(&mut self, cx: &mut HostCx<'_>, text: &str) {
        let request: Value = serde_json::from_slice(&self.id).unwrap_or_default();
        let params = json!({"requestId": request, "index": self.pieces, "delta": text});
        cx.notify(self.server, "inference/chunk", params);
        self.pieces += 1;
        self.sent.push_str(text);
    }

    /// Sends what is missing as the last chunk: the chunks together must equal the content (MCPL 0.4 §11.4).
    fn rest(&mut self, cx: &mut HostCx<'_>, whole: &str) {
        match whole.strip_prefix(self.sent.as_str()).map(str::to_owned) {
            Some(rest) if self.streams && !rest.is_empty() => self.piece(cx, &rest),
            Some(_) => {}
            None => cx.report("odd", Some(self.server), "the chunks do not equal the content", Value::Null),
        }
    }
}

/// The messages of a request. Their content may also consist of blocks (AMB-C8).
fn messages(params: &Value, most: usize) -> Result<Vec<Utterance>, Refusal> {
    let malformed = |why: &str| Refusal::new(errors::INVALID_PARAMS, why);
    let list = params["messages"].as_array().ok_or_else(|| malformed("messages is missing"))?;
    if list.is_empty() {
        return Err(malformed("messages is empty"));
    }
    let said = |message: &Value| {
        let role = match message["role"].as_str()? {
            "system" => "system",
            "assistant" => "assistant",
            _ => "user",
        };
        let content = Some(&message["content"]).filter(|content| content.is_string() || content.is_array())?;
        Some(Utterance { role, text: blocks::text(content, most) })
    };
    list.iter().map(|message| said(message).ok_or_else(|| malformed("a message lacks role or content"))).collect()
}
