/**
 * Fault: a provider answers 5xx or 429, refuses, or resets the connection before or after it has read the request.
 * Injection: named behaviours of each family's server, and a listener that hangs up. Expected:
 * the order of sources and chain, true `x-model-used` and `x-fallback-*`, one settle at the price of who served, and no
 * second request to anybody who may have done the work, but for the one repeat of a call that a source's budget may grant
 * after a status of 500 or more; a 429 definitely did not, so its source may be asked once more.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { freePort } from "#deploy/embedded/probe.mjs";

import { VENDOR_MARK } from "../providers/engine/behaviour.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, setFallbacks } from "./bed.ts";
import { DONE, errorCode } from "./client.ts";
import { type BedModel, BUSY, FAMILIES, type FamilyName, modelsOf, PROVIDER_IDS } from "./families.ts";
import { isServed } from "./load.ts";
import { MAY_BE_REPEATED } from "./mixed-models.ts";
import { type CallKind, costOf, probe, usageOf } from "./probe.ts";
import { offerModels, sharedBed } from "./provider-bed.ts";

type ByFamily<T> = Readonly<Record<FamilyName, T>>;
const same = (name: string): ByFamily<string> => ({ openai: name, anthropic: name, gemini: name });

/** `tries`: requests to a source that is the last, or whose hint is near. */
const FAILURES: readonly { what: string; names: ByFamily<string>; status: number; code: string; tries: number }[] = [
  { what: "500", names: same("server-error"), status: 502, code: "upstream_error", tries: 1 },
  { what: "502 with HTML", names: same("html-502"), status: 502, code: "upstream_error", tries: 1 },
  { what: "a reset", names: same("reset"), status: 502, code: "upstream_error", tries: 1 },
  { what: "a reset behind the head", names: same("reset-after-head"), status: 502, code: "upstream_error", tries: 1 },
  { what: "a refusal", names: same("content-policy"), status: 502, code: "upstream_refused", tries: 1 },
  { what: "429 without a hint", names: BUSY, status: 503, code: "overloaded", tries: 2 },
  {
    what: "429 for half a minute",
    names: { openai: "429-30", anthropic: "429-30", gemini: "rate-limit" },
    status: 503,
    code: "overloaded",
    tries: 1,
  },
];
/** Gemini's server says no short delays. */
const NEAR = ["openai", "anthropic"] as const;

const NEXT: ByFamily<FamilyName> = { openai: "anthropic", anthropic: "gemini", gemini: "openai" };

interface Situation {
  readonly family: FamilyName;
  readonly kind: CallKind;
  readonly what: string;
  readonly name: string;
  readonly status: number;
  readonly code: string;
  readonly tries: number;
}

const SITUATIONS: readonly Situation[] = FAILURES.flatMap(({ names, ...failure }) =>
  FAMILIES.flatMap((family) =>
    (["plain", "streamed", "embeddings"] as const)
      .filter((kind) => kind !== "embeddings" || (family !== "anthropic" && failure.code !== "upstream_refused"))
      .map((kind) => ({ ...failure, family, kind, name: names[family] })),
  ),
);

/** Chains of three: whose model is asked, how the first two fail, who serves. */
const CHAINS = FAMILIES.flatMap((first) => {
  const second = NEXT[first];
  const third = NEXT[second];
  return [
    { first, second, third, ways: ["server-error", "reset"] as const },
    { first, second, third, ways: ["content-policy", BUSY[second]] as const },
    { first, second, third, ways: ["empty-stream", "server-error"] as const },
  ];
});
const PRICES = { second: 500, third: 1_000 };

const slugOf = ({ family, name, kind }: Situation): string =>
  `${family}-${name}${kind === "embeddings" ? "-embed" : ""}`;
const chainSlug = ({ first, ways }: (typeof CHAINS)[number]): string => `chain-${first}-${ways.join("-")}`;

function models(): BedModel[] {
  const list = new Map<string, BedModel>();
  for (const situation of SITUATIONS) {
    const { family, name, kind } = situation;
    const slug = slugOf(situation);
    const embeds = kind === "embeddings";
    const sources = [`${family}/mock-${name}`];
    list.set(slug, { slug, sources, embeds });
    const standIn = `${embeds ? family : NEXT[family]}/stand-in`;
    list.set(`${slug}-twice`, { slug: `${slug}-twice`, sources: [...sources, standIn], embeds });
  }
  for (const chain of CHAINS) {
    const { first, second, third, ways } = chain;
    const slug = chainSlug(chain);
    list.set(slug, { slug, sources: [`${first}/mock-${ways[0]}`] });
    list.set(`${slug}-2`, { slug: `${slug}-2`, sources: [`${second}/mock-${ways[1]}`], outputPrice: PRICES.second });
    list.set(`${slug}-3`, { slug: `${slug}-3`, sources: [`${third}/stand-in`], outputPrice: PRICES.third });
  }
  return [...list.values()];
}

