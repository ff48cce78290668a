/** /workspaces/{workspaceId}/end-users and …/tags: spend limits of the calls with the same `user`, or with the same value of a tag. */
import type {
  EndUserLimits,
  EndUserLimitsDeleted,
  EndUserLimitsList,
  LabelLimitsRequest,
  TagLimits,
  TagLimitsDeleted,
  TagLimitsList,
} from "#schemas/generated/types.ts";
import { isLabelValue, isTagName, LABEL_CHARS_MAX, labelIdOf, USER_LABEL } from "#shared/calls/labels.ts";
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import {
  countLabelLimits,
  findLabelLimit,
  type Label,
  LABEL_LIMITS_MAX,
  type LabelLimit,
  type LabelSubject,
  pageLabelLimits,
} from "#shared/database/label-limits.ts";
import type { Database, Queryable } from "#shared/database/client.ts";
import { findWorkspaceById, withWorkspaceLock } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/base/errors.ts";
import {
  readSpendLimits,
  removeSpendLimit,
  repeatSpendChange,
  setSpendLimit,
  SPEND_WINDOWS,
  type SpendLimitState,
} from "#shared/ledger/spend-limits.ts";
import type { SpendAmounts } from "#shared/ledger/spend-terms.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import { allow } from "../../core/roles.ts";
import type { RequestFacts, RouteCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import { LIST_QUERY, limitIn, textIn, unsupported } from "../../core/page.ts";
import type { KeyRoute, Route } from "../../core/route.ts";
import { exactJson, parsedText } from "./body.ts";
import { type AmountDigits, amountsOf, byPeriod, presentAmounts, presentPeriods, warningsOf } from "./limit-periods.ts";

/** Labels of one kind: their routes, and how paths, cursors and responses name a label. */
interface LabelKind {
  readonly kind: LabelSubject;
  readonly noun: string;
  /** Part of operation ids and schema names. */
  readonly prefix: "EndUser" | "Tag";
  readonly path: string;
  /** Path of one label below `path`. */
  readonly one: string;
  /** Path parameter with the value of the label. */
  readonly valueParam: "user" | "value";
  readonly listDescription: string;
  readonly listQuery: NonNullable<Route["query"]>;
  readonly counted: string;
  labelIn(call: RequestFacts): Label;
  /** Returns the name of a label in cursors and in the audit log. */
  nameOf(label: Label): string;
  /** Returns the label of a cursor. @throws ApiError `unsupported_value` */
  labelOf(name: string): Label;
  membersOf(label: Label): { readonly user: string } | { readonly tag: string; readonly value: string };
}

const END_USERS: LabelKind = {
  kind: "end_user",
  noun: "end user",
  prefix: "EndUser",
  path: "/workspaces/{workspaceId}/end-users",
  one: "{user}",
  valueParam: "user",
  listDescription: "Lists the end users that have a spend limit, sorted by `user`. `after` is a `user`.",
  listQuery: LIST_QUERY,
  counted: "with this `user`",
  labelIn: ({ params }) => ({ name: USER_LABEL, value: params["user"] ?? "" }),
  nameOf: ({ value }) => value,
  labelOf: (value) => ({ name: USER_LABEL, value }),
  membersOf: ({ value }) => ({ user: value }),
};

const TAGS: LabelKind = {
  kind: "tag",
  noun: "tag",
  prefix: "Tag",
  path: "/workspaces/{workspaceId}/tags",
  one: "{tag}/{value}",
  valueParam: "value",
  listDescription:
    "Lists the tags that have a spend limit, sorted by name and value. `after` is a tag such as `project=alpha`.",
  listQuery: [
    { name: "tag", description: "Name of the tag. Default: all.", schema: { type: "string" } },
    ...LIST_QUERY,
  ],
  counted: "with this value of the tag",
  labelIn: ({ params }) => ({ name: params["tag"] ?? "", value: params["value"] ?? "" }),
  nameOf: ({ name, value }) => `${name}=${value}`,
  labelOf(text) {
    const [name = "", ...rest] = text.split("=");
    if (rest.length === 0) throw unsupported("after", "a tag and its value, such as project=alpha", text);
    return { name, value: rest.join("=") };
  },
  membersOf: ({ name, value }) => ({ tag: name, value }),
};

export function labelLimits(context: IngressContext): readonly KeyRoute[] {
  return [...routesOf(context, END_USERS), ...routesOf(context, TAGS)];
}

function routesOf(context: IngressContext, of: LabelKind): readonly KeyRoute[] {
  const { noun, prefix, path } = of;
  const one = `${path}/${of.one}/limits`;
  const common = { tags: ["Usage and billing"], auth: "key", authorize: allow("owner", "admin") } as const;
  return [
    {
      ...common,
      method: "GET",
      path,
      operationId: `list${prefix}Limits`,
      summary: `List limits of ${noun}s`,
      description: of.listDescription,
      query: of.listQuery,
      responses: { 200: { description: `A page of ${noun}s`, schema: `${prefix}LimitsList` } },
      errors: ["not_found", "unsupported_value"],
      handle: (call) => list(context, of, call),
    },
    {
      ...common,
      method: "GET",
      path: one,
      operationId: `get${prefix}Limits`,
      summary: `Retrieve limits of ${noun}`,
      responses: { 200: { description: "The limits", schema: `${prefix}Limits` } },
      errors: ["not_found"],
      handle: async (call) => json(await read(context.database, of, placeOf(of, call))),
    },
    {
      ...common,
      method: "PUT",
      path: one,
      operationId: `put${prefix}Limits`,
      summary: `Set limits of ${noun}`,
      description:
        `Limits the spend of all calls ${of.counted}, by all keys of the workspace. A call that may exceed a limit fails with 402 ` +
        `\`key_limit_reached\`. The first limit of ${of.kind === "tag" ? "a" : "an"} ${noun} counts from zero, and applies within a second. ` +
        `A workspace may limit ${LABEL_LIMITS_MAX} end users and values of tags together.`,
      request: { schema: "LabelLimitsRequest", example: { credits: { day: 50, month: 500 }, warn_at: [80] } },
      responses: { 200: { description: "The stored limits", schema: `${prefix}Limits` } },
      errors: errorsOf(["reads_json"], "not_found", "conflict"),
      handle: (call) => put(context, of, call),
    },
    {
      ...common,
      method: "DELETE",
      path: one,
      operationId: `delete${prefix}Limits`,
      summary: `Delete limits of ${noun}`,
      responses: { 200: { description: "The confirmation", schema: `${prefix}LimitsDeleted` } },
      errors: ["not_found"],
      handle: (call) => remove(context, of, call),
    },
  ];
}

async function list({ database }: IngressContext, of: LabelKind, call: RouteCall): Promise<Response> {
  const { workspaceId } = call.caller;
  const limit = limitIn(call);
  const after = textIn(call, "after");
  const rows = await pageLabelLimits(database, workspaceId, {
    kind: of.kind,
    name: of.kind === "tag" ? textIn(call, "tag") : null,
    after: after === null ? null : of.labelOf(after),
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  const data = await withSpend(database, of, workspaceId, page);
  const [first, last] = [page[0], page.at(-1)];
  return json({
    object: "list",
    data,
    first_id: first ? of.nameOf(first) : null,
    last_id: last ? of.nameOf(last) : null,
    has_more: rows.length > limit,
  } satisfies Omit<EndUserLimitsList | TagLimitsList, "data"> & { data: readonly (EndUserLimits | TagLimits)[] });
}

async function withSpend(
  target: Queryable,
  of: LabelKind,
  workspaceId: string,
  rows: readonly LabelLimit[],
): Promise<readonly (EndUserLimits | TagLimits)[]> {
  const states = await readSpendLimits(
    target,
    workspaceId,
    rows.map(({ id }) => id),
  );
  return rows.flatMap((row) => {
    const state = states.get(row.id);
    // Deleted between the two statements.
    return state === undefined ? [] : [present(of, row, state)];
  });
}

/** Returns limits of end users or tags with their spend, sorted by name and value; at most `limit`. */
export async function listLabelLimits(
  target: Queryable,
  kind: LabelSubject,
  { workspaceId, limit }: { readonly workspaceId: string; readonly limit: number },
): Promise<readonly (EndUserLimits | TagLimits)[]> {
  const rows = await pageLabelLimits(target, workspaceId, { kind, name: null, after: null, limit });
  return withSpend(target, kindOf(kind), workspaceId, rows);
}

interface LabelPlace {
  readonly workspaceId: string;
  readonly label: Label;
}

/** Change of the limits of a label. */
export interface LabelChange extends LabelPlace {
  readonly actor: Actor;
}

function placeOf(of: LabelKind, call: RouteCall): LabelChange {
  return { workspaceId: call.caller.workspaceId, label: of.labelIn(call), actor: actorOf(call) };
}

function kindOf(kind: LabelSubject): LabelKind {
  return kind === "tag" ? TAGS : END_USERS;
}

async function read(target: Queryable, of: LabelKind, place: LabelPlace): Promise<EndUserLimits | TagLimits> {
  const row = await requireRow(target, of, place);
  const state = (await readSpendLimits(target, place.workspaceId, [row.id])).get(row.id);
  if (state === undefined) throw noLimits(of);
  return present(of, row, state);
}

async function put({ database }: IngressContext, of: LabelKind, call: RouteCall): Promise<Response> {
  const place = placeOf(of, call);
  checkValue(of, place.label);
  return json(await setLabelLimits(database, of.kind, place, await parsedText(call, "LabelLimitsRequest")));
}

/** Checks that calls can have the value of the label. @throws ApiError `unsupported_value` */
function checkValue({ valueParam: param }: LabelKind, { value }: Label): void {
  if (isLabelValue(value)) return;
  throw new ApiError("unsupported_value", `Expected ${param} to have 1 to ${LABEL_CHARS_MAX} characters.`, { param });
}

/**
 * Sets the limits of a label, and replaces earlier ones.
 * @param asked `text`: original text of the body, for the digits of amounts
 * @throws ApiError
 */
export async function setLabelLimits(
  database: Database,
  kind: LabelSubject,
  change: LabelChange,
  { body, text }: { readonly body: LabelLimitsRequest; readonly text: string },
): Promise<EndUserLimits | TagLimits> {
  const of = kindOf(kind);
  checkValue(of, change.label);
  const credits = amountsOf((exactJson(text) as { credits: AmountDigits }).credits, "credits");
  if (Object.keys(credits).length === 0) {
    const message = `Missing a limit: expected credits to have at least one of ${SPEND_WINDOWS.join(", ")}. To remove all limits, send DELETE.`;
    throw new ApiError("missing_required_parameter", message, { param: "credits" });
  }
  const terms = { credits, warnAt: warningsOf(body.warn_at) };
  const store = (tx: Queryable): Promise<void> => storeLimits(tx, of, change, terms);
  await repeatSpendChange(() => withWorkspaceLock(database, change.workspaceId, store));
  return read(database, of, change);
}

async function storeLimits(
  tx: Queryable,
  of: LabelKind,
  { workspaceId, label, actor }: LabelChange,
  { credits, warnAt }: { readonly credits: SpendAmounts; readonly warnAt: readonly number[] },
): Promise<void> {
  if (of.kind === "tag") await checkTag(tx, workspaceId, label.name);
  const id = labelIdOf(workspaceId, label.name, label.value);
  const [row, state] = [
    await findLabelLimit(tx, workspaceId, label),
    (await readSpendLimits(tx, workspaceId, [id])).get(id),
  ];
  if (row === undefined && (await countLabelLimits(tx, workspaceId)) >= LABEL_LIMITS_MAX) {
    const message = `Expected at most ${LABEL_LIMITS_MAX} end users and tags with limits; delete limits that are no longer needed.`;
    throw new ApiError("conflict", message, { param: of.valueParam });
  }
  const before = row && state ? { credits: presentCaps(state), warn_at: row.warn_at } : null;
  const after = { credits: presentAmounts(credits), warn_at: warnAt };
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  const entry = { actor, action: `${of.kind}.limit`, subject: of.nameOf(label), before, after };
  await recordAudit(tx, workspaceId, entry);
  await setSpendLimit(tx, workspaceId, { id, kind: of.kind, label, credits, warnAt });
}

/** Checks that calls can have the tag. @throws ApiError `unsupported_value` */
async function checkTag(tx: Queryable, workspaceId: string, name: string): Promise<void> {
  const tags = (await findWorkspaceById(tx, workspaceId))?.tags ?? [];
  if (tags.includes(name)) return;
  const known = tags.length === 0 ? "the workspace has none" : `the workspace has ${tags.join(", ")}`;
  const message = `Expected tag to be a tag of the workspace; ${known}. Owners and admins add tags in the workspace's settings.`;
  throw new ApiError("unsupported_value", message, { param: "tag" });
}

async function remove({ database }: IngressContext, of: LabelKind, call: RouteCall): Promise<Response> {
  const change = placeOf(of, call);
  await deleteLabelLimits(database, of.kind, change);
  return json({ ...of.membersOf(change.label), deleted: true } satisfies EndUserLimitsDeleted | TagLimitsDeleted);
}

/** Deletes the limits of a label. @throws ApiError `not_found` if the label has none */
export function deleteLabelLimits(database: Database, kind: LabelSubject, change: LabelChange): Promise<void> {
  const of = kindOf(kind);
  const { workspaceId, actor } = change;
  return withWorkspaceLock(database, workspaceId, async (tx) => {
    const row = await requireRow(tx, of, change);
    const { credits, warn_at } = await read(tx, of, change);
    const entry = { action: `${of.kind}.unlimit`, subject: of.nameOf(row), before: { credits, warn_at } };
    await recordAudit(tx, workspaceId, { actor, ...entry });
    await removeSpendLimit(tx, workspaceId, row.id);
  });
}

async function requireRow(target: Queryable, of: LabelKind, { workspaceId, label }: LabelPlace): Promise<LabelLimit> {
  const canExist = isLabelValue(label.value) && (of.kind === "end_user" || isTagName(label.name));
  const row = canExist ? await findLabelLimit(target, workspaceId, label) : undefined;
  if (row === undefined) throw noLimits(of);
  return row;
}

function noLimits({ noun }: LabelKind): ApiError {
  return new ApiError("not_found", `This ${noun} has no limits in the workspace.`);
}

function present(of: LabelKind, row: LabelLimit, state: SpendLimitState): EndUserLimits | TagLimits {
  const limits = { credits: presentCaps(state), warn_at: [...row.warn_at], limit_usage: presentPeriods(state) };
  const { name, value } = row;
  return of.kind === "tag"
    ? { object: "tag.limits", tag: name, value, ...limits }
    : { object: "end_user.limits", user: value, ...limits };
}

function presentCaps({ windows }: SpendLimitState): EndUserLimits["credits"] {
  return presentAmounts(byPeriod((window) => windows[window].capNano));
}
