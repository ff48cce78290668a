/**
 * Hundreds of WebSockets of several workspaces are open on one ingress, turns go over all of them, and one never reads its endless
 * answer. Expected: every turn is whole and paid once, another caller's calls are served meanwhile, and a connection costs little memory.
 * `npm run soak` opens 500, has a thousand turns over one of them, and asserts times.
 */
import { connect as connectTcp, type Socket } from "node:net";

import { afterAll, beforeAll, expect, test } from "bun:test";

import { CONNECTIONS_WORKSPACE_MAX } from "#ingress/routes/responses/socket.ts";

import { residentMb } from "../load/processes.ts";
import { storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, startBed, type Workspace } from "./bed.ts";
import { errorCode } from "./client.ts";
import { isServed } from "./load.ts";
import { pour } from "./pour.ts";
import { eventually } from "./wait.ts";

const WORKSPACES = storm(3, 5);
const SOCKETS_EACH = storm(50, CONNECTIONS_WORKSPACE_MAX);
/** Rounds in which each connection has a turn, so many of them at a time; in a last one those of a workspace have theirs at once. */
const ROUNDS = storm(1, 3);
const AT_A_TIME = 10;
/** Turns of one connection behind the rounds. */
const OF_ONE = storm(20, 1_000);
/** Turns that a turn goes on from. */
const CHAIN_MAX = 20;
/** Calls of the neighbour before each round, and their pace. What else the machine does slows those as well. */
const SAMPLES = storm(10, 100);
const EVERY_MS = 100;
const MARGIN_MS = 250;
/** Memory of an ingress for one connection with a turn under way, and what the allocator keeps beside. */
const SOCKET_MB = 0.2;
const BESIDE_MB = 100;

let bed: Bed;
const open: Talk[] = [];
let deaf: Socket | undefined;

beforeAll(async () => {
  bed = await startBed({ env: { SLUICE_WORKER_SLOTS: "64" } });
}, 120_000);
afterAll(async () => {
  deaf?.destroy();
  for (const { socket } of open) socket.close();
  await bed?.stop();
});

interface Talk {
  readonly socket: WebSocket;
  /** Says a text, going on from the turn before. Returns the answer. */
  turn(text: string): Promise<string>;
}

interface Event {
  readonly type: string;
  readonly response?: { readonly id: string; readonly output: readonly { content?: readonly { text: string }[] }[] };
}

const PATH = "/v1/responses";

async function connect(key: string): Promise<Talk> {
  const headers = { authorization: `Bearer ${key}` };
  // Bun's own client takes headers.
  const socket = new WebSocket(bed.target().url.replace("http", "ws") + PATH, { headers } as unknown as string[]);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("error", () => reject(new Error("no connection")), { once: true });
  });
  let before: string | undefined;
  let turns = 0;
  return {
    socket,
    turn(input) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      socket.addEventListener("close", () => reject(new Error("the connection ended")), { once: true });
      const hear = ({ data }: MessageEvent<string>): void => {
        const { type, response } = JSON.parse(data) as Event;
        if (type === "response.completed") {
          before = response?.id;
          resolve(response?.output[0]?.content?.[0]?.text ?? "");
        } else if (type !== "error" && type !== "response.failed") return;
        else reject(new Error(data));
        socket.removeEventListener("message", hear);
      };
      socket.addEventListener("message", hear);
      const more = before === undefined || turns++ % CHAIN_MAX === 0 ? {} : { previous_response_id: before };
      socket.send(JSON.stringify({ type: "response.create", model: "flat", input, store: false, ...more }));
      return promise;
    },
  };
}

/** Opens a connection, asks for an answer that never ends, and reads none of it. */
async function hangOn(key: string): Promise<Socket> {
  const { hostname, port } = new URL(bed.target().url);
  const socket = connectTcp(Number(port), hostname);
  const head = [`GET ${PATH} HTTP/1.1`, "host: a", "connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==", `authorization: Bearer ${key}`, "", ""]; // prettier-ignore
  socket.write(head.join("\r\n"));
  await new Promise((done) => socket.once("data", done));
  socket.pause();
  const before = bed.upstream.requests.length;
  bed.upstream.next(pour());
  const said = Buffer.from(JSON.stringify({ type: "response.create", model: "wide", input: "x", store: false }));
  // Masked with zeros, so as it is.
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | said.length, 0, 0, 0, 0]), said]));
  await bed.upstream.received(before + 1);
  return socket;
}

