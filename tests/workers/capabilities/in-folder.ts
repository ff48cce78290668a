/** Runs a capability in this process, as a child would: for tests of what it makes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll } from "bun:test";

import { type Capability, engineOf } from "#shared/calls/capabilities/entry.ts";
import { CHECKS } from "#shared/calls/capabilities/list.ts";
import { sampleFile } from "#shared/calls/capabilities/samples.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import type { DefinedCapability, InputFile, InputPage, RunOutput } from "#workers/capabilities/define.ts";
import { findTools } from "#workers/calls/capability/tools.ts";
import type { Tools } from "#workers/capabilities/tools.ts";
import { loadCapability } from "#workers/capabilities/list.ts";

/** LibreOffice, as the setting names it or the system finds it; installed on some machines only. */
const SOFFICE = (process.env["SLUICE_LIBREOFFICE"] || Bun.which("soffice")) ?? undefined;
/** For tests that are told as skipped without it, and not as passed. */
export const hasLibreOffice = SOFFICE !== undefined && Bun.which("bwrap") !== null;

/** Programs of this machine, unpacked once. */
let found: Promise<Tools> | undefined;
export const tools = (): Promise<Tools> => (found ??= findTools({ chromium: undefined, libreoffice: SOFFICE }));

/** Engines that start a program. To unpack the browser takes two seconds of CPU, which other engines do not need. */
const STARTING_PROGRAMS: ReadonlySet<string> = new Set(["browser", "libreoffice"]);

/** The tools for a run with these params: none where the engine starts no program. */
export async function toolsFor(capability: Pick<Capability, "engine" | "engineBy">, params: object): Promise<Tools> {
  return STARTING_PROGRAMS.has(engineOf(capability, params as Readonly<Record<string, unknown>>)) ? tools() : {};
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export interface Ran extends RunOutput {
  /** Returns the bytes of a file that it made. */
  bytes(at?: number): Uint8Array;
}

/** Input of a test: bytes, or a member of a request body. An address returns the page below, or the page beside it, as HTML unless it has a type. */
export type TestInput =
  | Uint8Array
  | string
  | { readonly file_id?: string; readonly text?: string; readonly base64?: string }
  | Page;

interface Page {
  readonly address: string;
  readonly html: string | Uint8Array;
  readonly contentType?: string;
}

export type TestInputs = Readonly<
  Record<string, TestInput | readonly TestInput[] | Readonly<Record<string, TestInput>>>
>;

/** The files of a run, in its folder. */
export async function inputsOf(id: string, folder: string, input: TestInputs): Promise<Record<string, unknown>> {
  const capability = await loadCapability(id);
  const inputs: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) inputs[name] = await filesOf(capability, folder, name, value);
  return inputs;
}

/** Returns the run that the ingress makes of it. @throws ApiError of the check */
export function checkedRun(id: string, input: TestInputs, params: object) {
  const asked = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, asBody(value)]));
  const checked = CHECKS.get(id)?.({ input: asked, params });
  if (!checked) throw new Error(`${id} is not generated`);
  return checked;
}

/** @throws ApiError of the check; MediaError of the run */
export async function runCapability(
  id: string,
  input: TestInputs,
  params: object = {},
  progress: (share: number) => void = () => undefined,
): Promise<Ran> {
  const capability = await loadCapability(id);
  const checked = checkedRun(id, input, params);
  const folder = mkdtempSync(join(tmpdir(), "sluice-capability-"));
  folders.push(folder);
  const run = {
    params: checked.params,
    inputs: await inputsOf(id, folder, input),
    folder,
    progress,
    tools: await toolsFor(capability, checked.params),
    guard: undefined,
  };
  const made = await capability.run(run as never);
  return { ...made, bytes: (at = 0) => readFileSync(made.files?.[at]?.path ?? "") };
}

function asBody(value: unknown): unknown {
  if (typeof value === "string") return value;
  if (isPage(value)) return value.address;
  if (value instanceof Uint8Array) return { base64: "AA==" };
  if (Array.isArray(value)) return value.map(asBody);
  const members = value as Readonly<Record<string, unknown>>;
  if (Object.values(members).every((one) => typeof one === "string")) return members;
  return Object.fromEntries(Object.entries(members).map(([name, one]) => [name, asBody(one)]));
}

function isPage(value: unknown): value is Page {
  return typeof value === "object" && value !== null && "address" in value && "html" in value;
}

async function filesOf(capability: DefinedCapability, folder: string, name: string, value: unknown): Promise<unknown> {
  if (Array.isArray(value)) {
    return Promise.all(value.map((one, at) => fileOf(folder, `${name}-${at}`, one as TestInput)));
  }
  if (capability.members[name]?.named === undefined || isPage(value)) return fileOf(folder, name, value as TestInput);
  const all = Object.entries(value as Readonly<Record<string, TestInput>>);
  return Object.fromEntries(
    await Promise.all(all.map(async ([own, one]) => [own, await fileOf(folder, `${name}-${own}`, one)])),
  );
}

async function fileOf(folder: string, name: string, given: TestInput): Promise<InputFile> {
  if (typeof given === "string") return pageOf(folder, name, { address: given, html: PAGE });
  if (isPage(given)) return pageOf(folder, name, given);
  const sample = !(given instanceof Uint8Array) && given.file_id !== undefined ? sampleFile(given.file_id) : undefined;
  const bytes =
    given instanceof Uint8Array
      ? given
      : (sample?.read() ??
        (given.base64 === undefined ? Buffer.from(given.text ?? "") : Uint8Array.fromBase64(given.base64)));
  const path = join(folder, `in-${name}`);
  writeFileSync(path, bytes);
  const mediaType = sample?.mediaType ?? (await settleMediaType(bytes, undefined, ""));
  return { path, mediaType, bytes: bytes.length, name: sample?.name ?? name };
}

const PAGE = `<!doctype html><html lang="en"><head><title>Tea</title><meta name="description" content="On tea">
<link rel="alternate" type="application/rss+xml" href="/feed.xml" title="News"></head>
<body><h1>Tea</h1><p>Of <a href="/green">green</a> and <a href="https://example.org/black">black</a> tea.</p></body></html>`;

const HTML_TYPE = "text/html; charset=utf-8";

/** Nothing is fetched: what examples show is read from a page that stands here. */
function pageOf(folder: string, name: string, { address, html, contentType = HTML_TYPE }: Page): InputPage {
  const path = join(folder, `in-${name}`);
  writeFileSync(path, html);
  const headers = { "content-type": contentType };
  return {
    path,
    mediaType: contentType.split(";", 1).join(""),
    bytes: Buffer.byteLength(html),
    name,
    address,
    status: 200,
    contentType,
    headers,
  };
}
