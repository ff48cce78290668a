/** The texts and examples of the published OpenAPI document: complete, plain and valid. */
import { afterAll, describe, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import { EXAMPLES } from "#ingress/openapi/examples.ts";
import components from "#schemas/generated/components.json" with { type: "json" };

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { fakeContext } from "../fake-context.ts";
import { type Described, textsIn, undescribed } from "./texts.ts";

interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}

type Content = Readonly<Record<string, Media>>;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Document extends Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

const fake = fakeContext();
afterAll(() => fake.close());
const answer = await createApp(fake.context).handle(new Request("http://localhost/openapi.json"));
const document = (await answer.json()) as Document;
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addFormat("binary", true);
ajv.addSchema({ ...document, $id: "https://api.test/" });

const validators = new Map<string, ValidateFunction>();

function faultsOf(schema: object, value: unknown): string {
  const text = JSON.stringify(schema).replaceAll('"#/', '"https://api.test/#/');
  const isValid = validators.get(text) ?? ajv.compile(JSON.parse(text) as object);
  validators.set(text, isValid);
  return isValid(value) ? "" : ajv.errorsText(isValid.errors);
}

const VERBS: ReadonlySet<string> = new Set(
  (
    "Audit Call Cancel Check Close Compact Count Create Delete Download Estimate List Recover Redrive Reset Resolve Retrieve " +
    "Retry Reveal Revoke Rotate Run Search Set Stream Test Update Upload"
  ).split(" "),
);

/** Words of the longest sentence. */
const SENTENCE_WORDS_MAX = 25;
const BAD_OPENING = /^(?:As|It|Of|That|Those|What|When|Where|Whether|Which|Who|Whoever|Whose)\b/;
const BAD_WORDS = /\b(?:goes on|hears?|stands?|tells?|told|comes to nothing|mend(?:ed)?)\b/;

describe("the texts of the OpenAPI document", () => {
  test("a summary is a verb of the list and an object, without a full stop", () => {
    const bad = operations.filter(({ summary }) => {
      const [verb = "", ...object] = summary.split(" ");
      return !VERBS.has(verb) || object.length === 0 || object.length > 6 || summary.endsWith(".");
    });
    expect(bad.map(({ operationId, summary }) => `${operationId}: ${summary}`)).toEqual([]);
  });

  test("every tag, parameter, header, response, schema and property has a description", () => {
    expect(undescribed(document)).toEqual([]);
  });

  test("also in schemas that no route reaches", () => {
    expect(undescribed({ components: { schemas: components.schemas } })).toEqual([]);
  });

  test("a text without a description is found at every position", () => {
    const property = { type: "string" };
    const seeded: Described = {
      tags: [{ name: "T" }],
      paths: {
        "/p": {
          get: {
            parameters: [{ name: "q" }],
            requestBody: { content: { "application/json": { schema: { properties: { inline: property } } } } },
            responses: { 200: {} },
          },
        },
      },
      components: {
        headers: { "x-h": {} },
        schemas: {
          Bare: { type: "object" },
          Nested: { description: "Given.", items: { anyOf: [{ properties: { deep: property } }] } },
          Referring: { description: "Given.", properties: { other: { $ref: "#/components/schemas/Nested" } } },
          Conditional: { description: "Given.", if: { properties: { only: property } } },
        },
      },
    };
    expect(undescribed(seeded)).toEqual([
      "tag T",
      "get /p parameter q",
      "get /p request inline",
      "get /p response 200",
      "header x-h",
      "Bare",
      "Nested.deep",
    ]);
  });

  test("a description opens with its subject, has short sentences and technical terms", () => {
    const sentences = (text: string): readonly string[] => text.split(/(?<=[.;!?])\s+/);
    const bad = [...textsIn(document), ...textsIn(components)].filter(
      (text) =>
        BAD_OPENING.test(text) ||
        BAD_WORDS.test(text) ||
        (!text.startsWith("Error with code") &&
          sentences(text).some((sentence) => sentence.split(/\s+/).length > SENTENCE_WORDS_MAX)),
    );
    expect(bad).toEqual([]);
  });
});

describe("the examples of the OpenAPI document", () => {
  const contents = operations.flatMap(({ operationId, requestBody, responses }) => [
    ...(requestBody ? [{ place: `${operationId} request`, content: requestBody.content }] : []),
    ...Object.entries(responses).map(([status, { content = {} }]) => ({ place: `${operationId} ${status}`, content })),
  ]);

  test("each is valid against its schema", () => {
    const faults = contents.flatMap(({ place, content }) =>
      Object.values(content).flatMap(({ schema, example, examples = {} }) => {
        const named = Object.values(examples).map(
          ({ $ref }) => document.components.examples[$ref.split("/").at(-1) ?? ""]?.value,
        );
        return [...(example === undefined ? [] : [example]), ...named]
          .map((value) => faultsOf(schema, value))
          .flatMap((fault) => (fault === "" ? [] : [`${place}: ${fault}`]));
      }),
    );
    expect(faults).toEqual([]);
  });

  test("every body of a request has an example", () => {
    const without = operations.filter(
      ({ requestBody }) =>
        requestBody && Object.values(requestBody.content).every(({ example }) => example === undefined),
    );
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  test("every operation that answers with JSON or events has an example of its success", () => {
    const without = operations.filter(({ responses }) => {
      const media = Object.entries(responses)
        .filter(([status]) => Number(status) < 300)
        .flatMap(([, { content = {} }]) => Object.entries(content))
        .filter(([type]) => type === "application/json" || type === "text/event-stream");
      return media.length > 0 && media.every(([, { example }]) => example === undefined);
    });
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  test("every operation has examples for 400, 401, 403, 404, 429 and 500, if it can return them", () => {
    const without = contents.filter(
      ({ place, content }) =>
        /\b(?:400|401|403|404|429|500)$/.test(place) && content["application/json"]?.examples === undefined,
    );
    expect(without.map(({ place }) => place)).toEqual([]);
  });

  test("each belongs to an operation and to a status that it answers with", () => {
    const known = new Map(operations.map((operation) => [operation.operationId, operation]));
    const strays = Object.entries(EXAMPLES).flatMap(([id, { request, responses = {} }]) => {
      const operation = known.get(id);
      const statuses = Object.keys(responses).filter((status) => operation?.responses[status]?.content === undefined);
      const isStray = operation === undefined || (request !== undefined && operation.requestBody === undefined);
      return [...(isStray ? [id] : []), ...statuses.map((status) => `${id} ${status}`)];
    });
    expect(strays).toEqual([]);
  });
});
