//! HTTP/1.1 written by hand on sockets: a server that behaves as the test says, right or wrong; a client that sees
//! responses chunk by chunk; and mcpreel between them.
//!
//! Uses no HTTP library, which would repair what a test wants broken.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use super::{BINARY, LIMIT, Live, Stage, until};

/// A request's or a response's head, as received.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    /// The first line.
    pub line: String,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// Reads up to the blank line; `None` if the stream ends before it.
    fn read(stream: &mut impl BufRead) -> Option<Self> {
        let line = text_line(stream)?;
        let mut head = Self { line, headers: Vec::new() };
        loop {
            let line = text_line(stream)?;
            if line.is_empty() {
                return Some(head);
            }
            let (name, value) = line.split_once(':')?;
            head.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| &*header.1)
    }

    /// A response's status.
    pub(crate) fn status(&self) -> u16 {
        self.line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// How the end of the following body is marked.
    fn body(&self, is_request: bool) -> Rest {
        if self.header("transfer-encoding").is_some() {
            return Rest::Chunks(0);
        }
        let length = self.header("content-length").map(|length| length.parse().expect("a length"));
        let none = is_request || [101, 202, 204, 304].contains(&self.status()) && length.is_none();
        length.or(none.then_some(0)).map_or(Rest::ToTheEnd, Rest::Bytes)
    }
}

/// A line without its end; `None` if the stream ends before it.
fn text_line(stream: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line).ok()?;
    let line = line.strip_suffix(b"\n")?;
    Some(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
}

/// The rest of a body.
#[derive(Clone, Copy, Debug)]
enum Rest {
    Bytes(usize),
    /// The remaining bytes of this chunk.
    Chunks(usize),
    ToTheEnd,
    Over,
}

/// A request as the server received it.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub head: Head,
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// The path and query.
    pub(crate) fn target(&self) -> &str {
        self.head.line.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn is(&self, method: &str) -> bool {
        self.head.line.starts_with(method)
    }
}

/// The server's end of a connection.
pub(crate) type Wire = BufReader<TcpStream>;

