#!/usr/bin/env bash
# Installs each package of target/packages, runs it, and removes it again.
#
#   packaging/test.sh [FOLDER]
#
# FOLDER is where packaging/build.sh put the packages. Needs dpkg, node, npm, python3, man, and the npm registry, which
# npm asks for the packages of other platforms. With MCPREEL_INSTALL_DEB=1 as root, also installs the .deb in this system
# and removes it.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
packages=$(realpath -- "${1:-target/packages}")
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export MCPREEL_HOME=$work/home

fail() {
    printf 'test.sh: %s\n' "$1" >&2
    exit 1
}

# expect EXPECTED COMMAND...: compares what a command prints.
expect() {
    local expected=$1 got
    shift
    got=$("$@") || fail "$* exited with $?"
    [ "$got" = "$expected" ] || fail "$* printed: $got"
}

# holds FOLDER FILE...: checks that a folder has these files, and that they are not empty.
holds() {
    local folder=$1 file
    shift
    for file; do
        [ -s "$folder/$file" ] || fail "$folder has no $file"
    done
}

# works COMMAND...: checks that a program gets stdin, stdout, exit codes and signals as if it had been started directly.
works() {
    expect "mcpreel $version" "$@" --version
    local status=0
    "$@" no-such-command >"$work/said" 2>&1 || status=$?
    [ "$status" = 2 ] || fail "$*: a wrong command exits with $status"
    passes_bytes "$@"
    # A caller ends a server with a signal. It must reach the program, which here stands behind `record`.
    python3 packaging/test_signals.py "$@" || fail "$*: see above"
}

# Records `cat`, and sends bytes through it that are neither UTF-8 nor lines.
passes_bytes() {
    head -c 300000 /dev/urandom >"$work/bytes"
    printf '\0\r\n\377' >>"$work/bytes"
    timeout 60 "$@" record -o "$work/bytes.reel" --force -- cat <"$work/bytes" >"$work/copy" || fail "$*: record exited with $?"
    cmp -- "$work/bytes" "$work/copy" || fail "$* changed bytes"
}

checksums() {
    (cd -- "$packages" && sha256sum --quiet --check SHA256SUMS)
    expect "$(ls -- "$packages" | grep -vx SHA256SUMS)" awk '{ print $2 }' "$packages/SHA256SUMS"
}

# accepted FILE NAME: the licences in a list of a TOML file.
accepted() {
    tr -d '\n' <"$1" | sed -n "s/.*$2 = \[\([^]]*\)\].*/\1/p" | grep -o '"[^"]*"' | sort
}

notice() {
    expect "$(accepted deny.toml allow)" accepted packaging/about.toml accepted
    local text=$packages/THIRD-PARTY-LICENSES.txt
    grep -q '^  serde_json 1\.' "$text" || fail "the notice does not name serde_json"
    grep -q 'Copyright (c) Meta Platforms' "$text" || fail "the notice lacks the licence of the C library zstd"
    ! grep -q '^  insta ' "$text" || fail "the notice names a dependency of tests"
}

sbom() {
    python3 - "$packages/mcpreel-$version.cdx.json" <<'PYTHON'
import json, sys
bom = json.load(open(sys.argv[1]))
assert bom["bomFormat"] == "CycloneDX", bom["bomFormat"]
assert bom["metadata"]["component"]["name"] == "mcpreel", bom["metadata"]["component"]
names = {component["name"] for component in bom["components"]}
assert {"serde_json", "tokio", "rustls"} <= names, names
assert "insta" not in names, "a dependency of tests"
scopes = {component["name"]: component["scope"] for component in bom["components"]}
assert scopes["serde_json"] == "required" and scopes["cc"] == "excluded", scopes
assert "file:" not in json.dumps(bom), "names a folder of this machine"
assert all(component.get("purl", "").startswith("pkg:cargo/") for component in bom["components"])
PYTHON
}

# The files beside the program, in a system's folder.
system_files() {
    local root=$1
    holds "$root/usr/share" bash-completion/completions/mcpreel zsh/vendor-completions/_mcpreel \
        fish/vendor_completions.d/mcpreel.fish doc/mcpreel/copyright doc/mcpreel/THIRD-PARTY-LICENSES.txt \
        doc/mcpreel/docs/guide/README.md
    local pages=("$root"/usr/share/man/man1/mcpreel*.1.gz)
    [ "${#pages[@]}" = "$(find man -name '*.1' | wc -l)" ] || fail "there are ${#pages[@]} manual pages"
    man -l -P cat "$root/usr/share/man/man1/mcpreel-record.1.gz" 2>&1 | grep -q '^NAME' || fail "man cannot show a page"
    # bash finds the completion by the name of the command.
    bash -c '. "$1" && complete -p mcpreel' _ "$root/usr/share/bash-completion/completions/mcpreel" >/dev/null \
        || fail "bash cannot read its completion"
}

