/** Faults and oddities of any provider of chat, at each family: nothing broken looks whole, nothing odd is lost. */
import { describe, expect, test } from "bun:test";

import { createProviders } from "#workers/providers/index.ts";
import type { ChatProvider } from "#workers/providers/provider.ts";

import { startAnthropicServer } from "./anthropic/server.ts";
import { VENDOR_MARK } from "./engine/behaviour.ts";
import { chatCall, failureOf, gather, type Gathered, useServers } from "./engine/calls.ts";
import type { Upstream } from "./engine/upstream.ts";
import { startGeminiServer } from "./gemini/server.ts";
import { startOpenAiServer } from "./openai-compatible/server.ts";

const own = useServers();

const START = { anthropic: startAnthropicServer, gemini: startGeminiServer, "openai-compatible": startOpenAiServer };
type Family = keyof typeof START;
const FAMILIES = Object.keys(START) as Family[];

function start(family: Family): { server: Upstream; provider: ChatProvider } {
  const server = own(START[family]({ apiKey: "key-ours" }));
  const entry = { id: "p", family, base_url: server.url, api_key_env: "OUR_API_KEY" };
  const provider = createProviders(() => "key-ours").chat(entry);
  if (!provider) throw new Error("the family offers no chat");
  return { server, provider };
}

/** Calls whose model is a behaviour of this name. */
function named(family: Family, name: string, request: object = {}) {
  const { server, provider } = start(family);
  const options = { sourceModel: `mock-${name}` };
  return {
    server,
    plain: () => provider.complete(chatCall(request, options)),
    stream: (): Promise<Gathered> => gather(provider.stream(chatCall({ stream: true, ...request }, options))),
  };
}

const cells = (...names: readonly string[]): [string, Family][] =>
  names.flatMap((name) => FAMILIES.map((family): [string, Family] => [name, family]));

const SAID = { messages: [{ role: "user", content: "say one é two 🙂 three" }] };

describe("an interrupted stream", () => {
  // `[DONE]` alone ends an answer of OpenAI's dialect well (openai-compatible/endings.test.ts).
  const isCut = ([name, family]: readonly [string, Family]): boolean =>
    name !== "no-finish" || family !== "openai-compatible";

  test.each(cells("end", "cut-utf8-end", "cut-in-json-end", "no-finish", "no-finish-no-end").filter(isCut))(
    "is a failure after its content: %s (%s)",
    async (name, family) => {
      const { error, finish, text, usage } = await named(family, name).stream();
      expect(error).toMatchObject({ name: "ProviderError", kind: "failed" });
      expect(finish).toEqual([]);
      expect(text).not.toBe("");
      // Gemini alone reports with each event; the others had not said yet what it took.
      if (family !== "gemini" && !name.startsWith("no-finish")) expect(usage).toBeUndefined();
    },
  );

  test.each(
    cells(
      "fin",
      "rst",
      "cut-utf8",
      "cut-in-json",
      "cut-first",
      "cut-body",
      "empty-stream",
      "reset",
      "reset-after-head",
      "html",
      "html-502",
      "redirect",
      "wrong-type",
      "error-in-200",
    ),
  )("is never complete: %s (%s)", async (name, family) => {
    const { error, finish } = await named(family, name).stream();
    expect(error).toMatchObject({ name: "ProviderError", kind: "failed" });
    expect(finish).toEqual([]);
  });

  test.each<[Family, string]>([
    ["anthropic", "busy"],
    ["gemini", "busy"],
    ["openai-compatible", "failed"],
  ])("by an error of the provider's has that error's class (%s is %s)", async (family, kind) => {
    for (const [name, said] of [
      ["error-first", ""],
      ["error-mid", "one é"],
    ] as const) {
      const gathered = await named(family, name, SAID).stream();
      expect(gathered).toMatchObject({ error: { kind }, text: said, finish: [] });
      expect(gathered.error?.say ?? "").not.toContain(VENDOR_MARK);
    }
  });

  test.each(cells("silent", "silent-after-head", "stall", "endless"))(
    "or an endless one is aborted with its caller, including its socket: %s (%s)",
    async (name, family) => {
      const { server, provider } = start(family);
      const abort = new AbortController();
      const options = { sourceModel: `mock-${name}`, signal: abort.signal };
      const gathered = gather(provider.stream(chatCall({ stream: true }, options)));
      const call = await server.received(1);
      abort.abort();
      expect((await gathered).error).toMatchObject({ kind: "aborted" });
      await call.finished;
      expect(call.closedByClientAt).not.toBeNull();
      expect(server.openSockets()).toBe(0);
    },
  );

  test.each(FAMILIES)("without a reader closes the provider's socket (%s)", async (family) => {
    const { server, provider } = start(family);
    for await (const _delta of provider.stream(chatCall({ stream: true }, { sourceModel: "mock-endless" }))) break;
    const call = await server.received(1);
    await call.finished;
    expect(server.openSockets()).toBe(0);
  });
});

