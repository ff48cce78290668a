/**
 * Fault: the client is gone: during upload, at once, before the first token, in mid-stream, after the
 * last byte. Injection: raw sockets that end with FIN or RST, on streamed, plain and embeddings calls of each family.
 * Expected: the upstream's socket closed within a second and nobody else asked, the hold closed, billed once for what was
 * produced; a provider that is drained is read to its end and billed whole; a call that had ended stays a success.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import { CANCEL_FILTER } from "#shared/queue/subjects.ts";

import { audit } from "./audit.ts";
import { type Bed, setFallbacks, startBed } from "./bed.ts";
import { type BedModel, FAMILIES, type FamilyName } from "./families.ts";
import { arrivalsOf, type Arrival, type CallKind, costOf, mark, type Marked, usageOf } from "./probe.ts";
import { callRaw, type RawCaller } from "./raw-caller.ts";
import { eventually } from "./wait.ts";
import { storm } from "../support/storm.ts";

/** Limit that the issue sets. */
const UPSTREAM_CLOSED_WITHIN_MS = storm(60_000, 1_000);
const WORD_EVERY_MS = 20;
const WORDS = 300;
const FRAMES_READ = 40;
/** A worker asks by itself whether anybody still waits, first after half a second; so it is not that which tells it. */
const ASKED_ALREADY_MS = 700;
const WAYS = ["fin", "rst"] as const;
const EMBEDDERS = ["openai", "gemini"] as const;

/** A word every so often, long enough that nobody reads to its end. */
const PACED: Readonly<Record<FamilyName, string>> = {
  openai: `tokens-${WORDS}-every-${WORD_EVERY_MS}`,
  anthropic: `tokens-${WORDS}-every-${WORD_EVERY_MS}`,
  gemini: `slow-${WORD_EVERY_MS}`,
};

const inBothWays = <T extends object>(cells: readonly T[]) =>
  cells.flatMap((cell) => WAYS.map((how) => ({ ...cell, how })));

interface Waiting {
  readonly family: FamilyName;
  readonly kind: CallKind;
  readonly name: string;
  readonly how: (typeof WAYS)[number];
}

const WAITING: readonly Waiting[] = inBothWays(
  FAMILIES.flatMap((family) =>
    (["plain", "streamed", "embeddings"] as const)
      .filter((kind) => kind !== "embeddings" || family !== "anthropic")
      .flatMap((kind) => ["silent", "silent-after-head"].map((name) => ({ family, kind, name }))),
  ),
);
/** A model for each of them. */
const slugOf = ({ family, kind, name, how }: Waiting): string => `${family}-${name}-${kind}-${how}`;

let bed: Bed;
let connection: NatsConnection;
/** Calls whose end every worker heard of. */
const toldToAll = new Set<string>();
beforeAll(async () => {
  bed = await startBed({
    janitor: false,
    models: [
      ...WAITING.map((cell): BedModel => ({
        slug: slugOf(cell),
        sources: [`${cell.family}/mock-${cell.name}`, `${cell.kind === "embeddings" ? cell.family : "openai"}/second`],
        embeds: cell.kind === "embeddings",
      })),
      ...FAMILIES.flatMap((family): BedModel[] => [
        { slug: `${family}-paced`, sources: [`${family}/mock-${PACED[family]}`] },
        { slug: `${family}-ok`, sources: [`${family}/mock-ok`] },
      ]),
      ...EMBEDDERS.map((family) => ({ slug: `${family}-embed`, sources: [`${family}/mock-ok`], embeds: true })),
      { slug: "drained", sources: [`mock-drained/mock-tokens-60-every-${WORD_EVERY_MS}`] },
      { slug: "third", sources: ["openai/third"] },
    ],
  });
  connection = await connect({ servers: bed.stack.natsUrl });
  connection.subscribe(CANCEL_FILTER, {
    callback: (_error, { subject }) => void toldToAll.add(subject.slice(CANCEL_FILTER.length - 1)),
  });
  const chained = WAITING.filter(({ kind }) => kind !== "embeddings");
  await setFallbacks(bed, Object.fromEntries(chained.map((cell) => [slugOf(cell), ["third"]])));
});
afterAll(async () => {
  await connection?.close();
  await bed?.stop();
});

