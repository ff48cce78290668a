/** /v1/workflows: manages stored workflow definitions and their versions. */
import type {
  Workflow,
  WorkflowCreateRequest,
  WorkflowDefinition,
  WorkflowDeleted,
  WorkflowList,
  WorkflowSummary,
  WorkflowUpdateRequest,
  WorkflowVersionList,
  WorkflowWritten,
} from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { parse } from "#shared/json/contracts.ts";
import {
  deleteWorkflow,
  findDefinition,
  insertWorkflow,
  listVersions,
  listWorkflows,
  updateWorkflow,
  type WorkflowRow,
  WORKFLOWS_PER_WORKSPACE_MAX,
  WORKFLOW_VERSIONS_MAX,
} from "#shared/database/workflows.ts";
import { checkWritesDefinitions, usableTools } from "#shared/access/tools.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { readerOf } from "#shared/workflows/access.ts";

import { json } from "../../core/answers.ts";
import { type ReadBody, readBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { allowRoles } from "../../core/roles.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { KeyRoute } from "../../core/route.ts";
import { checkEditor, checkKeeper, noWorkflow, requireVisibleWorkflow } from "./access.ts";
import { checkDefinition } from "./check-definition.ts";
import { EXAMPLE_DEFINITION } from "./example.ts";
import { PAGE_QUERY, pageOf, wholeNumber } from "./paging.ts";

const LIST = "/v1/workflows";
const ONE = `${LIST}/{id}`;

export function workflows(context: IngressContext): readonly KeyRoute[] {
  const common = {
    tags: ["Workflows"],
    auth: "key",
    authorize: allowRoles("owner", "admin", "developer"),
  } as const satisfies Partial<KeyRoute>;
  const written = { schema: "WorkflowWritten" } as const;
  return [
    {
      ...common,
      method: "POST",
      path: LIST,
      operationId: "createWorkflow",
      summary: "Create workflow",
      description:
        "Stores a workflow. The definition is validated completely: format, expressions, referenced steps and " +
        "inputs, models, capabilities, and all parameters that are known before a run. An error names the place of " +
        "the fault.",
      request: { schema: "WorkflowCreateRequest", example: { name: "About", definition: EXAMPLE_DEFINITION } },
      responses: { 201: { description: "The workflow, stored as version 1", ...written } },
      errors: errorsOf(["reads_json", "keeps_files"], "invalid_workflow_definition", "conflict"),
      handle: (call) => create(context, call),
    },
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listWorkflows",
      summary: "List workflows",
      query: PAGE_QUERY,
      responses: {
        200: { description: "A page of workflows that the key may see, newest first", schema: "WorkflowList" },
      },
      errors: ["unsupported_value"],
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getWorkflow",
      summary: "Retrieve workflow",
      query: [
        {
          name: "version",
          description: "Version of the definition. Default: the latest.",
          schema: { type: "integer", minimum: 1 },
        },
      ],
      responses: { 200: { description: "The workflow with one version of its definition", schema: "Workflow" } },
      errors: ["workflow_not_found", "unsupported_value"],
      handle: (call) => get(context, call),
    },
    {
      ...common,
      method: "GET",
      path: `${ONE}/versions`,
      operationId: "listWorkflowVersions",
      summary: "List workflow versions",
      query: PAGE_QUERY,
      responses: { 200: { description: "A page of versions, newest first", schema: "WorkflowVersionList" } },
      errors: ["workflow_not_found", "unsupported_value"],
      handle: (call) => versions(context, call),
    },
    {
      ...common,
      method: "PUT",
      path: ONE,
      operationId: "updateWorkflow",
      summary: "Update workflow",
      description:
        "Absent members keep their value. A definition becomes the next version; earlier versions remain available.",
      request: { schema: "WorkflowUpdateRequest" },
      responses: { 200: { description: "The updated workflow", ...written } },
      errors: errorsOf(["reads_json", "keeps_files"], "invalid_workflow_definition", "workflow_not_found", "conflict"),
      handle: (call) => update(context, call),
    },
    {
      ...common,
      method: "DELETE",
      path: ONE,
      operationId: "deleteWorkflow",
      summary: "Delete workflow",
      responses: { 200: { description: "The confirmation", schema: "WorkflowDeleted" } },
      errors: ["workflow_not_found"],
      handle: (call) => remove(context, call),
    },
  ];
}

async function create(context: IngressContext, call: RouteCall): Promise<Response> {
  checkWritesDefinitions(call.caller);
  const read = await readBody(context, call);
  const body: WorkflowCreateRequest = parse("WorkflowCreateRequest", read.value);
  const reader = readerOf(call.caller);
  checkTexts(body);
  const { name, description = "", sharingScope = "private", sharePermission = "read" } = body;
  const definition = JSON.stringify(await checkDefinition(context, call.caller, read, body.definition));
  const id = newId();
  const written = { name, description, sharingScope, sharePermission, definition };
  const { storageBytesMax } = context.config;
  const verdict = await insertWorkflow(context.database, reader, id, written, actorOf(call), storageBytesMax);
  if (verdict === "full") throw storageFull(storageBytesMax);
  if (verdict === "crowded") {
    const message = `A workspace has at most ${WORKFLOWS_PER_WORKSPACE_MAX} workflows; delete one first.`;
    throw new ApiError("conflict", message);
  }
  return json({ id, version: 1, name } satisfies WorkflowWritten, {}, 201);
}

