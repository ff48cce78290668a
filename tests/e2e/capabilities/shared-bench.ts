/** One running service for the stories of this folder: starting one for each takes longer than most of them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { listen, type Listening } from "#tests/shared/net/servers.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

import { type CapabilityBench, startCapabilityBench } from "./bench.ts";

export interface SharedBench extends CapabilityBench {
  /** Pages that the workers may read. */
  readonly site: Listening;
}

/** Settings for two capabilities by the operator of this stack. */
const TERMS = `capabilities:
  - id: code.diff
    pricing: { unit: per_operation, operation_price: "0.5" }
  - id: code.highlight
    disabled: true
`;

let started: Promise<SharedBench> | undefined;

export function sharedBench(): Promise<SharedBench> {
  started ??= start();
  return started;
}

async function start(): Promise<SharedBench> {
  const { directory, remove } = temporaryDirectory();
  const catalogue = join(directory, "terms.yaml");
  writeFileSync(catalogue, TERMS);
  const site = await listen(({ url }, response) => {
    if (url === "/red.css") response.setHeader("content-type", "text/css").end("body { background: rgb(255, 0, 0) }");
    else if (url === "/styled")
      response.setHeader("content-type", "text/html").end("<link rel=stylesheet href=red.css><h1>Tea</h1>");
    else if (url === "/inside") response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    else if (url === "/robots.txt") response.end("User-agent: *\nDisallow: /private");
    else response.setHeader("content-type", "text/html").end("<h1>Tea</h1><p>Of <a href='/green'>green</a> tea.</p>");
  });
  const bench = await startCapabilityBench({
    // One story watches the children of the worker.
    apart: true,
    env: { SLUICE_CATALOGUE: catalogue, SLUICE_OUTBOUND_ALLOW: `127.0.0.1:${site.port}` },
  });
  const stop = async (): Promise<void> => {
    await bench.stop();
    site.close();
    remove();
  };
  return { ...bench, site, stop };
}
