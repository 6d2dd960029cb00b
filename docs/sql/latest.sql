-- `aggregate --report latest`: every model at the newest time of its backend, the slowest first.
WITH newest AS (SELECT backend, max("timestamp") AS "timestamp" FROM model_speedups GROUP BY backend)
SELECT m.backend, m.model_name, m.speedup, m.std
FROM model_speedups AS m
JOIN newest AS n ON n.backend = m.backend AND n."timestamp" = m."timestamp"
ORDER BY m.backend, m.speedup, m.std, m.model_name
