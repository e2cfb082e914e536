# A server with one tree of each kind below it: serving-above-a-tree.sh <directory of the trees> <notes> <command of the server>…
trees=$1
notes=$2
shift 2
sh "$trees/one-of-each.sh" "$notes" > "$notes.log" &
until grep -q 'one of each' "$notes.log" 2> /dev/null; do sleep 0.02; done
exec "$@"
