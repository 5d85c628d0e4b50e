# Short names for those who have `just`. Nothing needs it: tests/all.sh and cargo do the work.

# What there is.
default:
    @just --list

# Every check: form, lints, tests, real peers.
test:
    tests/all.sh

# The demonstration.
demo:
    cargo run --release -- demo

# Make completions and manual pages anew.
generated:
    cargo run -- completions --all completions
    cargo run -- man --all man

# Licences, sources and advisories of all dependencies (needs cargo-deny).
deny:
    cargo deny check

# Fuzz one target of fuzz/README.md (needs cargo-fuzz and a nightly toolchain; the README tells how without).
fuzz target seconds="60":
    cargo +nightly fuzz run {{target}} -- -max_total_time={{seconds}}

# Measure against rivals.
bench:
    cargo build --release
    python3 benches/compare.py
