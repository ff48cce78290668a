/** Calls by operationId, whose requests and answers are held against the document that the service publishes, and are kept. */
import { expect } from "bun:test";

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { keepAnswer } from "./records.ts";
import { type Published, withNulls, withoutOne } from "./with-nulls.ts";

type Content = Readonly<Record<string, { readonly schema?: object }>>;

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers?: Readonly<Record<string, object>>;
        readonly content?: Content;
      }
    >
  >;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  /** With its question mark. */
  readonly query?: string;
  /** An object is sent as JSON, a form as one. */
  readonly body?: object | FormData;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** The value of JSON, the frames of an event stream, else the bytes. */
  readonly value: unknown;
}

/** Said to browsers and proxies. */
const COMMON: ReadonlySet<string> = new Set(["x-content-type-options", "x-accel-buffering"]);

export interface CheckedApi {
  readonly document: Document;
  /** Those that have been called. */
  readonly called: ReadonlySet<string>;
  /**
   * Sends null for each optional member that the body does not have, and first null for each of its required members, which is refused.
   * Fails for a body, status, media type, header or answer that the OpenAPI document does not describe.
   */
  call(operationId: string, sent?: Sent): Promise<Answered>;
}

export function createCheckedApi(baseUrl: string, document: Document, keyOf: (path: string) => string): CheckedApi {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addFormat("binary", true);
  ajv.addSchema({ ...document, $id: "https://api.test/" });
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [operation.operationId, { path, method: method.toUpperCase(), operation }] as const,
      ),
    ),
  );
  const called = new Set<string>();

  const validators = new Map<object, ValidateFunction>();
  const validatorOf = (schema: object): ValidateFunction => {
    const known = validators.get(schema);
    if (known) return known;
    const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"https://api.test/#/')) as object;
    const made = ajv.compile(local);
    validators.set(schema, made);
    return made;
  };
  const faultsOf = (schema: object, value: unknown): readonly string[] => {
    const isValid = validatorOf(schema);
    return isValid(value) ? [] : (isValid.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };

  const published: Published = {
    resolved({ $ref: place, ...schema }) {
      if (typeof place !== "string") return schema;
      return document.components.schemas[place.split("/").at(-1) ?? ""] as Readonly<Record<string, unknown>>;
    },
    acceptsNull: (schema) => faultsOf(schema, null).length === 0,
  };
  /** Those whose members are another protocol's, or of which the form alone is checked. */
  const refuseOtherwise: ReadonlySet<string> = new Set(["callMcp", "callMcpTools"]);

  const valueOf = async (answer: Response, schema: object | undefined, type: string): Promise<unknown> => {
    if (type === "application/json") return answer.json();
    if (type !== "text/event-stream") return new Uint8Array(await answer.arrayBuffer());
    const frames = (await answer.text())
      .split("\n\n")
      .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
      .filter((data) => data !== "[DONE]")
      .map((data) => JSON.parse(data) as unknown);
    expect(frames).not.toBeEmpty();
    for (const frame of frames) expect([frame, faultsOf(schema ?? {}, frame)]).toEqual([frame, []]);
    return frames;
  };

  return {
    document,
    called,
    async call(operationId, { path = {}, query = "", body, headers = {} } = {}) {
      const found = operations.get(operationId);
      if (!found) throw new Error(`the document has no ${operationId}`);
      const isFirst = !called.has(operationId);
      called.add(operationId);
      const { operation, method } = found;
      const isForm = body instanceof FormData;
      const asked = operation.requestBody?.content[isForm ? "multipart/form-data" : "application/json"];
      if (body !== undefined) {
        expect([operationId, asked]).toEqual([operationId, expect.anything()]);
        if (!isForm) expect([operationId, faultsOf(asked?.schema ?? {}, body)]).toEqual([operationId, []]);
      } else expect([operationId, operation.requestBody?.required === true]).toEqual([operationId, false]);
      const place = found.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
        const value = path[name];
        if (value === undefined) throw new Error(`${operationId} needs ${name}`);
        return value;
      });
      const send = (sent: object | undefined): Promise<Response> =>
        fetch(baseUrl + place + query, {
          method,
          headers: {
            authorization: `Bearer ${keyOf(found.path)}`,
            ...(sent === undefined || isForm ? {} : { "content-type": "application/json" }),
            ...headers,
          },
          ...(sent === undefined ? {} : { body: sent instanceof FormData ? sent : JSON.stringify(sent) }),
        });
      const schema = (asked?.schema ?? {}) as Readonly<Record<string, unknown>>;
      if (isFirst && body !== undefined && !isForm && !refuseOtherwise.has(operationId)) {
        for (const { name, body: incomplete } of withoutOne(published, schema, body)) {
          const { status, error } = await refusalOf(await send(incomplete));
          expect([operationId, name, status, error.param]).toEqual([operationId, name, 400, name]);
        }
      }
      const answer = await send(body === undefined || isForm ? body : (withNulls(published, schema, body) as object));
      await keepAnswer({ operationId, method, path: found.path, query, body, answer });
      const said = operation.responses[answer.status];
      const text = answer.status >= 400 ? await answer.clone().text() : "";
      expect([operationId, answer.status, text]).toEqual([
        operationId,
        said && answer.status < 400 ? answer.status : "one of success",
        text,
      ]);
      const own = [...answer.headers.keys()].filter((name) => name.startsWith("x-") && !COMMON.has(name));
      expect([operationId, own.filter((name) => said?.headers?.[name] === undefined)]).toEqual([operationId, []]);
      const type = answer.headers.get("content-type")?.split(";")[0]?.trim() ?? "";
      const content = said?.content ?? {};
      if (Object.keys(content).length === 0)
        return { status: answer.status, headers: answer.headers, value: undefined };
      const media = content[type] ?? content["*/*"];
      expect([operationId, type, media]).toEqual([operationId, type, expect.anything()]);
      const value = await valueOf(answer, media?.schema, type);
      if (type === "application/json") {
        expect([operationId, faultsOf(media?.schema ?? {}, value)]).toEqual([operationId, []]);
      }
      return { status: answer.status, headers: answer.headers, value };
    },
  };
}

async function refusalOf(
  answer: Response,
): Promise<{ readonly status: number; readonly error: { readonly param?: unknown } }> {
  const { error = {} } = (await answer.json()) as { readonly error?: { readonly param?: unknown } };
  return { status: answer.status, error };
}
