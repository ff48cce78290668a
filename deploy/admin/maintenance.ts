/** Commands that go over the whole database: the books, for which a route has too little time, old usage, and the seals of stored credentials. */
import { type FileHandle, open, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { listSealed, replaceSealed } from "#shared/database/channel-secrets.ts";
import type { Queryable } from "#shared/database/client.ts";
import { archiveUsage } from "#shared/ledger/archive.ts";
import { AUDIT_LIMIT_MS, auditLedger } from "#shared/ledger/audit.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { resealStored } from "#shared/responses/reseal.ts";
import { openSealer } from "#shared/secrets/open-sealer.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import { openStorage } from "#shared/storage/client.ts";

import { type Command, quote, UsageError } from "./command.ts";
import { ACTOR } from "./context.ts";
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
    usage: "ledger archive --before <date> --to <file>",
    about:
      "moves usage records that ended before a day, and what they took in the ledger, into a new file of JSON lines; balances and sums stay",
    needs: "database",
    async run(context, { word }) {
      const before = dayOf(word("before"));
      const path = word("to");
      await refuseMemory(dirname(resolve(path)));
      const database = await context.database();
      const file = await open(path, "wx", 0o600).catch((error: unknown) => {
        throw new Error(`the file ${quote(path)} cannot be made, or is there already`, { cause: error });
      });
      try {
        const keep = (lines: readonly string[]): Promise<void> => append(file, lines);
        const { records, until } = await archiveUsage(database, { before, name: path, actor: ACTOR, keep });
        const text =
          until === null
            ? "the hourly audit has closed no hour yet; nothing was moved"
            : `${records} usage records of before ${until.toISOString()} are in ${path} now`;
        return { json: { records, until, file: path }, text };
      } finally {
        await file.close();
      }
    },
  },
  {
    usage: "secrets rotate",
    about:
      "seals stored credentials, responses and conversations with SLUICE_SECRETS_KEY; run it with the old key in SLUICE_SECRETS_KEY_PREVIOUS, any number of times",
    needs: "database",
    async run(context) {
      const database = await context.database();
      const settings = context.settings();
      const sealer = await openSealer(settings, database);
      const { sealed, current } = await rotate(database, sealer);
      const storage = settings.s3.bucket === "" ? undefined : openStorage(settings.s3);
      try {
        const texts = await resealStored({ database, storage, sealer });
        const left =
          texts.left === 0 ? "" : `; ${texts.left} texts in the object store cannot be read and stay as they are`;
        return {
          json: { sealed, current, texts_sealed: texts.sealed, texts_left: texts.left },
          text:
            `${sealed} channels are sealed anew, ${current} were sealed with the key already; ` +
            `${texts.sealed} responses and conversations are sealed anew${left}`,
        };
      } finally {
        storage?.close();
      }
    },
  },
];

/** Younger usage is looked at by people, and may be changed by what was delivered late. */
const ARCHIVED_DAYS_MIN = 32;

/** Start of a day in UTC. @throws UsageError */
function dayOf(word: string): Date {
  const day = new Date(/^\d{4}-\d{2}-\d{2}$/.test(word) ? `${word}T00:00:00Z` : NaN);
  if (
    Number.isNaN(day.getTime()) ||
    !day.toISOString().startsWith(word) ||
    Date.now() - day.getTime() < ARCHIVED_DAYS_MIN * 86_400_000
  ) {
    throw new UsageError(
      `expected --before as a day such as 2026-01-31 of more than ${ARCHIVED_DAYS_MIN} days ago, got ${quote(word)}`,
    );
  }
  return day;
}

/** File system type of tmpfs, from statfs(2). */
const TMPFS = 0x0102_1994;

/**
 * A folder in memory ends with its container, after the records have been deleted from Postgres.
 * @throws Error if `folder` is on tmpfs. A missing folder passes: opening the file reports it.
 */
async function refuseMemory(folder: string): Promise<void> {
  const system = await statfs(folder).catch(() => null);
  if (system?.type === TMPFS)
    throw new Error(
      `${quote(folder)} is kept in memory (tmpfs), and the archive would end with it; expected a folder on a disk, such as /files of the service admin in compose.yaml`,
    );
}

/** On the disk when it resolves. */
async function append(file: FileHandle, lines: readonly string[]): Promise<void> {
  await file.appendFile(lines.map((line) => `${line}\n`).join(""));
  await file.sync();
}

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
