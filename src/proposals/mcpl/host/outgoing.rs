//! Answers and other texts that go to channels (MCPL 0.4 §14.3).

use super::channels::{UNKNOWN, not_permitted};
use super::context::WORDS;
use super::{McplHostSide, RequestKind};
use crate::proposals::host::{HostCx, Refusal, ServerId};
use serde_json::json;

impl McplHostSide {
    /// Sends an answer to the channel whose message began the turn, as observed output and as a published message
    /// (MCPL 0.4 §14.3). Servers that may change answers have already moderated it.
    pub(super) fn deliver(&mut self, cx: &mut HostCx<'_>, answer: &str) {
        let Some(turn) = &self.turn else { return };
        let Some(origin) = turn.channel.clone() else { return };
        let Some(peer) = self.peers.get_mut(&origin.server).filter(|peer| peer.offers("channels")) else { return };
        let is_request = match peer.policy.word("publish") {
            "none" => return,
            way => way == "request",
        };
        let server = origin.server;
        if !peer.consent.admits(cx, server, WORDS) {
            return;
        }
        let common =
            json!({"inferenceId": turn.inference(), "conversationId": cx.session, "channelId": origin.channel});
        // What does not go to the channel is not announced as its outgoing message either.
        let may_watch = peer.can("observe")
            && peer.may_use(&origin.channel, "channels.observe", "").is_ok()
            && peer.may_answer(&origin.channel).is_ok();
        if may_watch && peer.can("streaming") {
            for (index, delta) in pieces(answer, peer.policy.length("chunk_bytes")).into_iter().enumerate() {
                let mut params = common.clone();
                params["index"] = index.into();
                params["delta"] = delta.into();
                cx.notify(server, "channels/outgoing/chunk", params);
            }
        }
        if may_watch {
            let mut params = common;
            params["content"] = json!([{"type": "text", "text": answer}]);
            cx.notify(server, "channels/outgoing/complete", params);
        }
        let to = (origin.channel.as_str(), Some(turn.inference().to_owned()));
        if let Err(refused) = self.publish(cx, server, to.clone(), answer, is_request, false) {
            let text = format!("the answer was not published to {}: {}", origin.channel, refused.message);
            let about = json!({"channel": to.0, "inference_id": to.1, "code": refused.code, "outcome": "failure"});
            cx.report("refused", Some(server), text, about);
        }
    }

    /// Asks a server to publish a text to a channel, and to which inference it belongs.
    ///
    /// # Errors
    /// -32017 if publishing is not permitted, -32023 if the channel is unknown.
    pub(super) fn publish(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        (channel, inference): (&str, Option<String>),
        text: &str,
        is_request: bool,
        holds: bool,
    ) -> Result<(), Refusal> {
        let Some(peer) = self.peers.get(&server) else {
            return Err(Refusal::new(UNKNOWN, "the server has no channels"));
        };
        peer.may_answer(channel)?;
        if !peer.can("publish") {
            return Err(not_permitted("the server did not declare channels.publish"));
        }
        let params = json!({"conversationId": cx.session, "channelId": channel, "stream": false,
            "content": [{"type": "text", "text": text}]});
        let asked = RequestKind::Publish { channel: channel.to_owned(), inference };
        if is_request {
            let timeout = peer.policy.time("channel_timeout");
            self.ask(cx, server, ("channels/publish", params), timeout, asked, holds);
        } else {
            cx.notify(server, "channels/publish", params);
            cx.report("published", Some(server), format!("to {channel}"), asked.about("success"));
        }
        Ok(())
    }
}

/// A text in pieces of at most `most` bytes, cut between characters.
fn pieces(text: &str, most: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while rest.len() > most.max(4) {
        let end = (0..=most.max(4)).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}
