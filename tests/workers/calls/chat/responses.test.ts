/** Responses that the chat pool stores: before their caller hears that they are whole, or not at all. */
import { afterEach, describe, expect, test } from "bun:test";

import { responseOf } from "#ingress/core/response-object.ts";
import type { JobMessage } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import type { ResponseStore } from "#shared/responses/store.ts";
import { chatJob, REQUEST } from "#tests/workers/runner/job-message.ts";

import { bench, closeBenches, delta, END, ROLE, streamOf, USED, WHOLE } from "./bench.ts";

afterEach(closeBenches);

type Kept = Parameters<ResponseStore["keep"]>[0];

const INPUT = [{ type: "message", role: "user", content: "How many legs has a spider?" }];
const job = (isStream: boolean, store = true): JobMessage => {
  const job_id = newId();
  const response = responseOf({ model: "one", input: "x", store }, job_id, 1_000);
  const request = { ...REQUEST, stream: isStream, ...(store ? { response_input: INPUT } : {}) };
  return chatJob({ job_id, api: "responses", response, request });
};
const answers = {
  complete: async () => WHOLE,
  stream: streamOf(ROLE, delta({ content: "Eight." }), { ...END, usage: USED }),
};

describe.each([false, true])("streamed: %p, a response", (isStream) => {
  test("is stored with its input before its caller receives its end, without a provider reading that input", async () => {
    const kept: (readonly [Kept, string])[] = [];
    const { run, calls, text } = bench(answers, {
      responses: { keep: (one) => Promise.resolve(void kept.push([one, text()])) },
    });
    const asked = job(isStream);
    await run(asked);
    const [[stored, heard] = [undefined, ""]] = kept;
    expect(stored).toMatchObject({
      call: { id: asked.job_id, workspaceId: asked.workspace_id, keyId: asked.key_id },
      response: { status: "completed", output: [{ content: [{ text: "Eight." }] }], usage: { output_tokens: 11 } },
      input: INPUT,
      hours: 720,
    });
    expect(heard).not.toContain('"completed"');
    expect(text()).toContain('"status":"completed"');
    expect(calls.map(({ request }) => Object.keys(request))).not.toContainEqual(expect.arrayContaining(["response_input"])); // prettier-ignore
  });

  test("that cannot be stored is a failure, and undelivered output is not charged", async () => {
    const { run, failure, settlements, text } = bench(answers, {
      responses: { keep: () => Promise.reject(new Error("the database is away")) },
    });
    await run(job(isStream));
    expect(failure()).toMatchObject({ code: "service_unavailable" });
    expect(text()).not.toContain('"completed"');
    expect(settlements.map(({ usedNano }) => usedNano !== null)).toEqual([isStream]);
  });

  test("whose storing hangs fails at the call's deadline", async () => {
    const { run, failure } = bench(answers, { responses: { keep: () => new Promise(() => undefined) } });
    await run({ ...job(isStream), deadline_ms: Date.now() + 300 });
    expect(failure()).toMatchObject({ code: "upstream_timeout" });
  });

  test("whose conversation is full is a failure with that reason, and undelivered output is not charged", async () => {
    const refuse = (): never => {
      throw new ApiError("invalid_request", "Expected less.");
    };
    const { run, failure, settlements, text } = bench(answers, { responses: {}, conversations: { append: async () => refuse(), release: async () => undefined } }); // prettier-ignore
    const asked = job(isStream, false);
    await run({
      ...asked,
      response: { ...asked.response, conversation: { id: `conv_${newId().replaceAll("-", "")}` } },
    });
    expect(failure()).toMatchObject({ code: "invalid_request", message: "Expected less.", param: "conversation" });
    expect(text()).not.toContain('"completed"');
    expect(settlements.map(({ usedNano }) => usedNano !== null)).toEqual([isStream]);
  });

  test("is not stored with store: false", async () => {
    const { run, text } = bench(answers, { responses: { keep: () => Promise.reject(new Error("asked to")) } });
    await run(job(isStream, false));
    expect(text()).toContain('"status":"completed"');
  });
});

test("an answer without text fails, and is free, if only text is valid", async () => {
  const empty = {
    ...WHOLE,
    choices: [{ index: 0, message: { role: "assistant", content: " " }, finish_reason: "stop" }],
  };
  for (const [whole, isPaid] of [
    [empty, false],
    [WHOLE, true],
  ] as const) {
    const { run, settlements } = bench({ complete: () => Promise.resolve(whole) });
    await run({ ...job(false, false), needs_text: true });
    expect(settlements.map(({ usedNano }) => usedNano !== null)).toEqual([isPaid]);
  }
});
