//! Chooses how a message is injected into a recorded HTTP session: between the messages of an open stream, or by a
//! request of mcpreel's own to the server.

use super::body::Reading;
use super::injection_queue::InjectionQueue;
use super::{Exchange, Exchanges, State, text};
use crate::record::queue::Ready;
use crate::sessions::control::choose;
use crate::trace::EventKind;
use crate::wire::Direction;
use hyper::Method;
use hyper::header::{self, HeaderMap};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The endpoint to which an HTTP+SSE server wants messages posted.
pub(super) struct Endpoint {
    /// Path and query.
    pub target: String,
    /// Whether it is on the server for which mcpreel is the proxy.
    is_here: bool,
    /// Whether a client that posts to it bypasses mcpreel.
    pub leads_past: bool,
}

/// How a message is injected.
pub(super) enum InjectionRoute {
    /// Between the messages of an open stream.
    Into(Arc<InjectionQueue>),
    /// By a separate POST with these headers, to this path and query or else to the MCP endpoint.
    Post(HeaderMap, Option<String>),
}

impl Exchanges {
    /// The stream numbers of the live sessions, to whose servers messages can be sent.
    pub(crate) fn sessions(&self) -> Vec<u32> {
        let state = self.state.lock();
        let joined = state.open_injection_queues(Direction::ClientToServer).map(|(exchange, _)| exchange.stream);
        joined.chain(state.sessions.heads.keys().copied()).collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// Chooses the session, and the route of a message to its server or its client.
    ///
    /// # Errors
    ///
    /// There is no such session, or no route to that side of it.
    pub(super) fn way(&self, stream: u32, toward: Direction) -> Result<(u32, InjectionRoute), String> {
        match toward {
            Direction::ClientToServer => {
                let stream = choose(stream, &self.sessions(), "no client has sent a message yet")?;
                Ok((stream, self.way_to_server(stream)?))
            }
            Direction::ServerToClient => {
                let state = self.state.lock();
                let open =
                    state.open_injection_queues(toward).map(|(exchange, _)| exchange.stream).collect::<BTreeSet<u32>>();
                let open: Vec<u32> = open.into_iter().collect();
                let stream = choose(stream, &open, "no client has an event stream open")
                    .map_err(|why| state.coding_of(stream).map_or(why, compressed))?;
                let mut injection_queues: Vec<_> =
                    state.open_injection_queues(toward).filter(|(exchange, _)| exchange.stream == stream).collect();
                // Messages that belong to no request go to the stream that a GET opened.
                injection_queues.sort_by_key(|(exchange, _)| exchange.method == Method::GET);
                let (_, injection_queue) = injection_queues.pop().ok_or("the client has no event stream open")?;
                Ok((stream, InjectionRoute::Into(Arc::clone(injection_queue))))
            }
        }
    }

    fn way_to_server(&self, stream: u32) -> Result<InjectionRoute, String> {
        let state = self.state.lock();
        let mut injection_queues = state.open_injection_queues(Direction::ClientToServer);
        if let Some((_, injection_queue)) = injection_queues.find(|(exchange, _)| exchange.stream == stream) {
            return Ok(InjectionRoute::Into(Arc::clone(injection_queue)));
        }
        let headers =
            state.sessions.heads.get(&stream).cloned().ok_or(
                "the session has ended, or was idle while many others began: try again after its next request",
            )?;
        let mut of_stream = state.open.values().filter(|exchange| exchange.stream == stream);
        let Some((exchange, endpoint)) = of_stream.find_map(|it| Some((it, it.endpoint.as_ref()?))) else {
            return Ok(InjectionRoute::Post(headers, None));
        };
        if let Some(coding) = &exchange.coding {
            return Err(compressed(coding));
        }
        if !endpoint.is_here {
            return Err(
                "the server wants messages posted to another server; mcpreel does not send any there".to_owned()
            );
        }
        Ok(InjectionRoute::Post(headers, Some(endpoint.target.clone())))
    }

    /// The stream that a client opened with GET, for messages that belong to none of its requests.
    pub(super) fn listener(&self, stream: u32) -> Option<Arc<InjectionQueue>> {
        let state = self.state.lock();
        let mut injection_queues = state.open_injection_queues(Direction::ServerToClient);
        let is_listening = |exchange: &Exchange| exchange.stream == stream && exchange.method == Method::GET;
        injection_queues
            .find(|(exchange, _)| is_listening(exchange))
            .map(|(_, injection_queue)| Arc::clone(injection_queue))
    }

    /// Resolves an announced endpoint as the client does: against the URL that the client knows.
    pub(super) fn resolve(&self, exchange: &Exchange, endpoint: &str) -> Endpoint {
        let host = text(exchange.headers.get(header::HOST)).unwrap_or_else(|| "server".to_owned());
        let base = url::Url::parse(&format!("http://{host}")).and_then(|here| here.join(&exchange.target));
        let Ok((base, to)) = base.and_then(|base| base.join(endpoint).map(|to| (base, to))) else {
            return Endpoint { target: endpoint.to_owned(), is_here: false, leads_past: false };
        };
        let leads_past = to.origin() != base.origin();
        let is_here = !leads_past || Some(to.origin()) == self.origin;
        Endpoint { target: to[url::Position::BeforePath..url::Position::AfterQuery].to_owned(), is_here, leads_past }
    }

    /// Reports an endpoint that lets clients bypass mcpreel, because their messages are not recorded.
    pub(super) fn report_bypass(&self, stream: u32) {
        const WHY: &str =
            "the server's endpoint event contains a complete URL, so messages of its clients bypass mcpreel";
        self.queue.note(Ready::about(EventKind::Gap, stream), &json!({"reason": WHY}));
        (self.complain)(&format!("{WHY}; configure the server to send only a path, or the address that clients use"));
    }
}

impl State {
    /// The open queues for messages toward this side.
    fn open_injection_queues(&self, toward: Direction) -> impl Iterator<Item = (&Exchange, &Arc<InjectionQueue>)> {
        let all =
            self.open.values().filter_map(move |it| Some((&**it, it.injection_queues[toward as usize].as_ref()?)));
        all.filter(|(_, injection_queue)| injection_queue.is_open())
    }

    /// The content coding of an event stream of this session, or of any session if `stream` is 0.
    fn coding_of(&self, stream: u32) -> Option<&str> {
        let of_stream = self.open.values().filter(|exchange| stream == 0 || exchange.stream == stream);
        let mut events = of_stream.filter(|exchange| matches!(exchange.response, Reading::Events(_)));
        events.find_map(|exchange| exchange.coding.as_deref())
    }
}

/// The error for injecting into a compressed stream.
fn compressed(coding: &str) -> String {
    format!("the event stream is compressed ({coding}), so messages cannot be injected or removed")
}
