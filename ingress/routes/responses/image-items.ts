/** Converts images that the service generates for a model into items of a response and of a conversation. Pure. */
import type {
  ModelResponse,
  ResponseImageCall,
  ResponsesImageCall,
  ResponsesSluiceCall,
  SluiceCall,
} from "#schemas/generated/types.ts";
import { type Code, ERROR_CODES } from "#shared/base/errors.ts";

/** Type of the image tool, and the name under which the model sees its function. */
export const IMAGE_TOOL = "image_generation";

/** Members that an image item has in addition to those of the tool run that generated the image. */
export interface ImageItemFields {
  /** Image bytes in base64; null if they are not included. */
  readonly result: string | null;
  readonly file_id: string;
  readonly model?: string;
  readonly output_format?: string;
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
}

export function imageItem(call: SluiceCall, itemFields: ImageItemFields | undefined): ResponseImageCall {
  const { id, status, call_id, arguments: text, round, request_id, output, credits_used } = call;
  const extra = (call as { readonly extra_content?: unknown }).extra_content;
  return {
    id: id.replace(/^sc_/, "ig_"),
    type: "image_generation_call",
    status,
    revised_prompt: promptIn(text),
    ...(itemFields ?? { result: null, file_id: null }),
    ...(status === "failed" ? { error: errorIn(output) } : {}),
    call_id,
    arguments: text,
    round,
    ...(request_id === undefined ? {} : { request_id }),
    output,
    credits_used,
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

function promptIn(text: string): string | null {
  const { prompt } = membersIn(text);
  return typeof prompt === "string" ? prompt : null;
}

/** Extracts the error of a failed run from the output that the model received. */
function errorIn(output: string | null): NonNullable<ResponseImageCall["error"]> {
  const { code, message } = membersIn(JSON.stringify(membersIn(output ?? "")["error"] ?? {}));
  const known = typeof code === "string" && code in ERROR_CODES ? (code as Code) : "internal_error";
  return { code: known, message: String(message), param: null, type: ERROR_CODES[known].type };
}

function membersIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

/** Removes the base64 from an image item. Base64 is neither stored nor sent to a model, because the image is a file of the workspace. */
export function withoutResult<Item extends { readonly type?: string | undefined }>(item: Item): Item {
  if (item.type !== "image_generation_call" || !("result" in item) || item.result === null) return item;
  return { ...item, result: null };
}

export function withoutResults(response: ModelResponse): ModelResponse {
  return { ...response, output: response.output.map((item) => withoutResult(item)) };
}

/**
 * Converts an image item into the item of a tool run that generated the image.
 * @param number makes the call id unique for an image that has no id
 */
export function runOf(item: ResponsesImageCall, number: number): ResponsesSluiceCall {
  const { call_id, id, arguments: text, revised_prompt: prompt, output, round, file_id: fileId } = item;
  return {
    ...item,
    type: "sluice_call",
    name: IMAGE_TOOL,
    call_id: call_id ?? id ?? `ig_${number}`,
    arguments: text ?? JSON.stringify({ prompt: prompt ?? "" }),
    round: round ?? null,
    output: output ?? JSON.stringify(fileId == null ? { note: "The image was made." } : { file_id: fileId }),
  };
}
