import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { runAdminCommand } from "#deploy/admin/main.ts";
import { launch, launchUntil } from "#deploy/embedded/process.mjs";
import { newId } from "#shared/base/ids.ts";
import { envelopeText } from "#shared/notifications/envelope.ts";
import { newSigningSecret, signatureHeaders } from "#shared/secrets/signature.ts";

import { eventually } from "../../faults/wait.ts";
import { PROJECT_ROOT } from "../../support/infrastructure.ts";
import { admin, type Json } from "./commands.ts";

const SECRET = newSigningSecret();
const TIMESTAMP = 1_767_323_045;
const TYPE = { "content-type": "application/json" };

interface Listening {
  readonly url: string;
  /** Lines of output so far, without the first one. */
  readonly said: () => string[];
  post(body: string | ReadableStream, headers?: Record<string, string>): Promise<Response>;
  /** Stops it like Ctrl-C; resolves to its exit code. */
  interrupt(): Promise<number>;
}

const open: Listening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.interrupt()));
});

async function listen(...args: readonly string[]): Promise<Listening> {
  const interruption = new AbortController();
  const parts: string[] = [];
  let complaint = "";
  const ended = runAdminCommand(["webhook", "listen", "--port", "0", ...args], {
    stdout: (text) => void parts.push(text),
    stderr: (text) => (complaint += text),
    environment: {},
    interruption: () => interruption.signal,
  });
  const url = await eventually("it listens", () => /http:\/\/127\.0\.0\.1:\d+\//.exec(parts[0] ?? "")?.[0]);
  const listening: Listening = {
    url,
    said: () => parts.slice(1),
    post: (body, headers = {}) => fetch(url, { method: "POST", headers: { ...TYPE, ...headers }, body }),
    async interrupt() {
      interruption.abort();
      const code = await ended;
      expect(complaint).toBe("");
      return code;
    },
  };
  open.push(listening);
  return listening;
}

function delivery(metadata: Record<string, unknown> = { runId: "r-1" }, event = "run.succeeded") {
  const id = newId();
  const body = envelopeText({ event, deliveryId: id, workspaceId: newId(), occurredAt: new Date(), metadata });
  const signed = (secret: string, previousSecret?: string) =>
    signatureHeaders({ secret, previousSecret, id, timestamp: TIMESTAMP, body });
  return { id, body, signed };
}

describe("webhook listen", () => {
  test("prints its address, the setting that allows Sluice to send there, and a summary at its end", async () => {
    const listening = await listen();
    const { body, signed } = delivery();
    await listening.post(body, signed(SECRET));
    expect(await listening.interrupt()).toBe(0);
    expect(listening.said().at(-1)).toBe("deliveries 1, repeats 0, other requests 0\n");
    const later = await listening.post(body, signed(SECRET)).then(
      () => "answered",
      () => "not reached",
    );
    expect(later).toBe("not reached");
    const interrupted = { stdout: "", code: -1 };
    interrupted.code = await runAdminCommand(["webhook", "listen", "--port", "0"], {
      stdout: (text) => (interrupted.stdout += text),
      stderr: () => {},
      environment: {},
      interruption: () => AbortSignal.abort(),
    });
    expect(interrupted).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Listening on http:\S+ until Ctrl-C\. [^\n]*SLUICE_OUTBOUND_ALLOW=127\.0\.0\.1 /),
    });
  });

  test("prints a delivery: event, id, time of the attempt, signature and metadata", async () => {
    const listening = await listen("--secret", SECRET);
    const { id, body, signed } = delivery({ runId: "r-1", note: "Zürich 🙂" });
    const answer = await listening.post(body, signed(SECRET));
    expect([answer.status, await answer.text()]).toEqual([200, "ok\n"]);
    expect(listening.said()).toEqual([
      [
        "run.succeeded",
        `  id         ${id}`,
        "  attempt    2026-01-02T03:04:05.000Z",
        "  signature  valid",
        "  {",
        '    "runId": "r-1",',
        '    "note": "Zürich 🙂"',
        "  }",
        "",
      ].join("\n"),
    ]);
  });

  test("distinguishes valid, wrong, missing and replaced signatures, and repeats from new deliveries", async () => {
    const listening = await listen("--secret", SECRET, "--json");
    const { id, body, signed } = delivery();
    const changed = body.replace("r-1", "r-2");
    await listening.post(body, signed(SECRET));
    await listening.post(changed, signed(SECRET));
    await listening.post(body, signed(newSigningSecret()));
    await listening.post(body, signed(newSigningSecret(), SECRET));
    await listening.post(body, { "webhook-id": id, "webhook-timestamp": "never" });
    const told = listening.said().map((line) => JSON.parse(line) as Json);
    expect(told.map((one) => [one["signature"], one["came_before"]])).toEqual([
      ["right", false],
      ["wrong", true],
      ["wrong", true],
      ["previous", true],
      ["absent", true],
    ]);
    expect(told[0]).toEqual({
      event: "run.succeeded",
      delivery_id: id,
      attempted_at: "2026-01-02T03:04:05.000Z",
      signature: "right",
      came_before: false,
      metadata: { runId: "r-1" },
    });
    expect(told.at(-1)).toMatchObject({ attempted_at: null });
  });

  test("does not check signatures without a secret, and responds as configured", async () => {
    const listening = await listen("--answer", "410");
    const { body, signed } = delivery();
    expect((await listening.post(body, signed(SECRET))).status).toBe(410);
    expect(listening.said()[0]).toContain("  signature  not verified: no --secret was given\n");
    const silent = await listen("--answer", "204");
    expect((await silent.post(body, signed(SECRET))).status).toBe(204);
  });

  test("prints no control sequence for the terminal", async () => {
    const listening = await listen("--secret", SECRET);
    const { body, signed } = delivery({ note: "\u001b[2J\u009b2J" }, "run\u001b[2J\nfaked");
    await listening.post(body, signed(SECRET));
    expect(listening.said().join("").replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    expect(listening.said()[0]?.split("\n")).toHaveLength(8);
  });

  test("rejects an invalid delivery, and continues", async () => {
    const listening = await listen("--secret", SECRET);
    const { body, signed } = delivery();
    const large = new Blob(["x".repeat(256 * 1_024 + 1)]);
    const statuses = [
      await fetch(listening.url),
      await listening.post("{", signed(SECRET)),
      await listening.post("[]", signed(SECRET)),
      await listening.post('{"event":"run.started","deliveryId":"x"}', signed(SECRET)),
      await listening.post(body, { ...signed(SECRET), "webhook-id": "another" }),
      await listening.post(body, { ...signed(SECRET), "content-type": "text/plain" }),
      await listening.post(await large.text(), signed(SECRET)),
      await listening.post(large.stream(), signed(SECRET)),
      await listening.post(body, signed(SECRET)),
    ].map(({ status }) => status);
    expect(statuses).toEqual([405, 400, 400, 400, 400, 415, 413, 413, 200]);
    expect(listening.said()[0]).toBe("refused a request that is no delivery with 405: Expected POST.\n");
    expect(listening.said()).toHaveLength(9);
  });

  test("reports in one sentence that its port is occupied", async () => {
    // No Bun.serve: under `bun test` a second one on its port takes its place.
    const taken = createServer().listen(0, "127.0.0.1");
    try {
      await once(taken, "listening");
      const { port } = taken.address() as AddressInfo;
      const said = await admin(["webhook", "listen", "--port", String(port)]);
      expect(said).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(/^sluice: [^\n]*port \d+[^\n]*$/),
      });
    } finally {
      taken.close();
    }
  });

  test("never prints a secret that it rejects", async () => {
    const said = await admin(["webhook", "listen", "--secret", "canary"]);
    expect(said.code).toBe(2);
    expect(said.stderr).not.toContain("canary");
  });

  test.each(["INT", "TERM"] as const)(
    "runs under npm without a database, and exits with 0 after SIG%s",
    async (name) => {
      const { running, value: url } = await launchUntil(
        (onLine) =>
          launch({
            name: "webhook listen",
            command: "node",
            args: ["deploy/bun.mjs", "deploy/sluice.ts", "admin", "webhook", "listen", "--port", "0"],
            cwd: PROJECT_ROOT,
            env: {
              PATH: process.env["PATH"],
              HOME: process.env["HOME"],
              SLUICE_DATA_DIR: process.env["SLUICE_DATA_DIR"],
            },
            onLine,
          }),
        (line) => /http:\/\/127\.0\.0\.1:\d+\//.exec(line)?.[0] ?? null,
        20_000,
      );
      const { body, signed } = delivery();
      const answer = await fetch(url, { method: "POST", headers: { ...TYPE, ...signed(SECRET) }, body });
      expect(answer.status).toBe(200);
      // A terminal sends Ctrl-C to every process of its group, `kill` to one.
      process.kill(name === "INT" ? -running.pid : running.pid, `SIG${name}`);
      expect(await running.exited).toMatchObject({ code: 0 });
      expect(running.lines().at(-1)).toBe("deliveries 1, repeats 0, other requests 0");
    },
  );
});
