import { expect, test } from "bun:test";

import { mergeMetrics } from "#deploy/supervisor/admin.mjs";

const histogram = (count: number): string => `# HELP wait_seconds Time spent waiting.
# TYPE wait_seconds histogram
wait_seconds_bucket{pool="chat",le="1"} ${count}
wait_seconds_sum{pool="chat"} 2
wait_seconds_count{pool="chat"} ${count}
# HELP open_total Open ones.
# TYPE open_total gauge
open_total 5
`;

test("a family of two processes appears once, and each sample names its process", () => {
  const merged = mergeMetrics([
    { process: "ingress", text: histogram(1) },
    { process: "worker", text: histogram(2) },
  ]);
  expect(merged).toBe(`# HELP wait_seconds Time spent waiting.
# TYPE wait_seconds histogram
wait_seconds_bucket{process="ingress",pool="chat",le="1"} 1
wait_seconds_sum{process="ingress",pool="chat"} 2
wait_seconds_count{process="ingress",pool="chat"} 1
wait_seconds_bucket{process="worker",pool="chat",le="1"} 2
wait_seconds_sum{process="worker",pool="chat"} 2
wait_seconds_count{process="worker",pool="chat"} 2
# HELP open_total Open ones.
# TYPE open_total gauge
open_total{process="ingress"} 5
open_total{process="worker"} 5
`);
});

test("samples without a family and empty label sets are kept", () => {
  expect(mergeMetrics([{ process: "a", text: "plain 1\nempty{} 2\n" }])).toBe(
    'plain{process="a"} 1\nempty{process="a"} 2\n',
  );
});

test("a process that does not respond adds nothing", () => {
  expect(mergeMetrics([{ process: "a", text: "" }])).toBe("");
});
