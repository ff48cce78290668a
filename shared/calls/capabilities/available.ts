/**
 * List of the available capabilities: those that all workers have reported and that no operator's file disables. The list changes with the
 * catalogue, and when workers with other capabilities join.
 */
import type { Catalogue } from "#shared/calls/model.ts";
import { CAPABILITIES, findCapability } from "./list.ts";
import { NOT_PACKAGED, OFF_BY_DEFAULT } from "./off.ts";
import type { Capability } from "./entry.ts";
import { type CapabilityReport, listCapabilityReports } from "#shared/database/capability-reports.ts";
import type { Queryable } from "#shared/database/client.ts";
import { noCapability } from "#shared/access/tools.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { Logger } from "#shared/base/logger.ts";

import { rememberPairs } from "#shared/base/remembered.ts";

export interface AvailableCapabilities {
  /** Returns the available capabilities in the order of `GET /v1/tools`. Returns the same array until the list changes. */
  current(): readonly Capability[];
  /** @throws ApiError `capability_not_found` */
  find(id: string): Capability;
}

interface AvailableCapabilitiesOptions {
  readonly database: Queryable;
  readonly catalogue: { current(): Catalogue };
  readonly log: Logger;
}

const READ_MS = 2_000;

/**
 * Reads the workers' reports now and every 2 s. Before the first report, all capabilities are available except those that are off by
 * default.
 */
export async function openAvailableCapabilities({ database, catalogue, log }: AvailableCapabilitiesOptions) {
  let available = listAvailable([]);
  const enabled = rememberPairs((list: List, { capabilities }: Catalogue) => ({
    ...list,
    list: list.list.filter(({ id }) => capabilities.get(id)?.isDisabled !== true),
  }));
  const now = (): List => enabled(available, catalogue.current());
  const read = async (): Promise<void> => {
    try {
      const reports = await listCapabilityReports(database);
      // Without workers, the last list stays: runs wait for the next worker.
      if (reports.length === 0) return;
      const next = listAvailable(reports);
      if (next.list.length !== available.list.length || next.list.some((one) => !available.list.includes(one))) {
        log.info({ capabilities: next.list.length, missing: Object.fromEntries(next.missing) }, "capabilities offered");
        available = next;
      }
    } catch (error) {
      log.warn({ err: error }, "the workers' capabilities could not be read");
    }
  };
  let reading: Promise<void> | undefined;
  const reader = setInterval(() => {
    reading ??= read().finally(() => (reading = undefined));
  }, READ_MS);
  await read();
  return {
    current: () => now().list,
    find: (id: string) => find(now(), id),
    close: () => clearInterval(reader),
  } satisfies AvailableCapabilities & { close(): void };
}

interface List {
  readonly list: readonly Capability[];
  /** Reason why an engine is unavailable, by engine. */
  readonly missing: ReadonlyMap<string, string>;
}

function listAvailable(reports: readonly CapabilityReport[]): List {
  if (reports.length === 0) {
    return {
      list: CAPABILITIES.filter(({ engine }) => !Object.hasOwn(OFF_BY_DEFAULT, engine) && !NOT_PACKAGED.has(engine)),
      missing: new Map(Object.entries(OFF_BY_DEFAULT)),
    };
  }
  return {
    list: CAPABILITIES.filter(({ id }) => reports.every(({ ids }) => ids.includes(id))),
    missing: new Map(reports.flatMap(({ missing }) => Object.entries(missing))),
  };
}

function find({ list }: List, id: string): Capability {
  const capability = findCapability(id);
  if (capability && list.includes(capability)) return capability;
  if (!capability) throw noCapability();
  // The reason is for operators only, in the log.
  throw new ApiError(
    "capability_not_found",
    `This service does not offer ${id}; GET /v1/tools lists the capabilities that it offers.`,
  );
}
