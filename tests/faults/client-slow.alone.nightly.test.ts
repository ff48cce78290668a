/**
 * Fault: clients that read far slower than the provider writes, at their own pace, or not at all. Injection:
 * raw sockets that read once and then rest, before an upstream that pours. Expected: bounded memory, in the socket and ours;
 * who cannot follow is cut, its upstream let go and what was produced billed; who follows slowly gets everything; a call
 * that has ended is settled whether or not its last bytes are taken; nobody else notices. That a reader without a backlog
 * is cut after 30 s is tests/e2e/streams.test.ts.
 */
import type { Socket } from "bun";
import { afterAll, beforeAll, expect, test } from "bun:test";

import { residentMb } from "../load/processes.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import type { Answer } from "./client.ts";
import { FAMILIES } from "./families.ts";
import { isServed } from "./load.ts";
import { metric } from "./metric.ts";
import { pour } from "./pour.ts";
import { arrivalsOf, costOf, mark, type Marked, usageOf } from "./probe.ts";
import { frameText, rawAnswer, rawStream } from "./raw-stream.ts";
import { eventually } from "./wait.ts";

const SLOW_CLIENTS = 16;
/** Memory of an ingress for one client: 4 MB in the socket, 2 MB before it. */
const INGRESS_MB_EACH = 6;
/** Memory that the allocator keeps of what has passed. */
const INGRESS_MB_BESIDE = 48;
/**
 * A worker reads as fast as a provider writes and NATS takes it: less than 100 MB of that live at once. The rest waits for the
 * collector, which gets less time on a busy machine (up to 450 MB were seen), and is gone soon after. Without the worker's
 * bound on what NATS has not taken it was 2,000.
 */
const WORKER_MB_MAX = 800;
const WORKER_MB_AFTER = 96;
const NEIGHBOUR = "mock-tokens-100-every-10";

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({
    janitor: false,
    behaviours: ["tokens-100-every-10"],
    models: FAMILIES.map((family) => ({ slug: `${family}-raw`, sources: [`${family}/raw`], outputTokensMax: 100_000 })),
  });
});
afterAll(() => bed?.stop());

interface SlowCaller {
  /** Bytes taken so far, and all of them as text. */
  text(): string;
  readonly closed: Promise<void>;
  leave(): void;
}

