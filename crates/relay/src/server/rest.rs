//! What a sender still sends when its answer is known already. It is read and dropped before it is answered: a connection
//! that is closed on a sender loses the answer, and the request after it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Request;
use countersign_protocol::MAX_BODY;
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

/// How much is read, in bytes; who sends more is cut off.
const MOST: usize = 16 * MAX_BODY;
/// The longest that a body may take to come.
pub const WITHIN: Duration = Duration::from_secs(10);

type Slot = Arc<Mutex<Option<Body>>>;

/// The part of one request's body that nobody has read.
#[derive(Debug)]
pub struct Rest {
    left: Slot,
    until: Instant,
}

impl Rest {
    /// The same request; what is not read of its body comes back when it is dropped.
    pub fn of(request: Request<Body>) -> (Request<Body>, Rest) {
        let rest = Rest {
            left: Slot::default(),
            until: Instant::now() + WITHIN,
        };
        let lent = |body| Body::new(Lent(body, Arc::clone(&rest.left)));
        (request.map(lent), rest)
    }

    /// Reads it to its end.
    pub async fn read(self) {
        let body = self.left.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = body else { return };
        let all = async {
            let mut length = 0;
            while length <= MOST {
                let Some(Ok(frame)) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await else {
                    return;
                };
                length += frame.into_data().map_or(0, |data| data.len());
            }
        };
        // Who takes longer is cut off as well.
        let _ = tokio::time::timeout_at(self.until, all).await;
    }
}

struct Lent(Body, Slot);

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.0.is_end_stream() {
            let rest = std::mem::take(&mut self.0);
            *self.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
        }
    }
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
