/**
 * Fault: a provider streams for ever, or sends a byte now and then. Injection: endless streams of each family, fast
 * and slow, with content and without, under limits of seconds. Expected: cut by the length the model can have, by the stall
 * limit (bytes that are no piece of an answer do not reset it) or by the call's total; an error frame, or a true status
 * before the first content; settled, never above the hold; the upstream's socket closed; memory flat.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { residentMb } from "../load/processes.ts";
import type { CustomBehaviour } from "../providers/engine/behaviour.ts";
import { sendChunk } from "../providers/engine/play.ts";
import { audit } from "./audit.ts";
import { type Bed, startBed } from "./bed.ts";
import { DONE, errorCode } from "./client.ts";
import { FAMILIES, type FamilyName } from "./families.ts";
import { type CallKind, probe } from "./probe.ts";
import { endlessStream, frameText, rawAnswer } from "./raw-stream.ts";
import { storm } from "../support/storm.ts";

/** Scaled down from 120 s, 120 s and 600 s, and from a byte every 9 s. */
const FIRST_BYTE_MS = 1_500;
const STALL_MS = 1_500;
const TOTAL_MS = 5_000;
const DRIP_MS = 300;
const GROWTH_MB_MAX = 96;

type Expected = readonly [status: number, code: string];
const TIMED_OUT: Expected = [504, "upstream_timeout"];
const CUT_BY_TIME: Expected = [200, "upstream_timeout"];

/** Streams without end: how each goes on, its outcome, and whether anything of it is owed. */
const STREAMS: readonly {
  readonly what: string;
  readonly hasContent: boolean;
  readonly outcome: (family: FamilyName) => Expected;
  /** Sent behind the opening, or behind the first word. */
  readonly piece: (family: FamilyName, at: number) => string;
  readonly pauseMs: number;
}[] = [
  {
    what: "content as fast as it is read",
    hasContent: true,
    outcome: () => [200, "upstream_error"],
    piece: (family) => word(family, "water ".repeat(4_096)),
    pauseMs: 0,
  },
  {
    what: "a word now and then",
    hasContent: true,
    outcome: () => CUT_BY_TIME,
    piece: (family) => word(family, "drop "),
    pauseMs: DRIP_MS,
  },
  {
    what: "pieces without content",
    hasContent: false,
    // Only OpenAI's are something to relay, and there is a limit to what is held back; one of Gemini's is a sign of life.
    outcome: (family) => (family === "openai" ? CUT_BY_TIME : TIMED_OUT),
    piece: (family) => (family === "openai" ? emptyChunk : word(family, "")),
    pauseMs: 0,
  },
  {
    what: "comments behind a word",
    hasContent: true,
    outcome: () => CUT_BY_TIME,
    piece: () => ": working\n\n",
    pauseMs: DRIP_MS,
  },
  {
    what: "bytes of one event behind a word",
    hasContent: true,
    outcome: () => CUT_BY_TIME,
    piece: (_family, at) => (at === 0 ? "data: {" : " "),
    pauseMs: DRIP_MS,
  },
  {
    what: "comments alone",
    hasContent: false,
    outcome: () => TIMED_OUT,
    piece: () => ": working\n\n",
    pauseMs: DRIP_MS,
  },
  {
    what: "bytes of one event",
    hasContent: false,
    outcome: () => TIMED_OUT,
    piece: (_family, at) => (at === 0 ? "data: {" : " "),
    pauseMs: DRIP_MS,
  },
];

const emptyChunk = frameText({
  data: JSON.stringify({
    id: "chatcmpl-raw",
    object: "chat.completion.chunk",
    created: 1_770_000_000,
    model: "raw",
    choices: [{ index: 0, delta: {}, finish_reason: null }],
  }),
});

function word(family: FamilyName, text: string): string {
  return rawAnswer(family, [text])
    .words.map((frame) => frameText(frame))
    .join("");
}

