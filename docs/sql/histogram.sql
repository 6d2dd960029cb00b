-- `aggregate --report histogram`: percentiles over the models at every time.
SELECT
  "timestamp", backend,
  percentile_cont(0.95) WITHIN GROUP (ORDER BY speedup) AS p95,
  percentile_cont(0.50) WITHIN GROUP (ORDER BY speedup) AS p50,
  percentile_cont(0.05) WITHIN GROUP (ORDER BY speedup) AS p5
FROM model_speedups
GROUP BY "timestamp", backend
ORDER BY "timestamp", backend