/** Milliseconds of calls of the neighbour, none of which waits for the one before. @param goesOn asked before each */
async function neighbourTimes(goesOn: (made: number) => boolean): Promise<number[]> {
  const one = async (): Promise<number> => {
    const began = performance.now();
    const answer = await bed.client.chat(bed.target(), ask("flat"));
    expect([answer.status, errorCode(answer), isServed(answer)]).toEqual([200, undefined, true]);
    return performance.now() - began;
  };
  const calls: Promise<number>[] = [];
  while (goesOn(calls.length)) {
    calls.push(one());
    await Bun.sleep(EVERY_MS);
  }
  return Promise.all(calls);
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0;
}

async function talkInTurn(): Promise<void> {
  const waiting = [...open.entries()];
  const lane = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await talk(next[1], `socket ${next[0]}`);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
}

async function talk(one: Talk, text: string): Promise<void> {
  expect(await one.turn(`say ${text}`)).toBe(text);
}

test(
  "turns over hundreds of connections are complete and charged once, and affect no other call",
  async () => {
    const { stack } = bed;
    const pid = stack.ingresses[0]?.pid ?? 0;
    const resident = (): number => residentMb([pid]);
    const workspaces: Workspace[] = [];
    for (let at = 0; at < WORKSPACES; at++) workspaces.push(await createWorkspace(stack, { creditsNano: 10n ** 15n }));
    const slow = await createWorkspace(stack, { creditsNano: 10n ** 15n });
    const before = resident();
    for (const { key } of workspaces) {
      open.push(...(await Promise.all(Array.from({ length: SOCKETS_EACH }, () => connect(key)))));
    }
    const idle = resident();
    deaf = await hangOn(slow.key);
    let peak = 0;
    const timer = setInterval(() => (peak = Math.max(peak, resident())), 20);
    const [calm, busy]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      calm.push(...(await neighbourTimes((made) => made < SAMPLES)));
      let isTalking = true;
      const neighbour = neighbourTimes(() => isTalking);
      await talkInTurn();
      isTalking = false;
      busy.push(...(await neighbour));
    }
    const [alone, during] = [p99(calm), p99(busy)];
    for (let from = 0; from < open.length; from += SOCKETS_EACH) {
      await Promise.all(open.slice(from, from + SOCKETS_EACH).map((one) => talk(one, "at once")));
    }
    for (const one of open.slice(0, 1)) {
      for (let at = 0; at < OF_ONE; at++) await talk(one, `turn ${at}`);
    }
    clearInterval(timer);
    const told = {
      sockets: open.length,
      turns: open.length * (ROUNDS + 1) + OF_ONE,
      alone,
      during,
      before,
      idle,
      peak,
    };
    process.stdout.write(`${JSON.stringify(told, (_, value: unknown) => (typeof value === "number" ? Math.round(value) : value))}\n`); // prettier-ignore

    expect(peak - before).toBeLessThan(open.length * SOCKET_MB + BESIDE_MB);
    if (storm(false, true)) expect(during).toBeLessThan(2 * alone + MARGIN_MS);
    deaf.destroy();
    for (const { socket } of open) socket.close();
    await audit(bed);
    for (const [at, { id }] of workspaces.entries()) {
      const rows = await stack.query("select status, count(*) as calls, sum(settled)::bigint as settled from usage_record where workspace_id = $1 group by status", [id]); // prettier-ignore
      const calls = BigInt(SOCKETS_EACH * (ROUNDS + 1) + (at === 0 ? OF_ONE : 0));
      expect(rows).toEqual([{ status: "succeeded", calls, settled: calls * FLAT_NANO }]);
    }
    const left = await eventually("the call of the reader that hangs has ended", async () => (await stack.query("select status, settled > 0 as is_paid from usage_record where workspace_id = $1", [slow.id]))[0]); // prettier-ignore
    expect(left).toEqual({ status: "cancelled", is_paid: true });
  },
  storm(120_000, 600_000),
);
