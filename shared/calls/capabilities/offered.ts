/**
 * Capabilities that can be run: those that all workers report, without those that operators' files disable. The list changes
 * with the catalogue, and when workers join that can run fewer or more.
 */
import type { Catalogue } from "#shared/calls/model.ts";
import { CAPABILITIES, findCapability } from "./list.ts";
import { NOT_PACKAGED, OFF_BY_DEFAULT } from "./off.ts";
import type { Capability } from "./entry.ts";
import { type CapabilityOffer, liveOffers } from "#shared/database/capability-offers.ts";
import type { Queryable } from "#shared/database/client.ts";
import { noCapability } from "#shared/access/tools.ts";
import { ApiError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";

import { rememberPairs } from "#shared/remembered.ts";

export interface Offered {
  /** In the order of `GET /v1/tools`. The same array until the list changes. */
  current(): readonly Capability[];
  /** @throws ApiError `capability_not_found` */
  find(id: string): Capability;
}

interface OfferedOptions {
  readonly database: Queryable;
  readonly catalogue: { current(): Catalogue };
  readonly log: Logger;
}

const READ_MS = 2_000;

/** Reads what workers tell, at once and every 2 s. Until a worker has told, all but those that are off by default are offered. */
export async function openOffered({ database, catalogue, log }: OfferedOptions) {
  let offered = offeredBy([]);
  const enabled = rememberPairs((list: List, { capabilities }: Catalogue) => ({
    ...list,
    list: list.list.filter(({ id }) => capabilities.get(id)?.isDisabled !== true),
  }));
  const now = (): List => enabled(offered, catalogue.current());
  const read = async (): Promise<void> => {
    try {
      const offers = await liveOffers(database);
      // Without a worker the last list stands: its runs wait for the next one.
      if (offers.length === 0) return;
      const next = offeredBy(offers);
      if (next.list.length !== offered.list.length || next.list.some((one) => !offered.list.includes(one))) {
        log.info({ capabilities: next.list.length, missing: Object.fromEntries(next.missing) }, "capabilities offered");
        offered = next;
      }
    } catch (error) {
      log.warn({ err: error }, "what workers can run could not be read");
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
  } satisfies Offered & { close(): void };
}

interface List {
  readonly list: readonly Capability[];
  /** Why, by the engine. */
  readonly missing: ReadonlyMap<string, string>;
}

function offeredBy(offers: readonly CapabilityOffer[]): List {
  if (offers.length === 0) {
    return {
      list: CAPABILITIES.filter(({ engine }) => !Object.hasOwn(OFF_BY_DEFAULT, engine) && !NOT_PACKAGED.has(engine)),
      missing: new Map(Object.entries(OFF_BY_DEFAULT)),
    };
  }
  return {
    list: CAPABILITIES.filter(({ id }) => offers.every(({ ids }) => ids.includes(id))),
    missing: new Map(offers.flatMap(({ missing }) => Object.entries(missing))),
  };
}

function find({ list }: List, id: string): Capability {
  const capability = findCapability(id);
  if (capability && list.includes(capability)) return capability;
  if (!capability) throw noCapability();
  // What it lacks is the operator's to know, and in the log.
  throw new ApiError(
    "capability_not_found",
    `This service does not offer ${id}; GET /v1/tools lists the capabilities that it offers.`,
  );
}
