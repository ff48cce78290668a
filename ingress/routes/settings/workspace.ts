/** /workspaces/{workspaceId}: reads and changes the workspace, and lists the presets that its keys can have. */
import type { PresetList, Workspace } from "#schemas/generated/types.ts";
import type { Preset } from "#shared/access/authenticate.ts";
import { storedBytes } from "#shared/database/files.ts";
import { bodyBytes } from "#shared/database/kept-bodies.ts";
import { readKeyFacts } from "#shared/database/key-facts.ts";
import { NO_BODIES } from "#shared/base/body-setting.ts";
import { KEPT_BYTES_WORKSPACE_MAX } from "#shared/kept-bodies/store.ts";
import {
  BOOTSTRAP_WORKSPACE,
  findBodies,
  findWorkspaceById,
  renameWorkspace,
  setBodies,
  setWorkspaceTags,
} from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isTagName, RESERVED_LABELS } from "#shared/calls/labels.ts";
import { isUuid } from "#shared/base/ids.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import type { RouteCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { KeyRoute } from "../../core/route.ts";
import { bodiesOf, presentBodies } from "./body-setting.ts";
import { parsedBody, plainName, workspaceNameRefused } from "./body.ts";

const ONE = "/workspaces/{workspaceId}";

export function workspace(context: IngressContext): readonly KeyRoute[] {
  const common = { tags: ["Workspace settings"], auth: "key" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getWorkspace",
      summary: "Retrieve workspace",
      responses: { 200: { description: "The workspace", schema: "Workspace" } },
      errors: ["not_found"],
      authorize: allow(...ANY_ROLE),
      handle: async (call) => json(await read(context, call)),
    },
    {
      ...common,
      method: "PATCH",
      path: ONE,
      operationId: "updateWorkspace",
      summary: "Update workspace",
      description: "Only owners may change `bodies`. The change takes effect within a second.",
      request: { schema: "WorkspaceUpdateRequest" },
      responses: { 200: { description: "The updated workspace", schema: "Workspace" } },
      errors: errorsOf(["reads_json"], "not_found", "permission_denied", "conflict"),
      authorize: allow("owner", "admin"),
      handle: (call) => change(context, call),
    },
    {
      ...common,
      method: "GET",
      path: `${ONE}/presets`,
      operationId: "listPresets",
      summary: "List quota presets",
      responses: {
        200: {
          description: "The presets, with the information which of them the key may assign",
          schema: "PresetList",
        },
      },
      errors: ["not_found"],
      authorize: allow(...ANY_ROLE),
      handle: (call) => presets(context, call),
    },
  ];
}

async function read(context: IngressContext, call: RouteCall): Promise<Workspace> {
  const { workspaceId, keyId, preset } = call.caller;
  const [row, facts, used, bodies, keptBytes] = await Promise.all([
    findWorkspaceById(context.database, workspaceId),
    readKeyFacts(context.database, workspaceId, keyId),
    storedBytes(context.database, workspaceId),
    findBodies(context.database, workspaceId),
    bodyBytes(context.database, workspaceId),
  ]);
  if (!row || !facts) throw new ApiError("not_found", "There is no such workspace.");
  return {
    object: "workspace",
    id: row.id,
    name: row.name,
    created_at: row.created_at.toISOString(),
    tags: [...row.tags],
    window: { seconds: 60, limit: preset.requests_per_minute, used: facts.window_calls },
    storage: { used_bytes: Number(used), limit_bytes: context.config.storageBytesMax },
    calls_stopped_until: row.stopped_until?.toISOString() ?? null,
    bodies: presentBodies(bodies ?? NO_BODIES),
    kept_bodies: { used_bytes: Number(keptBytes), limit_bytes: KEPT_BYTES_WORKSPACE_MAX },
  };
}

async function change(context: IngressContext, call: RouteCall): Promise<Response> {
  const body = await parsedBody(call, "WorkspaceUpdateRequest");
  const { tags } = body;
  if (body.name === undefined && body.bodies === undefined && !tags) {
    throw new ApiError("missing_required_parameter", "Missing name, tags or bodies.", { param: "name" });
  }
  if (tags) checkTags(tags);
  const { caller } = call;
  const bodies = body.bodies === undefined ? undefined : bodiesOf(context, caller, body.bodies);
  if (body.name !== undefined) await rename(context, call, plainName(body.name));
  if (bodies) await setBodies(context.database, caller.workspaceId, { bodies, actor: actorOf(call) });
  if (tags) await setWorkspaceTags(context.database, caller.workspaceId, { tags, actor: actorOf(call) });
  return json(await read(context, call));
}

/** Checks the names of tags. @throws ApiError `unsupported_value` */
function checkTags(tags: readonly string[]): void {
  const wrong = tags.findIndex((name, at) => !isTagName(name) || tags.indexOf(name) < at);
  if (wrong < 0) return;
  const expected = `a letter, then up to 63 letters, digits, - and _, each name once, and neither ${RESERVED_LABELS.join(" nor ")}`;
  throw new ApiError("unsupported_value", `Expected tags to be names of ${expected}.`, { param: `tags[${wrong}]` });
}

async function rename(context: IngressContext, call: RouteCall, name: string): Promise<void> {
  if (isUuid(name.toLowerCase())) {
    throw new ApiError("unsupported_value", "Expected name not to have the form of a UUID.", { param: "name" });
  }
  const { workspaceId, workspaceName } = call.caller;
  // The installation finds its own workspaces by these names.
  const isReserved = name !== workspaceName && [BOOTSTRAP_WORKSPACE, context.config.adminWorkspace].includes(name);
  if (isReserved) throw workspaceNameRefused("taken");
  const result = await renameWorkspace(context.database, workspaceId, { name, actor: actorOf(call) });
  if (result === "taken" || result === "often") throw workspaceNameRefused(result);
}

function presets(context: IngressContext, call: RouteCall): Response {
  const own = call.caller.preset;
  const data = [...context.catalogue.current().presets.values()].map((preset) => ({
    name: preset.name,
    requests_per_minute: preset.requests_per_minute,
    daily_tokens: preset.daily_tokens,
    can_be_given: isWithin(preset, own),
  }));
  return json({ object: "list", data } satisfies PresetList);
}

/** True if a preset grants no more than another preset. This check prevents a key from widening the limits that the operator set. */
export function isWithin(preset: Preset, own: Preset): boolean {
  const within = (limit: number | null, most: number | null): boolean =>
    most === null || (limit !== null && limit <= most);
  return within(preset.requests_per_minute, own.requests_per_minute) && within(preset.daily_tokens, own.daily_tokens);
}
