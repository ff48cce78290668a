/** Local sites, and visits of them as a worker and its child make them. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { CHECKS } from "#shared/calls/capabilities/list.ts";
import { allow, listen, type Listening } from "#tests/shared/net/servers.ts";
import { openPageGuard } from "#workers/calls/capability/page-guard.ts";
import { readInputs } from "#workers/calls/capability/inputs.ts";
import type { RunOutput } from "#workers/capabilities/define.ts";
import { loadCapability } from "#workers/capabilities/list.ts";
import { isVisitAllowed } from "#workers/capabilities/web/robots.ts";

import { toolsFor } from "./in-folder.ts";

export interface Visit extends RunOutput {
  readonly output: Readonly<Record<string, unknown>>;
  bytes(at?: number): Uint8Array;
}

export interface Sites {
  /** A server that visits may reach. */
  open(handler: RequestListener | Readonly<Record<string, string>>): Promise<Listening>;
  /** One that they may not. */
  openInside(): Promise<Listening>;
  visit(id: string, url: string, params?: object, signal?: AbortSignal): Promise<Visit>;
  close(): void;
}

export function openSites(): Sites {
  const closing: (() => void)[] = [];
  const open: string[] = [];
  const kept = (server: Listening): Listening => {
    closing.push(() => server.close());
    return server;
  };
  return {
    async open(handler) {
      const server = kept(await listen(typeof handler === "function" ? handler : pages(handler)));
      open.push(`127.0.0.1:${server.port}`);
      allow(...open);
      return server;
    },
    openInside: async () => kept(await listen((_request, response) => response.end("inside"))),
    async visit(id, url, params = {}, signal = new AbortController().signal) {
      const capability = await loadCapability(id);
      const checked = CHECKS.get(id)?.({ input: { url }, params });
      if (!checked) throw new Error(`${id} is not generated`);
      const folder = mkdtempSync(join(tmpdir(), "sluice-web-"));
      closing.push(() => rmSync(folder, { recursive: true, force: true }));
      const inputs = await readInputs({
        // No file is stored: nothing of it is used.
        context: {} as never,
        workspaceId: "none",
        folder,
        members: capability.members,
        ...checked,
        stored: {},
        reserveBytes: () => Promise.resolve(),
        judgeRobots: (task) => Promise.resolve(isVisitAllowed(task)),
        signal,
      });
      const guard = openPageGuard(folder, signal);
      closing.push(() => void guard.close());
      const asked = { params: checked.params, inputs, folder, progress: () => undefined };
      const made = await capability.run({
        ...asked,
        tools: await toolsFor(capability, checked.params),
        guard: guard.socket,
      } as never);
      return { ...made, output: made.output ?? {}, bytes: (at = 0) => readFileSync(made.files?.[at]?.path ?? "") };
    },
    close() {
      allow();
      open.length = 0;
      for (const close of closing.splice(0)) close();
    },
  };
}

/** Texts by path, as what their ends say; anything else is not found. */
function pages(texts: Readonly<Record<string, string>>): RequestListener {
  return ({ url = "" }, response) => {
    const path = url.split("?", 1).join("");
    const text = texts[path];
    const type = { txt: "text/plain", xml: "application/xml", json: "application/json" }[path.split(".").at(-1) ?? ""];
    if (text === undefined) response.writeHead(404).end("not here");
    else response.setHeader("content-type", type ?? "text/html; charset=utf-8").end(text);
  };
}
