/**
 * A record of what clients are answered, in recorded-answers.json: each call of these tests with its status, headers and body. A
 * change that a client would notice shows as a difference. `RECORD_ANSWERS=on npm test -- tests/e2e/openapi` writes it anew.
 */
import { expect } from "bun:test";
import { join } from "node:path";

import { createTwoFilesPatch } from "diff";

import type { Document } from "./checked-api.ts";
import { createPlaceholders, formOf, type Placeholders } from "./placeholders.ts";

const FILE = join(import.meta.dir, "recorded-answers.json");

/** Operations whose lists differ from run to run, or with every model that comes: their form is kept. */
const FORMS: ReadonlySet<string> = new Set([
  "listPublicModels",
  "listModels",
  "listCapabilities",
  "listWorkflowTemplates",
  "listFiles",
  "listRuns",
  "listWorkflowRuns",
  "readUsage",
  "getKeyUsage",
  "getKeyCredits",
  "listLedger",
  "listAuditLog",
  "getOperatorStatus",
  "listOperatorPools",
  "getOperatorPool",
  "getOperatorCatalogue",
  "listOperatorSources",
  "checkOperatorCatalogue",
  "listOperatorAuditLog",
  "listOperatorWorkspaces",
  "listOperatorTokens",
]);

/** Members and headers that differ from run to run, by the name of the record. */
const VARYING: Readonly<Record<string, readonly string[]>> = {
  // A mesh costs by the time that it takes.
  createMesh: ["x-credits-used", "credits_used"],
  getCredits: ["credits", "available", "credits_per_day", "days_left"],
  createBalanceAlert: ["available", "days_left"],
  listBalanceAlerts: ["available", "days_left"],
  getBalanceAlert: ["available", "days_left"],
  updateBalanceAlert: ["available", "days_left"],
  listOperatorLedger: ["id", "first_id", "last_id"],
  // Seconds that are left.
  service_unavailable: ["retry-after"],
  ip_rate_limit_exceeded: ["retry-after"],
};

/** Headers of the transport, not of the answer. */
const TRANSPORT: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

export interface Exchange {
  readonly operationId: string;
  readonly method: string;
  /** Path as the document writes it. */
  readonly path: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly answer: Response;
}

const records: Record<string, object> = {};

/** Keeps an answer under its name; a further one of the same name is numbered. The answer can still be read. */
export async function keepAnswer(exchange: Exchange, name = exchange.operationId): Promise<void> {
  const { method, path, query = "", body, answer } = exchange;
  const placeholders = createPlaceholders(VARYING[name]);
  const record = {
    request: placeholders.text(`${method} ${path}${query}`),
    ...(body === undefined
      ? {}
      : { sent: placeholders.value(shortened(body instanceof FormData ? fieldsOf(body) : body)) }),
    status: answer.status,
    headers: headersOf(answer.headers, placeholders),
    ...bodyOf(exchange, await answer.clone().text(), placeholders),
  };
  let key = name;
  for (let count = 2; key in records; count += 1) key = `${name} ${count}`;
  records[key] = record;
}

/** Names of what has been kept. */
export function keptNames(): readonly string[] {
  return Object.keys(records);
}

/** Holds all that was kept against the file, or writes it. */
export async function expectRecorded(): Promise<void> {
  const recorded = (await Bun.file(FILE).json()) as typeof records;
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(records)])];
  if (process.env["RECORD_ANSWERS"] === "on") {
    // In the order of the file, so that a change shows what it changes.
    const written = names.flatMap((name) => (records[name] ? [[name, records[name]] as const] : []));
    await Bun.write(FILE, `${print(Object.fromEntries(written))}\n`);
    return;
  }
  const differences = names.flatMap((name) => {
    const [was, is] = [print(recorded[name] ?? {}), print(records[name] ?? {})];
    return was === is ? [] : [createTwoFilesPatch(`${name}, as recorded`, `${name}, as answered`, was, is)];
  });
  const hint = `What is wanted is recorded by \`RECORD_ANSWERS=on npm test -- tests/e2e/openapi\`.`;
  expect(differences.length === 0 ? "" : [...differences, hint].join("\n")).toBe("");
}

const SENT_CHARS_MAX = 200;

/** Long texts by their beginning. */
function shortened(sent: unknown): unknown {
  const short = (_name: string, value: unknown): unknown =>
    typeof value === "string" && value.length > SENT_CHARS_MAX && value.includes(" ")
      ? `${value.slice(0, 40)}…`
      : value;
  return JSON.parse(JSON.stringify(sent, short));
}

function fieldsOf(form: FormData): object {
  const fields: Record<string, string> = {};
  form.forEach((value, name) => (fields[name] = typeof value === "string" ? value : `<${value.name}>`));
  return fields;
}

function headersOf(headers: Headers, placeholders: Placeholders): object {
  const own = [...headers].filter(([name]) => !TRANSPORT.has(name)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    own.map(([name, value]) => [
      name,
      name === "etag"
        ? "<etag>"
        : name === "content-range"
          ? value.replace(/\/\d{3,}$/, "/<n>")
          : placeholders.text(value, name),
    ]),
  );
}

