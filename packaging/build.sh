#!/usr/bin/env bash
# Makes everything that a release consists of, in target/packages:
#
#   mcpreel-VERSION.crate                the source, for crates.io; verified by building it
#   mcpreel_VERSION-1_ARCH.deb           for Debian and Ubuntu, with completions and manual pages
#   mcpreel-VERSION-TARGET.tar.gz        the same files for other systems
#   mcpreel-VERSION.tgz                  the launcher, for npm
#   mcpreel-PLATFORM-VERSION.tgz         the program, for npm: @mcpreel/PLATFORM
#   mcpreel-VERSION-py3-none-TAG.whl     for PyPI
#   mcpreel-VERSION.cdx.json             the SBOM (CycloneDX)
#   THIRD-PARTY-LICENSES.txt             the licences of the code of others in the program
#   SHA256SUMS                           checksums of all of these
#
#   packaging/build.sh [--profile PROFILE] [--allow-dirty]
#
# PROFILE is release (the default) or dev, for tests of the packages. --allow-dirty permits changes that are not
# committed. Needs Rust, a C compiler, Node 20 with npm, Python 3.9, and dpkg-dev. Installs other tools into target/tools,
# from crates.io and PyPI. What runs on which versions of glibc depends on the system where this runs.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

profile=release
dirty=() fast=()
while [ $# -gt 0 ]; do
    case $1 in
        --profile) profile=${2:?--profile needs a name}; shift 2 ;;
        --allow-dirty) dirty=(--allow-dirty); shift ;;
        *) printf 'build.sh: unknown argument %s\n' "$1" >&2; exit 2 ;;
    esac
done

fail() {
    printf 'build.sh: %s\n' "$1" >&2
    exit 1
}

need() {
    command -v "$1" >/dev/null 2>&1 || fail "$1 is missing: install $2"
}

need cargo "Rust (https://rustup.rs)"
need cc "a C compiler"
need node "Node 20 or newer"
need npm "npm (it comes with Node)"
need python3 "Python 3.9 or newer"
need dpkg-shlibdeps "dpkg-dev"

target=$(realpath -m -- "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR=$target
folder=$profile
[ "$profile" != dev ] || folder=debug fast=(--fast)
tools=$target/tools
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
platform=$(rustc -vV | sed -n 's/^host: //p')
# cargo-deb reads the notice from there, whatever CARGO_TARGET_DIR is.
out=$PWD/target/packages
work=$out/work
# The same bytes in all packages, except for the wheel's.
program=$work/mcpreel
PATH=$tools/bin:$PATH
# The same commit gives the same archives.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

say() {
    printf '== %s\n' "$1"
}

# tool NAME VERSION [OPTION...]: installs a subcommand of cargo, unless this version is there.
tool() {
    local name=$1 version=$2
    shift 2
    [ -e "$tools/.$name-$version" ] && return
    say "installing $name $version into $tools"
    cargo install --quiet --locked --force --root "$tools" --target-dir "$tools/build" "$@" "$name@$version"
    touch -- "$tools/.$name-$version"
}

install_tools() {
    tool cargo-about 0.9.3 --features cli
    tool cargo-cyclonedx 0.5.9
    tool cargo-deb 3.8.0
    rm -rf -- "$tools/build"
    local maturin=1.16.0
    if [ ! -e "$tools/.maturin-$maturin" ]; then
        say "installing maturin $maturin into $tools"
        python3 -m venv "$tools/venv"
        "$tools/venv/bin/pip" install --quiet --disable-pip-version-check "maturin==$maturin"
        touch -- "$tools/.maturin-$maturin"
    fi
}

# The licences of what is in the program. Fails if there is one that deny.toml does not accept.
notice() {
    cargo about generate --fail --locked --config packaging/about.toml packaging/about.hbs \
        --output-file "$out/THIRD-PARTY-LICENSES.txt"
}

# cargo-cyclonedx writes next to Cargo.toml, and names this folder as the package's address.
sbom() {
    cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$platform" --override-filename sbom
    sed -e "s|path+file://$PWD#|registry+https://github.com/rust-lang/crates.io-index#|g" \
        -e 's|?download_url=file://\.||g' sbom.json >"$out/mcpreel-$version.cdx.json"
    rm -- sbom.json
}

# cargo-deb accepts no development profile, so it finds the program where a release build would be.
deb() {
    mkdir -p "$work/target/release"
    cp -- "$program" "$work/target/release/"
    CARGO_TARGET_DIR=$work/target cargo deb --quiet --locked --no-build --no-strip --variant release \
        ${fast[@]+"${fast[@]}"} --output "$out/"
}

archive() {
    local name=mcpreel-$version-$platform
    local tree=$work/$name
    mkdir -p "$tree"
    cp -- "$program" LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md "$out/THIRD-PARTY-LICENSES.txt" "$tree/"
    cp -r -- man completions "$tree/"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -cf - "$name" \
        | gzip -n >"$out/$name.tar.gz"
}

npm_packages() {
    node packaging/npm/build.mjs "$program" "$out/THIRD-PARTY-LICENSES.txt" "$out"
}

# maturin builds with cargo, which has nothing left to do, and names the oldest glibc that the program runs with.
wheel() {
    local tree=$work/wheel
    mkdir -p "$tree"
    cp -- packaging/pyproject.toml packaging/README.md LICENSE-MIT LICENSE-APACHE "$out/THIRD-PARTY-LICENSES.txt" "$tree/"
    printf 'manifest-path = "%s"\n' "$PWD/Cargo.toml" >>"$tree/pyproject.toml"
    (cd -- "$tree" && "$tools/venv/bin/maturin" build --quiet --profile "$profile" --out "$out")
}

crate() {
    cargo package --quiet --locked ${dirty[@]+"${dirty[@]}"}
    cp -- "$target/package/mcpreel-$version.crate" "$out/"
}

install_tools
rm -rf -- "$out"
mkdir -p "$work"
say "building ($profile)"
cargo build --quiet --locked --profile "$profile" --bin mcpreel
cp -- "$target/$folder/mcpreel" "$program"
# Those of a development build are several times as large as the rest.
[ "$profile" = release ] || strip --strip-debug "$program"
for part in notice sbom deb archive npm_packages wheel crate; do
    say "$part"
    "$part"
done
rm -rf -- "$work"
(cd -- "$out" && sha256sum -- * >SHA256SUMS)
say "made, in $out:"
(cd -- "$out" && du -ah --apparent-size -- * | sort -k2)
