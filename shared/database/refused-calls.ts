/** Calls that were refused before a hold, for the owner of the workspace. Kept for a day, the newest of each workspace. */
import type { Code } from "#shared/base/errors.ts";

import type { Queryable } from "./client.ts";
import { hasBodies } from "./kept-bodies.ts";
import type { UsageFilter } from "./usage-sums.ts";

/** Refused calls kept for each workspace. */
export const REFUSED_CALLS_MAX = 1_000;
/** Hours for which a refused call is kept. */
export const REFUSED_CALL_HOURS = 24;

export interface RefusedCall {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly requestId: string;
  /** Path of the route, with `{name}` for parameters. */
  readonly endpoint: string;
  readonly code: Code;
  /** Invalid parameter; null for other errors. */
  readonly param: string | null;
  /** Requested model; null if the request names no model of the catalogue. */
  readonly model: string | null;
  /** Sentence of the error; null if it may contain texts of the caller. */
  readonly message: string | null;
}

export interface RefusedCallRow {
  readonly request_id: string;
  readonly key_id: string;
  readonly at: Date;
  readonly endpoint: string;
  readonly code: Code;
  readonly param: string | null;
  readonly model: string | null;
  readonly message: string | null;
  /** True if the request and the response of the call are kept. */
  readonly has_bodies: boolean;
}

/** Stores refused calls, and deletes the oldest of their workspaces. Calls that were admitted after all are not stored. */
export async function insertRefusedCalls(target: Queryable, calls: readonly RefusedCall[]): Promise<void> {
  const rows = calls.map(({ workspaceId, requestId, keyId, ...facts }) => {
    return { workspace_id: workspaceId, request_id: requestId, key_id: keyId, ...facts };
  });
  await target.query("select record_refused_calls($1::jsonb, $2)", [JSON.stringify(rows), REFUSED_CALLS_MAX]);
}

const COLUMNS = `r.request_id, r.key_id, r.at, r.endpoint, r.code, r.param, r.model, r.message, ${hasBodies("r.workspace_id", "r.request_id")}`;
/** Condition for calls that are kept, were not admitted and belong to the member $2, if it is not null. */
const LISTED = `r.workspace_id = $1 and r.at > now() - interval '${REFUSED_CALL_HOURS} hours'
       and ($2::uuid is null or r.key_id in (select k.id from api_key k where k.workspace_id = $1 and k.member_id = $2))
       and not exists (select from usage_record u where u.workspace_id = $1 and u.job_id = r.request_id)`;

/** Finds a refused call. Returns undefined if it is not kept, or belongs to another workspace or member. */
export async function findRefusedCall(
  target: Queryable,
  workspaceId: string,
  { requestId, memberId }: { readonly requestId: string; readonly memberId: string | null },
): Promise<RefusedCallRow | undefined> {
  const rows = await target.query<RefusedCallRow>(
    `select ${COLUMNS} from refused_call r where ${LISTED} and r.request_id = $3`,
    [workspaceId, memberId, requestId],
  );
  return rows[0];
}

export interface RefusedCallQuery extends Pick<UsageFilter, "memberId" | "keyId"> {
  readonly endpoint: string | null;
  readonly model: string | null;
  readonly start: Date | null;
  readonly end: Date | null;
  /** Id of the call after which the page starts; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
}

/** Returns a page of refused calls, newest first. */
export function pageRefusedCalls(
  target: Queryable,
  workspaceId: string,
  { memberId, keyId, endpoint, model, start, end, after, limit }: RefusedCallQuery,
): Promise<RefusedCallRow[]> {
  return target.query<RefusedCallRow>(
    `select ${COLUMNS}
     from refused_call r
     where ${LISTED}
       and ($3::uuid is null or r.key_id = $3)
       and ($4::timestamptz is null or r.at >= $4)
       and ($5::timestamptz is null or r.at < $5)
       and ($8::text is null or r.endpoint = $8)
       and ($9::text is null or r.model = $9)
       and ($6::uuid is null or (r.at, r.request_id) < (
         select at, request_id from refused_call where workspace_id = $1 and request_id = $6))
     order by r.at desc, r.request_id desc
     limit $7`,
    [workspaceId, memberId, keyId, start, end, after, limit, endpoint, model],
  );
}