/** Bytes that are made are told by their type, in the headers. */
function bodyOf(
  { operationId, answer }: Exchange,
  text: string,
  placeholders: Placeholders,
): { readonly body?: unknown; readonly events?: readonly unknown[] } {
  const type = answer.headers.get("content-type")?.split(";")[0]?.trim() ?? "";
  switch (type) {
    case "application/json": {
      const value: unknown = JSON.parse(text);
      if (operationId === "getSchema") return {};
      if (operationId === "getOpenApi") return { body: summaryOf(value as Document) };
      return { body: FORMS.has(operationId) && answer.ok ? formOf([value]) : placeholders.value(value) };
    }
    case "text/event-stream":
      return { events: eventsOf(text, placeholders) };
    case "text/csv":
      return { body: text.split("\n")[0] };
    case "text/plain":
    case "text/vtt":
    case "application/x-subrip":
      return { body: placeholders.text(text) };
    default:
      return {};
  }
}

/** Events in their order; of equal ones that follow each other, as pieces of sound and progress do, the first. */
function eventsOf(text: string, placeholders: Placeholders): readonly unknown[] {
  const events = text.split("\n\n").flatMap((block) => {
    const lines = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
    if (lines.length === 0) return [];
    const fields = lines.map((line) => /^(\w+): (.*)$/.exec(line)?.slice(1) ?? [line, ""]);
    const shown = fields.map(([name = "", said = ""]) => [
      name,
      said.startsWith("{") ? placeholders.value(JSON.parse(said)) : said,
    ]);
    const isEachOnce = new Set(shown.map(([name]) => name)).size === shown.length;
    return [isEachOnce ? Object.fromEntries(shown) : shown];
  });
  return events.filter((event, index) => JSON.stringify(event) !== JSON.stringify(events[index - 1]));
}

type Operation = Document["paths"][string][string];

/** Returns the OpenAPI document in short: what each operation takes, what it answers, and the codes that it refuses with. */
function summaryOf({ paths }: Document): object {
  const all = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${path} ${method.toUpperCase()}`, operation })),
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const gates = new Map<string, readonly string[]>();
  for (const { operation } of all) {
    const [gate, codes] = [gateOf(operation), codesOf(operation)];
    gates.set(
      gate,
      (gates.get(gate) ?? codes).filter((code) => codes.includes(code)),
    );
  }
  return {
    gates: Object.fromEntries([...gates].map(([gate, codes]) => [gate, codes.join(", ")])),
    operations: Object.fromEntries(
      all.map(({ name, operation }) => [name, shortOf(operation, gates.get(gateOf(operation)) ?? [])]),
    ),
  };
}

function shortOf(operation: Operation, gate: readonly string[]): object {
  const { operationId, parameters, requestBody, responses } = operation;
  const asked = parameters.filter((one) => one.in !== "path").map((one) => `${one.in} ${one.name}`);
  const codes = codesOf(operation).filter((code) => !gate.includes(code));
  const answers = Object.entries(responses).filter(([status]) => Number(status) < 400);
  return {
    is: `${operationId}, for ${gateOf(operation)}`,
    ...(asked.length === 0 ? {} : { asks: asked.join(", ") }),
    ...(requestBody === undefined ? {} : { takes: contentOf(requestBody.content) }),
    ...Object.fromEntries(
      answers.map(([status, { content = {}, headers = {} }]) => [
        status,
        [contentOf(content), ...Object.keys(headers)].filter((part) => part !== "").join(", "),
      ]),
    ),
    ...(codes.length === 0 ? {} : { refuses: codes.join(", ") }),
  };
}

/** Names of the credentials that it takes, or `everyone`. */
function gateOf({ security }: Operation): string {
  return security.flatMap((scheme) => Object.keys(scheme)).join(" or ") || "everyone";
}

function codesOf({ responses }: Operation): readonly string[] {
  return Object.entries(responses).flatMap(([status, { description }]) =>
    Number(status) < 400 ? [] : Array.from(description.matchAll(/`(\w+)`/g), ([, code = ""]) => code),
  );
}

function contentOf(content: Readonly<Record<string, { readonly schema?: object }>>): string {
  return Object.entries(content)
    .map(([type, { schema = {} }]) => {
      const names = Array.from(
        JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g),
        ([, name = ""]) => name,
      );
      return [type, ...new Set(names)].join(" ");
    })
    .join(", ");
}

const WIDTH_MAX = 120;

/** JSON in which whatever fits into a line stands on one. */
function print(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const flat = JSON.stringify(value, null, 1).replaceAll(/\n */g, " ");
  if (indent.length + flat.length <= WIDTH_MAX) return flat;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => inner + print(item, inner))
    : Object.entries(value).map(([name, member]) => `${inner}${JSON.stringify(name)}: ${print(member, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${parts.join(",\n")}\n${indent}${close}`;
}
