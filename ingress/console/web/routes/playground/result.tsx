/** Result of a call: progress while it runs, then pictures, players, texts or JSON, with its charge and request. */
import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { ApiFault } from "../../api/client.ts";
import { shortId } from "../../api/names-of.ts";
import { useCall } from "../../api/query.ts";
import { Json } from "../../parts/code.tsx";
import { Button } from "../../parts/form.tsx";
import { durationText } from "../../parts/format.ts";
import { Callout } from "../../parts/layers.tsx";
import { FilePreview, MediaFigure, ownPath, useBlobUrl } from "../../parts/media.tsx";
import { Empty } from "../../parts/table.tsx";
import { Amount, ProgressBar, Status } from "../../parts/values.tsx";
import type { Result, Runner, RunState } from "./run.ts";

export function ResultPanel({ runner: { state, cancel } }: { readonly runner: Runner }): JSX.Element {
  const { panel, heading } = useArrival(state);
  return (
    <section class="panel" aria-label="Result" ref={panel}>
      {state.step === "idle" ? (
        <div class="empty">
          <Empty title="No result yet">
            <p>The result of the call appears here with its charge and the link to its request.</p>
          </Empty>
        </div>
      ) : state.step === "running" ? (
        <Progress state={state} cancel={cancel} />
      ) : (
        <Ended result={state.result} heading={heading} />
      )}
    </section>
  );
}

/**
 * Moves the focus and the view to a result when it arrives, or when an earlier one is chosen. A person who uses another part of the page
 * during the call keeps both.
 */
function useArrival(state: RunState): {
  readonly panel: RefObject<HTMLElement | null>;
  readonly heading: RefObject<HTMLHeadingElement | null>;
} {
  const [panel, heading] = [useRef<HTMLElement>(null), useRef<HTMLHeadingElement>(null)];
  const isElsewhere = useRef(false);
  const isRunning = state.step === "running";
  const result = state.step === "ended" ? state.result : undefined;
  useEffect(() => {
    if (!isRunning) return undefined;
    const note = ({ target }: Event): void => {
      isElsewhere.current = !(target instanceof Node && panel.current?.contains(target) === true);
    };
    document.addEventListener("input", note);
    document.addEventListener("focusin", note);
    return () => {
      document.removeEventListener("input", note);
      document.removeEventListener("focusin", note);
    };
  }, [isRunning]);
  useEffect(() => {
    if (result !== undefined && !isElsewhere.current) arriveAt(heading.current);
    isElsewhere.current = false;
  }, [result]);
  return { panel, heading };
}

/** Focuses a heading, and scrolls it into the upper half of the window. */
function arriveAt(heading: HTMLElement | null): void {
  if (heading === null) return;
  heading.focus({ preventScroll: true });
  const isLow = heading.getBoundingClientRect().top > innerHeight / 2;
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  heading.scrollIntoView({ block: isLow ? "start" : "nearest", behavior: isStill ? "instant" : "smooth" });
}

function Progress({
  state: { since, job, isCancelling },
  cancel,
}: {
  readonly state: Extract<RunState, { readonly step: "running" }>;
  readonly cancel: () => Promise<void>;
}): JSX.Element {
  const seconds = useSeconds(since);
  return (
    <>
      <header>
        <Status of={isCancelling === true ? "cancelling" : (job?.status ?? "running")} />
        <span class="soft">{seconds} s</span>
        <span class="push">
          <Button small icon="stop" isRunning={isCancelling === true} onClick={cancel}>
            {job === undefined ? "Stop waiting" : "Cancel"}
          </Button>
        </span>
      </header>
      <div class="pad stack">
        {job === undefined ? (
          <p class="hint">The response arrives when the call has ended.</p>
        ) : (
          <>
            <ProgressBar share={job.progress} />
            <p class="hint">
              The job continues when you leave this page: see <Link href={`/jobs/${job.id}`}>Jobs</Link>.
            </p>
          </>
        )}
      </div>
    </>
  );
}

/** Returns the whole seconds since a time, updated every second. */
function useSeconds(since: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.floor((now - since) / 1_000));
}

function Ended({
  result,
  heading,
}: {
  readonly result: Result;
  readonly heading: RefObject<HTMLHeadingElement | null>;
}): JSX.Element {
  const { status, ms, credits, id, fault } = result;
  return (
    <>
      <header>
        <h2 ref={heading} tabIndex={-1}>
          Result
        </h2>
        <span role="status">
          <Status of={status} code={fault?.status === 0 ? null : fault?.status} />
        </span>
        <span class="soft">{durationText(ms)}</span>
      </header>
      <div class="pad stack">{fault === undefined ? <ResultBody result={result} /> : <FaultBody fault={fault} />}</div>
      <Receipt credits={credits} id={id} />
    </>
  );
}

/** Footer with the charge of a call and the link to its request. */
export function Receipt({ credits, id }: { readonly credits: number | null; readonly id: string }): JSX.Element | null {
  if (credits === null && id === "") return null;
  return (
    <footer>
      {credits === null ? (
        <span class="muted">The request shows the charge.</span>
      ) : (
        <b>
          Charged <Amount credits={credits} /> credits
        </b>
      )}
      {id === "" ? null : (
        <Link class="push" href={`/requests/${id}`} title={id}>
          Request <span class="mono">{shortId(id)}</span>
        </Link>
      )}
    </footer>
  );
}

