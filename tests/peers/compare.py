"""Compares what a peer counted with `neuronscope open --json`.

usage: compare.py OURS.json THEIRS.json   exit code 1 if a peer has fewer of a name, or another total by more than 1 ns a slice
"""

import json
import sys

ours = {op["name"]: (op["count"], op["total_ns"]) for op in json.load(open(sys.argv[1]))["operators"]}
theirs = json.load(open(sys.argv[2]))
wrong = []
for name, (count, total) in ours.items():
    their_count, their_total = theirs.get(name, (0, 0))
    # An operator that was interrupted is one operator of several slices, and peers count slices.
    if their_count < count or abs(their_total - total) > their_count:
        wrong.append(f"{name}: ours {count} in {total} ns, theirs {their_count} in {their_total} ns")
# A peer may count instants as slices of no length.
for name, (count, total) in theirs.items():
    if name not in ours and total > 0:
        wrong.append(f"{name}: not in ours, theirs {count} in {total} ns")
print(f"{len(ours)} names, {sum(c for c, _ in ours.values())} slices; {len(wrong)} differ")
if wrong:
    print("\n".join(wrong[:10]))
sys.exit(1 if wrong else 0)
