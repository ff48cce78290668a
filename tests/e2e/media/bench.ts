/** Shared parts of the tests of media endpoints: a running service with every pool, a stock client, the books. */
import OpenAI from "openai";

import type { Job } from "#schemas/generated/types.ts";
import { eventually } from "#tests/faults/wait.ts";
import { startStack, type Stack, type StackOptions } from "#tests/support/stack.ts";

export const CREDIT = 1_000_000_000n;

export interface UsageRow {
  readonly status: string;
  readonly settled: bigint;
  readonly units: Readonly<Record<string, number>>;
  readonly source: string | null;
  readonly is_estimated: boolean;
}

export interface Bench {
  readonly stack: Stack;
  readonly client: OpenAI;
  /** JSON with the bench's key; a body makes it a POST. */
  call(path: string, body?: unknown): Promise<Response>;
  usageOf(response: Response | { readonly headers: Headers } | string): Promise<UsageRow[]>;
  jobOf(id: string): Promise<Job>;
  /** The job as it ended. */
  endOf(id: string, withinMs?: number): Promise<Job>;
  /** Fails where the books do not add up or money is still held. */
  close(): Promise<void>;
}

/** @param options over a stack with one worker of every media pool */
export async function startBench(options: StackOptions = {}): Promise<Bench> {
  return benchOf(await startStack({ pools: ["image", "audio", "video", "3d"], ...options }));
}

/** A bench with the stack's key. */
export function benchOf(stack: Stack): Bench {
  const [url] = stack.baseUrls;
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: stack.key, maxRetries: 0 });

  const call = (path: string, body?: unknown): Promise<Response> =>
    fetch(url + path, {
      headers: {
        authorization: `Bearer ${stack.key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });

  const jobOf = async (id: string): Promise<Job> => (await (await call(`/v1/images/jobs/${id}`)).json()) as Job;

  return {
    stack,
    client,
    call,
    async usageOf(of) {
      const id = typeof of === "string" ? of : of.headers.get("x-request-id");
      await stack.settled();
      return stack.query<UsageRow>(
        "select status, settled, units, source, is_estimated from usage_record where job_id = $1",
        [id],
      );
    },
    jobOf,
    endOf: (id, withinMs = 60_000) =>
      eventually(
        "the job ends",
        async () => {
          const job = await jobOf(id);
          return job.status !== "queued" && job.status !== "processing" && job;
        },
        withinMs,
      ).catch(async (error: unknown) => {
        // What holds it up stands in its row.
        const [row] = await stack.query("select to_jsonb(job) - 'request' as job from job where id = $1", [id]);
        throw new Error(`the job does not end: ${JSON.stringify(row)}`, { cause: error });
      }),
    async close() {
      await stack.settled();
      const [faults, holds] = [
        await stack.query("select * from audit_ledger()"),
        await stack.query("select * from hold"),
      ];
      await stack.stop();
      if (faults.length > 0 || holds.length > 0) throw new Error(`the books: ${Bun.inspect({ faults, holds })}`);
    },
  };
}

/** The error of an answer in the envelope. */
export async function errorOf(response: Response): Promise<{
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly job_id?: string;
}> {
  const { error } = (await response.json()) as { error: { code: string; param: string | null; job_id?: string } };
  return { status: response.status, ...error };
}
