//! The style sheet, the body and the modules of pages. The binary holds them compressed; `build.rs` packs them.

use flate2::read::ZlibDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::LazyLock;

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/assets.zlib"));

/// Texts by file name.
static ASSETS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let mut unpacked = String::new();
    // A test reads all of them.
    let _ = ZlibDecoder::new(PACKED).read_to_string(&mut unpacked);
    let mut parts = unpacked.split_terminator('\0').map(str::to_owned);
    std::iter::from_fn(|| Some((parts.next()?, parts.next()?))).collect()
});

/// Returns the text of a file in `assets/`; empty if there is none.
pub(super) fn asset(name: &str) -> &'static str {
    ASSETS.get(name).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_packed_as_it_is() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page/assets");
        let names: Vec<String> = std::fs::read_dir(&folder)
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        assert_eq!(names.len(), ASSETS.len());
        for name in names {
            assert_eq!(asset(&name), std::fs::read_to_string(folder.join(&name)).expect("a text"), "{name}");
        }
        let all: usize = ASSETS.values().map(String::len).sum();
        assert!(PACKED.len() * 3 < all, "{} of {all} bytes", PACKED.len());
    }
}
