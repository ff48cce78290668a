/** GET /v1/usage and GET /v1/credits: usage and spend of the requesting key, and the credits that it can still spend. */
import type { KeyCredits, KeyUsage } from "#schemas/generated/types.ts";
import { KEY_MODELS_MAX, readKeyCredits, readKeyUsage, type SpendSum } from "#shared/database/key-spend.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { readSpendLimits, type SpendLimitState } from "#shared/ledger/spend-limits.ts";

import { json } from "../core/answers.ts";
import type { IngressContext } from "../context.ts";
import type { RouteCall } from "../core/call.ts";
import type { KeyRoute } from "../core/route.ts";
import { byPeriod, presentPeriods } from "./settings/limit-periods.ts";

export function keySpend(context: IngressContext): readonly KeyRoute[] {
  const common = { method: "GET", tags: ["Usage and billing"], auth: "key", errors: [] } as const;
  return [
    {
      ...common,
      path: "/v1/usage",
      operationId: "getKeyUsage",
      summary: "Retrieve usage of key",
      description:
        "Returns calls, credits and tokens of the requesting key on the current day, in the current month and in total. " +
        `It also lists the month's usage of at most ${KEY_MODELS_MAX} models. Running calls are not included. Every role may call it.`,
      responses: { 200: { description: "The usage of the key", schema: "KeyUsage" } },
      handle: (call) => usage(context, call),
    },
    {
      ...common,
      path: "/v1/credits",
      operationId: "getKeyCredits",
      summary: "Retrieve credits of key",
      description:
        "Returns the balance of the workspace, the credits that the requesting key has used, and its spend limits. The " +
        "limits of its member apply too. Every role may call it.",
      responses: { 200: { description: "The credits of the key", schema: "KeyCredits" } },
      handle: (call) => credits(context, call),
    },
  ];
}

async function usage({ database }: IngressContext, { caller }: RouteCall): Promise<Response> {
  const found = await readKeyUsage(database, caller.workspaceId, caller.keyId);
  const { dayStart, monthStart, today, month, total, models } = found;
  return json({
    object: "key.usage",
    key_id: caller.keyId,
    today: { start_time: dayStart.toISOString(), ...present(today) },
    month: { start_time: monthStart.toISOString(), ...present(month) },
    total: present(total),
    models: models.slice(0, KEY_MODELS_MAX).map((one) => ({ model: one.model, ...present(one) })),
    has_more_models: models.length > KEY_MODELS_MAX,
  } satisfies KeyUsage);
}

function present({ calls, failed, settled, tokens }: SpendSum): KeyUsage["total"] {
  return { calls: Number(calls), failed: Number(failed), credits: creditsNumber(settled), tokens: Number(tokens) };
}

async function credits({ database }: IngressContext, { caller }: RouteCall): Promise<Response> {
  const { workspaceId, keyId } = caller;
  const found = await readKeyCredits(database, workspaceId, keyId);
  if (found === undefined)
    throw new ApiError("invalid_api_key", "The API key is unknown, revoked or expired; use an active key.");
  const { amount, held, settled, limit_id: limitId, member_id: memberId } = found;
  const limits = await readSpendLimits(database, workspaceId, [limitId, memberId]);
  return json({
    object: "key.credits",
    key_id: keyId,
    balance: {
      credits: creditsNumber(amount),
      held: creditsNumber(held),
      available: creditsNumber(amount - held),
    },
    credits_used: creditsNumber(settled),
    limits: { key: presentLimits(limits.get(limitId)), member: presentLimits(limits.get(memberId)) },
  } satisfies KeyCredits);
}

function presentLimits(state: SpendLimitState | undefined): KeyCredits["limits"]["key"] {
  if (state === undefined) return null;
  const periods = presentPeriods(state);
  return byPeriod((window): KeyCreditsLimit => {
    const [{ capNano }, usage] = [state.windows[window], periods[window]];
    return capNano === null || usage === null ? null : { credits: creditsNumber(capNano), ...usage };
  });
}

type KeyCreditsLimit = NonNullable<KeyCredits["limits"]["key"]>["day"];
