use super::*;

fn request(id: u32, more: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"_meta":{{{more}}}}}}}"#).into_bytes()
}

fn notification(params: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{{params}}}}}"#).into_bytes()
}

fn numbered(number: usize) -> Vec<u8> {
    notification(&format!(r#""number":{number}"#))
}

fn log(text: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{text}"}}}}"#).into_bytes()
}

fn result(id: u32) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).into_bytes()
}

const LOGS: &str = r#""io.modelcontextprotocol/logLevel":"info""#;

fn expect(streams: &mut Streams, id: u32, more: &str) -> StreamMessage {
    streams.expect(ClientRequest::read(&request(id, more)))
}

/// The ids of the messages that wait on a stream.
fn waiting(said: &mut StreamMessage) -> Vec<String> {
    let mut ids = Vec::new();
    while let Ok(event) = said.channel.try_recv() {
        ids.push(format!("{}-{}", event.stream, event.number));
    }
    ids
}

/// The messages that wait on a stream.
fn messages(said: &mut StreamMessage) -> Vec<Bytes> {
    let mut messages = Vec::new();
    while let Ok(event) = said.channel.try_recv() {
        messages.push(event.message);
    }
    messages
}

#[test]
fn who_comes_back_gets_what_it_missed_on_that_stream_and_no_other() {
    let mut streams = Streams::new(true);
    let mut listener = streams.listen().expect("the only one");
    let mut post = expect(&mut streams, 1, r#""progressToken":"t""#);
    let progress = notification(r#""progressToken":"t""#);
    assert_eq!(streams.hand_on(progress.clone()), None);
    assert_eq!(streams.hand_on(numbered(1)), None);
    assert_eq!((waiting(&mut post), waiting(&mut listener)), (vec!["1-1".to_owned()], vec!["0-1".to_owned()]));
    drop((post, listener));
    for message in [progress, numbered(2), result(1)] {
        assert_eq!(streams.hand_on(message), None);
    }
    let (mut post, lost) = streams.resume("1-1").expect("known");
    assert_eq!((waiting(&mut post), lost), (vec!["1-2".to_owned(), "1-3".to_owned()], 0));
    assert!(post.is_over(), "its answer was the last word");
    let (mut listener, lost) = streams.resume("0-1").expect("known");
    assert_eq!((waiting(&mut listener), lost, listener.is_over()), (vec!["0-2".to_owned()], 0, false));
    let (mut all, _) = streams.resume("1-0").expect("behind the event that says nothing");
    assert_eq!(waiting(&mut all).len(), 3);
    let (mut nothing, lost) = streams.resume("1-3").expect("it has all");
    assert_eq!((waiting(&mut nothing).len(), lost, nothing.is_over()), (0, 0, true));
    for unknown in ["1-4", "2-0", "0-9", "x", "", "1", "-1-1", "1-"] {
        assert!(streams.resume(unknown).is_none(), "{unknown}");
    }
}

#[test]
fn a_stream_that_goes_on_is_taken_over() {
    let mut streams = Streams::new(true);
    let mut first = expect(&mut streams, 1, "");
    let (mut second, _) = streams.resume("1-0").expect("known");
    assert!(first.is_over(), "one reads at a time");
    streams.hand_on(result(1));
    assert_eq!((waiting(&mut first).len(), waiting(&mut second).len()), (0, 1));
    let _listener = streams.listen().expect("the first");
    assert!(streams.listen().is_none());
    assert!(streams.resume("0-0").is_some(), "who lost a stream need not wait until that is noticed");
}

#[test]
fn what_came_while_nobody_listened_comes_first() {
    let mut streams = Streams::new(true);
    streams.hand_on(numbered(1));
    let mut listener = streams.listen().expect("the first");
    assert_eq!(&listener.priming(None)[..], b"id: 0-0\ndata: \n\n");
    assert_eq!(waiting(&mut listener), ["0-1"]);
    drop(listener);
    streams.hand_on(numbered(2));
    let mut again = streams.listen().expect("the first is gone");
    assert_eq!(&again.priming(None)[..], b"id: 0-1\ndata: \n\n");
    assert_eq!(waiting(&mut again), ["0-2"], "what was received is not sent again");
}

#[test]
fn what_is_kept_is_bounded_and_what_falls_out_is_reported() {
    let mut streams = Streams::new(true);
    let reported: Vec<_> = (0..MAX_KEPT + 10).filter_map(|number| streams.hand_on(numbered(number))).collect();
    assert_eq!((streams.kept.len(), reported), (MAX_KEPT, vec![UNRECEIVED; 10]));
    assert!(streams.is_news(UNRECEIVED) && !streams.is_news(UNRECEIVED));
    let (mut said, lost) = streams.resume("0-5").expect("known");
    assert_eq!((waiting(&mut said)[0].as_str(), lost), ("0-11", 5));
    let big = notification(&format!(r#""text":"{}""#, "x".repeat(1 << 20)));
    (0..40).for_each(|_| {
        streams.hand_on(big.clone());
    });
    assert!(streams.kept_bytes <= MAX_BYTES && streams.kept.len() <= 16, "{}", streams.kept_bytes);
    assert_eq!(streams.kept_bytes, streams.kept.iter().map(|event| event.message.len()).sum::<usize>());
}

#[test]
fn a_post_that_was_answered_without_a_stream_is_not_kept() {
    let mut streams = Streams::new(true);
    let said = expect(&mut streams, 1, "");
    streams.hand_on(result(1));
    streams.forget(said.stream);
    assert_eq!((streams.kept.len(), streams.kept_bytes), (0, 0));
    assert!(streams.resume("1-0").is_none());
}

#[test]
fn requests_of_the_server_go_where_somebody_reads() {
    let asks = || br#"{"jsonrpc":"2.0","id":"s","method":"ping"}"#.to_vec();
    let mut streams = Streams::new(true);
    let mut read = expect(&mut streams, 1, "");
    let left = expect(&mut streams, 2, "");
    drop(left);
    streams.hand_on(asks());
    assert_eq!(waiting(&mut read), ["1-1"]);
    drop(read);
    streams.hand_on(asks());
    let (mut newest, _) = streams.resume("2-0").expect("known");
    assert_eq!(waiting(&mut newest), ["2-1"]);
    drop(newest);
    let mut listener = streams.listen().expect("the first");
    streams.hand_on(asks());
    assert_eq!(waiting(&mut listener), ["0-1"]);
}

#[test]
fn what_belongs_to_no_request_waits_for_who_has_listened_before() {
    let mut streams = Streams::new(true);
    let mut post = expect(&mut streams, 1, "");
    streams.hand_on(numbered(1));
    assert_eq!(waiting(&mut post), ["1-1"], "there is no other stream");
    drop(streams.listen().expect("the first"));
    streams.hand_on(numbered(2));
    assert!(waiting(&mut post).is_empty());
    assert_eq!(waiting(&mut streams.resume("0-0").expect("known").0), ["0-1"]);
}

#[test]
fn requests_that_were_left_are_few_and_give_their_ids_back() {
    let mut streams = Streams::new(true);
    (0..2000).for_each(|id| drop(expect(&mut streams, id, "")));
    assert_eq!(streams.posts.len(), MAX_LEFT);
    let mut again = expect(&mut streams, 1999, "");
    streams.hand_on(result(1999));
    assert_eq!(waiting(&mut again).len(), 1);
    assert!(!streams.is_read());
    assert!(!streams.is_idle(), "answers are owed to who may come back");
    (0..1999).for_each(|id| assert_eq!(streams.hand_on(result(id)), None));
    assert!(streams.is_idle());
}

#[test]
fn a_flood_takes_bounded_memory_and_no_answer_away() {
    for is_resumable in [true, false] {
        let mut streams = Streams::new(is_resumable);
        let mut said = expect(&mut streams, 1, r#""progressToken":"t""#);
        let reported = notification(&format!(r#""progressToken":"t","message":"{}""#, "x".repeat(1 << 20)));
        let lost = (0..100).filter(|_| streams.hand_on(reported.clone()) == Some(UNREAD)).count();
        streams.hand_on(result(1));
        let got = messages(&mut said);
        assert_eq!((got.len() + lost, got.last().map(|last| &last[..])), (101, Some(&result(1)[..])));
        let bytes: usize = got.iter().map(Bytes::len).sum();
        assert!((MAX_BYTES / 2..=MAX_BYTES + 100).contains(&bytes), "{bytes}");
        assert!(streams.kept_bytes <= MAX_BYTES);
    }
}

#[test]
fn what_belongs_to_a_subscription_goes_there_and_nowhere_else() {
    let mut streams = Streams::new(false);
    let mut subscribed = expect(&mut streams, 1, "");
    let mut other = expect(&mut streams, 2, "");
    let changed = notification(r#""_meta":{"io.modelcontextprotocol/subscriptionId":1}"#);
    streams.hand_on(changed.clone());
    streams.hand_on(result(2));
    assert_eq!((messages(&mut subscribed), messages(&mut other)), (vec![changed.into()], vec![result(2).into()]));
    streams.hand_on(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#.to_vec());
    assert!(subscribed.is_over(), "the server ended it");
}

#[test]
fn in_the_stateless_era_nothing_goes_to_a_client_that_it_does_not_belong_to() {
    let mut streams = Streams::new(false);
    let mut quiet = expect(&mut streams, 1, "");
    let asks = br#"{"jsonrpc":"2.0","id":"s","method":"ping"}"#.to_vec();
    for stray in [log("of whom?"), numbered(1), asks, notification(r#""progressToken":"of nobody""#)] {
        assert_eq!(streams.hand_on(stray), Some(NO_REQUEST));
    }
    let mut curious = expect(&mut streams, 2, LOGS);
    assert_eq!(streams.hand_on(log("for the one who asked")), None);
    assert_eq!((messages(&mut quiet).len(), messages(&mut curious).len()), (0, 1));
    assert!(!streams.has_space_for(&request(3, LOGS)), "log messages could not be assigned");
    assert!(streams.has_space_for(&request(3, "")));
    assert_eq!(streams.abandon(curious.stream).len(), 1);
    assert!(!streams.has_space_for(&request(3, LOGS)), "late ones may still come");
    assert_eq!(streams.hand_on(log("late")), Some(NO_REQUEST));
    streams.hand_on(result(2));
    assert!(streams.has_space_for(&request(3, LOGS)));
    assert!(streams.kept.is_empty(), "no client can resume");
}

#[test]
fn who_reuses_an_id_does_not_get_the_answer_to_another() {
    let mut streams = Streams::new(false);
    let again = request(1, r#""progressToken":7"#);
    let said = streams.expect(ClientRequest::read(&again));
    streams.abandon(said.stream);
    assert!(!streams.has_space_for(&again), "the answer may still come");
    streams.hand_on(result(1));
    assert!(streams.has_space_for(&again));
    let _said = streams.expect(ClientRequest::read(&again));
    assert!(!streams.has_space_for(&request(2, r#""progressToken":7"#)), "its progress would go to the first");
    assert!(streams.has_space_for(&request(2, "")));
}

#[test]
fn a_batch_of_answers_ends_the_post_of_a_batch() {
    let mut streams = Streams::new(true);
    let asked = [b"[", &request(1, "")[..], b",", &request(2, ""), b"]"].concat();
    let mut said = streams.expect(ClientRequest::read(&asked));
    let answers = [b"[", &result(1)[..], b",", &result(2), b"]"].concat();
    streams.hand_on(answers.clone());
    assert_eq!(messages(&mut said), [answers]);
    assert!(said.is_over());
}

#[test]
fn the_end_of_the_server_answers_every_request() {
    let mut streams = Streams::new(true);
    let asked = [b"[", &request(1, "")[..], br#",{"jsonrpc":"2.0","id":"\u0061","method":"m"}]"#].concat();
    let mut said = streams.expect(ClientRequest::read(&asked));
    let mut made = Vec::new();
    streams.end(|message| made.push(message.to_vec()));
    assert_eq!(messages(&mut said), made);
    assert!(said.is_over() && said.channel.is_empty());
    let read = |message: &[u8]| serde_json::from_slice::<serde_json::Value>(message).expect("JSON");
    assert_eq!((&read(&made[0])["id"], &read(&made[1])["id"]), (&1.into(), &"a".into()));
    assert!(made.iter().all(|message| read(message)["error"]["code"] == -32603));
}

#[test]
fn an_event_has_its_id_where_one_can_come_back_to_it() {
    let event = Event { stream: 3, number: 7, message: Bytes::from_static(b"{}"), is_made: false };
    assert_eq!(&event.block(true)[..], b"id: 3-7\nevent: message\ndata: {}\n\n");
    assert_eq!(&event.block(false)[..], b"event: message\ndata: {}\n\n");
}

#[test]
fn what_a_broken_server_says_is_not_kept_from_its_client() {
    let mut streams = Streams::new(true);
    let mut listener = streams.listen().expect("the first");
    let (mut first, mut second) = (expect(&mut streams, 1, ""), expect(&mut streams, 2, ""));
    streams.hand_on(result(1));
    streams.hand_on(result(1));
    let once = Bytes::from(result(1));
    assert_eq!((messages(&mut first), messages(&mut listener)), (vec![once.clone()], vec![once]));
    streams.hand_on(b"{\"jsonrpc\":".to_vec());
    assert_eq!(messages(&mut second).len(), 1, "the answer that it was to be belongs there");
    // Where clients share a link, such a message cannot be assigned to one of them.
    let mut shared = Streams::new(false);
    let mut said = expect(&mut shared, 1, "");
    shared.hand_on(result(1));
    assert_eq!(shared.hand_on(result(1)), Some(NO_REQUEST));
    assert_eq!(messages(&mut said).len(), 1);
}
