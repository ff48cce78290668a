/** ElevenLabs' errors as its API sends them: an object with a word, a list of faults in the request, or a text. */
import { jsonReply, type TextReply, VENDOR_MARK } from "../engine/behaviour.ts";

const said = (status: number, word: string, headers?: Readonly<Record<string, string>>): TextReply =>
  jsonReply(status, { detail: { status: word, message: `Something on ${word} (${VENDOR_MARK})` } }, headers);

/** The newer form names the same thing three times. */
const newer = (status: number, type: string, code: string): TextReply =>
  jsonReply(status, {
    detail: { type, code, message: `Something on ${code} (${VENDOR_MARK})`, status: code, request_id: "r1" },
  });

const fault = (...loc: readonly string[]): TextReply =>
  jsonReply(422, { detail: [{ loc, msg: `Input should be other (${VENDOR_MARK})`, type: "value_error" }] });

export const ERRORS = {
  "invalid-key": said(401, "invalid_api_key"),
  quota: said(401, "quota_exceeded"),
  "missing-permissions": said(401, "missing_permissions"),
  "unusual-activity": said(401, "detected_unusual_activity"),
  "payment-required": newer(402, "payment_required", "insufficient_credits"),
  "format-not-allowed": said(403, "output_format_not_allowed"),
  "voice-not-found": said(404, "voice_not_found"),
  "voice-not-found-400": said(400, "voice_not_found"),
  "voice-malformed": said(400, "invalid_uid"),
  "too-long": said(400, "max_character_limit_exceeded"),
  "model-not-found": newer(404, "not_found", "model_not_found"),
  "unknown-model": said(400, "invalid_model_id"),
  "against-policy": said(400, "content_against_policy"),
  "bad-audio": said(400, "invalid_audio"),
  "too-large": said(413, "file_too_large"),
  "too-many": said(429, "too_many_concurrent_requests", { "retry-after": "3" }),
  "too-many-newer": newer(429, "rate_limit_error", "concurrent_limit_exceeded"),
  busy: said(429, "system_busy"),
  "fault-speed": fault("body", "voice_settings", "speed"),
  "fault-text": fault("body", "text"),
  "fault-model": fault("body", "model_id"),
  "fault-format": fault("query", "output_format"),
  "fault-body": fault("body"),
  "plain-detail": jsonReply(404, { detail: "Not Found" }),
  "plain-detail-405": jsonReply(405, { detail: "Method Not Allowed" }),
  "server-error": said(500, "internal_server_error"),
  unavailable: jsonReply(503, ""),
} as const satisfies Record<string, TextReply>;

export type ErrorName = keyof typeof ERRORS;

export const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];
