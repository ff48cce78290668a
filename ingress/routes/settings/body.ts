/** Reads bodies of settings routes: JSON that matches a published schema, and names chosen by people. */
import type { SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isReservedId, isUuid, newId } from "#shared/base/ids.ts";
import { readJson } from "#shared/json/parse.ts";
import { isPlainText } from "#shared/base/plain-text.ts";
import { reused } from "#shared/json/same-request.ts";
import { WORKSPACE_RENAMES_MAX } from "#shared/database/workspaces.ts";

import { readJsonBody } from "../../core/body.ts";
import type { RequestFacts } from "../../core/call.ts";

export const SETTINGS_BODY_BYTES_MAX = 65_536;
const SETTINGS_NAME_CHARS_MAX = 64;

/** Parses the body of a request. @throws ApiError for a body that does not match its schema */
export async function parsedBody<N extends SchemaName>(call: RequestFacts, name: N): Promise<SchemaTypes[N]> {
  return (await parsedText(call, name)).body;
}

/** Returns the parsed body and its original text. The text is needed because parsed numbers may have lost digits. */
export async function parsedText<N extends SchemaName>(
  call: RequestFacts,
  name: N,
): Promise<{ readonly body: SchemaTypes[N]; readonly text: string }> {
  const { text, value } = readJson(await readJsonBody(call.request, SETTINGS_BODY_BYTES_MAX));
  return { body: parse(name, value), text };
}

/** Parses an optional body. An absent body counts as an empty object. */
export async function optionalBody<N extends SchemaName>(call: RequestFacts, name: N): Promise<SchemaTypes[N]> {
  const { headers, body } = call.request;
  const isEmpty = body === null || headers.get("content-length") === "0";
  return isEmpty ? parse(name, {}) : parsedBody(call, name);
}

/** Parses JSON with each number as the text of its digits, because a parsed number may lose the last digits. */
export function exactJson(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context: { readonly source?: string }): unknown =>
    typeof value === "number" ? context.source : value;
  // TypeScript's types lack the third argument (ECMAScript's "JSON.parse source text access").
  return JSON.parse(text, keepDigits as Parameters<JSON["parse"]>[1]);
}

/** Returns the digits of a number as written in the body's text. */
export function digitsOf(text: string, member: string): string {
  return (exactJson(text) as Readonly<Record<string, string>>)[member] ?? "";
}

/** Checks a name and returns it. @throws ApiError `unsupported_value` */
export function plainName(name: string, param = "name"): string {
  if (isPlainText(name, SETTINGS_NAME_CHARS_MAX)) return name;
  const expected = `1 to ${SETTINGS_NAME_CHARS_MAX} characters, without control characters and without spaces at its ends`;
  throw new ApiError("unsupported_value", `Expected ${param} to have ${expected}.`, { param });
}

/** Returns the id that the caller chose for a new row, or a generated one. @throws ApiError `unsupported_value` */
export function createdId({ id }: { readonly id?: string }): string {
  // Sweeps over ids start after the nil UUID.
  const fault = (expected: string) =>
    new ApiError("unsupported_value", `Expected id to be ${expected}.`, { param: "id" });
  if (id === NIL) throw fault("a UUID other than the nil UUID");
  // A key with the id of a label would replace the limits of the label.
  if (id !== undefined && isReservedId(id))
    throw fault("a UUID of another version than 8, which the service uses itself");
  return id?.toLowerCase() ?? newId();
}

const NIL = "00000000-0000-0000-0000-000000000000";

/** Returns the id in the URL path. An invalid id counts as unknown. @throws the error that `unknown` returns */
export function pathId(call: RequestFacts, name: string, unknown: () => ApiError): string {
  const id = call.params[name]?.toLowerCase() ?? "";
  if (!isUuid(id)) throw unknown();
  return id;
}

export function reusedId(): ApiError {
  return reused("The id is already used for another request; use a new id.", "id");
}

/** Returns the error for a workspace name that is already taken, or for a workspace that was renamed too often. */
export function workspaceNameRefused(why: "taken" | "often"): ApiError {
  const sentence =
    why === "taken"
      ? "Another workspace has this name, or had it in the last 30 days."
      : `A workspace can be renamed at most ${WORKSPACE_RENAMES_MAX} times in 30 days.`;
  return new ApiError("conflict", sentence, { param: "name" });
}

export function nameTaken(what: string): ApiError {
  return new ApiError("conflict", `The workspace already has ${what} with this name.`, { param: "name" });
}
