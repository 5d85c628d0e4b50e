use super::*;
use crate::transport::Link;
use crate::transport::budget::Budget;
use serde_json::Value;

/// A backend that passes everything, cannot be opened, and stores descriptions of what was made or lost.
#[derive(Default)]
struct Through(Mutex<Vec<String>>);

impl Backend for Through {
    fn open(&self, _: u32) -> Result<Opened, String> {
        Err("nothing is opened here".to_owned())
    }

    fn pass(&self, _: u32, _: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        Some(message)
    }

    fn made(&self, _: u32, message: &[u8]) {
        self.0.lock().push(String::from_utf8_lossy(message).into_owned());
    }

    fn lost(&self, _: u32, reported: &str) {
        self.0.lock().push(reported.to_owned());
    }

    fn see_stderr(&self, _: u32, _: &[u8]) {}

    fn closed(&self, _: u32, _: &str) {}
}

/// A session, its server's end of the link, and its backend.
fn session(id: &str) -> (Arc<Session>, Link, Arc<Through>) {
    let (link, theirs) = Link::pair();
    let opened = Opened { link, end: Box::pin(std::future::ready(())) };
    let backend = Arc::new(Through::default());
    (
        Session::start(id.to_owned(), 1, opened, Arc::clone(&backend) as Arc<dyn Backend>, &Budget::of_bytes(1 << 20)),
        theirs,
        backend,
    )
}

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const NOTIFICATION: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/x"}"#;

async fn post(session: &Arc<Session>, message: &[u8]) -> Posted {
    session.post(message.to_vec()).await.flatten().expect("it is answered")
}

#[tokio::test]
async fn a_server_that_does_not_read_is_received_and_can_be_ended() {
    let (session, mut theirs, _) = session("s");
    let mut said = session.listen().expect("the only one");
    let poster = Arc::clone(&session);
    let posting = tokio::spawn(async move { while poster.post(NOTIFICATION.to_vec()).await.is_some() {} });
    for _ in 0..500 {
        assert!(theirs.send(NOTIFICATION.to_vec()).await);
    }
    for _ in 0..500 {
        said.recv().await.expect("said");
    }
    session.close("the test").await;
    posting.await.expect("ends");
}

#[tokio::test]
async fn who_hangs_up_cancels_in_the_stateless_era_and_may_come_back_before() {
    for (id, is_cancelled) in [("", true), ("s", false)] {
        let (session, mut theirs, _) = session(id);
        let Posted { said, guard } = post(&session, PING).await;
        assert_eq!(theirs.receive().await, Incoming::Message(PING.to_vec()));
        drop((said, guard));
        session.put(NOTIFICATION.to_vec(), |_| {}).expect("taken");
        let Incoming::Message(next) = theirs.receive().await else { panic!("a message") };
        assert_eq!(next.starts_with(br#"{"jsonrpc":"2.0","method":"notifications/cancelled""#), is_cancelled);
        assert!(theirs.send(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec()).await);
        let resumed = session.resume("1-0");
        assert_eq!(resumed.is_some(), !is_cancelled);
        if let Some(mut said) = resumed {
            assert!(said.recv().await.expect("the answer").is_answer());
        }
    }
}

#[tokio::test]
async fn what_is_lost_is_reported_once() {
    let (session, mut theirs, backend) = session("");
    let mut posted = post(&session, PING).await;
    for _ in 0..3 {
        assert!(theirs.send(NOTIFICATION.to_vec()).await);
    }
    assert!(theirs.send(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec()).await);
    assert!(posted.said.recv().await.expect("the answer").is_answer());
    let reported = backend.0.lock().clone();
    assert_eq!((reported.len(), reported[0].contains("belongs to no request")), (1, true), "{reported:?}");
    assert!(session.hand_on(NOTIFICATION.to_vec()).is_err(), "the injector gets the error each time");
}

#[tokio::test]
async fn a_server_that_ends_leaves_no_request_without_an_answer() {
    let (session, theirs, backend) = session("s");
    let mut early = post(&session, PING).await;
    drop(theirs);
    let event = early.said.recv().await.expect("an answer");
    let reported: Value = serde_json::from_slice(&event.message).expect("JSON");
    assert_eq!((event.is_made, &reported["id"], &reported["error"]["code"]), (true, &1.into(), &(-32603).into()));
    let mut late = post(&session, PING).await;
    assert!(late.said.recv().await.expect("an answer").is_made, "the server was gone before");
    assert!(session.post(NOTIFICATION.to_vec()).await.is_none());
    assert_eq!(backend.0.lock().len(), 2, "each is seen");
}

#[tokio::test]
async fn a_connection_that_breaks_leaves_every_stream_cut_off_and_answers_nobody() {
    let (link, theirs) = Link::pair_ending(Incoming::Failed("cut".to_owned()));
    let opened = Opened { link, end: Box::pin(std::future::ready(())) };
    let backend = Arc::new(Through::default());
    let session =
        Session::start("s".to_owned(), 1, opened, Arc::clone(&backend) as Arc<dyn Backend>, &Budget::of_bytes(1 << 20));
    let mut listener = session.listen().expect("the only one");
    let mut posted = post(&session, PING).await;
    drop(theirs);
    assert!(posted.said.recv().await.is_none() && posted.said.is_cut());
    assert!(listener.recv().await.is_none() && listener.is_cut());
    assert!(backend.0.lock().is_empty(), "nothing is made in the server's place");
}

#[tokio::test(start_paused = true)]
async fn a_client_has_left_once_it_wants_and_receives_nothing_for_a_while() {
    let (session, mut theirs, _) = session("s");
    let span = Duration::from_secs(5);
    let is_left = async || tokio::time::timeout(3 * span, session.left(span)).await.is_ok();
    let mut posted = post(&session, PING).await;
    assert!(!is_left().await, "it waits for an answer");
    assert!(theirs.send(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec()).await);
    assert!(posted.said.recv().await.expect("the answer").is_answer());
    let listener = session.listen();
    assert!(!is_left().await, "it listens");
    drop((posted, listener));
    assert!(is_left().await);
}
