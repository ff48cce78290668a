/** A chat call of a workflow's step that readers of the run hear: a stream to its provider, a completion to the run. */
import { afterEach, expect, test } from "bun:test";

import type { JobMessage } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { newId } from "#shared/base/ids.ts";
import { BASE } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { chatJob, REQUEST } from "#tests/workers/runner/job-message.ts";
import { type ChatDelta, type ChatProvider, ProviderError } from "#workers/providers/provider.ts";

import { asked, bench, closeBenches, delta, END, ROLE, standIn, streamOf, USED, WHOLE } from "./bench.ts";

afterEach(closeBenches);

const BROKEN = new ProviderError("failed", "by the test");
const DONE = { ...END, usage: USED };
const PLACE = { run_id: newId(), step_id: "a", attempt: 1 };

const stepJob = (more: Partial<JobMessage> = {}): JobMessage =>
  chatJob({ request: { ...REQUEST, stream: true }, step: PLACE, ...more });

/** Streams by the source's name. */
function sources(streams: Readonly<Record<string, readonly (ChatDelta | Error)[]>>): Partial<ChatProvider> {
  return { stream: (call) => streamOf(...(streams[call.sourceModel] ?? [BROKEN]))(call) };
}

const AROUND = { catalogue: BASE + standIn("two", ", continues_assistant: true"), progress: [{ verdict: 0 }] };

/** Text that its readers hear, and the completion that it ends as. */
function told(frames: ReturnType<typeof bench>["frames"]) {
  const texts = frames.map(({ data }) => new TextDecoder().decode(data));
  const completion = JSON.parse(texts.at(-1) ?? "") as { choices: object[] };
  expect(validate("ChatCompletion", completion)).toBeNull();
  return { text: texts.slice(0, -1).join(""), completion };
}

test("a step's stream is published as plain text, and ends as the completion of the same call without a stream", async () => {
  const pieces = streamOf(ROLE, delta({ content: "Ei" }), delta({ content: "ght." }), DONE);
  const streamed = bench({ stream: pieces });
  const plain = bench({ complete: () => Promise.resolve(WHOLE) });
  const job = stepJob();
  await streamed.run(job);
  const { step: _place, ...alone } = job;
  await plain.run({ ...alone, request: REQUEST });
  const { text, completion } = told(streamed.frames);
  expect(text).toBe("Eight.");
  const expected = JSON.parse(plain.text()) as { created: number };
  expect(completion).toMatchObject({ ...expected, created: expect.any(Number) });
  expect(streamed.settlements).toMatchObject(plain.settlements.map(({ usedNano, units }) => ({ usedNano, units })));
});

test("a step's stream is as final as any stream once its model has started, also with unpublished output", async () => {
  const call = delta({
    tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "{" } }],
  });
  const { run, calls, settlements, failure } = bench(sources({ "acme-one": [ROLE, call, BROKEN] }), AROUND);
  await run(stepJob({ fallbacks: ["two"] }));
  expect([asked(calls), failure().retry]).toEqual([["acme-one"], false]);
  expect(settlements).toMatchObject([{ status: "failed", isEstimated: true }]);
  expect(settlements[0]?.usedNano).toBeGreaterThan(0n);
});

test("a step's stream contains nothing of a model that failed before its start", async () => {
  const second = [ROLE, delta({ content: "Eight." }), DONE];
  const { run, calls, frames } = bench(sources({ "acme-one": [ROLE, BROKEN], "acme-two": second }), AROUND);
  await run(stepJob({ fallbacks: ["two"] }));
  expect(asked(calls)).toEqual(["acme-one", "sandbox-chat", "acme-two"]);
  const { text, completion } = told(frames);
  expect([text, completion]).toEqual(["Eight.", expect.objectContaining({ model: "two" })]);
  expect(completion.choices).toMatchObject([{ message: { role: "assistant", content: "Eight." } }]);
});

test("a step's stream that is interrupted and continues elsewhere is one text and one completion", async () => {
  const streams = {
    "acme-one": [ROLE, delta({ content: "Eight " }), BROKEN],
    "acme-two": [ROLE, delta({ reasoning_content: "Hm." }), delta({ content: "legs" }), DONE],
  };
  const { run, frames } = bench(sources(streams), AROUND);
  await run(stepJob({ fallbacks: ["two"], continue_streams: true }));
  const { text, completion } = told(frames);
  expect([text, completion]).toEqual(["Eight legs", expect.objectContaining({ model: "one" })]);
  expect(completion.choices).toMatchObject([{ message: { content: "Eight legs" }, finish_reason: "stop" }]);
});
