//! `bare_proxy PORT SERVER_PORT`: relays requests to the server on this machine, and does nothing else: it removes no
//! header, has no time limits, and looks at nothing. On one thread, with a connection to the server for each client's, as
//! in `record --listen`.

use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

fn main() -> Result<(), Box<dyn Error>> {
    let ports: Vec<u16> = std::env::args().skip(1).map(|port| port.parse()).collect::<Result<_, _>>()?;
    let [port, server] = ports[..] else { return Err("usage: bare_proxy PORT SERVER_PORT".into()) };
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        loop {
            let (client, _) = listener.accept().await?;
            tokio::spawn(async move {
                if let Err(error) = serve(client, server).await {
                    eprintln!("bare_proxy: {error}");
                }
            });
        }
    })
}

/// Serves one client's connection.
async fn serve(client: TcpStream, server: u16) -> Result<(), Box<dyn Error + Send + Sync>> {
    let upstream = TcpStream::connect(("127.0.0.1", server)).await?;
    client.set_nodelay(true)?;
    upstream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(upstream)).await?;
    tokio::spawn(connection);
    let sender = Arc::new(Mutex::new(sender));
    let service = service_fn(move |request| relay(Arc::clone(&sender), request));
    http1::Builder::new().auto_date_header(false).serve_connection(TokioIo::new(client), service).await?;
    Ok(())
}

async fn relay(
    sender: Arc<Mutex<SendRequest<Incoming>>>,
    request: Request<Incoming>,
) -> Result<Response<Incoming>, hyper::Error> {
    let mut sender = sender.lock().await;
    sender.ready().await?;
    sender.send_request(request).await
}
