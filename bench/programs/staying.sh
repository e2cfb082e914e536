# Is ready at once, and stays.
echo ready
exec sleep 300
