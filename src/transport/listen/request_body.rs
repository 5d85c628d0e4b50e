//! The body of a request, read whole: up to a length, within what all clients may hold, and not for ever.

use crate::transport::budget::{BudgetPermit, IntakeLimits};
use crate::wire::text::error_chain;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Bytes};
use std::error::Error;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long a body may take, whatever its length.
const GRACE_PERIOD: Duration = Duration::from_secs(30);
/// How many bytes of it give it one second more (16 KiB).
const BYTES_A_SECOND: u32 = 16 << 10;

/// Why a body was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyFault {
    /// It is longer than the limit.
    TooLong,
    /// Others hold too much.
    Spent,
    /// It makes no progress.
    Stalled,
    /// It broke off.
    Broken(String),
}

impl BodyFault {
    /// The status that tells it.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Spent => StatusCode::SERVICE_UNAVAILABLE,
            Self::Stalled => StatusCode::REQUEST_TIMEOUT,
            Self::Broken(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// The same in words.
    pub fn reported(&self, intake: &IntakeLimits) -> String {
        match self {
            Self::TooLong => intake.exceeded(),
            Self::Spent => BudgetPermit::SPENT.to_owned(),
            Self::Stalled => format!(
                "the body comes too slowly: it has {} seconds, and one more for each {} KiB",
                GRACE_PERIOD.as_secs(),
                BYTES_A_SECOND >> 10
            ),
            Self::Broken(why) => format!("the body cannot be read: {why}"),
        }
    }
}

/// Reads a body to its end. What it takes is held by `intake` for as long as that lives.
pub async fn read<B>(mut body: B, intake: &mut IntakeLimits) -> Result<Vec<u8>, BodyFault>
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
        let earned = Duration::from_secs(all.len() as u64 / u64::from(BYTES_A_SECOND));
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
        // A byte now and then is no progress.
        let dripping = StreamBody::new(Box::pin(unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            Some((chunk(1), ()))
        })));
        assert_eq!(read(dripping, &mut intake()).await, Err(BodyFault::Stalled));
        assert!(budget.share().hold(3 << 20), "all of it is given back");
    }
}
