/** Writes the reference entry of one operation, as Markdown. */
import { ERROR_GUIDE } from "#shared/base/error-guide.ts";
import type { Code } from "#shared/base/errors.ts";

import streams from "../../../openapi/examples/streams.json" with { type: "json" };
import {
  type ApiResponse,
  type Endpoint,
  type MediaType,
  type OpenApiDocument,
  type Parameter,
  type Resolve,
  type Schema,
  statedExample,
} from "./document.ts";
import { exampleOf } from "./example.ts";
import { notesOf, type Row, rowsOf, typeText } from "./rows.ts";
import { requestExample, snippetsOf } from "./snippets.ts";

/** Facts about an operation that the OpenAPI document does not contain. */
export interface OperationFacts {
  /** Roles that may call the operation. Absent: every role. */
  readonly roles?: readonly string[];
}

/** Maximum length of an example, in characters. A longer example is not shown. */
const EXAMPLE_CHARS_MAX = 6_000;

export function operationMarkdown(
  endpoint: Endpoint,
  document: OpenApiDocument,
  resolve: Resolve,
  facts: OperationFacts = {},
): string {
  const { description, parameters, requestBody } = endpoint;
  const parts = [
    description ?? "",
    accessOf(endpoint, facts),
    `## Example\n\n${snippetsOf(endpoint, document, resolve)}`,
    ...parametersOf(parameters, resolve),
    requestBody ? bodyOf(endpoint, document, resolve) : "",
    responsesOf(endpoint, document, resolve),
    errorsOf(endpoint, document),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function accessOf({ security }: Endpoint, { roles }: OperationFacts): string {
  const schemes = security.flatMap((one) => Object.keys(one));
  if (schemes.length === 0) return "**Authentication:** none.";
  if (schemes.includes("operatorToken"))
    return "**Authentication:** an operator token as `Authorization: Bearer <token>`.";
  const who = roles === undefined ? "" : ` **Roles:** ${roles.join(", ")}.`;
  return `**Authentication:** an API key as \`Authorization: Bearer <key>\` or \`x-api-key: <key>\`.${who}`;
}

const PLACES = { path: "Path parameters", query: "Query parameters", header: "Request headers" } as const;

function parametersOf(parameters: readonly Parameter[], resolve: Resolve): string[] {
  return (["path", "query", "header"] as const).flatMap((place) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    if (own.length === 0) return [];
    const rows = own.map(({ name, required, description, schema }) => ({
      name,
      type: typeText(schema, resolve),
      isRequired: required === true,
      notes: notesOf({ ...resolve(schema), ...(description === undefined ? {} : { description }) }, resolve),
    }));
    return [`## ${PLACES[place]}\n\n${table(place === "header" ? "Header" : "Parameter", rows)}`];
  });
}

function bodyOf(endpoint: Endpoint, document: OpenApiDocument, resolve: Resolve): string {
  const { requestBody } = endpoint;
  const content = Object.entries(requestBody?.content ?? {});
  const need = requestBody?.required === false ? " The body is optional." : "";
  const json = requestBody?.content["application/json"];
  const example = requestExample(endpoint, document, resolve);
  const exampleSection = json && example !== undefined ? `\n\n### Request example\n\n${jsonFence(example)}` : "";
  const types = content.map(([type]) => `\`${type}\``).join(" or ");
  const [, media] = content[0] ?? [];
  const files = requestBody?.content["multipart/form-data"];
  const parts = json && files ? `\n\n${fileParts(files, resolve)}` : "";
  return `## Request body\n\n${types}.${need}\n\n${membersOf(media?.schema, resolve)}${parts}${exampleSection}`;
}

/** Describes the fields of a form that contain files. */
function fileParts({ schema }: MediaType, resolve: Resolve): string {
  const names = rowsOf(schema ?? {}, resolve).rows.filter(
    ({ name, type }) => type === "string" && isBytes(schema, name, resolve),
  );
  if (names.length === 0) return "";
  return `A form (\`multipart/form-data\`) has the same members, and these files: ${names.map(({ name }) => `\`${name}\``).join(", ")}.`;
}

function isBytes(schema: Schema | undefined, name: string, resolve: Resolve): boolean {
  const parts = schema?.allOf ?? [];
  return parts.some((part) => resolve(resolve(part).properties?.[name] ?? {}).format === "binary");
}

function membersOf(schema: Schema | undefined, resolve: Resolve): string {
  if (!schema) return "";
  const full = resolve(schema);
  const { rows: list, isCut } = rowsOf(full.items ?? full, resolve);
  const link =
    full.title === undefined ? "" : ` The whole schema is [${full.title}.json](/schemas/${full.title}.json).`;
  if (list.length === 0) return `The body is of type ${typeText(schema, resolve)}.${link}`;
  const cut = isCut ? `\n\nThe tables do not show all nested properties.${link}` : "";
  return tablesOf(list) + cut;
}

/** Returns the tables of members: one for the body, one for the nested members of each object, and one for each variant of a union. */
function tablesOf(rows: readonly Row[]): string {
  const groups = Map.groupBy(rows, groupOf);
  // Members of every variant come before those of one; the order of the schema is kept otherwise.
  const parts = [...groups].map(([group, own]) => {
    const [first] = own;
    if (first === undefined || group === "") return table("Property", own);
    const { variant } = first;
    const around = variant?.path ?? /^[^.[]+(?:\[\]|\.\*)*/.exec(first.name)?.[0] ?? group;
    // `messages[].` of `messages[].content` is said once, in the heading.
    const within = own.map((row) => ({
      ...row,
      name: row.name.startsWith(`${around}.`) ? row.name.slice(around.length + 1) : row.name,
    }));
    const place = around === "" ? "the body" : `\`${around}\``;
    const which = variant === undefined ? "" : ` with ${variant.label}`;
    return `#### Properties of ${place}${which}\n\n${table("Property", within)}`;
  });
  return parts.join("\n\n");
}

