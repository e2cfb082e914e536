# Has a child in a group of its own, which has a child in a session of its own: no signal to its group reaches either.
. "${0%/*}/tree.sh"
if [ "$2" = apart ]; then
  setsid sh "$trees/staying.sh" "$notes" &
  until_noted 1
  note
  wait
  exit
fi
python3 -c 'import os, sys; os.setpgid(0, 0); os.execvp(sys.argv[1], sys.argv[1:])' sh "$0" "$notes" apart &
until_noted 2
note
echo up
wait
