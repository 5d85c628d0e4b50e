# Short names for those who have `just`. Nothing needs it: tests/run.sh and cargo do the work.

# What there is.
default:
    @just --list

# The suite to run after every change: formatting, lints, tests, one smoke test of each thing.
test:
    tests/run.sh

# Everything else: all real clients and servers, conformance suites, benchmarks' results, fuzz targets.
test-full:
    tests/full.sh

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
