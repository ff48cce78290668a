/** Callers choose the ids of keys and members. No choice changes or uses the spend limit of another subject, or prevents one. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { labelIdOf } from "#shared/calls/labels.ts";
import { insertBatch } from "#shared/database/batches.ts";
import { insertRun } from "#shared/database/runs.ts";
import { repeatSpendChange, setSpendLimit, type SpendSubject } from "#shared/ledger/spend-limits.ts";
import { admitLone, CREDIT, settleSingle } from "#tests/shared/accounts.ts";
import { newRun } from "#tests/shared/jobs/jobs.ts";

import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(() => bed.close());

interface Subject {
  /** Id that a key or member may have too. */
  readonly id: string;
  /** Sets a limit of one credit. */
  readonly limit: () => Promise<void>;
}

const own = (
  kind: "key" | "member" | "end_user" | "tag",
  { id }: Team,
  subjectId: string,
  label?: { readonly name: string; readonly value: string },
): Subject => ({
  id: subjectId,
  limit: () =>
    repeatSpendChange(() =>
      bed.db.database.transaction((tx) =>
        setSpendLimit(tx, id, { id: subjectId, kind, credits: { total: CREDIT }, ...(label ? { label } : {}) }),
      ),
    ),
});
const labelled = (kind: "end_user" | "tag", name: string) => (team: Team) =>
  own(kind, team, labelIdOf(team.id, name, "eve"), { name, value: "eve" });

const SUBJECTS: Readonly<Record<Exclude<SpendSubject, "response">, (team: Team) => Subject>> = {
  key: (team) => own("key", team, team.other.keyId),
  member: (team) => own("member", team, team.other.id),
  end_user: labelled("end_user", "user"),
  tag: labelled("tag", "project"),
  run({ id: workspaceId, other }) {
    const owner = { workspaceId, memberId: other.id, keyId: other.keyId };
    const run = newRun(owner, { maxNano: CREDIT });
    return {
      id: run.id,
      limit: async () => expect((await insertRun(bed.db.database, run, 1_000_000)).verdict).toBe("begun"),
    };
  },
  batch({ id: workspaceId, other }) {
    const id = newId();
    const batch = { id, workspace_id: workspaceId, key_id: other.keyId, fingerprint: null, repeatId: null, endpoint: "/v1/chat/completions", input_file_id: "file", metadata: null, output_expires_s: null, maxNano: CREDIT, windowMs: 60_000 }; // prettier-ignore
    return { id, limit: async () => expect(await insertBatch(bed.db.database, batch)).toBe(id) };
  },
};

const limitOf = (team: Team, kind: string) =>
  bed.db.query("select kind, caps, spent, held from spend_limit where workspace_id = $1 and kind = $2", [
    team.id,
    kind,
  ]);

const UNTOUCHED = { caps: [null, null, null, CREDIT], spent: 0n, held: 0n };

/** Sends a request that creates a key or member with an id, and returns the status. */
async function create(team: Team, path: string, by: string, body: object): Promise<number> {
  const { status } = await bed.send("POST", `/workspaces/${team.id}/${path}`, by, body);
  expect([201, 400, 422]).toContain(status);
  return status;
}

const TAKEN: readonly string[] = ["key", "member", "end_user", "tag"] satisfies readonly SpendSubject[];

test.each(Object.entries(SUBJECTS))(
  "the limit of a %s is not used or changed by a key or member of its id",
  async (kind, subjectOf) => {
    const expected = [{ kind, ...UNTOUCHED }];
    for (const isFirst of [false, true]) {
      for (const limits of [null, { credits: { total: 1_000_000 } }]) {
        const team = await bed.team(100n * CREDIT);
        const { id, limit } = subjectOf(team);
        if (!isFirst) await limit();
        const keyStatus = await create(team, "api-keys", team.developer.key, { id, name: "chosen", limits });
        expect(keyStatus === 201).toBe(!TAKEN.includes(kind));
        // A key with this id exists now.
        expect(
          await create(team, "members", team.admin.key, { id, name: "chosen", role: "developer", limits }),
        ).not.toBe(201);
        if (isFirst) await limit();
        expect(await limitOf(team, kind)).toEqual(expected);
        if (keyStatus !== 201) continue;
        const jobId = newId();
        await admitLone(bed.db.database, { workspaceId: team.id, jobId, keyId: id, amount: 2n * CREDIT });
        expect(await settleSingle(bed.db.database, { jobId, used: 2n * CREDIT })).toBe(2n * CREDIT);
        expect(await limitOf(team, kind)).toEqual(expected);
      }
    }
  },
);

test.each(Object.entries(SUBJECTS))(
  "the limit of a %s is not used by the keys of a member of its id",
  async (kind, subjectOf) => {
    const team = await bed.team(100n * CREDIT);
    const { id, limit } = subjectOf(team);
    const status = await create(team, "members", team.admin.key, { id, name: "chosen", role: "developer", limits: { credits: { total: 5 } } }); // prettier-ignore
    expect(status === 201).toBe(!TAKEN.includes(kind));
    await limit();
    expect(await limitOf(team, kind)).toEqual([{ kind, ...UNTOUCHED }]);
  },
);
