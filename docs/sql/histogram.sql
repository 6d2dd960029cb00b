-- `aggregate --report histogram`: percentiles over the models at every time. Between two models the percentile is on the
-- straight line: each model counts with one less its distance from the percentile's place. (percentile_cont of DuckDB gives
-- the same; DataFusion's rounds that place to a millionth.)
WITH ranked AS (
  SELECT
    "timestamp", backend, speedup,
    row_number() OVER (PARTITION BY "timestamp", backend ORDER BY speedup) - 1 AS place,
    count(*) OVER (PARTITION BY "timestamp", backend) - 1 AS last_place
  FROM model_speedups
)
SELECT
  "timestamp", backend,
  sum(speedup * greatest(0.0, 1.0 - abs(place - 0.95 * last_place))) AS p95,
  sum(speedup * greatest(0.0, 1.0 - abs(place - 0.50 * last_place))) AS p50,
  sum(speedup * greatest(0.0, 1.0 - abs(place - 0.05 * last_place))) AS p5
FROM ranked
GROUP BY "timestamp", backend
ORDER BY "timestamp", backend
