import { afterEach, describe, expect, test } from "bun:test";

import type { JobMessage } from "#schemas/generated/types.ts";
import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import type { Source } from "#shared/calls/model.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { BASE, EVERYTHING_ON } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { chatJob, REQUEST } from "#tests/workers/runner/job-message.ts";
import { jobAbort } from "#workers/job.ts";
import { chatRequest } from "#workers/providers/openai-compatible/request.ts";
import { type ChatCall, type ChatDelta, type ChatProvider, ProviderError } from "#workers/providers/provider.ts";

import { asked, bench, closeBenches, delta, END, ROLE, standIn, streamOf, untilAborted, USED } from "./bench.ts";

afterEach(closeBenches);

const catalogue =
  BASE +
  standIn("two", ", continues_assistant: true") +
  standIn("three", ", continues_assistant: true, continue_overrides: { continue_final_message: true }");
type Piece = ChatDelta | Error | ((call: ChatCall) => Promise<unknown>);

const BROKEN = new ProviderError("failed", "by the test");
const LEGS = [ROLE, delta({ content: "Eight " }), delta({ content: "legs and " })];
const DONE = { ...END, usage: USED };

function jobOf(more: Partial<JobMessage["request"]> = {}, fallbacks = ["two", "three"]): JobMessage {
  return chatJob({ request: { ...REQUEST, stream: true, ...more }, fallbacks, continue_streams: true });
}

/** Streams by the source's name. */
function sources(streams: Readonly<Record<string, readonly Piece[]>>): Partial<ChatProvider> {
  return { stream: (call) => streamOf(...(streams[call.sourceModel] ?? [BROKEN]))(call) };
}

function around(verdict = 0) {
  return { catalogue, progress: [{ verdict }] };
}

/** The deltas that a client reads. */
function deltasOf(text: string): Record<string, unknown>[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(([, chunk = ""]) =>
    (JSON.parse(chunk) as { choices: { delta: Record<string, unknown> }[] }).choices.map((choice) => choice.delta),
  );
}

describe("a model that continues a stream", () => {
  test("receives the text so far as the start of its answer, and the remaining tokens, without reasoning", async () => {
    const { run, calls, settlements } = bench(
      sources({ "acme-one": [...LEGS, BROKEN], "acme-three": [ROLE, delta({ content: "a head" }), DONE] }),
      around(),
    );
    await run(jobOf({ max_completion_tokens: 50, reasoning_effort: "high" }));
    expect(asked(calls)).toEqual(["acme-one", "acme-two", "acme-three"]);
    const last = calls[2];
    expect(last?.request.messages).toEqual([
      ...(calls[0]?.request.messages ?? []),
      { role: "assistant", content: "Eight legs and" },
    ]);
    const first = settlements[0]?.units["output_tokens"] ?? 0;
    expect(last?.request.max_completion_tokens).toBe(50 - (first - USED.output));
    expect(last?.request).not.toHaveProperty("reasoning_effort");
    const body: Record<string, unknown> = {};
    last?.adapt(body);
    expect(body).toEqual({ continue_final_message: true });
    calls[0]?.adapt(body);
    expect(body).toEqual({ continue_final_message: true });
  });

  test("continues the caller's prefill, as one message", async () => {
    const { run, calls } = bench(sources({ "acme-one": [...LEGS, BROKEN], "acme-two": [DONE] }), around());
    const begun = { role: "assistant", content: "A spider has " };
    await run(jobOf({ messages: [{ role: "user", content: "Spiders?" }, begun] }));
    expect(calls[1]?.request.messages).toEqual([
      { role: "user", content: "Spiders?" },
      { role: "assistant", content: "A spider has Eight legs and" },
    ]);
  });

  test("adds to the same message: one role, no reasoning, no repeated white space, and both parts are charged", async () => {
    const second = [
      ROLE,
      delta({ reasoning_content: "Hm." }),
      delta({ content: " a" }),
      delta({ content: " head" }),
      DONE,
    ] satisfies ChatDelta[];
    const { run, text, settlements, frames, metric } = bench(
      sources({ "acme-one": [...LEGS, BROKEN], "acme-two": second }),
      around(),
    );
    await run(jobOf());
    expect(deltasOf(text())).toEqual([
      { role: "assistant", content: "" },
      { content: "Eight " },
      { content: "legs and " },
      { content: "a head" },
      {},
    ]);
    expect(frames.at(-1)?.frame).toMatchObject({ t: "end", model: "one" });
    expect(settlements).toMatchObject([{ source: "acme/acme-two", status: "succeeded", isEstimated: true }]);
    // What a worker that dies had told: never less than the first part.
    const told = frames.map(({ frame }) => ("nano" in frame ? BigInt(frame.nano) : 0n));
    expect(told.toSorted((a, b) => Number(a - b))).toEqual(told);
    // 7 tokens in at 1,000 nano-credits, 11 out at 2,000, and what the first model took.
    expect(settlements[0]?.usedNano).toBeGreaterThan(29_000n);
    expect(await metric("sluice_streams_rescued_total")).toContain('outcome="continued"');
  });
});

