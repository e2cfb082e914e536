# Has a grandchild in a session of its own, whose parent has exited.
. "${0%/*}/tree.sh"
(setsid sh "$trees/staying.sh" "$notes" &)
until_noted 1
stay up
