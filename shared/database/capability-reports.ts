/** Stores the capabilities that each worker can run, as the workers report them. */
import { plainArray } from "./arrays.ts";
import type { Queryable } from "./client.ts";

export interface CapabilityReport {
  /** Ids of the capabilities whose engines work on the worker. */
  readonly ids: readonly string[];
  /** Reason why an engine does not work, by name of the engine; each is a sentence for operators. */
  readonly missing: Readonly<Record<string, string>>;
}

/** Stores the capabilities of this worker and replaces its earlier report. */
export async function reportCapabilities(
  target: Queryable,
  worker: string,
  { ids, missing }: CapabilityReport,
): Promise<void> {
  await target.query(
    `insert into capability_offer (worker, ids, missing) values ($1, $2::text[], $3::jsonb)
     on conflict (worker) do update set ids = excluded.ids, missing = excluded.missing, seen_at = clock_timestamp()`,
    [worker, plainArray(ids), JSON.stringify(missing)],
    "tell_offer",
  );
}

export async function withdrawCapabilityReport(target: Queryable, worker: string): Promise<void> {
  await target.query("delete from capability_offer where worker = $1", [worker]);
}

/** Returns the reports of all workers that have reported within the last 45 s. */
export async function listCapabilityReports(target: Queryable): Promise<readonly CapabilityReport[]> {
  return target.query<{ ids: string[]; missing: Record<string, string> }>(
    "select ids, missing from capability_offer where seen_at > clock_timestamp() - interval '45 seconds'",
    [],
    "live_offers",
  );
}
