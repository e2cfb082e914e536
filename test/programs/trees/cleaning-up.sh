# Takes 1.5 s to clean up when it is asked to leave, and writes down how often it is asked.
. "${0%/*}/tree.sh"
trap 'echo TERM >> "$notes.asked"; sleep 1.5; rm "$notes.marker"; exit 0' TERM
touch "$notes.marker"
note
for _ in $(seq 120); do
  sleep 1 &
  wait $!
done