const hangUp = startHangUp();
offerModels({
  models: [
    ...models(),
    ...FAMILIES.flatMap((family): BedModel[] => [
      ...modelsOf(family, ["bad-request"]),
      { slug: `${family}-rejects-twice`, sources: [`${family}/mock-bad-request`, `${NEXT[family]}/stand-in`] },
      { slug: `${family}-error-mid-twice`, sources: [`${family}/mock-error-mid`, `${NEXT[family]}/stand-in`] },
      { slug: `${family}-all-fail`, sources: [`${family}/mock-server-error`, `${NEXT[family]}/mock-reset`] },
    ]),
    ...NEAR.map((family) => ({
      slug: `${family}-near`,
      sources: [`${family}/mock-429-1`, `${NEXT[family]}/stand-in`],
    })),
    { slug: "hung-up", sources: ["hang-up/upstream"] },
    { slug: "hung-up-twice", sources: ["hang-up/upstream", "gemini/stand-in"] },
    { slug: "refused", sources: ["nobody/upstream"] },
    { slug: "refused-twice", sources: ["nobody/upstream", "anthropic/stand-in"] },
  ],
  providers: { "hang-up": hangUp.url, nobody: `http://127.0.0.1:${await freePort()}/v1` },
});

let bed: Bed;
beforeAll(async () => {
  bed = await sharedBed();
  await setFallbacks(bed, {
    ...Object.fromEntries(
      CHAINS.map((chain) => [chainSlug(chain), [`${chainSlug(chain)}-2`, `${chainSlug(chain)}-3`]]),
    ),
    ...Object.fromEntries(FAMILIES.map((family) => [`${family}-bad-request`, [`${NEXT[family]}-all-fail`]])),
  });
});
afterAll(() => hangUp.stop());

/** One of them may have been asked twice in a row: after a failure of its own its budget may grant one repeat to the call. */
function expectTried(tried: readonly string[], expected: readonly string[]): void {
  const isTwice = (one: string, place: number): boolean => one === tried[place - 1] && one !== expected[place];
  const at = tried.findIndex((one, place) => MAY_BE_REPEATED.test(one) && isTwice(one, place));
  expect(at === -1 ? tried : tried.toSpliced(at, 1)).toEqual([...expected]);
}

describe("a provider that fails", () => {
  test.concurrent.each(SITUATIONS)("by $what is $status ($family, $kind)", async (situation) => {
    const { family, name, kind, status, code, tries } = situation;
    const { answer, tried, usage, entries } = await probe(bed, slugOf(situation), kind);
    expect([answer.status, errorCode(answer)]).toEqual([status, code]);
    expect(answer.body).not.toContain(VENDOR_MARK);
    expectTried(
      tried,
      Array.from({ length: tries }, () => `${family}/mock-${name}`),
    );
    expect(usage).toMatchObject({ status: "failed", settled: 0n });
    expect(entries).toBe(0);
    if (name.startsWith("429-")) expect(answer.headers.get("retry-after")).toBe("30");
  });

  test.concurrent.each(SITUATIONS)("by $what moves the call to the next source ($family, $kind)", async (situation) => {
    const { family, name, kind } = situation;
    const slug = `${slugOf(situation)}-twice`;
    const second = kind === "embeddings" ? family : NEXT[family];
    const { answer, text, echo, tried, usage, entries } = await probe(bed, slug, kind);
    expect([answer.status, isServed(answer), text]).toEqual([200, true, echo]);
    expect(tried).toEqual([`${family}/mock-${name}`, `${second}/stand-in`]);
    expect(answer.headers.get("x-model-used")).toBe(slug);
    expect(answer.headers.get("x-fallback-from")).toBeNull();
    expect(usage).toMatchObject({ status: "succeeded", source: `${PROVIDER_IDS[second]}/stand-in` });
    expect(usage.settled).toBe(costOf(usage));
    expect(entries).toBe(1);
  });

  test.concurrent.each(NEAR)("by 429 for a second is retried once before the next source (%s)", async (family) => {
    const { text, echo, tried, entries } = await probe(bed, `${family}-near`, "streamed");
    expect(text).toBe(echo);
    expect(tried).toEqual([`${family}/mock-429-1`, `${family}/mock-429-1`, `${NEXT[family]}/stand-in`]);
    expect(entries).toBe(1);
  });

  test.concurrent.each(FAMILIES)("like all others returns the last error, free (%s)", async (family) => {
    const { answer, tried, usage } = await probe(bed, `${family}-all-fail`, "plain");
    expect([answer.status, errorCode(answer)]).toEqual([502, "upstream_error"]);
    expectTried(tried, [`${family}/mock-server-error`, `${NEXT[family]}/mock-reset`]);
    expect(usage.settled).toBe(0n);
  });
});