describe("Mistral's models, which repeat the prefix", () => {
  /** The sources of our own catalogue, under one model. */
  const ours = async (): Promise<Source[]> =>
    [...buildCatalogue(mergeLayers(await loadOurLayers()), EVERYTHING_ON).models.values()].flatMap(({ sources }) =>
      sources.filter(({ provider, continues_assistant: goesOn }) => provider === "mistral" && goesOn === true),
    );

  test("receive it by `prefix` on the last message, and its repetition is removed", async () => {
    const found = await ours();
    expect(found.length).toBeGreaterThan(0);
    for (const { provider: _provider, model: name, ...members } of found) {
      const repeated = [ROLE, delta({ content: "Eight legs and" }), delta({ content: " a head" }), DONE];
      const own = BASE + standIn("two", `, ${JSON.stringify(members).slice(1, -1)}`).replace("acme-two", name);
      const { run, calls, text } = bench(sources({ "acme-one": [...LEGS, BROKEN], [name]: repeated }), {
        ...around(),
        catalogue: own,
      });
      await run(jobOf({ max_completion_tokens: 50, seed: 7 }, ["two"]));
      const [first, second] = calls.map((call) => JSON.parse(chatRequest(call, true).body) as Record<string, unknown>);
      expect(first?.["messages"]).toEqual(REQUEST.messages);
      expect(second).toMatchObject({
        model: name,
        random_seed: 7,
        messages: [...REQUEST.messages, { role: "assistant", content: "Eight legs and", prefix: true }],
      });
      expect(second).not.toHaveProperty("stream_options");
      expect(deltasOf(text()).map(({ content }) => content ?? "")).toEqual(["", "Eight ", "legs and ", "a head", ""]);
    }
  });
});

describe("nothing continues", () => {
  const broken = (...pieces: readonly Piece[]): Partial<ChatProvider> =>
    sources({ "acme-one": [...pieces, BROKEN], "acme-two": [delta({ content: "more" }), DONE] });

  test.each<[string, Partial<ChatProvider>, JobMessage]>([
    ["where the finish reason has been told", broken(...LEGS, END), jobOf()],
    ["where no word of the answer has come", broken(ROLE, delta({ reasoning_content: "Hm." })), jobOf()],
    ["where the model refused", broken(ROLE, delta({ content: "I " }), delta({ refusal: "cannot" })), jobOf()],
    ["where the text has all its tokens", broken(...LEGS), jobOf({ max_completion_tokens: 2 })],
    ["where the chain does not ask for it", broken(...LEGS), { ...jobOf(), continue_streams: false }],
  ])("%s", async (_where, provider, job) => {
    const { run, calls, failure, settlements } = bench(provider, around());
    await run(job);
    expect(asked(calls)).toEqual(["acme-one"]);
    expect(failure()).toMatchObject({ code: "upstream_error" });
    expect(settlements).toMatchObject([{ status: "failed", source: "acme/acme-one" }]);
  });

  test("if the balance covers no other model: the first part is charged normally", async () => {
    const { run, calls, failure, settlements } = bench(broken(...LEGS), around(1));
    await run(jobOf());
    expect(asked(calls)).toEqual(["acme-one"]);
    expect(failure()).toMatchObject({ code: "upstream_error", retry: false });
    expect(settlements[0]?.usedNano).toBeGreaterThan(0n);
  });

  test("once the client has disconnected or the deadline has passed, during the next attempt", async () => {
    for (const reason of ["caller_left", "deadline"] as const) {
      const left = new AbortController();
      const hang = (call: ChatCall): Promise<never> => {
        left.abort(jobAbort(reason));
        return untilAborted(call);
      };
      const provider = sources({ "acme-one": [...LEGS, BROKEN], "acme-two": [hang], "acme-three": [DONE] });
      const { run, calls, settlements } = bench(provider, around());
      await run(jobOf(), left.signal);
      expect(asked(calls)).toEqual(["acme-one", "acme-two"]);
      expect(settlements).toMatchObject([{ status: reason === "deadline" ? "failed" : "cancelled" }]);
      expect(settlements[0]?.usedNano).toBeGreaterThan(0n);
    }
  });

  test("twice at the same model", async () => {
    const provider = sources({
      "acme-one": [...LEGS, BROKEN],
      "acme-two": [delta({ content: "a head" }), BROKEN],
      "acme-three": [delta({ content: " and" }), BROKEN],
    });
    const { run, calls, text, failure, metric } = bench(provider, around());
    await run(jobOf());
    expect(asked(calls)).toEqual(["acme-one", "acme-two", "acme-three"]);
    expect(text()).toContain("a head");
    expect(failure()).toMatchObject({ code: "upstream_error", retry: false });
    expect(await metric("sluice_streams_rescued_total")).toContain('outcome="failed"');
  });
});
