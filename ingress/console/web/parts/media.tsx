/** Results and stored files as pictures, players, 3D views and texts, each with its size and a download. */
import type { JSX } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";

import { faultIn, send } from "../api/client.ts";
import { useAction, useQuery } from "../api/query.ts";
import { mayReadFiles } from "../api/stored-files.ts";
import { downloadFile, downloadLink } from "./download.ts";
import { Button } from "./form.tsx";
import { durationText, sizeText } from "./format.ts";
import { FaultCallout } from "./layers.tsx";

export interface Media {
  /** Address in the service or of a blob, so that the page's policy permits it. */
  readonly src: string;
  /** Media type. */
  readonly type: string;
  readonly name: string;
  readonly bytes?: number | undefined;
  readonly seconds?: number | undefined;
}

/** Loaded with the first mesh, because its library is larger than the rest of the console. */
const MeshView = lazy(() => import("./mesh-view.tsx"));

/** Maximum size of the shown start of a text, in bytes. */
const TEXT_BYTES_MAX = 64_000;
/** Maximum size of media that a preview loads as a whole, in bytes. Recordings and videos behind a link are streamed at any size. */
const MEDIA_BYTES_MAX = 32_000_000;
/** Maximum duration of the loading of a stored file, in milliseconds: its largest preview at about 5 Mbit/s. */
const FILE_TIMEOUT_MS = 60_000;
const TEXTS = /^text\/|\/(?:json|xml|javascript|yaml|x-ndjson|jsonl|x-subrip)\b|\+json|\+xml$/;

/** Size from which the browser downloads a result itself, with its progress, under the name that the service gives it, in bytes. */
const LARGE_BYTES = 100_000_000;

const isLarge = ({ bytes = 0 }: Media): boolean => bytes >= LARGE_BYTES;

async function openLink(src: string): Promise<void> {
  const link = document.createElement("a");
  link.href = src;
  link.download = "";
  link.click();
}

export function MediaFigure({
  media,
  id,
  save = () => (isLarge(media) ? openLink(media.src) : downloadLink(media.src, media.name)),
}: {
  readonly media: Media;
  /** Id of the stored file. Absent: the file is not stored. */
  readonly id?: string | undefined;
  /** Downloads the file. Absent: the download is `src`. */
  readonly save?: () => Promise<void>;
}): JSX.Element {
  const { name, type, bytes, seconds } = media;
  const saving = useAction(save);
  const facts = [
    name,
    type,
    seconds === undefined ? "" : durationText(seconds * 1_000),
    bytes === undefined ? "" : sizeText(bytes),
  ];
  return (
    <figure class="media">
      <MediaBody {...media} />
      <figcaption class="row">
        <span class="grow">{facts.filter(Boolean).join(" · ")}</span>
        {id === undefined || !mayReadFiles() ? null : (
          <Link class="btn quiet small" href={`/capabilities?file=${id}`}>
            Use in…
          </Link>
        )}
        <Button kind="quiet" small icon="dl" isRunning={saving.isRunning} onClick={() => saving.run()}>
          Download
        </Button>
      </figcaption>
    </figure>
  );
}

type View = "image" | "audio" | "video" | "mesh" | "text" | "none";

function viewOf(type: string): View {
  if (type.startsWith("image/")) return type.includes("tiff") ? "none" : "image";
  if (type.startsWith("audio/")) return /pcm|L16/.test(type) ? "none" : "audio";
  if (type.startsWith("video/")) return "video";
  if (type === "model/gltf-binary") return "mesh";
  return TEXTS.test(type) ? "text" : "none";
}

/** Returns true for a file that a preview needs as a whole. */
const isWhole = (view: View): boolean => view !== "text" && view !== "none";

