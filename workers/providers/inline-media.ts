/** Replaces URLs in a chat request by data URLs, for dialects that accept media only as bytes. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { isText, sniffMediaType } from "#shared/media/sniff.ts";
import {
  fetchPublic,
  type OutboundAnswer,
  addressFault,
  OutboundError,
  type OutboundFault,
  type OutboundRequest,
} from "#shared/net/fetch.ts";
import { INLINE_ITEM_BYTES_MAX, INLINE_BYTES_MAX, INLINE_ADDRESSES_MAX } from "#shared/calls/kinds/chat/files.ts";

import { type ChatCall, ProviderError, type RejectedCode } from "./provider.ts";

export type Kind = "image" | "file";

const KINDS: readonly Kind[] = ["image", "file"];

/** Position of a message part that contains a URL. */
interface Place {
  readonly message: number;
  readonly part: number;
  readonly kind: Kind;
  readonly address: string;
  readonly param: string;
}

/** One URL, which several message parts may contain. */
interface Item {
  readonly kind: Kind;
  readonly address: string;
  /** Parameter path of the first message part that contains the URL. */
  readonly param: string;
  uses: number;
}

type Bounds = Readonly<
  Record<"inlineItemBytesMax" | "inlineBytesMax" | "inlineAddressesMax" | "inlineParallel" | "inlineMs", number>
>;

const BOUNDS: Bounds = {
  inlineItemBytesMax: INLINE_ITEM_BYTES_MAX,
  inlineBytesMax: INLINE_BYTES_MAX,
  inlineAddressesMax: INLINE_ADDRESSES_MAX,
  /** Maximum number of parallel fetches per call, so that a call cannot flood other servers. */
  inlineParallel: 4,
  /**
   * Timeout for fetching all URLs of a call, in milliseconds. It is below the first-byte deadline, because a slow media server is not the
   * provider's fault.
   */
  inlineMs: 30_000,
};

type Part = Readonly<Record<string, unknown>>;

/**
 * Fetches all http(s) images and files of a request through the outbound guard, and replaces their URLs by data URLs (files as
 * `file_data`). Each URL is fetched once. A request without such URLs is returned unchanged. The media type is detected from the bytes:
 * images are PNG, JPEG, GIF or WebP; files are images, PDF, text or audio.
 * @throws ProviderError `rejected` that names the parameter: unsafe_url; unprocessable_input for an unavailable, too large or unsupported
 * file; audio_not_supported_by_model
 * @throws ProviderError `aborted` when the signal fires
 */
export async function inlineMedia(
  { request, signal, takesAudio }: Pick<ChatCall, "request" | "signal" | "takesAudio">,
  kinds: readonly Kind[] = KINDS,
  others: Partial<Bounds> = {},
): Promise<ChatCompletionRequest> {
  const bounds = { ...BOUNDS, ...others };
  const places = findPlaces(request, kinds);
  if (places.length === 0) return request;
  const fetched = await fetchAll(itemsOf(places, bounds), { caller: signal, takesAudio, bounds });
  const byMessage = Map.groupBy(places, ({ message }) => message);
  const messages = request.messages.map((message, at) => {
    const found = new Map(byMessage.get(at)?.map((place) => [place.part, place]));
    if (found.size === 0 || !Array.isArray(message.content)) return message;
    const content = (message.content as readonly Part[]).map((part, index) => {
      const place = found.get(index);
      return place ? withData(part, place.kind, fetched.get(keyOf(place)) ?? "") : part;
    });
    return { ...message, content } as typeof message;
  });
  return { ...request, messages };
}

/** Returns true if the request contains URLs of these kinds that must be fetched. */
export function namesMedia(request: ChatCompletionRequest, kinds: readonly Kind[]): boolean {
  return findPlaces(request, kinds).length > 0;
}

/** Returns the number of characters of all data URLs in a request, approximately the memory of its media. */
export function inlinedLength(request: ChatCompletionRequest): number {
  let length = 0;
  for (const { content } of request.messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content as readonly Part[]) {
      const data = member(part["image_url"], "url") ?? member(part["file"], "file_data");
      if (typeof data === "string") length += data.length;
    }
  }
  return length;
}

