/** Client of /operator of a running service, with an operator token. Every error is one sentence that says what to do. */
import { unknownPath } from "#ingress/core/unknown-path.ts";
import { post } from "#workers/providers/http.ts";
import { ProviderError } from "#workers/providers/provider.ts";

import { UsageError } from "./command.ts";
import { cellText } from "./table.ts";

/** Timeout of a request, in milliseconds. Only the ledger audit may take longer. */
const ANSWER_WITHIN_MS = 60_000;
const PAGE_ROWS = 100;
/** Maximum number of rows that are read from a list. */
export const ROWS_MAX = 10_000;

export type Json = Readonly<Record<string, unknown>>;

export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export interface Ask {
  readonly method: (typeof METHODS)[number];
  readonly path: string;
  readonly body?: object;
}

export interface Answered {
  readonly status: number;
  readonly value: Json;
}

export interface Service {
  /**
   * Sends a request and returns the response. @throws UsageError for a malformed request; Unanswered when the result is unknown; Error for
   * other failures
   */
  ask(ask: Ask): Promise<Answered>;
}

/** Error of a request whose result is unknown. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
}

export interface Address {
  readonly url: string;
  readonly token: string;
}

export function openService({ url, token }: Address, timeoutMs = ANSWER_WITHIN_MS): Service {
  const { origin, pathname } = new URL(url);
  const endpoint = { baseUrl: (origin + pathname).replace(/\/+$/, ""), headers: { authorization: `Bearer ${token}` } };
  const at = `the service at ${endpoint.baseUrl}`;
  return {
    async ask({ method, path, body }) {
      const signal = AbortSignal.timeout(timeoutMs);
      const request = { method, path, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const { status, text } = await post(endpoint, request, signal).catch((error: unknown) => {
        throw unreached(error, at, timeoutMs);
      });
      const value = objectIn(text);
      if (status >= 200 && status < 300 && value !== undefined) return { status, value };
      throw refusalOf(at, status, value?.["error"]);
    },
  };
}

function unreached(error: unknown, at: string, timeoutMs: number): unknown {
  if (!(error instanceof ProviderError)) return error;
  if (error.kind === "aborted") return new Unanswered(`${at} did not answer within ${timeoutMs / 1_000} s`);
  const sentence = `${at} cannot be reached; start it, or set its address with SLUICE_URL or --url`;
  const { cause } = error;
  return error.isUnsent ? new Error(sentence, { cause }) : new Unanswered(sentence, { cause });
}

/** Error codes of the service that mean malformed arguments. */
const MALFORMED: ReadonlySet<string> = new Set(["unsupported_value", "invalid_request", "missing_required_parameter"]);

const ADVICE: Readonly<Record<string, string>> = {
  missing_api_key: "set SLUICE_OPERATOR_TOKEN to a token of `operator add`",
  invalid_api_key: "set SLUICE_OPERATOR_TOKEN to a token of `operator add` that is neither revoked nor expired",
  permission_denied: "create one with `operator add`",
  service_unavailable: "try again shortly",
  overloaded: "try again shortly",
  rate_limit_exceeded: "wait a minute",
};

/**
 * Returns the error for a rejected request.
 * @param error member `error` of the response
 */
function refusalOf(at: string, status: number, error: unknown): Error {
  if (!isObject(error) || typeof error["message"] !== "string") {
    const why = status >= 300 && status < 400 ? `redirects (${status})` : `is not Sluice (it returned ${status})`;
    return new Error(`${at} ${why}; set the right address with SLUICE_URL or --url`);
  }
  const { message } = error;
  if (message === unknownPath().message) {
    return new Error(
      `${at} does not serve /operator here: it has no operator token yet (create one with \`operator add\`), or its SLUICE_OPERATOR_ALLOW does not list this machine`,
    );
  }
  const refused = refusedError({ ...error, message });
  return status >= 500 && !(refused instanceof UsageError) ? new Unanswered(refused.message) : refused;
}

/**
 * Returns an error of the API as an error of the command, in one sentence: UsageError for malformed arguments.
 * @param error code, message and parameter of the API's error
 */
export function refusedError(error: {
  readonly code?: unknown;
  readonly message: string;
  readonly param?: unknown;
}): Error {
  const { code, message, param } = error;
  const said = message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, "");
  const place = typeof param === "string" ? ` (${param})` : "";
  const advice = ADVICE[String(code)];
  const sentence = cellText(`${said}${place}${advice === undefined ? "" : `; ${advice}`}`);
  return MALFORMED.has(String(code)) ? new UsageError(sentence) : new Error(sentence);
}

/** Reads all pages of a list and returns up to `max` rows. A response that is not a list is returned as one row. */
export async function askRows(service: Service, ask: Ask, max: number): Promise<Json[]> {
  const rows: Json[] = [];
  const base = `${ask.path}${ask.path.includes("?") ? "&" : "?"}`;
  for (let after = ""; ;) {
    const limit = Math.min(PAGE_ROWS, max - rows.length);
    const { value } = await service.ask({ ...ask, path: `${base}limit=${limit}${after}` });
    const page = [value["data"] ?? value].flat().filter(isObject);
    rows.push(...page);
    if (value["has_more"] !== true || page.length === 0 || rows.length >= max) return rows;
    after = `&after=${encodeURIComponent(String(value["last_id"]))}`;
  }
}

function objectIn(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
