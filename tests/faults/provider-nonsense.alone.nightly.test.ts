/**
 * Fault: a provider answers 200 with what is no answer: malformed or cut JSON, HTML, nothing, another type, an error
 * object, a gigabyte. Injection: named behaviours and raw bytes of each family's server. Expected: 502 `upstream_error`
 * before anything was sent, nothing of the body in it, nothing billed, one request (the work may have been done), and
 * memory that does not grow with the body.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { residentMb } from "../load/processes.ts";
import type { CustomBehaviour } from "../providers/engine/behaviour.ts";
import { VENDOR_MARK } from "../providers/engine/behaviour.ts";
import { sendChunk } from "../providers/engine/play.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { errorCode } from "./client.ts";
import { FAMILIES, type FamilyName, modelsOf } from "./families.ts";
import { isServed } from "./load.ts";
import { type CallKind, probe, usageOf } from "./probe.ts";

const KINDS = ["plain", "streamed", "embeddings"] as const;
const NAMED = ["cut-json", "cut-body", "html", "html-502", "empty", "empty-stream", "redirect"];

/** A body of each kind of nonsense, and its type. */
const BODIES: Readonly<Record<string, readonly [type: string, body: string | Uint8Array]>> = {
  null: ["application/json", "null"],
  "a bare list": ["application/json", '["vendor-internal-detail"]'],
  "an empty object": ["application/json", "{}"],
  "an object of other members": ["application/json", '{"detail":"vendor-internal-detail"}'],
  "members of other types": ["application/json", '{"choices":"no","content":7,"candidates":{"a":1},"data":true}'],
  bytes: ["application/octet-stream", Buffer.from([0, 159, 146, 150, 0])],
  "a picture's type": ["image/png", '{"vendor-internal-detail":1}'],
  "JSON a million levels deep": ["application/json", "[".repeat(1_000_000)],
  "text that is no UTF-8": ["application/json", Buffer.from([123, 34, 255, 254, 34, 58, 49, 125])],
};

const CELLS = FAMILIES.flatMap((family) =>
  KINDS.filter((kind) => kind !== "embeddings" || family !== "anthropic").map((kind) => ({ family, kind })),
);
const cells = <T>(names: readonly T[]): { what: T; family: FamilyName; kind: CallKind }[] =>
  names.flatMap((what) => CELLS.map((cell) => ({ ...cell, what })));

const GIGABYTE = 1_073_741_824;
/** Memory that a worker may need beside its baseline for one answer of the size it accepts (64 MB as text, twice while joined). */
const GROWTH_MB_MAX = 256;

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({
    janitor: false,
    behaviours: ["gzip-bomb", "tokens-40-every-5"],
    models: FAMILIES.flatMap((family) => [
      ...modelsOf(family, [...NAMED, "error-in-200"]),
      { slug: `${family}-raw`, sources: [`${family}/raw`] },
      ...(family === "anthropic"
        ? []
        : [...NAMED, "raw"].map((name) => ({
            slug: `${family}-${name}-embed`,
            sources: [`${family}/${name === "raw" ? "" : "mock-"}${name}`],
            embeds: true,
          }))),
    ]),
  });
});
afterAll(() => bed?.stop());

const slug = (family: FamilyName, name: string, kind: CallKind): string =>
  `${family}-${name}${kind === "embeddings" ? "-embed" : ""}`;

async function isRefused(
  family: FamilyName,
  name: string,
  kind: CallKind,
  isError: boolean = name === "html-502",
): Promise<{ readonly tries: number }> {
  const { answer, tried, usage, entries } = await probe(bed, slug(family, name, kind), kind);
  expect([answer.status, errorCode(answer)]).toEqual([502, "upstream_error"]);
  for (const word of [VENDOR_MARK, "<html", "half", "127.0.0.1"]) expect(answer.body).not.toContain(word);
  // A status of 500 or more is the provider's own word that it did not serve: repeated once where its budget allows it.
  expect(isError ? [1, 2] : [1]).toContain(tried.length);
  expect(usage).toMatchObject({ status: "failed", settled: 0n, units: {} });
  expect(entries).toBe(0);
  return { tries: tried.length };
}