/// Starts a server on a free port. `script` is called for each request, on one thread per connection. The connection
/// ends when the script returns false, by a reset if unread bytes are left.
pub(crate) fn serve(script: impl Fn(&ReceivedRequest, &mut Wire) -> bool + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let script = Arc::new(script);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let script = Arc::clone(&script);
            thread::spawn(move || {
                stream.set_nodelay(true).expect("a socket");
                let mut wire = BufReader::new(stream);
                while let Some(head) = Head::read(&mut wire) {
                    let mut body = Incoming { rest: head.body(true), cut: false };
                    let body = body.all(&mut wire);
                    if !script(&ReceivedRequest { head, body }, &mut wire) {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Writes, whether or not the other side still reads.
pub(crate) fn say(wire: &mut Wire, bytes: impl AsRef<[u8]>) {
    let _ = wire.get_mut().write_all(bytes.as_ref());
}

/// A complete response with a JSON body.
pub(crate) fn json_answer(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// The head of a response with a chunked body.
pub(crate) const EVENTS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
/// The end of such a body.
pub(crate) const END: &str = "0\r\n\r\n";

/// One chunk.
pub(crate) fn chunk(bytes: &str) -> String {
    format!("{:x}\r\n{bytes}\r\n", bytes.len())
}

/// A body that is being read.
struct Incoming {
    rest: Rest,
    cut: bool,
}

impl Incoming {
    /// The next bytes as received; `None` when the body ended or broke off.
    fn next(&mut self, stream: &mut impl BufRead) -> Option<Vec<u8>> {
        let bytes = self.try_next(stream);
        if bytes.is_none() && !matches!(self.rest, Rest::Over) {
            (self.rest, self.cut) = (Rest::Over, true);
        }
        bytes
    }

    fn try_next(&mut self, stream: &mut impl BufRead) -> Option<Vec<u8>> {
        match self.rest {
            Rest::Over => None,
            Rest::Bytes(left) => {
                let got = some(stream, left)?;
                self.rest = if got.len() == left { Rest::Over } else { Rest::Bytes(left - got.len()) };
                Some(got).filter(|got| !got.is_empty())
            }
            Rest::Chunks(0) => {
                let length = usize::from_str_radix(&text_line(stream)?, 16).ok()?;
                if length == 0 {
                    text_line(stream)?;
                    self.rest = Rest::Over;
                    return None;
                }
                self.rest = Rest::Chunks(length);
                self.try_next(stream)
            }
            Rest::Chunks(left) => {
                let got = some(stream, left)?;
                self.rest = Rest::Chunks(left - got.len());
                if got.len() == left && !text_line(stream)?.is_empty() {
                    (self.rest, self.cut) = (Rest::Over, true);
                }
                Some(got)
            }
            Rest::ToTheEnd => {
                let got = some(stream, usize::MAX).filter(|got| !got.is_empty());
                if got.is_none() {
                    self.rest = Rest::Over;
                }
                got
            }
        }
    }

    fn all(&mut self, stream: &mut impl BufRead) -> Vec<u8> {
        std::iter::from_fn(|| self.next(stream)).flatten().collect()
    }
}

/// Available bytes, at most `most`; `None` if the stream ended before a required byte.
fn some(stream: &mut impl BufRead, most: usize) -> Option<Vec<u8>> {
    if most == 0 {
        return Some(Vec::new());
    }
    let got = stream.fill_buf().ok()?;
    let got = got[..got.len().min(most)].to_vec();
    stream.consume(got.len());
    (!got.is_empty() || most == usize::MAX).then_some(got)
}

/// A client's connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    body: Incoming,
}

/// A complete response; `status` is 0 if not even a head was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub status: u16,
    pub content_type: Option<String>,
    pub body: String,
    /// The body broke off.
    pub cut: bool,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(LIMIT)).expect("a socket");
        stream.set_nodelay(true).expect("a socket");
        Self { stream: BufReader::new(stream), body: Incoming { rest: Rest::Over, cut: false } }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.get_mut().write_all(bytes.as_ref()).expect("the other side reads");
    }

    /// Sends a POST of JSON to `/mcp` with these additional header lines.
    pub(crate) fn post(&mut self, more: &str, body: &str) {
        let length = body.len();
        self.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{more}"));
        self.send(format!("Content-Length: {length}\r\n\r\n{body}"));
    }

    /// Sends a GET for an event stream at this target.
    pub(crate) fn get(&mut self, target: &str) {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"));
    }

    /// The next response's head; `None` if there is none.
    pub(crate) fn head(&mut self) -> Option<Head> {
        let head = Head::read(&mut self.stream)?;
        self.body = Incoming { rest: head.body(false), cut: false };
        Some(head)
    }

    /// The next bytes of its body, as received.
    pub(crate) fn next(&mut self) -> Option<String> {
        let bytes = self.body.next(&mut self.stream)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The complete response.
    pub(crate) fn reply(&mut self) -> Reply {
        self.head_and_reply().1
    }

    /// The complete response, and its head.
    pub(crate) fn head_and_reply(&mut self) -> (Head, Reply) {
        let Some(head) = self.head() else {
            return (Head::default(), Reply { status: 0, content_type: None, body: String::new(), cut: true });
        };
        let body = self.body.all(&mut self.stream);
        let body = String::from_utf8_lossy(&body).into_owned();
        let content_type = head.header("content-type").map(str::to_owned);
        let reply = Reply { status: head.status(), content_type, body, cut: self.body.cut };
        (head, reply)
    }

    /// Closes the connection.
    pub(crate) fn hang_up(self) {
        let _ = self.stream.get_ref().shutdown(Shutdown::Both);
    }
}

/// One POST on a connection of its own.
pub(crate) fn post(address: SocketAddr, more: &str, body: &str) -> Reply {
    let mut client = Client::connect(address);
    client.post(more, body);
    client.reply()
}

/// `mcpreel record --listen` in front of a server, recording to `t.reel`.
pub(crate) struct Tap<'a> {
    pub address: SocketAddr,
    stage: &'a Stage,
    live: Live,
}

impl<'a> Tap<'a> {
    /// In front of `http://SERVER/mcp`.
    pub(crate) fn start(stage: &'a Stage, server: SocketAddr, options: &[&str]) -> Self {
        Self::in_front_of(stage, &format!("http://{server}/mcp"), options)
    }

    pub(crate) fn in_front_of(stage: &'a Stage, url: &str, options: &[&str]) -> Self {
        // Standard error goes to a file that can be read while the process runs.
        let mut words = vec!["sh", "-c", "exec \"$0\" \"$@\" 2>reported", BINARY];
        words.extend(["record", "--force", "-o", "t.reel", "--listen", "0", "--url", url]);
        words.extend(options);
        let live = Live::start(stage.command(&words));
        let address = until("the tap listens", || {
            let reported = std::fs::read_to_string(stage.path("reported")).unwrap_or_default();
            let (_, rest) = reported.split_once("listening on http://")?;
            rest.split_once('/')?.0.parse().ok()
        });
        Self { address, stage, live }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.live.pid()
    }

    /// The peak memory, in bytes.
    pub(crate) fn peak(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
    }

    /// Ends it; returns the reel's events without the header.
    pub(crate) fn end(self) -> Vec<serde_json::Value> {
        self.end_by("TERM")
    }

    /// Ends it with this signal.
    pub(crate) fn end_by(self, signal: &str) -> Vec<serde_json::Value> {
        self.live.signal(signal);
        let ended = self.live.end_with_open_stdin();
        assert_eq!(ended.code(), 0, "{ended:?}");
        self.stage.events("t.reel").split_off(1)
    }
}

/// Splits what one side of a connection sent: each head with its body. The last one may be incomplete.
pub(crate) fn said(bytes: &[u8], are_requests: bool) -> Vec<(Head, Vec<u8>)> {
    let mut rest = BufReader::new(bytes);
    let mut all = Vec::new();
    while let Some(head) = Head::read(&mut rest) {
        let mut body = Incoming { rest: head.body(are_requests), cut: false };
        let body = body.all(&mut rest);
        all.push((head, body));
    }
    all
}

/// The messages of an event stream: the data of its events, without those of other types and empty ones.
pub(crate) fn messages_of(stream: &str) -> Vec<String> {
    let field = |block: &str, name: &str| -> Option<String> {
        let values = block.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let values: Vec<&str> = values.map(|value| value.strip_prefix(' ').unwrap_or(value)).collect();
        (!values.is_empty()).then(|| values.join("\n"))
    };
    let stream = stream.replace("\r\n", "\n");
    let is_message = |block: &&str| field(block, "event").is_none_or(|event| event == "message");
    let data = stream.split("\n\n").filter(is_message).filter_map(|block| field(block, "data"));
    data.filter(|data| !data.trim().is_empty()).collect()
}
