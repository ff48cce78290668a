/** The embeddings side of the local upstream: refuses what OpenAI would, and answers with vectors made of the input. */
import { type AnswerBehaviour, ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import { isText, listOf, whole } from "../engine/jobs.ts";
import { checkBody, fault, type RequestFault, usageMember } from "./check-request.ts";

export interface EmbeddingsBody {
  readonly model: string;
  readonly input: string | readonly (string | number | readonly number[])[];
  readonly encoding_format?: "float" | "base64";
  readonly dimensions?: number;
}

const MEMBERS = ["model", "input", "encoding_format", "dimensions", "user"];
const DIMENSIONS = 8;

/** The fault OpenAI would name first, or null. Source: openai/openai-openapi, CreateEmbeddingRequest. */
export const checkEmbeddingsRequest = checkBody(
  MEMBERS,
  ({ input, encoding_format: format, dimensions, user }): RequestFault | null => {
    const isTokens = (value: unknown): boolean => listOf(Number.isInteger)(value) && (value as []).length > 0;
    const isList = Array.isArray(input) && input.length > 0 && input.length <= 2_048;
    if (!isText(input) && !isTokens(input) && !(isList && (input.every(isText) || input.every(isTokens)))) {
      return fault("input", "'$.input' is invalid");
    }
    if (format !== undefined && format !== "float" && format !== "base64") return fault("encoding_format", "unknown");
    const isDimensions = dimensions === undefined || whole(1, Infinity)(dimensions);
    if (!isDimensions) return fault("dimensions", "expected a positive integer");
    return user === undefined || typeof user === "string" ? null : fault("user", "expected a string");
  },
);

/** Tokens that the server counts for one input: tokens as they are, a text by its words. */
function mockTokens(input: string | readonly number[]): number {
  return typeof input === "string" ? input.split(/\s+/).length : input.length;
}

/** The vector of an input, of numbers that 32-bit floats do not hold exactly. */
export function mockVector(input: string | readonly number[], dimensions: number = DIMENSIONS): number[] {
  const text = typeof input === "string" ? input : input.join(" ");
  return Array.from({ length: dimensions }, (_, at) =>
    Math.sin(text.length * 31 + (text.charCodeAt(0) || 0) + at * 0.7),
  );
}

/** A whole answer to a checked request. `usage` as for chat: honest, missing, or exactly these members. */
export function embeddingsReply(body: EmbeddingsBody, { usage }: AnswerBehaviour = {}): ReplyBehaviour {
  const { input } = body;
  const isSingle = typeof input === "string" || typeof input[0] === "number";
  const inputs = (isSingle ? [input] : input) as readonly (string | readonly number[])[];
  const data = inputs.map((one, index) => {
    const vector = mockVector(one, body.dimensions);
    const embedding =
      body.encoding_format === "base64" ? Buffer.from(Float32Array.from(vector).buffer).toString("base64") : vector;
    return { object: "embedding", index, embedding };
  });
  const tokens = inputs.reduce((sum, one) => sum + mockTokens(one), 0);
  const honest = { prompt_tokens: tokens, total_tokens: tokens };
  return ok({ object: "list", data, model: body.model, ...usageMember(usage, honest) });
}
