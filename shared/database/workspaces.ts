/** Workspaces, which own calls and balances. One statement writes a change and its audit row, so that neither exists without the other. */
import type { BodySetting } from "#shared/base/body-setting.ts";
import { isUuid } from "#shared/base/ids.ts";

import { type Actor, actorJson, logged, loggedUpdate } from "./audit-log.ts";
import { type Database, type Queryable, SQL, sqlState } from "./client.ts";

/** Maximum number of renames of a workspace in 30 days. A released name is reserved for that time. */
export const WORKSPACE_RENAMES_MAX = 10;

export interface WorkspaceRow {
  readonly id: string;
  readonly name: string;
  readonly is_active: boolean;
  readonly created_at: Date;
  /** Members of a request's metadata that are kept as labels of a call. */
  readonly tags: readonly string[];
  /** Time until which calls are rejected because a budget is spent. */
  readonly stopped_until: Date | null;
}

const STOPPED_UNTIL = "(select s.until from budget_stop(id) s) as stopped_until";

/** Workspace of an installation's first key (SLUICE_BOOTSTRAP_KEY). */
export const BOOTSTRAP_WORKSPACE = "default";

export interface WorkspaceSummary extends WorkspaceRow {
  /** Balance in nano-credits. */
  readonly amount: bigint;
  readonly held: bigint;
}

/**
 * Creates a workspace with its balance and rate-limit window. Returns undefined if the id or the name is taken, or the name is reserved.
 */
export async function insertWorkspace(
  target: Queryable,
  workspace: { readonly id: string; readonly name: string; readonly actor: Actor },
): Promise<WorkspaceRow | undefined> {
  const rows = await target.query<WorkspaceRow>(
    `with changed as (
       insert into workspace (id, name)
       select $1, $2 where not is_kept_for_another($2, $1)
       on conflict do nothing
       returning id, name, is_active, tags, created_at, ${STOPPED_UNTIL}
     ), ${logged("workspace.create", "$3", { workspace: "id", after: "name" })}
     select * from changed`,
    [workspace.id, workspace.name, actorJson(workspace.actor)],
  );
  return rows[0];
}

/** Returns the workspace with this name, and locks it until the transaction ends. Creates the workspace if it is missing. */
export async function ensureWorkspace(
  tx: Queryable,
  workspace: { readonly id: string; readonly name: string; readonly actor: Actor },
): Promise<WorkspaceRow> {
  await insertWorkspace(tx, workspace);
  const row = await lockWorkspace(tx, "name", workspace.name);
  if (row === undefined) throw new Error(`the name ${workspace.name} was another workspace's in the last 30 days`);
  return row;
}

/** Locks a workspace's row against changes (`for no key update`). Other transactions can still insert rows that reference the workspace. */
async function lockWorkspace(tx: Queryable, by: "id" | "name", value: string): Promise<WorkspaceRow | undefined> {
  const rows = await tx.query<WorkspaceRow>(
    `select id, name, is_active, tags, created_at, ${STOPPED_UNTIL}
     from workspace
     where ${by} = $1
     for no key update`,
    [value],
  );
  return rows[0];
}

/**
 * Runs `work` while the workspace is locked. Concurrent additions to the workspace run one after the other, so that its limits are never
 * exceeded.
 */
export function withWorkspaceLock<T>(
  database: Database,
  workspaceId: string,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    await lockWorkspace(tx, "id", workspaceId);
    return work(tx);
  });
}

/** Enables or disables a workspace. Returns undefined if nothing changed. */
export async function setWorkspaceActive(
  target: Queryable,
  workspaceId: string,
  change: { readonly isActive: boolean; readonly actor: Actor },
): Promise<WorkspaceRow | undefined> {
  const rows = await target.query<WorkspaceRow>(
    `with changed as (
       update workspace
       set is_active = $2
       where id = $1 and is_active <> $2
       returning id, name, is_active, tags, created_at, ${STOPPED_UNTIL}
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject)
       select id, $3, case when is_active then 'workspace.enable' else 'workspace.disable' end, id::text
       from changed
     )
     select * from changed`,
    [workspaceId, change.isActive, actorJson(change.actor)],
  );
  return rows[0];
}

/**
 * Renames a workspace. `taken`: another workspace has the name, or the name is reserved. `often`: the workspace has reached its maximum of
 * renames.
 */
export async function renameWorkspace(
  target: Queryable,
  workspaceId: string,
  change: { readonly name: string; readonly actor: Actor },
): Promise<"renamed" | "same" | "taken" | "often"> {
  try {
    const [row] = await target.query<{ result: "renamed" | "same" | "taken" | "often" }>(
      `with old as (
         select id, name from workspace where id = $1 for no key update
       ), kept as (
         select (select count(*) from released_name where workspace_id = $1 and released_at > now() - interval '30 days') >= $4 as is_most,
                is_kept_for_another($2, $1) as is_taken
       ), changed as (
         update workspace w set name = $2
         from old, kept
         where w.id = old.id and w.name <> $2 and not kept.is_taken and not kept.is_most
         returning w.id, w.name
       ), ${loggedUpdate("'workspace.rename'", "$3", "name", "id")}
       select case when exists (select from changed) then 'renamed'
                   when exists (select from old where name = $2) then 'same'
                   when is_taken then 'taken' else 'often' end as result
       from kept`,
      [workspaceId, change.name, actorJson(change.actor), WORKSPACE_RENAMES_MAX],
    );
    return row?.result ?? "same";
  } catch (error) {
    if (sqlState(error) === SQL.uniqueViolation) return "taken";
    throw error;
  }
}

