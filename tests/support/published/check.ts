/**
 * Checks responses against the published descriptions of OpenAI's API and of Open Responses. Each response must match the description of
 * its operation in both. README.md lists the sources of the descriptions.
 */
import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from "ajv/dist/2020.js";

import { amend, ONLY_OPENAI } from "./differences.ts";
import openAi from "./openai.json" with { type: "json" };
import openResponses from "./open-responses.json" with { type: "json" };
import type { Operation } from "./watch.ts";

type Schemas = Record<string, Schema>;
export type Schema = Record<string, unknown>;

const DOCUMENTS = { openai: openAi as { components: { schemas: Schemas } }, "open-responses": openResponses as { components: { schemas: Schemas } } }; // prettier-ignore
export type DocumentName = keyof typeof DOCUMENTS;

/** Returns the differences of a JSON body from the published descriptions, one sentence each. */
export function bodyFaults(operation: Operation, status: number, body: unknown): readonly string[] {
  if (status >= 400) return faultsOf("openai", "ErrorResponse", body);
  return NAMES.flatMap((name) => {
    const schema = operation[name];
    return schema === undefined ? [] : faultsOf(name, schema, body);
  });
}

/** Returns the differences of one frame of an event stream, or of one WebSocket message, from the published descriptions. */
export function frameFaults(kind: "response" | "chat" | "socket", frame: unknown): readonly string[] {
  if (kind === "chat") {
    const isError = typeof frame === "object" && frame !== null && "error" in frame;
    return faultsOf("openai", isError ? "ErrorResponse" : "CreateChatCompletionStreamResponse", frame);
  }
  const type = (frame as { readonly type?: unknown } | null)?.type;
  if (typeof type !== "string") return ["an event has no type"];
  // An error that belongs to no stream.
  if (kind === "socket" && type === "error" && "status" in (frame as object))
    return faultsOf("open-responses", "WebSocketErrorEvent", frame);
  return NAMES.flatMap((name) => {
    const schema = EVENTS[name].get(type);
    if (schema !== undefined) return faultsOf(name, schema, frame);
    return name === "open-responses" && ONLY_OPENAI.has(type) ? [] : [`${name} has no event ${type}`];
  });
}

const NAMES = ["openai", "open-responses"] as const;

/** Names of the schemas of events, by the events' type. */
const EVENTS = {
  openai: eventsOf("openai", (name) => name.endsWith("Event")),
  "open-responses": eventsOf("open-responses", (name) => name.endsWith("StreamingEvent")),
};

function eventsOf(document: DocumentName, isEvent: (name: string) => boolean): ReadonlyMap<string, string> {
  const { schemas } = DOCUMENTS[document].components;
  return new Map(
    Object.entries(schemas).flatMap(([name, { properties }]) => {
      const type = (properties as { type?: { enum?: readonly string[] } } | undefined)?.type?.enum?.[0];
      return type !== undefined && isEvent(name) ? [[type, name] as const] : [];
    }),
  );
}

/**
 * Two validators: a quick one that only reports success, and one that finds all errors with their positions but takes three times as long.
 */
const validators = { quick: once(() => open({})), whole: once(() => open({ allErrors: true, verbose: true })) };

function once<T>(make: () => T): () => T {
  let cached: T | undefined;
  return () => (cached ??= make());
}

const amended = once(() => NAMES.forEach((name) => amend(name, DOCUMENTS[name].components.schemas)));

function open(options: Options): Ajv2020 {
  amended();
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, inlineRefs: false, code: { optimize: false }, ...options }); // prettier-ignore
  for (const name of NAMES) ajv.addSchema(DOCUMENTS[name], name);
  return ajv;
}

function validatorOf(ajv: Ajv2020, document: DocumentName, schema: string): ValidateFunction {
  const address = `${document}#/components/schemas/${schema}`;
  const validate = ajv.getSchema(address);
  if (!validate) throw new Error(`there is no ${address}`);
  return validate;
}

function faultsOf(document: DocumentName, schema: string, value: unknown): readonly string[] {
  if (validatorOf(validators.quick(), document, schema)(value)) return [];
  return explainFaults(document, schema, value, "").map((fault) => `${document} ${schema}: ${fault}`);
}

/** Returns errors as sentences. For a value that matches no branch of a union, returns the errors of the branch with the value's `type`. */
function explainFaults(document: DocumentName, schema: string, value: unknown, from: string): readonly string[] {
  const validate = validatorOf(validators.whole(), document, schema);
  if (validate(value)) return [];
  const errors = validate.errors ?? [];
  const unions = errors.filter(({ keyword, instancePath }, at) => {
    const isWithin = errors.some((one, other) => one.keyword === "anyOf" && (instancePath.startsWith(`${one.instancePath}/`) || (instancePath === one.instancePath && other > at))); // prettier-ignore
    return keyword === "anyOf" && !isWithin;
  });
  const plain = errors.filter(({ instancePath }) => !unions.some((one) => instancePath.startsWith(one.instancePath)));
  const faults = plain.map((error) => sentence(error, from));
  for (const { instancePath: at, parentSchema } of unions) {
    const found = valueAt(value, at);
    const type = (found as { readonly type?: unknown } | null)?.type;
    const refs = ((parentSchema?.["anyOf"] ?? []) as readonly Schema[])
      .filter((kind) => kindsOf(document, kind).includes(type))
      .flatMap((kind) => refOf(kind) ?? []);
    const within = errors.filter(({ keyword, instancePath }) => keyword !== "anyOf" && instancePath.startsWith(at));
    if (refs.length > 0)
      faults.push(...refs.flatMap((ref) => explainFaults(document, ref, found, from + at))); // prettier-ignore
    else if (typeof type === "string") faults.push(`${from}${at} is of no kind that is described: ${type}`);
    else faults.push(...within.map((error) => sentence(error, from)));
  }
  return [...new Set(faults)];
}

function sentence({ instancePath, message, params }: ErrorObject, from: string): string {
  return `${from}${instancePath} ${message} ${JSON.stringify(params)}`;
}

/** Returns the values of `type` that a schema in a union accepts. */
function kindsOf(document: DocumentName, schema: Schema): readonly unknown[] {
  const {
    properties,
    allOf = [],
    anyOf = [],
  } = schema as {
    readonly properties?: { readonly type?: { readonly enum?: readonly unknown[] } };
    readonly allOf?: readonly Schema[];
    readonly anyOf?: readonly Schema[];
  };
  const ref = typeof schema["$ref"] === "string" ? refOf(schema) : undefined;
  const named = ref === undefined ? undefined : DOCUMENTS[document].components.schemas[ref];
  const parts = [...allOf, ...anyOf, ...(named ? [named] : [])];
  return [...(properties?.type?.enum ?? []), ...parts.flatMap((part) => kindsOf(document, part))];
}

/** Returns the name of the schema to which a schema refers, directly or inside a wrapper. */
function refOf(schema: Schema): string | undefined {
  const { $ref, allOf = [] } = schema as { readonly $ref?: string; readonly allOf?: readonly Schema[] };
  if ($ref !== undefined) return $ref.replace("#/components/schemas/", "");
  return allOf.map(refOf).find((ref) => ref !== undefined);
}

function valueAt(value: unknown, path: string): unknown {
  return path
    .split("/")
    .slice(1)
    .reduce((at, name) => (at as Readonly<Record<string, unknown>>)[name], value);
}
