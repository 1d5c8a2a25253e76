#!/usr/bin/env bash
# Unpacks a MySQL server with Group Replication, and the client `mysql`, from Debian's unstable suite, without installing
# them: Debian's stable suites have none. They bring their own C library, and run beside this machine's packages.
# Needs Debian or Ubuntu with apt-get; a minute, and 400 MB: bash test/mysql/unpack.sh [FOLDER]
# The folder's programs are then `mysqld` and `mysql`. They read no option files of this machine.
set -euo pipefail
# As test/mysql/installation.ts looks for it.
if [ "$(id -u)" = 0 ]; then cache=/var/cache; else cache=${XDG_CACHE_HOME:-$HOME/.cache}; fi
folder=$(realpath -m "${1:-${MYSQL_FOLDER:-$cache/bet-wallet/mysql}}")
if [ -x "$folder/mysqld" ]; then exit; fi

mkdir -p "$(dirname "$folder")"
chmod 755 "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,sources,packages,result/root}
: >"$work/status"

# This machine's own mirror.
mirror=$(awk '$1 == "URIs:" { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
if [ -z "$mirror" ]; then mirror=$(awk '$1 == "deb" && $2 ~ /debian/ { print $2; exit }' /etc/apt/sources.list); fi
printf 'Types: deb\nURIs: %s\nSuites: sid\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
  "$mirror" >"$work/sources/sid.sources"
apt() {
  timeout 300 apt-get -o "Dir::State::lists=$work/lists" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache" \
    -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/sources" -o APT::Sandbox::User=root \
    -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@"
}
apt update -qq --error-on=any
# With an empty status file, all that the server needs is listed, also what this machine has.
apt install --no-install-recommends --print-uris -y mysql-server-core mysql-client-core |
  sed -n "s/^'.*' \([^_ ]*\)_.*/\1/p" | grep -vE '^(perl|debconf|dpkg|tar|apt)' | sort -u >"$work/list"
cd "$work/packages"
# shellcheck disable=SC2046
apt download -qq $(cat "$work/list")
for package in ./*.deb; do dpkg-deb -x "$package" "$work/result/root"; done

for program in mysqld mysql; do
  cat >"$work/result/$program" <<PROGRAM
#!/bin/sh
if [ "\$1" = --no-defaults ]; then shift; fi
root=\$(dirname "\$(realpath "\$0")")/root
libraries=\$(echo "\$root"/usr/lib/*-linux-gnu)
exec "\$libraries"/ld-linux-*.so.* --library-path "\$libraries" "\$root"/usr/*bin/$program --no-defaults \\
  --character-sets-dir="\$root/usr/share/mysql/charsets" \\
  --plugin-dir="\$root/usr/lib/mysql/plugin" \$([ $program = mysql ] || echo "--lc-messages-dir=\$root/usr/share/mysql") "\$@"
PROGRAM
  chmod 755 "$work/result/$program"
done
chmod -R a+rX "$work/result"
"$work/result/mysqld" --version
"$work/result/mysql" --version
mv -T "$work/result" "$folder"
