/**
 * A bed for image jobs: the service with a local fal behind the model `queued` (a credit a picture), a gallery that keeps what
 * fal names, and a proxy before the object store. Jobs are told apart by their prompts.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "bun:test";

import { FILES_PREFIX } from "#shared/files/id.ts";
import { listObjects } from "#shared/storage/objects.ts";
import { type FalServer, type Script, startFalServer } from "#tests/providers/fal/server.ts";
import { storageOf } from "#tests/shared/files/bench.ts";
import { pngOf } from "#tests/support/png.ts";
import { sharedS3Url, temporaryDirectory } from "#tests/support/infrastructure.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { type Stack, type StackOptions, startStack } from "#tests/support/stack.ts";
import { type Fate, startTcpProxy, type TcpProxy } from "#tests/support/tcp-proxy.ts";

import { type Answer, type Client, createClient, type Live, type Target } from "./client.ts";
import { eventually } from "./wait.ts";

export const CREDIT = 1_000_000_000n;
export const FAL_KEY = "key-of-the-local-fal";

export interface JobFacts {
  readonly id: string;
  readonly state: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly dispatch: number;
  readonly credits: bigint | null;
  readonly unknown_since: Date | null;
  readonly ended_at: Date | null;
}

export interface UsageFacts {
  readonly status: string;
  readonly settled: bigint;
}

export interface MediaBed {
  readonly stack: Stack;
  readonly client: Client;
  readonly fal: FalServer;
  readonly gallery: Gallery;
  /** Before the object store, for every role. */
  readonly s3: TcpProxy;
  target(path?: string, ingress?: number): Target;
  /** A worker with settings of its own; the bed ends it. */
  addWorker(pools: readonly string[], env?: Readonly<Record<string, string>>): Promise<ManagedProcess>;
  /** Makes a call for fal, and resolves once fal has it. */
  place(prompt: string, script: Script, body?: Readonly<Record<string, unknown>>, ingress?: number): Promise<Placed>;
  /** Has requests for objects under `prefix` meet these fates, in their order; everything else passes. */
  storeFails(method: "GET" | "PUT", prefix: string, ...fates: readonly Fate[]): void;
  /** Number of requests to the object store that have met another fate than to pass. */
  storeFaults(): number;
  submissions(prompt: string): number;
  /** Jobs that have not ended and whose request has this prompt. */
  openJobs(prompt: string): Promise<JobFacts[]>;
  jobOf(id: string): Promise<JobFacts | undefined>;
  /** The job once it is as wished. */
  jobWhen(id: string, isSo: (job: JobFacts) => boolean, withinMs?: number): Promise<JobFacts>;
  /** Fetches the job as its owner sees it. */
  shown(id: string): Promise<Response>;
  usageOf(id: string): Promise<UsageFacts[]>;
  /** Holds of jobs of unknown outcome, as an operator sees them. */
  listedUnknown(): Promise<string[]>;
  /** Makes jobs of unknown outcome due to be asked about at once. */
  askAgain(): Promise<void>;
  /** More than a day has passed since nobody could tell. */
  writeOff(): Promise<void>;
  /** The leases of uploads run out, only sooner. */
  expireUploads(): Promise<void>;
  stored(): Promise<StoredFacts>;
  stop(): Promise<void>;
}

export interface Placed {
  readonly id: string;
  readonly answer: Promise<Answer>;
  readonly live: Promise<Live>;
}

/** Stored files, as three witnesses have them. */
export interface StoredFacts {
  /** Ids of files of which there are bytes. */
  readonly objects: readonly string[];
  readonly rows: readonly string[];
  readonly rowBytes: bigint;
  readonly used: bigint;
  readonly reserved: bigint;
}

