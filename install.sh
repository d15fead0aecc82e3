#!/bin/sh
# Builds Countersign and its relay (or takes prebuilt programs), puts them into PREFIX/bin, adds Countersign to Claude
# Code's settings, and shows a decision being made. Running it again updates the programs and changes nothing else.
set -eu

usage() {
    cat <<'TEXT'
usage: ./install.sh [--prefix DIR] [--prebuilt FILE --sha256 HEX] [--prebuilt-relay FILE --relay-sha256 HEX]
                    [--no-settings] [INSTALL OPTIONS]

  --prefix DIR           the programs go to DIR/bin (default: ~/.local)
  --prebuilt FILE        take this program instead of building; needs --sha256
  --sha256 HEX           what the prebuilt file's SHA-256 must be
  --prebuilt-relay FILE  with --prebuilt, the relay's program; without it, the relay is not installed
  --relay-sha256 HEX     what that file's SHA-256 must be
  --no-settings          leave Claude Code's settings alone
  -h, --help             this text

All other options go to `countersign install`: --early, --guard critical, --project, --yes ..
TEXT
}

say() { printf '%s\n' "$*"; }

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

prefix=
prebuilt=
digest=
prebuilt_relay=
relay_digest=
settings=yes
left=$#
while [ "$left" -gt 0 ]; do
    option=$1
    shift
    left=$((left - 1))
    case $option in
    --prefix | --prebuilt | --sha256 | --prebuilt-relay | --relay-sha256)
        [ "$left" -gt 0 ] && [ -n "$1" ] || fail "$option needs a value"
        case $option in
        --prefix) prefix=$1 ;;
        --prebuilt) prebuilt=$1 ;;
        --sha256) digest=$1 ;;
        --prebuilt-relay) prebuilt_relay=$1 ;;
        --relay-sha256) relay_digest=$1 ;;
        esac
        shift
        left=$((left - 1))
        ;;
    --no-settings) settings=no ;;
    --dry-run) fail "there is no dry run of the whole; use --no-settings, then \`countersign install --dry-run\`" ;;
    -h | --help)
        usage
        exit 0
        ;;
    # What is not ours goes to the end of the list, so that the options of `countersign install` are left in it.
    *) set -- "$@" "$option" ;;
    esac
done

