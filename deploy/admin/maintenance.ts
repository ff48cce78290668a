/**
 * Commands that read the whole database: the ledger check, the usage archive and the rotation of the encryption key. They take too long for
 * an HTTP route.
 */
import { type FileHandle, open, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { listSealed, replaceSealed } from "#shared/database/channel-secrets.ts";
import type { Queryable } from "#shared/database/client.ts";
import { archiveUsage } from "#shared/ledger/archive.ts";
import { AUDIT_LIMIT_MS, auditLedger } from "#shared/ledger/audit.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { resealBodyKeys } from "#shared/kept-bodies/store.ts";
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
    about:
      "Recomputes every balance and checkpoint from all ledger entries and holds. The exit code is 1 when anything differs.",
    needs: "database",
    async run(context) {
      const faults = await (await context.database()).slowTransaction(AUDIT_LIMIT_MS, auditLedger);
      const isExact = faults.length === 0;
      const text = isExact
        ? "every balance matches the ledger"
        : textOf({ json: faults, columns: "workspace_id fault expected found" });
      return { json: { is_exact: isExact, faults }, text, exitCode: isExact ? 0 : 1 };
    },
  },
  {
    usage: "ledger archive --before <date> --to <file>",
    about:
      "Moves usage records of before a day, with their ledger entries, into a new file of JSON lines. Balances and sums stay.",
    needs: "database",
    async run(context, { argument }) {
      const before = dayOf(argument("before"));
      const path = argument("to");
      await refuseMemory(dirname(resolve(path)));
      const database = await context.database();
      const file = await open(path, "wx", 0o600).catch((error: unknown) => {
        throw new Error(`cannot create the file ${quote(path)}; it must not exist yet`, { cause: error });
      });
      try {
        const keep = (lines: readonly string[]): Promise<void> => append(file, lines);
        const { records, until } = await archiveUsage(database, { before, name: path, actor: ACTOR, keep });
        const text =
          until === null
            ? "moved nothing: the hourly audit has not finished an hour yet"
            : `moved ${records} usage records of before ${until.toISOString()} into ${path}`;
        return { json: { records, until, file: path }, text };
      } finally {
        await file.close();
      }
    },
  },
  {
    usage: "secrets rotate",
    about:
      "Encrypts stored credentials, answers and keys of kept bodies with SLUICE_SECRETS_KEY. The old key must be in SLUICE_SECRETS_KEY_PREVIOUS. It can be repeated.",
    needs: "database",
    async run(context) {
      const database = await context.database();
      const settings = context.settings();
      const sealer = await openSealer(settings, database);
      const { sealed, current } = await rotate(database, sealer);
      const storage = settings.s3.bucket === "" ? undefined : openStorage(settings.s3);
      try {
        const texts = await resealStored({ database, storage, sealer });
        const bodyKeys = await resealBodyKeys(database, sealer);
        const unreadableNote =
          texts.unreadable === 0
            ? ""
            : `; ${texts.unreadable} texts in the object store cannot be read and are unchanged`;
        return {
          json: {
            sealed,
            current,
            texts_sealed: texts.sealed,
            texts_left: texts.unreadable,
            body_keys_sealed: bodyKeys,
          },
          text:
            `encrypted ${sealed} channels again, ${current} already used the key; ` +
            `encrypted ${texts.sealed} responses and conversations and ` +
            `${bodyKeys} keys of kept bodies again${unreadableNote}`,
        };
      } finally {
        storage?.close();
      }
    },
  },
];

/** Minimum age of archived usage, in days. Late settlements may still change younger usage. */
const ARCHIVED_DAYS_MIN = 32;

/** Parses a date as the start of that day in UTC. @throws UsageError */
function dayOf(value: string): Date {
  const day = new Date(/^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00:00Z` : NaN);
  if (
    Number.isNaN(day.getTime()) ||
    !day.toISOString().startsWith(value) ||
    Date.now() - day.getTime() < ARCHIVED_DAYS_MIN * 86_400_000
  ) {
    throw new UsageError(
      `expected --before as a day such as 2026-01-31 more than ${ARCHIVED_DAYS_MIN} days ago, got ${quote(value)}`,
    );
  }
  return day;
}

/** File system type of tmpfs, from statfs(2). */
const TMPFS = 0x0102_1994;

/**
 * Refuses an archive folder in memory, which would be lost with its container after the records are deleted from Postgres.
 * @throws Error if `folder` is on tmpfs. A missing folder is accepted here: opening the file reports it.
 */
async function refuseMemory(folder: string): Promise<void> {
  const system = await statfs(folder).catch(() => null);
  if (system?.type === TMPFS)
    throw new Error(
      `${quote(folder)} is kept in memory (tmpfs), and the archive would end with it; expected a folder on a disk, such as /files of the service admin in compose.yaml`,
    );
}

/** Appends the lines and resolves when they are on the disk. */
async function append(file: FileHandle, lines: readonly string[]): Promise<void> {
  await file.appendFile(lines.map((line) => `${line}\n`).join(""));
  await file.sync();
}

/**
 * Encrypts every stored secret again under the current key, row by row. An interruption leaves every row readable, and the next run
 * continues.
 */
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
      // A secret that was changed meanwhile was encrypted by that change: with the key that is in force there.
      if (await replaceSealed(database, row, anew)) sealed += 1;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return { sealed, current };
    after = last.id;
  }
}
