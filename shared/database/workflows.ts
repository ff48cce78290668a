/** Workflows of a workspace, and the versions of their definitions. One statement writes a change and its audit row. */

import { plainArray } from "./arrays.ts";
import { type Actor, actorJson } from "./audit-log.ts";
import { type Queryable, SQL, sqlState } from "./client.ts";

/** Maximum workflows of one workspace, and maximum versions of one workflow. */
export const WORKFLOWS_PER_WORKSPACE_MAX = 1_000;
export const WORKFLOW_VERSIONS_MAX = 1_000;

export const SHARING_SCOPES = ["private", "workspace"] as const;
export const SHARE_PERMISSIONS = ["read", "run", "edit"] as const;

export type SharingScope = (typeof SHARING_SCOPES)[number];
export type SharePermission = (typeof SHARE_PERMISSIONS)[number];

export interface WorkflowRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly description: string;
  readonly latest_version: number;
  readonly created_by: string;
  readonly sharing_scope: SharingScope;
  readonly share_permission: SharePermission;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface WorkflowVersionRow {
  readonly version: number;
  readonly created_by: string;
  readonly created_at: Date;
}

/** A member as reader of the workspace's workflows. */
export interface WorkflowReader {
  readonly workspaceId: string;
  readonly memberId: string;
  /** True if private workflows of other members are visible. */
  readonly seesAll: boolean;
  /** Tools that the reader's key lists. Only runs and jobs of these tools are found. */
  readonly tools?: ReadonlySet<string>;
}

const COLUMNS =
  "id, workspace_id, name, description, latest_version, created_by, sharing_scope, share_permission, created_at, updated_at";
/** SQL condition for the workflows that a reader may see. $1 is the workspace, $2 the member, $3 true if all workflows are visible. */
const VISIBLE = "workspace_id = $1 and deleted_at is null and ($3 or created_by = $2 or sharing_scope = 'workspace')";

const readerValues = ({ workspaceId, memberId, seesAll }: WorkflowReader) => [workspaceId, memberId, seesAll] as const;

interface Written {
  readonly name: string;
  readonly description: string;
  readonly sharingScope: SharingScope;
  readonly sharePermission: SharePermission;
  /** Definition as JSON text. */
  readonly definition: string;
}

/**
 * Creates a workflow with version 1.
 * @param storageBytesMax limit of its workspace
 * @returns `crowded`: the workspace has the maximum of workflows; `full`: its storage is full
 */
export async function insertWorkflow(
  target: Queryable,
  { workspaceId, memberId }: WorkflowReader,
  id: string,
  { name, description, sharingScope, sharePermission, definition }: Written,
  actor: Actor,
  storageBytesMax: number,
): Promise<"made" | "crowded" | "full"> {
  const [row] = await target.query<{ verdict: "made" | "crowded" | "full" }>(
    `with admitted as (
       select admit_workflow($1, octet_length($8::text), $10::int, $11::bigint) as verdict
     ), changed as (
       insert into workflow (id, workspace_id, name, description, created_by, sharing_scope, share_permission)
       select $3::uuid, $1, $4, $5, $2, $6, $7 from admitted where verdict = 'made'
       returning workspace_id, id
     ), versioned as (
       insert into workflow_version (workflow_id, version, definition, created_by, bytes)
       select id, 1, $8::text::json, $2, octet_length($8::text) from changed
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, after)
       select workspace_id, $9, 'workflow.create', id::text,
              jsonb_build_object('name', $4::text, 'version', 1, 'sharing_scope', $6::text, 'share_permission', $7::text)
       from changed
     )
     select verdict from admitted`,
    [
      workspaceId,
      memberId,
      id,
      name,
      description,
      sharingScope,
      sharePermission,
      definition,
      actorJson(actor),
      WORKFLOWS_PER_WORKSPACE_MAX,
      storageBytesMax,
    ],
  );
  if (!row) throw new Error("a new workflow was told nothing");
  return row.verdict;
}

/**
 * Updates a workflow. Null members stay unchanged; a definition creates the next version.
 * @param storageBytesMax storage limit of the workspace, in bytes
 * @returns `gone`: no such workflow; `crowded`: the workflow has the maximum of versions; `full`: the workspace's storage is full
 */
export async function updateWorkflow(
  target: Queryable,
  { workspaceId, memberId }: WorkflowReader,
  id: string,
  change: { readonly [M in keyof Written]: Written[M] | null },
  actor: Actor,
  storageBytesMax: number,
): Promise<Changed | "gone" | "crowded" | "full"> {
  try {
    const [row] = await update(target, { workspaceId, memberId }, id, change, actor, storageBytesMax);
    return row?.is_crowded === true ? "crowded" : (row ?? "gone");
  } catch (error) {
    if (sqlState(error) === SQL.storageFull) return "full";
    throw error;
  }
}

type Changed = Pick<WorkflowRow, "latest_version" | "name">;

