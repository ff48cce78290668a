/**
 * Cost of deleting the pod that this process is, as Kubernetes is told it: the busier, the dearer, so that a Deployment that shrinks gives its
 * idle pods first. A hint: what runs in a pod that is deleted all the same has its grace.
 */
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";

import type { Logger } from "#shared/logger.ts";

/** Name of the annotation (kubernetes.io/docs/reference/labels-annotations-taints); without it a pod costs 0. */
const ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";
/** The cluster keeps every change, so they are few. */
const LOOK_MS = 30_000;
/** Less than a step of a stop has. */
const TIMEOUT_MS = 3_000;
const ANSWER_BYTES_MAX = 1_048_576;

interface DeletionCostOptions {
  readonly podName: string;
  /** Pieces of work in hand. */
  readonly busy: () => number;
  readonly log: Logger;
  /** Folder of the pod's account: token, ca.crt and namespace. */
  readonly account?: string;
  /** Origin of the cluster's API, which its certificate names. */
  readonly api?: string;
  readonly lookMs?: number;
}

export interface DeletionCost {
  /** Resolves when nothing is told any more. */
  close(): Promise<void>;
}

/**
 * Tells the cost now and then, while it changes.
 * @throws Error when the pod has no account at the cluster's API
 */
export async function openDeletionCost({
  podName,
  busy,
  log,
  account = "/var/run/secrets/kubernetes.io/serviceaccount",
  api = "https://kubernetes.default.svc",
  lookMs = LOOK_MS,
}: DeletionCostOptions): Promise<DeletionCost> {
  const read = async (name: string): Promise<string> => (await readFile(join(account, name), "utf8")).trim();
  const [namespace, ca] = await Promise.all([read("namespace"), read("ca.crt"), read("token")]).catch(
    (error: unknown) => {
      throw new Error("SLUICE_POD_NAME is set, and its pod has no token for the cluster's API; see deploy/kubernetes", {
        cause: error,
      });
    },
  );
  const url = `${api}/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(podName)}`;
  /** Unknown at first and after a failure: the container before this one, or a patch whose answer was lost, may have told another. */
  let told: number | undefined;
  let isFailing = false;
  let telling: Promise<void> | undefined;

  const tell = async (): Promise<void> => {
    const cost = costOf(busy());
    if (cost === told) return;
    try {
      // The token is replaced before it expires.
      await annotate(url, { token: await read("token"), ca, cost });
      told = cost;
      isFailing = false;
    } catch (error) {
      told = undefined;
      if (!isFailing) log.warn({ err: error }, "the cluster was not told what this pod costs to delete");
      isFailing = true;
    }
  };
  const clock = setInterval(() => {
    telling ??= tell().finally(() => {
      telling = undefined;
    });
  }, lookMs);
  return {
    async close() {
      clearInterval(clock);
      await telling;
    },
  };
}

/** Returns the cost of a pod with so much in hand: its highest power of two, so that it seldom changes. */
function costOf(busy: number): number {
  return busy < 1 ? 0 : 2 ** Math.floor(Math.log2(busy));
}

/** Sends one merge patch. @throws Error when it was not taken */
function annotate(
  url: string,
  { token, ca, cost }: { readonly token: string; readonly ca: string; readonly cost: number },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/merge-patch+json" };
  // No proxy of the providers' stands before it, as one would before fetch.
  const sent = request(url, { method: "PATCH", headers, ca }, (answer) => {
    let bytes = 0;
    answer.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > ANSWER_BYTES_MAX) answer.destroy(new Error("the answer of the cluster's API is too large"));
    });
    answer.on("error", reject);
    answer.on("end", () => {
      if (answer.statusCode === 200) resolve();
      else reject(new Error(`the cluster's API answered with status ${answer.statusCode}`));
    });
  });
  const giveUp = setTimeout(() => sent.destroy(new Error("the cluster's API did not answer in time")), TIMEOUT_MS);
  sent.on("error", reject);
  sent.end(JSON.stringify({ metadata: { annotations: { [ANNOTATION]: String(cost) } } }));
  return promise.finally(() => clearTimeout(giveUp));
}
