# Shared by run.sh and full.sh: runs steps, and says at the end what ran and how it went. Sourced, not run.

began=$SECONDS
log=$(mktemp)
summary=()
failures=0

# Prints why a suite cannot begin, and ends it.
stop() {
    printf '%s: %s\n' "$suite" "$1" >&2
    exit 1
}

need() {
    command -v "$1" >/dev/null 2>&1 || stop "$1 is missing: install $2"
}

# The time since a moment of $SECONDS, as text.
since() {
    local seconds=$((SECONDS - $1))
    printf '%d min %02d s' $((seconds / 60)) $((seconds % 60))
}

# step NAME COMMAND...: runs a command. If it fails, the suite ends, or goes on to fail at its end if keep_going is set.
step() {
    local name=$1 start=$SECONDS status=0 outcome=
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    "$@" 2>&1 | tee "$log" || status=$?
    if [ "$status" != 0 ]; then
        outcome=", FAILED"
        failures=$((failures + 1))
    fi
    summary+=("$(printf '%-22s %s%s%s' "$name" "$(since "$start")" "$(counts)" "$outcome")")
    [ "$status" = 0 ] || [ -n "${keep_going:-}" ] || exit "$status"
}

# Of a run of cargo test: how many tests passed, and how many were left out.
counts() {
    awk '/^test result: / { passed += $4; ignored += $8; runs++ }
        END { if (runs) printf ", %d passed", passed; if (ignored) printf ", %d ignored", ignored }' "$log"
}

# Something that this machine cannot run, and why.
left_out() {
    summary+=("$(printf '%-22s not run: %s' "$1" "$2")")
}

# Whether this kernel can hold a handler off other processes. `serve` warns where it cannot.
can_hold_handlers_back() {
    local said home
    home=$(mktemp -d)
    said=$(MCPREEL_HOME=$home cargo run --quiet --locked -- serve --allow-handlers bash 2>&1 </dev/null) \
        || stop "mcpreel serve failed: $said"
    rm -rf -- "$home"
    ! grep -q 'lets handlers signal' <<<"$said"
}

finish() {
    local status=$?
    rm -f -- "$log"
    printf '\n'
    for line in ${summary[@]+"${summary[@]}"}; do
        printf '  %s\n' "$line"
    done
    if [ "$status" = 0 ] && [ "$failures" = 0 ]; then
        printf '%s: all passed in %s%s\n' "$suite" "$(since "$began")" "${closing:+; $closing}"
    else
        printf '%s: FAILED after %s\n' "$suite" "$(since "$began")"
        [ "$status" != 0 ] || exit 1
    fi
}
trap finish EXIT