/** Replaces the tags of a workspace. Calls use the change within a second. */
export async function setWorkspaceTags(
  target: Queryable,
  workspaceId: string,
  change: { readonly tags: readonly string[]; readonly actor: Actor },
): Promise<void> {
  await target.query(
    `with old as (
       select id, tags from workspace where id = $1 for no key update
     ), changed as (
       update workspace w set tags = $2 from old where w.id = old.id and w.tags <> $2 returning w.id, w.tags
     ), ${loggedUpdate("'workspace.tag'", "$3", "tags", "id")}
     select 1`,
    [workspaceId, change.tags, actorJson(change.actor)],
  );
}

/** Changes which requests and responses of a workspace are kept. Keys with a setting of their own are not affected. */
export async function setBodies(
  target: Queryable,
  workspaceId: string,
  change: { readonly bodies: BodySetting; readonly actor: Actor },
): Promise<void> {
  await target.query(
    `with old as (
       select id, bodies from workspace where id = $1 for no key update
     ), changed as (
       update workspace w set bodies = $2::jsonb
       from old
       where w.id = old.id and w.bodies is distinct from $2::jsonb
       returning w.id, w.bodies
     ), ${loggedUpdate("'workspace.bodies'", "$3", "bodies", "id")}
     select 1 from changed`,
    [workspaceId, JSON.stringify(change.bodies), actorJson(change.actor)],
  );
}

/** Returns which requests and responses of a workspace are kept; null if it was never set. */
export async function findBodies(target: Queryable, workspaceId: string): Promise<BodySetting | null> {
  const rows = await target.query<{ bodies: BodySetting | null }>("select bodies from workspace where id = $1", [
    workspaceId,
  ]);
  return rows[0]?.bodies ?? null;
}

/** Finds a workspace by its id or its current name. */
export function findWorkspace(target: Queryable, nameOrId: string): Promise<WorkspaceRow | undefined> {
  const id = nameOrId.toLowerCase();
  return isUuid(id) ? findWorkspaceById(target, id) : findWorkspaceByName(target, nameOrId);
}

/** Returns the workspace that released this name within the last 30 days. */
export async function findReleasedName(target: Queryable, name: string): Promise<WorkspaceRow | undefined> {
  const rows = await target.query<WorkspaceRow>(
    `select w.id, w.name, w.is_active, w.tags, w.created_at, ${STOPPED_UNTIL}
     from released_name r join workspace w on w.id = r.workspace_id
     where r.name = $1 and r.released_at > now() - interval '30 days'`,
    [name],
  );
  return rows[0];
}

export async function findWorkspaceById(target: Queryable, workspaceId: string): Promise<WorkspaceRow | undefined> {
  const rows = await target.query<WorkspaceRow>(
    `select id, name, is_active, tags, created_at, ${STOPPED_UNTIL}
     from workspace
     where id = $1`,
    [workspaceId],
  );
  return rows[0];
}

export async function findWorkspaceByName(target: Queryable, name: string): Promise<WorkspaceRow | undefined> {
  const rows = await target.query<WorkspaceRow>(
    `select id, name, is_active, tags, created_at, ${STOPPED_UNTIL}
     from workspace
     where name = $1`,
    [name],
  );
  return rows[0];
}

const SUMMARY = `select w.id, w.name, w.is_active, w.tags, w.created_at, ${STOPPED_UNTIL}, b.amount - unbooked_credits(b.workspace_id) as amount,
            b.held - lined_credits(b.workspace_id) as held
     from workspace w
     join balance b on b.workspace_id = w.id`;

/**
 * Returns a page of workspaces with their balances for operators, newest first, starting behind the workspace `after`. Callers may choose
 * workspace ids, so ids do not sort by time.
 * @param query a name: returns only the workspace that has it, or released it in the last 30 days
 */
export function pageWorkspaces(
  target: Queryable,
  { after, limit, name }: { readonly after: string | null; readonly limit: number; readonly name: string | null },
): Promise<WorkspaceSummary[]> {
  return target.query<WorkspaceSummary>(
    `${SUMMARY}
     where ($1::uuid is null or (w.created_at, w.id) < (select created_at, id from workspace where id = $1))
       and ($3::text is null or w.name = $3 or w.id = (
         select workspace_id from released_name where name = $3 and released_at > now() - interval '30 days'))
     order by w.created_at desc, w.id desc
     limit $2`,
    [after, limit, name],
  );
}

export async function countWorkspaces(target: Queryable): Promise<number> {
  const rows = await target.query<{ count: bigint }>("select count(*) as count from workspace");
  return Number(rows[0]?.count ?? 0n);
}

export async function findWorkspaceSummary(
  target: Queryable,
  workspaceId: string,
): Promise<WorkspaceSummary | undefined> {
  const rows = await target.query<WorkspaceSummary>(`${SUMMARY} where w.id = $1`, [workspaceId]);
  return rows[0];
}
