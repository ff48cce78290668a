/** Converts content blocks of Anthropic's API into content parts of a chat message. Each part keeps the JSON path of its block. Pure. */
import type {
  FileBlock,
  MessagesCacheControl,
  MessagesDocument,
  MessagesImage,
  MessagesSearchResult,
  MessagesText,
  TextBlock,
  UserContentBlock,
} from "#schemas/generated/types.ts";

/** Content part of a chat message, with the JSON path of the block that it was converted from. */
export interface Placed<P = UserContentBlock> {
  readonly part: P;
  /** Path of the original block in the caller's body, such as `messages[0].content[1]`. */
  readonly from: string;
}

/** Content blocks that are allowed in a message, a tool result or a document. */
export type ReadableBlock = MessagesText | MessagesImage | MessagesDocument | MessagesSearchResult;

/** Converts a block into content parts for a model. A document may become several parts and a heading. */
export function partsOf(block: ReadableBlock, from: string): Placed[] {
  switch (block.type) {
    case "text":
      return [{ part: textPart(block.text, block.cache_control), from }];
    case "image":
      return [{ part: { ...imagePart(block.source), ...hint(block.cache_control) }, from }];
    case "search_result": {
      const passages = block.content.map(({ text }) => text);
      const text = joined(block.title, block.source, ...passages);
      return [{ part: textPart(text, block.cache_control), from }];
    }
    default:
      return documentParts(block, from);
  }
}

function documentParts(block: MessagesDocument, from: string): Placed[] {
  const { source, title, context, cache_control: cacheControl } = block;
  switch (source.type) {
    case "text":
      return [{ part: textPart(joined(title, context, source.data), cacheControl), from }];
    case "content": {
      const { content } = source;
      if (typeof content === "string") {
        return [{ part: textPart(joined(title, context, content), cacheControl), from }];
      }
      const parts = content.flatMap((inner, at) => partsOf(inner, `${from}.source.content[${at}]`));
      const last = parts.at(-1);
      if (last) Object.assign(last.part, hint(cacheControl));
      return [...headingOf(joined(title, context), from), ...parts];
    }
    default: {
      const file = documentOf(source, title);
      return [...headingOf(joined(context), from), { part: { type: "file", file, ...hint(cacheControl) }, from }];
    }
  }
}

function headingOf(text: string, from: string): Placed[] {
  return text === "" ? [] : [{ part: textPart(text, null), from }];
}

type DocumentSource = Exclude<MessagesDocument["source"], { readonly type: "text" | "content" }>;

/** Converts the content of a document block into a file part. A stored file keeps its name; other documents get their title as name. */
function documentOf(source: DocumentSource, title: string | null | undefined): FileBlock["file"] {
  if (source.type === "file") return { file_id: source.file_id };
  const place =
    source.type === "url" ? { file_url: source.url } : { file_data: `data:application/pdf;base64,${source.data}` };
  return { ...place, filename: title ?? "document.pdf" };
}

function imagePart(source: MessagesImage["source"]): UserContentBlock {
  if (source.type === "file") return { type: "file", file: { file_id: source.file_id } };
  const url = source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
  return { type: "image_url", image_url: { url } };
}

export function textPart(text: string, cacheControl: MessagesCacheControl | undefined): TextBlock {
  return { type: "text", text, ...hint(cacheControl) };
}

/** Returns the block's prompt cache hint as a member of the part. Adapters of providers without such hints omit it. */
function hint(cacheControl: MessagesCacheControl | undefined): { cache_control?: object } {
  return cacheControl == null ? {} : { cache_control: cacheControl };
}

/** Converts a single text part without cache hint into a string, which every provider accepts. Other parts are returned unchanged. */
export function compact<P extends UserContentBlock>(parts: readonly P[]): string | P[] {
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" && !("cache_control" in only) ? only.text : [...parts];
}

function joined(...texts: readonly (string | null | undefined)[]): string {
  return texts.filter((text) => text != null && text !== "").join("\n\n");
}
