/** Converts failures of chat calls to the error that the client receives and the status that the ledger records. */
import type { Code } from "#shared/base/errors.ts";
import type { UsageStatus } from "#shared/ledger/settle.ts";

import type { FailureFrame } from "./answer.ts";
import { type AbortReason, abortReasonOf } from "../job.ts";
import { ProviderError, type ProviderErrorClass } from "../providers/provider.ts";

export interface ChatFailure extends FailureFrame {
  readonly status: UsageStatus;
  /** Value of the metric label `kind`: the class of the error, or the reason why the job was aborted. */
  readonly kind: string;
}

/**
 * Error message for a provider that rejects our credentials. It omits the reason, because callers must not learn about the service's
 * credentials.
 */
const NOT_SET_UP =
  "The model is unavailable: its provider rejects the setup of this service; ask the operator of the service.";

const CLASSES: Readonly<Record<Exclude<ProviderErrorClass, "aborted" | "no_route">, { code: Code; message: string }>> =
  {
    rejected: { code: "invalid_request", message: "The model does not accept this request." },
    refused: { code: "upstream_refused", message: "The model's provider refused this request." },
    misconfigured: { code: "model_unavailable", message: NOT_SET_UP },
    busy: { code: "overloaded", message: "The model's provider is busy; try again shortly." },
    failed: { code: "upstream_error", message: "The model's provider returned an error." },
    timeout: { code: "upstream_timeout", message: "The model's provider did not respond in time." },
    unknown: { code: "upstream_timeout", message: "The model's provider did not report the result of the call." },
  };

const REJECTED_MESSAGES: Readonly<Record<string, string>> = {
  context_length_exceeded: "The messages are longer than the model's context.",
  unsupported_value: "The model does not accept the value of this parameter.",
};

/** Returns the failure for an error of a chat call. @param reason abort reason of the call's signal, if it was aborted */
export function explainFailure(error: unknown, reason: unknown): ChatFailure {
  const abort = abortReasonOf(reason);
  if (abort !== undefined) return explainAbort(abort);
  if (!(error instanceof ProviderError)) throw error;
  const kind = error.kind === "aborted" ? "failed" : error.kind;
  if (kind === "no_route") return explainNoRoute(error);
  const { code, message } = CLASSES[kind];
  const isRejected = kind === "rejected" && error.code !== undefined;
  return {
    code: isRejected && error.code ? error.code : code,
    message: isRejected ? (error.say ?? REJECTED_MESSAGES[error.code ?? ""] ?? message) : message,
    param: kind === "rejected" ? error.param : null,
    // A provider that timed out may have done, and charged, the work. A configuration error is not fixed within seconds.
    retry: kind !== "timeout" && kind !== "unknown" && kind !== "misconfigured",
    ...(error.retryAfterMs === undefined ? {} : { retryAfterS: Math.ceil(error.retryAfterMs / 1_000) }),
    status: "failed",
    kind,
  };
}

/**
 * Returns the error message for a conversation that exceeds the model's context. Clients of Anthropic's API recognize the message by its
 * first words, read both numbers, and shorten the conversation.
 * @param detail the provider's own message, of which only the numbers are used
 */
export function tooLongMessage(detail: string, contextTokens: number | undefined): string {
  const [used, most] = overflowIn(detail) ?? [];
  if (used !== undefined && most !== undefined) return `prompt is too long: ${used} tokens > ${most} maximum`;
  const context = contextTokens === undefined ? "" : ` of ${contextTokens} tokens`;
  return `prompt is too long: the messages are longer than the model's context${context}`;
}

/**
 * Patterns of error messages from Anthropic, OpenAI, vLLM and Google that state the tokens of the request and the maximum tokens of the
 * context.
 */
const OVERFLOWS: readonly { readonly pattern: RegExp; readonly isMostFirst?: true }[] = [
  { pattern: /\btoo long: (\d{1,12}) tokens > (\d{1,12})/i },
  { pattern: /\bcontext limit: (\d{1,12}) \+ (\d{1,12}) > (\d{1,12})/i },
  { pattern: /\btoken count \((\d{1,12})\) exceeds the maximum number of tokens allowed \((\d{1,12})\)/i },
  {
    pattern:
      /\b(?:context length is|limit of) (\d{1,12}) tokens\b.{0,60}?\b(?:resulted in|requested|contains|has)(?: about)? (\d{1,12})\b/i,
    isMostFirst: true,
  },
];

function overflowIn(detail: string): [used: number, most: number] | undefined {
  for (const { pattern, isMostFirst } of OVERFLOWS) {
    const numbers = pattern.exec(detail)?.slice(1).map(Number);
    if (numbers === undefined) continue;
    const [most = 0, ...used] = isMostFirst ? numbers : numbers.toReversed();
    return [used.reduce((sum, part) => sum + part, 0), most];
  }
  return undefined;
}

/** Returns the failure of a call that could not be sent to any source, because all sources are temporarily disabled or misconfigured. */
function explainNoRoute({ retryAfterMs = 0, isSetup }: ProviderError): ChatFailure {
  const retryAfterS = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  const message =
    "Every provider of this model is temporarily disabled after errors; retry after the seconds in the header retry-after.";
  return {
    ...(isSetup ? CLASSES.misconfigured : { code: "service_unavailable", message }),
    param: null,
    retry: true,
    retryAfterS,
    status: "failed",
    kind: "no_route",
  };
}

function explainAbort(abort: AbortReason): ChatFailure {
  const common = { param: null, kind: abort };
  switch (abort) {
    case "deadline":
      return { ...common, code: "upstream_timeout", message: CLASSES.timeout.message, retry: false, status: "failed" };
    case "shutdown":
      return {
        ...common,
        code: "service_unavailable",
        message: "The service is restarting; try again shortly.",
        retry: true,
        status: "failed",
      };
    case "caller_left":
    case "caller_gone":
      return {
        ...common,
        code: "service_unavailable",
        message: "The client closed the connection.",
        retry: false,
        status: "cancelled",
      };
    default:
      return abort satisfies never;
  }
}
