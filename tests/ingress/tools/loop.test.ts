/** Turns of a model with tools that are played. */
import { describe, expect, test } from "bun:test";

import type { SluiceCall, SluiceSummary } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import {
  type AskedCall,
  type ToolLoopFormat,
  laterChoice,
  type Loop,
  type LoopLimits,
  runLoop,
  TurnsFailed,
} from "#ingress/tools/loop.ts";
import type { ToolOutcome } from "#ingress/tools/run-tool.ts";
import { type FakeOptions, fakeContext, KEY } from "#tests/ingress/fake-context.ts";
import { routeCall } from "#tests/ingress/route-call.ts";

const LIMITS: LoopLimits = { rounds: 4, runs: 64, nano: undefined };
const MADE: ToolOutcome = { status: "completed", output: "{}", files: [], nano: 5n };
const call = (text = "{}", name = "tell"): AskedCall => ({ callId: newId(), name, text });

interface Played {
  readonly turns: readonly (readonly AskedCall[] | Error)[];
  readonly limits?: Partial<LoopLimits>;
  readonly handsOver?: boolean;
  readonly run?: (left: AbortController) => ToolOutcome;
  readonly fake?: FakeOptions;
  readonly headers?: Record<string, string>;
  readonly most?: number;
  readonly turnNano?: bigint;
}

const WITH_KEY = { authorization: `Bearer ${KEY}` };

async function play({
  turns,
  limits = {},
  handsOver = false,
  run = () => MADE,
  fake,
  headers = WITH_KEY,
  most,
  turnNano = 10n,
}: Played) {
  const fakes = fakeContext(fake);
  const { context, caller, authorizations } = fakes;
  const left = new AbortController();
  const told: SluiceCall[] = [];
  const ids: string[] = [];
  const maximums: (bigint | undefined)[] = [];
  let asked = 0;
  const door: ToolLoopFormat = {
    async *ask(api) {
      ids.push(api.call.requestId);
      maximums.push(api.call.maxNano);
      const turn = turns[Math.min(asked++, turns.length - 1)];
      api.call.meter.addCharge(turnNano);
      yield new Uint8Array([asked]);
      if (turn instanceof Error) throw turn;
      return { asked: turn ?? [], handsOver };
    },
    formatCall(one) {
      told.push(one);
      return new Uint8Array();
    },
  };
  const request = new Request("http://localhost/v1/chat/completions", { headers });
  const requestId = newId();
  const tool = {
    id: "code.tell",
    name: "tell",
    description: "",
    parameters: {},
    ...(most === undefined ? {} : { most }),
  };
  const loop: Loop = {
    context,
    call: routeCall({ request, requestId, caller }),
    tools: new Map([["tell", { ...tool, run: (api) => (ids.push(api.call.requestId), maximums.push(api.call.maxNano), Promise.resolve(run(left))) }]]), // prettier-ignore
    limits: { ...LIMITS, ...limits },
    clientSignal: left.signal,
  };
  const pieces = runLoop(loop, door);
  let error: unknown;
  let summary: SluiceSummary | undefined;
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      if (done !== true) continue;
      summary = value;
      break;
    }
  } catch (thrown) {
    error = thrown;
  }
  fakes.close();
  return { summary, error, told, ids, maximums, requestId, authorizations };
}

test("runs of a tool above its own limit are rejected, and are not started", async () => {
  const { told } = await play({ turns: [[call(), call(), call()], []], most: 2 });
  const ended = told.filter(({ status }) => status !== "in_progress");
  expect(ended.map(({ status }) => status)).toEqual(["completed", "completed", "failed"]);
  expect(ended[2]?.output).toContain("Expected at most 2 calls of tell");
  expect(ended[2]).not.toHaveProperty("request_id");
});

test("a model is called until it answers; every turn and run has its own id, the first that of the request", async () => {
  const { summary, told, ids, requestId } = await play({ turns: [[call(), call()], [call()], []] });
  expect(summary).toMatchObject({ ended_by: "answer", credits_used: 0.000000045 });
  expect(summary?.turns).toHaveLength(3);
  expect(summary?.calls?.map(({ round }) => round)).toEqual([1, 1, 2]);
  expect(told.map(({ status }) => status)).toEqual(
    Array.from({ length: 3 }, () => ["in_progress", "completed"]).flat() as never,
  );
  expect(ids[0]).toBe(requestId);
  expect(new Set(ids).size).toBe(6);
  expect(new Set(told.map(({ id }) => id)).size).toBe(3);
});