deb() {
    local file=$1 root=$work/deb
    # A root of its own has no libc, on which the package depends.
    mkdir -p "$root/var/lib/dpkg"
    touch -- "$root/var/lib/dpkg/status"
    local dpkg=(dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null)
    "${dpkg[@]}" --install "$file" >"$work/said" 2>&1 || { cat -- "$work/said"; fail "dpkg cannot install $file"; }
    system_files "$root"
    works "$root/usr/bin/mcpreel"
    "${dpkg[@]}" --purge mcpreel >"$work/said" 2>&1 || { cat -- "$work/said"; fail "dpkg cannot remove mcpreel"; }
    [ -z "$(find "$root/usr" -name '*mcpreel*' 2>/dev/null)" ] || fail "files are left after removal"
}

deb_in_this_system() {
    dpkg --install "$1" >/dev/null
    trap 'dpkg --purge mcpreel >/dev/null 2>&1; rm -rf -- "$work"' EXIT
    system_files ""
    expect "mcpreel $version" /usr/bin/mcpreel --version
    man -P cat mcpreel-show 2>&1 | grep -q '^NAME' || fail "man does not find mcpreel-show"
    dpkg --purge mcpreel >/dev/null
    [ ! -e /usr/bin/mcpreel ] || fail "the program is left after removal"
}

archive() {
    tar -C "$work" -xzf "$1"
    local tree=$work/$(basename -- "$1" .tar.gz)
    holds "$tree" LICENSE-MIT LICENSE-APACHE THIRD-PARTY-LICENSES.txt man/mcpreel.1 completions/mcpreel.bash
    works "$tree/mcpreel"
}

npm_packages() {
    local folder=$work/npm
    mkdir -p "$folder"
    (cd -- "$folder" && npm install --silent --no-audit --no-fund "$@")
    (cd -- "$folder" && expect "mcpreel $version" npx mcpreel --version)
    works "$folder/node_modules/.bin/mcpreel"
    holds "$folder/node_modules/mcpreel" LICENSE-MIT LICENSE-APACHE README.md
    rm -r -- "$folder/node_modules/@mcpreel"
    "$folder/node_modules/.bin/mcpreel" --version >"$work/said" 2>&1 && fail "the launcher runs without a program"
    grep -q '^error: the package @mcpreel/' "$work/said" || fail "the launcher said: $(cat -- "$work/said")"
}

wheel() {
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$1"
    works "$work/venv/bin/mcpreel"
    holds "$(echo "$work"/venv/lib/python3*/site-packages/mcpreel-*.dist-info)" licenses/LICENSE-MIT \
        licenses/LICENSE-APACHE licenses/THIRD-PARTY-LICENSES.txt
    "$work/venv/bin/pip" uninstall --quiet --yes mcpreel
    [ ! -e "$work/venv/bin/mcpreel" ] || fail "the program is left after removal"
}

# packaging/build.sh built it; here is what it must and must not contain.
crate() {
    tar -tzf "$1" | sed 's|^[^/]*/||' >"$work/list"
    local file
    for file in build.rs order.ld src/main.rs LICENSE-MIT LICENSE-APACHE man/mcpreel.1; do
        grep -qxF "$file" "$work/list" || fail "the crate has no $file"
    done
    ! grep -E '^(tests/it|docs/guide|fuzz|benches|packaging)/' "$work/list" || fail "the crate has files that no build needs"
    local bytes
    bytes=$(stat -c %s -- "$1")
    [ "$bytes" -lt 3000000 ] || fail "the crate has $bytes bytes"
}

step() {
    "$@"
    printf 'ok: %s\n' "$1"
}
step checksums
step notice
step sbom
step crate "$packages/mcpreel-$version.crate"
step archive "$packages"/mcpreel-"$version"-*.tar.gz
step deb "$packages"/mcpreel_*.deb
if [ -n "${MCPREEL_INSTALL_DEB:-}" ]; then
    step deb_in_this_system "$packages"/mcpreel_*.deb
fi
step npm_packages "$packages/mcpreel-$version.tgz" "$packages"/mcpreel-linux-*.tgz
step wheel "$packages"/mcpreel-*.whl
