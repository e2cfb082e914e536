# Has a child with an empty environment and descriptors of its own, in a session of its own: only its parent shows whose it is.
. "${0%/*}/tree.sh"
env -i setsid sh "$trees/staying.sh" "$notes" < /dev/null > /dev/null 2>&1 9>&- &
until_noted 1
note
echo up
wait