async function list(context: IngressContext, call: RouteCall): Promise<Response> {
  const page = pageOf(call.request);
  const { caller } = call;
  const { rows, total } =
    caller.tools === undefined
      ? await listWorkflows(context.database, readerOf(caller), page)
      : await listUsable(context, caller, page);
  return json({ items: rows.map(present), total, ...page } satisfies WorkflowList);
}

/**
 * Lists the workflows that the key's list of tools contains. All workflows are read and then filtered, because a page of all workflows
 * might contain none of them.
 */
async function listUsable(
  { database }: IngressContext,
  caller: Caller,
  { limit, offset }: ReturnType<typeof pageOf>,
): Promise<{ readonly rows: readonly WorkflowRow[]; readonly total: number }> {
  const all = await listWorkflows(database, readerOf(caller), { limit: WORKFLOWS_PER_WORKSPACE_MAX, offset: 0 });
  const usable = usableTools(caller, all.rows);
  return { rows: usable.slice(offset, offset + limit), total: usable.length };
}

async function get(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await requireVisibleWorkflow(context, call);
  const asked = new URL(call.request.url).searchParams.get("version");
  const version = wholeNumber("version", asked, row.latest_version, 1);
  const definition = version > row.latest_version ? undefined : await findDefinition(context.database, row.id, version);
  if (definition === undefined) throw noWorkflow(`The workflow has no version ${version}.`);
  return json({ ...present(row), version, definition: definition as WorkflowDefinition } satisfies Workflow);
}

async function versions(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await requireVisibleWorkflow(context, call);
  const page = pageOf(call.request);
  const rows = await listVersions(context.database, row.id, page);
  const items = rows.map(({ version, created_at, created_by }) => ({
    version,
    createdAt: created_at.toISOString(),
    createdByUserId: created_by,
  }));
  return json({ items, total: row.latest_version, ...page } satisfies WorkflowVersionList);
}

async function update(context: IngressContext, call: RouteCall): Promise<Response> {
  const { caller } = call;
  const row = await requireVisibleWorkflow(context, call);
  const { id } = row;
  checkWritesDefinitions(caller);
  checkEditor(row, caller);
  const read = await readBody(context, call);
  const body: WorkflowUpdateRequest = parse("WorkflowUpdateRequest", read.value);
  checkTexts(body);
  const { name = null, description = null, sharingScope = null, sharePermission = null } = body;
  if (sharingScope !== null || sharePermission !== null) checkKeeper(row, caller, "share");
  const definition =
    body.definition === undefined ? null : await checkNext(context, caller, row, read, body.definition);
  const change = { name, description, sharingScope, sharePermission, definition };
  const { storageBytesMax } = context.config;
  const changed = await updateWorkflow(context.database, readerOf(caller), id, change, actorOf(call), storageBytesMax);
  if (changed === "gone") throw noWorkflow();
  if (changed === "full") throw storageFull(storageBytesMax);
  if (changed === "crowded") {
    const message = `A workflow has at most ${WORKFLOW_VERSIONS_MAX} versions; store the definition as a new one.`;
    throw new ApiError("conflict", message);
  }
  return json({ id, version: changed.latest_version, name: changed.name } satisfies WorkflowWritten);
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await requireVisibleWorkflow(context, call);
  checkWritesDefinitions(call.caller);
  checkKeeper(row, call.caller, "delete");
  const isGone = await deleteWorkflow(context.database, readerOf(call.caller), row.id, actorOf(call));
  if (!isGone) throw noWorkflow();
  return json({ id: row.id, deleted: true } satisfies WorkflowDeleted);
}

/** Rejects texts with malformed Unicode, which Postgres would store differently. @throws ApiError `unsupported_value` */
function checkTexts(texts: Pick<WorkflowUpdateRequest, "name" | "description">): void {
  for (const param of ["name", "description"] as const) {
    if (texts[param]?.isWellFormed() !== false) continue;
    throw new ApiError("unsupported_value", `Expected ${param} to be valid Unicode, got an unpaired surrogate.`, {
      param,
    });
  }
}

/** Checks the next version of a workflow and returns it as JSON. @throws ApiError `invalid_workflow_definition` */
async function checkNext(
  context: IngressContext,
  caller: Caller,
  row: WorkflowRow,
  read: ReadBody,
  value: unknown,
): Promise<string> {
  const earlier = (await findDefinition(context.database, row.id, row.latest_version)) as WorkflowDefinition;
  return JSON.stringify(await checkDefinition(context, caller, read, value, { id: row.id, earlier }));
}

function storageFull(storageBytesMax: number): ApiError {
  const message = `The definition would exceed the workspace's storage limit of ${storageBytesMax} bytes; delete files or workflows first.`;
  return new ApiError("storage_limit_exceeded", message);
}

function present(row: WorkflowRow): WorkflowSummary {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    description: row.description,
    latestVersion: row.latest_version,
    isActive: true,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    deletedAt: null,
    createdByUserId: row.created_by,
    sharingScope: row.sharing_scope,
    sharePermission: row.share_permission,
  };
}
