# A master that starts four workers and waits for them. Whoever kills it with SIGKILL leaves them without a parent.
. "${0%/*}/tree.sh"
for _ in 1 2 3 4; do sh "$trees/staying.sh" "$notes" & done
until_noted 4
note
echo up
wait
