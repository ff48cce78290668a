/** Secrets of the installation, which are the same in every process. */
import type { Queryable } from "./client.ts";

/** Returns the secret with this name. If there is none yet, stores `fresh` and returns it. */
export async function serviceSecret(target: Queryable, name: string, fresh: Uint8Array): Promise<Uint8Array> {
  await target.query("insert into service_secret (name, value) values ($1, $2) on conflict do nothing", [name, fresh]);
  const [row] = await target.query<{ value: Uint8Array }>("select value from service_secret where name = $1", [name]);
  if (!row) throw new Error(`the secret ${name} was not kept`);
  return row.value;
}

/** Stores a value of the installation that any process may read, and replaces an older one. */
export async function publishValue(target: Queryable, name: string, value: Uint8Array): Promise<void> {
  await target.query(
    `insert into service_secret (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value where service_secret.value <> excluded.value`,
    [name, value],
  );
}

/** Returns a published value; undefined if there is none. */
export async function findPublished(target: Queryable, name: string): Promise<Uint8Array | undefined> {
  const rows = await target.query<{ value: Uint8Array }>("select value from service_secret where name = $1", [name]);
  return rows[0]?.value;
}
