/** Routes with which operators manage API keys, and list the presets that keys can have. */
import type { OperatorApiKey, OperatorPresetList } from "#schemas/generated/types.ts";
import { type Held, withLimits, withOwnLimits } from "#shared/access/limits.ts";
import {
  findKey,
  findKeyOwner,
  type KeySummary,
  lockKey,
  pageKeys,
  revokeKey,
  updateKey,
} from "#shared/database/api-keys.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/base/errors.ts";
import { repeatSpendChange } from "#shared/ledger/spend-limits.ts";
import { isSameRequest } from "#shared/json/same-request.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { OperatorCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { parsedText, pathId } from "../settings/body.ts";
import { limitsAsked, presentHeld, storeLimits } from "../settings/limits.ts";
import { LIST_QUERY, pageAnswer, pageOf } from "../../core/page.ts";
import { workspaceOf } from "../settings/within.ts";
import { toolsAsked } from "../settings/api-keys.ts";
import { checkPreset, iso, READ, WRITE } from "./common.ts";

export function keys(context: IngressContext): readonly OperatorRoute[] {
  const { database } = context;
  return [
    {
      ...READ,
      method: "GET",
      path: "/operator/workspaces/{id}/api-keys",
      operationId: "listOperatorApiKeys",
      summary: "List API keys of workspace",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of keys, including revoked ones", schema: "OperatorApiKeyList" } },
      errors: ["not_found", "unsupported_value"],
      handle: (call) =>
        pageAnswer(
          pageOf(call),
          async (page) => {
            const { id } = await workspaceOf(database, call);
            return withLimits(database, id, await pageKeys(database, id, { ...page, memberId: null }));
          },
          presentKey,
        ),
    },
    {
      ...WRITE,
      method: "PATCH",
      path: "/operator/api-keys/{id}",
      operationId: "updateOperatorApiKey",
      summary: "Update API key of workspace",
      description:
        "Changes preset, tools or limits of a key, or revokes it. The change takes effect within a second. `limits` " +
        "replaces all limits of the key; null removes them.",
      request: { schema: "OperatorApiKeyUpdateRequest" },
      responses: { 200: { description: "The updated key", schema: "OperatorApiKey" } },
      errors: errorsOf(["reads_json"], "not_found", "conflict", "model_not_found"),
      handle: (call) => update(context, call),
    },
    {
      ...READ,
      method: "GET",
      path: "/operator/presets",
      operationId: "listOperatorPresets",
      summary: "List quota presets of catalogue",
      responses: { 200: { description: "The presets", schema: "OperatorPresetList" } },
      errors: [],
      handle: () => json(presets(context)),
    },
  ];
}

async function update({ catalogue, database }: IngressContext, call: OperatorCall): Promise<Response> {
  const { body, text } = await parsedText(call, "OperatorApiKeyUpdateRequest");
  const { preset, is_revoked: isRevoked, tools: asked } = body;
  const limits = body.limits === undefined ? undefined : limitsAsked(body.limits, text, catalogue.current());
  if (preset !== undefined) checkPreset(catalogue.current().presets, preset);
  const tools = asked === undefined ? undefined : toolsAsked(asked);
  const id = pathId(call, "id", noKey);
  const actor = actorOf(call);
  const change = async (tx: Queryable): Promise<LimitedKey | undefined> => {
    const { workspace_id: workspaceId } = (await findKeyOwner(tx, id)) ?? {};
    if (workspaceId === undefined) throw noKey();
    const changed = { ...(preset === undefined ? {} : { preset }), ...(tools === undefined ? {} : { tools }) };
    if (Object.keys(changed).length > 0 && !(await updateKey(tx, workspaceId, { id, ...changed, actor }))) {
      // The key has the requested state already, or is revoked, perhaps just now.
      const now = await findKey(tx, workspaceId, id);
      if (now && now.revoked_at !== null && !isSameRequest(now, changed)) throw isOver();
    }
    if (isRevoked === true) await revokeKey(tx, workspaceId, { id, actor });
    const row = await lockKey(tx, workspaceId, id);
    if (row === undefined) return undefined;
    const current = await withOwnLimits(tx, workspaceId, row);
    if (limits === undefined || Bun.deepEquals(current.limits, limits, true)) return current;
    if (row.revoked_at !== null) throw isOver();
    await storeLimits(tx, workspaceId, { kind: "key", row, before: current.limits, after: limits, actor });
    const after = await findKey(tx, workspaceId, id);
    return after && withOwnLimits(tx, workspaceId, after);
  };
  const key = await repeatSpendChange(() => database.transaction(change));
  if (key === undefined) throw noKey();
  return json(presentKey(key));
}

/** Key with its limits. */
type LimitedKey = KeySummary & Held;

function isOver(): ApiError {
  return new ApiError("conflict", "The key is revoked.");
}

function presets(context: IngressContext): OperatorPresetList {
  const all = [...context.catalogue.current().presets.values()];
  const data = all.map(({ name, requests_per_minute, daily_tokens }) => ({ name, requests_per_minute, daily_tokens }));
  return { object: "list", data };
}

export function presentKey(row: LimitedKey): OperatorApiKey {
  return {
    object: "api_key",
    id: row.id,
    name: row.name,
    hint: row.hint,
    member: { id: row.member_id, name: row.member, role: row.role },
    preset: row.preset,
    tools: row.tools && [...row.tools],
    ...presentHeld(row),
    created_at: row.created_at.toISOString(),
    last_used_at: iso(row.last_used_at),
    expires_at: iso(row.expires_at),
    revoked_at: iso(row.revoked_at),
  };
}

function noKey(): ApiError {
  return new ApiError("not_found", "There is no such key.");
}
