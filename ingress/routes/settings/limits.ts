/** Reads, compares and presents the `limits` of keys and members. */
import { isIP } from "node:net";

import type { Limits, LimitUsage } from "#schemas/generated/types.ts";
import { firstWider } from "#shared/access/access-lists.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { ENDPOINT_NAMES } from "#shared/access/endpoints.ts";
import { normaliseAddress } from "#shared/access/ip-net.ts";
import {
  type Held,
  type LimitedRow,
  type Limits as HeldLimits,
  NO_LIMITS,
  replaceLimits,
  withOwnLimits,
} from "#shared/access/limits.ts";
import { SPEND_WINDOWS } from "#shared/ledger/spend-limits.ts";
import type { SpendAmounts, SpendTerms } from "#shared/ledger/spend-terms.ts";
import { ApiError } from "#shared/base/errors.ts";
import { didYouMean } from "#shared/base/near-names.ts";
import { noSuchModel } from "#shared/calls/kinds/models.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { findKey } from "#shared/database/api-keys.ts";
import { findMemberById } from "#shared/database/members.ts";
import type { Actor } from "#shared/database/audit-log.ts";
import type { Queryable } from "#shared/database/client.ts";

import { timeOf } from "../../core/page.ts";
import { exactJson } from "./body.ts";
import { type AmountDigits, amountsOf, presentAmounts, presentPeriods, warningsOf } from "./limit-periods.ts";

/**
 * Reads the limits in a request.
 * @param asked `limits` of the parsed body
 * @param text original text of the body, for the digits of amounts
 * @throws ApiError `unsupported_value`, `model_not_found`
 */
export function limitsAsked(asked: Limits, text: string, catalogue: Catalogue, now = Date.now()): HeldLimits {
  if (asked === null) return NO_LIMITS;
  const digits = (exactJson(text) as { limits: Digits }).limits;
  const lists = {
    ...listOf("models", asked.models, (entry, param) => modelPattern(entry, param, catalogue)),
    ...listOf("endpoints", asked.endpoints, endpointName),
    ...listOf("ips", asked.ips, addressRange),
  };
  return { lists: Object.keys(lists).length === 0 ? null : lists, spend: spendOf(asked, digits, now) };
}

interface Digits {
  readonly credits?: AmountDigits;
  readonly raise?: { readonly credits?: AmountDigits } | null;
}

function listOf<Name extends string>(
  name: Name,
  entries: readonly string[] | null | undefined,
  read: (entry: string, param: string) => string,
): { readonly [N in Name]?: readonly string[] } {
  if (entries === null || entries === undefined) return {};
  const param = `limits.${name}`;
  if (entries.length === 0) {
    const message = `Expected ${param} to have at least one entry: omit it to allow all ${name}, or revoke the key or disable the member to allow none.`;
    throw unsupported(param, message);
  }
  const list = [...new Set(entries.map((entry, at) => read(entry, `${param}[${at}]`)))];
  return { [name]: list } as unknown as { readonly [N in Name]?: readonly string[] };
}

const MODEL_PATTERN = /^[\w.:/@*+-]+$/;

function modelPattern(entry: string, param: string, { models, unroutable }: Catalogue): string {
  if (!MODEL_PATTERN.test(entry)) {
    throw unsupported(param, `Expected ${param} to be the name of a model, or a pattern such as gpt-4o*.`);
  }
  // A pattern may precede the first model that it matches; a name is usually a mistake.
  if (entry.includes("*") || models.has(entry) || unroutable?.has(entry)) return entry;
  throw noSuchModel(models, entry, param);
}

function endpointName(entry: string, param: string): string {
  if ((ENDPOINT_NAMES as readonly string[]).includes(entry)) return entry;
  const near = didYouMean(ENDPOINT_NAMES, entry);
  throw unsupported(param, `Expected ${param} to be one of ${ENDPOINT_NAMES.join(", ")}.${near}`);
}

