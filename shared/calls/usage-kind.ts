/** Kinds of usage records, and the endpoint of each. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { UsageKind } from "#shared/ledger/settle.ts";

import { KINDS } from "./kinds/kinds.ts";

/** Endpoint of a call, as its route is declared. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(KINDS).map(({ name, endpoint }) => [name, endpoint])),
  capability: "/v1/capabilities/{id}/run",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

/** Endpoint of runs, whose usage is the sum of their steps. */
export const RUNS_ENDPOINT = "/v1/workflows/{id}/runs";

/**
 * Returns the kind for the usage record: the kind of the call, or the format of a chat call whose format has an endpoint of its own. SQL
 * does the same for jobs (`end_job`).
 * @param api format of the answer; absent for OpenAI's
 */
export function usageKindOf(kind: JobMessage["kind"], api: "openai" | "anthropic" | "responses" = "openai"): UsageKind {
  if (api === "openai") return kind;
  return api === "anthropic" ? "messages" : "responses";
}

/** Returns the endpoint of a kind; null for an unknown kind. */
export function endpointOfKind(kind: string | null): string | null {
  return kind === null ? null : (ENDPOINTS[kind] ?? null);
}

/** Returns the kind that an endpoint creates; undefined for other paths. */
export function kindOfEndpoint(endpoint: string): string | undefined {
  return Object.keys(ENDPOINTS).find((kind) => ENDPOINTS[kind] === endpoint);
}
