/**
 * Maps ElevenLabs' error bodies to error classes. The error code in the body takes precedence over the HTTP status, which is ambiguous. For
 * example, 401 is a wrong key or a spent quota. Source: elevenlabs.io/docs/developers/resources/error-messages.
 */
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";
import { unreadable } from "../transcription.ts";

const CLASS_OF_CODE: Readonly<Record<string, ProviderErrorClass>> = {
  invalid_api_key: "misconfigured",
  missing_api_key: "misconfigured",
  invalid_authorization_header: "misconfigured",
  needs_authorization: "misconfigured",
  missing_permissions: "misconfigured",
  quota_exceeded: "misconfigured",
  insufficient_credits: "misconfigured",
  payment_issue: "misconfigured",
  payment_required: "misconfigured",
  subscription_required: "misconfigured",
  detected_unusual_activity: "misconfigured",
  output_format_not_allowed: "misconfigured",
  model_not_found: "misconfigured",
  invalid_model_id: "misconfigured",
  unsupported_model: "misconfigured",
  model_can_not_do_text_to_speech: "misconfigured",
  content_against_policy: "refused",
  content_policy_violation: "refused",
  bad_prompt: "refused",
  too_many_concurrent_requests: "busy",
  concurrent_limit_exceeded: "busy",
  too_many_requests: "busy",
  rate_limit_exceeded: "busy",
  system_busy: "busy",
};

/** ElevenLabs' error codes that blame the request, with our error message for the client. */
const REJECTED: Readonly<
  Record<string, { code: "unsupported_value" | "invalid_request"; param: string; say: string }>
> = {
  ...mapEach(["voice_not_found", "invalid_uid", "voice_does_not_exist", "invalid_voice_id"], {
    code: "unsupported_value",
    param: "voice",
    say: "The model has no voice with this name; GET /v1/models lists its voices.",
  }),
  ...mapEach(["max_character_limit_exceeded", "text_too_long"], {
    code: "invalid_request",
    param: "input",
    say: "The text is longer than this model accepts in one call.",
  }),
  ...mapEach(["empty_text", "input_text_empty", "text_empty"], {
    code: "invalid_request",
    param: "input",
    say: "The text contains nothing that can be spoken.",
  }),
  ...mapEach(["unsupported_language", "invalid_language_code", "language_not_supported"], {
    code: "unsupported_value",
    param: "language",
    say: "The model does not support this language.",
  }),
  ...mapEach(["file_too_large", "audio_too_long", "content_too_large"], {
    code: "invalid_request",
    param: "file",
    say: "The audio is larger or longer than this model accepts.",
  }),
};

const UNREADABLE: ReadonlySet<string> = new Set([
  "invalid_audio",
  "invalid_audio_file",
  "invalid_content",
  "invalid_file",
  "audio_too_short",
  "corrupted_audio",
  "empty_file",
  "unsupported_file_format",
]);

/** Maps ElevenLabs' member names to our parameter names, for errors that contain only a member name. */
const PARAMS: Readonly<Record<string, string>> = {
  text: "input",
  voice_id: "voice",
  speed: "speed",
  language_code: "language",
  file: "file",
  temperature: "temperature",
  prompt: "prompt",
  music_length_ms: "duration",
  lyrics_text: "lyrics",
};

interface ErrorBody {
  readonly message: string;
  readonly codes: readonly string[];
  /** Request member that a validation error names; undefined for other errors. */
  readonly member: string | undefined;
}

/**
 * Returns the error for a response with an error status.
 * @param text body as received; only logged, and truncated
 */
export function classifyAnswer(status: number, headers: Headers, text: string): ProviderError {
  const body = readErrorBody(text);
  const detail = [body.codes[0], body.message].filter(Boolean).join(": ") || `status ${status}`;
  const known = body.codes.find((code) => Object.hasOwn(REJECTED, code));
  if (known !== undefined) return new ProviderError("rejected", detail, { ...REJECTED[known], status });
  if (body.codes.some((code) => UNREADABLE.has(code))) return unreadable(detail, status);
  const code = body.codes.find((candidate) => Object.hasOwn(CLASS_OF_CODE, candidate));
  const kind = (code === undefined ? undefined : CLASS_OF_CODE[code]) ?? classOfStatus(status, body);
  const param = kind === "rejected" ? paramOf(body) : undefined;
  const retryAfterMs = retryAfter(headers);
  return new ProviderError(kind, detail, {
    status,
    ...(param === undefined ? {} : { param, code: "unsupported_value" }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function paramOf({ member }: ErrorBody): string | undefined {
  return member !== undefined && Object.hasOwn(PARAMS, member) ? PARAMS[member] : undefined;
}

function classOfStatus(status: number, body: ErrorBody): ProviderErrorClass {
  if (status === 429 || status === 503 || status === 529) return "busy";
  if (status === 401 || status === 402 || status === 403 || status === 404 || status === 410) return "misconfigured";
  if (status === 408 || status === 504) return "timeout";
  // We set this member, since callers cannot.
  if (status < 400 || status > 499) return "failed";
  return body.member === undefined || paramOf(body) !== undefined ? "rejected" : "misconfigured";
}

/** Reads `detail` of an error body. It is an object with an error code, a list of validation errors, or a text. */
function readErrorBody(text: string): ErrorBody {
  let detail: unknown;
  try {
    detail = (JSON.parse(text) as { detail?: unknown } | null)?.detail;
  } catch {
    return { message: text.slice(0, 500), codes: [], member: undefined };
  }
  if (Array.isArray(detail)) return readFaults(detail);
  if (typeof detail === "string") return { message: detail, codes: [], member: undefined };
  const { status, code, type, message } = (detail ?? {}) as Readonly<Record<string, unknown>>;
  const said = [status, code, type].filter((value): value is string => typeof value === "string" && value !== "");
  return { message: typeof message === "string" ? message : "", codes: said, member: undefined };
}

/** Reads a list of validation errors, `[{loc: ["body", "voice_settings", "speed"], msg, type}]`. Only the first entry is used. */
function readFaults(faults: readonly unknown[]): ErrorBody {
  const { loc, msg } = (faults[0] ?? {}) as Readonly<Record<string, unknown>>;
  const path = Array.isArray(loc) ? loc.map(String) : [];
  const member = path.findLast((step) => !/^\d+$/.test(step));
  const message = `${path.join(".").slice(0, 200)}: ${typeof msg === "string" ? msg : "no message"}`;
  return { message, codes: [], member: member === "body" || member === "query" ? undefined : member };
}

function mapEach<Meaning>(names: readonly string[], meaning: Meaning): Record<string, Meaning> {
  return Object.fromEntries(names.map((name) => [name, meaning]));
}
