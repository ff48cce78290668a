/**
 * Determines the capabilities that this worker can run. The worker tries its engines when it starts, and reports the results to the ingress
 * while it runs.
 */
import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";
import {
  type CapabilityReport,
  reportCapabilities,
  withdrawCapabilityReport,
} from "#shared/database/capability-reports.ts";
import type { Queryable } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";

import type { CapabilityChildren } from "./children.ts";

export interface SupportedCapabilities {
  /** Returns the reason why an engine cannot be used by this worker; undefined if it can. */
  missing(engine: string): string | undefined;
  /** State of each engine: `ok`, or the reason why it cannot be used. */
  readonly engines: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

interface SupportedCapabilitiesOptions {
  readonly database: Queryable;
  readonly children: Pick<CapabilityChildren, "tryEngine">;
  /** Capabilities that must work, or the worker does not start. */
  readonly required: readonly string[];
  /** Engines that a setting disables, each with the name of the setting. They are not tried. */
  readonly off: Readonly<Record<string, string>>;
  /** Engines that must not run on this worker, each with the reason. */
  readonly refused: Readonly<Record<string, string>>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const REPORT_INTERVAL_MS = 15_000;

/**
 * Tests all engines.
 * @throws Error that names each required capability that cannot run, with the reason
 */
export async function openSupportedCapabilities(options: SupportedCapabilitiesOptions): Promise<SupportedCapabilities> {
  const { database, children, required, off, refused, metrics, log } = options;
  const engines = [...new Set(CAPABILITIES.map(({ engine }) => engine))];
  const tried = await Promise.all(
    engines.map(
      async (engine) => [engine, off[engine] ?? refused[engine] ?? (await children.tryEngine(engine))] as const,
    ),
  );
  const missing = new Map(tried.flatMap(([engine, fault]) => (fault === undefined ? [] : [[engine, fault] as const])));
  for (const engine of engines) {
    if (!Object.hasOwn(off, engine)) metrics.capabilityEngineUp.set(missing.has(engine) ? 0 : 1, engine);
  }
  checkRequired(required, missing);
  for (const [engine, fault] of missing) {
    const ids = CAPABILITIES.filter((one) => one.engine === engine).map(({ id }) => id);
    const facts = { engine, capabilities: ids, fault };
    if (Object.hasOwn(off, engine)) log.info(facts, "an engine is disabled; its capabilities are not listed");
    else log.warn(facts, "an engine is unavailable; its capabilities are not listed");
  }
  const worker = newId();
  const report: CapabilityReport = {
    ids: CAPABILITIES.filter(({ engine }) => !missing.has(engine)).map(({ id }) => id),
    missing: Object.fromEntries(missing),
  };
  await reportCapabilities(database, worker, report);
  log.info({ capabilities: report.ids.length, engines: engines.length - missing.size }, "capabilities available");
  let reporting: Promise<void> | undefined;
  const reportTimer = setInterval(() => {
    reporting ??= reportCapabilities(database, worker, report)
      .catch((error: unknown) =>
        log.warn({ err: error }, "the available capabilities could not be reported to the ingress"),
      )
      .finally(() => (reporting = undefined));
  }, REPORT_INTERVAL_MS);
  return {
    missing: (engine) => missing.get(engine),
    engines: Object.fromEntries(engines.map((engine) => [engine, missing.get(engine) ?? "ok"])),
    async close() {
      clearInterval(reportTimer);
      await reporting;
      await withdrawCapabilityReport(database, worker);
    },
  };
}

function checkRequired(required: readonly string[], missing: ReadonlyMap<string, string>): void {
  const faults = required.flatMap((id) => {
    const capability = CAPABILITIES.find((one) => one.id === id);
    if (!capability) return [`SLUICE_CAPABILITIES_REQUIRE names ${id}, which is no capability of this version`];
    const fault = missing.get(capability.engine);
    return fault === undefined ? [] : [`${id} is required and cannot be run: ${fault}`];
  });
  if (faults.length > 0) throw new Error(faults.join("\n"));
}
