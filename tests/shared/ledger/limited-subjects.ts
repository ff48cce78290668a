/** Keys of a workspace with spend limits, for tests of them. */
import type { Database } from "#shared/database/client.ts";
import type { HoldRequest } from "#shared/ledger/call-admission.ts";
import {
  readSpendLimits,
  repeatSpendChange,
  setSpendLimit,
  type SpendCaps,
  type SpendLimit,
  type SpendLimitState,
} from "#shared/ledger/spend-limits.ts";

import { createKey, createWorkspace, CREDIT } from "../accounts.ts";
import { hold } from "./lines.ts";

/** Verdict of an admission that a spend limit refuses. */
export const LIMIT_REACHED = 13;

interface Subject {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly memberId: string;
}

/** Functions that create keys in workspaces of a database, and set and read their limits. */
interface Subjects {
  /** @param nano balance of the new workspace */
  readonly createSubject: (nano?: bigint) => Promise<Subject>;
  readonly set: (workspaceId: string, limit: SpendLimit) => Promise<void>;
  readonly stateOf: (workspaceId: string, id: string) => Promise<SpendLimitState>;
}

/** @param database returns the database, which is opened later */
export function openSubjects(database: () => Database): Subjects {
  return {
    async createSubject(nano = 10_000n * CREDIT) {
      const workspaceId = await createWorkspace(database(), nano);
      const { keyId, memberId } = await createKey(database(), undefined, workspaceId);
      return { workspaceId, keyId, memberId };
    },
    set: (workspaceId, limit) =>
      repeatSpendChange(() => database().transaction((tx) => setSpendLimit(tx, workspaceId, limit))),
    async stateOf(workspaceId, id) {
      const state = (await readSpendLimits(database(), workspaceId, [id])).get(id);
      if (state === undefined) throw new Error(`no limit of ${id}`);
      return state;
    },
  };
}

export function limitOf(id: string, credits: SpendCaps, kind: SpendLimit["kind"] = "key"): SpendLimit {
  return { id, kind, credits };
}

export function limited(
  keyId: string,
  changes: Partial<HoldRequest> = {},
): HoldRequest & { canUseCreditLine: boolean } {
  return { ...hold(), keyId, hasSpendLimit: true, canUseCreditLine: true, ...changes };
}