function addressRange(entry: string, param: string): string {
  const [text = "", prefix, ...rest] = entry.split("/");
  const address = normaliseAddress(text);
  const version = address.includes("%") ? 0 : isIP(address);
  const bits = version === 6 ? 128 : 32;
  const isRange = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  if (version === 0 || !isRange || rest.length > 0) {
    throw unsupported(param, `Expected ${param} to be an IP address or a range such as 203.0.113.0/24.`);
  }
  return prefix === undefined ? address : `${address}/${Number(prefix)}`;
}

function spendOf(asked: NonNullable<Limits>, digits: Digits, now: number): SpendTerms | null {
  const credits = amountsOf(digits.credits, "limits.credits");
  const warnAt = warningsOf(asked.warn_at);
  if (Object.keys(credits).length === 0) {
    for (const name of ["warn_at", "raise"] as const) {
      if (asked[name] == null) continue;
      throw unsupported(`limits.${name}`, `limits.${name} needs a limit in limits.credits; add one, or remove it.`);
    }
    return null;
  }
  return { credits, warnAt, raise: raiseOf(asked, digits, credits, now) };
}

function raiseOf(
  { raise }: NonNullable<Limits>,
  digits: Digits,
  credits: SpendAmounts,
  now: number,
): SpendTerms["raise"] {
  if (raise === null || raise === undefined) return null;
  const place = "limits.raise";
  const until = timeOf(raise.until);
  if (until === undefined || until.getTime() <= now) {
    throw unsupported(`${place}.until`, `Expected ${place}.until to be a time in the future.`);
  }
  const raised = amountsOf(digits.raise?.credits, `${place}.credits`);
  if (Object.keys(raised).length === 0) {
    throw unsupported(`${place}.credits`, `Expected ${place}.credits to raise at least one limit.`);
  }
  for (const window of SPEND_WINDOWS) {
    const [to, from] = [raised[window], credits[window]];
    if (to === undefined || (from !== undefined && to > from)) continue;
    const param = `${place}.credits.${window}`;
    throw unsupported(param, `Expected ${param} to be higher than limits.credits.${window}, which it raises.`);
  }
  return { credits: raised, until };
}

function unsupported(param: string, message: string): ApiError {
  return new ApiError("unsupported_value", message, { param });
}

// Presentation.

/** Returns the members of a key or member that describe its limits. */
export function presentHeld({ limits, spend }: Held): { limits: Limits; limit_usage: LimitUsage } {
  return { limits: presentLimits(limits), limit_usage: limits.spend && spend ? presentPeriods(spend) : null };
}

/** Returns limits in the form in which a request can send them again; null if there are none. */
function presentLimits({ lists, spend }: HeldLimits): Limits {
  if (lists === null && spend === null) return null;
  return {
    credits: spend && presentAmounts(spend.credits),
    models: copyOf(lists?.models),
    endpoints: copyOf(lists?.endpoints),
    ips: copyOf(lists?.ips),
    warn_at: spend && [...spend.warnAt],
    raise: spend?.raise
      ? { credits: presentAmounts(spend.raise.credits), until: spend.raise.until.toISOString() }
      : null,
  };
}

const copyOf = (list: readonly string[] | undefined): string[] | null => (list === undefined ? null : [...list]);

/** Replaces limits in a transaction that `repeatSpendChange` executes, as its last statement. */
export function storeLimits(
  tx: Queryable,
  workspaceId: string,
  change: {
    readonly kind: "key" | "member";
    readonly row: LimitedRow;
    readonly before: HeldLimits;
    readonly after: HeldLimits;
    readonly actor: Actor;
  },
): Promise<void> {
  const { before, after } = change;
  const audit = { before: { limits: presentLimits(before) }, after: { limits: presentLimits(after) } };
  return replaceLimits(tx, workspaceId, { ...change, audit });
}

// Permission to widen limits.