function MediaBody({ src, type, name, bytes = 0 }: Media): JSX.Element {
  const [isRefused, setRefused] = useState(false);
  const view = isRefused ? "none" : viewOf(type);
  const isStreamed = (view === "audio" || view === "video") && !src.startsWith("blob:");
  if (isWhole(view) && !isStreamed && bytes > MEDIA_BYTES_MAX) {
    return <p class="hint">{`Previews load at most ${sizeText(MEDIA_BYTES_MAX)}. Download the file to open it.`}</p>;
  }
  const props = { src, onError: () => setRefused(true) };
  if (view === "image") return <img {...props} alt={name} />;
  if (view === "audio") return <audio {...props} controls aria-label={name} />;
  if (view === "video") return <video {...props} controls aria-label={name} />;
  if (view === "mesh") {
    return (
      <Suspense fallback={<p class="hint">Loading the 3D view</p>}>
        <MeshView src={src} name={name} />
      </Suspense>
    );
  }
  if (view === "text") return <TextBody src={src} bytes={bytes} />;
  return <p class="hint">{`There is no preview of ${type}. Download the file to open it.`}</p>;
}

function TextBody({ src, bytes }: { readonly src: string; readonly bytes: number }): JSX.Element {
  const { data, fault, reload } = useQuery(`text ${src}`, async (signal) => {
    const response = await fetch(src, { signal, headers: START });
    if (!response.ok) throw faultIn(response.status, await response.text(), null);
    // A browser may ignore the range of a blob. `stream` drops a character that the cut has halved.
    const start = (await response.arrayBuffer()).slice(0, TEXT_BYTES_MAX);
    return new TextDecoder().decode(start, { stream: true });
  });
  if (fault !== undefined) return <FaultCallout fault={fault} retry={reload} />;
  return (
    <>
      <pre class="text-body" tabIndex={0}>
        {data}
      </pre>
      {bytes > TEXT_BYTES_MAX ? (
        <p class="hint">{`The first ${sizeText(TEXT_BYTES_MAX)} of ${sizeText(bytes)} are shown.`}</p>
      ) : null}
    </>
  );
}

/** Request header for the start of a file that a text preview shows. */
const START = { range: `bytes=0-${TEXT_BYTES_MAX - 1}` };

/** Preview of a stored file that is not empty. Its content needs the console's header, so it is loaded into memory, up to a bound. */
export function FilePreview({ id, name }: { readonly id: string; readonly name: string }): JSX.Element {
  const { data, fault, reload } = useQuery(`content ${id}`, (signal) => loadPreview(id, signal), {
    timeoutMs: FILE_TIMEOUT_MS,
  });
  const src = useBlobUrl(data?.blob);
  if (fault !== undefined) return <FaultCallout fault={fault} retry={reload} />;
  if (data === undefined || src === undefined) return <p class="hint">Loading</p>;
  return (
    <MediaFigure
      media={{ src, name, type: data.blob.type.replace(/;.*/, ""), bytes: data.bytes }}
      id={id}
      save={() => downloadFile(id, name)}
    />
  );
}

/** Loads the start of a stored file, or all of it if its preview needs that and its size permits it. `bytes`: size of the file */
async function loadPreview(id: string, signal: AbortSignal): Promise<{ readonly blob: Blob; readonly bytes: number }> {
  const load = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    send("GET /v1/files/{file_id}/content", { path: { file_id: id }, headers, signal });
  const start = await load(START);
  const blob = await start.blob();
  const bytes = Number(start.headers.get("content-range")?.split("/")[1] ?? blob.size);
  const isCut = isWhole(viewOf(blob.type)) && bytes > blob.size && bytes <= MEDIA_BYTES_MAX;
  return { blob: isCut ? await (await load({})).blob() : blob, bytes };
}

/** Returns the address of a link of the service on the page's own origin: the service may have a public name that differs. */
export function ownPath(url: string): string {
  const { pathname, search } = new URL(url, location.origin);
  return pathname + search;
}

/** Returns the address of a blob, which is released when the component leaves; undefined for no blob. */
export function useBlobUrl(blob: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (blob === undefined) {
      setUrl(undefined);
      return undefined;
    }
    const next = URL.createObjectURL(blob);
    setUrl(next);
    return () => URL.revokeObjectURL(next);
  }, [blob]);
  return url;
}
