/** Reads a media call sent as a form. The bytes of its file parts become base64 members of the JSON body, with the same limits. */
import { INPUT_BYTES_MAX } from "#shared/calls/kinds/input-media.ts";
import type { FormParts } from "#shared/calls/kinds/kind.ts";
import { ApiError } from "#shared/base/errors.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";

import type { ReadBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { filePieces, readFormBody } from "../files/form-body.ts";
import type { MultipartReader, PartHead } from "../files/multipart.ts";
import { reworded } from "../../core/with-param.ts";

/** Converts a form into the equivalent JSON body. @throws the errors of `readFormBody` and `filePieces` */
export async function readMediaForm(
  { config }: { readonly config: Pick<IngressContext["config"], "bodyBytesMax"> },
  request: Request,
  { members, files }: FormParts,
): Promise<Pick<ReadBody, "value" | "pause">> {
  const inline = new Map<string, string>();
  const receivers = Object.entries(files).map(([name, { member = name }]) => {
    const receive = async (head: PartHead, reader: MultipartReader): Promise<void> => {
      inline.set(member, (await bytesOf(name, head, reader)).toString("base64"));
    };
    return [name, receive];
  });
  const form = { members, files: Object.fromEntries(receivers), bytesMax: config.bodyBytesMax };
  const value = { ...(await readFormBody(request, form)), ...Object.fromEntries(inline) };
  const slices = new TimeSlices();
  return { value, pause: () => slices.next() };
}

async function bytesOf(param: string, head: PartHead, reader: MultipartReader): Promise<Buffer> {
  const max = INPUT_BYTES_MAX.image;
  const tooLarge = (): ApiError =>
    new ApiError("unsupported_value", `Expected an image of at most ${max} bytes.`, { param });
  const pieces: Uint8Array[] = [];
  // The reader overwrites a piece with the next one.
  for await (const piece of filePieces(head, reader, max, tooLarge)) pieces.push(new Uint8Array(piece));
  return Buffer.concat(pieces);
}

/** Runs a check of a body that came from a form. @throws the errors of the check, which name form parts in place of JSON members */
export async function inFormTerms<Body, T>(
  { files }: FormParts,
  body: Body,
  check: (body: Body) => Promise<T>,
): Promise<T> {
  try {
    return await check(body);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const renamed = (text: string): string =>
      Object.entries(files).reduce((so, [name, { member = name }]) => so.replaceAll(member, name), text);
    const param = error.param === null ? null : renamed(error.param);
    throw reworded(error, { param, message: renamed(error.message) });
  }
}
