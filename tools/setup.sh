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
# Better pictures, the viewer, elimination of small meshes' systems; the build does without where a
# system does not have them.
OPTIONAL_PACKAGES="libembree-dev libcivetweb-dev libsuitesparse-dev"

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
    # An optional package that this system turned out not to have is not looked for every time.
    optional=
    # shellcheck disable=SC2086
    for package in $(setup_missing $OPTIONAL_PACKAGES); do
        grep -qsx "$package" build/without-optional || optional="$optional$package "
    done
    [ -n "$needed$optional" ] || return 0

    setup_say "Installing what is missing: $needed$optional"
    setup_apt update -q >/dev/null 2>&1 </dev/null ||
        setup_say "(the package lists could not be brought up to date; trying with the present ones)"
    # shellcheck disable=SC2086
    [ -z "$needed" ] || setup_install $needed ||
        setup_fail "could not install: $needed"
    for package in $optional; do
        setup_install "$package" 2>/dev/null && continue
        setup_say "(going on without $package)"
        mkdir -p build && printf '%s\n' "$package" >>build/without-optional
    done
}

setup_machine_has() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }

# Where ccache is installed, a file that was compiled before, in any clone, is not compiled again.
if command -v ccache >/dev/null 2>&1 && [ -z "${CMAKE_C_COMPILER_LAUNCHER:-}" ]; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
fi

# Debian's source package of libyaml to build/libyaml, for WebAssembly: the same library that the native
# build links. A source list of our own beside the system's needs no rights and changes nothing there.
setup_libyaml() {
    [ ! -e build/libyaml/src/scanner.c ] || return 0
    apt=$PWD/build/apt
    rm -rf "$apt" && mkdir -p "$apt/lists/partial" "$apt/parts"
    for list in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$apt/parts/${list##*/}"
    done
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -n 's/^deb /deb-src /p' >"$apt/sources.list"
    set -- -q -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts" \
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=" \
        -o APT::Sandbox::User=root
    (cd "$apt" && apt-get "$@" update && apt-get "$@" source --download-only libyaml) \
        >"$apt/log" 2>&1 </dev/null || { tail -n 5 "$apt/log" >&2; setup_fail "could not fetch libyaml's sources"; }
    mkdir -p build/libyaml
    tar -xf "$apt"/libyaml_*.orig.tar.gz -C build/libyaml --strip-components 1
    rm -rf "$apt"
}

# What the page is built with: clang for WebAssembly, and Node where there is none.
setup_web_packages() {
    . /etc/os-release
    case "$ID$VERSION_ID" in
    ubuntu24.04) runtime=libclang-rt-18-dev-wasm32 ;;
    *) runtime=libclang-rt-14-dev-wasm32 ;;
    esac
    printf '%s ' clang lld llvm wasi-libc "$runtime"
    command -v node >/dev/null 2>&1 || printf 'nodejs '
    command -v npm >/dev/null 2>&1 || printf 'npm '
}

# The playground at web/dist: spate.wasm by the preset wasm, the page by Vite.
setup_web() {
    # shellcheck disable=SC2046
    setup_packages $(setup_web_packages) "$@"
    mkdir -p build
    setup_libyaml
    setup_say "Building the engine as WebAssembly (build/wasm)"
    setup_build wasm || exit 1
    if [ ! -e web/node_modules/.package-lock.json ] ||
        [ web/package-lock.json -nt web/node_modules/.package-lock.json ]; then
        setup_say "Fetching what the page is built with (web/node_modules)"
        (cd web && npm ci --no-audit --no-fund) >build/npm.log 2>&1 ||
            { tail -n 15 build/npm.log >&2; setup_fail "npm ci failed"; }
    fi
    setup_say "Building the page (web/dist)"
    (cd web && npm run build) >build/page.log 2>&1 ||
        { tail -n 30 build/page.log >&2; setup_fail "the page does not build"; }
}

configure_options=
setup_build() {
    preset=$1
    shift
    log=build/$preset.log
    mkdir -p build
    # Kernels that this machine could not run are not compiled here.
    setup_machine_has avx512f || configure_options="$configure_options -DSPATE_AVX512=OFF"
    # The compiler is asked for by name: another one in CC would change what is tested.
    # shellcheck disable=SC2086
    if ! { env -u CC -u CXX -u CFLAGS -u LDFLAGS cmake --preset "$preset" $configure_options &&
        cmake --build --preset "$preset" ${1:+--target "$@"}; } >"$log" 2>&1; then
        grep -n -E 'error|Error|FAILED' "$log" | head -n 20 >&2
        setup_say "building $preset failed; all of it is in $log" >&2
        return 1
    fi
}
