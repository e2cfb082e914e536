# Has a child in a session of its own: no signal to its group reaches that.
. "${0%/*}/tree.sh"
setsid sh "$trees/staying.sh" "$notes" &
until_noted 1
note
echo up
wait