describe("a chain of three whose first two fail", () => {
  const kinds = CHAINS.flatMap((chain) => (["plain", "streamed"] as const).map((kind) => ({ ...chain, chain, kind })));
  test.concurrent.each(kinds)("by $ways returns the third's answer ($first, $kind)", async ({ chain, kind }) => {
    const { first, second, third, ways } = chain;
    const slug = chainSlug(chain);
    const { answer, text, echo, tried, usage, entries } = await probe(bed, slug, kind);
    expect([answer.status, isServed(answer), text]).toEqual([200, true, echo]);
    expectTried(tried, [`${first}/mock-${ways[0]}`, `${second}/mock-${ways[1]}`, `${third}/stand-in`]);
    expect(answer.headers.get("x-model-used")).toBe(`${slug}-3`);
    expect(answer.headers.get("x-fallback-from")).toBe(slug);
    expect(answer.headers.get("x-fallback-depth")).toBe("2");
    expect(usage).toMatchObject({ status: "succeeded", model: `${slug}-3`, is_estimated: false });
    expect(usage.settled).toBe(costOf(usage, PRICES.third));
    expect(usage.settled).toBeGreaterThan(0n);
    expect(entries).toBe(1);
  });
});

describe("no other source is called after", () => {
  test.concurrent.each(FAMILIES)("a request that the provider rejects (%s)", async (family) => {
    for (const slug of [`${family}-rejects-twice`, `${family}-bad-request`]) {
      const { answer, tried, usage } = await probe(bed, slug, "plain");
      expect(answer.status).toBe(400);
      expect(answer.body).not.toContain(VENDOR_MARK);
      expect(tried).toEqual([`${family}/mock-bad-request`]);
      expect(usage).toMatchObject({ status: "failed", settled: 0n });
    }
  });

  test.concurrent.each(FAMILIES)("a failure after the first content of a stream (%s)", async (family) => {
    const more = { messages: [{ role: "user", content: "say one two three four five six" }] };
    const slug = `${family}-error-mid-twice`;
    const answer = await bed.client.chat(bed.target(), ask(slug, { stream: true, ...more }));
    expect(answer.status).toBe(200);
    expect(["upstream_error", "overloaded"]).toContain(errorCode(answer) ?? "");
    expect(answer.frames).not.toContain(DONE);
    expect(answer.body).not.toContain(VENDOR_MARK);
    const usage = await usageOf(bed, answer);
    expect(usage).toMatchObject({ status: "failed", source: `${PROVIDER_IDS[family]}/mock-error-mid` });
    expect(usage.settled).toBeGreaterThan(0n);
  });
});

describe("a connection that ends before the request was read", () => {
  /** Far more than the socket's buffers hold, so that the rest of it is never taken. */
  const long = (): Record<string, unknown> => ({
    messages: [{ role: "user", content: "word ".repeat(200_000) }],
    max_tokens: 10,
  });

  test.each(["at once", "in the middle of the body"] as const)(
    "%s causes no second request, and is free",
    async (moment) => {
      hangUp.moment = moment;
      for (const stream of [false, true]) {
        const before = hangUp.connections();
        const answer = await bed.client.chat(bed.target(), ask("hung-up", { ...long(), stream }));
        // With its body, which tells what else went wrong.
        expect(`${answer.status} ${answer.body}`).toStartWith("502 ");
        expect(errorCode(answer)).toBe("upstream_error");
        expect(hangUp.connections() - before).toBe(1);
        expect((await usageOf(bed, answer)).settled).toBe(0n);
      }
    },
  );

  test.each(["at once", "in the middle of the body"] as const)(
    "%s moves the call to the next source",
    async (moment) => {
      hangUp.moment = moment;
      const before = hangUp.connections();
      const { answer, text, echo, tried, entries } = await probe(bed, "hung-up-twice", "plain");
      expect([answer.status, text]).toEqual([200, echo]);
      expect(tried).toEqual(["gemini/stand-in"]);
      expect(hangUp.connections() - before).toBe(1);
      expect(entries).toBe(1);
    },
  );

  test("because no server listens is a provider error, or moves the call to the next source", async () => {
    const alone = await probe(bed, "refused", "streamed");
    expect([alone.answer.status, errorCode(alone.answer), alone.usage.settled]).toEqual([502, "upstream_error", 0n]);
    const { text, echo, tried, entries } = await probe(bed, "refused-twice", "streamed");
    expect(text).toBe(echo);
    expect(tried).toEqual(["anthropic/stand-in"]);
    expect(entries).toBe(1);
  });
});

test("no socket stays open", () => audit(bed));

interface HangUp {
  readonly url: string;
  moment: "at once" | "in the middle of the body";
  connections(): number;
  stop(): void;
}

/** Resets every connection, before or while the request comes in. */
function startHangUp(): HangUp {
  let connections = 0;
  const self = { moment: "at once" as HangUp["moment"] };
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        connections += 1;
        if (self.moment === "at once") socket.terminate();
      },
      data(socket) {
        socket.terminate();
      },
      error() {},
    },
  });
  return Object.assign(self, {
    url: `http://127.0.0.1:${server.port}/v1`,
    connections: () => connections,
    stop: () => server.stop(true),
  });
}
