"""Counts and totals by name of the complete events that XProf's converter makes of an XSpace.

usage: xprof_totals.py FILE.xplane.pb   prints {"name": [count, total_ns], ...} as JSON
"""

import json
import sys
from decimal import Decimal

from xprof.convert import raw_to_tool_data

data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "trace_viewer", {})
trace = json.loads(data, parse_float=Decimal)
totals = {}
for event in trace["traceEvents"]:
    if event.get("ph") == "X":
        row = totals.setdefault(event["name"], [0, 0])
        row[0] += 1
        row[1] += int((Decimal(event["dur"]) * 1000).to_integral_value())
json.dump(totals, sys.stdout)
