/** Sampling of requests and of what they ask for: no word of a client decides it. */
import { expect, test } from "bun:test";

import { traceOf } from "#ingress/core/traceparent.ts";
import { createTracer } from "#shared/tracing/otel.ts";

const nothing = (): void => undefined;
const processor = { onStart: nothing, onEnd: nothing, forceFlush: async () => {}, shutdown: async () => {} };
const facts = { role: "test", version: "1", trust: false, processor };
/** The sampler records such an id at any share but none. */
const LOWEST = `00-${"0".repeat(31)}1-${"b".repeat(16)}-01`;

test.each([
  ["recorded", 1],
  ["not recorded", 1e-9],
])("a job of a request that is %s is so too, for any trace of its client", (_what, sample) => {
  const tracer = createTracer({ ...facts, sample });
  const headers = new Headers({ traceparent: LOWEST });
  const span = tracer.begin("POST", "server", { client: traceOf({ headers }).traceparent }, {});
  const { traceparent } = traceOf({ headers, span });
  const job = tracer.begin("process", "consumer", { link: traceparent }, {});
  expect([span.traceparent !== undefined, job.traceparent !== undefined]).toEqual([sample === 1, sample === 1]);
});
