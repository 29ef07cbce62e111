#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install.sh install|uninstall: copies what `make` has built below DESTDIR, or removes it. Make sets BUILD, PREFIX, LIBDIR,
# DESTDIR, STRIP, VERSION and LIBS. It compiles nothing.
set -eu -o pipefail
cd "$(dirname "$0")/.."
action=${1:?install or uninstall}
programs=(foliot-server foliot-client foliot-lab foliot-replay foliotctl)
bin=$DESTDIR$PREFIX/bin lib=$DESTDIR$LIBDIR share=$DESTDIR$PREFIX/share include=$DESTDIR$PREFIX/include/foliot
doc=$share/doc/foliot man=$share/man/man1
bash=$share/bash-completion/completions zsh=$share/zsh/site-functions

if [ "$action" = uninstall ]; then
    rm -f "${programs[@]/#/$bin/}" "${programs[@]/#/$bash/}" "${programs[@]/#/$zsh/_}"
    for page in docs/man/*.1; do rm -f "$man/$(basename "$page")"; done
    rm -f "$lib"/libfoliot.a "$lib"/libfoliot.so* "$lib"/pkgconfig/foliot.pc "$lib"/pkgconfig/foliot-static.pc
    rm -rf "$lib/foliot" "$lib/cmake/foliot" "$include" "$share/foliot" "$doc"
    exit
fi

put() { # MODE FOLDER FILE...
    install -d "$2"
    install -m "$1" "${@:3}" "$2"
}
put_tree() { # FOLDER ROOT FIND-CONDITION...: files below ROOT keep their paths, and stay executable
    find "$2" -type f "${@:3}" -perm /111 -exec install -D -m 755 '{}' "$1/{}" ';'
    find "$2" -type f "${@:3}" -not -perm /111 -exec install -D -m 644 '{}' "$1/{}" ';'
}
# A path below PREFIX is written relative to it, so that the tree may be moved. The loader finds the library in the folders
# of the system by itself, and elsewhere by an rpath.
# shellcheck disable=SC2016 # pkg-config expands ${prefix}
fill() { # TEMPLATE FOLDER
    local libdir=$LIBDIR rpath
    case $LIBDIR in "$PREFIX"/*) libdir='${prefix}'${LIBDIR#"$PREFIX"} ;; esac
    case $LIBDIR in /lib | /lib/* | /usr/lib | /usr/lib/*) rpath= ;; *) rpath=-Wl,-rpath,$libdir ;; esac
    install -d "$2"
    sed -e "s|@PREFIX@|$PREFIX|" -e "s|@LIBDIR@|$libdir|" -e "s|@RPATH@|$rpath|" -e "s|@LIBS@|$LIBS|" \
        -e "s|@VERSION@|$VERSION|" -e "s|@SOVERSION@|${VERSION%%.*}|" \
        -e "s|@TO_PREFIX@|$(realpath -ms --relative-to="$LIBDIR/cmake/foliot" "$PREFIX")|" \
        -e "s|@TO_LIBDIR@|$(realpath -ms --relative-to="$LIBDIR/cmake/foliot" "$LIBDIR")|" \
        "$1" >"$2/$(basename "$1" .in)"
}

put 755 "$bin" "${programs[@]/#/$BUILD/}"
put 644 "$lib" "$BUILD/libfoliot.a"
install -m 755 "$BUILD/libfoliot.so" "$lib/libfoliot.so.$VERSION"
if [ "$STRIP" = 1 ]; then
    strip "${programs[@]/#/$bin/}"
    strip --strip-unneeded "$lib/libfoliot.so.$VERSION"
    strip --strip-debug "$lib/libfoliot.a"
fi
ln -sf "libfoliot.so.$VERSION" "$lib/libfoliot.so.${VERSION%%.*}"
ln -sf "libfoliot.so.${VERSION%%.*}" "$lib/libfoliot.so"
put 755 "$lib/foliot" "$BUILD"/games/*.so
for template in foliot.pc.in foliot-static.pc.in; do fill $template "$lib/pkgconfig"; done
for template in cmake/*.in; do fill "$template" "$lib/cmake/foliot"; done
put 644 "$include" include/foliot/*.h
put 644 "$share/foliot/scenes" scenes/*
put_tree "$share/foliot" games
put_tree "$share/foliot" deploy
put 644 "$doc" ./*.md LICENSE
put_tree "$doc" docs -not -path 'docs/man/*' -not -name '*.in'
put_tree "$doc" examples
put 644 "$man" docs/man/*.1
install -d "$bash" "$zsh"
for program in "${programs[@]}"; do
    "$BUILD/$program" --help-page bash >"$bash/$program"
    "$BUILD/$program" --help-page zsh >"$zsh/_$program"
    chmod 644 "$bash/$program" "$zsh/_$program"
done
if [ -z "$DESTDIR" ] && [ "$(id -u)" = 0 ]; then PATH=$PATH:/sbin:/usr/sbin ldconfig || true; fi