describe("a limit", () => {
  test("of rounds runs no tool without a following turn", async () => {
    const { summary } = await play({ turns: [[call()]], limits: { rounds: 3 } });
    expect(summary).toMatchObject({ ended_by: "max_rounds", turns: [{}, {}, {}], calls: [{}, {}] });
  });

  test.each([
    [10n, 1, 0],
    [11n, 1, 1],
    [15n, 1, 1],
    [16n, 1, 2],
    [20n, 1, 2],
    [21n, 2, 2],
  ])("of %p nano-credits starts nothing once they are used: turns %p, runs %p", async (nano, turns, runs) => {
    const { summary } = await play({ turns: [[call(), call()]], limits: { nano, rounds: 16 } });
    expect([summary?.ended_by, summary?.turns.length, summary?.calls?.length]).toEqual(["max_credits", turns, runs]);
  });

  test("of the whole call leaves each turn and run what the others have not used or held", async () => {
    const run = (): ToolOutcome => ({ ...MADE, heldNano: 2n });
    const { summary, maximums } = await play({ turns: [[call(), call()], []], run, limits: { maxNano: 100n } });
    expect(summary?.ended_by).toBe("answer");
    expect(maximums).toEqual([100n, 90n, 83n, 76n]);
    const free = await play({ turns: [[call()], []] });
    expect(free.maximums).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    [17n, 1],
    [16n, 1],
    [18n, 2],
  ])(
    "of the whole call of %p nano-credits starts nothing once they are used or held: runs %p",
    async (maxNano, runs) => {
      const run = (): ToolOutcome => ({ ...MADE, heldNano: 2n });
      const { summary } = await play({ turns: [[call(), call()]], run, limits: { maxNano } });
      expect([summary?.ended_by, summary?.calls?.length]).toEqual(["max_credits", runs]);
    },
  );

  test("of the whole call ends the loop before a later turn that does not fit, and refuses a first one", async () => {
    const refused = new ApiError("max_credits_exceeded", "too expensive", { param: "max_credits" });
    const later = await play({ turns: [[call()], refused], limits: { maxNano: 100n } });
    expect(later.summary).toMatchObject({ ended_by: "max_credits", turns: [{}], calls: [{}] });
    const first = await play({ turns: [refused], limits: { maxNano: 100n }, turnNano: 0n });
    expect(first.error).toBe(refused);
  });

  test("of credits counts the hold of a cancelled run, and does not report it as used", async () => {
    const run = (): ToolOutcome => ({ ...MADE, nano: 0n, heldNano: 5n });
    const { summary } = await play({ turns: [[call(), call()], []], limits: { nano: 15n }, run });
    expect(summary).toMatchObject({ ended_by: "max_credits", credits_used: 0.00000001, calls: [{ credits_used: 0 }] });
    expect(summary?.calls).toHaveLength(1);
  });

  test("of runs is reported to the model", async () => {
    const { summary } = await play({ turns: [[call(), call(), call()], []], limits: { runs: 2 } });
    expect(summary?.calls?.map(({ status }) => status)).toEqual(["completed", "completed", "failed"]);
    expect(summary?.calls?.[2]?.output).toContain("Expected at most 2 tool calls");
    expect(summary?.calls?.[2]).not.toHaveProperty("request_id");
  });
});

test("a signed-in person acts as its key in every turn and run", async () => {
  const token = "t".repeat(43);
  const headers = { cookie: `sluice=${token}`, "x-sluice-console": "1" };
  const { summary, authorizations } = await play({ turns: [[call()], []], headers });
  expect(summary).toMatchObject({ ended_by: "answer", turns: [{}, {}] });
  expect(authorizations).toEqual([token, token]);
});

test("calls of the caller's functions end it after the others have been run", async () => {
  const { summary } = await play({ turns: [[call()]], handsOver: true, limits: { rounds: 1 } });
  expect(summary).toMatchObject({ ended_by: "handover", turns: [{}], calls: [{ status: "completed" }] });
  expect((await play({ turns: [[]], handsOver: true })).summary?.ended_by).toBe("handover");
  // The caller is asked, whatever the others would have cost.
  expect((await play({ turns: [[call()]], handsOver: true, limits: { nano: 1n } })).summary?.ended_by).toBe("handover");
});

test.each(["[]", "null", "{", "3"])(
  "arguments that are not an object, such as %s, run nothing and are reported to the model",
  async (text) => {
    const { summary } = await play({ turns: [[call(text)], []] });
    expect(summary?.calls).toMatchObject([
      { status: "failed", credits_used: 0, output: expect.stringContaining("invalid_json") },
    ]);
  },
);

test("a failed turn reports the usage so far, and gives no retry hint", async () => {
  const { error } = await play({
    turns: [[call()], new ApiError("overloaded", "Later.", { headers: { "retry-after": "1" } })],
  });
  expect(error).toBeInstanceOf(TurnsFailed);
  expect(error).toMatchObject({
    code: "overloaded",
    shouldRetry: false,
    headers: { "retry-after": "1", "x-credits-used": "0.000000025" },
    summary: { ended_by: "error", turns: [{}, {}], calls: [{}] },
  });
});

test("a turn that fails while a run holds credits gives no retry hint, although nothing was used", async () => {
  const turns = [[call()], new ApiError("overloaded", "Later.")];
  const failed = { turns, turnNano: 0n, run: (): ToolOutcome => ({ ...MADE, nano: 0n, heldNano: 5n }) };
  expect((await play(failed)).error).toMatchObject({ shouldRetry: false, headers: { "x-credits-used": "0" } });
  const free = { ...failed, run: (): ToolOutcome => ({ ...MADE, nano: 0n }) };
  expect((await play(free)).error).not.toBeInstanceOf(TurnsFailed);
});

test("the key is checked before each turn and each run except the first turn", async () => {
  expect((await play({ turns: [[call()], []] })).authorizations).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
  const authenticate = (): void => {
    throw new ApiError("invalid_api_key", "Revoked.");
  };
  const { error, ids } = await play({ turns: [[call()], []], fake: { authenticate } });
  expect(error).toMatchObject({ code: "invalid_api_key" });
  expect(ids).toHaveLength(1);
});

test("a caller that disconnects during a run ends it afterwards", async () => {
  const { error, ids } = await play({
    turns: [[call(), call()], []],
    run(left) {
      left.abort();
      return MADE;
    },
  });
  expect(error).toMatchObject({ code: "request_timeout" });
  expect(ids).toHaveLength(2);
});

test("a choice that requires a call does so once", () => {
  expect(["none", "auto", "required"].map((choice) => laterChoice(choice))).toEqual(["none", "auto", "auto"]);
});
