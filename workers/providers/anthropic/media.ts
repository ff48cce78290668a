/** Converts images and files of a request, already data URLs, to `image` and `document` blocks. */
import { decodeText } from "#workers/capabilities/text.ts";

import { isMembers, type Members, textOf } from "../json.ts";
import { unsupported } from "./rejected.ts";

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i;

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** Media types of text outside `text/`, which models can read. */
const TEXT_TYPE =
  /^text\/|^application\/(json|xml|yaml|x-yaml|javascript|x-ndjson|sql|toml|x-sh|ld\+json)$|\+(json|xml)$/;

/** @throws ProviderError `rejected` for other types than JPEG, PNG, GIF or WebP */
export function imageBlock(url: unknown, param: string): Members {
  const media = readDataUrl(textOf(url), param);
  if (!IMAGE_TYPES.has(media.type)) {
    throw unsupported(param, `Expected an image of type JPEG, PNG, GIF or WebP, got ${media.type.slice(0, 100)}.`);
  }
  return { type: "image", source: { type: "base64", media_type: media.type, data: media.base64() } };
}

/** Returns a PDF or a text as a document block, and an image as an image block. @throws ProviderError `rejected` for other types */
export function fileBlock(file: unknown, param: string): Members {
  const members = isMembers(file) ? file : {};
  const name = typeof members["file_data"] === "string" ? "file_data" : "file_url";
  const media = readDataUrl(textOf(members[name]), `${param}.${name}`);
  const title = textOf(members["filename"]);
  const named = title === "" ? {} : { title };
  if (media.type === "application/pdf") {
    const source = { type: "base64", media_type: media.type, data: media.base64() };
    return { type: "document", source, ...named };
  }
  if (TEXT_TYPE.test(media.type)) {
    return { type: "document", source: { type: "text", media_type: "text/plain", data: media.text() }, ...named };
  }
  if (IMAGE_TYPES.has(media.type)) return imageBlock(members[name], `${param}.${name}`);
  const got = media.type.slice(0, 100);
  throw unsupported(`${param}.${name}`, `Expected a PDF, a text or an image as file, got ${got}.`);
}

interface Media {
  readonly type: string;
  base64(): string;
  text(): string;
}

function readDataUrl(url: string, param: string): Media {
  const head = DATA_URL.exec(url.slice(0, 1_024));
  if (!head) throw unsupported(param, "Expected a data URL such as data:image/png;base64,….");
  const written = (head[1] ?? "").toLowerCase() || "text/plain";
  const payload = url.slice(head[0].length);
  const isBase64 = /;base64$/i.test(head[2] ?? "");
  const bytes = (): Buffer => (isBase64 ? Buffer.from(payload, "base64") : Buffer.from(decodePercent(payload, param)));
  const declared = /;charset=([^;]+)/i.exec(head[2] ?? "")?.[1];
  return {
    type: written === "image/jpg" ? "image/jpeg" : written,
    base64: () => (isBase64 ? payload : bytes().toString("base64")),
    text: () => (isBase64 ? decodeText(bytes(), { declared }).text : decodePercent(payload, param)),
  };
}

function decodePercent(payload: string, param: string): string {
  try {
    return decodeURIComponent(payload);
  } catch {
    throw unsupported(param, "Expected a data URL with valid percent-encoding.");
  }
}
