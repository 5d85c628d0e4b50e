//! Files that others may have written and mcpreel reads by itself: `.mcpreel.toml`, baselines, checks, logins, and clients'
//! configurations in YAML. The first byte chooses; what is read can be written, and every error has a place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::check::baseline::Baseline;
use mcpreel::testing::check::settings::ValidateSection;
use mcpreel::testing::cli::Checks;
use mcpreel::testing::config::entry::read;
use mcpreel::testing::config::project::ProjectFile;
use mcpreel::testing::config::tree::Format;
use mcpreel::testing::config::yaml::to_json;
use mcpreel::testing::oauth::Grant;
use mcpreel::testing::redact::{Finder, Settings};
use std::path::Path;

fuzz_target!(|text: &str| {
    let Some((kind, text)) = text.split_at_checked(1) else { return };
    match kind {
        "b" => baseline(text),
        "c" => {
            let _ = Checks::parse(text, Path::new("checks.yaml")).map_err(|error| assert!(!error.message.is_empty()));
        }
        "l" => logins(text),
        "p" => project(text),
        "y" => {
            let Ok((_, json)) = to_json(text) else { return };
            let _ = read(&json, Format::Json).expect("what was made can be read");
        }
        _ => {}
    }
});

fn baseline(text: &str) {
    let Ok(baseline) = Baseline::read(text) else { return };
    assert_eq!(Baseline::read(&baseline.to_text()), Ok(baseline));
}

fn logins(text: &str) {
    let Ok(grants) = serde_json::from_str::<Vec<Grant>>(text) else { return };
    let written = serde_json::to_string(&grants).expect("JSON");
    let again: Vec<Grant> = serde_json::from_str(&written).expect("what was written");
    assert_eq!(serde_json::to_string(&again).expect("JSON"), written);
    grants.iter().for_each(|grant| drop((grant.header(), grant.is_stale(0))));
}

fn project(text: &str) {
    let lines = text.lines().count() + 1;
    let file = match ProjectFile::parse(text) {
        Ok(file) => file,
        Err(error) => return assert!((1..=lines).contains(&error.line), "{error}"),
    };
    let packs = file.packs().err();
    let validate = file.table::<ValidateSection>("validate").err();
    let settings = file.table::<Settings>("redact");
    for error in packs.iter().chain(&validate).chain(settings.as_ref().err()) {
        assert!((1..=lines).contains(&error.line), "{error}");
    }
    let _ = settings.map(|settings| Finder::new(&settings));
}
