#!/usr/bin/env bash
# Unpacks a server of one of Debian's suites, without installing it:
#
#     unpack.sh mysql                    MySQL with Group Replication and its client: no stable suite has one
#     unpack.sh mariadb SUITE FOLDER     another MariaDB than this machine's
#
# It brings its own C library, runs beside this machine's packages, and reads no option files of this machine. Needs
# Debian or Ubuntu with apt-get; a minute, and 400 MB. The folder's programs are then `mysqld` and `mysql`, or `mariadbd`
# and `mariadb-install-db`.
# cspell:ignore sourcelist sourceparts debconf resolveip charsets
set -euo pipefail
engine=$1 suite=${2:-sid} scripts=
# As test/mysql/installation.ts looks for it.
if [ "$(id -u)" = 0 ]; then cache=/var/cache; else cache=${XDG_CACHE_HOME:-$HOME/.cache}; fi
folder=$(realpath -m "${3:-${MYSQL_FOLDER:-$cache/bet-wallet/mysql}}")
case $engine in
  mysql) packages='mysql-server-core mysql-client-core' programs='sbin/mysqld bin/mysql' ;;
  mariadb)
    packages='mariadb-server-core mariadb-client-core galera-4'
    # Without what it needs: of it, only the scripts by which a node of Galera gets all data.
    scripts=mariadb-server
    # In their places, because mariadb-install-db and those scripts run them there.
    programs='sbin/mariadbd bin/my_print_defaults bin/resolveip'
    ;;
esac
if [ -x "$folder/${engine}d" ]; then exit; fi

# Other accounts read it. A folder that was there keeps its rights: it may be /tmp.
parent=$(dirname "$folder")
if [ ! -d "$parent" ]; then
  mkdir -p "$parent"
  chmod 755 "$parent"
fi
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
    -o Acquire::Retries=3 -o Acquire::http::Timeout=20 "$@"
}
apt update -qq --error-on=any
# With an empty status file, all that the server needs is listed, also what this machine has.
# shellcheck disable=SC2086
apt install --no-install-recommends --print-uris -y $packages |
  sed -n "s/^'.*' \([^_ ]*\)_.*/\1/p" | grep -vE '^(perl|debconf|dpkg|tar|apt)' | sort -u >"$work/list"
cd "$work/packages"
# shellcheck disable=SC2046
apt download -qq $(cat "$work/list") $scripts
for package in ./*.deb; do dpkg-deb -x "$package" "$work/result/root"; done

for program in $programs; do
  case $program in
    sbin/mysqld) options='--lc-messages-dir="$usr/share/mysql" --character-sets-dir="$usr/share/mysql/charsets"' ;;
    bin/mysql) options='--character-sets-dir="$usr/share/mysql/charsets"' ;;
    sbin/mariadbd) options='--basedir="$usr"' ;;
    *) options= ;;
  esac
  shift=
  if [ -n "$options" ]; then
    # It is known as the first argument only.
    shift='if [ "$1" = --no-defaults ]; then shift; fi'
    options="--no-defaults --plugin-dir=\"\$usr/lib/mysql/plugin\" $options"
  fi
  path=$work/result/root/usr/$program
  mv "$path" "$path.real"
  cat >"$path" <<PROGRAM
#!/bin/sh
program=\$(realpath "\$0")
usr=\$(dirname "\$(dirname "\$program")")
libraries=\$(echo "\$usr"/lib/*-linux-gnu)
$shift
exec "\$libraries"/ld-linux-*.so.* --library-path "\$libraries" "\$program.real" $options "\$@"
PROGRAM
  chmod 755 "$path"
done
case $engine in
  mysql) ln -s root/usr/bin/mysql "$work/result/mysql" ;;
  mariadb)
    cat >"$work/result/mariadb-install-db" <<'PROGRAM'
#!/bin/sh
usr=$(dirname "$(realpath "$0")")/root/usr
exec "$usr/bin/mariadb-install-db" "$@" --basedir="$usr"
PROGRAM
    chmod 755 "$work/result/mariadb-install-db"
    ;;
esac
ln -s "root/usr/sbin/${engine}d" "$work/result/${engine}d"
chmod -R a+rX "$work/result"
"$work/result/${engine}d" --version
# Another process may have been first.
mv -T "$work/result" "$folder" 2>/dev/null || [ -x "$folder/${engine}d" ]
