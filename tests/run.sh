#!/usr/bin/env bash
# The suite to run after every change, also in continuous integration: formatting, lints, every test that needs
# only this machine, and one test of each of mcpreel's capabilities with a real client or server.
#
#   tests/run.sh
#
# Needs node, npm and python3, and the npm registry the first time. Without node, `cargo test` runs all but the smoke
# tests. tests/full.sh runs everything else.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
suite=tests/run.sh
closing="ignored tests are smoke tests or run by tests/full.sh"
. tests/steps.sh

need cargo "Rust (https://rustup.rs)"
need python3 "Python 3.10 or newer"
need node "Node 20 or newer, or run \`cargo test\`, which leaves out what needs it"
need npm "npm (it comes with Node)"

# The registry and the compiler keep different parts of a machine busy.
installed=$(mktemp)
tests/real/install.sh --smoke ${MCPREEL_REAL_PEERS:+"$MCPREEL_REAL_PEERS"} >"$installed" 2>&1 &
installing=$!
trap 'finish; kill "$installing" 2>/dev/null || true' EXIT
install_status=0
peers() {
    cat -- "$installed"
    return "$install_status"
}

step "format" cargo fmt --check
if [ -n "$(ls -A -- "${CARGO_TARGET_DIR:-target}/debug/incremental" 2>/dev/null)" ]; then
    step "lints" cargo clippy --locked --all-targets -- -D warnings
else
    # `cargo clippy` would compile everything once more, which takes minutes. So the linter compiles the first build; the
    # variables are those that `cargo clippy` sets. Without incremental files and debug information, the build is faster.
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none
    export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__
    step "lints and build" cargo test --locked --no-run
fi
wait "$installing" || install_status=$?
step "real peers" peers
rm -f -- "$installed"
step "script of pages" node --test tests/page/
# Tests also wait, for time limits above all, so one more than there are processors keeps these busy.
RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(getconf _NPROCESSORS_ONLN) + 1))}
export RUST_TEST_THREADS
step "tests" cargo test --locked
step "smoke tests" cargo test --locked --test it -- --ignored smoke::
if can_hold_handlers_back; then
    step "tests of Landlock" cargo test --locked --test it -- --ignored needs_landlock::
else
    left_out "tests of Landlock" "this kernel has no Landlock scopes (Linux 6.12)"
fi
