//! Clients' configurations: what `wrap` inserts, `unwrap` removes, and what is displayed still parses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::config::entry::{Overrides, read};
use mcpreel::testing::config::expand::{Names, env_file};
use mcpreel::testing::config::shown::without_secrets;
use mcpreel::testing::config::tree::{Format, Node, parse};
use mcpreel::testing::config::wrap::{is_wrapped, unwrap, wrap};
use std::path::Path;

fuzz_target!(|text: &str| {
    for format in [Format::Json, Format::Toml] {
        let Ok(root) = parse(text, format) else { continue };
        stands(text, &root);
        let shown = without_secrets(text, format).expect("what parses can be shown");
        assert!(parse(&shown, format).is_ok(), "{shown}");
        for entry in read(text, format).expect("what parses can be read") {
            let names = Names { variable: &|_| Some("value".to_owned()), workspace: Path::new("/here") };
            let overrides = Overrides { env: Vec::new(), headers: Vec::new() };
            let _ = (entry.resolve(&names, &overrides), entry.describe(), entry.is_disabled());
            match wrap(text, format, &entry, "mcpreel") {
                Ok(Some(wrapped)) => {
                    let found = read(&wrapped, format).expect("a wrapped text reads").into_iter().find(is_wrapped);
                    assert!(found.is_some(), "{wrapped}");
                }
                Ok(None) => drop(unwrap(text, format, &entry)),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    let _ = env_file(text);
});

/// Every value has its position in the text.
fn stands(text: &str, node: &Node) {
    assert!(text.get(node.range.clone()).is_some());
    for member in node.members() {
        assert!(text.get(member.range()).is_some());
        stands(text, &member.value);
    }
}
