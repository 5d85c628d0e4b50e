//! Finds the recorded answer to a request.

use super::{
    Anchor, CLIENT_IDS, Envelope, INTERNAL_ERROR, Id, MAX_RENAMED, METHOD_NOT_FOUND, Matching, Miss, MockSession,
    Output, Pending, Queued, Renamed, Value, error, json, token_of,
};
use crate::diff::volatile::ValueKey;
use crate::protocol::http::modern_version;
use crate::protocol::revision::{Era, Revision};
use crate::replay::mock::library::Traits;
use crate::replay::mock::rekey::with_revision;
use crate::replay::replies::with_id;
use std::sync::Arc;
use std::time::Duration;

/// At most this many recorded requests are compared with one that has volatile values.
const MAX_COMPARED: usize = 4096;

/// What to do with a request.
enum Choice {
    /// Answer it as in this exchange.
    Answer(u32),
    /// Leave it open, as in this exchange.
    Hold(u32),
    /// There is no answer.
    Miss(Miss),
}

impl MockSession {
    pub(super) fn request(
        &mut self,
        now: Duration,
        message: &[u8],
        envelope: &Envelope<'_>,
        id: Id<'_>,
        outputs: &mut Vec<Output>,
    ) {
        let id = id.echoed().to_vec();
        let method = envelope.method.as_deref().unwrap_or_default();
        match method {
            // The modern era has no ping.
            "ping" if modern_version(envelope).is_none() => {
                let pong = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}", String::from_utf8_lossy(&id));
                return self.push(now, Queued::Text(pong.into_bytes()));
            }
            "initialize" | "server/discover" => return self.shake_hands(now, method, envelope, id),
            _ => {}
        }
        let comparable = self.library.keys.comparable(message);
        match self.choose(method, comparable.as_deref().unwrap_or(message)) {
            Choice::Answer(exchange) => self.serve(now, exchange, id, envelope.params, None),
            Choice::Hold(exchange) => self.hold(now, exchange, id, envelope.params),
            Choice::Miss(miss) if self.settings.forwards => {
                self.missed(miss);
                self.next += 1;
                self.forwarded.insert(self.next, id);
                outputs.push(Output::Forward { ticket: self.next, request: message.to_vec() });
            }
            Choice::Miss(miss) => {
                let text = error(&id, INTERNAL_ERROR, &format!("mcpreel mock: {}", miss.message), miss.to_json());
                self.missed(miss);
                self.push(now, Queued::Text(text));
            }
        }
    }

    /// Answers the handshake as recorded, whatever the client declares.
    fn shake_hands(&mut self, now: Duration, method: &str, envelope: &Envelope<'_>, id: Vec<u8>) {
        let requested = envelope.params.and_then(|params| json::str_member(params, "protocolVersion"));
        let requested = requested.map(std::borrow::Cow::into_owned);
        let refused = self.library.with_fault(envelope);
        if let Some(exchange) = refused.or_else(|| self.library.first_of(method, self.recorded)) {
            let known = requested.filter(|version| Revision::parse(version).is_some_and(|it| it.era() == Era::Legacy));
            return self.serve(now, exchange, id, envelope.params, known);
        }
        let text = match method {
            "initialize" => {
                let result = self.made_up_handshake(requested.as_deref());
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", String::from_utf8_lossy(&id))
                    .into_bytes()
            }
            _ => error(&id, METHOD_NOT_FOUND, "the recorded server has no server/discover", Value::Null),
        };
        self.push(now, Queued::Text(text));
    }

    /// Returns a result for `initialize`, for a recording without one.
    fn made_up_handshake(&self, requested: Option<&str>) -> Value {
        let discovered = self.library.first_of("server/discover", self.recorded).and_then(|exchange| {
            let answer = self.library.exchanges[exchange as usize].answer()?;
            Some(json::value_of(&self.library.text(answer)))
        });
        let mut capabilities = serde_json::Map::new();
        for method in self.library.called() {
            if let Some((group @ ("tools" | "resources" | "prompts"), _)) = method.split_once('/') {
                capabilities.insert(group.to_owned(), json!({}));
            }
        }
        let declared = discovered.as_ref().map(|found| found["result"]["capabilities"].clone());
        let known = requested.filter(|version| Revision::parse(version).is_some_and(|it| it.era() == Era::Legacy));
        json!({
            "protocolVersion": known.unwrap_or(Revision::NEWEST_LEGACY.as_str()),
            "capabilities": declared.filter(Value::is_object).unwrap_or(Value::Object(capabilities)),
            "serverInfo": {"name": "mcpreel mock", "version": env!("CARGO_PKG_VERSION")},
        })
    }

    fn choose(&mut self, method: &str, message: &[u8]) -> Choice {
        let library = Arc::clone(&self.library);
        let envelope = Envelope::scan(message);
        if library.keys.matching() == Matching::Sequence {
            return self.choose_next(library.keys.of(&envelope).0, message);
        }
        let as_recorded = library.repeated(&envelope, &library.keys);
        let (group, values) = match as_recorded.is_empty() {
            false => (as_recorded, library.keys.values(message)),
            true => (library.repeated(&envelope, &self.keys), self.keys.values(message)),
        };
        if group.is_empty() {
            return Choice::Miss(Miss::never_recorded(&library, message));
        }
        let chosen = match values.is_empty() {
            true => Ok(self.next_unused(group)),
            false => self.with_values(&values, group, message),
        };
        match chosen {
            Ok(Some(number)) if library.exchanges[number as usize].answer().is_some() => return Choice::Answer(number),
            Ok(Some(number)) => return Choice::Hold(number),
            Err(miss) => return Choice::Miss(miss),
            Ok(None) => {}
        }
        let mut answered = group.iter().rev().filter(|number| library.exchanges[**number as usize].answer().is_some());
        let repeats = self.settings.reuse || matches!(method, "tasks/get" | "tasks/result");
        if answered.clone().next().is_none() {
            return Choice::Miss(Miss::unanswered(&library, &library.exchanges[group[0] as usize], message));
        }
        match answered.find(|number| repeats && (values.is_empty() || self.stands_for(&values, **number))) {
            Some(last) => Choice::Answer(*last),
            None => Choice::Miss(Miss::used_up(&library, group, message)),
        }
    }

    /// Returns whether an exchange can be served: it is unused, and it has an answer or needs none.
    fn is_free(&self, number: u32) -> bool {
        let exchange = &self.library.exchanges[number as usize];
        !self.report.used.has(number as usize) && (exchange.answer().is_some() || exchange.has(Traits::MAY_STAY_OPEN))
    }

    /// Returns the next exchange of a group that can be served: one of the session that is played, if there is one.
    fn next_unused(&mut self, group: &[u32]) -> Option<u32> {
        let key = self.library.exchanges[*group.first()? as usize].key;
        let [mut own, mut any] = self.cursors.get(&key).copied().unwrap_or_default();
        let at = |place: u32| group.get(place as usize).copied();
        let is_own = |number: u32| self.library.exchanges[number as usize].session == self.recorded;
        while at(own).is_some_and(|number| !is_own(number) || !self.is_free(number)) {
            own += 1;
        }
        while at(any).is_some_and(|number| !self.is_free(number)) {
            any += 1;
        }
        self.cursors.insert(key, [own, any]);
        at(own).or_else(|| at(any))
    }

    /// Returns an unused exchange of a group whose values these can stand for, preferably the same ones.
    fn with_values(&mut self, values: &[ValueKey], group: &[u32], message: &[u8]) -> Result<Option<u32>, Miss> {
        let (mut fitting, mut unfit) = (None, None);
        for number in
            group.iter().copied().filter(|number| self.is_free(*number)).take(MAX_COMPARED).collect::<Vec<_>>()
        {
            let recorded = self.recorded_values(number);
            match self.values.conflict(values, &recorded) {
                None if *recorded == *values => {
                    fitting = Some((number, recorded));
                    break;
                }
                None => fitting = fitting.or(Some((number, recorded))),
                Some(place) => unfit = unfit.or(Some((number, place))),
            }
        }
        match (fitting, unfit) {
            (Some((number, recorded)), _) => {
                self.values.learn(values, &recorded);
                Ok(Some(number))
            }
            (None, Some((number, place))) => Err(Miss::other_value(
                &self.library,
                &self.library.exchanges[number as usize],
                (message, &self.keys),
                place,
            )),
            (None, None) => Ok(None),
        }
    }

    /// Returns whether the values of a request stand for those of a recorded one.
    fn stands_for(&mut self, values: &[ValueKey], number: u32) -> bool {
        let recorded = self.recorded_values(number);
        self.values.conflict(values, &recorded).is_none()
    }

    fn recorded_values(&mut self, number: u32) -> Box<[ValueKey]> {
        let library = &self.library;
        let read = || library.keys.values(&library.request(&library.exchanges[number as usize]));
        self.values.of_request(number, read)
    }

    /// Chooses the next exchange, if the request is the same. The handshake and pings have no place in the order.
    fn choose_next(&mut self, key: u64, message: &[u8]) -> Choice {
        let library = Arc::clone(&self.library);
        let has_place = |number: u32| {
            let method = &*library.methods[usize::from(library.exchanges[number as usize].method)];
            !matches!(method, "initialize" | "server/discover" | "ping")
                && !library.exchanges[number as usize].has(Traits::IS_OF_HEADERS)
        };
        let count = u32::try_from(library.len()).unwrap_or(u32::MAX);
        let Some(number) = (self.position..count).find(|number| has_place(*number)) else {
            return Choice::Miss(Miss::out_of_order(&library, None, message));
        };
        let exchange = &library.exchanges[number as usize];
        if exchange.key != key {
            return Choice::Miss(Miss::out_of_order(&library, Some(exchange), message));
        }
        self.position = number + 1;
        match (exchange.answer(), exchange.has(Traits::MAY_STAY_OPEN)) {
            (Some(_), _) => Choice::Answer(number),
            (None, true) => Choice::Hold(number),
            (None, false) => Choice::Miss(Miss::unanswered(&library, exchange, message)),
        }
    }

    /// Queues what the recorded server sent because of a request, and its response.
    fn serve(&mut self, now: Duration, number: u32, id: Vec<u8>, params: Option<&[u8]>, revision: Option<String>) {
        let replies = self.library.exchanges[number as usize].replies;
        self.begin(number, &id, params);
        self.report.answered += 1;
        self.next += 1;
        let ticket = self.next;
        let not_before = self.follow(now, Anchor::Asked(number));
        self.pending.insert(ticket, Pending { exchange: number, id, replies, revision, not_before });
        self.push_answer(now, ticket);
    }

    /// Leaves a request open.
    fn hold(&mut self, now: Duration, number: u32, id: Vec<u8>, params: Option<&[u8]>) {
        self.begin(number, &id, params);
        self.follow(now, Anchor::Asked(number));
    }

    /// Notes that an exchange is used, and the live names of its token and of its subscription.
    fn begin(&mut self, number: u32, id: &[u8], params: Option<&[u8]>) {
        let library = Arc::clone(&self.library);
        let exchange = &library.exchanges[number as usize];
        self.report.used.insert(number as usize);
        let is_subscription = exchange.has(Traits::MAY_STAY_OPEN);
        if !exchange.has(Traits::HAS_OWN_IDS) && !is_subscription {
            return;
        }
        let recorded = library.text(exchange.request);
        let recorded = Envelope::scan(&recorded);
        if let (Some(recorded), Some(live)) = (token_of(recorded.params), token_of(params)) {
            // The same recorded token may be used again.
            self.tokens.retain(|known| known.recorded != recorded);
            self.tokens.push(Renamed { recorded: recorded.to_vec(), live: live.to_vec() });
            self.tokens.drain(..self.tokens.len().saturating_sub(MAX_RENAMED));
        }
        for name in CLIENT_IDS {
            let id = |params: Option<&[u8]>| Some(json::first_member(params?, name)?.to_vec());
            if let (Some(recorded), Some(live)) = (id(recorded.params), id(params)) {
                self.client_ids.retain(|known| known.recorded != recorded);
                self.client_ids.push(Renamed { recorded, live });
                self.client_ids.drain(..self.client_ids.len().saturating_sub(MAX_RENAMED));
            }
        }
        if let Some(recorded) = recorded.id.filter(|_| is_subscription) {
            self.subscriptions.push(Renamed { recorded: recorded.0.to_vec(), live: id.to_vec() });
            self.subscriptions.drain(..self.subscriptions.len().saturating_sub(MAX_RENAMED));
        }
    }

    /// Sends the response to a request, unless it was cancelled.
    pub(super) fn answer(&mut self, now: Duration, ticket: u64, outputs: &mut Vec<Output>) {
        let Some(pending) = self.pending.remove(&ticket) else { return };
        let library = Arc::clone(&self.library);
        let exchange = library.exchanges[pending.exchange as usize];
        let Some(answer) = exchange.answer() else { return };
        let mut text = with_id(&library.text(answer), Id(&pending.id));
        if let Some(revision) = &pending.revision {
            text = with_revision(&text, revision);
        }
        text = self.with_live_ids(text);
        self.spoil(now, &exchange, &pending.id, text, outputs);
        self.follow(now, Anchor::Answered(pending.exchange));
    }
}
