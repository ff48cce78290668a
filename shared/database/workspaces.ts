/** Workspaces: who calls and pays. A change and its audit row are one statement, so neither exists alone. */
import { type Actor, actorJson } from "./audit-log.ts";
import { type Database, type Queryable, SQL, sqlState } from "./client.ts";

export interface WorkspaceRow {
  readonly id: string;
  readonly name: string;
  readonly is_active: boolean;
  readonly created_at: Date;
  /** Calls are refused until then: a budget is spent. */
  readonly stopped_until: Date | null;
}

export interface WorkspaceSummary extends WorkspaceRow {
  /** Nano-credits. */
  readonly amount: bigint;
  readonly held: bigint;
}

/** Undefined when the name or the id is taken. Its balance and rate window come with it. */
export async function insertWorkspace(
  target: Queryable,
  workspace: { readonly id: string; readonly name: string; readonly actor: Actor },
): Promise<WorkspaceRow | undefined> {
  const rows = await target.query<WorkspaceRow>(
    `with changed as (
       insert into workspace (id, name)
       values ($1, $2)
       on conflict do nothing
       returning id, name, is_active, created_at, stopped_until
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, after)
       select id, $3, 'workspace.create', id::text, jsonb_build_object('name', name)
       from changed
     )
     select * from changed`,
    [workspace.id, workspace.name, actorJson(workspace.actor)],
  );
  return rows[0];
}

/** The workspace of that name, made if need be, locked until the transaction ends. */
export async function ensureWorkspace(
  tx: Queryable,
  workspace: { readonly id: string; readonly name: string; readonly actor: Actor },
): Promise<WorkspaceRow> {
  await insertWorkspace(tx, workspace);
  // Weak enough for others to write rows that refer to the workspace.
  const rows = await tx.query<WorkspaceRow>(
    `select id, name, is_active, created_at, stopped_until
     from workspace
     where name = $1
     for no key update`,
    [workspace.name],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`the workspace ${workspace.name} went away while it was made`);
  return row;
}

/** Does what adds to a workspace, one after the other, so that nobody goes past its limits. */
export function inTurn<T>(database: Database, workspaceId: string, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    // Weak enough for others to write rows that refer to the workspace.
    await tx.query("select id from workspace where id = $1 for no key update", [workspaceId]);
    return work(tx);
  });
}

/** Undefined when it was so already. */
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
       returning id, name, is_active, created_at, stopped_until
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

/** `taken` when another workspace has the name. */
export async function renameWorkspace(
  target: Queryable,
  workspaceId: string,
  change: { readonly name: string; readonly actor: Actor },
): Promise<"renamed" | "same" | "taken"> {
  try {
    const rows = await target.query(
      `with old as (
         select id, name from workspace where id = $1 for no key update
       ), changed as (
         update workspace w set name = $2 from old where w.id = old.id and w.name <> $2 returning w.id, w.name
       ), logged as (
         insert into audit_log (workspace_id, actor, action, subject, before, after)
         select c.id, $3, 'workspace.rename', c.id::text, jsonb_build_object('name', o.name), jsonb_build_object('name', c.name)
         from changed c join old o on o.id = c.id
       )
       select id from changed`,
      [workspaceId, change.name, actorJson(change.actor)],
    );
    return rows.length > 0 ? "renamed" : "same";
  } catch (error) {
    if (sqlState(error) === SQL.uniqueViolation) return "taken";
    throw error;
  }
}

export async function findWorkspaceById(target: Queryable, workspaceId: string): Promise<WorkspaceRow | undefined> {
  const rows = await target.query<WorkspaceRow>(
    `select id, name, is_active, created_at, stopped_until
     from workspace
     where id = $1`,
    [workspaceId],
  );
  return rows[0];
}

export async function findWorkspaceByName(target: Queryable, name: string): Promise<WorkspaceRow | undefined> {
  const rows = await target.query<WorkspaceRow>(
    `select id, name, is_active, created_at, stopped_until
     from workspace
     where name = $1`,
    [name],
  );
  return rows[0];
}

const SUMMARY = `select w.id, w.name, w.is_active, w.created_at, w.stopped_until, b.amount, b.held
     from workspace w
     join balance b on b.workspace_id = w.id`;

/** All of them with their balances, by name: for operators. */
export function listWorkspaces(target: Queryable): Promise<WorkspaceSummary[]> {
  return target.query<WorkspaceSummary>(`${SUMMARY} order by w.name`);
}

/** With their balances, the newest first, behind `after`: for operators. Ids are callers', so they tell no order. */
export function pageWorkspaces(
  target: Queryable,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<WorkspaceSummary[]> {
  return target.query<WorkspaceSummary>(
    `${SUMMARY}
     where $1::uuid is null or (w.created_at, w.id) < (select created_at, id from workspace where id = $1)
     order by w.created_at desc, w.id desc
     limit $2`,
    [after, limit],
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
