/**
 * Exports ended spans to the collector, in batches, one at a time. The number of waiting spans is limited. Each batch has a deadline and no
 * retry. Spans that the collector rejects, or that exceed the limit, are counted and dropped. A slow or unavailable collector therefore
 * never delays a call.
 */
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace";

import type { Logger } from "#shared/base/logger.ts";
import type { ProcessMetrics } from "#shared/metrics/metrics.ts";

const QUEUE_MAX = 2_048;
const BATCH_MAX = 256;
const EVERY_MS = 1_000;
const SEND_MS = 5_000;
/** Minimum interval between log lines about rejected spans, in milliseconds. */
const LOG_INTERVAL_MS = 60_000;

export interface ExporterOptions {
  /** URL of the collector for traces. */
  readonly url: string;
  readonly metrics: Pick<ProcessMetrics, "spansExported" | "spansDropped">;
  readonly log: Logger;
}

export function createExporter({ url, metrics, log }: ExporterOptions): SpanProcessor {
  const queue: ReadableSpan[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> | undefined;
  let lastLoggedAt = -Infinity;

  const drop = (count: number, reason: string, error: unknown): void => {
    metrics.spansDropped.add(count, reason);
    if (performance.now() - lastLoggedAt < LOG_INTERVAL_MS) return;
    lastLoggedAt = performance.now();
    log.warn({ err: error, reason }, "the trace collector did not accept spans");
  };

  const send = async (batch: readonly ReadableSpan[]): Promise<void> => {
    try {
      const body = JsonTraceSerializer.serializeRequest([...batch]) as Uint8Array<ArrayBuffer> | undefined;
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url, {
        method: "POST",
        headers,
        body: body ?? null,
        signal: AbortSignal.timeout(SEND_MS),
      });
      await answer.arrayBuffer();
      if (answer.ok) metrics.spansExported.add(batch.length);
      else drop(batch.length, "refused", new Error(`status ${answer.status}`));
    } catch (error) {
      drop(batch.length, "failed", error);
    }
  };

  const sendAll = async (): Promise<void> => {
    while (queue.length > 0) await send(queue.splice(0, BATCH_MAX));
    sending = undefined;
  };

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    sending ??= sendAll();
    return sending;
  };

  return {
    onStart: () => undefined,
    onEnd(span) {
      if ((span.spanContext().traceFlags & 1) === 0) return;
      if (queue.length >= QUEUE_MAX) {
        metrics.spansDropped.inc("full");
        return;
      }
      queue.push(span);
      if (queue.length >= BATCH_MAX) void flush();
      else timer ??= setTimeout(() => void flush(), EVERY_MS);
    },
    forceFlush: flush,
    shutdown: flush,
  };
}