/** The call's one request, once an upstream has it. */
function arrivalOf({ marker }: Marked): Promise<Arrival> {
  return eventually("the upstream has the call", () => arrivalsOf(bed.upstreams, marker)[0]);
}

/** Ids of the calls of this model that are in the books. */
async function recordsOf(model: string): Promise<string[]> {
  await bed.stack.settled();
  const rows = await bed.stack.query<{ job_id: string }>("select job_id from usage_record where model = $1", [model]);
  return rows.map((row) => row.job_id);
}

async function isClosed({ call }: Arrival, leftAt: number): Promise<void> {
  await call.finished;
  expect(call.answeredAt).toBeNull();
  expect((call.closedByClientAt ?? Infinity) - leftAt).toBeLessThan(UPSTREAM_CLOSED_WITHIN_MS);
}

const idOf = (caller: RawCaller): string => /x-request-id: (\S+)/i.exec(caller.text())?.[1] ?? "";
const framesOf = (caller: RawCaller): number => caller.text().split("\ndata: ").length - 1;
const isWhole = (caller: RawCaller): boolean => /\r\n0\r\n\r\n$|\}$/.test(caller.text());

describe("a client that disconnects while the provider is silent", () => {
  test.concurrent.each(WAITING)(
    "closes the upstream, calls no other model, pays nothing ($family, $name, $kind, $how)",
    async (cell) => {
      const marked = mark(bed, slugOf(cell), cell.kind);
      const caller = await callRaw(marked.target, marked.body);
      const arrival = await arrivalOf(marked);
      await eventually("the worker has asked", () => performance.now() - arrival.call.receivedAt > ASKED_ALREADY_MS);
      const leftAt = performance.now();
      caller.leave(cell.how);
      await isClosed(arrival, leftAt);
      // Its answer, and its id with it, was never seen.
      const [id = ""] = await eventually("it is in the books", async () => {
        const ids = await recordsOf(slugOf(cell));
        return ids.length > 0 ? ids : undefined;
      });
      expect(await usageOf(bed, id)).toMatchObject({ status: "cancelled", settled: 0n });
      expect(arrivalsOf(bed.upstreams, marked.marker)).toHaveLength(1);
      // By then its worker has said who it is.
      await connection.flush();
      expect(toldToAll.has(id)).toBe(false);
    },
  );
});

describe("a client that disconnects in mid-stream", () => {
  test.each(inBothWays(FAMILIES.map((family) => ({ family }))))(
    "closes the upstream and pays for the delivered part ($family, $how)",
    async ({ family, how }) => {
      const marked = mark(bed, `${family}-paced`, "streamed");
      if (family === "gemini") {
        // This server paces the text that it is asked to say.
        marked.body["messages"] = [{ role: "user", content: `say ${"tok ".repeat(WORDS)} ${marked.marker}` }];
      }
      const caller = await callRaw(marked.target, marked.body);
      await eventually("a part of the answer is here", () => framesOf(caller) >= FRAMES_READ);
      const [arrival] = arrivalsOf(bed.upstreams, marked.marker);
      const leftAt = performance.now();
      const seen = framesOf(caller);
      caller.leave(how);
      if (!arrival) throw new Error("the upstream has no such call");
      await isClosed(arrival, leftAt);
      const usage = await usageOf(bed, idOf(caller));
      expect(usage.status).toBe("cancelled");
      expect(usage.settled).toBe(costOf(usage));
      // The first frame may carry the role alone. Beyond what was seen far less than was still to come.
      expect(usage.units["output_tokens"]).toBeGreaterThanOrEqual(seen - 2);
      expect(usage.units["output_tokens"]).toBeLessThanOrEqual(seen + (WORDS - FRAMES_READ) / 2);
      const entries = await bed.stack.query("select 1 from ledger_entry where source_id = $1", [idOf(caller)]);
      expect(entries).toHaveLength(1);
    },
  );

  test.each(WAYS)("of a provider that is drained pays for the whole answer (%s)", async (how) => {
    const marked = mark(bed, "drained", "streamed");
    const caller = await callRaw(marked.target, marked.body);
    await eventually("a part of the answer is here", () => framesOf(caller) >= 5);
    caller.leave(how);
    const { call } = await arrivalOf(marked);
    await call.finished;
    expect([call.answeredAt === null, call.closedByClientAt]).toEqual([false, null]);
    const usage = await usageOf(bed, idOf(caller));
    expect(usage).toMatchObject({ status: "cancelled", is_estimated: false, units: { output_tokens: 60 } });
    expect(usage.settled).toBe(costOf(usage));
  });
});

