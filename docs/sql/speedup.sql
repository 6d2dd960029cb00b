-- `aggregate --report speedup`: geometric mean over the models at every time.
SELECT
  "timestamp", backend,
  exp(avg(ln(speedup))) AS speedup,
  exp(avg(ln(speedup))) / count(*) * sqrt(sum((std / speedup) * (std / speedup))) AS std,
  count(*) AS models
FROM model_speedups
GROUP BY "timestamp", backend
ORDER BY "timestamp", backend
