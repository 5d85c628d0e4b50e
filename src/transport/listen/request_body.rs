//! Reads the complete body of a request, within limits for its length, its time and the memory of all clients.

use crate::transport::budget::{BudgetPermit, IntakeLimits};
use crate::wire::text::error_chain;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Bytes};
use std::error::Error;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The time limit for a body, before the time added for its length.
const GRACE_PERIOD: Duration = Duration::from_secs(30);
/// The number of bytes that extend the time limit by one second (16 KiB).
const MIN_BYTES_PER_SECOND: u32 = 16 << 10;

/// Why a body was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyFault {
    /// It is longer than the limit.
    TooLong,
    /// Other clients hold too much memory.
    Spent,
    /// It arrives too slowly.
    Stalled,
    /// It broke off.
    Broken(String),
}

impl BodyFault {
    /// The HTTP status for this fault.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Spent => StatusCode::SERVICE_UNAVAILABLE,
            Self::Stalled => StatusCode::REQUEST_TIMEOUT,
            Self::Broken(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// A description of this fault.
    pub(crate) fn reported(&self, intake: &IntakeLimits) -> String {
        match self {
            Self::TooLong => intake.exceeded(),
            Self::Spent => BudgetPermit::SPENT.to_owned(),
            Self::Stalled => format!(
                "the body arrives too slowly: it may take {} seconds, and one more for each {} KiB",
                GRACE_PERIOD.as_secs(),
                MIN_BYTES_PER_SECOND >> 10
            ),
            Self::Broken(why) => format!("cannot read the body: {why}"),
        }
    }
}

/// Reads a body to its end. `intake` holds its memory as long as it lives.
///
/// # Errors
/// The body exceeds a limit, or breaks off.
pub(crate) async fn read<B>(mut body: B, intake: &mut IntakeLimits) -> Result<Vec<u8>, BodyFault>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Error + 'static,
{
    let began = Instant::now();
    let mut all = Vec::new();
    let announced = body.size_hint().lower();
    if announced > intake.limit.bytes() as u64 {
        return Err(BodyFault::TooLong);
    }
    loop {
        let earned = Duration::from_secs(all.len() as u64 / u64::from(MIN_BYTES_PER_SECOND));
        let frame = timeout_at(began + GRACE_PERIOD + earned, body.frame()).await.map_err(|_| BodyFault::Stalled)?;
        let Some(frame) = frame else { return Ok(all) };
        let frame = frame.map_err(|error| BodyFault::Broken(error_chain(&error)))?;
        let Some(bytes) = frame.data_ref() else { continue };
        if all.len() + bytes.len() > intake.limit.bytes() {
            return Err(BodyFault::TooLong);
        }
        if !intake.share.hold(all.len() + bytes.len()) {
            return Err(BodyFault::Spent);
        }
        all.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::budget::Budget;
    use crate::wire::MessageLimit;
    use futures_util::StreamExt;
    use futures_util::stream::{iter, pending, unfold};
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use std::io;

    fn chunk(bytes: usize) -> io::Result<Frame<Bytes>> {
        Ok(Frame::data(vec![b'x'; bytes].into()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_a_length_a_share_and_a_time() {
        let limit = MessageLimit::of_bytes(1 << 20);
        let budget = Budget::of_bytes(3 << 20);
        let intake = || IntakeLimits::of_client(limit, &budget);
        let of = |chunks: Vec<io::Result<Frame<Bytes>>>| StreamBody::new(iter(chunks));
        let read_all = async |chunks| read(of(chunks), &mut intake()).await.map(|body| body.len());
        assert_eq!(read_all(vec![chunk(1 << 19), chunk(1 << 19)]).await, Ok(1 << 20));
        assert_eq!(read_all(vec![chunk(1 << 20), chunk(1)]).await, Err(BodyFault::TooLong));
        let broken = read_all(vec![chunk(1), Err(io::Error::other("cut"))]).await;
        assert_eq!(broken.map_err(|fault| fault.status()), Err(StatusCode::BAD_REQUEST));
        let mut others = budget.share();
        assert!(others.hold(3 << 20));
        assert_eq!(read_all(vec![chunk(1 << 19)]).await, Err(BodyFault::Spent));
        drop(others);
        let stuck = StreamBody::new(iter(vec![chunk(1)]).chain(pending()));
        let began = Instant::now();
        let fault = read(stuck, &mut intake()).await.expect_err("stalled");
        assert_eq!((fault.status(), began.elapsed()), (StatusCode::REQUEST_TIMEOUT, GRACE_PERIOD));
        assert!(fault.reported(&intake()).contains("30 seconds"), "{}", fault.reported(&intake()));
        // An occasional byte does not count as progress.
        let dripping = StreamBody::new(Box::pin(unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            Some((chunk(1), ()))
        })));
        assert_eq!(read(dripping, &mut intake()).await, Err(BodyFault::Stalled));
        assert!(budget.share().hold(3 << 20), "all of it is given back");
    }
}
