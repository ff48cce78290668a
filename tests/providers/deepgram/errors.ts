/** Deepgram's errors as its API sends them, in the older shape and the newer one. */
import { jsonReply, type TextReply, VENDOR_MARK } from "../engine/behaviour.ts";

const older = (status: number, code: string, message: string, headers?: Readonly<Record<string, string>>): TextReply =>
  jsonReply(status, { err_code: code, err_msg: `${message} (${VENDOR_MARK})`, request_id: "r1" }, headers);

const newer = (status: number, category: string, message: string): TextReply =>
  jsonReply(status, { category, message, details: `More on it (${VENDOR_MARK})`, request_id: "r1" });

export const ERRORS = {
  "invalid-key": older(401, "INVALID_AUTH", "Invalid credentials."),
  "invalid-key-newer": newer(401, "INVALID_AUTH", "Invalid credentials."),
  "no-credits": older(402, "ASR_PAYMENT_REQUIRED", "Project does not have enough credits for an ASR request."),
  forbidden: older(403, "INSUFFICIENT_PERMISSIONS", "Project does not have access to the requested model."),
  "no-project": older(404, "PROJECT_NOT_FOUND", "Project not found."),
  corrupt: older(400, "Bad Request", "Bad Request: failed to process audio: corrupt or unsupported data"),
  "unknown-combination": older(400, "Bad Request", "Bad Request: No such model/language/tier combination found."),
  "unknown-model": newer(400, "INVALID_QUERY_PARAMETER", "Unknown model."),
  "bad-query": newer(400, "INVALID_QUERY_PARAMETER", "Invalid query string."),
  "bad-json": newer(400, "INVALID_JSON", "Invalid JSON submitted."),
  "too-long": older(413, "INPUT_TEXT_TOO_LONG", "Input text exceeded maximum character limit of 2000."),
  "too-large": older(413, "PAYLOAD_TOO_LARGE", "Payload too large."),
  "slow-upload": older(408, "SLOW_UPLOAD", "The request timed out before it was whole."),
  incomplete: older(400, "PAYLOAD_ERROR", "Failed to receive the whole payload."),
  unprocessable: older(422, "UNPROCESSABLE_ENTITY", "Unable to process the audio."),
  "wrong-type": older(415, "UNSUPPORTED_MEDIA_TYPE", "Unsupported content type."),
  "too-many": older(429, "TOO_MANY_REQUESTS", "Too many requests. Please try again later.", { "retry-after": "3" }),
  "too-many-newer": newer(429, "RATE_LIMIT_EXCEEDED", "Rate limit exceeded."),
  "plain-text": { ...jsonReply(400, "User does not."), headers: { "content-type": "text/plain" } },
  "server-error": newer(500, "INTERNAL_SERVER_ERROR", "An internal error occurred."),
  unavailable: older(503, "SERVICE_UNAVAILABLE", "Try again."),
  timeout: { ...jsonReply(504, "<html></html>"), headers: { "content-type": "text/html" } },
} as const satisfies Record<string, TextReply>;

export type ErrorName = keyof typeof ERRORS;

export const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];