[ -n "${HOME:-}" ] || fail "HOME is not set, so there is no place to install to"
here=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd -P)
prefix=${prefix:-$HOME/.local}
case $prefix in
/*) ;;
*) prefix=$(pwd -P)/$prefix ;;
esac
bin=$prefix/bin
program=$bin/countersign
relay=$bin/countersign-relay

sha256_of() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum <"$1"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 <"$1"
    elif command -v openssl >/dev/null 2>&1; then
        openssl dgst -sha256 -r <"$1"
    else
        fail "sha256sum, shasum or openssl is needed to check the prebuilt file, and none is there"
    fi | cut -d' ' -f1
}

# checked_prebuilt FILE DIGEST COPY
checked_prebuilt() {
    [ -f "$1" ] || fail "$1 is not a file"
    # The copy is checked, not the original, so that what was checked is what is installed.
    cp -- "$1" "$3"
    found=$(sha256_of "$3")
    wanted=$(printf '%s' "$2" | tr 'A-F' 'a-f')
    [ "$found" = "$wanted" ] || fail "$1 has the SHA-256 $found, not $wanted; nothing was installed"
}

built() {
    command -v cargo >/dev/null 2>&1 ||
        fail "cargo is not there. Install Rust 1.89 or newer (https://rustup.rs), or give a program with --prebuilt FILE --sha256 HEX"
    command -v cc >/dev/null 2>&1 ||
        fail "cc, which Rust links with, is not there. Install it (Debian, Ubuntu: apt install gcc libc6-dev; macOS: xcode-select --install)"
    minor=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
    if [ -n "$minor" ] && [ "$minor" -lt 89 ]; then
        fail "$(cargo --version) is too old; 1.89 or newer is needed (\`rustup update stable\`)"
    fi
    say "Building (a few minutes) .."
    # Apart from the hook, which would grow by what the relay asks of common libraries.
    cargo build --profile relay --locked --package countersign-relay --manifest-path "$here/Cargo.toml" \
        --target-dir "$here/target" || fail "the build failed, so nothing was installed"
    cp -- "$here/target/relay/countersign-relay" "$fresh_relay"
    # A program without shared libraries and at a fixed address starts in three quarters of the time, where the static C
    # library is at hand.
    static=$(rustc -vV 2>/dev/null | sed -n 's/^host: \(.*-linux-gnu\)$/\1/p')
    printf 'int main(void) { return 0; }' | cc -static -x c -o "$fresh" - 2>/dev/null || static=
    [ -z "$static" ] || export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static -C relocation-model=static -C link-arg=-Wl,--no-eh-frame-hdr"
    cargo build --release --locked --package countersign --manifest-path "$here/Cargo.toml" --target-dir "$here/target" \
        ${static:+--target "$static"} || fail "the build failed, so nothing was installed"
    cp -- "$here/target/${static:+$static/}release/countersign" "$fresh"
}

mkdir -p -- "$bin"
fresh=$(mktemp "$bin/.countersign.XXXXXX")
fresh_relay=$(mktemp "$bin/.countersign.XXXXXX")
scratch=
trap 'rm -rf -- "$fresh" "$fresh_relay" ${scratch:+"$scratch"}' EXIT
trap 'exit 1' HUP INT TERM

[ -n "$prebuilt" ] || [ -z "$digest$prebuilt_relay" ] || fail "--sha256 and --prebuilt-relay go with --prebuilt"
[ -n "$prebuilt_relay" ] || [ -z "$relay_digest" ] || fail "--relay-sha256 goes with --prebuilt-relay"
if [ -n "$prebuilt" ]; then
    [ -n "$digest" ] || fail "--prebuilt needs --sha256, so that it is known to be the file you mean"
    [ -z "$prebuilt_relay" ] || [ -n "$relay_digest" ] ||
        fail "--prebuilt-relay needs --relay-sha256, so that it is known to be the file you mean"
    checked_prebuilt "$prebuilt" "$digest" "$fresh"
    [ -z "$prebuilt_relay" ] || checked_prebuilt "$prebuilt_relay" "$relay_digest" "$fresh_relay"
else
    built
fi

# Both are tried before either is put in its place. The relay goes first, for the hook starts it.
for file in "$fresh_relay" "$fresh"; do
    [ -s "$file" ] || continue
    chmod 755 "$file"
    "$file" --version >/dev/null || fail "the program does not run on this machine, so nothing was installed"
done
if [ -s "$fresh_relay" ]; then
    mv -f -- "$fresh_relay" "$relay"
    say "Installed $("$relay" --version) as $relay"
elif [ ! -e "$relay" ]; then
    say "The relay is not installed, so nobody can answer from elsewhere; --prebuilt-relay gives it."
fi
mv -f -- "$fresh" "$program"
say "Installed $("$program" --version) as $program"

case :${PATH:-}: in
*":$bin:"*) ;;
*) say "$bin is not on your PATH. To call \`countersign\` by its name, add to your shell's start file:  export PATH=\"$bin:\$PATH\"" ;;
esac

if [ "$settings" = yes ]; then
    "$program" install "$@" ||
        fail "the program is installed, but Claude Code's settings were not changed. When that is mended: $program install"
fi

# The main job: an event as Claude Code sends it goes in, a decision comes out. Nothing in it is run.
scratch=$(mktemp -d)
mkdir "$scratch/src"

decide() {
    printf '{"session_id":"install-sh","transcript_path":"/nonexistent/install.jsonl","cwd":"%s","permission_mode":"default","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"%s"}}\n' "$scratch" "$1" |
        (cd "$scratch" && CLAUDE_PROJECT_DIR=$scratch "$program" hook --deadline 25) || true
}

show() {
    answer=$(decide "$1")
    say ""
    say "  Claude Code asks:     $1"
    say "  Countersign answers:  ${answer:-nothing}"
    case $answer in
    *'"behavior":"allow"'*) say "  Which means:          it runs, and you are not asked" ;;
    *'"behavior":"deny"'*) say "  Which means:          it does not run" ;;
    *) say "  Which means:          you are asked" ;;
    esac
}

say ""
say "What it does with permission prompts (two events, only judged, not run):"
show 'cd src && ls | wc -l'
show 'rm -rf ~'
say ""
say "Check it:  $bin/countersign doctor"
[ ! -e "$relay" ] || program="$program $relay"
say "Undo it:   $bin/countersign uninstall && rm $program"
