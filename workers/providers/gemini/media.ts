/** Converts data URLs and base64 data of a request to Gemini's `inlineData`. */
import type { Members } from "../json.ts";
import { unsupported } from "./rejected.ts";

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i;
const BASE64 = /;base64$/i;

/** Matches media types of text outside `text/`. Google accepts such files only as text. */
const TEXT_TYPE = /^application\/(?:json|xml|yaml|x-yaml|javascript|x-ndjson|sql|toml|x-sh|[a-z0-9.-]+\+(?:json|xml))$/;

/**
 * Converts a data URL to a part.
 * @param kind an image requires an image type; a file may have any type
 * @throws ProviderError `rejected` for a URL that is not a data URL, because it must be fetched first
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

/**
 * Returns a part with base64 data of a client. @throws ProviderError `rejected` for invalid base64, because Google's own error would quote
 * it
 */
export function encodedPart(mimeType: string, data: string, param: string): Members {
  if (isBase64(data)) return dataPart(mimeType, data);
  throw unsupported(param, "Expected base64 data without spaces or line breaks.");
}

/**
 * Returns a part with inline data.
 * @param data base64
 */
export function dataPart(mimeType: string, data: string): Members {
  return { inlineData: { mimeType, data } };
}

function mimeTypeOf(written: string): string {
  if (written === "image/jpg") return "image/jpeg";
  return written === "" || TEXT_TYPE.test(written) ? "text/plain" : written;
}

/** Returns true for valid base64 as Google decodes it: in either alphabet, with or without padding. */
function isBase64(data: string): boolean {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  const digits = data.slice(0, data.length - padding);
  if (digits === "" || digits.length % 4 === 1 || (padding > 0 && data.length % 4 !== 0)) return false;
  // Searching for an invalid character takes one pass, for data of any length.
  return !/[^A-Za-z0-9+/]/.test(digits) || !/[^A-Za-z0-9_-]/.test(digits);
}
