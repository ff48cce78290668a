import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import { validate } from "#shared/json/contracts.ts";

import { readSchemaFiles } from "#deploy/generate/schema-files.ts";

import { GOOD_BODIES } from "./chat-bodies.ts";

type Tree = Record<string, unknown>;

const bodies = fc.constantFrom(...Object.values(GOOD_BODIES)).map((body) => structuredClone(body) as unknown as Tree);

/** Members whose names are the client's own, and whose values the contract rules. */
const CLIENT_MAPS = new Set(["logit_bias", "metadata"]);

/** Every object of a body that a newer SDK might add a member to, the body itself first. */
function openObjects(node: unknown): Tree[] {
  if (Array.isArray(node)) return node.flatMap(openObjects);
  if (typeof node !== "object" || node === null) return [];
  const inner = Object.entries(node).filter(([name]) => !CLIENT_MAPS.has(name));
  return [node as Tree, ...inner.flatMap(([, value]) => openObjects(value))];
}

function propertyNames(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(propertyNames);
  if (typeof node !== "object" || node === null) return [];
  const own = Object.keys((node as { properties?: object }).properties ?? {});
  return [...own, ...Object.values(node).flatMap(propertyNames)];
}

const known = new Set((await readSchemaFiles()).flatMap((file) => propertyNames(file.schema)));

describe("a chat body", () => {
  test("is never rejected for unknown members, at any depth", () => {
    fc.assert(
      fc.property(bodies, fc.nat(), fc.string(), fc.jsonValue(), (body, pick, name, value) => {
        fc.pre(!known.has(name));
        const objects = openObjects(body);
        const object = objects[pick % objects.length] ?? body;
        Object.defineProperty(object, name, { value, enumerable: true });
        expect(validate("ChatCompletionRequest", body)).toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });
});
