# Finds what is missing on this system and installs it. Sourced by ./demo and ./check with the
# working directory at the project's root:
#
#     . tools/setup.sh
#     setup_packages ffmpeg ...          # in addition to what the build needs
#     setup_build release [target ...]   # configures and builds a preset, with $configure_options
#
# Needs dpkg and apt-get (Debian 12, Ubuntu 24.04 or later). When every package is there, nothing is
# downloaded and no rights are needed. It never asks.

BUILD_PACKAGES="gcc g++ cmake ninja-build pkg-config libyaml-dev libxxhash-dev libcmocka-dev libpng-dev python3"
# Better pictures; the build does without where a system does not have it.
OPTIONAL_PACKAGES="libembree-dev"

setup_say() { printf '%s\n' "$*"; }

setup_fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# The packages of the arguments that are not installed.
setup_missing() {
    present=" $(dpkg-query -W -f='${Package}:${db:Status-Status} ' "$@" 2>/dev/null || true)"
    for package in "$@"; do
        case $present in *" $package:installed "*) ;; *) printf '%s ' "$package" ;; esac
    done
}

# apt-get as root, without questions.
setup_apt() {
    if [ "$(id -u)" = 0 ]; then
        DEBIAN_FRONTEND=noninteractive apt-get "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo -n env DEBIAN_FRONTEND=noninteractive apt-get "$@"
    else
        setup_fail "installing packages needs root or sudo"
    fi
}

setup_install() {
    log=$(mktemp)
    if ! setup_apt install -y -q --no-install-recommends "$@" >"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

setup_packages() {
    command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 ||
        setup_fail "this set-up knows Debian and Ubuntu; elsewhere install the packages named in" \
            "docs/dependencies.md, then: cmake --preset release && cmake --build --preset release"
    # shellcheck disable=SC2086
    needed=$(setup_missing $BUILD_PACKAGES "$@")
    # shellcheck disable=SC2086
    optional=$(setup_missing $OPTIONAL_PACKAGES)
    # An optional package that this system turned out not to have is not looked for every time.
    [ ! -e build/without-optional ] || optional=
    [ -n "$needed$optional" ] || return 0

    setup_say "Installing what is missing: $needed$optional"
    setup_apt update -q >/dev/null 2>&1 </dev/null ||
        setup_say "(the package lists could not be brought up to date; trying with the present ones)"
    # shellcheck disable=SC2086
    [ -z "$needed" ] || setup_install $needed ||
        setup_fail "could not install: $needed"
    # shellcheck disable=SC2086
    if [ -n "$optional" ] && ! setup_install $optional 2>/dev/null; then
        setup_say "(going on without $optional)"
        mkdir -p build && : >build/without-optional
    fi
}

configure_options=
setup_build() {
    preset=$1
    shift
    log=build/$preset.log
    mkdir -p build
    # The compiler is asked for by name: another one in CC would change what is tested.
    # shellcheck disable=SC2086
    if ! { env -u CC -u CXX -u CFLAGS -u LDFLAGS cmake --preset "$preset" $configure_options &&
        cmake --build --preset "$preset" ${1:+--target "$@"}; } >"$log" 2>&1; then
        grep -n -E 'error|Error|FAILED' "$log" | head -n 20 >&2
        setup_say "building $preset failed; all of it is in $log" >&2
        return 1
    fi
}
