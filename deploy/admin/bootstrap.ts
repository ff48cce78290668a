import type { Database } from "#shared/database/client.ts";
import { newId } from "#shared/ids.ts";
import { hashKey, keyHint } from "#shared/secrets/api-keys.ts";

export async function ensureBootstrap(database: Database, key: string): Promise<void> {
  const ws = newId();
  const m = newId();
  await database.query("insert into workspace (id, name) values ($1, 'default')", [ws]);
  await database.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'bootstrap', 'owner')", [
    m,
    ws,
  ]);
  await database.query(
    "insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset) values ($1,$2,$3,'bootstrap',$4,$5,'unlimited')",
    [newId(), ws, m, Buffer.from(hashKey(key)), keyHint(key)],
  );
  await database.query("select move_credits($1,'top_up',1000000000000000,$2,null)", [ws, newId()]);
}
