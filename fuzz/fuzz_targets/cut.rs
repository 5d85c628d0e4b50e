//! Inserting messages and removing answers: lines, events and WebSocket frames pass byte for byte in any chunking, as
//! long as nothing is removed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::record::answer_filter::{AnswerFilter, StreamPiece};
use mcpreel::testing::record::http::boundary::{Events, Frames, MessageSplitter};
use mcpreel::testing::sessions::injection::{is_ours, may_be_answer, request_id};

fuzz_target!(|data: &[u8]| {
    let [how, chunk, stream @ ..] = data else { return };
    let chunk = usize::from(*chunk).max(1);
    for cut in [
        MessageSplitter::Events(Events::default()),
        MessageSplitter::Frames(Frames::new(false)),
        MessageSplitter::Frames(Frames::new(true)),
    ] {
        assert_eq!(pass(cut, stream, chunk, *how), stream);
    }
    let (mut answer_filter, mut passed) = (AnswerFilter::default(), Vec::new());
    let mut take = |piece: StreamPiece<'_>| match piece {
        StreamPiece::Pass(bytes) => passed.extend_from_slice(bytes),
        StreamPiece::Candidate { whole, payload, .. } => {
            assert!(may_be_answer(payload) && whole.starts_with(payload));
            passed.extend_from_slice(whole);
        }
    };
    for (at, chunk) in stream.chunks(chunk).enumerate() {
        if how >> (at % 8) & 1 == 0 {
            answer_filter.push(chunk, &mut take)
        } else {
            answer_filter.pass(chunk, &mut take)
        }
    }
    answer_filter.finish(&mut take);
    assert_eq!(passed, stream);
    if matches!(request_id(stream), Ok(Some(_))) {
        assert!(is_ours(stream));
    }
});

/// Examines only some of the chunks, as if an answer were expected only then.
fn pass(mut cut: MessageSplitter, stream: &[u8], chunk: usize, how: u8) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, chunk) in stream.chunks(chunk).enumerate() {
        if how >> (at % 8) & 1 == 0 {
            out.extend(cut.filter(chunk, &mut |message| Some(message.to_vec())));
        } else {
            out.extend(cut.release());
            cut.see(chunk);
            out.extend_from_slice(chunk);
        }
        assert!(!(cut.is_over() && cut.is_between()));
    }
    out.extend(cut.release());
    out
}
