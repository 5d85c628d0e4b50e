//! `bare_proxy PORT SERVER_PORT [FILE]`: relays requests to the server on this machine, on one thread, with a connection to
//! the server for each client's, as `record --listen` does.
//!
//! Without a file, it does nothing else. With one, it also does the least that a recorder cannot leave out: it keeps the
//! case of header names, gives heads a time limit, and copies heads and bodies to a thread that compresses them into the
//! file. It checks, redacts, frames and numbers nothing.

use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::{Bytes, Frame, Incoming};
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex as AsyncMutex;

type Fault = Box<dyn Error + Send + Sync>;
type Body = BoxBody<Bytes, hyper::Error>;

const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How often what was copied is compressed.
const PAUSE: Duration = Duration::from_millis(10);

fn main() -> Result<(), Fault> {
    let mut words = std::env::args().skip(1);
    let mut port = || words.next().ok_or("usage: bare_proxy PORT SERVER_PORT [FILE]")?.parse::<u16>().map_err(Fault::from);
    let (port, server) = (port()?, port()?);
    let copy = words.next().map(|path| Copy::start(File::create(path)?)).transpose()?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        loop {
            let (client, _) = listener.accept().await?;
            let copy = copy.clone();
            tokio::spawn(async move {
                if let Err(error) = serve(client, server, copy).await {
                    eprintln!("bare_proxy: {error}");
                }
            });
        }
    })
}

/// Serves one client's connection.
async fn serve(client: TcpStream, server: u16, copy: Option<Copy>) -> Result<(), Fault> {
    let upstream = TcpStream::connect(("127.0.0.1", server)).await?;
    client.set_nodelay(true)?;
    upstream.set_nodelay(true)?;
    let records = copy.is_some();
    let (sender, connection) = Builder::new().preserve_header_case(records).handshake(TokioIo::new(upstream)).await?;
    tokio::spawn(connection);
    let sender = Arc::new(AsyncMutex::new(sender));
    let service = service_fn(move |request| relay(Arc::clone(&sender), request, copy.clone()));
    let mut builder = http1::Builder::new();
    builder.auto_date_header(false).preserve_header_case(records);
    if records {
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    }
    builder.serve_connection(TokioIo::new(client), service).await?;
    Ok(())
}

async fn relay(
    sender: Arc<AsyncMutex<SendRequest<Body>>>,
    request: Request<Incoming>,
    copy: Option<Copy>,
) -> Result<Response<Body>, hyper::Error> {
    let (head, body) = request.into_parts();
    if let Some(copy) = &copy {
        copy.head(&head.method, &head.headers);
    }
    let request = Request::from_parts(head, copied(body, copy.clone()));
    let mut sender = sender.lock().await;
    sender.ready().await?;
    let (head, body) = sender.send_request(request).await?.into_parts();
    if let Some(copy) = &copy {
        copy.head(&head.status, &head.headers);
    }
    Ok(Response::from_parts(head, copied(body, copy)))
}

fn copied(body: Incoming, copy: Option<Copy>) -> Body {
    let Some(copy) = copy else { return body.boxed() };
    let pass = move |frame: Frame<Bytes>| {
        if let Some(bytes) = frame.data_ref() {
            copy.take(bytes);
        }
        frame
    };
    body.map_frame(pass).boxed()
}

/// Takes what passes, and compresses it on a thread of its own.
#[derive(Clone)]
struct Copy(Arc<Mutex<Vec<u8>>>);

impl Copy {
    fn start(file: File) -> Result<Self, Fault> {
        let copy = Self(Arc::default());
        let mut encoder = zstd::Encoder::new(file, 3)?;
        let source = copy.clone();
        let mut work = move || -> Result<(), Fault> {
            let mut taken = Vec::new();
            loop {
                std::thread::sleep(PAUSE);
                std::mem::swap(&mut *source.0.lock().unwrap_or_else(PoisonError::into_inner), &mut taken);
                encoder.write_all(&taken)?;
                taken.clear();
            }
        };
        std::thread::Builder::new().spawn(move || {
            if let Err(error) = work() {
                eprintln!("bare_proxy: {error}");
            }
        })?;
        Ok(copy)
    }

    fn take(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
    }

    fn head(&self, start: &impl std::fmt::Display, headers: &HeaderMap) {
        let mut text = String::with_capacity(512);
        let _ = write!(text, "{start}");
        for (name, value) in headers {
            text.push_str(name.as_str());
            text.push_str(value.to_str().unwrap_or_default());
        }
        self.take(text.as_bytes());
    }
}
