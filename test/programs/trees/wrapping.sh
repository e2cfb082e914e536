# Waits for its child as npm does: it survives the signal that both are sent, and passes none on.
. "${0%/*}/tree.sh"
trap : TERM
note
sh "$trees/${2:-staying}.sh" "$notes" &
until_noted 2
echo up
# The signal ends the first wait.
wait
wait