/** Returns the key of the table that a row belongs to; empty for members of the body itself. */
function groupOf({ name, variant }: Row): string {
  if (variant !== undefined) return `${variant.path} ${variant.label}`;
  return isNested(name) ? (/^[^.[]+/.exec(name)?.[0] ?? "") : "";
}

function isNested(name: string): boolean {
  return /.[.[]/.test(name);
}

function table(head: string, rows: readonly Row[]): string {
  const lines = rows.map(
    ({ name, type, isRequired, notes }) =>
      `| \`${name}\` | ${cell(type)}${isRequired ? ", **required**" : ""} | ${cell(notes)} |`,
  );
  return `| ${head} | Type | Description |\n|---|---|---|\n${lines.join("\n")}`;
}

/** Escapes text for a table cell, which a vertical bar or a line break would end. */
function cell(text: string): string {
  return text.replaceAll("|", String.raw`\|`).replaceAll(/\s*\n\s*/g, " ");
}

function responsesOf(endpoint: Endpoint, document: OpenApiDocument, resolve: Resolve): string {
  const { responses, method } = endpoint;
  const good = Object.entries(responses).filter(([status]) => Number(status) < 400);
  const parts = good.map(([status, response]) => {
    const { description, content = {} } = response;
    const bodies = Object.entries(content);
    const plain = bodies.filter(([type]) => !isJson(type)).map(([type]) => `\`${type}\``);
    const jsonBodies = bodies
      .filter(([type]) => isJson(type))
      .map(([type, media]) => responseBody(type, media, { endpoint, document, resolve }));
    return [
      `### ${status}`,
      sentence(description),
      ...(plain.length === 0 ? [] : [`Body: ${plain.join(", ")}.`]),
      ...jsonBodies,
      headersOf(response, document.components.headers),
    ]
      .filter((part) => part !== "")
      .join("\n\n");
  });
  return parts.length === 0
    ? `## Responses\n\n${method} has no successful response.`
    : `## Responses\n\n${parts.join("\n\n")}`;
}

function isJson(type: string): boolean {
  return type === "application/json" || type === "text/event-stream";
}

interface Around {
  readonly endpoint: Endpoint;
  readonly document: OpenApiDocument;
  readonly resolve: Resolve;
}

function responseBody(type: string, media: MediaType, around: Around): string {
  const { schema = {} } = media;
  const { endpoint, resolve } = around;
  const stream = type === "text/event-stream" ? streamText(endpoint.operationId) : undefined;
  const text = stream === undefined ? jsonFence(responseExample(media, around)) : fenced("text", stream);
  const isAny = Object.keys(resolve(schema)).length === 0;
  return `Body: \`${type}\`.${isAny ? "" : `\n\n${text}\n\n${membersOf(schema, resolve)}`}`;
}

/**
 * Returns an example of a response body. In order of preference: the response's own example, the example of another status with the same
 * schema, an example built from the schema.
 */
function responseExample(media: MediaType, { endpoint, document, resolve }: Around): unknown {
  const { schema = {} } = media;
  const others = Object.values(endpoint.responses).flatMap(({ content = {} }) => content["application/json"] ?? []);
  const same = others.filter((other) => schema.$ref !== undefined && other.schema?.$ref === schema.$ref);
  for (const one of [media, ...same]) {
    const stated = statedExample(one, document);
    if (stated !== undefined) return stated;
  }
  return exampleOf(schema, resolve, "all");
}

function jsonFence(value: unknown): string {
  return fenced("json", JSON.stringify(value, null, 2));
}

function fenced(language: string, text: string): string {
  const short = text.length > EXAMPLE_CHARS_MAX ? `${text.slice(0, EXAMPLE_CHARS_MAX)}\n…` : text;
  return `\`\`\`${text.length > EXAMPLE_CHARS_MAX ? "text" : language}\n${short}\n\`\`\``;
}

function headersOf({ headers = {} }: ApiResponse, known: OpenApiDocument["components"]["headers"]): string {
  const rows = Object.keys(headers).map(
    (name) => `| \`${name}\` | ${cell(known[name]?.description ?? headers[name]?.description ?? "")} |`,
  );
  return rows.length === 0 ? "" : `| Header | Description |\n|---|---|\n${rows.join("\n")}`;
}

/** Returns the "Errors" section of an operation: a table of its statuses and error codes, and examples of error bodies. */
function errorsOf({ responses, security }: Endpoint, document: OpenApiDocument): string {
  const isOperator = security.some((one) => Object.hasOwn(one, "operatorToken"));
  const bad = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  if (bad.length === 0) return "";
  const rows = bad.flatMap(([status, { description }]) => {
    const codes = codesIn(description);
    // A status without a code of the error envelope, such as an error of JSON-RPC.
    if (codes.length === 0) return [`| ${status} | | ${cell(sentence(description))} |`];
    return codes.map(
      (code) => `| ${status} | [\`${code}\`](../reference/errors.md#${code}) | ${cell(causeOf(code, isOperator))} |`,
    );
  });
  const examples = bad.flatMap(([status, { content = {} }]) => {
    const value = statedExample(content["application/json"] ?? {}, document);
    return value === undefined ? [] : [`${status} ${JSON.stringify(value)}`];
  });
  const exampleSection =
    examples.length === 0 ? "" : `\n\nExamples of bodies:\n\n${fenced("text", examples.join("\n"))}`;
  return `## Errors\n\n| Status | Code | Cause |\n|---|---|---|\n${rows.join("\n")}${exampleSection}`;
}

function causeOf(code: Code, isOperator: boolean): string {
  const { cause, operator } = ERROR_GUIDE[code];
  return isOperator ? (operator?.cause ?? cause) : cause;
}

/** Returns the error codes that an error response's description names. */
function codesIn(description: string): Code[] {
  return [...description.matchAll(/`([a-z_]+)`/g)].flatMap(([, code = ""]) =>
    Object.hasOwn(ERROR_GUIDE, code) ? [code as Code] : [],
  );
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

interface StreamEvent {
  /** Event name, from the `event:` line. */
  readonly event?: string;
  readonly id?: string;
  /** Parsed JSON of the event, or `[DONE]`. */
  readonly data: unknown;
}

/** Example event streams by operationId, taken from recorded responses. Some events of long streams are left out. */
export const STREAMS: Readonly<Record<string, readonly StreamEvent[]>> = streams;

/** Returns the example event stream of an operation as text; undefined for an operation without one. */
function streamText(operationId: string): string | undefined {
  if (!Object.hasOwn(STREAMS, operationId)) return undefined;
  return STREAMS[operationId]?.map(eventText).join("\n\n");
}

function eventText({ event, id, data }: StreamEvent): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    `data: ${typeof data === "string" ? data : JSON.stringify(data)}`,
  ];
  return lines.join("\n");
}
