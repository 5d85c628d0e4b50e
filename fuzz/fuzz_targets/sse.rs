//! A stream of server-sent events, cut into blocks in any chunking.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::wire::sse::{SseEvent, SseFramer};
use std::borrow::Cow;

fuzz_target!(|data: &[u8]| {
    let Some((cut, stream)) = data.split_first() else { return };
    let mut framer = SseFramer::default();
    let mut joined = Vec::new();
    let mut take = |block: Cow<'_, [u8]>| {
        let _ = SseEvent::parse(&block);
        joined.extend_from_slice(&block);
    };
    stream.chunks(usize::from(*cut).max(1)).for_each(|chunk| framer.push(chunk, &mut take));
    framer.finish(&mut take);
    assert_eq!(joined, stream);
});
