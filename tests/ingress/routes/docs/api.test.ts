/** The API reference, made from the OpenAPI document. */
import { describe, expect, test } from "bun:test";

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { endpointsOf, resolverOf, type Schema, statedExample } from "#ingress/routes/docs/api/document.ts";
import { exampleOf } from "#ingress/routes/docs/api/example.ts";
import { STREAMS } from "#ingress/routes/docs/api/operation.ts";
import { apiPages } from "#ingress/routes/docs/api/pages.ts";
import { rowsOf } from "#ingress/routes/docs/api/rows.ts";
import { sdkSnippets } from "#ingress/routes/docs/api/sdk.ts";
import { requestExample } from "#ingress/routes/docs/api/snippets.ts";
import { ERROR_GUIDE } from "#shared/base/error-guide.ts";
import recorded from "#tests/e2e/openapi/recorded-answers.json" with { type: "json" };

import { DOCUMENT, FACTS } from "./site.ts";

const endpoints = endpointsOf(DOCUMENT);
const resolve = resolverOf(DOCUMENT);
const pages = apiPages(DOCUMENT, FACTS);
const bodyOf = (operationId: string): string => pages.find(({ path }) => path === `api/${operationId}`)?.body ?? "";

const ajv = new Ajv2020({ strict: false });
addFormats(ajv);
ajv.addFormat("binary", true);
ajv.addSchema({ ...DOCUMENT, $id: "https://api.test/" });

/** Validators by their schema: compiling a schema takes far longer than a check. */
const validators = new Map<string, ValidateFunction>();

function faultsOf(schema: Schema, value: unknown): string {
  const local = JSON.stringify(schema).replaceAll('"#/', '"https://api.test/#/');
  const isValid = validators.get(local) ?? ajv.compile(JSON.parse(local) as object);
  validators.set(local, isValid);
  return isValid(value) ? "" : ajv.errorsText(isValid.errors);
}

