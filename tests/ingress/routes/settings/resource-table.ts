/**
 * Every resource that `resource` (ingress/routes/settings/resource.ts) describes, as the contract of all of them asks it
 * (resource-contract.test.ts). Who may is told by matrix-table.ts and, of operators, by operator/access.test.ts.
 */
import { expect } from "bun:test";

import { BUDGET_ALERTS_PER_WORKSPACE_MAX } from "#ingress/routes/settings/budget-alerts.ts";
import { BALANCE_ALERTS_PER_WORKSPACE_MAX } from "#ingress/routes/settings/balance-alerts.ts";
import { MEMBERS_PER_WORKSPACE_MAX } from "#ingress/routes/settings/members.ts";
import type { SchemaName } from "#schemas/generated/types.ts";
import { KEYS_PER_WORKSPACE_MAX } from "#shared/database/api-keys.ts";
import { CHANNELS_PER_WORKSPACE_MAX } from "#shared/database/channels.ts";
import { SUBSCRIPTIONS_PER_CHANNEL_MAX } from "#shared/database/subscriptions.ts";
import { EVENTS } from "#shared/events/events.ts";
import { newId } from "#shared/base/ids.ts";
import { OPERATOR_TOKENS_MAX } from "#shared/operators/tokens.ts";

export type Values = Readonly<Record<string, unknown>>;

/** A place in which rows are made. */
export interface Place {
  readonly workspaceId: string;
  /** The channel of subscriptions. */
  readonly channelId: string;
  /** A developer. */
  readonly memberId: string;
}

/** Values that a body has, and the parameter that its refusal names. */
type Refused = readonly (readonly [values: Values, param: string])[];

export interface Row {
  /** Path as its description has it. */
  readonly path: string;
  readonly schema: SchemaName;
  /** Good bodies; no two of one workspace are in each other's way. */
  body(n: number, place: Place): Values;
  /** Members of the answer that are not as they were sent. */
  shown?(place: Place): Values;
  /** Values of the audit log. */
  told(shown: Values): Values;
  /** Values that make it another request under the same id. */
  readonly others: readonly Values[];
  /** Fields of a body that are ours; `OURS` are everywhere. */
  readonly ours?: Values;
  readonly refused: Refused;
  /** Member that is taken when another one has it; absent: none is. */
  readonly once?: string;
  /** Member of the first answer alone. */
  readonly secret?: string;
  /** Words of what is sent that nobody is told. */
  readonly hidden?: RegExp;
  /** Code of an unknown one. */
  readonly unknown: "not_found" | "channel_not_found";
  readonly create: string;
  /** Changes one after the other, each with its action. */
  readonly changes: readonly (readonly [values: Values, action: string])[];
  readonly refusedChanges?: Refused;
  /** Values that a create takes and a change does not. */
  readonly fixed?: Values;
  readonly end: {
    readonly action: string;
    /** Values that the row has from then on; absent: it is gone. */
    readonly kept?: Values;
    /** Values of the audit log before it, where they are not those of a create. */
    told?(shown: Values): Values;
    /** The same after it, where something is left to tell of. */
    readonly after?: Values;
  };
  readonly limit: number;
  readonly table: string;
  /** Column that says what the rows lie in; absent: they are the installation's. */
  readonly column?: "workspace_id" | "channel_id";
  /** Condition of those that count for the limit. */
  readonly isCounted?: string;
  /** Returns the statement that makes so many of them, each three at once. */
  fill(count: number, place: Place): string;
}

/** Members that no caller sets. */
export const OURS: Values = {
  workspaceId: newId(),
  workspace_id: newId(),
  created_at: "2000-01-01T00:00:00Z",
  createdAt: "2000-01-01T00:00:00Z",
  updated_at: "2000-01-01T00:00:00Z",
  updatedAt: "2000-01-01T00:00:00Z",
  revoked_at: "2000-01-01T00:00:00Z",
  created_by: newId(),
  createdByUserId: newId(),
  object: "x",
  status: "revoked",
  spent: 7,
  ["__proto__"]: { x: 1 },
};

