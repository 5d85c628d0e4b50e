//! What goes out on a connection besides what the HTTP library writes, which knows neither the informational responses of
//! another server nor trailers that no head has announced. The outlet follows what the library writes, so that each gets
//! to its place. It also keeps back the error responses that the library makes by itself, and that say nothing.

use super::heads::{Heads, Side};
use hyper::header::{HeaderMap, HeaderName};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tokio::io::AsyncWrite;
use tokio::sync::Notify;

/// What the HTTP library writes by itself when the body of a request with `Expect` is asked for.
const OWN_CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
/// The maximum number of bytes of informational responses that wait for one connection.
const MAX_WAITING: usize = 64 << 10;

/// What is to go out on a connection, by the number of its message, from 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox(Arc<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    state: Mutex<State>,
    /// Notified when there is something that the library does not know of.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// How many messages have begun, or may begin.
    begun: u64,
    /// For each response that was given to the library and is not yet out: whether it is for `HEAD`.
    owed: VecDeque<bool>,
    early: VecDeque<(u64, Vec<u8>)>,
    trailers: VecDeque<(u64, Vec<u8>)>,
    /// The status of an error response of the library's own.
    kept: Option<u16>,
    /// The response before which only the server says to continue.
    foreign_continue: u64,
    /// How often everything has been out.
    flushes: u64,
    /// Waits for the next time.
    awaits_flush: Option<Waker>,
    /// A message is about to begin.
    is_due: bool,
    /// Nothing follows the last message.
    is_over: bool,
}

impl Outbox {
    /// Begins the next message. Returns its number.
    pub(super) fn begin(&self) -> u64 {
        let mut state = self.0.state.lock();
        state.begun += 1;
        state.is_due = false;
        state.begun
    }

    /// Begins a new connection for the same peer.
    pub(super) fn reset(&self) {
        let mut state = self.0.state.lock();
        *state = State { is_due: state.is_due, is_over: state.is_over, ..State::default() };
    }

    /// Says that a message is about to begin.
    pub(super) fn expect(&self) {
        self.0.state.lock().is_due = true;
    }

    /// Ends this direction of the connection behind the last message.
    pub(super) fn end(&self) {
        self.0.state.lock().is_over = true;
        self.0.changed.notify_waiters();
        self.0.changed.notify_one();
    }

    /// Keeps back what the library says by itself to ask for the body of the current request.
    pub(super) fn leave_continue(&self) {
        let mut state = self.0.state.lock();
        state.foreign_continue = state.begun;
    }

    /// Completes once all that the library has begun to write is out. `since` is the same, at first `None`, for each call.
    pub(super) fn poll_flushed(&self, since: &mut Option<u64>, context: &Context<'_>) -> Poll<()> {
        let mut state = self.0.state.lock();
        if state.flushes > *since.get_or_insert(state.flushes) {
            return Poll::Ready(());
        }
        state.awaits_flush = Some(context.waker().clone());
        Poll::Pending
    }

    /// The current message.
    pub(super) fn current(&self) -> u64 {
        self.0.state.lock().begun
    }

    /// A response was given to the library.
    pub(super) fn owe(&self, to_head: bool) {
        self.0.state.lock().owed.push_back(to_head);
    }

    /// Puts an informational response before this message. Returns whether there is space.
    pub(super) fn put_early(&self, number: u64, head: Vec<u8>) -> bool {
        let mut state = self.0.state.lock();
        let waiting: usize = state.early.iter().map(|(_, head)| head.len()).sum();
        let has_space = waiting + head.len() <= MAX_WAITING;
        if has_space {
            state.early.push_back((number, head));
            self.0.changed.notify_one();
        }
        has_space
    }

    /// Puts trailers behind the chunks of this message.
    pub(super) fn put_trailers(&self, number: u64, trailers: &HeaderMap) {
        self.0.state.lock().trailers.push_back((number, lines(trailers)));
    }

    /// Completes when the outlet may have something to write.
    pub(super) async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// The status of the error response that the library wanted to send by itself.
    pub(super) fn kept(&self) -> Option<u16> {
        self.0.state.lock().kept
    }
}

