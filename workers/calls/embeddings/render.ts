/** Renders OpenAI's list of embeddings for clients (platform.openai.com/docs/api-reference/embeddings). */
import { promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";

/** Numbers written in one turn of the event loop, about 10 ms of work. */
const NUMBERS_PER_TURN = 65_536;

/**
 * The whole answer. Both encodings hold the same 32-bit floats: as numbers they are written with every digit a double
 * needs, so that reading them gives the floats back bit by bit.
 */
export async function renderEmbeddings(
  vectors: readonly Float32Array[],
  model: string,
  format: "float" | "base64",
  usage: TokenUsage,
): Promise<string> {
  const pieces: string[] = [];
  let numbers = 0;
  for (const [index, vector] of vectors.entries()) {
    pieces.push(`{"object":"embedding","index":${index},"embedding":${write(vector, format)}}`);
    numbers += vector.length;
    if (numbers < NUMBERS_PER_TURN || format === "base64") continue;
    numbers = 0;
    // A worker that is busy writing for half a second would leave its other calls without a sign of life.
    await new Promise(setImmediate);
  }
  const tokens = promptTokens(usage);
  const tail = `"model":${JSON.stringify(model)},"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`;
  return `{"object":"list","data":[${pieces.join(",")}],${tail}`;
}

function write(vector: Float32Array, format: "float" | "base64"): string {
  if (format === "float") return `[${vector.join(",")}]`;
  // Every machine we run on is little-endian, as the format is.
  return `"${Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64")}"`;
}
