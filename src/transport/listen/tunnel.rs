//! Carries the bytes of another protocol that the observer sees as they pass.

use super::proxy::{Exchange, Line, Passage};
use super::tee::seen;
use crate::transport::client::http::{BodyFilter, ExchangeEvent};
use crate::wire::Direction;
use crate::wire::text::error_chain;
use bytes::Bytes;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Carries bytes in both directions after a protocol switch.
pub(super) async fn tunnel(from_client: OnUpgrade, to_server: OnUpgrade, mut passage: Passage, line: Arc<Line>) {
    passage.answered = true;
    let (client, server) = match tokio::try_join!(from_client, to_server) {
        Ok((client, server)) => (TokioIo::<Upgraded>::new(client), TokioIo::<Upgraded>::new(server)),
        Err(error) => return passage.exchange.see(ExchangeEvent::ResponseEnd(Some(&error_chain(&error)))),
    };
    let (client_read, client_write) = tokio::io::split(client);
    let (server_read, server_write) = tokio::io::split(server);
    let (up, down) = tokio::join!(
        carry(client_read, server_write, Direction::ClientToServer, &passage.exchange),
        carry(server_read, client_write, Direction::ServerToClient, &passage.exchange),
    );
    passage.exchange.see(ExchangeEvent::RequestEnd(up.as_deref()));
    passage.exchange.see(ExchangeEvent::ResponseEnd(down.as_deref()));
    drop(line);
}

/// Carries bytes until the end. Returns the reason if the connection broke.
async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    direction: Direction,
    exchange: &Exchange,
) -> Option<String> {
    let mut body_filter = exchange.body_filter(direction);
    let mut chunk = vec![0u8; 16 << 10];
    let broke = loop {
        let passed = tokio::select! {
            inserted = inserted(&mut body_filter) => inserted,
            got = from.read(&mut chunk) => match got {
                Ok(0) => break None,
                Ok(got) => {
                    exchange.see(seen(direction, &chunk[..got]));
                    match &mut body_filter {
                        Some(body_filter) => body_filter.pass(Bytes::copy_from_slice(&chunk[..got])),
                        None => Bytes::copy_from_slice(&chunk[..got]),
                    }
                }
                Err(error) => break Some(error.to_string()),
            },
        };
        if let Err(error) = to.write_all(&passed).await {
            break Some(error.to_string());
        }
    };
    if let Some(mut body_filter) = body_filter {
        let _ = to.write_all(&body_filter.finish()).await;
    }
    let _ = to.shutdown().await;
    broke
}

/// The next inserted bytes.
async fn inserted(body_filter: &mut Option<Box<dyn BodyFilter>>) -> Bytes {
    match body_filter {
        Some(body_filter) => std::future::poll_fn(|context| body_filter.poll_insert(context)).await,
        None => std::future::pending().await,
    }
}