/// Headers as lines, without those that would change how the message is read.
pub(super) fn lines(headers: &HeaderMap) -> Vec<u8> {
    const MEANINGFUL: [HeaderName; 3] =
        [hyper::header::CONTENT_LENGTH, hyper::header::TRANSFER_ENCODING, hyper::header::TRAILER];
    let mut out = Vec::new();
    for (name, value) in headers.iter().filter(|(name, _)| !MEANINGFUL.contains(name)) {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out
}

/// The outgoing side of a connection.
#[derive(Debug)]
pub(super) struct Outlet {
    heads: Heads,
    side: Side,
    outbox: Outbox,
    /// What goes out first, from this position on.
    pending: (Vec<u8>, usize),
    has_kept: bool,
    has_ended: bool,
}

impl Outlet {
    pub(super) fn new(side: Side, outbox: Outbox) -> Self {
        Self { heads: Heads::of(side), side, outbox, pending: (Vec::new(), 0), has_kept: false, has_ended: false }
    }

    /// Whether an error response of the library's own is kept back, with all that follows.
    pub(super) fn has_kept(&self) -> bool {
        self.has_kept
    }

    /// Whether fewer messages have gone out completely than this.
    pub(super) fn is_behind(&self, messages: u64) -> bool {
        self.heads.ended < messages || !self.heads.is_between()
    }

    /// Takes note that everything is out. Returns whether this direction has to be ended now.
    pub(super) fn ends_flushed(&self) -> bool {
        let (waker, ends) = {
            let mut state = self.outbox.0.state.lock();
            state.flushes += 1;
            let is_last = state.is_over && !state.is_due && state.begun > 0 && !self.is_behind(state.begun);
            (state.awaits_flush.take(), is_last && self.side == Side::Requests && !self.has_ended)
        };
        waker.into_iter().for_each(Waker::wake);
        ends
    }

    /// Takes note that this direction was ended.
    pub(super) fn has_ended(&mut self) {
        self.has_ended = true;
    }

    /// Writes what has its place here, before anything else.
    pub(super) fn poll_pending<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            while let Some(left) = Some(&self.pending.0[self.pending.1..]).filter(|left| !left.is_empty()) {
                let written = ready!(Pin::new(&mut *stream).poll_write(context, left))?;
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                self.pending.1 += written;
            }
            match self.next() {
                Some(next) => self.pending = (next, 0),
                None => return Poll::Ready(Ok(())),
            }
        }
    }

    /// The bytes that have their place here.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.outbox.0.state.lock();
        let ended = self.heads.ended;
        state.early.retain(|(number, _)| *number > ended);
        if self.heads.is_between() {
            let is_next = state.early.front().is_some_and(|(number, _)| *number == ended + 1);
            return if is_next { state.early.pop_front().map(|(_, head)| head) } else { None };
        }
        state.trailers.retain(|(number, _)| *number >= ended);
        let is_here = self.heads.is_at_trailers() && state.trailers.front().is_some_and(|(number, _)| *number == ended);
        if is_here { state.trailers.pop_front().map(|(_, trailers)| trailers) } else { None }
    }

    /// Writes some of these bytes.
    pub(super) fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Some(first) = slices.iter().find(|slice| !slice.is_empty()) else { return Poll::Ready(Ok(0)) };
        if self.has_kept || self.keeps(first) {
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        if self.leaves(first) {
            return Poll::Ready(Ok(OWN_CONTINUE.len()));
        }
        ready!(self.poll_pending(stream, context))?;
        let has_trailers = !self.outbox.0.state.lock().trailers.is_empty();
        if !has_trailers {
            let written = ready!(Pin::new(stream).poll_write_vectored(context, slices))?;
            let mut left = written;
            for slice in slices {
                let taken = left.min(slice.len());
                self.follow(&slice[..taken]);
                left -= taken;
            }
            return Poll::Ready(Ok(written));
        }
        // Up to the place of the trailers, which cannot be known before.
        let mut ahead = self.heads.clone();
        let mut end = 0;
        while end < first.len() && !ahead.is_at_trailers() {
            self.expect(&mut ahead);
            end += ahead.take_some(&first[end..]);
        }
        let written = ready!(Pin::new(stream).poll_write(context, &first[..end.max(1)]))?;
        self.follow(&first[..written]);
        Poll::Ready(Ok(written))
    }

    /// Whether the library asks for a body that only the server may ask for.
    fn leaves(&self, bytes: &[u8]) -> bool {
        self.side != Side::Requests
            && self.heads.is_between()
            && bytes.starts_with(OWN_CONTINUE)
            && self.outbox.0.state.lock().foreign_continue == self.heads.ended + 1
    }

    /// Keeps back an error response that no service has made.
    fn keeps(&mut self, bytes: &[u8]) -> bool {
        if self.side == Side::Requests || !self.heads.is_between() {
            return false;
        }
        let status = bytes.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5));
        let status = status.and_then(|status| std::str::from_utf8(status).ok()?.parse::<u16>().ok());
        let mut state = self.outbox.0.state.lock();
        let Some(status) = status.filter(|status| *status >= 400 && state.owed.is_empty()) else { return false };
        (state.kept, self.has_kept) = (Some(status), true);
        true
    }

    /// Says what kind of response comes next.
    fn expect(&self, heads: &mut Heads) {
        if self.side != Side::Requests {
            let behind = usize::try_from(heads.ended - self.heads.ended).unwrap_or(usize::MAX);
            heads.expect(self.outbox.0.state.lock().owed.get(behind).copied().unwrap_or_default());
        }
    }

    /// Follows bytes that were written.
    fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let ended = self.heads.ended;
            if self.side != Side::Requests && self.heads.is_at_head() {
                self.heads.expect(self.outbox.0.state.lock().owed.front().copied().unwrap_or_default());
            }
            bytes = &bytes[self.heads.take_some(bytes)..];
            if self.heads.ended != ended {
                self.outbox.0.state.lock().owed.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    /// Takes a few bytes at a time.
    struct Slow(Vec<u8>, usize);

    impl AsyncWrite for Slow {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let taken = bytes.len().min(self.1);
            self.0.extend_from_slice(&bytes[..taken]);
            Poll::Ready(Ok(taken))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn written(outlet: &mut Outlet, bytes: &str, (cuts, slow): (usize, usize), out: &mut Vec<u8>) {
        let mut context = Context::from_waker(Waker::noop());
        let mut stream = Slow(std::mem::take(out), slow);
        for mut piece in bytes.as_bytes().chunks(cuts) {
            while !piece.is_empty() {
                let (one, two) = piece.split_at(piece.len() / 2);
                let slices = [IoSlice::new(one), IoSlice::new(two)];
                let Poll::Ready(Ok(taken)) = outlet.poll_write(&mut stream, &mut context, &slices) else { panic!() };
                assert!(taken > 0);
                piece = &piece[taken..];
            }
        }
        let flushed = outlet.poll_pending(&mut stream, &mut context);
        assert!(matches!(flushed, Poll::Ready(Ok(()))));
        *out = stream.0;
    }

    #[test]
    fn each_gets_to_its_place_at_every_cut() {
        let trailers: HeaderMap =
            [(HeaderName::from_static("x-sum"), HeaderValue::from_static("7"))].into_iter().collect();
        let first = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n0\r\n\r\n0\r\n\r\n0\r\n\r\n";
        let to_head = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n";
        let last = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;x\r\n5\r\n0\r\n\r\n";
        let early = "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n";
        let expected = [
            early,
            first,
            early,
            early,
            to_head,
            &format!("{}x-sum: 7\r\n\r\n", last.strip_suffix("\r\n").expect("an end")),
        ];
        for cuts in 1..60 {
            for slow in [1, 3, 1000] {
                let outbox = Outbox::default();
                let mut outlet = Outlet::new(Side::Responses { to_head: false }, outbox.clone());
                let mut out = Vec::new();
                assert!(outbox.put_early(outbox.begin(), early.into()));
                outbox.owe(false);
                written(&mut outlet, first, (cuts, slow), &mut out);
                // For a message that is over: it is dropped.
                assert!(outbox.put_early(1, early.into()));
                outbox.put_trailers(1, &trailers);
                let number = outbox.begin();
                assert!(outbox.put_early(number, early.into()) && outbox.put_early(number, early.into()));
                outbox.owe(true);
                written(&mut outlet, to_head, (cuts, slow), &mut out);
                outbox.put_trailers(outbox.begin(), &trailers);
                outbox.owe(false);
                written(&mut outlet, last, (cuts, slow), &mut out);
                assert_eq!(String::from_utf8_lossy(&out), expected.concat(), "{cuts} {slow}");
                assert!(outbox.0.state.lock().owed.is_empty());
            }
        }
    }

    #[test]
    fn only_the_server_says_to_continue_where_it_is_left_to_it() {
        let own = std::str::from_utf8(OWN_CONTINUE).expect("text");
        let servers = "HTTP/1.1 100 Continue\r\nx-from: server\r\n\r\n";
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 26\r\n\r\n";
        let outbox = Outbox::default();
        let mut outlet = Outlet::new(Side::Responses { to_head: false }, outbox.clone());
        let mut out = Vec::new();
        let mut context = Context::from_waker(Waker::noop());
        for is_left in [true, false, true] {
            let number = outbox.begin();
            if is_left {
                outbox.leave_continue();
            }
            assert!(outbox.put_early(number, servers.into()));
            outbox.owe(false);
            // The library may write both at once. A body is no head.
            let all = [own, answer, own, " "].concat();
            let mut left = all.as_bytes();
            while !left.is_empty() {
                let mut stream = Slow(std::mem::take(&mut out), 1000);
                let taken = outlet.poll_write(&mut stream, &mut context, &[IoSlice::new(left)]);
                let Poll::Ready(Ok(taken)) = taken else { panic!() };
                (out, left) = (stream.0, &left[taken..]);
            }
            let expected = if is_left { [servers, answer, own, " "] } else { [servers, &all, "", ""] };
            assert_eq!(String::from_utf8_lossy(&std::mem::take(&mut out)), expected.concat(), "{is_left}");
        }
    }

    #[test]
    fn a_direction_ends_behind_its_last_message_and_not_before() {
        let request = "GET / HTTP/1.1\r\n\r\n";
        let outbox = Outbox::default();
        let mut outlet = Outlet::new(Side::Requests, outbox.clone());
        let mut out = Vec::new();
        let mut send = |outlet: &mut Outlet, bytes: &str| {
            written(outlet, bytes, (99, 99), &mut out);
            outlet.ends_flushed()
        };
        outbox.expect();
        outbox.begin();
        assert!(!send(&mut outlet, request));
        // The next is about to begin; the connection is new.
        outbox.expect();
        outbox.end();
        assert!(!outlet.ends_flushed());
        outbox.reset();
        let mut outlet = Outlet::new(Side::Requests, outbox.clone());
        assert!(!outlet.ends_flushed());
        outbox.begin();
        assert!(!outlet.ends_flushed() && !send(&mut outlet, &request[..9]) && send(&mut outlet, &request[9..]));
        outlet.has_ended();
        assert!(!outlet.ends_flushed());
    }

    #[test]
    fn an_error_that_nobody_has_made_is_kept_and_another_goes_out() {
        let error = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        for (owed, kept) in [(true, None), (false, Some(400))] {
            let outbox = Outbox::default();
            let mut outlet = Outlet::new(Side::Responses { to_head: false }, outbox.clone());
            let mut out = Vec::new();
            written(&mut outlet, "HTTP/1.1 100 Continue\r\n\r\n", (9, 9), &mut out);
            if owed {
                outbox.owe(false);
            }
            written(&mut outlet, error, (99, 9), &mut out);
            assert_eq!((outbox.kept(), outlet.has_kept()), (kept, !owed));
            assert_eq!(out.len(), "HTTP/1.1 100 Continue\r\n\r\n".len() + if owed { error.len() } else { 0 });
        }
    }
}