function findPlaces(request: ChatCompletionRequest, kinds: readonly Kind[]): Place[] {
  return request.messages.flatMap(({ content }, message) =>
    Array.isArray(content)
      ? (content as readonly Part[])
          .flatMap((part, index) => placeOf(part, message, index) ?? [])
          .filter(({ kind }) => kinds.includes(kind))
      : [],
  );
}

function placeOf(part: Part, message: number, index: number): Place | undefined {
  const at = `messages[${message}].content[${index}]`;
  if (part["type"] === "image_url") {
    const address = addressOf(part["image_url"], "url");
    return address === undefined
      ? undefined
      : { message, part: index, kind: "image", address, param: `${at}.image_url.url` };
  }
  if (part["type"] !== "file") return undefined;
  // A file with its data needs no address, even if it has one.
  const hasData = typeof member(part["file"], "file_data") === "string";
  const name = hasData ? "file_data" : "file_url";
  const address = addressOf(part["file"], name);
  return address === undefined
    ? undefined
    : { message, part: index, kind: "file", address, param: `${at}.file.${name}` };
}

function member(holder: unknown, name: string): unknown {
  return typeof holder === "object" && holder !== null ? (holder as Part)[name] : undefined;
}

function addressOf(holder: unknown, name: string): string | undefined {
  const address = member(holder, name);
  return typeof address === "string" && /^https?:/i.test(address) ? address : undefined;
}

function withData(part: Part, kind: Kind, data: string): Part {
  if (kind === "image") return { ...part, image_url: { ...(part["image_url"] as Part), url: data } };
  const { file_url: _dropped, ...file } = part["file"] as Part;
  return { ...part, file: { ...file, file_data: data } };
}

/** Returns the cache key of a URL, which includes the kind. An image accepts fewer types than a file, so one URL can have two results. */
function keyOf({ kind, address }: Pick<Place, "kind" | "address">): string {
  return `${kind} ${address}`;
}

function itemsOf(places: readonly Place[], bounds: Bounds): Item[] {
  const items = new Map<string, Item>();
  for (const { kind, address, param } of places) {
    const known = items.get(keyOf({ kind, address }));
    if (known) known.uses += 1;
    else if (items.size < bounds.inlineAddressesMax) {
      items.set(keyOf({ kind, address }), { kind, address, param, uses: 1 });
    } else {
      const say = `Expected at most ${bounds.inlineAddressesMax} different addresses in one call for this model.`;
      throw rejected("too many addresses", param, say);
    }
  }
  return [...items.values()];
}

/** Fetches all items and returns their data URLs by key. The first failure aborts the other downloads. */
async function fetchAll(
  items: readonly Item[],
  {
    caller,
    takesAudio,
    bounds,
  }: { readonly caller: AbortSignal; readonly takesAudio: boolean; readonly bounds: Bounds },
): Promise<Map<string, string>> {
  const giveUpAt = performance.now() + bounds.inlineMs;
  const first = new AbortController();
  const signal = AbortSignal.any([caller, first.signal]);
  const found = new Map<string, string>();
  const queue = items.values();
  let remainingBytes: number = bounds.inlineBytesMax;
  const work = async (): Promise<void> => {
    // The parallel loops share the iterator, so each item is taken once.
    for (const item of queue) {
      const { bytes, contentType } = await fetchItem(item, {
        signal,
        bytesMax: Math.min(bounds.inlineItemBytesMax, Math.floor(remainingBytes / item.uses)),
        timeoutMs: Math.max(1, giveUpAt - performance.now()),
      });
      remainingBytes -= bytes.length * item.uses;
      if (remainingBytes < 0) throw tooLarge(item);
      const sniffed = await sniffMediaType(bytes);
      if (!takesAudio && sniffed !== undefined && IS_AUDIO.test(sniffed)) throw unsupportedAudio(item, sniffed);
      const type = passedOn(sniffed, bytes, contentType);
      if (type === undefined || (item.kind === "image" && !type.startsWith("image/"))) throw unsuitable(item, sniffed);
      found.set(
        keyOf(item),
        `data:${type};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")}`,
      );
    }
  };
  const workers = Array.from({ length: Math.min(bounds.inlineParallel, items.length) }, async () => {
    try {
      await work();
    } catch (error) {
      first.abort(error);
    }
  });
  await Promise.all(workers);
  if (caller.aborted) throw new ProviderError("aborted", "the call was aborted");
  if (first.signal.aborted) throw first.signal.reason;
  return found;
}

