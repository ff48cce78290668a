/** The thread that renders the documentation: markdown, colours and search would block the calls of an ingress for up to a second. */
import { type ApiSource, type Asked, openSite, type Site } from "./site.ts";

/** Messages to the thread: first the source of the API reference, then requests. */
export type ToThread = { readonly api: ApiSource } | { readonly id: number; readonly asked: Asked };

export type FromThread =
  | {
      readonly id: number;
      readonly text: string;
      readonly nearest?: { readonly address: string; readonly title: string };
    }
  | {
      readonly id: number;
      readonly fault: string;
      /** True when the thread cannot respond to any request. */
      readonly isFatal: boolean;
    };

declare const self: Worker;

let site: Promise<Site> | undefined;

self.addEventListener("message", ({ data }: MessageEvent<ToThread>) => {
  if ("api" in data) site = openSite(data.api);
  else void respond(data.id, data.asked);
});

async function respond(id: number, asked: Asked): Promise<void> {
  let opened: Site | undefined;
  try {
    opened = await site;
    if (!opened) throw new Error("the thread has no source of the API reference");
    postMessage({ id, ...(await opened.answer(asked)) } satisfies FromThread);
  } catch (error) {
    const fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
    postMessage({ id, fault, isFatal: opened === undefined } satisfies FromThread);
  }
}