/** The API's sentence, and what is left when credits are missing. */
export function FaultBody({ fault }: { readonly fault: ApiFault }): JSX.Element {
  return (
    <Callout tone="bad">
      {fault.message}
      {fault.status === 402 ? <WhatIsLeft /> : null}
      {fault.jobId === null ? null : (
        <>
          {" "}
          <Link href={`/jobs/${fault.jobId}`}>Open the job</Link>
        </>
      )}
    </Callout>
  );
}

function WhatIsLeft(): JSX.Element | null {
  const { data } = useCall("GET /v1/credits");
  if (data === undefined) return null;
  const limits = [data.limits.key, data.limits.member].flatMap((one) =>
    one === null ? [] : [one.day, one.week, one.month, one.total],
  );
  const left = Math.min(
    data.balance.available,
    ...limits.map((limit) => limit?.credits_left ?? Number.POSITIVE_INFINITY),
  );
  return (
    <span class="nw">
      {" "}
      <Amount credits={left} /> credits are left.
    </span>
  );
}

function ResultBody({ result: { id, name, value, blob, status } }: { readonly result: Result }): JSX.Element {
  const src = useBlobUrl(blob);
  if (status === "cancelled" && !hasData(value)) {
    return (
      <p class="soft">
        {value === undefined
          ? "The page no longer waits for the response. The call may continue and be charged: see Jobs and Requests."
          : "The job was cancelled."}
      </p>
    );
  }
  if (blob !== undefined) {
    const type = blob.type.replace(/;.*/, "");
    return src === undefined ? (
      <p class="hint">Loading</p>
    ) : (
      <MediaFigure media={{ src, type, name: nameOf({ content_type: type }, "", name, id), bytes: blob.size }} />
    );
  }
  return <ValueBody value={value} />;
}

function hasData(value: unknown): boolean {
  return ((value as { readonly data?: readonly unknown[] } | undefined)?.data?.length ?? 0) > 0;
}

interface Part {
  readonly url?: string;
  readonly b64_json?: string;
  readonly file_id?: string;
  readonly content_type?: string;
  readonly duration_seconds?: number;
  readonly bytes?: number;
  readonly name?: string;
}

/** Files, texts and other members of a JSON response or a job. */
export function ValueBody({ value }: { readonly value: unknown }): JSX.Element {
  const {
    id,
    model,
    data = [],
  } = (value ?? {}) as {
    readonly id?: string;
    readonly model?: string;
    readonly data?: readonly (Part & {
      readonly object?: string;
      readonly files?: readonly Part[];
      readonly output?: Record<string, unknown>;
    })[];
  };
  const run = data.find(({ object }) => object === "capability.run");
  const parts = run?.files ?? data;
  const media = parts.filter(({ url, file_id: fileId }) => url !== undefined || fileId !== undefined);
  const text = textOf(run?.output ?? value);
  return (
    <>
      {media.length === 0 ? null : (
        <div class="pics">
          {media.map((part, place) => (
            <PartFigure
              key={part.url ?? part.file_id}
              part={part}
              name={nameOf(part, media.length === 1 ? "" : String(place + 1), model, id)}
            />
          ))}
        </div>
      )}
      {text === undefined ? null : <p class="reply">{text}</p>}
      {run?.output !== undefined && Object.keys(run.output).length > 0 ? <Json value={run.output} /> : null}
      <details open={media.length === 0 && text === undefined && run === undefined}>
        <summary class="soft">Response</summary>
        <Json value={value} />
      </details>
    </>
  );
}

/** File of a result, by its link or, in a line of a batch, by its id. */
function PartFigure({ part, name }: { readonly part: Part; readonly name: string }): JSX.Element {
  const { url, file_id: id, content_type: type = "application/octet-stream", duration_seconds: seconds } = part;
  if (url === undefined) return <FilePreview id={id ?? ""} name={name} />;
  return <MediaFigure id={id} media={{ src: ownPath(url), type, name, bytes: part.bytes, seconds }} />;
}

/** Names of files that say only their kind, such as `image.png`. */
const GENERIC = /^(?:audio|code|data|document|file|image|sheet|text|video)\.[^.]+$/;

/** Returns the name of a result's file: its own name, or a name made of the capability or model and the end of the job's id. */
function nameOf({ name, content_type: type = "" }: Part, place: string, source = "result", id = ""): string {
  if (name !== undefined && !GENERIC.test(name)) return name;
  const stem = [source.split(/, |\//).at(-1), id.slice(-8), place].filter(Boolean).join("-");
  return `${stem}.${name?.split(".").at(-1) ?? extensionOf(type)}`;
}

function textOf(value: unknown): string | undefined {
  const { text } = (value ?? {}) as { readonly text?: unknown };
  return typeof text === "string" ? text : undefined;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  mpeg: "mp3",
  jpeg: "jpg",
  "gltf-binary": "glb",
  plain: "txt",
  "svg+xml": "svg",
};

function extensionOf(type: string): string {
  const name = type.split("/")[1]?.replace(/^x-/, "") ?? "bin";
  return EXTENSIONS[name] ?? name;
}
