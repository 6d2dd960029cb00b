-- Speed-up of every model at every time over the oldest time of the baseline backend: what `neuronscope aggregate` computes
-- before it makes a report of it. Needs two tables or views: `records` (docs/formats/parquet.md) and `chosen`, one row with
-- `baseline` (a backend), `test` (eval or train) and `product` (a part of accelerator_model; '' for all).
CREATE VIEW model_speedups AS
WITH
-- One row for each record: mean and deviation of its repeats but the first three, which warm up.
steady AS (
  SELECT
    r.source, r.line, r."timestamp", r.model_name, r.batch_size,
    CASE
      WHEN r.dynamo = 'inductor' THEN 'inductor'
      WHEN r.dynamo = 'openxla' AND r.xla = 'PJRT' THEN 'openxla+dynamo'
      WHEN r.dynamo IS NULL AND r.xla = 'PJRT' THEN 'openxla+lazytensor'
      WHEN r.dynamo IS NULL AND r.xla IS NULL THEN 'eager'
    END AS backend,
    avg(r.total_time) AS avg_s,
    coalesce(stddev_samp(r.total_time), 0) AS std_s
  FROM records AS r CROSS JOIN chosen AS c
  WHERE r.test = c.test AND r.sample >= 3 AND r.total_time IS NOT NULL
    AND (c.product = '' OR strpos(r.accelerator_model, c.product) > 0)
  GROUP BY r.source, r.line, r."timestamp", r.model_name, r.batch_size, r.dynamo, r.xla
),
-- A record that repeats an earlier one replaces it.
numbered AS (
  SELECT *, row_number() OVER (
    PARTITION BY "timestamp", backend, model_name, batch_size ORDER BY source DESC, line DESC
  ) AS from_last
  FROM steady
),
points AS (SELECT * FROM numbered WHERE from_last = 1),
-- The oldest time of the baseline backend for each model and batch size.
by_age AS (
  SELECT p.*, row_number() OVER (PARTITION BY p.model_name, p.batch_size ORDER BY p."timestamp") AS age
  FROM points AS p CROSS JOIN chosen AS c
  WHERE p.backend = c.baseline
),
baseline AS (SELECT model_name, batch_size, avg_s, std_s FROM by_age WHERE age = 1),
ratios AS (
  SELECT
    p."timestamp", p.backend, p.model_name,
    b.avg_s / p.avg_s AS ratio,
    sqrt((p.std_s / p.avg_s) * (p.std_s / p.avg_s) + (b.std_s / b.avg_s) * (b.std_s / b.avg_s)) AS relative_std
  FROM points AS p
  JOIN baseline AS b ON b.model_name = p.model_name AND b.batch_size IS NOT DISTINCT FROM p.batch_size
)
-- A model with several batch sizes counts once, with their geometric mean.
SELECT
  "timestamp", backend, model_name,
  exp(avg(ln(ratio))) AS speedup,
  exp(avg(ln(ratio))) / count(*) * sqrt(sum(relative_std * relative_std)) AS std
FROM ratios
GROUP BY "timestamp", backend, model_name
