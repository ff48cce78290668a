/** Rings of providers: each makes us ask; of the body the name of a job whose start went unanswered is taken, and nothing else. */
import { describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { providerCallbacks, RING_BYTES_MAX } from "#ingress/routes/provider-callbacks.ts";
import type { IngressContext } from "#ingress/context.ts";

const JOB = newId();
const START = newId();

async function ring(
  body: string | null,
  { query = `?start=${START}`, token = "bell", type = "application/json" } = {},
) {
  const asked: { readonly name: string | undefined; readonly values: readonly unknown[] }[] = [];
  const published: string[] = [];
  const context = {
    callbackTokens: { isOf: (_jobId: string, given: string) => given === "bell" },
    connection: { isClosed: () => false, publish: (subject: string) => void published.push(subject) },
    database: {
      query: async (_text: string, values: readonly unknown[], name?: string) => {
        asked.push({ name, values });
        return [];
      },
    },
  } as unknown as IngressContext;
  const request = new Request(`http://here/v1/provider-callbacks/${JOB}/${token}${query}`, {
    method: "POST",
    headers: { "content-type": type },
    body,
  });
  const call = { request, params: { job_id: JOB, token }, requestId: "r", startedAt: 0 };
  const response = await Promise.try(() => providerCallbacks(context).handle(call as never)).catch(
    (error: unknown) => error,
  );
  const named = asked.find(({ name }) => name === "note_rung")?.values;
  return { response, named, published };
}

const json = (value: unknown): string => JSON.stringify(value);

describe("a provider callback", () => {
  test.each([
    ["fal's", { request_id: "f-1", gateway_request_id: "g-1", status: "OK", payload: {} }, "f-1"],
    ["Replicate's", { id: "r1", status: "succeeded", output: ["https://x"] }, "r1"],
    ["Google's", { type: "interaction.completed", version: "v1", data: { id: "v1_abc" } }, "v1_abc"],
  ])("that is %s names its job", async (_whose, body, name) => {
    const { response, named, published } = await ring(json(body));
    expect((response as Response).status).toBe(204);
    expect([named, published]).toEqual([[JOB, START, name], [`callback.${JOB}`]]);
  });

  test.each<[string, string | null, object?]>([
    ["without a body", null],
    ["with a body that is no JSON", "<html>"],
    ["with another media type", json({ id: "1" }), { type: "text/plain" }],
    ["with what is no object", "[1]"],
    ["without a name", json({ data: null })],
    ["with a name that is none", json({ id: 7 })],
    ["with a name that leads elsewhere", json({ id: "../account" })],
    ["for no start", json({ id: "1" }), { query: "" }],
    ["for a start that is none", json({ id: "1" }), { query: "?start=1" }],
  ])("%s triggers a poll, and names nothing", async (_how, body, more = {}) => {
    const { response, named, published } = await ring(body, more);
    expect([(response as Response).status, named, published.length]).toEqual([204, undefined, 1]);
  });

  test("is read up to its bound, and triggers a poll beyond it", async () => {
    const around = json({ id: "1", output: "" }).length;
    const sized = (bytes: number): string => json({ id: "1", output: "x".repeat(bytes - around) });
    expect((await ring(sized(RING_BYTES_MAX))).named).toEqual([JOB, START, "1"]);
    const { response, named } = await ring(sized(RING_BYTES_MAX + 1));
    expect([(response as Response).status, named]).toEqual([204, undefined]);
  });

  test("with another token is ignored", async () => {
    const { response, named, published } = await ring(json({ id: "1" }), { token: "forged" });
    expect(response).toMatchObject({ code: "not_found" });
    expect([named, published]).toEqual([undefined, []]);
  });
});
