# The parent of one tree of each kind, among them workers whose master was killed.
. "${0%/*}/tree.sh"
note
kinds='ignoring-term setsid-child double-forking stopped wrapping clearing-its-environment closing-its-descriptors forking-on-term'
for kind in $kinds; do sh "$trees/$kind.sh" "$notes-$kind" & done
sh "$trees/preforking.sh" "$notes-preforking" &
master=$!
while [ "$(cat "$notes"-* 2> /dev/null | wc -l)" -lt 18 ]; do sleep 0.02; done
kill -KILL "$master"
echo 'one of each'
wait
