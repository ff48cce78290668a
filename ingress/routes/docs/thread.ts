/** Thread that renders the documentation. Markdown, colours and search would otherwise block an ingress's calls for up to a second. */
import type { OpenApiDocument } from "./api/document.ts";
import { type ApiSource, type Asked, openSite, type Site } from "./site.ts";

/** Source of the API reference. The OpenAPI document is JSON text, which can be copied to the thread without blocking the ingress. */
export interface SourceText extends Pick<ApiSource, "facts"> {
  readonly document: string;
}

/** Messages to the thread: first the source of the API reference, then requests. */
export type ToThread = { readonly api: SourceText } | { readonly id: number; readonly asked: Asked };

export type FromThread =
  | {
      readonly id: number;
      readonly text: string;
      readonly nearest?: { readonly address: string; readonly title: string };
    }
  | {
      readonly id: number;
      readonly fault: string;
      /** True when the thread cannot answer any request. */
      readonly isFatal: boolean;
    };

declare const self: Worker;

let site: Promise<Site> | undefined;

self.addEventListener("message", ({ data }: MessageEvent<ToThread>) => {
  if ("api" in data) site = open(data.api);
  else void respond(data.id, data.asked);
});

async function open({ document, facts }: SourceText): Promise<Site> {
  return openSite({ document: JSON.parse(document) as OpenApiDocument, facts });
}

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
