# An ordinary process: it obeys.
. "${0%/*}/tree.sh"
stay
