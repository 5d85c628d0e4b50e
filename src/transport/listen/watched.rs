//! Connections whose messages are checked as they are read, and what is known of them.

use super::client_end::ClientEnd;
use super::head_gate::HeadGate;
use super::heads::{Asker, Heads, Side};
use super::outlet::{Outbox, Outlet};
use super::repairs::{FramingFault, Repair};
use parking_lot::Mutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// An extension of requests on connections where a length is uncertain ([`Heads::is_ambiguous`]), with the reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AmbiguousLength(pub &'static str);

/// What is known of the messages that a peer sends on a connection, for those who pass them on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionFlags(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    /// The number of a [`FramingFault`]; 0 if there is none.
    fault: AtomicU8,
    is_over: AtomicBool,
    is_late: AtomicBool,
    /// A coding was hidden from the library.
    has_hidden: AtomicBool,
    /// The connection must not be used again.
    is_last: AtomicBool,
    /// The next response is for `HEAD`.
    to_head: AtomicBool,
    /// The bits of repairs that nobody has taken yet.
    repairs: AtomicU16,
    /// Of the request after which the connection was given up.
    asker: Mutex<Asker>,
    end: ClientEnd,
}

impl ConnectionFlags {
    /// Who sent the request after which the connection was given up.
    pub(super) fn asker(&self) -> Asker {
        std::mem::take(&mut self.0.asker.lock())
    }

    /// Why a message's length was uncertain, if one was: nothing after it on this connection can be trusted.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let number = self.0.fault.load(Ordering::Acquire);
        FramingFault::ALL.into_iter().find(|fault| *fault as u8 == number).map(FramingFault::reported)
    }

    /// Stops checking, because the connection switches to another protocol.
    pub(crate) fn end(&self) {
        self.0.is_over.store(true, Ordering::Release);
    }

    /// Whether a client took too long for a head of which it had sent a part.
    pub(crate) fn is_late(&self) -> bool {
        self.0.is_late.load(Ordering::Acquire)
    }

    /// Takes whether a message had headers that were hidden from the library.
    pub(crate) fn take_hidden(&self) -> bool {
        self.0.has_hidden.swap(false, Ordering::AcqRel)
    }

    /// Whether the connection must not be used again.
    pub(crate) fn is_last(&self) -> bool {
        self.0.is_last.load(Ordering::Acquire)
    }

    /// Takes what the messages have needed since the last call.
    pub(crate) fn take_repairs(&self) -> impl Iterator<Item = Repair> + use<> {
        let taken = self.0.repairs.swap(0, Ordering::AcqRel);
        Repair::ALL.into_iter().filter(move |repair| taken & repair.bit() != 0)
    }

    /// The end of what the client sends.
    pub(super) fn client_end(&self) -> &ClientEnd {
        &self.0.end
    }

    /// Says whether the next response is for `HEAD`.
    pub(crate) fn expect_response(&self, to_head: bool) {
        self.0.to_head.store(to_head, Ordering::Release);
    }
}

/// A connection whose messages are checked as they are read. A head is passed on as a whole, changed if the library would
/// misread it; whoever reads it gets to know it as it came ([`restore`](super::head_gate::restore)). A client that takes too
/// long for a head is cut off.
pub(crate) struct Watched<S> {
    stream: S,
    gate: HeadGate,
    outlet: Outlet,
    known: ConnectionFlags,
    /// When the current head must be complete, and how long each may take.
    timer: Option<(Pin<Box<Sleep>>, Duration)>,
    /// The timer is for the head that is arriving.
    is_timed: bool,
}

impl<S> Watched<S> {
    /// Checks the requests that are read from a stream. Each head, and the beginning of the first one, may take this
    /// long.
    pub(crate) fn of_client(stream: S, head_time: Duration, outbox: &Outbox) -> (Self, ConnectionFlags) {
        let known = ConnectionFlags::default();
        let timer = Some((Box::pin(tokio::time::sleep(head_time)), head_time));
        let gate = HeadGate::new(Heads::default());
        let outlet = Outlet::new(Side::Responses { to_head: false }, outbox.clone());
        (Self { stream, gate, outlet, known: known.clone(), timer, is_timed: true }, known)
    }

    /// Checks the responses that are read from a stream.
    pub(crate) fn of_server(stream: S, known: ConnectionFlags, outbox: &Outbox) -> Self {
        let gate = HeadGate::new(Heads::of(Side::Responses { to_head: false }));
        let outlet = Outlet::new(Side::Requests, outbox.clone());
        Self { stream, gate, outlet, known, timer: None, is_timed: false }
    }

