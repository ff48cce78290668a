/**
 * A thousand calls race for the limit of one key, or of a tag that two keys use: over HTTP at two ingresses, as lines of a batch, and as NATS
 * messages, while another key of the workspace keeps credit lines open. Expected: exactly as many are served as the limit allows, also after
 * processes were killed.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";

import { labelIdOf } from "#shared/calls/labels.ts";
import { setSpendLimit, type SpendLimit } from "#shared/ledger/spend-limits.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";
import { newId } from "#shared/base/ids.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, startBed, type Workspace } from "./bed.ts";
import { type Answer, errorCode } from "./client.ts";
import { isServed } from "./load.ts";
import { metric } from "./metric.ts";
import { openPublisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

const LIVE = 600;
const LINES = 200;
const MESSAGES = 200;
const FIT = 250;

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ ingress: 2, workers: 2, quickJanitor: true, env: { SLUICE_CALL_TOTAL_MS: "5000" } });
}, 60_000);
afterAll(() => bed?.stop());

async function createBusyWorkspace(): Promise<Workspace & { readonly otherKey: string }> {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 100_000n * FLAT_NANO });
  const otherKey = mintKey();
  await bed.stack.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
     select $1, workspace_id, member_id, 'other', $2, $3, preset from api_key where id = $4`,
    [newId(), Buffer.from(hashKey(otherKey)), keyHint(otherKey), workspace.keyId],
  );
  return { ...workspace, otherKey };
}

/** Calls that count against one limit of FIT calls. */
interface Limited {
  readonly workspace: Workspace;
  /** Key of calls that do not count. */
  readonly otherKey: string;
  readonly limitId: string;
  /** Keys of the calls. */
  readonly keys: readonly string[];
  readonly body: (more?: Record<string, unknown>) => Record<string, unknown>;
}

async function createLimited(subject: "key" | "tag"): Promise<Limited> {
  const workspace = await createBusyWorkspace();
  const { id, keyId, key, otherKey } = workspace;
  const label = { name: "project", value: "alpha" };
  const limit: Pick<SpendLimit, "id" | "kind" | "label"> =
    subject === "key" ? { id: keyId, kind: "key" } : { id: labelIdOf(id, label.name, label.value), kind: "tag", label };
  await bed.stack.query("update workspace set tags = '{project}' where id = $1", [id]);
  await setSpendLimit({ query: bed.stack.query }, id, { ...limit, credits: { day: BigInt(FIT) * FLAT_NANO } });
  // Keys are cached for a second.
  await Bun.sleep(1_100);
  const tags = subject === "key" ? {} : { metadata: { project: "alpha" } };
  return {
    workspace,
    otherKey,
    limitId: limit.id,
    keys: subject === "key" ? [key] : [key, otherKey],
    body: (more = {}) => ask("flat", { ...tags, ...more }),
  };
}

const callOf = ({ keys, body }: Limited, n: number, more?: Record<string, unknown>): Promise<Answer> =>
  bed.client.chat({ url: bed.target(n % 2).url, key: keys[(n >> 1) % keys.length] ?? "" }, body(more));

/** Calls of the other key at both ingresses, until told to stop. They keep credit lines open. */
function pour(key: string): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const client = async (_: unknown, n: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      const answer = await bed.client.chat({ url: bed.target(n % 2).url, key }, ask("flat"));
      if (!isServed(answer)) await Bun.sleep(20);
    }
  };
  const running = Array.from({ length: 12 }, client);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

const usageOf = async ({ limitId }: Limited): Promise<{ served: number; nano: bigint }> => {
  const [row] = await bed.stack.query<{ served: bigint; nano: bigint }>(
    `select count(*) filter (where settled > 0) as served, coalesce(sum(settled), 0)::bigint as nano
     from usage_record where key_id = $1 or $1 = any (scopes)`,
    [limitId],
  );
  return { served: Number(row?.served ?? 0n), nano: row?.nano ?? 0n };
};

const stateOf = async ({ limitId }: Limited): Promise<object | undefined> => {
  const [row] = await bed.stack.query("select spent, held from spend_limit where id = $1", [limitId]);
  return row;
};

