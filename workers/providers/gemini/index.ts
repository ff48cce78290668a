/**
 * Adapters for Google's Gemini API with an API key: chat, embeddings, images and videos. Sources: ai.google.dev/api/generate-content,
 * …/api/embeddings, …/gemini-api/docs/thought-signatures, …/gemini-api/docs/thinking, …/gemini-api/docs/omni.
 *
 * Traits of sources:
 * `no_reasoning`: has no reasoning. `reasoning_by_budget`: takes a token budget instead of a level (Gemini 2.5). `reasoning_always`:
 * reasoning cannot be disabled. `json_by_converted_schema`: accepts only OpenAPI schemas (before 2.5). `no_json_with_tools`: rejects JSON
 * output with tools (before 3).
 */
import { chatOverHttp, type ChatWire } from "../chat-wire.ts";
import type { Endpoint } from "../http.ts";
import type { ProviderAdapters } from "../provider.ts";

import { readAnswer } from "./answer.ts";
import { createGeminiEmbeddings } from "./embeddings.ts";
import { classifyAnswer } from "./errors.ts";
import { createGeminiImages } from "./images.ts";
import { chatRequest } from "./request.ts";
import { createReader } from "./stream.ts";
import { createGeminiVideo } from "./video.ts";

export function createGemini(endpoint: Endpoint): ProviderAdapters {
  return {
    chat: chatOverHttp(endpoint, GEMINI_WIRE),
    embeddings: createGeminiEmbeddings(endpoint),
    ...createGeminiImages(endpoint),
    video: createGeminiVideo(endpoint),
  };
}

const GEMINI_WIRE: ChatWire = {
  // Gemini accepts addresses only of Google's own file store.
  needsBytes: ["image", "file"],
  request: chatRequest,
  result: readAnswer,
  reader: createReader,
  classify: classifyAnswer,
};
