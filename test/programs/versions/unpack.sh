#!/usr/bin/env bash
# Unpacks the MariaDB of a suite of Debian into a folder, without installing it: unpack.sh SUITE FOLDER. It brings its own
# C library, and runs beside this machine's packages. Needs Debian with apt-get. The folder's programs are then
# `mariadbd` and `mariadb-install-db`.
# cspell:ignore sourcelist sourceparts debconf resolveip
set -euo pipefail
suite=$1 folder=$(realpath -m "$2")
if [ -x "$folder/mariadbd" ]; then exit; fi

mkdir -p "$(dirname "$folder")"
chmod 755 "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,sources,packages,result/root}
: >"$work/status"

# This machine's own mirror.
mirror=$(awk '$1 == "URIs:" { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
if [ -z "$mirror" ]; then mirror=$(awk '$1 == "deb" && $2 ~ /debian/ { print $2; exit }' /etc/apt/sources.list); fi
if [ -z "$mirror" ]; then echo 'this machine has no mirror of Debian' >&2; exit 1; fi
printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
  "$mirror" "$suite" >"$work/sources/suite.sources"
apt() {
  timeout 300 apt-get -o "Dir::State::lists=$work/lists" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache" \
    -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/sources" -o APT::Sandbox::User=root \
    -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@"
}
apt update -qq --error-on=any
# With an empty status file, all that the server needs is listed, also what this machine has.
apt install --no-install-recommends --print-uris -y mariadb-server-core mariadb-client-core |
  sed -n "s/^'.*' \([^_ ]*\)_.*/\1/p" | grep -vE '^(perl|debconf|dpkg|tar|apt)' | sort -u >"$work/list"
cd "$work/packages"
# shellcheck disable=SC2046
apt download -qq $(cat "$work/list")
for package in ./*.deb; do dpkg-deb -x "$package" "$work/result/root"; done

# In their places, because mariadb-install-db runs them there.
for program in sbin/mariadbd bin/my_print_defaults bin/resolveip; do
  path=$work/result/root/usr/$program
  mv "$path" "$path.real"
  cat >"$path" <<'PROGRAM'
#!/bin/sh
usr=$(dirname "$(dirname "$0")")
libraries=$(echo "$usr"/lib/*-linux-gnu)
PROGRAM
  echo 'exec "$libraries"/ld-linux-*.so.* --library-path "$libraries" "$0.real" "$@"' \
    "$([ "$program" != sbin/mariadbd ] || echo '--basedir="$usr" --plugin-dir="$usr/lib/mysql/plugin"')" >>"$path"
  chmod 755 "$path"
done
cat >"$work/result/mariadbd" <<'PROGRAM'
#!/bin/sh
exec "$(dirname "$(realpath "$0")")/root/usr/sbin/mariadbd" "$@"
PROGRAM
cat >"$work/result/mariadb-install-db" <<'PROGRAM'
#!/bin/sh
usr=$(dirname "$(realpath "$0")")/root/usr
exec "$usr/bin/mariadb-install-db" "$@" --basedir="$usr"
PROGRAM
chmod 755 "$work"/result/mariadb*
chmod -R a+rX "$work/result"
"$work/result/mariadbd" --version
mv -T "$work/result" "$folder"
