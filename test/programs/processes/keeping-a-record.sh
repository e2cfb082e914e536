# Says which signals reach it and, whenever it is asked, that this was all so far.
for name in HUP INT QUIT USR1 USR2 ALRM TERM CONT TSTP TTIN WINCH IO PWR; do trap "echo got SIG$name" $name; done
echo ready
# A signal interrupts the reading with a status above 128; at the end of its input it leaves.
while read -r _ || [ $? -gt 128 ]; do echo that is all; done
