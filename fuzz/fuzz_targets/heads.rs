//! What clients send to an HTTP listener, in any chunking: whether a request's length is certain.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::transport::listen::heads::Heads;

fuzz_target!(|data: &[u8]| {
    let Some((cut, stream)) = data.split_first() else { return };
    let (mut whole, mut pieces) = (Heads::default(), Heads::default());
    whole.take(stream);
    stream.chunks(usize::from(*cut).max(1)).for_each(|chunk| pieces.take(chunk));
    assert_eq!(whole.is_ambiguous(), pieces.is_ambiguous());
});