describe("an invalid answer", () => {
  test.concurrent.each(cells(NAMED))("is 502 and free: $what ($family, $kind)", async ({ what, family, kind }) => {
    await isRefused(family, what, kind);
  });

  test.each(cells(Object.keys(BODIES)))(
    "with this body is 502 and free: $what ($family, $kind)",
    async ({ what, family, kind }) => {
      const [type, body] = BODIES[what] ?? ["", ""];
      bed.upstreams[family].next(rawReply(type, body));
      await isRefused(family, "raw", kind);
    },
  );

  test.concurrent.each(FAMILIES)("is free when it is the provider's own error inside a 200 (%s)", async (family) => {
    for (const kind of ["plain", "streamed"] as const) {
      const { answer, usage, entries } = await probe(bed, `${family}-error-in-200`, kind);
      expect([502, 503]).toContain(answer.status);
      expect(["upstream_error", "overloaded"]).toContain(errorCode(answer) ?? "");
      expect(answer.body).not.toContain(VENDOR_MARK);
      expect([usage.settled, entries]).toEqual([0n, 0]);
    }
  });
});

describe("an answer of a gigabyte", () => {
  const worker = (): number => bed.stack.workers[0]?.pid ?? 0;

  const SIZES = cells(["declared", "sent", "as an error", "one event without end"] as const).filter(
    ({ what, kind }) => what === "as an error" || (what === "one event without end") === (kind === "streamed"),
  );

  test.each(SIZES)("is aborted, and memory stays flat: $what ($family, $kind)", async ({ what, family, kind }) => {
    const upstream = bed.upstreams[family];
    let sent = 0;
    const isError = what === "as an error";
    upstream.next(
      gigabyte(what, (bytes) => (sent += bytes)),
      ...(isError ? [rawReply("text/html", "<html>")] : []),
    );
    const before = residentMb([worker()]);
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, residentMb([worker()]))), 20);
    // Beside it, somebody else's stream.
    const neighbour = bed.client.chat(bed.target(), ask("mock-tokens-40-every-5", { stream: true }));
    try {
      const { tries } = await isRefused(family, "raw", kind, isError);
      // The answer to a repeat that the source's budget did not allow.
      if (isError && tries === 1) await isRefused(family, "raw", kind);
    } finally {
      clearInterval(watch);
    }
    expect(sent).toBeLessThan(GIGABYTE / 4);
    expect(peak - before).toBeLessThan(GROWTH_MB_MAX);
    expect(isServed(await neighbour)).toBe(true);
  });

  test("in a few compressed bytes is aborted as well", async () => {
    const before = residentMb([worker()]);
    const answer = await bed.client.chat(bed.target(), ask("mock-gzip-bomb"));
    expect([answer.status, errorCode(answer)]).toEqual([502, "upstream_error"]);
    expect((await usageOf(bed, answer)).settled).toBe(0n);
    expect(residentMb([worker()]) - before).toBeLessThan(GROWTH_MB_MAX);
  });
});

test("no socket stays open", () => audit(bed));

function rawReply(type: string, body: string | Uint8Array): CustomBehaviour {
  const bytes = Buffer.from(body);
  return {
    kind: "custom",
    async play(_request, wire) {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
      await wire.write(Buffer.concat([Buffer.from(head), bytes]));
    },
  };
}

/** `declared`: its length stands in the head. Else it comes in chunks, as one JSON text or as the data of one event. */
function gigabyte(
  how: "declared" | "sent" | "as an error" | "one event without end",
  onSent: (bytes: number) => void,
): CustomBehaviour {
  const block = Buffer.alloc(65_536, "a");
  return {
    kind: "custom",
    async play(_request, wire) {
      const isEvent = how === "one event without end";
      const type = isEvent ? "text/event-stream" : "application/json";
      const size = how === "declared" ? `content-length: ${GIGABYTE}` : "transfer-encoding: chunked";
      const status = how === "as an error" ? "500 Internal Server Error" : "200 OK";
      await wire.write(`HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\n${size}\r\n\r\n`);
      const send = (bytes: Uint8Array): Promise<boolean> =>
        how === "declared" ? wire.write(bytes) : sendChunk(wire, bytes);
      let isOpen = await send(Buffer.from(isEvent ? 'data: {"a":"' : '{"a":"'));
      for (let sent = 0; isOpen && sent < GIGABYTE; sent += block.length) {
        isOpen = await send(block);
        onSent(block.length);
        // The test's own process needs its turns.
        if (sent % (16 * block.length) === 0) await wire.wait(1);
      }
    },
  };
}
