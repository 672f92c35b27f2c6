#!/bin/sh
# Run by mmdebstrap with the folder of the finished system: takes out what differs from build to build or from machine
# to machine, what no contract needs, and what could raise privileges.
set -eu
root=$1

# No program in a runtime changes its user.
find "$root" -xdev -type f -perm /6000 -exec chmod ug-s {} +

# Names of mirrors, hosts and people differ from machine to machine.
rm -f "$root/etc/apt/sources.list"
rm -rf "$root"/etc/apt/sources.list.d/* "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*
: > "$root/etc/machine-id"
: > "$root/etc/resolv.conf"
echo kervyxa > "$root/etc/hostname"

# Days of last password change are the day of the build; no account has a password.
sed -i -E 's/^([^:]*):[^:]*:[0-9]*:/\1:*:19000:/' "$root/etc/shadow"

# The options of the build are not those of the image.
rm -f "$root/etc/dpkg/dpkg.cfg.d/99mmdebstrap"

rm -rf "$root"/var/log/* "$root"/tmp/* "$root"/run/* "$root"/var/tmp/* "$root"/var/lib/dpkg/*-old \
  "$root"/var/cache/debconf/* "$root"/var/cache/ldconfig/* "$root"/etc/*- \
  "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/info/* "$root"/usr/share/locale/* \
  "$root"/usr/share/lintian/* "$root"/usr/share/bug/*

# Of valgrind, what counts instructions and the heap.
rm -f "$root"/usr/lib/*/valgrind/*.a
find "$root/usr/libexec/valgrind" -type f -name '*-linux' ! -name 'callgrind-*' ! -name 'dhat-*' -delete

# Python trusts a compiled file by its source's time, which the image does not keep; by content it stays valid.
if [ -x "$root/usr/bin/python3" ]; then
  find "$root/usr" -xdev -type d -name __pycache__ -prune -exec rm -rf {} +
  chroot "$root" python3 -m compileall -q -j 1 --invalidation-mode unchecked-hash /usr/lib/python3*
fi
