/** The capabilities as they are defined, without what runs them. */
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import { CAPABILITY_IDS, loadCapability } from "#workers/capabilities/list.ts";

/** In the order of the list. */
export async function definedCapabilities(): Promise<readonly Capability[]> {
  const all = await Promise.all(CAPABILITY_IDS.map(loadCapability));
  return all.map(({ run: _run, ...entry }): Capability => entry);
}