describe("a client that disconnects after the last byte", () => {
  const cells = [
    ...FAMILIES.flatMap((family) => (["plain", "streamed"] as const).map((kind) => ({ family, kind, name: "ok" }))),
    ...EMBEDDERS.map((family) => ({ family, kind: "embeddings" as const, name: "embed" })),
  ];
  test.each(inBothWays(cells))("has a successful call ($family, $kind, $how)", async ({ family, kind, name, how }) => {
    const marked = mark(bed, `${family}-${name}`, kind);
    const caller = await callRaw(marked.target, marked.body);
    await eventually("the answer is whole", () => isWhole(caller));
    caller.leave(how);
    const usage = await usageOf(bed, idOf(caller));
    expect(usage).toMatchObject({ status: "succeeded" });
    expect(usage.settled).toBe(costOf(usage));
    const [arrival] = arrivalsOf(bed.upstreams, marked.marker);
    expect(arrival?.call.answeredAt).not.toBeNull();
  });
});

describe("a client that disconnects immediately", () => {
  const cells = FAMILIES.flatMap((family) => (["plain", "streamed"] as const).map((kind) => ({ family, kind })));
  test.each(inBothWays(cells))(
    "pays nothing, and the called provider is released ($family, $kind, $how)",
    async (cell) => {
      const { family, kind, how } = cell;
      const slug = slugOf({ family, kind, name: "silent", how });
      const marked = mark(bed, slug, kind);
      const caller = await callRaw(marked.target, marked.body);
      const leftAt = performance.now();
      caller.leave(how);
      // Behind it on the same ingress: by then it was admitted or given up.
      const next = mark(bed, `${family}-ok`, "plain");
      expect((await bed.client.chat(next.target, next.body)).status).toBe(200);
      await eventually("its hold, if there was one, is closed", async () => {
        const rows = await bed.stack.query("select 1 from hold where model = $1", [slug]);
        return rows.length === 0;
      });
      for (const arrival of arrivalsOf(bed.upstreams, marked.marker)) await isClosed(arrival, leftAt);
    },
  );

  test.each(WAYS)("in the middle of its request places no hold and calls no provider (%s)", async (how) => {
    const marked = mark(bed, "openai-ok", "plain");
    const before = await recordsOf("openai-ok");
    const caller = await callRaw(marked.target, marked.body, 0.5);
    caller.leave(how);
    await caller.closed;
    // Behind it on the same ingress, as above.
    const next = mark(bed, "openai-ok", "plain");
    expect((await bed.client.chat(next.target, next.body)).status).toBe(200);
    expect(arrivalsOf(bed.upstreams, marked.marker)).toEqual([]);
    expect(await recordsOf("openai-ok")).toHaveLength(before.length + 1);
  });
});

test("no socket stays open", () => audit(bed));
