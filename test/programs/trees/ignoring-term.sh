# Ignores all polite signals.
. "${0%/*}/tree.sh"
trap '' TERM INT HUP
stay up
