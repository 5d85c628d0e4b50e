//! The sessions of one server: which stream a request belongs to, and the headers with which mcpreel can send requests of
//! its own.

use super::heads::copied;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The maximum number of sessions to remember; the oldest is forgotten first.
pub(super) const MAX_SESSIONS: usize = 10_000;
/// The maximum number of sessions whose headers are kept. Many clients end without ending their sessions.
pub(super) const MAX_KEPT_HEADERS: usize = 500;

/// See the module. The numbers are those of streams.
#[derive(Default)]
pub(super) struct Sessions {
    /// The headers of each stream's last successful request, for injected messages.
    pub(super) heads: BTreeMap<u32, HeaderMap>,
    /// The stream of each connection whose session has no id (yet).
    pub(super) connections: HashMap<u32, u32>,
    /// The stream of each session with an id.
    pub(super) ids: HashMap<String, u32>,
    /// Session ids in the order in which they appeared.
    order: VecDeque<String>,
    /// The endpoints (path and query) to which HTTP+SSE clients post messages.
    pub(super) endpoints: HashMap<String, u32>,
}

impl Sessions {
    /// Returns the streams of all sessions, in order.
    pub(super) fn streams(self) -> Vec<u32> {
        let (named, unnamed) = (self.ids.into_values(), self.connections.into_values());
        let mut streams: Vec<u32> = named.chain(unnamed).chain(self.endpoints.into_values()).collect();
        streams.sort_unstable();
        streams
    }

    /// Gives a stream the id of its session.
    pub(super) fn remember(&mut self, session: &str, stream: u32) {
        self.ids.insert(session.to_owned(), stream);
        self.order.push_back(session.to_owned());
        if self.order.len() > MAX_SESSIONS
            && let Some(oldest) = self.order.pop_front()
        {
            let forgotten = self.ids.remove(&oldest);
            forgotten.map(|stream| self.heads.remove(&stream));
        }
    }

    /// Forgets a session that ended. Returns its stream.
    pub(super) fn forget(&mut self, session: &str) -> Option<u32> {
        let stream = self.ids.remove(session)?;
        self.heads.remove(&stream);
        self.order.retain(|one| one != session);
        Some(stream)
    }

    /// Keeps copies of the headers of a stream's last request for injected messages, unless they are kept already. Of too
    /// many streams, the oldest is left out until its next request.
    pub(super) fn keep_headers(&mut self, stream: u32, headers: &HeaderMap) {
        if self.keeps_headers(stream, headers) {
            return;
        }
        self.heads.insert(stream, without_length(headers).filter_map(copied).collect());
        if self.heads.len() > MAX_KEPT_HEADERS
            && let Some(oldest) = self.heads.keys().copied().find(|one| *one != stream)
        {
            self.heads.remove(&oldest);
        }
    }

    /// Whether the headers that are kept for a stream are these.
    pub(super) fn keeps_headers(&self, stream: u32, headers: &HeaderMap) -> bool {
        self.heads.get(&stream).is_some_and(|known| known.iter().eq(without_length(headers)))
    }
}

/// The headers that other requests of the client have, too.
fn without_length(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    headers.iter().filter(|(name, _)| **name != header::CONTENT_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn headers_that_are_kept_do_not_keep_their_connections_buffer() {
        let buffer = Bytes::from(vec![b'x'; 8192]);
        let value = HeaderValue::from_maybe_shared(buffer.slice(..20)).expect("letters");
        let headers =
            [(header::USER_AGENT, value.clone()), (header::ACCEPT, value), (header::CONTENT_LENGTH, 7.into())];
        let mut sessions = Sessions::default();
        sessions.keep_headers(1, &HeaderMap::from_iter(headers));
        assert!(buffer.is_unique());
        let kept = |sessions: &Sessions| {
            sessions.heads[&1].iter().map(|(name, value)| format!("{name}: {value:?}")).collect::<Vec<_>>()
        };
        let x = "x".repeat(20);
        assert_eq!(kept(&sessions), [format!("user-agent: \"{x}\""), format!("accept: \"{x}\"")]);
        sessions.keep_headers(1, &HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static("y"))]));
        assert_eq!(kept(&sessions), ["accept: \"y\""]);
    }

    #[test]
    fn headers_of_only_so_many_sessions_are_kept() {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static("y"))]);
        let mut sessions = Sessions::default();
        let most = MAX_KEPT_HEADERS as u32;
        (1..=most + 2).for_each(|stream| sessions.keep_headers(stream, &headers));
        let kept = |sessions: &Sessions| sessions.heads.keys().copied().collect::<Vec<_>>();
        assert_eq!(kept(&sessions), (3..=most + 2).collect::<Vec<_>>());
        sessions.keep_headers(1, &headers);
        assert_eq!(kept(&sessions), [1].into_iter().chain(4..=most + 2).collect::<Vec<_>>());
    }
}
