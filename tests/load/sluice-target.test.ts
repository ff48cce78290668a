/** Sluice as the load runs start it: it asks its upstream over TLS, for keys without a limit a minute and for keys with one. */
import { expect, test } from "bun:test";

import { eventually } from "../faults/wait.ts";
import { temporaryDirectory } from "../support/infrastructure.ts";
import { createCertificate } from "../support/trusted-certificate.ts";
import { drive, type DriveResult } from "./driver.ts";
import { LIMITED_WORKSPACES, limitKeys, type SluiceTarget, startSluice } from "./sluice-target.ts";
import { startUpstream } from "./upstream.ts";
import { verifyBooks } from "./verify.ts";

const MESSAGES = [{ role: "user", content: "Write one sentence about a fox." }];

test("credit lines serve the calls of the key without a limit only, no call is refused, and the books are exact", async () => {
  const { directory, remove } = temporaryDirectory();
  const certificate = createCertificate(directory);
  const upstream = startUpstream({ tls: certificate });
  const sluice = await startSluice(upstream.port, certificate.certFile);
  try {
    const { stack } = sluice;
    const call = ({ port, path, headers, keys, model }: SluiceTarget, isStream: boolean): Promise<DriveResult> => {
      const body = JSON.stringify({ model, max_tokens: 64, messages: MESSAGES, stream: isStream });
      return drive({ port, path, headers, keys, body, isStream, seconds: 1, inFlight: 16 });
    };
    const limited = await limitKeys(sluice);
    const results = [await call(limited, false), await call(limited, true)];
    expect(await stack.query("select workspace_id from credit_line")).toEqual([]);
    const [counted] = await stack.query<{ workspaces: bigint; calls: string }>(
      "select count(*) as workspaces, sum(calls) as calls from rate_window where calls > 0",
    );
    const sent = results.map(({ calls }) => calls);
    expect(counted?.calls).toBe(String(sent.reduce((sum, calls) => sum + calls, 0)));
    // Keys take turns, so the calls of a slow machine may be fewer than the workspaces.
    expect(Number(counted?.workspaces)).toBeGreaterThanOrEqual(Math.min(LIMITED_WORKSPACES, Math.max(...sent)));

    const lines = await eventually("a line of the key without a limit", async () => {
      results.push(await call(sluice, false));
      const found = await stack.query<{ has_limit: boolean }>(
        "select exists (select from api_key k where k.workspace_id = l.workspace_id and k.preset = 'load-limited') as has_limit from credit_line l",
      );
      return found.length > 0 && found;
    });
    expect(lines).toEqual([{ has_limit: false }]);
    expect(results.filter(({ failed }) => failed > 0)).toEqual([]);
    const calls = results.reduce((sum, result) => sum + result.calls, 0);
    expect(await verifyBooks(stack, calls)).toMatchObject({ faults: [], settledCalls: calls });
  } finally {
    await sluice.stop();
    upstream.close();
    remove();
  }
}, 120_000);