describe("the API reference", () => {
  test("has an entry for each operation, and a link to it in the list", () => {
    const list = pages.find(({ path }) => path === "api")?.body ?? "";
    expect(pages).toHaveLength(endpoints.length + 1);
    for (const { operationId, method, url } of endpoints) {
      expect([operationId, bodyOf(operationId).length > 100]).toEqual([operationId, true]);
      expect(list).toContain(`(api/${operationId}.md) | \`${method} ${url}\``);
    }
  });

  test("lists the groups of operators last", () => {
    const groups = [...new Set(pages.flatMap(({ group }) => group ?? []))];
    expect(groups.slice(-3)).toEqual(["Operator", "Health", "Documentation"]);
    expect(groups[0]).toBe("Chat");
  });

  test("names every parameter, every property of a body, every status and every error code", () => {
    for (const endpoint of endpoints) {
      const { operationId, parameters, requestBody, responses } = endpoint;
      const body = bodyOf(operationId);
      const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
      const properties = schema ? Object.keys(resolve(schema).properties ?? {}) : [];
      const names = [...parameters.map(({ name }) => name), ...properties];
      expect([operationId, names.filter((name) => !body.includes(`| \`${name}\``))]).toEqual([operationId, []]);
      const good = Object.keys(responses).filter((status) => Number(status) < 400);
      expect([operationId, good.filter((status) => !body.includes(`### ${status}\n`))]).toEqual([operationId, []]);
      const codes = Object.entries(responses).flatMap(([status, { description }]) =>
        Number(status) < 400 ? [] : [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code),
      );
      expect([operationId, codes.filter((code) => !body.includes(`errors.md#${code})`))]).toEqual([operationId, []]);
    }
  });

  test("has a request example for each JSON body, valid against its schema", () => {
    const faults = endpoints.flatMap((endpoint) => {
      const schema = endpoint.requestBody?.content["application/json"]?.schema;
      if (!schema) return [];
      const fault = faultsOf(schema, requestExample(endpoint, DOCUMENT, resolve));
      return fault === "" ? [] : [`${endpoint.operationId}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  test("has a response example for each JSON response, valid against its schema, the same each time", () => {
    const seen = new Set<string>();
    const faults = endpoints.flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, { content = {} }]) => {
        const media = content["application/json"] ?? {};
        const { schema } = media;
        if (!schema) return [];
        const text = JSON.stringify(schema);
        if (statedExample(media, DOCUMENT) === undefined && seen.has(text)) return [];
        if (!seen.has(text)) {
          seen.add(text);
          const example = exampleOf(schema, resolve, "all");
          expect(JSON.stringify(exampleOf(schema, resolve, "all"))).toBe(JSON.stringify(example));
          const built = faultsOf(schema, example);
          if (built !== "") return [`${operationId} ${status}, built: ${built}`];
        }
        const fault = faultsOf(schema, statedExample(media, DOCUMENT) ?? exampleOf(schema, resolve, "all"));
        return fault === "" ? [] : [`${operationId} ${status}: ${fault}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  test("has the call in JavaScript that compiles, and in curl with the credential that it needs", () => {
    const transpiler = new Bun.Transpiler({ loader: "js" });
    for (const { operationId, security } of endpoints) {
      const body = bodyOf(operationId);
      for (const [, code = ""] of body.matchAll(/^```js\n([^]*?)^```/gm))
        expect(() => transpiler.transformSync(code)).not.toThrow();
      const curl = /^```sh\n([^]*?)^```/m.exec(body)?.[1] ?? "";
      expect([operationId, curl.startsWith("curl ")]).toEqual([operationId, true]);
      expect([operationId, curl.includes("Authorization: Bearer $SLUICE_")]).toEqual([
        operationId,
        security.length > 0,
      ]);
    }
  });

  test("contains the method of a stock SDK if one exists and accepts the example", () => {
    expect(bodyOf("createChatCompletion")).toContain("client.chat.completions.create(");
    expect(bodyOf("createMessage")).toContain('import Anthropic from "@anthropic-ai/sdk"');
    expect(bodyOf("createMusic")).toContain("requests.request(");
    const write = (value: unknown): string => JSON.stringify(value);
    expect(sdkSnippets("createEmbeddings", { model: "a", input: "b" }, "http://x", write)?.python).toContain(
      '    input="b",',
    );
    expect(sdkSnippets("createEmbeddings", { model: "a", own: 1 }, "http://x", write)).toBeUndefined();
    expect(sdkSnippets("constructor", {}, "http://x", write)).toBeUndefined();
  });

  test("contains no placeholder as the value of a property of an example", () => {
    const filled = endpoints.flatMap(({ operationId }) => {
      const fences = [...bodyOf(operationId).matchAll(/^```(?:json|text|sh|python|js)\n([^]*?)^```/gm)];
      // `type`, modalities and lists of inputs have the real value "text".
      const fillers = fences.flatMap(([, code = ""]) =>
        [...code.matchAll(/"(\w+)":\s*"(?:text|example)"/g)].map(([, name = ""]) => name),
      );
      return fillers
        .filter((name) => !/^(?:type|modality|\w+_modality)$/.test(name))
        .map((name) => `${operationId} ${name}`);
    });
    expect(filled).toEqual([]);
  });

  const streaming = endpoints.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content = {} }]) => {
      const { schema } = content["text/event-stream"] ?? {};
      return schema && Number(status) < 300 ? [{ operationId, schema }] : [];
    }),
  );

  test("contains valid and distinct events of each stream, up to the end of the recorded response", () => {
    expect(streaming.length).toBeGreaterThan(10);
    for (const { operationId, schema } of streaming) {
      const events = STREAMS[operationId] ?? [];
      const data = events.map((event) => event.data).filter((one) => one !== "[DONE]");
      const isMcp = operationId.startsWith("callMcp");
      expect([operationId, data.length >= (isMcp ? 1 : 2)]).toEqual([operationId, true]);
      expect([operationId, data.map((one) => faultsOf(schema, one)).filter((fault) => fault !== "")]).toEqual([
        operationId,
        [],
      ]);
      expect(new Set(data.map((one) => JSON.stringify(one))).size).toBe(data.length);
      const ends = Object.entries(
        recorded as Readonly<Record<string, { readonly events?: readonly { data: unknown }[] }>>,
      )
        .filter(([name, { events: list }]) => name.replace(/ \d+$/, "") === operationId && list !== undefined)
        .map(([, { events: list = [] }]) => list.at(-1)?.data === "[DONE]");
      const isDone = events.at(-1)?.data === "[DONE]";
      expect([operationId, ends.length === 0 || ends.includes(isDone)]).toEqual([operationId, true]);
      expect(bodyOf(operationId)).toContain(`data: ${JSON.stringify(data[0])}`);
    }
    expect(Object.keys(STREAMS).toSorted()).toEqual(streaming.map(({ operationId }) => operationId).toSorted());
  });

  test("sends the headers that a call needs in every language, and reads a stream as text", () => {
    for (const operationId of ["callMcp", "callMcpTools"]) {
      const body = bodyOf(operationId);
      expect(body).toContain('-H "Accept: application/json, text/event-stream"');
      expect(body).toContain('        "Accept": "application/json, text/event-stream",');
      expect(body).toContain('    "accept": "application/json, text/event-stream",');
      expect(body).toContain("print(response.text)");
      expect(body).toContain("await response.text()");
      expect(body).toMatch(/^\| `Accept` \|/m);
      expect(body).toMatch(/^\| 406 \| \|/m);
    }
  });

  test("describes the errors of operator routes for operators, and names a member that the body has", () => {
    const own = endpoints.filter(({ security }) => security.some((one) => "operatorToken" in one));
    expect(own.length).toBeGreaterThan(30);
    for (const { operationId } of own) {
      const errors = bodyOf(operationId).split("## Errors")[1] ?? "";
      expect([operationId, /API key|preset|role of the key|of the workspace made/.test(errors)]).toEqual([
        operationId,
        false,
      ]);
      expect(errors).toContain(ERROR_GUIDE.invalid_api_key.operator?.cause ?? "-");
    }
    for (const endpoint of endpoints) {
      const missing = /Missing required parameter: (\w+)\./.exec(
        bodyOf(endpoint.operationId).split("## Errors")[1] ?? "",
      );
      if (!missing) continue;
      const schema = Object.values(endpoint.requestBody?.content ?? {})[0]?.schema ?? {};
      expect([endpoint.operationId, resolve(schema).required]).toEqual([
        endpoint.operationId,
        expect.arrayContaining([missing[1]]) as unknown as string[],
      ]);
    }
  });

  test("describes each variant of a union in its own table, in which no property occurs twice", () => {
    const chat = bodyOf("createChatCompletion");
    for (const role of ["system", "user", "assistant", "tool"]) {
      expect(chat).toContain(`#### Properties of \`messages[]\` with \`role\` \`"${role}"\``);
    }
    expect(chat).toMatch(/^#### Properties of `messages\[\]\.content\[\]` with `type` `"text"` \(`role` `"user"`\)$/m);
    expect(chat).toMatch(/^#### Properties of `tools\[\]` with `type` `"sluice"`/m);
    const twice = endpoints.flatMap(({ operationId }) => {
      const tables = bodyOf(operationId)
        .split("\n\n")
        .filter((part) => part.startsWith("| Property |"));
      return tables.flatMap((part) => {
        const names = [...part.matchAll(/^\| (`[^`]+`) \|/gm)].map(([, name]) => name);
        return new Set(names).size < names.length ? [`${operationId}: ${names.join(" ")}`] : [];
      });
    });
    expect(twice).toEqual([]);
  });

  test("states how long a synchronous caller of a workflow waits", () => {
    for (const operationId of ["runWorkflow", "runPipeline"]) {
      expect(bodyOf(operationId)).toContain("waits at most 5 minutes, then receives `run_timeout`");
    }
  });

  test("states the roles that may call an operation", () => {
    expect(bodyOf("createApiKey")).toContain("**Roles:** owner, admin, developer.");
    expect(bodyOf("createChatCompletion")).toContain("**Authentication:** an API key as");
    expect(bodyOf("getHealth")).toContain("**Authentication:** none.");
    const operator = endpoints.find(({ tags }) => tags[0] === "Operator");
    expect(bodyOf(operator?.operationId ?? "")).toContain("an operator token");
  });
});

describe("examples and rows", () => {
  const plain = (schema: Schema): Schema => schema;

  test("an example uses the schema's example, else a value within its bounds", () => {
    const example = (schema: Schema): unknown => exampleOf(schema, plain, "required");
    expect(example({ type: "string", example: "a" })).toBe("a");
    expect(example({ type: "string", examples: ["b"] })).toBe("b");
    expect(example({ enum: ["c", "d"] })).toBe("c");
    expect(example({ type: "integer", minimum: 5, maximum: 9 })).toBe(5);
    expect(example({ type: "number", maximum: 0.5 })).toBe(0.5);
    expect(example({ type: "string", minLength: 50 })).toHaveLength(50);
    expect(example({ type: "array", minItems: 2, items: { type: "boolean" } })).toEqual([true, true]);
    expect(example({ type: "object", required: ["a"], properties: { a: { const: 1 }, b: {} } })).toEqual({ a: 1 });
  });

  test("a schema that contains itself ends", () => {
    const tree: Schema = {
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string" },
        get inner() {
          return tree;
        },
      },
    };
    expect(JSON.stringify(exampleOf(tree, plain, "all")).match(/inner/g)?.length).toBeLessThan(10);
    expect(rowsOf(tree, plain).rows.map(({ name }) => name)).toEqual(["name", "inner"]);
    const endless: Schema = {
      type: "object",
      required: ["inner"],
      properties: {
        get inner() {
          return endless;
        },
      },
    };
    expect(() => exampleOf(endless, plain, "all")).toThrow("no finite example");
  });

  test("rows name nested members, required members, defaults and bounds", () => {
    const schema: Schema = {
      type: "object",
      required: ["list"],
      properties: {
        list: {
          type: "array",
          minItems: 1,
          maxItems: 1,
          items: { type: "object", properties: { size: { type: ["integer", "null"], minimum: 1, default: 3 } } },
        },
        mode: { enum: ["a", "b"], description: "How." },
      },
    };
    expect(rowsOf(schema, plain).rows).toEqual([
      { name: "list", type: "array of objects", isRequired: true, notes: "Exactly 1 entry." },
      { name: "mode", type: "string", isRequired: false, notes: 'How. One of `"a"`, `"b"`.' },
      { name: "list[].size", type: "integer or null", isRequired: false, notes: "Default: `3`. At least 1." },
    ]);
  });
});
