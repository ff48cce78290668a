/** The list of capabilities as the ingress serves it, from their definitions. */
import type { Capability } from "#shared/capabilities/entry.ts";
import { CAPABILITY_IDS, loadCapability } from "#workers/capabilities/list.ts";

export async function capabilitiesJson(): Promise<string> {
  const all = await Promise.all(CAPABILITY_IDS.map(loadCapability));
  const entries = all.map(({ run: _run, ...entry }): Capability => entry);
  return `${JSON.stringify(entries, null, 1)}\n`;
}