    /// Takes bytes that were read. Returns how many of them may be passed on now.
    fn take(&mut self, bytes: &mut [u8]) -> usize {
        self.gate.heads.expect(self.known.0.to_head.load(Ordering::Acquire));
        let passed = self.gate.take(bytes);
        let (heads, flags) = (&mut self.gate.heads, &self.known.0);
        if let Some(fault) = heads.fault {
            flags.fault.store(fault as u8, Ordering::Release);
        }
        let repairs = std::mem::take(&mut heads.repairs);
        if repairs != 0 {
            flags.repairs.fetch_or(repairs, Ordering::AcqRel);
        }
        if repairs & Repair::CodingInOldVersion.bit() != 0 {
            flags.is_last.store(true, Ordering::Release);
        }
        if std::mem::take(&mut self.gate.has_hidden) {
            flags.has_hidden.store(true, Ordering::Release);
        }
        passed
    }

    /// Whether all that came has been read, and an answer to it is not yet out.
    fn owes_answer(&self) -> bool {
        let heads = &self.gate.heads;
        heads.is_between() && self.outlet.is_behind(heads.ended)
    }

    /// Whether the client has taken too long for a head.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let Some((sleep, head_time)) = &mut self.timer else { return false };
        if !std::mem::replace(&mut self.is_timed, true) {
            sleep.as_mut().reset(Instant::now() + *head_time);
        }
        sleep.as_mut().poll(context).is_ready()
    }
}

impl<S> Drop for Watched<S> {
    fn drop(&mut self) {
        *self.known.0.asker.lock() = std::mem::take(&mut self.gate.heads.asker);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while buffer.remaining() > 0 && !this.gate.give(buffer) {
            let before = buffer.filled().len();
            let is_over = this.known.0.is_over.load(Ordering::Acquire);
            let read = Pin::new(&mut this.stream).poll_read(context, buffer);
            let awaits_head = this.gate.heads.awaits_head();
            if read.is_pending() && !is_over && (this.is_timed || awaits_head) && this.is_late(context) {
                this.known.0.is_late.store(awaits_head, Ordering::Release);
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the request's head came too slowly")));
            }
            ready!(read)?;
            if is_over {
                break;
            }
            let read = &mut buffer.filled_mut()[before..];
            if read.is_empty() && !this.gate.release() {
                if this.owes_answer() && this.known.0.end.comes(context) {
                    return Poll::Pending;
                }
                break;
            }
            let passed = this.take(read);
            buffer.set_filled(before + passed);
            this.is_timed &= this.gate.heads.awaits_head();
            if passed > 0 {
                break;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.outlet.poll_write(&mut this.stream, context, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.outlet.poll_write(&mut this.stream, context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        ready!(this.outlet.poll_pending(&mut this.stream, context))?;
        ready!(Pin::new(&mut this.stream).poll_flush(context))?;
        if !this.owes_answer() {
            this.known.0.end.is_answered();
        }
        if this.outlet.ends_flushed() {
            // A peer that is gone need not be told; the library learns of it when it reads.
            let _ = ready!(Pin::new(&mut this.stream).poll_shutdown(context));
            this.outlet.has_ended();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // What the library says by itself, or does not say, is said by another, over the same stream.
        if self.outlet.has_kept() || self.known.is_late() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_head_has_its_time_and_an_idle_connection_more() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let span = Duration::from_secs(10);
        let slow = async |pieces: &str| {
            let (mut client, server) = tokio::io::duplex(1000);
            let (mut watched, _) = Watched::of_client(server, span, &Outbox::default());
            let mut chunk = [0; 100];
            for piece in pieces.split('|').filter(|piece| !piece.is_empty()) {
                client.write_all(piece.as_bytes()).await.expect("written");
                // A part of a head is not passed on.
                if piece.contains("\r\n\r\n") {
                    assert_eq!(watched.read(&mut chunk).await.expect("read"), piece.len());
                }
            }
            let began = Instant::now();
            let read = tokio::time::timeout(5 * span, watched.read(&mut chunk)).await;
            (read.map(|read| read.map_err(|error| error.kind())), began.elapsed())
        };
        for pieces in ["", "G", "GET / HTTP/1.1\r\nHost:", "GET / HTTP/1.1\r\n\r\n|GET"] {
            let (read, elapsed) = slow(pieces).await;
            assert_eq!((read.is_ok(), elapsed), (true, span), "{pieces:?}");
            assert_eq!(read.expect("in time"), Err(io::ErrorKind::TimedOut), "{pieces:?}");
        }
        // A body has a limit of its own, and between two requests a connection may wait.
        for pieces in ["GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n1"] {
            assert!(slow(pieces).await.0.is_err(), "{pieces:?}");
        }
    }
}
