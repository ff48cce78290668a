/** Stored responses. Every query checks the workspace and which responses the caller may see. */
import { plainArray } from "./arrays.ts";
import type { Queryable } from "./client.ts";
import type { JobError, JobState } from "./jobs.ts";
import type { Viewer } from "./viewer.ts";

/** Location of a response's encrypted text: in the database row (`sealed`), or in the object store (`reference`). */
export type KeptText =
  | { readonly sealed: string; readonly reference: null }
  | { readonly sealed: null; readonly reference: string };

export type ResponseRow = KeptText & {
  readonly id: string;
  readonly workspace_id: string;
  readonly previous_id: string | null;
  readonly bytes: number;
  /** Status of the response. A background response is `queued` until its job has ended. */
  readonly status: "queued" | "completed" | "incomplete" | "failed" | "cancelled";
  readonly is_background: boolean;
  readonly keeps_events: boolean;
  readonly error: JobError | null;
  /** State of the job that creates the response; null if no job creates it. */
  readonly job_state: JobState | null;
};

interface NewText {
  readonly bytes: number;
  readonly text: KeptText;
  readonly sealedBy: string;
}

/**
 * Stores a response; does nothing if it is already stored. If the response is paid, the call's hold must still be open, and stays open
 * until this write.
 * @returns false if the hold is already closed, because the call was abandoned
 */
export async function keepResponse(
  database: Queryable,
  row: NewText & {
    readonly id: string;
    readonly workspaceId: string;
    readonly keyId: string;
    readonly previousId: string | null;
    readonly model: string;
    readonly status: string;
    readonly isBackground: boolean;
    readonly keepsEvents: boolean;
    readonly hours: number;
    /** True if the call's hold is still open and will be charged. */
    readonly isHeld: boolean;
  },
): Promise<boolean> {
  const [kept] = await database.query<{ is_owed: boolean }>(
    `with held as materialized (select from hold where $14 and workspace_id = $2 and job_id = $1 for key share),
     owed as (select not $14 or exists (select from held) as is_owed),
     kept as (
       insert into response (id, workspace_id, member_id, previous_id, model, status, answered, bytes, sealed, reference, sealed_by,
         expires_at, is_background, keeps_events)
       select $1, $2, k.member_id, $4, $5, $6, case when $6 in ('completed', 'incomplete') then $6 end, $7, $8, $9, $10,
         now() + $11 * interval '1 hour', $12, $13
       from api_key k, owed where is_owed and k.id = $3 and k.workspace_id = $2
       on conflict (id) do nothing)
     select is_owed from owed`,
    [
      row.id,
      row.workspaceId,
      row.keyId,
      row.previousId,
      row.model,
      row.status,
      row.bytes,
      row.text.sealed,
      row.text.reference,
      row.sealedBy,
      row.hours,
      row.isBackground,
      row.keepsEvents,
      row.isHeld,
    ],
    "keep_response",
  );
  return kept?.is_owed === true;
}

/** Stores the result in the row of a response whose job is about to end. Does nothing if the response was deleted. */
export async function answerResponse(
  database: Queryable,
  row: NewText & { readonly id: string; readonly model: string; readonly answered: string },
): Promise<void> {
  await database.query(
    `update response set answered = $2, model = $3, bytes = $4, sealed = $5, reference = $6, sealed_by = $7 where id = $1`,
    [row.id, row.answered, row.model, row.bytes, row.text.sealed, row.text.reference, row.sealedBy],
    "answer_response",
  );
}

const COLUMNS = `id, workspace_id, previous_id, bytes, sealed, reference, status, is_background, keeps_events, error,
  case when status = 'queued' then (select j.state from job j where j.id = response.id) end as job_state`;
/** SQL condition for responses that another response can continue. */
const HAS_ENDED = "status in ('completed', 'incomplete')";
const SEEN = "workspace_id = $1 and (member_id = $2 or $3) and expires_at > now()";

export function findResponses(
  database: Queryable,
  { workspaceId, memberId, seesAll }: Viewer,
  ids: readonly string[],
): Promise<ResponseRow[]> {
  return database.query<ResponseRow>(
    `select ${COLUMNS} from response where ${SEEN} and id = any($4::uuid[])`,
    [workspaceId, memberId, seesAll, plainArray(ids)],
    "find_responses",
  );
}

