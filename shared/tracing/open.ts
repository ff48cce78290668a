/** Opens tracing as configured. */
import type { Config } from "#shared/config/config.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { ProcessMetrics } from "#shared/metrics/metrics.ts";

import manifest from "../../package.json" with { type: "json" };

import { useTracer } from "./tracing.ts";

/** Time limit for sending the last spans when the process stops, in milliseconds. */
const LAST_MS = 2_000;

/**
 * Opens tracing.
 * @returns a function that sends the ended spans and closes the exporter; undefined if no collector is configured. In that case, no tracing
 * package is loaded
 */
export async function openTracing(
  processName: string,
  { traces }: Pick<Config, "traces">,
  { metrics, log }: { readonly metrics: ProcessMetrics; readonly log: Logger },
): Promise<(() => Promise<void>) | undefined> {
  if (traces.endpoint === undefined) return undefined;
  const [{ createTracer }, { createExporter }] = await Promise.all([import("./otel.ts"), import("./exporter.ts")]);
  const url = `${traces.endpoint.replace(/\/+$/, "")}/v1/traces`;
  const processor = createExporter({ url, metrics, log });
  const { sample, trust } = traces;
  useTracer(createTracer({ role: processName, version: manifest.version, sample, trust, processor }));
  return async () => {
    useTracer(undefined);
    // A collector that hangs does not prevent the process from ending.
    await Promise.race([processor.shutdown(), Bun.sleep(LAST_MS)]);
  };
}
