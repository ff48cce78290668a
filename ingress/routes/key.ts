/** GET /v1/key: returns workspace and member of the calling key, with its remaining balance and limits. */
import type { Key } from "#schemas/generated/types.ts";
import { withOwnLimits } from "#shared/access/limits.ts";
import { readKeyFacts } from "#shared/database/key-facts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber } from "#shared/base/money.ts";

import { json } from "../core/answers.ts";
import type { IngressContext } from "../context.ts";
import type { RouteCall } from "../core/call.ts";
import type { KeyRoute } from "../core/route.ts";
import { presentHeld } from "./settings/limits.ts";

export function key(context: IngressContext): KeyRoute {
  return {
    method: "GET",
    path: "/v1/key",
    operationId: "getKey",
    summary: "Retrieve key",
    description:
      "Returns workspace, role, preset, limits, balance, rate limit window and daily tokens of the requesting key, and " +
      "the limits of its member. Every role may call it.",
    tags: ["Workspace settings"],
    auth: "key",
    responses: { 200: { description: "The created key with its secret", schema: "Key" } },
    errors: [],
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  const { caller } = call;
  const { preset } = caller;
  const facts = await readKeyFacts(context.database, caller.workspaceId, caller.keyId);
  if (facts === undefined)
    throw new ApiError("invalid_api_key", "The API key is unknown, revoked or expired; use an active key.");
  const { access_lists, limit_id, member_access_lists } = facts;
  const { workspaceId, memberId } = caller;
  const key = await withOwnLimits(context.database, workspaceId, { id: caller.keyId, access_lists, limit_id });
  const member = { id: memberId, access_lists: member_access_lists };
  return json({
    object: "key",
    id: caller.keyId,
    name: facts.key_name,
    workspace: { id: caller.workspaceId, name: facts.workspace_name },
    role: caller.role,
    preset: preset.name,
    tools: caller.tools ? [...caller.tools] : null,
    ...presentHeld(key),
    member: { id: memberId, ...presentHeld(await withOwnLimits(context.database, workspaceId, member)) },
    balance: {
      credits: creditsNumber(facts.amount),
      held: creditsNumber(facts.held),
      available: creditsNumber(facts.amount - facts.held),
    },
    window: { seconds: 60, ...usedOf(preset.requests_per_minute, facts.window_calls) },
    daily_tokens: usedOf(preset.daily_tokens, Number(facts.day_tokens)),
  } satisfies Key);
}

function usedOf(limit: number | null, used: number): { limit: number | null; used: number; left: number | null } {
  return { limit, used, left: limit === null ? null : Math.max(0, limit - used) };
}
