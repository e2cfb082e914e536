# Prepares a sandbox by its first argument and runs the others in it, with a stranger beside them. Then it says what is left alive, and what
# of the files below CHECKED. It is for a mount and a pid namespace of its own, which end with it.
prepare=$1
shift
mkdir -m 700 "$TMPDIR/proc"
mount -t proc proc "$TMPDIR/proc"
env -i sleep 97531 &
eval "$prepare"
"$@"
code=$?

alive() {
  for each in "$TMPDIR"/proc/[0-9]*; do
    command=$(tr '\0' ' ' 2> /dev/null < "$each/cmdline")
    case $command in '' | *sandboxed.sh*) ;; *) printf '%s; ' "$command" ;; esac
  done
}

# Who was asked to leave has some time.
for _ in $(seq 100); do
  left=$(alive)
  [ "$left" = 'sleep 97531 ; ' ] && break
  sleep 0.1
done
echo "left alive: $left"
umount "$TMPDIR/proc"
rmdir "$TMPDIR/proc"
[ -z "$CHECKED" ] || echo "left there: $(find "$CHECKED" -mindepth 1 -printf '%P ')"
exit $code
