/** Capabilities of this version, with default prices of the catalogue. */
import generated from "#schemas/generated/capabilities.json" with { type: "json" };

import { compileChecks } from "./check.ts";
import type { Capability } from "./entry.ts";

/** All capabilities, in the order of `GET /v1/tools`. */
export const CAPABILITIES = generated as unknown as readonly Capability[];

const BY_ID: ReadonlyMap<string, Capability> = new Map(CAPABILITIES.map((one) => [one.id, one]));

export function findCapability(id: string): Capability | undefined {
  return BY_ID.get(id);
}

/** Checks of a run's body, by capability id. */
export const CHECKS = compileChecks(CAPABILITIES);