/** Media types that are sent to providers. */
const TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
  "audio/wav",
  "audio/ogg",
  "audio/flac",
  "audio/mpeg",
]);

/**
 * Returns the media type under which bytes are sent; undefined for an unsupported type.
 * @param declared content type from the server; used only for text, because bytes do not show the type of a text
 */
function passedOn(sniffed: string | undefined, bytes: Uint8Array, declared: string): string | undefined {
  if (sniffed !== undefined && TYPES.has(sniffed)) return sniffed;
  const isDeclared = bytes.length > 0 && /^text\/[a-z0-9.+-]+$/.test(declared);
  // Providers read text as UTF-8.
  return isDeclared && isText(bytes) && (bytes[0] ?? 0) < 0xfe ? declared : undefined;
}

async function fetchItem(
  item: Item,
  request: Pick<OutboundRequest, "signal" | "bytesMax" | "timeoutMs">,
): Promise<OutboundAnswer> {
  try {
    const accept = item.kind === "image" ? "image/png,image/jpeg,image/webp,image/gif" : "*/*";
    return await fetchPublic(item.address, { ...request, accept });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.fault === "too_large") throw tooLarge(item);
    throw rejected(error.message, item.param, SENTENCES[error.fault], addressFault(error));
  }
}

/** Error messages for the client about a URL that could not be fetched, by fault. */
export const SENTENCES: Readonly<Record<Exclude<OutboundFault, "too_large">, string>> = {
  unsafe: "This URL is not allowed: expected an address on the public internet.",
  unreachable: "The server at this address cannot be reached.",
  timeout: "The server at this address did not respond in time.",
  redirects: "This address redirects too often; send the final address.",
  status: "The server at this address refused the request. Send an address that needs no sign-in.",
};

const MEBIBYTE = 1_048_576;

function tooLarge(item: Item): ProviderError {
  const each = INLINE_ITEM_BYTES_MAX / MEBIBYTE;
  const all = INLINE_BYTES_MAX / MEBIBYTE;
  const say = `Expected at most ${each} MiB per address and ${all} MiB for all addresses of a call, got more.`;
  return rejected("outbound too_large", item.param, say);
}

/** Matches media types of audio. Ogg is classified by its content, so Ogg without images is audio. */
const IS_AUDIO = /^audio\/|^video\/ogg$/;

/**
 * Returns the error for audio that the model does not support. The message is that of the ingress, which already rejects recognizable
 * audio.
 */
function unsupportedAudio(item: Item, found: string): ProviderError {
  const say = `This model does not accept audio; transcribe it first and send the text. This address contains ${found}.`;
  return rejected("what was fetched is audio", item.param, say, "audio_not_supported_by_model");
}

/**
 * Returns the error for a file of an unsupported type.
 * @param found media type according to the bytes
 */
function unsuitable(item: Item, found = "something else"): ProviderError {
  const expected = item.kind === "image" ? "PNG, JPEG, GIF or WebP" : "a PDF, UTF-8 text, an image or audio";
  return rejected(
    "what was fetched is no such media",
    item.param,
    `Expected ${expected} at this address, got ${found}.`,
  );
}

function rejected(
  detail: string,
  param: string,
  say: string,
  code: RejectedCode = "unprocessable_input",
): ProviderError {
  return new ProviderError("rejected", detail, { code, param, say });
}
