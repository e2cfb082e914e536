# Told so, has an orphan in a session of its own, with an empty environment and none of its descriptors: nothing of it shows whose it is.
# It ends when the file of the second argument is there.
. "${0%/*}/tree.sh"
note
echo up
while [ ! -e "$notes.go" ]; do sleep 0.02; done
(env -i PATH="$PATH" setsid sh "$trees/waiting-for.sh" "$notes" "$2" < /dev/null > /dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &)
exec sleep 120
