//! Runs the built-in server's engine on a pair of byte streams: lines in, lines out, timers, and orders from outside.

use crate::server::{Fired, Output, Report, Server};
use crate::wire::LineFramer;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// What reaches a running server.
#[derive(Debug)]
pub enum Arrival {
    /// A message of the host.
    Message(Vec<u8>),
    /// An order from outside: send this.
    Order(Vec<Fired>),
    /// The host sends no more.
    End,
}

/// Reads the host's messages to their end, on a thread of its own.
pub fn read_messages(mut input: impl Read + Send + 'static, arrivals: Sender<Arrival>) -> io::Result<()> {
    std::thread::Builder::new().name("stdin".into()).spawn(move || {
        let mut framer = LineFramer::default();
        let mut chunk = vec![0u8; 64 << 10];
        loop {
            let got = match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            framer.push(&chunk[..got], |frame| pass_on(frame.framing.body(frame.payload), &arrivals));
        }
        framer.finish(|frame| pass_on(frame.payload, &arrivals));
        let _ = arrivals.send(Arrival::End);
    })?;
    Ok(())
}

fn pass_on(message: &[u8], arrivals: &Sender<Arrival>) {
    if !message.trim_ascii().is_empty() {
        let _ = arrivals.send(Arrival::Message(message.to_vec()));
    }
}

/// Serves until the host sends no more. Facts go to `report`. Fails where the host cannot be written to.
pub fn serve(
    mut server: Server,
    arrivals: &Receiver<Arrival>,
    mut out: impl Write,
    mut report: impl FnMut(&Report),
) -> io::Result<()> {
    let began = Instant::now();
    loop {
        let patience = server.next_wake().map(|at| at.saturating_sub(began.elapsed()));
        let arrival = match patience {
            None => arrivals.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(patience) => arrivals.recv_timeout(patience),
        };
        let now = began.elapsed();
        let outputs = match arrival {
            Ok(Arrival::Message(message)) => server.receive(now, &message),
            Ok(Arrival::Order(fired)) => fired.into_iter().flat_map(|fired| server.fire(now, fired)).collect(),
            Err(RecvTimeoutError::Timeout) => server.wake(now.max(Duration::from_nanos(1))),
            Ok(Arrival::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        for output in outputs {
            match output {
                Output::Send(mut message) => {
                    message.push(b'\n');
                    out.write_all(&message)?;
                }
                Output::Report(fact) => report(&fact),
            }
        }
        out.flush()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Config;
    use std::sync::mpsc::channel;

    #[test]
    fn messages_in_give_messages_out_until_the_end() {
        let input =
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}";
        let (sender, arrivals) = channel();
        read_messages(&input[..], sender).expect("a thread");
        let mut out = Vec::new();
        serve(Server::new(Config::default()), &arrivals, &mut out, |_| {}).expect("a Vec takes all");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.starts_with("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}"), "{text}");
    }
}
