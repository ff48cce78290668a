/** Checks PDF documents of a chat call against the limits of its model. The number of pages is only known from the bytes of a PDF. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { Model } from "#shared/calls/model.ts";
import { MediaError } from "#shared/children/media-error.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";

import { ProviderError, type RejectedCode } from "../../providers/provider.ts";

type Part = Readonly<Record<string, unknown>>;

interface Document {
  readonly bytes: Buffer;
  readonly param: string;
}

/**
 * Checks all documents of a request against the model's limits.
 * @param request request with the bytes of its files in `file_data`; URLs are skipped
 * @param asked same request as the caller sent it; errors name its parameters
 * @throws ProviderError `rejected` that names the document which the model does not accept; `busy`, `aborted`
 */
export async function checkDocuments(
  probes: Pick<MediaProbes, "pdfPages">,
  { allowed_params: { max_pdf_pages: pagesMax, max_pdf_size_bytes: bytesMax } }: Pick<Model, "allowed_params">,
  request: ChatCompletionRequest,
  asked: ChatCompletionRequest,
  signal: AbortSignal,
): Promise<void> {
  if (pagesMax === undefined && bytesMax === undefined) return;
  for (const { bytes, param } of documentsOf(request, asked)) {
    if (bytesMax !== undefined && bytes.length > bytesMax) {
      throw refused(`This model accepts PDF files of at most ${bytesMax} bytes, got ${bytes.length}.`, param);
    }
    if (pagesMax === undefined) continue;
    const pages = await probes.pdfPages(bytes, pagesMax, signal).catch((error: unknown) => {
      throw error instanceof MediaError ? toProviderError(error, param) : error;
    });
    if (pages > pagesMax) throw refused(`This model accepts PDF files of at most ${pagesMax} pages, got more.`, param);
  }
}

/** Yields the documents of a request one at a time, so that only one of them is in memory twice. */
function* documentsOf(request: ChatCompletionRequest, asked: ChatCompletionRequest): Generator<Document> {
  for (const [at, { content }] of request.messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [index, part] of (content as readonly Part[]).entries()) {
      const data = memberOf(part["file"], "file_data");
      const bytes = typeof data === "string" ? pdfOf(data) : undefined;
      if (bytes) yield { bytes, param: `messages[${at}].content[${index}].file.${nameOf(asked, at, index)}` };
    }
  }
}

/** Returns the bytes of a PDF, recognized by its media type or by its signature; undefined for other data. */
function pdfOf(url: string): Buffer | undefined {
  const comma = url.slice(0, HEAD_CHARACTERS).indexOf(",");
  if (comma < 0 || !/^data:/i.test(url)) return undefined;
  const head = Buffer.from(url.slice(comma + 1, comma + 1 + HEAD_CHARACTERS), "base64");
  const isPdf = /^data:application\/pdf[;,]/i.test(url) || head.includes("%PDF-");
  return isPdf ? Buffer.from(url.slice(comma + 1), "base64") : undefined;
}

/** Number of base64 characters that contain the first 1,024 bytes. PDF readers search for the signature in these bytes. */
const HEAD_CHARACTERS = 1_368;

/** Returns the name of the request parameter in which the caller sent the document. */
function nameOf(asked: ChatCompletionRequest, at: number, index: number): string {
  const content: unknown = asked.messages[at]?.content;
  const file: unknown = Array.isArray(content) ? memberOf(content[index], "file") : undefined;
  return ["file_id", "file_data", "file_url"].find((name) => memberOf(file, name) !== undefined) ?? "file_data";
}

function memberOf(holder: unknown, name: string): unknown {
  return typeof holder === "object" && holder !== null ? (holder as Part)[name] : undefined;
}

function refused(say: string, param: string, code: RejectedCode = "unsupported_value"): ProviderError {
  return new ProviderError("rejected", "a document that the model does not take", { code, say, param, isUnsent: true });
}

/** Converts a check's error to an error for the caller. A document that crashes the child process is reported as unreadable. */
function toProviderError({ fault, message }: MediaError, param: string): ProviderError {
  switch (fault) {
    case "busy":
    case "timeout":
      return new ProviderError("busy", "a document could not be looked at in time", { isUnsent: true });
    case "aborted":
      return new ProviderError("aborted", "the call was aborted");
    case "failed":
      return refused(UNREADABLE, param, "unprocessable_input");
    default:
      return refused(`${UNREADABLE} ${message}`, param, "unprocessable_input");
  }
}

const UNREADABLE = "The pages of this PDF cannot be counted, and this model limits their number.";