/** Sends the call and reads once every `restMs`, as much as the system hands over at a time; Infinity reads the head alone. */
async function callSlowly({ target, body }: Marked, restMs: number): Promise<SlowCaller> {
  const { hostname, port, host } = new URL(target.url);
  const payload = JSON.stringify(body);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const pieces: string[] = [];
  let timer: Timer | undefined;
  const socket: Socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(paused, bytes) {
        pieces.push(bytes.toString("latin1"));
        paused.pause();
        if (restMs !== Infinity) timer = setTimeout(() => paused.resume(), restMs);
      },
      close: () => resolve(),
      error: () => resolve(),
    },
  });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${target.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`,
  );
  return {
    text: () => pieces.join(""),
    closed,
    leave() {
      clearTimeout(timer);
      socket.terminate();
    },
  };
}

const idOf = (caller: SlowCaller): Promise<string> =>
  eventually("the answer has begun", () => /x-request-id: (\S+)/i.exec(caller.text())?.[1]);
test("slow readers cost bounded memory and are disconnected, without effect on others", async () => {
  const { stack, upstream, client } = bed;
  const [ingress, worker] = [stack.ingresses[0]?.pid ?? 0, stack.workers[0]?.pid ?? 0];
  const neighbour = (): Promise<Answer> => client.chat(bed.target(), ask(NEIGHBOUR, { stream: true }));
  expect(isServed(await neighbour())).toBe(true);
  const before = { ingress: residentMb([ingress]), worker: residentMb([worker]) };
  const peak = { ingress: 0, worker: 0 };
  upstream.next(...Array.from({ length: SLOW_CLIENTS }, pour));
  const marks = Array.from({ length: SLOW_CLIENTS }, () => mark(bed, "wide", "streamed"));
  const callers = await Promise.all(marks.map((marked) => callSlowly(marked, 1_000)));
  const neighbours = Promise.all(Array.from({ length: 8 }, neighbour));
  await eventually(
    "every upstream is let go",
    () => {
      peak.ingress = Math.max(peak.ingress, residentMb([ingress]) - before.ingress);
      peak.worker = Math.max(peak.worker, residentMb([worker]) - before.worker);
      return marks.every(({ marker }) => arrivalsOf(bed.upstreams, marker)[0]?.call.closedByClientAt != null);
    },
    40_000,
  );
  for (const answer of await neighbours) expect(isServed(answer)).toBe(true);
  expect(peak.ingress).toBeLessThan(SLOW_CLIENTS * INGRESS_MB_EACH + INGRESS_MB_BESIDE);
  expect(peak.worker).toBeLessThan(WORKER_MB_MAX);
  for (const caller of callers) {
    const usage = await usageOf(bed, await idOf(caller));
    expect(usage.status).toBe("cancelled");
    expect(usage.settled).toBeGreaterThan(0n);
    expect(usage.settled).toBeLessThanOrEqual(usage.held);
  }
  const stuck = metric(stack.ingresses[0]?.adminUrl ?? "", "sluice_stream_aborts_total", 'reason="stuck"');
  expect(await stuck).toBe(SLOW_CLIENTS);
  for (const caller of callers) caller.leave();
  await eventually("the worker's memory is back", () => residentMb([worker]) - before.worker < WORKER_MB_AFTER, 20_000);
}, 90_000);

test.each(FAMILIES)(
  "a reader at its own pace receives everything (%s)",
  async (family) => {
    const words = Array.from({ length: 120 }, (_, at) => `${at} ${"word ".repeat(1_600)}`);
    const { opening, words: frames, closing, end } = rawAnswer(family, words);
    const pieces = [...opening, ...frames, ...closing, ...end].map((frame) => frameText(frame));
    bed.upstreams[family].next(rawStream(pieces, "end"));
    const marked = mark(bed, `${family}-raw`, "streamed");
    const caller = await callSlowly(marked, 40);
    await eventually("the last byte is here", () => caller.text().endsWith("0\r\n\r\n"), 30_000);
    expect(caller.text()).toContain("data: [DONE]\n\n");
    // Every word once and in its order, however the answer was cut into pieces.
    const said = [...caller.text().matchAll(/"content":"((?:\d+ )?(?:word )*)/g)].map(([, text]) => text).join("");
    expect(said.match(/\d+/g)?.map(Number)).toEqual(words.map((_, at) => at));
    expect(said.match(/word/g)).toHaveLength(120 * 1_600);
    const usage = await usageOf(bed, await idOf(caller));
    expect(usage).toMatchObject({ status: "succeeded", is_estimated: false, units: { output_tokens: words.length } });
    caller.leave();
  },
  60_000,
);

test("an ended call is settled even if its reader has stopped", async () => {
  const words = Array.from({ length: 200 }, () => "word ".repeat(1_600));
  const { opening, words: frames, closing, end } = rawAnswer("openai", words);
  bed.upstream.next(
    rawStream(
      [...opening, ...frames, ...closing, ...end].map((frame) => frameText(frame)),
      "end",
    ),
  );
  const caller = await callSlowly(mark(bed, "openai-raw", "streamed"), Infinity);
  const usage = await usageOf(bed, await idOf(caller));
  expect(usage).toMatchObject({ status: "succeeded", units: { output_tokens: words.length } });
  expect(usage.settled).toBe(costOf(usage));
  caller.leave();
  await caller.closed;
});

test("no socket stays open", async () => {
  await audit(bed);
  await eventually("no stream is counted as active", async () => {
    return (await metric(bed.stack.ingresses[0]?.adminUrl ?? "", "sluice_streams_active")) === 0;
  });
});
