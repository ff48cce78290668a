/** Secrets of the installation, which are the same in every process. */
import { plainArray } from "./arrays.ts";
import type { Queryable } from "./client.ts";

/** Returns the secret with this name. If there is none yet, stores `fresh` and returns it. */
export async function serviceSecret(target: Queryable, name: string, fresh: Uint8Array): Promise<Uint8Array> {
  await target.query("insert into service_secret (name, value) values ($1, $2) on conflict do nothing", [name, fresh]);
  const [row] = await target.query<{ value: Uint8Array }>("select value from service_secret where name = $1", [name]);
  if (!row) throw new Error(`the secret ${name} was not kept`);
  return row.value;
}

/** Public key of a master key. */
export interface PublicKey {
  /** Name of the master key. */
  readonly id: string;
  /** X25519 key, 32 bytes. */
  readonly bytes: Uint8Array;
}

/**
 * Publishes the public key of a master key, unless a process with a later master key has marked it as superseded. So a process that starts
 * with earlier settings does not replace a later key. The key is published again if every key is superseded.
 * @param earlier names of the earlier master keys
 */
export async function publishKey(
  target: Queryable,
  { id, bytes }: PublicKey,
  earlier: readonly string[],
): Promise<void> {
  const publish = (): Promise<unknown> =>
    target.query(
      `insert into sealing_key (id, public_key, is_superseded) values ($1, $2, false)
       on conflict (id) do update set public_key = excluded.public_key, is_superseded = false, published_at = excluded.published_at
       where sealing_key.is_superseded and not exists (select from sealing_key where not is_superseded)`,
      [id, bytes],
    );
  // Before the earlier keys are marked: if every key were superseded for a moment, another process would publish an earlier one again.
  await publish();
  await target.query(
    `insert into sealing_key (id, is_superseded) select unnest($1::text[]) as id, true order by id
     on conflict (id) do update set is_superseded = true where not sealing_key.is_superseded`,
    [plainArray(earlier)],
  );
  await publish();
}

/** Returns the public key with which processes without a master key encrypt; undefined if there is none yet. */
export async function findPublishedKey(target: Queryable): Promise<PublicKey | undefined> {
  const [row] = await target.query<PublicKey>(
    "select id, public_key as bytes from sealing_key where not is_superseded order by published_at desc limit 1",
  );
  return row;
}