const LAST_EVENT = `(select last from response_event where response_id = response.id order by first desc limit 1) as last_event`;

/** Finds the response of a call, with the number of its last stored event. Does not check who may see the response. */
export async function findResponse(
  database: Queryable,
  id: string,
): Promise<(ResponseRow & { readonly last_event: number | null }) | undefined> {
  const rows = await database.query<ResponseRow & { last_event: number | null }>(
    `select ${COLUMNS}, ${LAST_EVENT} from response where id = $1`,
    [id],
    "find_response",
  );
  return rows[0];
}

/** Returns the same as `findResponse` but without the text, for frequent reads after each notice of an event. */
export async function findResponseState(
  database: Queryable,
  id: string,
): Promise<{ readonly is_under_way: boolean; readonly last_event: number | null } | undefined> {
  const rows = await database.query<{ is_under_way: boolean; last_event: number | null }>(
    `select status = 'queued' and exists (select from job j where j.id = response.id and j.state in ('queued', 'running')) as is_under_way, ${LAST_EVENT}
     from response where id = $1`,
    [id],
    "find_response_state",
  );
  return rows[0];
}

/**
 * Returns a response and its predecessors, oldest first. The list ends early at a missing response, and after the first response that
 * exceeds one of the two limits.
 */
export function findResponseChain(
  database: Queryable,
  { workspaceId, memberId, seesAll }: Viewer,
  id: string,
  { countMax, bytesMax }: { readonly countMax: number; readonly bytesMax: number },
): Promise<ResponseRow[]> {
  return database.query<ResponseRow>(
    `with recursive chain as (
       select id, previous_id, 1 as depth, bytes::bigint as total from response where ${SEEN} and ${HAS_ENDED} and id = $4
       union all
       select r.id, r.previous_id, c.depth + 1, c.total + r.bytes
       from chain c join response r on r.id = c.previous_id
       where r.workspace_id = $1 and (r.member_id = $2 or $3) and r.expires_at > now() and r.${HAS_ENDED}
         and c.depth <= $5 and c.total <= $6)
     select ${COLUMNS} from response join (select id as chained, depth from chain) c on c.chained = id order by depth desc`,
    [workspaceId, memberId, seesAll, id, countMax, bytesMax],
    "find_response_chain",
  );
}

/**
 * Deletes a response and returns its status. `reference` is the object of its text that the caller must delete from the object store.
 * Returns undefined if there was no such response.
 */
export async function deleteResponse(
  database: Queryable,
  { workspaceId, memberId, seesAll }: Viewer,
  id: string,
): Promise<(Gone & Pick<ResponseRow, "status">) | undefined> {
  const rows = await database.query<Gone & Pick<ResponseRow, "status">>(
    `delete from response where ${SEEN} and id = $4 returning reference, status`,
    [workspaceId, memberId, seesAll, id],
  );
  return rows[0];
}

/** A deleted response whose text in the object store is still to be deleted. */
export interface Gone {
  readonly reference: string | null;
}

/** Tables of texts stored for callers until they expire. */
export type StoredTexts = "response" | "conversation";

/** Deletes up to `batch` expired rows of a table. Returns the references of texts that the caller must delete from the object store. */
export function dropExpired(database: Queryable, table: StoredTexts, batch: number): Promise<Gone[]> {
  return database.query<Gone>(
    `delete from ${table} where id in (
       select id from ${table} where expires_at <= now() order by expires_at limit $1 for update skip locked)
     returning reference`,
    [batch],
  );
}

/** Deletes up to `batch` of the oldest rows of workspaces whose stored texts exceed these bounds. */
export function dropExcess(
  database: Queryable,
  table: StoredTexts,
  { countMax, bytesMax }: { readonly countMax: number; readonly bytesMax: number },
  batch: number,
): Promise<Gone[]> {
  return database.query<Gone>(
    `with crowded as (
       select workspace_id from ${table} group by workspace_id having count(*) > $1 or sum(bytes) > $2),
     placed as (
       select r.id, row_number() over newest as place, sum(r.bytes) over newest as total
       from ${table} r join crowded using (workspace_id)
       window newest as (partition by workspace_id order by created_at desc, id desc))
     delete from ${table} where id in (select id from placed where place > $1 or total > $2 limit $3)
     returning reference`,
    [countMax, bytesMax, batch],
  );
}

