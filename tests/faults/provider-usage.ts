/**
 * Fault: a provider's report of usage is missing, zero, negative, fractional, 10^18 or not a number. Injection: named
 * behaviours of each family's server, raw bodies for embeddings. Expected: what is not said is counted by us and
 * marked as estimated; what cannot be true settles the call at its hold, with an alert; no report ever credits a caller or
 * takes more than the hold.
 */
import { beforeAll, describe, expect, test } from "bun:test";

import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import type { CustomBehaviour } from "../providers/engine/behaviour.ts";
import { audit } from "./audit.ts";
import type { Bed } from "./bed.ts";
import { errorCode } from "./client.ts";
import { FAMILIES, type FamilyName, modelsOf } from "./families.ts";
import { isServed } from "./load.ts";
import { metric } from "./metric.ts";
import { costOf, probe } from "./probe.ts";
import { offerModels, sharedBed } from "./provider-bed.ts";

/** No report at all, in each family's ways. */
const UNSAID: Readonly<Record<FamilyName, readonly string[]>> = {
  openai: ["missing", "null", "zero"],
  anthropic: ["missing", "zero"],
  gemini: ["missing", "empty", "zero"],
};
/** Reports that cannot be true. */
const IMPOSSIBLE = ["negative", "fractional", "huge", "nan"];
/** JSON texts of a prompt's count: the last of them is no JSON. */
const COUNTS = {
  zero: "0",
  negative: "-7",
  fractional: "7.5",
  huge: "1e18",
  text: '"NaN"',
  "bare NaN": "NaN",
} as const;
const EMBEDDERS = ["openai", "gemini"] as const;

const cells = (reportsOf: (family: FamilyName) => readonly string[]) =>
  FAMILIES.flatMap((family) =>
    reportsOf(family).flatMap((report) => (["plain", "streamed"] as const).map((kind) => ({ family, report, kind }))),
  );

offerModels({
  models: [
    ...FAMILIES.flatMap((family) =>
      modelsOf(
        family,
        [...UNSAID[family], ...IMPOSSIBLE].map((report) => `usage-${report}`),
      ),
    ),
    ...modelsOf("openai", ["usage-bare-nan"]),
    ...EMBEDDERS.map((family) => ({ slug: `${family}-embed`, sources: [`${family}/embed`], embeds: true })),
  ],
});

let bed: Bed;
beforeAll(async () => {
  bed = await sharedBed();
});

/** Returns the count that an operator is woken by. Before the first there is no sample. */
const alerts = (): Promise<number> =>
  metric(bed.stack.workers[0]?.adminUrl ?? "", "sluice_usage_estimated_total", 'reason="impossible"').catch(() => 0);

describe("usage that a provider does not report", () => {
  test.each(cells((family) => UNSAID[family]))(
    "is counted by us: $report ($family, $kind)",
    async ({ family, report, kind }) => {
      const { answer, text, echo, usage, entries } = await probe(bed, `${family}-usage-${report}`, kind);
      expect([isServed(answer), text]).toEqual([true, echo]);
      expect(usage).toMatchObject({ status: "succeeded", is_estimated: true });
      expect(usage.units["output_tokens"]).toBe((await loadTokenizer()).count(echo));
      expect(usage.units["input_tokens"]).toBeGreaterThan(0);
      expect(usage.settled).toBe(costOf(usage));
      expect(usage.settled).toBeLessThan(usage.held);
      expect(entries).toBe(1);
    },
  );
});

describe("impossible usage", () => {
  test.each(cells(() => IMPOSSIBLE))("is charged at the hold, and alerts: $report ($family, $kind)", async (cell) => {
    const { family, report, kind } = cell;
    const before = await alerts();
    // With a limit of the caller's and without one: then a settle may exceed the hold, but not for such a report.
    for (const more of [{}, { max_tokens: 40 }]) {
      const { answer, usage, entries } = await probe(bed, `${family}-usage-${report}`, kind, more);
      expect(isServed(answer)).toBe(true);
      expect(usage).toMatchObject({ status: "succeeded", is_estimated: true });
      expect(usage.settled).toBe(usage.held);
      expect(entries).toBe(1);
    }
    expect(await alerts()).toBe(before + 2);
  });

  test("that is invalid JSON fails a plain answer, and one event of a stream", async () => {
    const plain = await probe(bed, "openai-usage-bare-nan", "plain");
    expect([plain.answer.status, errorCode(plain.answer), plain.usage.settled]).toEqual([502, "upstream_error", 0n]);
    const streamed = await probe(bed, "openai-usage-bare-nan", "streamed");
    expect([isServed(streamed.answer), streamed.text]).toEqual([true, streamed.echo]);
    expect(streamed.usage).toMatchObject({ status: "succeeded", is_estimated: true });
    expect(streamed.usage.settled).toBe(costOf(streamed.usage));
  });
});

describe("embeddings", () => {
  const reports = EMBEDDERS.flatMap((family) =>
    (["missing", ...Object.keys(COUNTS)] as const).map((report) => ({ family, report })),
  );
  test.each(reports)("are settled by the same rule: $report ($family)", async ({ family, report }) => {
    bed.upstreams[family].next(vectors(family, COUNTS[report as keyof typeof COUNTS]));
    const { answer, usage, entries } = await probe(bed, `${family}-embed`, "embeddings");
    if (report === "bare NaN") {
      expect([answer.status, errorCode(answer), usage.settled, entries]).toEqual([502, "upstream_error", 0n, 0]);
      return;
    }
    expect(answer.status).toBe(200);
    expect(usage).toMatchObject({ status: "succeeded", is_estimated: true });
    expect(usage.settled).toBe(report === "missing" || report === "zero" ? costOf(usage) : usage.held);
    expect(usage.settled).toBeGreaterThan(0n);
    expect(entries).toBe(1);
  });
});

test("no socket stays open", () => audit(bed));

/** One vector, and a report whose count is this text; undefined leaves the report out. */
function vectors(family: FamilyName, count: string | undefined): CustomBehaviour {
  return {
    kind: "custom",
    async play(request, wire) {
      const isBatch = request.target.endsWith(":batchEmbedContents");
      const vector = "[0.5,0.25,0.5,0.25,0.5,0.25,0.5,0.25]";
      const openAi = `"data":[{"object":"embedding","index":0,"embedding":${vector}}]`;
      const google = isBatch ? `"embeddings":[{"values":${vector}}]` : `"embedding":{"values":${vector}}`;
      const report =
        family === "openai"
          ? `,"usage":{"prompt_tokens":${count},"total_tokens":${count}}`
          : `,"usageMetadata":{"promptTokenCount":${count},"totalTokenCount":${count}}`;
      const body = `{${family === "openai" ? openAi : google}${count === undefined ? "" : report}}`;
      await wire.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    },
  };
}