/** @param options over one ingress, a janitor and a worker of pool `image` */
export async function startMediaBed({ env, ...options }: StackOptions = {}): Promise<MediaBed> {
  const closing: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (let close = closing.pop(); close; close = closing.pop()) await close();
  };
  try {
    const folder = temporaryDirectory();
    closing.push(() => folder.remove());
    const fal = startFalServer({ apiKey: FAL_KEY });
    closing.push(() => fal.close());
    const gallery = openGallery();
    closing.push(() => gallery.close());
    const s3 = startTcpProxy(new URL(await sharedS3Url()).host);
    closing.push(() => s3.close());
    const catalogue = join(folder.directory, "catalogue.yaml");
    writeFileSync(catalogue, catalogueOf(fal.url));
    const stack = await startStack({
      apart: true,
      pools: ["image"],
      env: {
        SLUICE_CATALOGUE: catalogue,
        LOCAL_FAL_API_KEY: FAL_KEY,
        SLUICE_OUTBOUND_ALLOW: new URL(gallery.url).host,
        S3_ENDPOINT: `http://${s3.host}`,
        ...env,
      },
      ...options,
    });
    closing.push(() => stack.stop());
    return { ...assemble(stack, { fal, gallery, s3 }, closing), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const JOB_FACTS = "id, state, epoch, attempt, dispatch, credits, unknown_since, ended_at";

function assemble(
  stack: Stack,
  tools: Pick<MediaBed, "fal" | "gallery" | "s3">,
  closing: (() => unknown)[],
): Omit<MediaBed, "stop"> {
  const { fal, s3 } = tools;
  const client = createClient();
  const target: MediaBed["target"] = (path = "/v1/images/generations", ingress = 0) => ({
    url: stack.baseUrls[ingress] ?? "",
    key: stack.key,
    path,
  });
  const submissions = (prompt: string): number =>
    fal.requests.filter(({ method, body }) => method === "POST" && (body as { prompt?: unknown }).prompt === prompt)
      .length;
  const openJobs = (prompt: string): Promise<JobFacts[]> =>
    stack.query<JobFacts>(`select ${JOB_FACTS} from job where ended_at is null and request::jsonb ->> 'prompt' = $1`, [
      prompt,
    ]);
  const jobOf = async (id: string): Promise<JobFacts | undefined> =>
    (await stack.query<JobFacts>(`select ${JOB_FACTS} from job where id = $1`, [id]))[0];
  return {
    ...tools,
    stack,
    client,
    target,
    submissions,
    openJobs,
    jobOf,
    async addWorker(pools, more = {}) {
      const worker = await startRole(["worker", ...pools], { ...stack.env, ...more });
      closing.push(() => worker.stop());
      return worker;
    },
    async place(prompt, script, body = {}, ingress = 0) {
      fal.next(script);
      const { head } = client.begin(target(undefined, ingress), { model: "queued", prompt, ...body });
      const [job] = await eventually(
        `fal has ${prompt}`,
        async () => submissions(prompt) > 0 && (await openJobs(prompt)),
        20_000,
      );
      return { id: job?.id ?? "", live: head, answer: head.then((live) => live.ended) };
    },
    storeFails(method, prefix, ...fates) {
      const left = [...fates];
      s3.decide((line) => (line.startsWith(method) && line.includes(`/${prefix}`) ? (left.shift() ?? "pass") : "pass"));
    },
    storeFaults: () => s3.requests.filter(({ fate }) => fate !== "pass").length,
    jobWhen: (id, isSo, withinMs = 45_000) =>
      eventually(
        `the job ${id} is as wished`,
        async () => {
          const job = await jobOf(id);
          return job && isSo(job) && job;
        },
        withinMs,
      ),
    shown: (id) =>
      fetch(`${stack.baseUrls.at(-1)}/v1/images/jobs/${id}`, { headers: { authorization: `Bearer ${stack.key}` } }),
    usageOf: (id) => stack.query("select status, settled from usage_record where job_id = $1", [id]),
    async listedUnknown() {
      const { code, stdout, stderr } = await stack.command("admin", "holds", "list", "--json");
      if (code !== 0) throw new Error(stderr);
      const rows = JSON.parse(stdout) as { job_id: string; unknown_since: string | null }[];
      return rows.filter((row) => row.unknown_since !== null).map((row) => row.job_id);
    },
    async askAgain() {
      const due = "unknown_since is not null and state = 'running'";
      await stack.query(`update job set ask_at = clock_timestamp() where ${due}`);
    },
    async writeOff() {
      const past = "clock_timestamp() - interval '25 hours'";
      await stack.query(`update job set unknown_since = ${past} where unknown_since is not null`);
    },
    async expireUploads() {
      await stack.query("update file set lease_until = clock_timestamp() where state = 'uploading'");
    },
    stored: () => storedOf(stack),
  };
}

async function storedOf({ env, query }: Stack): Promise<StoredFacts> {
  // Past the proxy.
  const storage = storageOf({ ...env, S3_ENDPOINT: await sharedS3Url() });
  try {
    const { objects } = await listObjects(storage, FILES_PREFIX, undefined, 1_000);
    const rows = await query<{ id: string; bytes: bigint }>("select id, bytes from file where state = 'ready'");
    const [sum] = await query<{ used: bigint; reserved: bigint }>(
      "select coalesce(sum(used), 0)::bigint as used, coalesce(sum(reserved), 0)::bigint as reserved from file_storage",
    );
    return {
      objects: objects.map(({ key }) => key.slice(FILES_PREFIX.length)).toSorted(),
      rows: rows.map(({ id }) => id).toSorted(),
      rowBytes: rows.reduce((total, { bytes }) => total + bytes, 0n),
      used: sum?.used ?? 0n,
      reserved: sum?.reserved ?? 0n,
    };
  } finally {
    storage.close();
  }
}

/** Once nothing is on its way any more, files, their bytes and what workspaces are said to store agree. */
export async function expectStorageExact({ stored }: Pick<MediaBed, "stored">): Promise<void> {
  await eventually("what is stored is what is known", async () => {
    const { objects, rows, rowBytes, used, reserved } = await stored();
    expect({ objects, used, reserved }).toEqual({ objects: rows, used: rowBytes, reserved: 0n });
    return true;
  });
}

export interface Gallery {
  readonly url: string;
  /** Returns fal's answer for when these pictures were made. */
  result(...names: readonly string[]): NonNullable<Script["result"]>;
  /** Pictures of another size than 64 by 48. */
  show(name: string, bytes: Uint8Array): void;
  /** Whoever asks for it waits. */
  hold(name: string): void;
  release(name: string): void;
  asked(name: string): number;
  close(): void;
}

/** Starts the server of fal's results: PNGs of 64 by 48 unless told otherwise. */
function openGallery(): Gallery {
  const pictures = new Map<string, Uint8Array>();
  const held = new Map<string, { readonly released: Promise<void>; readonly release: () => void }>();
  const asked = new Map<string, number>();
  const usual = pngOf(64, 48);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // Those who wait are let go by the test.
    idleTimeout: 0,
    async fetch(request) {
      const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
      asked.set(name, (asked.get(name) ?? 0) + 1);
      await held.get(name)?.released;
      return new Response(new Uint8Array(pictures.get(name) ?? usual), { headers: { "content-type": "image/png" } });
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    result: (...names) => ({
      status: 200,
      body: {
        images: names.map((name) => ({ url: `${url}/${encodeURIComponent(name)}`, content_type: "image/png" })),
        has_nsfw_concepts: names.map(() => false),
      },
    }),
    show: (name, bytes) => void pictures.set(name, bytes),
    hold(name) {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      held.set(name, { released, release });
    },
    release(name) {
      held.get(name)?.release();
      held.delete(name);
    },
    asked: (name) => asked.get(name) ?? 0,
    close: () => void server.stop(true),
  };
}

/** A job that runs at fal until it is told to end. */
export function running(more: Script = {}): Script & { end(): void } {
  let isOver = false;
  return {
    ...more,
    get polls() {
      return [isOver ? ("COMPLETED" as const) : ("IN_PROGRESS" as const)];
    },
    end() {
      isOver = true;
    },
  };
}

/** Returns the catalogue of the model `queued`, a credit a picture, of a fal at this address. */
export function catalogueOf(url: string): string {
  return `
providers:
  - { id: fal-local, family: fal, breaker: off, base_url: "${url}", api_key_env: LOCAL_FAL_API_KEY }
models:
  - slug: queued
    modality: image
    owned_by: mock
    created: 1700000000
    pricing: { unit: per_image, image_price: "1" }
    allowed_params: { max_n: 4, response_formats: [url, b64_json] }
    sources: [{ provider: fal-local, model: fal-ai/flux/schnell, fields: { n: num_images, seed: seed } }]
`;
}
