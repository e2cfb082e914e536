# Has a grandchild with an empty environment, in a session of its own, whose parent has exited: only its descriptors show whose it is.
. "${0%/*}/tree.sh"
(env -i setsid sh "$trees/staying.sh" "$notes" &)
until_noted 1
stay up
