#!/usr/bin/env bash
# Everything that tests/run.sh omits, and its tests again: all real clients and servers, the conformance suites,
# transcripts of other programs, the results (not the speed) of the benchmarks, the fuzz targets, the packages, and the
# fallbacks for other systems than Linux.
#
#   tests/full.sh
#
# Needs what tests/run.sh needs, the Python registry (PyPI) the first time, a C and a C++ compiler, and jq.
# MCPREEL_TRANSCRIPTS names the folder of transcripts; without it, their tests are left out. So are others that compare
# with published schemas, unless MCPREEL_MCP_SCHEMAS, MCPREEL_SARIF_SCHEMA and MCPREEL_JUNIT_XSD name them.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
suite=tests/full.sh
closing="formatting and lints are checked by tests/run.sh"
. tests/steps.sh

need cargo "Rust (https://rustup.rs)"
need python3 "Python 3.10 or newer"
need node "Node 20 or newer"
need npm "npm (it comes with Node)"
need cc "a C compiler"
need c++ "a C++ compiler"
need jq "jq 1.6 or newer"
need zsh "zsh"

target=$(realpath -m -- "${CARGO_TARGET_DIR:-target}")
mcpreel=$target/debug/mcpreel
work=$target/full
mkdir -p "$work"

step "real peers" tests/real/install.sh ${MCPREEL_REAL_PEERS:+"$MCPREEL_REAL_PEERS"}
step "build" cargo build --locked
step "without features" cargo check --locked --no-default-features

# A measurement; benches/filters.py has a variant that is fast enough without optimisation.
skip=(--skip decisions_a_second)
if [ -z "${MCPREEL_TRANSCRIPTS:-}" ]; then
    skip+=(--skip transcripts::)
    left_out "transcripts" "MCPREEL_TRANSCRIPTS does not name their folder"
fi
# without VARIABLE TEST WHAT: leaves a test out if the variable does not name the file or folder that it needs.
without() {
    if [ -z "${!1:-}" ]; then
        skip+=(--skip "$2")
        left_out "$3" "$1 does not name its schemas"
    fi
}
without MCPREEL_MCP_SCHEMAS verdicts_are_those_of_the_official_schemas "schemas of MCP"
without MCPREEL_SARIF_SCHEMA sarif_conforms_to_its_schema "schema of SARIF"
without MCPREEL_JUNIT_XSD junit_conforms_to_its_schema "schema of JUnit"
if ! can_hold_handlers_back; then
    skip+=(--skip needs_landlock::)
    left_out "tests of Landlock" "this kernel has no Landlock scopes (Linux 6.12)"
fi

# cargo-deny, unless it is installed, goes into target/tools. Vulnerabilities are left out: their list is not a part of the
# registry.
supply_chain() {
    PATH=$target/tools/bin:$PATH
    cargo deny --version >/dev/null 2>&1 || cargo install --quiet --locked --root "$target/tools" cargo-deny || return
    cargo deny --all-features check bans licenses sources
}

keep_going=yes
step "supply chain" supply_chain
if command -v "${CHROMIUM:-chromium}" >/dev/null 2>&1; then
    step "pages" env CHROMIUM="$(command -v "${CHROMIUM:-chromium}")" node tests/page/browser.mjs "$mcpreel" "$work/pages"
else
    left_out "pages" "there is no chromium; CHROMIUM can name another"
fi
step "all tests" cargo test --locked --no-fail-fast -- --include-ignored "${skip[@]}"

bench() {
    local name=$1
    shift
    step "bench $name" python3 "benches/$name.py" "$@"
}

bench compare --bin "$mcpreel" --work "$work" --messages 20000 --pairs 1 --check \
    --only flood,size,headers,filter,show,pretty,seek
bench http_tap --bin "$mcpreel" --work "$work" --calls 100 --pairs 1 --check --only round-trip,throughput
bench rhythms --bin "$mcpreel" --work "$work" --check
bench mock --bin "$mcpreel" --work "$work" --check
bench pushes --bin "$mcpreel" --events 1000 --check
bench host --bin "$mcpreel" --turns 40 --servers 4 --check
bench filters --bin "$mcpreel" --subscriptions 200 --events 2000 --check
bench diff_quality --binary "$mcpreel" --messages 1000,10000 --changes 50
bench diff_speed --bin "$mcpreel" --work "$work" --messages 20000 --changes 200 --check
bench tui --bin "$mcpreel" --work "$work/tui" --check
bench soak --bin "$mcpreel" --work "$work/soak" --messages 100000 --check
bench kill9 --bin "$mcpreel" --work "$work" --kills 3 --seed 1
bench redact --bin "$mcpreel" --work "$work" --check
# Unoptimised, the program's own code takes 20 MiB more.
bench memory_attacks --binary "$mcpreel" --bound 148 --value-mb 0
bench memory_attacks --binary "$mcpreel" --bound 148 --value-mb 4 --only values-zeros --only values-keys --only values-batch

fuzz() {
    # The parent crate's versions of the dependencies that both use.
    cp Cargo.lock fuzz/Cargo.lock || return
    CARGO_TARGET_DIR=$target/fuzz CARGO_PROFILE_DEV_DEBUG=none \
        cargo build --manifest-path fuzz/Cargo.toml --bins
}

# Runs every target once on every file of its corpus, which is regenerated from the examples.
replay() {
    local corpus=$work/corpus targets=0 files=0
    : >"$work/empty"
    rm -rf -- "$corpus"
    fuzz/corpus.sh "$mcpreel" "$corpus" || return
    for folder in "$corpus"/*/; do
        local name inputs
        name=$(basename -- "$folder")
        inputs=("$folder"*)
        # A target without a corpus gets the empty input.
        [ -e "${inputs[0]}" ] || inputs=("$work/empty")
        "$target/fuzz/debug/$name" -timeout=60 "${inputs[@]}" >"$work/replay.log" 2>&1 \
            || { tail -40 "$work/replay.log" | cut -c -300; echo "fuzz target $name fails on $corpus/$name"; return 1; }
        targets=$((targets + 1)) files=$((files + ${#inputs[@]}))
    done
    echo "$targets targets, $files files"
}

step "fuzz targets" fuzz
step "fuzz corpus" replay

# What stands in for Linux on other systems, with all lints, and the tests that do not need Linux itself.
fallbacks() {
    export MCPREEL_PORTABLE=1 CARGO_TARGET_DIR=$target/portable CARGO_PROFILE_DEV_DEBUG=none
    cargo clippy --quiet --locked --all-targets -- -D warnings || return
    cargo test --quiet --locked --lib || return
    cargo test --quiet --locked --test it -- "${portable[@]}"
}

portable=(architecture:: recordings:: live::)
step "fallbacks" fallbacks

if command -v dpkg-shlibdeps >/dev/null 2>&1; then
    step "packages" packaging/build.sh --profile dev --allow-dirty
    step "installed packages" packaging/test.sh
else
    left_out "packages" "there is no dpkg-shlibdeps (Debian's dpkg-dev)"
fi
