/** Results as pictures, players, 3D views and texts, each with its size and a download. */
import type { JSX } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useState } from "preact/hooks";

import { useQuery } from "../api/query.ts";
import { durationText, sizeText } from "./format.ts";
import { Icon } from "./icon.tsx";

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

/** Maximum size of a text that is shown, in characters. */
const TEXT_CHARS_MAX = 20_000;
const TEXTS = /^text\/|\/(?:json|xml|javascript|yaml|x-ndjson|jsonl)\b|\+json|\+xml$/;

export function MediaFigure({ media }: { readonly media: Media }): JSX.Element {
  const { src, name, type, bytes, seconds } = media;
  const facts = [
    name,
    seconds === undefined ? "" : durationText(seconds * 1_000),
    bytes === undefined ? "" : sizeText(bytes),
  ];
  return (
    <figure class="media">
      <MediaBody {...media} />
      <figcaption class="row">
        <span class="cut" title={type}>
          {facts.filter(Boolean).join(" · ")}
        </span>
        <a class="btn quiet small push" href={src} download={name}>
          <Icon name="dl" small />
          Download
        </a>
      </figcaption>
    </figure>
  );
}

function MediaBody({ src, type, name }: Media): JSX.Element {
  if (type.startsWith("image/") && !type.includes("tiff")) return <img src={src} alt={name} />;
  if (type.startsWith("audio/") && !/pcm|L16/.test(type)) return <audio src={src} controls aria-label={name} />;
  if (type.startsWith("video/")) return <video src={src} controls aria-label={name} />;
  if (type === "model/gltf-binary") {
    return (
      <Suspense fallback={<p class="hint">Loading the 3D view</p>}>
        <MeshView src={src} name={name} />
      </Suspense>
    );
  }
  if (TEXTS.test(type)) return <TextBody src={src} />;
  return <p class="hint">{`The browser cannot show ${type}. Download the file to open it.`}</p>;
}

function TextBody({ src }: { readonly src: string }): JSX.Element {
  const { data, fault } = useQuery(`text ${src}`, async (signal) => (await fetch(src, { signal })).text());
  if (fault !== undefined) return <p class="hint error">{fault.message}</p>;
  return (
    <pre class="text-body" tabIndex={0}>
      {data?.slice(0, TEXT_CHARS_MAX)}
      {data !== undefined && data.length > TEXT_CHARS_MAX ? "\n…" : ""}
    </pre>
  );
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
