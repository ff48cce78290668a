import { describe, expect, test } from "bun:test";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { Model } from "#shared/calls/model.ts";
import { parsePrice } from "#shared/calls/pricing/price.ts";
import { NO_USAGE, type TokenUsage, usageUnits } from "#shared/calls/pricing/usage.ts";
import { countPrompt } from "#shared/tokens/count.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";
import { meterOf } from "#workers/calls/chat/attempt.ts";
import { ChatMeter, chargeOf, type TokenBounds } from "#workers/calls/chat/meter.ts";

const REQUEST: ChatCompletionRequest = {
  model: "m",
  messages: [{ role: "user", content: "How many legs has a spider?" }],
};
/** 1 nano-credit for an input token, 10 for one of output, none of the fractions that rounding would hide. */
const PRICE = parsePrice({ unit: "per_token", input_per_million: "0.001", output_per_million: "0.01" });
const HOLD = 5_000n;

function meter(request: object = {}, bounds?: TokenBounds): ChatMeter {
  return new ChatMeter({ ...REQUEST, ...request }, PRICE, HOLD, 100, bounds);
}

const delta = (members: object, finish_reason: string | null = null) => [{ index: 0, delta: members, finish_reason }];
const usage = (members: Partial<TokenUsage>): TokenUsage => ({ ...NO_USAGE, ...members });
const tokenizer = await loadTokenizer();
const promptOf = (request: object = {}) => countPrompt(tokenizer, { ...REQUEST, ...request }, () => 100);

describe("output", () => {
  test.each<[string, object, boolean]>([
    ["a role", { role: "assistant" }, false],
    ["an empty text", { role: "assistant", content: "" }, false],
    ["null", { content: null, refusal: null }, false],
    ["nothing", {}, false],
    ["a text", { content: "a" }, true],
    ["reasoning", { reasoning_content: "hm" }, true],
    ["reasoning under its other name", { reasoning: "hm" }, true],
    ["a refusal", { refusal: "no" }, true],
    ["a tool's name", { tool_calls: [{ index: 0, function: { name: "f", arguments: "" } }] }, true],
    ["a tool's arguments", { tool_calls: [{ index: 0, function: { arguments: "{" } }] }, true],
    ["a custom tool's input", { tool_calls: [{ index: 0, custom: { input: "x" } }] }, true],
    ["a tool call with only an id", { tool_calls: [{ index: 0, id: "a", function: {} }] }, false],
    ["blocks of text", { content: [{ type: "text", text: "a" }] }, true],
    ["blocks of thought", { content: [{ type: "thinking", thinking: [{ type: "text", text: "a" }] }] }, true],
    ["odd blocks", { content: [null, 7, { type: "text" }, { thinking: [null] }] }, false],
    ["sound", { audio: { data: "UklGRg==" } }, true],
    ["the transcript of sound", { audio: { transcript: "hello" } }, true],
    ["the id of sound", { audio: { id: "audio_1" } }, false],
  ])("%s", (_name, members, isOutput) => {
    expect(meter().add(delta(members))).toBe(isOutput);
    expect(meter().add([{ index: 0, message: members, finish_reason: null }])).toBe(isOutput);
  });

  test("includes an end without a text: the answer is known then", () => {
    expect(meter().add(delta({}, "stop"))).toBe(true);
  });
});

