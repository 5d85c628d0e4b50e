//! A scenario file: if it can be read, it can be started and split into its scenario servers; otherwise the error shows
//! its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::scenario::{Player, Scenario};
use std::time::Duration;

fuzz_target!(|text: &str| {
    match Scenario::read(text) {
        Ok(scenario) => {
            for server in &scenario.servers {
                let (id, part) = scenario.played_by(&server.name).expect("a server of its own");
                assert_eq!(scenario.servers[id.0].name, part.servers[id.0].name);
            }
            let _ = scenario.host_config();
            let mut player = Player::new(&scenario);
            let _ = player.next(Duration::ZERO);
            let _ = player.finish(Duration::ZERO).to_json();
        }
        Err(error) => {
            let line = usize::try_from(error.place.line).expect("a line").checked_sub(1);
            let there =
                line.and_then(|line| text.lines().flat_map(|line| line.split('\r')).nth(line)).unwrap_or_default();
            assert_eq!(error.line, there);
            assert!(!error.to_string().is_empty());
        }
    }
});
