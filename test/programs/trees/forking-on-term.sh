# Answers SIGTERM with a new process in a session of its own, and goes on.
. "${0%/*}/tree.sh"
trap 'setsid sh "$trees/staying.sh" "$notes" &' TERM
note
echo up
for _ in $(seq 120); do
  sleep 1 &
  wait $!
done
