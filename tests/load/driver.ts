/**
 * The load driver, a process of its own: reads one command per line on stdin, drives the load, answers with one line
 * of JSON on stdout. It lives through the whole run, so every target meets the same warm code.
 */
import { createInterface } from "node:readline";

import type { HistogramData } from "./histogram.ts";
import { Histogram } from "./histogram.ts";
import type { Exchange } from "./http-connection.ts";
import { LoadConnection } from "./http-connection.ts";

export interface DriveCommand {
  readonly port: number;
  readonly path: string;
  /** PEM certificate of a target that serves TLS. */
  readonly ca?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** API keys that the calls use in turn; without them `headers` has the only one. */
  readonly keys?: readonly string[] | undefined;
  readonly body: string;
  readonly isStream: boolean;
  readonly seconds: number;
  /** Closed loop: this many calls in flight, the next one leaves when one ends. */
  readonly inFlight?: number;
  /** Open loop: calls a second, at equal distances, whatever becomes of the earlier ones. */
  readonly rate?: number;
}

export interface DriveResult {
  readonly calls: number;
  readonly failed: number;
  /** Statuses of the failed ones: status (0 = broken off) → count. */
  readonly statuses: Readonly<Record<string, number>>;
  /** From the first call's start to the last call's end. */
  readonly seconds: number;
  /** To the last byte; in an open loop from the moment the call was meant to leave. Milliseconds. */
  readonly latency: HistogramData;
  /** To the first content. */
  readonly firstToken: HistogramData;
  /** From the write of the request, whenever that was. */
  readonly service: HistogramData;
  readonly cpuMs: number;
}

/** Beyond this an open loop waits for a free connection, and the wait counts as latency. */
const CONNECTIONS_MAX = 2_048;

class Tally {
  calls = 0;
  failed = 0;
  readonly statuses: Record<string, number> = {};
  readonly latency = new Histogram();
  readonly firstToken = new Histogram();
  readonly service = new Histogram();

  add(exchange: Exchange, intendedAt: number): void {
    this.calls += 1;
    if (exchange.status !== 200 || !exchange.whole) {
      this.failed += 1;
      const status = exchange.whole ? exchange.status : 0;
      this.statuses[status] = (this.statuses[status] ?? 0) + 1;
      return;
    }
    this.latency.record(exchange.endedAt - intendedAt);
    this.firstToken.record(exchange.firstTokenAt - intendedAt);
    this.service.record(exchange.endedAt - exchange.sentAt);
  }
}

/** A call that is still open this long after the end of the load is taken for lost, and the whole load with it. */
const STUCK_MS = 60_000;

/** Drives one load to its end. @throws when the port refuses connections, or calls never end */
export async function drive(command: DriveCommand): Promise<DriveResult> {
  const tally = new Tally();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const requests = (command.keys ?? [undefined]).map((key) => encodeRequest(command, key));
  const load =
    command.rate === undefined
      ? driveClosed(command, inTurn(requests), command.inFlight ?? 1, tally)
      : driveOpen(command, inTurn(requests), command.rate, tally);
  await withDeadline(load, command.seconds * 1_000 + STUCK_MS);
  const spent = process.cpuUsage(cpu);
  return {
    calls: tally.calls,
    failed: tally.failed,
    statuses: tally.statuses,
    seconds: (performance.now() - startedAt) / 1_000,
    latency: tally.latency.toJSON(),
    firstToken: tally.firstToken.toJSON(),
    service: tally.service.toJSON(),
    cpuMs: (spent.user + spent.system) / 1_000,
  };
}

/** Returns a function whose calls return the requests one after the other, again and again. */
function inTurn(requests: readonly Uint8Array[]): () => Uint8Array {
  let sent = 0;
  return () => requests[sent++ % requests.length] as Uint8Array;
}

async function driveClosed(
  command: DriveCommand,
  nextRequest: () => Uint8Array,
  inFlight: number,
  tally: Tally,
): Promise<void> {
  const connections = await Promise.all(Array.from({ length: inFlight }, () => connect(command)));
  const until = performance.now() + command.seconds * 1_000;
  const loop = (connection: LoadConnection): Promise<void> =>
    new Promise((resolve, reject) => {
      const send = (): void => {
        connection.send(nextRequest(), command.isStream, (exchange) => {
          tally.add(exchange, exchange.sentAt);
          if (exchange.endedAt >= until) resolve();
          else if (connection.isOpen) send();
          else connection.open().then(send, reject);
        });
      };
      send();
    });
  await Promise.all(connections.map(loop));
  for (const connection of connections) connection.close();
}

async function driveOpen(
  command: DriveCommand,
  nextRequest: () => Uint8Array,
  rate: number,
  tally: Tally,
): Promise<void> {
  const total = Math.round(rate * command.seconds);
  const idle: LoadConnection[] = [];
  const waiting: number[] = [];
  let opened = 0;
  let sent = 0;
  const startedAt = performance.now();
  const { promise: finished, resolve, reject } = Promise.withResolvers<void>();

  const send = (connection: LoadConnection, intendedAt: number): void => {
    connection.send(nextRequest(), command.isStream, (exchange) => {
      tally.add(exchange, intendedAt);
      if (tally.calls === total) resolve();
      const next = waiting.shift();
      if (connection.isOpen) {
        if (next === undefined) idle.push(connection);
        else send(connection, next);
      } else {
        opened -= 1;
        if (next !== undefined) dispatch(next);
      }
    });
  };
  const dispatch = (intendedAt: number): void => {
    const connection = idle.pop();
    if (connection) send(connection, intendedAt);
    else if (opened >= CONNECTIONS_MAX) waiting.push(intendedAt);
    else {
      opened += 1;
      connect(command).then((fresh) => send(fresh, intendedAt), reject);
    }
  };
  const tick = (): void => {
    const now = performance.now();
    for (; sent < total && startedAt + (sent * 1_000) / rate <= now; sent += 1)
      dispatch(startedAt + (sent * 1_000) / rate);
    if (sent < total) setTimeout(tick, Math.max(0, startedAt + (sent * 1_000) / rate - performance.now()));
  };
  tick();
  await finished;
  for (const connection of idle) connection.close();
}

async function withDeadline(load: Promise<void>, ms: number): Promise<void> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`calls were still open after ${ms} ms`)), ms);
  });
  await Promise.race([load, late]);
  clearTimeout(timer);
}

async function connect({ port, ca }: DriveCommand): Promise<LoadConnection> {
  const connection = new LoadConnection(port, ca);
  await connection.open();
  return connection;
}

function encodeRequest({ port, path, headers, body }: DriveCommand, key: string | undefined): Uint8Array {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    ...headers,
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

if (import.meta.main) {
  process.stdout.write('{"ready":true}\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const result = await drive(JSON.parse(line) as DriveCommand);
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }
}
