/**
 * Every route under /workspaces: who may, and what it is asked with. Source: shared/operators.md part 3, spec.md "PATCH …" and
 * "Authentication" 4. Statuses follow from it (matrix.test.ts).
 */
import type { Role } from "#shared/access/authenticate.ts";

/** Kind of the last object of a path. `workspace`: there is none but the workspace. */
export type Kind =
  | "workspace"
  | "member"
  | "key"
  | "channel"
  | "subscription"
  | "delivery"
  | "chain"
  | "alert"
  | "end_user"
  | "tag"
  | "balanceAlert"
  | "call";

export interface Row {
  readonly route: string;
  readonly may: readonly Role[];
  /** Status for an object that exists and may be accessed. */
  readonly ok: number;
  readonly kind: Kind;
  /** Set if a developer may access only what it made; other: the status for what another made. */
  readonly own?: { readonly other: 403 | 404 };
  readonly body?: unknown;
}

const ALL: readonly Role[] = ["owner", "admin", "developer", "billing"];
const OAD: readonly Role[] = ["owner", "admin", "developer"];
const OAB: readonly Role[] = ["owner", "admin", "billing"];
const OA: readonly Role[] = ["owner", "admin"];

const CHANNEL = "/notification-channels/{channelId}";

export const TABLE: readonly Row[] = [
  { route: "GET ", may: ALL, ok: 200, kind: "workspace" },
  // The name that it has is no change.
  { route: "PATCH ", may: OA, ok: 200, kind: "workspace", body: { name: "{workspace}" } },
  { route: "GET /presets", may: ALL, ok: 200, kind: "workspace" },
  { route: "GET /event-types", may: ALL, ok: 200, kind: "workspace" },

  { route: "GET /members", may: OAD, ok: 200, kind: "workspace" },
  { route: "POST /members", may: OA, ok: 201, kind: "workspace", body: { name: "{new}", role: "billing" } },
  { route: "GET /members/{memberId}", may: OAD, ok: 200, kind: "member" },
  { route: "PATCH /members/{memberId}", may: OA, ok: 200, kind: "member", body: { role: "billing" } },
  { route: "DELETE /members/{memberId}", may: OA, ok: 200, kind: "member" },

  { route: "GET /api-keys", may: OAD, ok: 200, kind: "workspace" },
  { route: "POST /api-keys", may: OAD, ok: 201, kind: "workspace", body: { name: "{new}" } },
  { route: "GET /api-keys/{keyId}", may: OAD, ok: 200, kind: "key", own: { other: 404 } },
  { route: "PATCH /api-keys/{keyId}", may: OAD, ok: 200, kind: "key", own: { other: 404 }, body: { name: "new" } },
  { route: "DELETE /api-keys/{keyId}", may: OAD, ok: 200, kind: "key", own: { other: 404 } },
  { route: "POST /api-keys/{keyId}/rotate", may: OAD, ok: 201, kind: "key", own: { other: 404 } },

  { route: "GET /fallback-chains", may: OAD, ok: 200, kind: "workspace" },
  { route: "GET /fallback-chains/{model}", may: OAD, ok: 200, kind: "chain" },
  { route: "DELETE /fallback-chains/{model}", may: OA, ok: 200, kind: "chain" },
  // A model that there is not is refused as one: what a chain is set for need not have one yet.
  { route: "PUT /fallback-chains/{model}", may: OA, ok: 400, kind: "workspace", body: { fallbacks: ["none"] } },

  { route: "GET /notification-channels", may: OAD, ok: 200, kind: "workspace" },
  {
    route: "POST /notification-channels",
    may: OA,
    ok: 201,
    kind: "workspace",
    body: { type: "webhook", name: "{new}", config: { url: "https://hooks.example.com/" } },
  },
  { route: `GET ${CHANNEL}`, may: OAD, ok: 200, kind: "channel" },
  { route: `PATCH ${CHANNEL}`, may: OAD, ok: 200, kind: "channel", own: { other: 403 }, body: { enabled: false } },
  { route: `DELETE ${CHANNEL}`, may: OA, ok: 200, kind: "channel" },
  { route: `POST ${CHANNEL}/test`, may: OAD, ok: 202, kind: "channel", own: { other: 403 } },
  { route: `POST ${CHANNEL}/recover`, may: OA, ok: 202, kind: "channel", body: { since: "{hour ago}" } },
  { route: `POST ${CHANNEL}/signing-secret/reveal`, may: OA, ok: 200, kind: "channel" },
  { route: `POST ${CHANNEL}/signing-secret/rotate`, may: OA, ok: 200, kind: "channel" },
  { route: `GET ${CHANNEL}/subscriptions`, may: OAD, ok: 200, kind: "channel" },
  { route: `POST ${CHANNEL}/subscriptions`, may: OA, ok: 201, kind: "channel", body: { event: "run.started" } },
  { route: `DELETE ${CHANNEL}/subscriptions/{subscriptionId}`, may: OA, ok: 200, kind: "subscription" },

  { route: "GET /deliveries", may: OAD, ok: 200, kind: "workspace" },
  { route: "GET /deliveries/{deliveryId}", may: OAD, ok: 200, kind: "delivery" },
  { route: "POST /deliveries/{deliveryId}/retry", may: OAD, ok: 202, kind: "delivery", own: { other: 403 } },

  { route: "GET /unavailable-models", may: ALL, ok: 200, kind: "workspace" },
  { route: "GET /credits", may: ALL, ok: 200, kind: "workspace" },
  { route: "GET /credits/ledger", may: OAB, ok: 200, kind: "workspace" },
  { route: "GET /audit-log", may: OA, ok: 200, kind: "workspace" },
  { route: "GET /end-users", may: OA, ok: 200, kind: "workspace" },
  { route: "GET /end-users/{user}/limits", may: OA, ok: 200, kind: "end_user" },
  { route: "DELETE /end-users/{user}/limits", may: OA, ok: 200, kind: "end_user" },
  // The path says who it is for: another's is made, so nothing is unknown.
  { route: "PUT /end-users/{user}/limits", may: OA, ok: 400, kind: "workspace", body: { credits: {} } },
  { route: "GET /tags", may: OA, ok: 200, kind: "workspace" },
  { route: "GET /tags/{tag}/{value}/limits", may: OA, ok: 200, kind: "tag" },
  { route: "DELETE /tags/{tag}/{value}/limits", may: OA, ok: 200, kind: "tag" },
  { route: "PUT /tags/{tag}/{value}/limits", may: OA, ok: 400, kind: "workspace", body: { credits: {} } },

  { route: "GET /usage", may: ALL, ok: 200, kind: "workspace" },
  { route: "GET /usage/focus", may: ALL, ok: 200, kind: "workspace" },
  { route: "GET /usage/requests", may: ALL, ok: 200, kind: "workspace" },
  { route: "GET /usage/requests/{request_id}", may: ALL, ok: 200, kind: "call", own: { other: 404 } },
  // Nothing is kept unless an owner asks for it.
  { route: "GET /usage/requests/{request_id}/bodies", may: ALL, ok: 404, kind: "call" },
  { route: "DELETE /usage/requests/{request_id}/bodies", may: ALL, ok: 404, kind: "call" },
  { route: "GET /budget-alerts", may: ALL, ok: 200, kind: "workspace" },
  {
    route: "POST /budget-alerts",
    may: OAB,
    ok: 201,
    kind: "workspace",
    body: { name: "{new}", threshold_credits: 1, period: "daily" },
  },
  { route: "GET /budget-alerts/{alertId}", may: ALL, ok: 200, kind: "alert" },
  { route: "PATCH /budget-alerts/{alertId}", may: OAB, ok: 200, kind: "alert", body: { threshold_credits: 2 } },
  { route: "DELETE /budget-alerts/{alertId}", may: OAB, ok: 200, kind: "alert" },
  { route: "GET /balance-alerts", may: ALL, ok: 200, kind: "workspace" },
  {
    route: "POST /balance-alerts",
    may: OAB,
    ok: 201,
    kind: "workspace",
    body: { name: "{new}", below_days: 7 },
  },
  { route: "GET /balance-alerts/{alertId}", may: ALL, ok: 200, kind: "balanceAlert" },
  { route: "PATCH /balance-alerts/{alertId}", may: OAB, ok: 200, kind: "balanceAlert", body: { below_credits: 2 } },
  { route: "DELETE /balance-alerts/{alertId}", may: OAB, ok: 200, kind: "balanceAlert" },
];