let bed: Bed;
let memory: { peak(): number; stop(): void };
beforeAll(async () => {
  bed = await startBed({
    janitor: false,
    models: FAMILIES.flatMap((family) =>
      [...STREAMS.keys(), "plain"].map((name) => ({
        slug: `${family}-${name}`,
        sources: [`${family}/endless-${name}`],
        outputTokensMax: 8_192,
      })),
    ),
    env: {
      SLUICE_CALL_FIRST_BYTE_MS: String(FIRST_BYTE_MS),
      SLUICE_CALL_STALL_MS: String(STALL_MS),
      SLUICE_CALL_TOTAL_MS: String(TOTAL_MS),
    },
  });
  for (const family of FAMILIES) bed.upstreams[family].setDefault(endless(family));
  memory = watchMemory([...bed.stack.workers, ...bed.stack.ingresses].map(({ pid }) => pid));
});
afterAll(async () => {
  memory?.stop();
  await bed?.stop();
});

/** One request, ended by us, and no clean end for the client. */
async function isEnded(slug: string, kind: CallKind, expected: Expected, more: Record<string, unknown> = {}) {
  const { answer, tried, closedByUs, usage, entries } = await probe(bed, slug, kind, more);
  expect([answer.status, errorCode(answer)]).toEqual([...expected]);
  expect(answer.frames).not.toContain(DONE);
  expect([tried.length, closedByUs]).toEqual([1, [true]]);
  expect(usage.status).toBe("failed");
  expect(usage.settled).toBeLessThanOrEqual(usage.held);
  expect(entries).toBe(usage.settled > 0n ? 1 : 0);
  return usage;
}

describe("an endless stream", () => {
  const cells = STREAMS.flatMap((stream, at) => FAMILIES.map((family) => ({ ...stream, at, family })));

  const isCut = async (cell: (typeof cells)[number]): Promise<void> => {
    const { family, at, outcome, hasContent } = cell;
    const usage = await isEnded(`${family}-${at}`, "streamed", outcome(family));
    if (hasContent) expect(usage.settled).toBeGreaterThan(0n);
    else expect(usage.settled).toBe(0n);
  };
  test.concurrent.each(cells.filter(({ pauseMs }) => pauseMs > 0))(
    "is cut off and charged for the delivered part: $what ($family)",
    isCut,
  );
  // One at a time: beside others that come as fast as they can, none reaches its length within its time.
  test.each(cells.filter(({ pauseMs }) => pauseMs === 0))(
    "at full speed is cut off and charged for the delivered part: $what ($family)",
    isCut,
  );

  test.each(FAMILIES)("charges at most the hold if the caller set a limit (%s)", async (family) => {
    const more = { max_tokens: 5 };
    const usage = await isEnded(`${family}-0`, "streamed", [200, "upstream_error"], more);
    expect(usage.settled).toBeGreaterThan(0n);
    expect(usage.units["output_tokens"]).toBeLessThanOrEqual(8_192);
  });

  test.concurrent.each(FAMILIES)(
    "of bytes in place of a plain answer ends at the call's deadline (%s)",
    async (family) => {
      const usage = await isEnded(`${family}-plain`, "plain", TIMED_OUT);
      expect(usage.settled).toBe(0n);
    },
  );
});

test("memory stays flat, and no socket stays open", async () => {
  expect(memory.peak()).toBeLessThan(storm(Infinity, GROWTH_MB_MAX));
  await audit(bed);
});

/** Plays the stream whose number stands in the name of the model. */
function endless(family: FamilyName): CustomBehaviour {
  return {
    kind: "custom",
    async play(request, wire) {
      const [, name] = /endless-(\w+)/.exec(request.target + request.body.toString("utf8")) ?? [];
      const stream = STREAMS[Number(name)];
      if (stream) {
        const { opening, words } = rawAnswer(family, ["first "]);
        const before = stream.hasContent ? [...opening, ...words] : opening;
        const start = before.map((frame) => frameText(frame)).join("");
        // Comments and bytes come in place of a stream's opening too.
        const isBare = !stream.hasContent && stream.pauseMs > 0;
        const piece = (at: number): string => (at === 0 && !isBare ? start : "") + stream.piece(family, at);
        await endlessStream(piece, stream.pauseMs).play(request, wire);
        return;
      }
      await wire.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n");
      while (await sendChunk(wire, Buffer.from(" "))) await wire.wait(DRIP_MS);
    },
  };
}

/** The most that the processes have grown by, together, in megabytes. */
function watchMemory(pids: readonly number[]): { peak(): number; stop(): void } {
  const before = residentMb(pids);
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, residentMb(pids) - before)), 50);
  return { peak: () => peak, stop: () => clearInterval(timer) };
}
