import { describe, expect, test } from "bun:test";

import { bucketPercentile, parseBuckets } from "./counters.ts";
import { Histogram } from "./histogram.ts";

describe("the latency histogram", () => {
  test("finds percentiles within one percent from microseconds to minutes", () => {
    for (const scale of [0.01, 1, 250, 60_000]) {
      const histogram = new Histogram();
      for (let value = 1; value <= 1_000; value += 1) histogram.record((value / 1_000) * scale);
      for (const share of [0.5, 0.9, 0.99]) {
        // Nothing is kept below a tick, so one is allowed beside the percent.
        expect(Math.abs(histogram.percentile(share) - share * scale)).toBeLessThanOrEqual(
          share * scale * 0.01 + 0.0001,
        );
      }
    }
  });

  test("merged parts equal one histogram", () => {
    const [low, high, whole] = [new Histogram(), new Histogram(), new Histogram()];
    for (let value = 1; value <= 500; value += 1) {
      for (const histogram of [value <= 250 ? low : high, whole]) histogram.record(value);
    }
    const merged = Histogram.merge([low.toJSON(), high.toJSON()]);
    expect(merged.count).toBe(500);
    expect(merged.toJSON()).toEqual(whole.toJSON());
    expect(merged.percentile(0.99)).toBe(whole.percentile(0.99));
  });

  test("an empty one has no percentile", () => {
    expect(new Histogram().percentile(0.5)).toBeNaN();
  });
});

test("percentiles of a Prometheus histogram are interpolated inside their bucket", () => {
  const page = [
    "# TYPE x_seconds histogram",
    'x_seconds_bucket{le="0.001",role="ingress"} 50',
    'x_seconds_bucket{le="0.002",role="ingress"} 100',
    'x_seconds_bucket{le="+Inf",role="ingress"} 100',
    "x_seconds_count 100",
  ].join("\n");
  const buckets = parseBuckets(page, "x_seconds");
  expect(bucketPercentile(buckets, 0.5)).toBeCloseTo(0.001, 9);
  expect(bucketPercentile(buckets, 0.75)).toBeCloseTo(0.0015, 9);
  expect(bucketPercentile(parseBuckets(page, "other_seconds"), 0.5)).toBeNaN();
});