describe("a stream in unusual form", () => {
  test.each(
    cells(
      "ok",
      "malformed",
      "comments",
      "foreign",
      "crlf",
      "cr",
      "lf",
      "bom",
      "multi-line",
      "no-last-newline",
      "no-end",
      "long-line",
      "split-1",
      "split-7",
      "slow-1",
      "silent-20",
      "delay-20",
    ),
  )("is read like any other: %s (%s)", async (name, family) => {
    const { text, finish, error, usage } = await named(family, name, SAID).stream();
    expect(error).toBeUndefined();
    expect({ text, finish }).toEqual({ text: "one é two 🙂 three", finish: ["stop"] });
    expect(usage).toMatchObject({ output: 5, estimated: false });
  });

  test.each(cells("tools-parallel", "tools-interleaved"))("keeps calls separate: %s (%s)", async (name, family) => {
    const { calls, finish } = await named(family, name).stream();
    expect(finish).toEqual(["tool_calls"]);
    expect(calls.map((call) => [call.name, call.arguments])).toEqual([
      ["get_weather", '{"city":"Paris"}'],
      ["get_time", '{"zone":"Europe/Paris"}'],
      ["lookup", '{"term":"café 🙂"}'],
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
  });

  test.each(FAMILIES)("has {} for a tool without arguments (%s)", async (family) => {
    expect((await named(family, "tool-without-arguments").stream()).calls[0]?.arguments).toBe("{}");
  });
});

describe("a usage report", () => {
  test.each(cells("negative", "fractional", "huge", "nan"))("that is %s is impossible (%s)", async (name, family) => {
    const { plain, stream } = named(family, `usage-${name}`);
    expect((await plain()).usage).toBe("impossible");
    expect(await stream()).toMatchObject({ usage: "impossible", error: undefined });
  });

  test.each(cells("missing", "zero"))("that is %s is missing (%s)", async (name, family) => {
    const { plain, stream } = named(family, `usage-${name}`);
    expect((await plain()).usage).toBeNull();
    const { usage, error } = await stream();
    expect([usage ?? null, error]).toEqual([null, undefined]);
  });

  test.each(cells("growing", "late"))("that is %s replaces the earlier ones (%s)", async (name, family) => {
    expect((await named(family, `usage-${name}`, SAID).stream()).usage).toMatchObject({ output: 5 });
  });
});

describe("an invalid plain answer", () => {
  test.each(cells("html", "html-502", "cut-json", "cut-body", "empty", "wrong-type", "redirect", "reset"))(
    "is a failure: %s (%s)",
    async (name, family) => {
      const error = await failureOf(named(family, name).plain());
      expect(error).toMatchObject({ kind: "failed" });
      expect(error.say ?? "").not.toContain(VENDOR_MARK);
    },
  );

  test.each<[Family, string]>([
    ["anthropic", "busy"],
    ["gemini", "busy"],
    ["openai-compatible", "failed"],
  ])("with an error inside a 200 has its class (%s is %s)", async (family, kind) => {
    expect(await failureOf(named(family, "error-in-200").plain())).toMatchObject({ kind });
  });
});

describe("an error status", () => {
  test.each<[string, object]>([
    ["429-7", { kind: "busy", status: 429 }],
    ["server-error", { kind: "failed", status: 500 }],
    ["content-policy", { kind: "refused" }],
    ["bad-request", { kind: "rejected", status: 400 }],
  ])("%s has its class at each family, plain and streamed", async (name, expected) => {
    for (const family of FAMILIES) {
      const { plain, stream } = named(family, name);
      expect(await failureOf(plain())).toMatchObject(expected);
      expect((await stream()).error).toMatchObject(expected);
    }
  });

  test.each<Family>(["anthropic", "openai-compatible"])("contains the retry time (%s)", async (family) => {
    expect(await failureOf(named(family, "429-7").plain())).toMatchObject({ retryAfterMs: 7_000 });
  });
});
