# Runs a command in a root file system of its own, which holds nothing but what is named: started in a mount space of its own,
# with rights over it.
#   sh private-root.sh <empty folder> { rw|ro|under|link <source> <path> [<flags>] } … -- <command>
# `under` names a mount that came with the one it lies in. It and `ro` take the flags that the mount has already: where the space is
# less privileged, the system lets none of them go.
set -eu
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

root=$1
shift
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root"
cd "$root"

# The path begins with a slash, which ends the dot's name: it lies in the new root.
place() {
  if [ -d "$1" ]; then
    mkdir -p ".$2"
  else
    mkdir -p "$(dirname ".$2")"
    : >".$2"
  fi
  mount --rbind "$1" ".$2"
}

for device in null zero full random urandom tty; do place /dev/$device /dev/$device; done
mkdir dev/shm proc tmp old
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777,nosuid,nodev,noexec tmpfs dev/shm
# A container that hides parts of its own allows no other: then it is that one, whose processes are another space's.
mount -t proc -o nosuid,nodev,noexec proc proc 2>/dev/null || mount --rbind /proc proc

while [ "$1" != -- ]; do
  kind=$1 source=$2 path=$3
  shift 3
  case $kind in
    link)
      mkdir -p "$(dirname ".$path")"
      ln -s "$source" ".$path"
      ;;
    rw) place "$source" "$path" ;;
    ro | under)
      [ "$kind" = under ] || place "$source" "$path"
      mount -o "remount,bind,$1,ro" ".$path"
      shift
      ;;
  esac
done
shift

pivot_root . old
umount -l /old
rmdir /old
mount -o remount,bind,ro,nosuid,nodev /
cd /
exec "$@"
