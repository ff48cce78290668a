/**
 * Records every two seconds the cost of the output that running streams have relayed. If both worker and ingress crash, a call is settled
 * at the recorded amount.
 */
import { plainArray } from "#shared/database/arrays.ts";
import type { Database } from "#shared/database/client.ts";

import type { Call } from "./call.ts";

const SQL = `
  insert into relay_progress (workspace_id, job_id, amount, tokens, units)
  select w, j, a, t, jsonb_build_object('tokens', t)
  from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) as u (w, j, a, t)
  order by w, j
  on conflict (workspace_id, job_id) do update set amount = excluded.amount, tokens = excluded.tokens, units = excluded.units, at = now()`;

/** Amount last recorded for each call. A stream without new output causes no write. */
const recorded = new WeakMap<Call, bigint>();

export async function recordRelayed(database: Database, calls: Iterable<Call>): Promise<void> {
  const changed: { call: Call; nano: bigint; tokens: number }[] = [];
  for (const call of calls) {
    const relayed = call.relayed;
    if (relayed && relayed.nano > 0n && recorded.get(call) !== relayed.nano) changed.push({ call, ...relayed });
  }
  if (changed.length === 0) return;
  await database.query(SQL, [
    plainArray(changed.map((entry) => entry.call.facts.workspaceId)),
    plainArray(changed.map((entry) => entry.call.facts.jobId)),
    plainArray(changed.map((entry) => entry.nano)),
    plainArray(changed.map((entry) => entry.tokens)),
  ]);
  for (const entry of changed) recorded.set(entry.call, entry.nano);
}
