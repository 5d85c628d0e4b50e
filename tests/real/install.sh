#!/usr/bin/env bash
# Installs the real clients and servers that the tests in tests/it/real talk to.
#
#   tests/real/install.sh [--smoke] [FOLDER]
#
# --smoke installs only what the smoke tests need: the dependencies of package.json, from npm. Without it the
# devDependencies and the requirements-*.txt are also installed, from npm and PyPI.
# FOLDER defaults to target/real in the repository, where the tests look; for another one, set MCPREEL_REAL_PEERS.
# Fetches only the pinned versions. A second run with the same pins, node and python3 does nothing.
# Exit codes: 0 installed, 1 an install failed, 3 node, npm or python3 is missing.
set -u

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd) || exit 1
extent=all
if [ "${1:-}" = --smoke ]; then
    extent=smoke
    shift
fi
folder=${1:-$here/../../target/real}

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    exit "${2:-1}"
}

need() {
    command -v "$1" >/dev/null 2>&1 || fail "$1 is missing: install $2 and run this again" 3
}

# What a part was made from, so that a change of a pin or of the runtime reinstalls it.
wanted() {
    printf '%s\n' "$1"
    cat -- "$2"
}

is_done() {
    [ -f "$1" ] && wanted "$2" "$3" | cmp -s - "$1"
}

# The packages for this extent; the full set also serves the smoke tests.
install_node() {
    local pins=$here/package.json stamp=$folder/node_modules/.mcpreel-real omit=()
    is_done "$stamp" "node $node_version, all" "$pins" && return
    if [ "$extent" = smoke ]; then
        is_done "$stamp" "node $node_version, smoke" "$pins" && return
        omit=(--omit=dev)
    fi
    rm -rf -- "$folder/node_modules"
    cp -- "$pins" "$folder/package.json" || fail "cannot write into $folder"
    (cd -- "$folder" && npm install ${omit[@]+"${omit[@]}"} --no-package-lock --no-audit --no-fund --ignore-scripts \
        --no-update-notifier --loglevel=error) >&2 \
        || fail "npm could not install the packages that $pins pins"
    wanted "node $node_version, $extent" "$pins" >"$stamp" || fail "cannot write $stamp"
}

install_venv() {
    local venv=$folder/$1 pins=$here/requirements-$1.txt stamp=$folder/$1/.mcpreel-real
    shift
    is_done "$stamp" "python $python_version" "$pins" && return
    rm -rf -- "$venv"
    python3 -m venv "$venv" >&2 \
        || fail "python3 could not make the virtual environment $venv (on Debian, install python3-venv)"
    "$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check "$@" -r "$pins" >&2 \
        || fail "pip could not install the packages that $pins pins"
    wanted "python $python_version" "$pins" >"$stamp" || fail "cannot write $stamp"
}

need node "Node 20 or newer"
need npm "npm (it comes with Node)"
need python3 "Python 3.10 or newer"
node_version=$(node --version) || fail "node is installed but does not start" 3
python_version=$(python3 -c 'import sys; print(*sys.version_info[:3], sys.executable)') \
    || fail "python3 is installed but does not start" 3

mkdir -p -- "$folder" || fail "cannot make the folder $folder"
folder=$(cd -- "$folder" && pwd) || fail "cannot enter the folder $folder"
install_node
if [ "$extent" = all ]; then
    install_venv py1
    install_venv py2
    install_venv git
    install_venv fastmcp
    install_venv langchain
    install_venv node24
    install_venv tables
    install_venv otlp
    # Its tools run without its dependencies: see its pins.
    install_venv annal --no-deps
fi
printf 'real peers (%s) are in %s\n' "$extent" "$folder"