test.each(["key", "tag"] as const)(
  "live, batch and NATS calls together are served exactly as often as the limit of a %s allows",
  async (subject) => {
    const limited = await createLimited(subject);
    const { workspace, body } = limited;
    const { key } = workspace;
    const openai = new OpenAI({ baseURL: `${bed.target(0).url}/v1`, apiKey: key, maxRetries: 0 });
    const busy = pour(limited.otherKey);
    await eventually("another key of the workspace is on a credit line", async () => {
      return (await metric(bed.stack.ingresses[0]?.adminUrl ?? "", "sluice_credit_line_calls_total")) > 50;
    });
    const lines = Array.from({ length: LINES }, (_, n) =>
      JSON.stringify({ custom_id: String(n), method: "POST", url: "/v1/chat/completions", body: body() }),
    );
    const file = await openai.files.create({
      file: await toFile(Buffer.from(lines.join("\n")), "lines.jsonl"),
      purpose: "batch",
    });
    const publisher = await openPublisher(bed.stack.natsUrl, workspace, key);
    const batch = openai.batches.create({
      input_file_id: file.id,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    });
    const keys = Array.from({ length: MESSAGES }, () => newId());
    const publishing = Promise.all(keys.map((messageKey) => publisher.publish({ body: body() }, { key: messageKey })));
    const live = await Promise.all(Array.from({ length: LIVE }, (_, n) => callOf(limited, n)));
    await publishing;
    const ended = await Promise.all(keys.map((messageKey) => publisher.ended(messageKey, 60_000)));
    const { id } = await batch;
    const done = await eventually("the batch ends", async () => {
    const now = await openai.batches.retrieve(id);
    return now.completed_at != null && now;
  }, 60_000); // prettier-ignore
    await busy.stop();

    const served = live.filter(isServed).length;
    const completed = done.request_counts?.completed ?? 0;
    const published = ended.filter(({ status }) => status === "completed").length;
    expect(served + completed + published).toBe(FIT);
    expect(live.filter((answer) => !isServed(answer)).every(isRefusedByLimit)).toBe(true);
    const refused = ended.filter(({ status }) => status !== "completed");
    expect(refused.map(({ status, error }) => [status, error?.["code"]])).toEqual(
      refused.map(() => ["refused", "key_limit_reached"]),
    );
    expect(done.request_counts).toEqual({ total: LINES, completed, failed: LINES - completed });
    await audit(bed);
    expect(await usageOf(limited)).toEqual({ served: FIT, nano: BigInt(FIT) * FLAT_NANO });
    expect(await stateOf(limited)).toEqual({ spent: BigInt(FIT) * FLAT_NANO, held: 0n });
    await publisher.close();
  },
  180_000,
);

function isRefusedByLimit(answer: Answer): boolean {
  return answer.status === 402 && errorCode(answer) === "key_limit_reached";
}

test.each([
  ["key", "ingress"],
  ["key", "worker"],
  ["tag", "ingress"],
] as const)(
  "the limit of a %s survives the death of one %s: the remainder is served exactly",
  async (subject, role) => {
    const limited = await createLimited(subject);
    const busy = pour(limited.otherKey);
    const racing = Array.from({ length: LIVE }, async (_, n) => {
      await Bun.sleep(n);
      return callOf(limited, n, { stream: n % 3 === 0 });
    });
    await Bun.sleep(150);
    const [mortal] = role === "ingress" ? bed.stack.ingresses : bed.stack.workers;
    mortal?.kill("SIGKILL");
    await mortal?.exited();
    await Promise.all(racing);
    await busy.stop();
    await mortal?.restart();
    await audit(bed, { withinMs: 60_000, untaken: LIVE });
    const before = await usageOf(limited);
    expect(before.nano).toBeLessThanOrEqual(BigInt(FIT) * FLAT_NANO);
    expect(await stateOf(limited)).toEqual({ spent: before.nano, held: 0n });

    const rest = await Promise.all(Array.from({ length: FIT }, (_, n) => callOf(limited, n)));
    expect(rest.filter(isServed)).toHaveLength(FIT - before.served);
    await audit(bed, { withinMs: 60_000, untaken: LIVE });
    expect(await stateOf(limited)).toEqual({ spent: BigInt(FIT) * FLAT_NANO, held: 0n });
  },
  240_000,
);
