/** Master keys of stored credentials. */
import { listSealed, replaceSealed } from "#shared/database/channel-secrets.ts";
import type { Queryable } from "#shared/database/client.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { openSealer } from "#shared/secrets/open-sealer.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";

import type { Command } from "./command.ts";

const BATCH = 100;
const FIRST = "00000000-0000-0000-0000-000000000000";

export const SECRET_COMMANDS: readonly Command[] = [
  {
    name: "secrets rotate",
    about:
      "seals stored credentials with SLUICE_SECRETS_KEY; run it with the old key in SLUICE_SECRETS_KEY_PREVIOUS, any number of times",
    arguments: [],
    async run(context) {
      const database = await context.database();
      const { sealed, current } = await rotate(database, await openSealer(context.settings(), database));
      return {
        json: { sealed, current },
        text: `${sealed} channels are sealed anew, ${current} were sealed with the key already`,
      };
    },
  },
];

/** Row by row, so that whatever ends it leaves every row readable, and a repeat does the rest. */
async function rotate(database: Queryable, sealer: Sealer): Promise<{ sealed: number; current: number }> {
  let [sealed, current] = [0, 0];
  for (let after = FIRST; ;) {
    const rows = await listSealed(database, after, BATCH);
    for (const row of rows) {
      const isCurrent = Object.values(row.sealed).every((text) => sealer.isCurrent(text));
      if (isCurrent) {
        current += 1;
        continue;
      }
      const channel = { workspaceId: row.workspace_id, id: row.id };
      const anew = sealAll(sealer, channel, openAll(sealer, channel, row.sealed));
      // One that was changed meanwhile was sealed by whoever changed it: with the key that is in force there.
      if (await replaceSealed(database, row, anew)) sealed += 1;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return { sealed, current };
    after = last.id;
  }
}
