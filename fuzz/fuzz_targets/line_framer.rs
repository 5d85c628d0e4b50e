//! A byte stream, cut into frames in any chunking and written back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::wire::LineFramer;

fuzz_target!(|data: &[u8]| {
    let Some((cut, stream)) = data.split_first() else { return };
    let chunk = usize::from(*cut).max(1);
    for limit in [7, 1 << 20] {
        let mut framer = LineFramer::with_limit(limit);
        let mut written = Vec::new();
        let mut write = |frame: mcpreel::testing::wire::Frame<'_>| {
            frame.framing.write(frame.payload, &mut written).expect("a Vec takes all");
            assert!(frame.framing.body(frame.payload).len() <= frame.payload.len());
        };
        stream.chunks(chunk).for_each(|chunk| framer.push(chunk, &mut write));
        framer.finish(&mut write);
        assert_eq!(framer.pending(), 0);
        assert_eq!(written, stream);
    }
});
