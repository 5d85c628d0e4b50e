#!/usr/bin/env bash
# Runs every check: form, lints, tests. With node, npm and python3 at hand also against real clients and servers.
#
#   tests/all.sh
#
# Ends with cargo test's own summary. In CI (CI=true) an install of the real peers that fails is a failure; elsewhere it
# is told, and the tests go on without them.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

in_ci() {
    [ "${CI:-}" = true ] || [ "${CI:-}" = 1 ]
}

have() {
    command -v "$1" >/dev/null 2>&1
}

cargo fmt --check
cargo clippy --locked --all-targets -- -D warnings

real=$PWD/target/real
unset MCPREEL_REAL_PEERS
if have node && have npm && have python3; then
    if tests/real/install.sh "$real"; then
        export MCPREEL_REAL_PEERS=$real
    elif in_ci; then
        echo 'all.sh: the real peers could not be installed (the reason is above)' >&2
        exit 1
    else
        echo 'all.sh: going on without the real peers (the reason is above)' >&2
    fi
else
    echo 'all.sh: going on without the real peers: node, npm or python3 is missing' >&2
fi

exec cargo test --locked
