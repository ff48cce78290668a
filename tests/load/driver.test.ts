import { afterEach, describe, expect, test } from "bun:test";

import type { OpenAiServer, OpenAiServerOptions } from "../providers/openai-compatible/server.ts";
import { startOpenAiServer } from "../providers/openai-compatible/server.ts";
import type { DriveCommand, DriveResult } from "./driver.ts";
import { selfSigned } from "../shared/net/certificate.ts";
import { drive } from "./driver.ts";
import { Histogram } from "./histogram.ts";

const servers: OpenAiServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const CERTIFICATE = selfSigned("127.0.0.1");

async function run(
  load: Partial<DriveCommand>,
  options: OpenAiServerOptions = {},
): Promise<{ result: DriveResult; server: OpenAiServer }> {
  const server = startOpenAiServer(options);
  servers.push(server);
  const isStream = load.isStream ?? false;
  const body = JSON.stringify({ model: "m", stream: isStream, messages: [{ role: "user", content: "say one two" }] });
  const command = {
    port: server.port,
    path: "/v1/chat/completions",
    headers: {},
    body,
    isStream,
    seconds: 0.1,
    ...load,
  };
  return { result: await drive(command), server };
}

describe("the driver", () => {
  test("counts every call of a closed loop once, over as many connections as concurrent calls", async () => {
    const { result, server } = await run({ inFlight: 4 });
    expect(result.calls).toBe(server.requests.length);
    expect(result.failed).toBe(0);
    expect(Histogram.merge([result.latency]).count).toBe(result.calls);
  });

  test.each([{ inFlight: 4 }, { inFlight: 2, isStream: true }, { rate: 200 }])(
    "drives %j over TLS to a server whose certificate it has",
    async (load) => {
      const { result, server } = await run({ ...load, ca: CERTIFICATE.cert }, { tls: CERTIFICATE });
      expect(server.origin).toStartWith("https://");
      expect(result).toMatchObject({ failed: 0, calls: server.requests.length });
      expect(result.calls).toBeGreaterThan(0);
    },
  );

  test("rejects a server that has another certificate", async () => {
    const { cert } = selfSigned("127.0.0.1");
    expect(run({ ca: cert, inFlight: 2 }, { tls: CERTIFICATE })).rejects.toThrow("self signed certificate");
    expect(run({ ca: cert, rate: 50 }, { tls: CERTIFICATE })).rejects.toThrow("self signed certificate");
  });

  test("sends the calls of a load with each of its keys in turn", async () => {
    for (const load of [{ inFlight: 2 }, { rate: 100 }]) {
      const { server } = await run({ ...load, keys: ["a", "b", "c"] });
      const counts = ["a", "b", "c"].map(
        (key) => server.requests.filter(({ headers }) => headers["authorization"] === `Bearer ${key}`).length,
      );
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(server.requests.length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(Math.min(...counts)).toBeGreaterThan(0);
    }
  });

  test("sends exactly rate × seconds calls in an open loop", async () => {
    const { result, server } = await run({ rate: 200, seconds: 0.25 });
    expect(result.calls).toBe(50);
    expect(server.requests.length).toBe(50);
  });

  test("reports the first content before the end of a stream", async () => {
    const { result } = await run({ inFlight: 1, isStream: true }, { default: { tokens: 5, intervalMs: 5 } });
    const firstToken = Histogram.merge([result.firstToken]).percentile(0.5);
    expect(result.failed).toBe(0);
    expect(firstToken).toBeLessThan(Histogram.merge([result.latency]).percentile(0.5));
  });

  test("counts rejections by status and interrupted streams as 0, and continues over new connections", async () => {
    const refused = await run({ inFlight: 2 }, { default: { status: 503, body: "{}" } });
    expect(refused.result.statuses).toEqual({ 503: refused.result.calls });
    const broken = await run(
      // A tenth of a second is one call on a busy machine.
      { inFlight: 2, isStream: true, seconds: 1 },
      { default: { cut: { frame: 2, inside: "border", how: "fin" } } },
    );
    expect(broken.result.calls).toBeGreaterThan(2);
    expect(broken.result.statuses).toEqual({ 0: broken.result.calls });
    const unfinished = await run({ inFlight: 1, isStream: true }, { default: { omitEnd: true } });
    expect(unfinished.result.failed).toBe(unfinished.result.calls);
  });
});
