/**
 * Reports the pod-deletion cost of this process's pod to Kubernetes. A busier pod costs more, so that a shrinking Deployment deletes idle
 * pods first. The cost is only a hint: jobs on a deleted busy pod still have the grace period to end.
 */
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";

import type { Logger } from "#shared/base/logger.ts";

/**
 * Name of the pod annotation with the deletion cost (kubernetes.io/docs/reference/labels-annotations-taints). A pod without it has cost 0.
 */
const ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";
/** Interval of the reports, in milliseconds. Reports are rare because the cluster stores every change. */
const REPORT_INTERVAL_MS = 30_000;
/** Timeout of one report, in milliseconds. It is shorter than the time allowed for a shutdown step. */
const TIMEOUT_MS = 3_000;
const ANSWER_BYTES_MAX = 1_048_576;

interface DeletionCostOptions {
  readonly podName: string;
  /** Returns the number of jobs and other tasks that are running. */
  readonly busy: () => number;
  readonly log: Logger;
  /** Folder of the pod's service account, which contains `token`, `ca.crt` and `namespace`. */
  readonly account?: string;
  /** Origin of the Kubernetes API, as in its certificate. */
  readonly api?: string;
  readonly reportIntervalMs?: number;
}

export interface DeletionCost {
  /** Stops the reports. Resolves when the current report has ended. */
  close(): Promise<void>;
}

/**
 * Reports the deletion cost at intervals, if it has changed.
 * @throws Error if the pod has no service account for the Kubernetes API
 */
export async function openDeletionCost({
  podName,
  busy,
  log,
  account = "/var/run/secrets/kubernetes.io/serviceaccount",
  api = "https://kubernetes.default.svc",
  reportIntervalMs = REPORT_INTERVAL_MS,
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
  /**
   * Last cost that the cluster has confirmed. Undefined at first and after a failed report, because the cluster may then have another
   * value. The next report is then always sent.
   */
  let reportedCost: number | undefined;
  let isFailing = false;
  let reporting: Promise<void> | undefined;

  const report = async (): Promise<void> => {
    const cost = costOf(busy());
    if (cost === reportedCost) return;
    try {
      // Read again each time, because the token is replaced before it expires.
      await annotate(url, { token: await read("token"), ca, cost });
      reportedCost = cost;
      isFailing = false;
    } catch (error) {
      reportedCost = undefined;
      if (!isFailing) log.warn({ err: error }, "this pod's deletion cost could not be reported to the cluster");
      isFailing = true;
    }
  };
  const clock = setInterval(() => {
    reporting ??= report().finally(() => {
      reporting = undefined;
    });
  }, reportIntervalMs);
  return {
    async close() {
      clearInterval(clock);
      await reporting;
    },
  };
}

/**
 * Returns the deletion cost for a number of running tasks. It is the highest power of two up to this number, so that the cost rarely
 * changes.
 */
function costOf(busy: number): number {
  return busy < 1 ? 0 : 2 ** Math.floor(Math.log2(busy));
}

/**
 * Sets the annotation of the pod with one merge patch.
 * @throws Error if the Kubernetes API rejects the patch
 */
function annotate(
  url: string,
  { token, ca, cost }: { readonly token: string; readonly ca: string; readonly cost: number },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/merge-patch+json" };
  // Not `fetch`, which would use the proxy for providers.
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