/** Keyed routes elsewhere, by who may. Source: the code; spec.md gives the billing role "studio access", which is to call models. */
export const ELSEWHERE: readonly (readonly [may: readonly Role[], routes: readonly string[]])[] = [
  [
    ALL,
    [
      "GET /v1/key",
      "GET /v1/credits",
      "GET /v1/usage",
      "GET /v1/models",
      "GET /v1/models/{slug}",
      "GET /v1/tools",
      "GET /v1/workflows/templates",
      "POST /v1/models/{slug}/estimate",
      "POST /v1/chat/completions",
      "POST /v1/embeddings",
      "POST /v1/messages",
      "POST /v1/messages/count_tokens",
      "POST /v1/responses",
      "POST /v1/responses/input_tokens",
      "POST /v1/responses/compact",
      // Of responses a member finds its own alone: tests/shared/responses.
      "GET /v1/responses/{response_id}",
      "DELETE /v1/responses/{response_id}",
      "POST /v1/responses/{response_id}/cancel",
      "GET /v1/responses/{response_id}/input_items",
      // And of conversations: tests/e2e/stock-clients/conversations.ts.
      "POST /v1/conversations",
      "GET /v1/conversations/{conversation_id}",
      "POST /v1/conversations/{conversation_id}",
      "DELETE /v1/conversations/{conversation_id}",
      "POST /v1/conversations/{conversation_id}/items",
      "GET /v1/conversations/{conversation_id}/items",
      "GET /v1/conversations/{conversation_id}/items/{item_id}",
      "DELETE /v1/conversations/{conversation_id}/items/{item_id}",
      "POST /v1/images/generations",
      "POST /v1/images/edits",
      "POST /v1/audio/speech",
      "POST /v1/audio/transcriptions",
      "POST /v1/videos/generations",
      "POST /v1/music/generations",
      "POST /v1/3d/generations",
      "POST /v1/capabilities/{id}/run",
      "POST /v1/capabilities/{id}/estimate",
      "POST /mcp",
      "POST /mcp/{tools}",
      // Of a job the billing role finds its own alone: tests/e2e/media.
      "GET /v1/videos/generations/{id}",
      "POST /v1/videos/generations/{id}/cancel",
      "GET /v1/jobs",
      "GET /v1/images/jobs/{job_id}",
      "POST /v1/images/jobs/{job_id}/cancel",
    ],
  ],
  [
    OAD,
    [
      "POST /v1/files",
      "GET /v1/files",
      "GET /v1/files/{file_id}",
      "DELETE /v1/files/{file_id}",
      "GET /v1/files/{file_id}/content",
      "POST /v1/batches",
      "GET /v1/batches",
      "GET /v1/batches/{batch_id}",
      "POST /v1/batches/{batch_id}/cancel",
      "GET /v1/batches/{batch_id}/lines",
      "POST /v1/workflows",
      "GET /v1/workflows",
      "POST /v1/workflows/estimate",
      "GET /v1/workflows/{id}",
      "PUT /v1/workflows/{id}",
      "DELETE /v1/workflows/{id}",
      "GET /v1/workflows/{id}/versions",
      "POST /v1/workflows/{id}/runs",
      "GET /v1/workflows/{id}/runs",
      "POST /v1/pipelines/runs",
      "GET /v1/workflows/runs",
      "GET /v1/workflows/runs/{id}",
      "GET /v1/workflows/runs/{id}/events",
      "GET /v1/workflows/runs/{id}/steps/{stepId}/output",
      "POST /v1/workflows/runs/{id}/cancel",
    ],
  ],
];