describe("a settlement", () => {
  test("uses the provider's report, to the nano-credit", async () => {
    const subject = meter();
    subject.add(delta({ content: "something else entirely, and longer" }));
    subject.report = usage({ input: 7, output: 11 });
    expect(await subject.settle()).toEqual({
      nano: 117n,
      usage: usage({ input: 7, output: 11 }),
      estimated: undefined,
    });
  });

  test("uses the last report, not their sum or maximum", async () => {
    const subject = meter();
    subject.report = usage({ input: 100, output: 100 });
    subject.report = usage({ input: 7, output: 11 });
    expect((await subject.settle()).nano).toBe(117n);
  });

  test("uses our own count without a report, marked as estimated", async () => {
    const subject = meter();
    for (const content of ["Eight", " legs", "."]) subject.add(delta({ content }));
    const input = promptOf();
    const output = tokenizer.count("Eight legs.");
    expect(await subject.settle()).toEqual({
      nano: BigInt(input + 10 * output),
      usage: usage({ input, output, estimated: true }),
      estimated: "missing",
    });
  });

  test("counts reasoning, refusals and tool calls in our own count too", async () => {
    const subject = meter();
    subject.add(delta({ reasoning_content: "think" }));
    subject.add(delta({ refusal: "no" }));
    subject.add(delta({ tool_calls: [{ function: { name: "get", arguments: "{}" } }] }));
    expect((await subject.settle()).usage.output).toBe(tokenizer.count("thinknoget{}"));
  });

  test("counts an image by its bound and never by its bytes", async () => {
    const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(100_000)}` } };
    const messages = [{ role: "user", content: [{ type: "text", text: "What?" }, picture, picture] }];
    const { usage: counted } = await meter({ messages }).settle();
    expect(counted.input).toBe(promptOf({ messages }));
    expect(counted.input).toBeLessThan(250);
  });

  test("counts text above the kept part at four characters per token", async () => {
    const subject = meter();
    const megabyte = "word ".repeat(210_000);
    subject.add(delta({ content: megabyte }));
    subject.add(delta({ content: "x".repeat(4_000) }));
    expect((await subject.settle()).usage.output).toBe(tokenizer.count(megabyte) + 1_000);
  });

  test("charges exactly the hold when the report is impossible", async () => {
    const subject = meter();
    subject.add(delta({ content: "Eight legs." }));
    subject.report = "impossible";
    const metered = await subject.settle();
    expect(metered).toMatchObject({ nano: HOLD, estimated: "impossible" });
    expect(metered.usage).toMatchObject({ output: tokenizer.count("Eight legs."), estimated: true });
  });

  const BOUNDS = { input: 1_000, output: 50 };

  test("with more input than the call's own messages can contain is rejected, except templates", async () => {
    const bounds: TokenBounds = { input: 1_000_000, output: 100, ownInput: () => 60 };
    for (const [input, estimated] of [
      [8_000, undefined],
      [8_192 + 120, undefined],
      [8_192 + 121, "impossible"],
      [900_000, "impossible"],
    ] as const) {
      const subject = meter({}, bounds);
      subject.report = usage({ input, output: 1 });
      expect([input, (await subject.settle()).estimated]).toEqual([input, estimated]);
    }
  });

  test.each<[string, Partial<TokenUsage>, "impossible" | undefined]>([
    ["all the model can do", { input: 1_000, output: 50 }, undefined],
    ["somewhat more, since vendors count differently", { input: 2_000, output: 100 }, undefined],
    ["more input than the model can read", { input: 2_001, output: 50 }, "impossible"],
    ["more cached input than the model can read", { input: 1, cachedInput: 2_000 }, "impossible"],
    ["more output than the model can write", { input: 10, output: 101 }, "impossible"],
    ["more sound than the model can write", { input: 10, audioOutput: 101 }, "impossible"],
  ])("a report of %s", async (_name, report, estimated) => {
    const subject = meter({}, BOUNDS);
    subject.report = usage(report);
    const metered = await subject.settle();
    expect(metered.estimated).toBe(estimated);
    if (estimated === "impossible") expect(metered.nano).toBe(HOLD);
  });

  describe("at a price with tiers", () => {
    const price = parsePrice({
      unit: "per_token",
      input_per_million: "0.001",
      output_per_million: "0.01",
      long_context: { above_tokens: 1_000, input_per_million: "0.002", output_per_million: "0.02" },
      service_tiers: { priority: { input_per_million: "0.003", output_per_million: "0.03" } },
    });
    const tiered = (request: object): ChatMeter => new ChatMeter({ ...REQUEST, ...request }, price, 1_000_000n, 100);

    test("charges the tier that the provider reported, and counts it", async () => {
      const subject = tiered({ service_tier: "auto" });
      subject.servedTier = "priority";
      subject.report = usage({ input: 7, output: 3 });
      const metered = await subject.settle();
      expect([metered.nano, chargeOf(metered).units]).toEqual([
        111n,
        { input_tokens: 7, output_tokens: 3, priority_requests: 1 },
      ]);
    });

    test("charges a long input at the rates for long contexts, cached tokens included", async () => {
      const subject = tiered({});
      subject.report = usage({ input: 1, cachedInput: 1_000, output: 1 });
      const metered = await subject.settle();
      expect([metered.nano, chargeOf(metered).units["long_context_requests"]]).toEqual([2_022n, 1]);
    });

    test("charges the price itself when the source never receives the requested tier", async () => {
      const model = { max_context_tokens: 1_000, max_output_tokens: 100 } as Model;
      const held = { price, holdNano: 1_000_000n, outputTokensMax: 100 };
      const charge = async (drop_params: string[]): Promise<bigint> => {
        const source = { provider: "p", model: "m", drop_params };
        const subject = meterOf({ ...REQUEST, service_tier: "priority" }, { model, source }, held);
        subject.report = usage({ input: 7, output: 3 });
        return (await subject.settle()).nano;
      };
      expect([await charge(["user"]), await charge(["service_tier"])]).toEqual([111n, 37n]);
    });

    test("estimates a missing report at the rates of the tier", async () => {
      const subject = tiered({ service_tier: "priority" });
      subject.add(delta({ content: "Eight" }));
      expect(subject.soFar().nano).toBeGreaterThan(0n);
      const metered = await subject.settle();
      expect(metered.estimated).toBe("missing");
      expect(metered.nano).toBe(BigInt(3 * promptOf() + 30));
      // An interrupted call is charged at its tier, too.
      expect((await subject.settleCut())?.nano).toBe(metered.nano);
    });
  });

  test("of a price per request is that price, for any usage", async () => {
    const price = parsePrice({ unit: "per_request", request_price: "2" });
    const subject = new ChatMeter(REQUEST, price, HOLD);
    subject.report = usage({ input: 7, output: 1_000_000 });
    expect((await subject.settle()).nano).toBe(2_000_000_000n);
  });
});

describe("a settlement of an interrupted call", () => {
  test("charges nothing when nothing was generated", async () => {
    const subject = meter();
    subject.add(delta({ role: "assistant", content: "" }));
    expect(await subject.settleCut()).toBeUndefined();
  });

  test("charges the generated part, by our own count", async () => {
    const subject = meter();
    subject.add(delta({ content: "Eight" }));
    const metered = await subject.settleCut();
    expect(metered).toMatchObject({ estimated: "cut", usage: { output: 1, input: promptOf(), estimated: true } });
    expect(metered?.nano).toBe(BigInt(promptOf() + 10));
  });

  test("uses the provider's input, cache reads included, and counts only the output", async () => {
    const subject = meter();
    subject.inputReport = { ...NO_USAGE, input: 5, cachedInput: 1_000 };
    subject.add([{ delta: { content: "Eight" } }]);
    const metered = await subject.settleCut();
    expect(metered).toMatchObject({ estimated: "cut", usage: { input: 5, cachedInput: 1_000, output: 1 } });
    expect(subject.soFar().tokens).toBe(1_006);
  });

  test("uses its own count of the input if the provider's is impossible", async () => {
    const subject = meter({}, { input: 100, output: 100 });
    subject.inputReport = { ...NO_USAGE, input: 1_000_000 };
    subject.add([{ delta: { content: "Eight" } }]);
    expect((await subject.settleCut())?.usage.input).toBeLessThan(100);
  });

  test("charges the provider's report so far", async () => {
    const subject = meter();
    subject.add(delta({ content: "Eight" }));
    subject.report = usage({ input: 7, output: 11 });
    expect(await subject.settleCut()).toMatchObject({ nano: 117n, estimated: undefined });
  });

  test("does not charge the hold for an impossible report: the call was incomplete", async () => {
    const subject = meter({}, { input: 10, output: 10 });
    for (const report of ["impossible", usage({ input: 1_000, output: 1 })] as const) {
      subject.report = report;
      expect(await subject.settleCut()).toBeUndefined();
    }
    subject.add(delta({ content: "Eight" }));
    // Our own count is bounded by what the model can read, as the report would be.
    expect(await subject.settleCut()).toMatchObject({ estimated: "cut", nano: 20n, usage: { input: 10, output: 1 } });
  });

  test("never charges more than the hold by our own count, for any input", async () => {
    const file = { type: "file" as const, file: { file_data: `data:application/pdf;base64,${"A".repeat(3_000_000)}` } };
    const request = { ...REQUEST, messages: [{ role: "user" as const, content: [file] }] };
    const subject = new ChatMeter(request, PRICE, 5_000n);
    subject.add(delta({ content: "Eight" }));
    expect((await subject.settleCut())?.nano).toBe(5_000n);
    expect(subject.soFar().nano).toBe(5_000n);
  });
});

describe("the running figures", () => {
  test("grow with every piece and include the prompt from the start", () => {
    const subject = meter();
    const start = subject.soFar();
    expect(start.tokens).toBeGreaterThan(0);
    expect(start.nano).toBe(BigInt(start.tokens));
    let before = start.nano;
    for (const content of ["Eight", " legs", "."]) {
      subject.add(delta({ content }));
      const { nano, tokens } = subject.soFar();
      expect(nano).toBe(before + 10n);
      expect(tokens).toBeGreaterThan(start.tokens);
      before = nano;
    }
  });
});

describe("the units of a usage record", () => {
  test("name every bucket that is not zero, and nothing else", () => {
    expect(usageUnits(NO_USAGE)).toEqual({});
    const whole: TokenUsage = {
      input: 1,
      cachedInput: 2,
      cacheWrite5m: 3,
      cacheWrite1h: 4,
      audioInput: 5,
      imageInput: 6,
      output: 7,
      audioOutput: 8,
      imageOutput: 9,
      reasoning: 10,
      estimated: true,
    };
    expect(usageUnits(whole)).toEqual({
      input_tokens: 1,
      cached_input_tokens: 2,
      cache_write_5m_tokens: 3,
      cache_write_1h_tokens: 4,
      audio_input_tokens: 5,
      image_input_tokens: 6,
      output_tokens: 7,
      audio_output_tokens: 8,
      image_output_tokens: 9,
      reasoning_tokens: 10,
    });
  });
});
