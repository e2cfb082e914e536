# A shell that waits for its child and passes no signal on.
. "${0%/*}/tree.sh"
trap : TERM
note
sh "$trees/staying.sh" "$notes" &
until_noted 2
echo up
wait
wait
