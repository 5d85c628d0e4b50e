//! A policy's YAML: where it is taken, every option has a value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::host::engine::policies;
use mcpreel::host::prompt::Layout;

fuzz_target!(|text: &str| {
    let Ok(file) = serde_saphyr::from_str(text) else { return };
    let _ = Layout::read(&file);
    let mut policies = policies();
    if let Err(error) = policies.read(&file) {
        return assert!(!error.to_string().is_empty());
    }
    for server in policies.servers().chain([""]) {
        for (room, knobs) in policies.known() {
            let policy = policies.of(room, server);
            assert_eq!(policy, policies.of(room, server));
            for knob in *knobs {
                let _ = (policy.time(knob.name), policy.length(knob.name), policy.words(knob.name));
            }
        }
    }
});
