/** Secrets of the installation, which are the same in every process. */
import type { Queryable } from "./client.ts";

/** Returns the secret with this name. If there is none yet, stores `fresh` and returns it. */
export async function serviceSecret(target: Queryable, name: string, fresh: Uint8Array): Promise<Uint8Array> {
  await target.query("insert into service_secret (name, value) values ($1, $2) on conflict do nothing", [name, fresh]);
  const [row] = await target.query<{ value: Uint8Array }>("select value from service_secret where name = $1", [name]);
  if (!row) throw new Error(`the secret ${name} was not kept`);
  return row.value;
}
