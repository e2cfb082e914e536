# What the trees of the contract tests share; each program reads it first. Every process of a tree notes its pid and start time in the
# file that is the program's first argument, and ends by itself at the latest after two minutes.
notes=$1
trees=${0%/*}

note() {
  echo "$$ $(cut -d ' ' -f 22 "/proc/$$/stat")" >> "$notes"
}

# Signals that are ignored stay so.
stay() {
  note
  echo "${1:-stays}"
  exec sleep 120
}

# Waits until so many processes have noted themselves.
until_noted() {
  while [ ! -e "$notes" ] || [ "$(wc -l < "$notes")" -lt "$1" ]; do sleep 0.02; done
}