function update(
  target: Queryable,
  { workspaceId, memberId }: Pick<WorkflowReader, "workspaceId" | "memberId">,
  id: string,
  change: { readonly [M in keyof Written]: Written[M] | null },
  actor: Actor,
  storageBytesMax: number,
): Promise<(Changed & { readonly is_crowded: boolean })[]> {
  return target.query(
    `with old as (
       select id, name, latest_version, sharing_scope, share_permission
       from workflow
       where workspace_id = $1 and id = $3 and deleted_at is null
       for no key update
     ), changed as (
       -- Joined, so that the row is read and locked before it is changed: afterwards nothing could be read of what it was.
       update workflow w
       set name = coalesce($4, w.name), description = coalesce($5, w.description), sharing_scope = coalesce($6, w.sharing_scope),
           share_permission = coalesce($7, w.share_permission), updated_at = now(),
           latest_version = w.latest_version + case when $8::text is null then 0 else 1 end
       from old
       where w.id = old.id and ($8::text is null or old.latest_version < $10::int)
       returning w.workspace_id, w.id, w.latest_version, w.name, w.sharing_scope, w.share_permission
     ), versioned as (
       insert into workflow_version (workflow_id, version, definition, created_by, bytes)
       select id, latest_version, $8::text::json, $2, octet_length($8::text)
       from changed
       where $8::text is not null
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, before, after)
       select c.workspace_id, $9, 'workflow.update', c.id::text,
              jsonb_build_object('name', o.name, 'version', o.latest_version, 'sharing_scope', o.sharing_scope, 'share_permission', o.share_permission),
              jsonb_build_object('name', c.name, 'version', c.latest_version, 'sharing_scope', c.sharing_scope, 'share_permission', c.share_permission)
       from changed c, old o
     )
     select coalesce(c.latest_version, o.latest_version) as latest_version, coalesce(c.name, o.name) as name, c.id is null as is_crowded,
       case when c.id is not null and $8::text is not null then take_storage(c.workspace_id, octet_length($8::text), $11::bigint) end
     from old o left join changed c on c.id = o.id`,
    [
      workspaceId,
      memberId,
      id,
      change.name,
      change.description,
      change.sharingScope,
      change.sharePermission,
      change.definition,
      actorJson(actor),
      WORKFLOW_VERSIONS_MAX,
      storageBytesMax,
    ],
  );
}

/**
 * Deletes a workflow and its definitions. The janitor later deletes definitions that open runs still need. Returns false if the workflow
 * was already deleted.
 */
export async function deleteWorkflow(
  target: Queryable,
  { workspaceId }: WorkflowReader,
  id: string,
  actor: Actor,
): Promise<boolean> {
  const rows = await target.query(
    `with changed as (
       update workflow
       set deleted_at = now()
       where workspace_id = $1 and id = $2 and deleted_at is null
       returning workspace_id, id, name, latest_version
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, before)
       select workspace_id, $3, 'workflow.delete', id::text, jsonb_build_object('name', name, 'version', latest_version)
       from changed
     )
     select id from changed`,
    [workspaceId, id, actorJson(actor)],
  );
  if (rows.length > 0) await emptyWorkflow(target, id);
  return rows.length > 0;
}

/** Deletes the definitions of a deleted workflow and frees their storage. Does nothing while an open run needs them. */
export async function emptyWorkflow(target: Queryable, id: string): Promise<void> {
  await target.query("select empty_workflow($1)", [id]);
}

/** Returns deleted workflows that still have definitions which no run needs. */
export async function findUnemptied(target: Queryable, max: number): Promise<readonly string[]> {
  const rows = await target.query<{ id: string }>(
    `select id from workflow w where deleted_at is not null and not is_emptied
       and not exists (select from run r where r.workflow_id = w.id and r.status in ('queued', 'running'))
     order by deleted_at limit $1`,
    [max],
  );
  return rows.map(({ id }) => id);
}

/** Finds a workflow. Returns undefined if the reader may not see it. */
export async function findWorkflow(
  target: Queryable,
  reader: WorkflowReader,
  id: string,
): Promise<WorkflowRow | undefined> {
  const rows = await target.query<WorkflowRow>(`select ${COLUMNS} from workflow where ${VISIBLE} and id = $4`, [
    ...readerValues(reader),
    id,
  ]);
  return rows[0];
}

/** Returns the visible workflows of these ids, each with the `inputs` of its latest definition. */
export function findWorkflowInputs(
  target: Queryable,
  reader: WorkflowReader,
  ids: readonly string[],
): Promise<(Pick<WorkflowRow, "id" | "name" | "description"> & { readonly inputs: unknown })[]> {
  return target.query(
    `select id, name, description, (select definition -> 'inputs' from workflow_version
       where workflow_id = workflow.id and version = workflow.latest_version) as inputs
     from workflow where ${VISIBLE} and id = any($4::uuid[])`,
    [...readerValues(reader), plainArray(ids)],
    "find_workflow_inputs",
  );
}

/** Lists visible workflows, newest first. `total` is the number of all visible workflows. */
export async function listWorkflows(
  target: Queryable,
  reader: WorkflowReader,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly WorkflowRow[]; readonly total: number }> {
  const [rows, counted] = await Promise.all([
    target.query<WorkflowRow>(
      `select ${COLUMNS} from workflow where ${VISIBLE} order by created_at desc, id desc limit $4 offset $5`,
      [...readerValues(reader), limit, offset],
    ),
    target.query<{ total: number }>(
      `select count(*)::int as total from workflow where ${VISIBLE}`,
      readerValues(reader),
    ),
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** Returns one version of a workflow's definition; undefined if the version is missing. */
export async function findDefinition(target: Queryable, id: string, version: number): Promise<unknown> {
  const rows = await target.query<{ definition: unknown }>(
    "select definition from workflow_version where workflow_id = $1 and version = $2",
    [id, version],
  );
  return rows[0]?.definition;
}

/** Lists the versions of a workflow, newest first. */
export function listVersions(
  target: Queryable,
  id: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<WorkflowVersionRow[]> {
  return target.query<WorkflowVersionRow>(
    `select version, created_by, created_at
     from workflow_version
     where workflow_id = $1
     order by version desc
     limit $2 offset $3`,
    [id, limit, offset],
  );
}
