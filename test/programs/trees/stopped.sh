# Stops itself: no signal but SIGCONT and SIGKILL has an effect before it goes on. Its parent ends it in time, as it cannot do so itself.
if [ "$2" != stopped ]; then exec timeout --foreground -s KILL 120 sh "$0" "$1" stopped; fi
. "${0%/*}/tree.sh"
note
echo up
kill -STOP $$
exec sleep 120