/** Time of the n-th row: three each are made at once, whose order is that of their ids. */
const MADE = "now() + (n / 3) * interval '1 second'";
const HASH = "sha256(convert_to(gen_random_uuid()::text, 'UTF8'))";
const LIVES = "revoked_at is null and (expires_at is null or expires_at > now())";
const TO_COME = "2999-01-01T00:00:00.000Z";
const NO_TOOLS = ["image.resize", 1, {}, Array.from({ length: 201 }, () => "image.*")];
const NO_TIMES = [
  "2000-01-01T00:00:00Z",
  new Date().toISOString(),
  "tomorrow",
  "2030-01-01",
  "2030-02-30T00:00:00Z",
  7,
];

const URL_OF = "https://hooks.example.com/canary-path/abcd";
const NO_IDS = ["x", `urn:uuid:${newId()}`, `{${newId()}}`, 7] as const;
/** Events of subscriptions that are made; those that fill a channel are to another one. */
const EVENT_NAMES = Object.keys(EVENTS).filter((name) => name !== "run.failed");

const pick = (shown: Values, ...names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, shown[name]]));

export const RESOURCES: readonly Row[] = [
  {
    path: "/workspaces/{workspaceId}/members/{memberId}",
    schema: "Member",
    body: (n) => ({ name: `member no. ${n}`, role: "developer", email: `ada.${n}@example.com` }),
    shown: () => ({ is_active: true }),
    told: (shown) => pick(shown, "name", "role", "email"),
    others: [{ name: "another" }, { role: "billing" }, { email: "b@example.com" }, { email: undefined }],
    ours: { is_active: false },
    refused: [
      ...["a", "a@b@c", "a@example.com, b@example.com", "A <a@example.com>", "a@example.com\nbcc: b@c", 7].map(
        (email) => [{ email }, "email"] as const,
      ),
      ...["root", "", null, undefined].map((role) => [{ role }, "role"] as const),
    ],
    once: "name",
    unknown: "not_found",
    create: "member.add",
    changes: [
      [{ name: "Grace" }, "member.update"],
      [{ email: "g@example.com" }, "member.update"],
      [{ role: "billing" }, "member.role"],
      [{ is_active: false }, "member.disable"],
      [{ is_active: true }, "member.enable"],
      [{ email: null }, "member.update"],
      [{ email: "h@example.com" }, "member.update"],
    ],
    refusedChanges: [
      [{ email: "x" }, "email"],
      [{ role: "root" }, "role"],
      [{ is_active: "no" }, "is_active"],
    ],
    end: {
      action: "member.disable",
      told: (shown) => pick(shown, "name", "role", "email", "is_active"),
      kept: { is_active: false, email: null },
      after: { is_active: false, email: null },
    },
    limit: MEMBERS_PER_WORKSPACE_MAX,
    table: "member",
    column: "workspace_id",
    fill: (count, { workspaceId }) =>
      `insert into member (id, workspace_id, name, role, created_at)
           select gen_random_uuid(), '${workspaceId}'::uuid, 'm' || n, 'developer', ${MADE} from generate_series(1, ${count}) n`,
  },
  {
    path: "/workspaces/{workspaceId}/api-keys/{keyId}",
    schema: "ApiKey",
    body: (n, { memberId }) => ({
      name: `key no. ${n}`,
      preset: "standard",
      tools: ["image.resize", "web.*"],
      expires_at: TO_COME,
      member_id: memberId,
    }),
    shown: ({ memberId }) => ({
      member: { id: memberId, name: `developer ${memberId}`, role: "developer" },
      status: "active",
      last_used_at: null,
      revoked_at: null,
    }),
    told: (shown) => pick(shown, "name", "preset", "tools"),
    others: [
      { name: "another" },
      { preset: "narrow" },
      { tools: ["image.resize"] },
      { tools: null },
      { member_id: undefined },
      { expires_at: undefined },
      { expires_at: "2998-01-01T00:00:00Z" },
    ],
    ours: { key: "slk_mine", sha256: "00", hint: "mine", last_used_at: "2000-01-01T00:00:00Z" },
    refused: [
      ...NO_IDS.map((member_id) => [{ member_id }, "member_id"] as const),
      ...NO_TIMES.map((expires_at) => [{ expires_at }, "expires_at"] as const),
      ...["none", "__proto__", "Standard"].map((preset) => [{ preset }, "preset"] as const),
      ...NO_TOOLS.map((tools) => [{ tools }, "tools"] as const),
      ...["image", "*", "image.resize ", "", "Image.Resize", "image.none"].map(
        (tool) => [{ tools: [tool] }, "tools[0]"] as const,
      ),
    ],
    secret: "key",
    unknown: "not_found",
    create: "key.create",
    changes: [
      [{ name: "new name" }, "key.update"],
      [{ preset: "narrow" }, "key.preset"],
      [{ tools: [] }, "key.update"],
      [{ tools: ["code.*", "workflow.*"] }, "key.update"],
      [{ tools: null }, "key.update"],
      [{ expires_at: "2998-01-01T00:00:00.000Z" }, "key.update"],
      [{ expires_at: null }, "key.update"],
    ],
    refusedChanges: [
      [{ preset: "none" }, "preset"],
      ...NO_TIMES.map((expires_at) => [{ expires_at }, "expires_at"] as const),
      [{ tools: ["image.none"] }, "tools[0]"],
    ],
    fixed: { member_id: newId() },
    end: { action: "key.revoke", kept: { status: "revoked", revoked_at: expect.any(String) } },
    limit: KEYS_PER_WORKSPACE_MAX,
    table: "api_key",
    column: "workspace_id",
    isCounted: LIVES,
    fill: (count, { workspaceId, memberId }) =>
      `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset, created_at)
           select gen_random_uuid(), '${workspaceId}'::uuid, '${memberId}'::uuid, 'k', ${HASH}, 'slk_…', 'standard', ${MADE} from generate_series(1, ${count}) n`,
  },
  {
    path: "/workspaces/{workspaceId}/notification-channels/{channelId}",
    schema: "Channel",
    body: (n) => ({
      type: "webhook",
      name: `channel no. ${n}`,
      config: { url: URL_OF, authType: "bearer", authToken: "canary-token" },
    }),
    shown: () => ({
      enabled: true,
      config: { url: "https://hooks.example.com/…abcd", authType: "bearer" },
      credentials: ["authToken"],
      hasSigningSecret: true,
      disabledReason: null,
      failingSince: null,
    }),
    told: (shown) => pick(shown, "name", "enabled", "config"),
    others: [
      { name: "another" },
      { type: "slack", config: { url: URL_OF } },
      { enabled: false },
      { config: { url: "https://hooks.example.com/canary-other/abcd", authType: "bearer", authToken: "canary-token" } },
      { config: { url: URL_OF, authType: "bearer", authToken: "canary-other" } },
      { config: { url: URL_OF, authToken: "canary-token" } },
      { config: { url: URL_OF } },
    ],
    ours: { signingSecret: "whsec_mine", disabledReason: "gone", failingSince: "2000-01-01T00:00:00Z" },
    refused: [
      [{ type: "pager" }, "type"],
      [{ type: undefined }, "type"],
      [{ config: undefined }, "config"],
      [{ config: [] }, "config"],
      [{ enabled: "yes" }, "enabled"],
    ],
    once: "name",
    secret: "signingSecret",
    hidden: /canary|whsec_/,
    unknown: "channel_not_found",
    create: "channel.create",
    changes: [
      [{ name: "new name" }, "channel.update"],
      [{ enabled: false }, "channel.update"],
    ],
    refusedChanges: [
      [{ config: [] }, "config"],
      [{ enabled: "yes" }, "enabled"],
    ],
    fixed: { type: "slack", signingSecret: "whsec_mine" },
    end: { action: "channel.delete", told: (shown) => pick(shown, "type", "name", "config") },
    limit: CHANNELS_PER_WORKSPACE_MAX,
    table: "notification_channel",
    column: "workspace_id",
    fill: (count, { workspaceId, memberId }) =>
      `insert into notification_channel (id, workspace_id, type, name, config, created_by, created_at)
           select gen_random_uuid(), '${workspaceId}'::uuid, 'slack', 'c' || n, '{}', '${memberId}'::uuid, ${MADE} from generate_series(1, ${count}) n`,
  },
  {
    path: "/workspaces/{workspaceId}/notification-channels/{channelId}/subscriptions/{subscriptionId}",
    schema: "Subscription",
    body: (n) => ({ event: EVENT_NAMES[n] }),
    shown: () => ({ workflowId: null }),
    told: ({ channelId, event, workflowId }) => ({ channel_id: channelId, event, workflow_id: workflowId }),
    others: [{ event: "run.failed" }],
    ours: { channelId: newId(), channel_id: newId() },
    refused: [
      ...[undefined, "run.exploded", "test", "channel.disabled", null].map((event) => [{ event }, "event"] as const),
      ...NO_IDS.map((workflowId) => [{ event: "run.started", workflowId }, "workflowId"] as const),
    ],
    once: "event",
    unknown: "not_found",
    create: "subscription.create",
    changes: [],
    end: { action: "subscription.delete" },
    limit: SUBSCRIPTIONS_PER_CHANNEL_MAX,
    table: "subscription",
    column: "channel_id",
    fill: (count, { workspaceId, channelId, memberId }) =>
      `with made as (
             insert into workflow (id, workspace_id, name, created_by)
             select gen_random_uuid(), '${workspaceId}'::uuid, 'w' || n, '${memberId}'::uuid from generate_series(1, ${count}) n
             returning id
           )
           insert into subscription (id, workspace_id, channel_id, event, workflow_id, created_at)
           select gen_random_uuid(), '${workspaceId}'::uuid, '${channelId}'::uuid, 'run.failed', id, ${MADE}
           from (select id, row_number() over () as n from made) numbered`,
  },
  {
    path: "/workspaces/{workspaceId}/budget-alerts/{alertId}",
    schema: "BudgetAlert",
    body: (n) => ({ name: `alert no. ${n}`, threshold_credits: 10, period: "daily" }),
    shown: () => ({
      channel_ids: [],
      is_active: true,
      stops_calls: false,
      warn_at: [],
      spent: 0,
      last_fired_at: null,
      events_without_channel: ["budget.threshold_reached"],
    }),
    told: (shown) =>
      pick(shown, "name", "threshold_credits", "period", "channel_ids", "is_active", "stops_calls", "warn_at"),
    others: [
      { name: "another" },
      { threshold_credits: 11 },
      { period: "weekly" },
      { is_active: false },
      { stops_calls: true },
      { warn_at: [50] },
    ],
    ours: { last_fired_at: "2000-01-01T00:00:00Z", period_start: "2000-01-01T00:00:00Z" },
    refused: [
      [{ period: "hourly" }, "period"],
      [{ period: undefined }, "period"],
      [{ threshold_credits: undefined }, "threshold_credits"],
      [{ is_active: "yes" }, "is_active"],
      [{ channel_ids: ["x"] }, "channel_ids[0]"],
      [{ warn_at: 50 }, "warn_at"],
      [{ warn_at: [10, 20, 30, 40, 50, 60] }, "warn_at"],
      [{ warn_at: [50, 50] }, "warn_at"],
      ...[0, 100, 12.5, "50"].map((percent) => [{ warn_at: [percent] }, "warn_at[0]"] as const),
    ],
    once: "name",
    unknown: "not_found",
    create: "budget_alert.create",
    changes: [
      [{ name: "new name" }, "budget_alert.update"],
      [{ warn_at: [50, 80] }, "budget_alert.update"],
      [{ warn_at: [] }, "budget_alert.update"],
      [{ threshold_credits: 20, stops_calls: true }, "budget_alert.update"],
      [{ period: "weekly" }, "budget_alert.update"],
      [{ is_active: false }, "budget_alert.update"],
    ],
    refusedChanges: [
      [{ period: "hourly" }, "period"],
      [{ threshold_credits: 0 }, "threshold_credits"],
      [{ is_active: "yes" }, "is_active"],
    ],
    end: { action: "budget_alert.delete" },
    limit: BUDGET_ALERTS_PER_WORKSPACE_MAX,
    table: "budget_alert",
    column: "workspace_id",
    fill: (count, { workspaceId, memberId }) =>
      `insert into budget_alert (id, workspace_id, name, threshold, period, created_by, created_at)
           select gen_random_uuid(), '${workspaceId}'::uuid, 'a' || n, 1000000000, 'daily', '${memberId}'::uuid, ${MADE} from generate_series(1, ${count}) n`,
  },
  {
    path: "/workspaces/{workspaceId}/balance-alerts/{alertId}",
    schema: "BalanceAlert",
    body: (n) => ({ name: `alert no. ${n}`, below_credits: 10 }),
    shown: () => ({
      below_days: null,
      channel_ids: [],
      is_active: true,
      is_low: false,
      available: 0,
      days_left: null,
      last_fired_at: null,
      events_without_channel: ["balance.low"],
    }),
    told: (shown) => pick(shown, "name", "below_credits", "below_days", "channel_ids", "is_active"),
    others: [
      { name: "another" },
      { below_credits: 11 },
      { below_credits: undefined, below_days: 3 },
      { is_active: false },
    ],
    ours: { is_low: true, available: 7, days_left: 7, last_fired_at: "2000-01-01T00:00:00Z" },
    refused: [
      [{ below_credits: undefined }, "below_credits"],
      [{ below_days: 3 }, "below_days"],
      ...[0, -1, "5"].map((below_credits) => [{ below_credits }, "below_credits"] as const),
      ...[0, 366, 1.5, "5"].map((below_days) => [{ below_credits: undefined, below_days }, "below_days"] as const),
      [{ is_active: "yes" }, "is_active"],
      [{ channel_ids: ["x"] }, "channel_ids[0]"],
    ],
    once: "name",
    unknown: "not_found",
    create: "balance_alert.create",
    changes: [
      [{ name: "new name" }, "balance_alert.update"],
      [{ below_credits: 20 }, "balance_alert.update"],
      [{ is_active: false }, "balance_alert.update"],
    ],
    refusedChanges: [
      [{ below_credits: 0 }, "below_credits"],
      [{ below_credits: 5, below_days: 3 }, "below_days"],
      [{ is_active: "yes" }, "is_active"],
    ],
    end: { action: "balance_alert.delete" },
    limit: BALANCE_ALERTS_PER_WORKSPACE_MAX,
    table: "balance_alert",
    column: "workspace_id",
    fill: (count, { workspaceId, memberId }) =>
      `insert into balance_alert (id, workspace_id, name, below_credits, created_by, created_at)
           select gen_random_uuid(), '${workspaceId}'::uuid, 'a' || n, 1000000000, '${memberId}'::uuid, ${MADE} from generate_series(1, ${count}) n`,
  },
  {
    path: "/operator/tokens/{id}",
    schema: "OperatorToken",
    body: (n) => ({ name: `token no. ${n}`, scope: "write", expires_at: TO_COME }),
    shown: () => ({ revoked_at: null }),
    told: (shown) => ({
      ...pick(shown, "name", "scope"),
      expires_at: String(shown["expires_at"]).replace(".000Z", "+00:00"),
    }),
    others: [{ name: "another" }, { scope: "read" }, { expires_at: undefined }, { expires_at: "2998-01-01T00:00:00Z" }],
    ours: { token: "slo_mine", sha256: "00" },
    refused: [
      [{ scope: undefined }, "scope"],
      [{ scope: "root" }, "scope"],
      ...NO_TIMES.map((expires_at) => [{ expires_at }, "expires_at"] as const),
    ],
    once: "name",
    secret: "token",
    unknown: "not_found",
    create: "operator_token.create",
    changes: [],
    end: { action: "operator_token.revoke", kept: { revoked_at: expect.any(String) } },
    limit: OPERATOR_TOKENS_MAX,
    table: "operator_token",
    isCounted: LIVES,
    fill: (count) =>
      `insert into operator_token (id, name, sha256, scope, created_at)
           select gen_random_uuid(), 't' || n, ${HASH}, 'read', ${MADE} from generate_series(1, ${count}) n`,
  },
];
