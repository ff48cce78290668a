import { test } from "bun:test";
import { startBed } from "./bed.ts";
import { startLoad, tally } from "./load.ts";
test("probe", async () => {
  const bed = await startBed({
    ingress: 2,
    workers: 2,
    env: { SLUICE_CHAT_QUEUE_MS: "10000", SLUICE_LOG_LEVEL: "debug" },
  });
  const out: string[] = [];
  try {
    bed.upstream.setDefault({ delayMs: 20 });
    const load = startLoad(bed, { clients: 16 });
    while (load.served() < 100) await Bun.sleep(10);
    const t0 = performance.now();
    await bed.stack.nats.stop((process.env["SIG"] ?? "SIGTERM") as "SIGTERM");
    await Bun.write("/tmp/fx/natslog.txt", bed.stack.nats.logs().join("\n"));
    out.push(`stopped at ${Math.round(performance.now() - t0)}`);
    await bed.stack.nats.start();
    const up = performance.now() - t0;
    out.push(`up at ${Math.round(up)} wall ${Date.now()}`);
    const answersBefore = load.served();
    let firstAt = 0;
    for (let i = 0; i < 60; i++) {
      await Bun.sleep(100);
      if (!firstAt && load.served() > answersBefore + 5) {
        firstAt = performance.now() - t0;
        out.push(`served again at ${Math.round(firstAt)}`);
      }
      if (i % 10 === 0)
        out.push(
          `t=${Math.round(performance.now() - t0)} served ${load.served()} upstream ${bed.upstream.requests.length}`,
        );
    }
    const answers = await load.stop();
    out.push(JSON.stringify(tally(answers)));
    for (const a of answers)
      if (a.status !== 200)
        out.push(`${a.status} ${a.headers.get("x-request-id")} ${Math.round(a.endedAt - t0)} ${a.body.slice(0, 120)}`);
    const seen = new Map<string, number[]>();
    for (const r of bed.upstream.requests) {
      const u = (r.body as { user: string }).user;
      seen.set(u, [...(seen.get(u) ?? []), Math.round(r.receivedAt - t0)]);
    }
    for (const [u, at] of seen) if (at.length > 1) out.push(`double ${u} ${at.join()}`);
    const rows = await bed.stack.query("select status, count(*) from usage_record group by 1");
    out.push(JSON.stringify(rows, (_k, v) => (typeof v === "bigint" ? Number(v) : v)));
    for (const r of [...bed.stack.workers, ...bed.stack.ingresses])
      out.push(
        `--- ${r.name}`,
        ...r
          .logs()
          .filter((l) => !l.includes('"msg":"request"'))
          .map((l) => l.slice(0, 400))
          .slice(-40),
      );
  } finally {
    await Bun.write("/tmp/fx/probe.txt", out.join("\n"));
    await bed.stop();
  }
}, 120000);
