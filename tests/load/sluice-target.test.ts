/** Sluice as the load runs start it: it asks its upstream over TLS, for keys without a limit a minute and for keys with one. */
import { expect, test } from "bun:test";

import { temporaryDirectory } from "../support/infrastructure.ts";
import { createCertificate } from "../support/trusted-certificate.ts";
import { drive, type DriveResult } from "./driver.ts";
import { limitKeys, type SluiceTarget, startSluice } from "./sluice-target.ts";
import { startUpstream } from "./upstream.ts";
import { verifyBooks } from "./verify.ts";

const MESSAGES = [{ role: "user", content: "Write one sentence about a fox." }];

test("credit lines serve the calls of the key without a limit only, no call is rejected, and the books are exact", async () => {
  const { directory, remove } = temporaryDirectory();
  const certificate = createCertificate(directory);
  const upstream = startUpstream({ tls: certificate });
  const sluice = await startSluice(upstream.port, certificate.certFile);
  try {
    const { stack } = sluice;
    const results: DriveResult[] = [];
    const call = async ({ port, path, headers, keys, model }: SluiceTarget, isStream = false): Promise<void> => {
      const body = JSON.stringify({ model, max_tokens: 64, messages: MESSAGES, stream: isStream });
      results.push(await drive({ port, path, headers, keys, body, isStream, seconds: 0.5, inFlight: 16 }));
    };
    const linedKeys = "select k.preset from credit_line l join api_key k using (workspace_id)";
    const limited = await limitKeys(sluice);
    await call(limited);
    await call(limited, true);
    const sent = results.reduce((sum, { calls }) => sum + calls, 0);
    const counted = "select count(*) as workspaces, sum(calls) as calls from rate_window where calls > 0";
    // Each load begins with the first key.
    const workspaces = BigInt(Math.min(128, Math.max(...results.map(({ calls }) => calls))));
    expect(await stack.query(counted)).toEqual([{ workspaces, calls: String(sent) }]);

    // All calls of one workspace in place of 128: often enough for a line, if the key had no limit.
    await call({ ...limited, keys: limited.keys?.slice(0, 1) ?? [] });
    expect(await stack.query(linedKeys)).toEqual([]);
    await call(sluice);
    while ((await stack.query(linedKeys)).length === 0) await call(sluice);
    expect(await stack.query(linedKeys)).toEqual([{ preset: "unlimited" }]);
    expect(results.filter(({ failed }) => failed > 0)).toEqual([]);
    const calls = results.reduce((sum, result) => sum + result.calls, 0);
    expect(await verifyBooks(stack, calls)).toMatchObject({ faults: [], settledCalls: calls });
  } finally {
    await sluice.stop();
    upstream.close();
    remove();
  }
}, 120_000);
