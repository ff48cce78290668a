/** Definitions of the capabilities, without the code that runs them. */
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import { CAPABILITY_IDS, loadCapability } from "#workers/capabilities/list.ts";

/** Returns the definitions of all capabilities, in the order of the capability list. */
export async function definedCapabilities(): Promise<readonly Capability[]> {
  const all = await Promise.all(CAPABILITY_IDS.map(loadCapability));
  return all.map(({ run: _run, ...entry }): Capability => entry);
}