/** Returns the parameter of the first limit that allows more than the current limits; undefined if none does. */
function widerParam(next: HeldLimits, current: HeldLimits): string | undefined {
  const list = firstWider(next.lists, current.lists);
  if (list !== undefined) return `limits.${list}`;
  const [own, limit] = [next.spend, current.spend];
  if (limit === null) return undefined;
  for (const window of SPEND_WINDOWS) {
    const [to, from] = [own?.credits[window], limit.credits[window]];
    if (from !== undefined && (to === undefined || to > from)) return `limits.credits.${window}`;
  }
  return isRaiseWithin(own?.raise ?? null, limit) ? undefined : "limits.raise";
}

/** True if a raise allows no window more than the current limits do, with their own raise while it lasts. */
function isRaiseWithin(raise: SpendTerms["raise"], { credits, raise: current }: SpendTerms): boolean {
  if (raise === null) return true;
  return SPEND_WINDOWS.every((window) => {
    const to = raise.credits[window];
    if (to === undefined || to <= (credits[window] ?? to)) return true;
    return current !== null && raise.until <= current.until && to <= (current.credits[window] ?? -1n);
  });
}

/** Returns the limits of the calling key, without the limits of its member. */
export async function limitsOfCaller(target: Queryable, { workspaceId, keyId }: Caller): Promise<HeldLimits> {
  const row = await findKey(target, workspaceId, keyId);
  return row === undefined ? NO_LIMITS : (await withOwnLimits(target, workspaceId, row)).limits;
}

/** Access that a caller is about to grant. */
interface Grant {
  /** Member whose limits apply to the granted access. Undefined if the access is granted to a member itself. */
  readonly memberId?: string;
  readonly limits: HeldLimits;
  /** Parameter that grants the access; null if there is none. */
  readonly param: string | null;
}

/**
 * Checks that the caller may replace limits. Developers may only tighten limits that are set. Callers with limits may only tighten limits,
 * or set limits within their own.
 * @throws ApiError `permission_denied`
 */
export async function checkMayReplace(
  target: Queryable,
  caller: Caller,
  { current, next, memberId }: { readonly current: HeldLimits; readonly next: HeldLimits; readonly memberId?: string },
): Promise<void> {
  const param = widerParam(next, current);
  if (param === undefined) return;
  if (caller.role === "developer") {
    throw new ApiError("permission_denied", "A developer can only tighten the limits of a key.", { param });
  }
  await checkMayGrant(target, caller, { ...(memberId === undefined ? {} : { memberId }), limits: next, param });
}

/**
 * Checks that the caller cannot spend more with the granted access than with its own key. The limits of the caller's member apply to all
 * keys of that member, so that they need not be repeated there.
 * @throws ApiError `permission_denied`
 */
export async function checkMayGrant(target: Queryable, caller: Caller, grant: Grant): Promise<void> {
  checkWithin("key", await limitsOfCaller(target, caller), grant);
  if (grant.memberId === caller.memberId) return;
  const member = await findMemberById(target, caller.workspaceId, caller.memberId);
  if (member === undefined) return;
  checkWithin("member", (await withOwnLimits(target, caller.workspaceId, member)).limits, grant);
}

/** Checks a grant against the limits of a key or member. With a credit limit it may grant nothing, because other keys have spends of their own. */
function checkWithin(kind: "key" | "member", own: HeldLimits, { limits, param }: Grant): void {
  if (own.spend !== null) {
    const message = {
      key: "A key with a credit limit cannot create keys or members, or widen limits; use a key without one.",
      member: "A member with a credit limit cannot create members or keys of other members, or widen limits.",
    }[kind];
    throw new ApiError("permission_denied", message, { param });
  }
  const wider = widerParam(limits, own);
  if (wider === undefined) return;
  const message = `A ${kind} with limits cannot grant more than its own limits.`;
  throw new ApiError("permission_denied", message, { param: wider });
}
