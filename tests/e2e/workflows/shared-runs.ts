/** Running services for the stories of this folder: starting one for each takes longer than most of them. */
import { listen, PNG } from "#tests/shared/net/servers.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type RunsBench, runsBenchOf, startRunsBench } from "./runs-bench.ts";

let plain: Promise<RunsBench> | undefined;
let wide: Promise<FailingSiteRuns> | undefined;

/** With the pools that most runs need. */
export function sharedRuns(): Promise<RunsBench> {
  plain ??= startRunsBench();
  return plain;
}

export interface FailingSiteRuns extends RunsBench {
  /** Address of a page whose first requests fail: with a status, or with a broken connection if the status is 0. */
  readonly failingPage: (status: number, times: number) => string;
  /** Number of requests for an address of `failingPage`. */
  readonly requestsFor: (address: string) => number;
}

/** With images too, for estimates and templates, and with a site that steps may read. */
export function sharedMediaRuns(): Promise<FailingSiteRuns> {
  wide ??= startFailingSiteRuns();
  return wide;
}

async function startFailingSiteRuns(): Promise<FailingSiteRuns> {
  const pages = new Map<string, { readonly status: number; readonly times: number; asked: number }>();
  const site = await listen(({ url = "" }, response) => {
    const page = pages.get(site.url(url));
    if (page && ++page.asked > page.times) response.setHeader("content-type", "image/png").end(PNG);
    else if (page?.status === 0) response.destroy();
    else response.writeHead(page?.status ?? 404).end();
  });
  const bench = await startRunsBench({
    pools: ["chat", "image", "capability", "workflow"],
    env: { SLUICE_WORKER_SLOTS: "64", SLUICE_OUTBOUND_ALLOW: `127.0.0.1:${site.port}` },
  });
  return {
    ...bench,
    failingPage: (status, times) => {
      const address = site.url(`/${pages.size}`);
      pages.set(address, { status, times, asked: 0 });
      return address;
    },
    requestsFor: (address) => pages.get(address)?.asked ?? 0,
    async close() {
      await bench.close();
      site.close();
    },
  };
}

export type WorkspaceRuns = RunsBench & Pick<Tenant, "workspace">;

/** Runs of a workspace of one's own on a service that is shared. */
export async function runsOfNewWorkspace(shared: Promise<RunsBench>): Promise<WorkspaceRuns> {
  const tenant = await asNewWorkspace((await shared).stack);
  return { ...runsBenchOf(tenant), workspace: tenant.workspace };
}
