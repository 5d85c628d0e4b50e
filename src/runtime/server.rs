//! Runs the built-in server's engine on a pair of byte streams: lines in, lines out, timers, and orders from outside.

use crate::clock::{Clock, Reading};
use crate::server::{Fired, IoRequest, Output, Report, Server};
use crate::transport::Incoming;
use crate::transport::budget::{Backpressure, BackpressurePermit};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// Called with each report that follows from an order, and whether it is the last one.
pub(crate) type FireReportCallback = Box<dyn Fn(&Report, bool) + Send>;

/// An input of a running server.
pub(crate) enum ServerInput {
    /// A message of the host, and its share of the queue.
    Message(Vec<u8>, BackpressurePermit),
    /// Send these.
    Order(Vec<Fired>),
    /// Send this, and call back with the reports.
    Fire(Fired, FireReportCallback),
    /// Send this message, made by someone else, as it is.
    Injected(Vec<u8>),
    /// The result of an I/O request, by its ticket.
    IoDone(u64, Option<Value>),
    /// The host closed its side.
    End,
    /// The connection to the host failed, for this reason.
    Failed(String),
}

impl ServerInput {
    /// Returns a callback that passes what a reader reads to `arrivals`.
    pub(crate) fn of_host(arrivals: Sender<Self>) -> impl FnMut(Incoming) + Send + 'static {
        let proposal = Backpressure::default();
        move |incoming| {
            let arrival = match incoming {
                Incoming::Message(message) => {
                    // Block the reader if the host sends more than the server can handle.
                    let stay = proposal.blocking_enter(message.len());
                    Self::Message(message, stay)
                }
                Incoming::Failed(why) => Self::Failed(why),
                Incoming::Closed => Self::End,
                Incoming::Stderr(_) | Incoming::Undelivered(_) => return,
            };
            drop(arrivals.send(arrival));
        }
    }
}

/// Serves until the host closes its side. Reports go to `observe`. Each message of the host passes `filter`, which returns
/// what the server gets of it. I/O requests go to `send_out`.
///
/// # Errors
///
/// The host cannot be written to, or, with `InvalidData`, its input cannot be accepted.
pub(crate) fn serve(
    mut server: Server,
    arrivals: &Receiver<ServerInput>,
    mut out: impl Write,
    mut observe: impl FnMut(&Report),
    mut filter: impl FnMut(Vec<u8>) -> Option<Vec<u8>>,
    mut send_out: impl FnMut(IoRequest),
) -> io::Result<()> {
    let clock = Clock::start();
    let mut listeners = Listeners::default();
    let mut has_ended = false;
    loop {
        let reading = clock.read();
        server.set_wall_clock(reading.since, reading.wall_ns);
        let arrival = match reading.wait(server.next_timeout(), server.follows_wall_clock()) {
            None => arrivals.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(grace_period) => arrivals.recv_timeout(grace_period),
        };
        let Reading { since: now, wall_ns } = clock.read();
        server.set_wall_clock(now, wall_ns);
        let outputs = match arrival {
            Ok(ServerInput::Message(message, _stay)) => match filter(message) {
                Some(message) => server.receive(now, &message),
                None => Vec::new(),
            },
            Ok(ServerInput::Failed(why)) => return Err(io::Error::new(io::ErrorKind::InvalidData, why)),
            Ok(ServerInput::Order(fired)) => fired.iter().flat_map(|fired| server.fire(now, fired)).collect(),
            Ok(ServerInput::Fire(fired, received)) => {
                let outputs = server.fire(now, &fired);
                listeners.take_in(received, &outputs);
                outputs
            }
            Ok(ServerInput::IoDone(ticket, completed)) => server.complete_io(now, ticket, completed),
            Ok(ServerInput::Injected(message)) => vec![Output::Send(message)],
            Err(RecvTimeoutError::Timeout) => server.handle_timeout(now.max(Duration::from_nanos(1))),
            Ok(ServerInput::End) => {
                has_ended = true;
                server.end(now)
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        for output in outputs {
            match output {
                Output::Send(mut message) => {
                    message.push(b'\n');
                    out.write_all(&message)?;
                }
                Output::Report(report) => {
                    listeners.report(&report);
                    observe(&report);
                }
                Output::IoRequest(io_request) => send_out(io_request),
            }
        }
        out.flush()?;
        if has_ended && !server.is_owing() {
            return Ok(());
        }
    }
}

/// Callbacks that wait for the outcome of a request that the server has sent.
#[derive(Default)]
struct Listeners(HashMap<i64, FireReportCallback>);

impl Listeners {
    /// Calls back with the immediate reports of an order. If the order sent a request, its outcome follows later.
    fn take_in(&mut self, received: FireReportCallback, outputs: &[Output]) {
        let mut reports = outputs.iter().filter_map(|output| match output {
            Output::Report(report) => Some(report),
            Output::Send(_) | Output::IoRequest(_) => None,
        });
        // Reports of earlier work come first, so the last one belongs to the order.
        let Some(last) = reports.rfind(|report| !report.is_aside()) else { return };
        let request = last.request();
        received(last, request.is_none());
        if let Some(id) = request {
            self.0.insert(id, received);
        }
    }

    fn report(&mut self, report: &Report) {
        if matches!(report, Report::Sent { .. }) {
            return;
        }
        if let Some(received) = report.request().and_then(|id| self.0.remove(&id)) {
            received(report, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Config;
    use crate::transport::local::stdio::read_messages;
    use crate::wire::MessageLimit;
    use std::sync::mpsc::channel;

    #[test]
    fn messages_in_give_messages_out_until_the_end() {
        let input =
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}";
        let (sender, arrivals) = channel();
        read_messages(&input[..], MessageLimit::default(), "the host", ServerInput::of_host(sender)).expect("a thread");
        let mut out = Vec::new();
        serve(Server::new(Config::default()), &arrivals, &mut out, |_| {}, Some, drop).expect("a Vec takes all");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.starts_with("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}"), "{text}");
    }

    #[test]
    fn others_messages_go_out_and_answers_to_them_do_not_come_in() {
        let (sender, arrivals) = channel();
        sender.send(ServerInput::Injected(b"{\"id\":\"theirs\",\"method\":\"m\"}".to_vec())).expect("sent");
        let answer = &b"{\"id\":\"theirs\",\"result\":{}}"[..];
        read_messages(answer, MessageLimit::default(), "the host", ServerInput::of_host(sender)).expect("a thread");
        let (mut out, mut reports) = (Vec::new(), 0);
        let filter = |message: Vec<u8>| (!message.starts_with(b"{\"id\":\"theirs\"")).then_some(message);
        serve(Server::new(Config::default()), &arrivals, &mut out, |_| reports += 1, filter, drop).expect("served");
        assert_eq!((out.as_slice(), reports), (&b"{\"id\":\"theirs\",\"method\":\"m\"}\n"[..], 0));
    }

    #[test]
    fn who_orders_receives_what_came_of_it() {
        let (sender, arrivals) = channel();
        let (reported, reports) = channel();
        let fired = Fired::new("log", serde_json::json!({"data": null}));
        let received = move |report: &Report, last| reported.send((format!("{report:?}"), last)).expect("received");
        sender.send(ServerInput::Fire(fired, Box::new(received))).expect("sent");
        sender.send(ServerInput::End).expect("sent");
        serve(Server::new(Config::default()), &arrivals, Vec::new(), |_| {}, Some, drop).expect("served");
        let (report, last) = reports.recv().expect("a report");
        assert!(report.starts_with("NotSent") && last, "{report}");
    }
}
