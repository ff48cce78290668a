/**
 * Maps Google's errors for videos to error classes. A refusal has no code of its own, so it is recognized by its text and support codes.
 * Sources: google/rpc/code.proto, docs.cloud.google.com "Responsible AI and usage guidelines for Veo".
 */
import { textIn, isMembers } from "../json.ts";
import { unreadableImage } from "../image-fields.ts";
import { ProviderError } from "../provider.ts";

import { classifyAnswer, classifyErrorMember } from "./errors.ts";

/** Names of google.rpc status codes; the index is the code. */
const RPC_STATUSES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

const REFUSED_WORDS =
  /\bResponsible AI\b|\busage guidelines\b|\bsupport codes?\b|\b(?:violates?|blocked)\b[^.]{0,200}\b(?:safety|polic(?:y|ies))\b/i;
const REFUSED_CODES = /^(?:image_)?(?:safety|prohibited_content|blocklist|spii)$/i;
const UNREADABLE_WORDS =
  /\bunable to process input image\b|\bimage\b[^.]{0,200}\b(?:not valid|not supported|unsupported|could not be decoded)\b/i;

/** Returns the error of a response that is not 2xx. */
export function classifyVideo(status: number, headers: Headers, text: string): ProviderError {
  return sharpened(classifyAnswer(status, headers, text));
}

/** Classifies the `google.rpc.Status` of an operation that ended with an error. */
export function classifyOperation(value: unknown): ProviderError {
  const { code } = isMembers(value) ? value : {};
  const rpcStatus = typeof code === "number" ? RPC_STATUSES[code] : undefined;
  return sharpened(
    classifyErrorMember(isMembers(value) && rpcStatus !== undefined ? { ...value, status: rpcStatus } : value),
  );
}

/** Classifies an error of an interaction. Its `code` is a name, or a URL that ends with a name. */
export function classifyInteraction(value: unknown): ProviderError {
  const { code, message } = isMembers(value) ? value : {};
  const said = textIn(code)?.split(/[/#]/).at(-1) ?? "";
  if (REFUSED_CODES.test(said)) return new ProviderError("refused", textIn(message) ?? said);
  if (typeof code === "number") return classifyOperation(value);
  const rpcStatus = said.toUpperCase();
  return sharpened(
    classifyErrorMember({ message, status: rpcStatus === "INVALID_REQUEST" ? "INVALID_ARGUMENT" : rpcStatus }),
  );
}

function sharpened(error: ProviderError): ProviderError {
  if (error.kind !== "rejected" && error.kind !== "failed") return error;
  const facts = error.status === undefined ? {} : { status: error.status };
  if (REFUSED_WORDS.test(error.detail)) return new ProviderError("refused", error.detail, facts);
  if (error.kind === "failed") return error;
  if (UNREADABLE_WORDS.test(error.detail)) {
    return unreadableImage(error.detail, "image", { ...facts, kind: "video" });
  }
  if (error.code === undefined) return error;
  // Video calls have a prompt and no messages, so a too long input is the prompt.
  return new ProviderError("rejected", error.detail, { ...facts, code: error.code, param: "prompt" });
}
