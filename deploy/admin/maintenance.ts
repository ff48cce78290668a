/** Commands that go over the whole database: the books, for which a route has too little time, and the seals of stored credentials. */
import { listSealed, replaceSealed } from "#shared/database/channel-secrets.ts";
import type { Queryable } from "#shared/database/client.ts";
import { AUDIT_LIMIT_MS, auditLedger } from "#shared/ledger/audit.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { openSealer } from "#shared/secrets/open-sealer.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";

import type { Command } from "./command.ts";
import { textOf } from "./table.ts";

const BATCH = 100;
const FIRST = "00000000-0000-0000-0000-000000000000";

export const MAINTENANCE_COMMANDS: readonly Command[] = [
  {
    usage: "credits check",
    alias: "ledger check",
    about: "recomputes every balance and checkpoint from all entries and holds; exit code 1 when anything differs",
    needs: "database",
    async run(context) {
      const faults = await (await context.database()).slowTransaction(AUDIT_LIMIT_MS, auditLedger);
      const isExact = faults.length === 0;
      const text = isExact
        ? "the books are exact"
        : textOf({ json: faults, columns: "workspace_id fault expected found" });
      return { json: { is_exact: isExact, faults }, text, exitCode: isExact ? 0 : 1 };
    },
  },
  {
    usage: "secrets rotate",
    about:
      "seals stored credentials with SLUICE_SECRETS_KEY; run it with the old key in SLUICE_SECRETS_KEY_PREVIOUS, any number of times",
    needs: "database",
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
