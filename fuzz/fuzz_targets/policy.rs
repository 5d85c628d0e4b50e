//! A policy's YAML: if it is accepted, every option has a value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::host::engine::policies;
use mcpreel::testing::host::prompt::Layout;

fuzz_target!(|text: &str| {
    let Ok(file) = serde_saphyr::from_str(text) else { return };
    let _ = Layout::read(&file);
    let mut policies = policies();
    if let Err(error) = policies.read(&file) {
        return assert!(!error.to_string().is_empty());
    }
    for server in policies.servers().chain([""]) {
        for (proposal, settings) in policies.known() {
            let policy = policies.of(proposal, server);
            assert_eq!(policy, policies.of(proposal, server));
            for setting in *settings {
                let _ = (policy.time(setting.name), policy.length(setting.name), policy.words(setting.name));
            }
        }
    }
});
