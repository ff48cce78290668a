/** Data URLs and base64 of a request → `inlineData`. */
import type { Members } from "../json.ts";
import { unsupported } from "./rejected.ts";

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i;
const BASE64 = /;base64$/i;

/** Text by another name, which Google takes as text only. */
const TEXT_TYPE = /^application\/(?:json|xml|yaml|x-yaml|javascript|x-ndjson|sql|toml|x-sh|[a-z0-9.-]+\+(?:json|xml))$/;

/**
 * @param kind an image is an image of some type; a file may be anything
 * @throws ProviderError `rejected` for an address: those are fetched before this is asked
 */
export function mediaPart(url: string, kind: "image" | "file", param: string): Members {
  const head = DATA_URL.exec(url.slice(0, 1_024));
  if (!head) throw unsupported(param, "Expected a data URL such as data:image/png;base64,….");
  const mimeType = mimeTypeOf((head[1] ?? "").toLowerCase());
  if (kind === "image" && !mimeType.startsWith("image/")) {
    throw unsupported(
      param,
      `Expected an image as image_url, got ${mimeType.slice(0, 100)}; send other types as file.`,
    );
  }
  const payload = url.slice(head[0].length);
  if (BASE64.test(head[2] ?? "")) return encodedPart(mimeType, payload, param);
  try {
    return dataPart(mimeType, Buffer.from(decodeURIComponent(payload)).toString("base64"));
  } catch {
    throw unsupported(param, "Expected a data URL with valid percent-encoding.");
  }
}

/** Part with a client's own base64. @throws ProviderError `rejected` when it is not base64: Google's error would quote it */
export function encodedPart(mimeType: string, data: string, param: string): Members {
  if (isBase64(data)) return dataPart(mimeType, data);
  throw unsupported(param, "Expected base64 data without spaces or line breaks.");
}

/** @param data base64 */
export function dataPart(mimeType: string, data: string): Members {
  return { inlineData: { mimeType, data } };
}

function mimeTypeOf(written: string): string {
  if (written === "image/jpg") return "image/jpeg";
  return written === "" || TEXT_TYPE.test(written) ? "text/plain" : written;
}

/** Either alphabet, padded or not, as Google decodes it. */
function isBase64(data: string): boolean {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  const digits = data.slice(0, data.length - padding);
  if (digits === "" || digits.length % 4 === 1 || (padding > 0 && data.length % 4 !== 0)) return false;
  // Looking for what does not belong takes one pass, however long the data.
  return !/[^A-Za-z0-9+/]/.test(digits) || !/[^A-Za-z0-9_-]/.test(digits);
}
