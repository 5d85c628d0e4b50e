# Short names for common commands. `just` is optional: tests/run.sh and cargo do the work.

# List the commands.
default:
    @just --list

# The suite to run after every change: formatting, lints, tests, one smoke test per capability.
test:
    tests/run.sh

# Everything else: all real clients and servers, conformance suites, results of benchmarks, fuzz targets.
test-full:
    tests/full.sh

# Run the demonstration.
demo:
    cargo run --release -- demo

# Regenerate completions and manual pages.
generated:
    cargo run -- completions --all completions
    cargo run -- man --all man

# Check licences, sources and advisories of all dependencies (needs cargo-deny).
deny:
    cargo deny check

# Fuzz one target of fuzz/README.md, which also describes how without cargo-fuzz and a nightly toolchain.
fuzz target seconds="60":
    cargo +nightly fuzz run {{target}} -- -max_total_time={{seconds}}

# Run the benchmarks.
bench:
    cargo build --release
    python3 benches/compare.py
