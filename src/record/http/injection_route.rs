//! The way that a message takes which is put into a tapped HTTP session: between the messages of an open stream, or by
//! a request of our own to where the server takes them.

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

/// Where HTTP+SSE wants messages posted.
pub struct Endpoint {
    /// Path and query.
    pub target: String,
    /// Whether it is on the server that the tap stands in front of.
    is_here: bool,
    /// Whether a client that follows it leaves the tap aside.
    pub leads_past: bool,
}

/// The way that a message takes which is put in.
pub enum InjectionRoute {
    /// Between the messages of an open stream.
    Into(Arc<InjectionQueue>),
    /// By a request of our own with these headers; to this path and query, or where there are none, to the endpoint.
    Post(HeaderMap, Option<String>),
}

impl Exchanges {
    /// The sessions that live, by their streams' numbers: what can be spoken to their servers.
    pub fn sessions(&self) -> Vec<u32> {
        let state = self.lock();
        let joined = state.open_injection_queues(Direction::ClientToServer).map(|(exchange, _)| exchange.stream);
        joined.chain(state.heads.keys().copied()).collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// The session that is meant, and the way of a message to its server or its client.
    pub(super) fn way(&self, stream: u32, toward: Direction) -> Result<(u32, InjectionRoute), String> {
        match toward {
            Direction::ClientToServer => {
                let stream = choose(stream, &self.sessions(), "no client has sent anything yet")?;
                Ok((stream, self.way_to_server(stream)?))
            }
            Direction::ServerToClient => {
                let state = self.lock();
                let open =
                    state.open_injection_queues(toward).map(|(exchange, _)| exchange.stream).collect::<BTreeSet<u32>>();
                let open: Vec<u32> = open.into_iter().collect();
                let stream = choose(stream, &open, "no client has an event stream open")
                    .map_err(|why| state.coding_of(stream).map_or(why, compressed))?;
                let mut injection_queues: Vec<_> =
                    state.open_injection_queues(toward).filter(|(exchange, _)| exchange.stream == stream).collect();
                // What belongs to no request goes on the stream that a GET opened.
                injection_queues.sort_by_key(|(exchange, _)| exchange.method == Method::GET);
                let (_, injection_queue) = injection_queues.pop().ok_or("the client has no event stream open")?;
                Ok((stream, InjectionRoute::Into(Arc::clone(injection_queue))))
            }
        }
    }

    fn way_to_server(&self, stream: u32) -> Result<InjectionRoute, String> {
        let state = self.lock();
        let mut injection_queues = state.open_injection_queues(Direction::ClientToServer);
        if let Some((_, injection_queue)) = injection_queues.find(|(exchange, _)| exchange.stream == stream) {
            return Ok(InjectionRoute::Into(Arc::clone(injection_queue)));
        }
        let headers = state.heads.get(&stream).cloned().ok_or("the session has ended")?;
        let mut of_stream = state.open.values().filter(|exchange| exchange.stream == stream);
        let Some((exchange, endpoint)) = of_stream.find_map(|it| Some((it, it.endpoint.as_ref()?))) else {
            return Ok(InjectionRoute::Post(headers, None));
        };
        if let Some(coding) = &exchange.coding {
            return Err(compressed(coding));
        }
        if !endpoint.is_here {
            return Err("the server wants messages posted to another server; nothing is sent there".to_owned());
        }
        Ok(InjectionRoute::Post(headers, Some(endpoint.target.clone())))
    }

    /// The stream that a client opened to hear what belongs to no request of its own.
    pub(super) fn listener(&self, stream: u32) -> Option<Arc<InjectionQueue>> {
        let state = self.lock();
        let mut injection_queues = state.open_injection_queues(Direction::ServerToClient);
        let is_listening = |exchange: &Exchange| exchange.stream == stream && exchange.method == Method::GET;
        injection_queues
            .find(|(exchange, _)| is_listening(exchange))
            .map(|(_, injection_queue)| Arc::clone(injection_queue))
    }

    /// Where an endpoint leads, read as the client reads it: against the URL that it knows.
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

    /// Whoever follows such an endpoint is not seen here: that is worth knowing.
    pub(super) fn report_bypass(&self, stream: u32) {
        const WHY: &str =
            "the server's endpoint event names a whole URL, so that what its clients send goes past the tap";
        self.queue.note(Ready::about(EventKind::Gap, stream), &json!({"reason": WHY}));
        (self.complain)(&format!("{WHY}; have the server name a path only, or its address as clients see it"));
    }
}

impl State {
    /// What messages that go `toward` can be put into.
    fn open_injection_queues(&self, toward: Direction) -> impl Iterator<Item = (&Exchange, &Arc<InjectionQueue>)> {
        let all = self.open.values().filter_map(move |it| Some((it, it.injection_queues[toward as usize].as_ref()?)));
        all.filter(|(_, injection_queue)| injection_queue.is_open())
    }

    /// The coding of an event stream of this session, or with 0 of any.
    fn coding_of(&self, stream: u32) -> Option<&str> {
        let of_stream = self.open.values().filter(|exchange| stream == 0 || exchange.stream == stream);
        let mut events = of_stream.filter(|exchange| matches!(exchange.response, Reading::Events(_)));
        events.find_map(|exchange| exchange.coding.as_deref())
    }
}

/// Why nothing is put into a stream that is not read as it stands.
fn compressed(coding: &str) -> String {
    format!("the event stream is compressed ({coding}), and nothing can be put in or taken out there")
}