/** Returns the stored responses and conversations with these ids, each with the location of its text. */
export async function findKeptTexts(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const rows = await database.query<Gone & { readonly id: string }>(
    `select id, reference from response where id = any($1::uuid[])
     union all select id, reference from conversation where id = any($1::uuid[])`,
    [plainArray(ids)],
  );
  return new Map(rows.map(({ id, reference }) => [id, reference]));
}

/** A stored text that must be encrypted again with the current key. */
export type TextRow = KeptText & { readonly id: string; readonly workspace_id: string; readonly sealed_by: string };

/** Returns texts that were encrypted with a key other than the current one, sorted by id, starting behind the given id. */
export function listTextsOfOtherKeys(
  database: Queryable,
  table: StoredTexts,
  keyId: string,
  afterId: string,
  limit: number,
): Promise<TextRow[]> {
  return database.query<TextRow>(
    `select id, workspace_id, sealed, reference, sealed_by from ${table}
     where id > $1 and sealed_by <> $2 order by id limit $3`,
    [afterId, keyId, limit],
  );
}

/** Replaces a stored text. Returns false if the row is gone, or was changed since it was read. */
export async function replaceText(
  database: Queryable,
  table: StoredTexts,
  row: TextRow,
  { text, sealedBy }: { readonly text: KeptText; readonly sealedBy: string },
): Promise<boolean> {
  const rows = await database.query(
    `update ${table} set sealed = $3, reference = $4, sealed_by = $5
     where id = $1 and coalesce(sealed, reference) = $2 returning 1`,
    [row.id, row.sealed ?? row.reference, text.sealed, text.reference, sealedBy],
  );
  return rows.length > 0;
}

/** A chunk of the stored events of a response. */
export interface EventsRow {
  readonly first: number;
  readonly last: number;
  readonly sealed: string;
}

/**
 * Stores a chunk of events. Does nothing if the chunk is already stored, or the response is gone. If the confirmation of a chunk was lost,
 * the writer sends the chunk again together with the events that followed.
 */
export async function keepResponseEvents(database: Queryable, id: string, piece: EventsRow): Promise<void> {
  await database.query(
    `insert into response_event (response_id, first, last, sealed)
     select id, $2, $3, $4 from response where id = $1
     on conflict (response_id, first) do update set last = excluded.last, sealed = excluded.sealed
       where response_event.last < excluded.last`,
    [id, piece.first, piece.last, piece.sealed],
    "keep_response_events",
  );
}

/**
 * Returns chunks with events after event number `after`, in order. Returns at most `countMax` chunks of `bytesMax` bytes in total, but at
 * least one chunk.
 */
export function findResponseEvents(
  database: Queryable,
  id: string,
  after: number,
  { countMax, bytesMax }: { readonly countMax: number; readonly bytesMax: number },
): Promise<EventsRow[]> {
  return database.query<EventsRow>(
    `select first, last, sealed from (
       select *, sum(octet_length(sealed)) over (order by first) as bytes, row_number() over (order by first) as place from (
         select first, last, sealed from response_event where response_id = $1 and last > $2 order by first limit $3) next) placed
     where bytes <= $4 or place = 1 order by first`,
    [id, after, countMax, bytesMax],
    "find_response_events",
  );
}

/** Deletes up to `batch` chunks of events one hour after the last event of their response. Returns the number of deleted chunks. */
export async function dropOldResponseEvents(database: Queryable, batch: number): Promise<number> {
  const rows = await database.query(
    `delete from response_event where ctid = any(array(
       select ctid from response_event old where created_at < now() - interval '1 hour'
         and not exists (select from response_event r where r.response_id = old.response_id and r.created_at >= now() - interval '1 hour')
       limit $1)) returning 1`,
    [batch],
  );
  return rows.length;
}
