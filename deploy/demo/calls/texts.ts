/** Calls that answer with text or numbers. */
import { toFile } from "openai";
import type OpenAI from "openai";

import { parsePrice, priceTokens } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";

import { type Call, type Outcome, type Stage, textArtifact } from "../call.ts";
import { receiptOf, requestIdOf } from "../client.ts";

const QUESTION = "Write three sentences about a lighthouse in a storm, for a child.";

export const chat: Call = {
  name: "chat",
  title: "Chat, streamed",
  model: "sandbox-chat",
  async run(stage) {
    const { model, client } = stage;
    const { data: stream, response } = await client.sdk.chat.completions
      .create({
        model,
        messages: [{ role: "user", content: QUESTION }],
        stream: true,
        stream_options: { include_usage: true },
      })
      .withResponse();
    let text = "";
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
      stage.tell(text.slice(-60));
    }
    if (!usage) throw new Error("the stream ended without its usage");
    const credits = await priceOf(stage, usage);
    return {
      receipts: [{ id: requestIdOf(response), credits }],
      artifacts: [textArtifact("chat.txt", text)],
      text: `${QUESTION}\n\n${text}`,
    };
  },
};

/** The head of a stream is sent before its price is known: it is worked out of the list price, as a client would. */
async function priceOf({ client, model }: Stage, usage: OpenAI.CompletionUsage): Promise<bigint> {
  for await (const entry of client.sdk.models.list()) {
    if (entry.id !== model) continue;
    const { _svc } = entry as unknown as { _svc: { pricing: Record<string, unknown> } };
    const texts = Object.entries(_svc.pricing).map(([name, value]) => [name, String(value)]);
    const cachedInput = usage.prompt_tokens_details?.cached_tokens ?? 0;
    const input = usage.prompt_tokens - cachedInput;
    const price = parsePrice(Object.fromEntries(texts) as Record<string, string>);
    return priceTokens(price, { ...NO_USAGE, input, cachedInput, output: usage.completion_tokens });
  }
  throw new Error(`the catalogue does not list ${model}`);
}

export const messages: Call = {
  name: "messages",
  title: "Anthropic's Messages API",
  model: "sandbox-chat",
  async run({ model, client }) {
    const question = "Name one thing to pack for a night at sea, and say why.";
    const { body, receipt } = await client.post<{ content: { type: string; text?: string }[] }>("/messages", {
      model,
      max_tokens: 300,
      messages: [{ role: "user", content: question }],
    });
    const text = body.content.map((block) => block.text ?? "").join("");
    return { receipts: [receipt], artifacts: [textArtifact("messages.txt", text)], text: `${question}\n\n${text}` };
  },
};

const SENTENCES = [
  "A dog sleeps by the fire.",
  "A puppy naps next to the oven.",
  "The bank raised its interest rates.",
];

export const embeddings: Call = {
  name: "embeddings",
  title: "Embeddings",
  model: "sandbox-embed",
  async run({ model, client }) {
    const { data, response } = await client.sdk.embeddings
      .create({ model, input: SENTENCES, encoding_format: "float" })
      .withResponse();
    const vectors = data.data.map(({ embedding }) => embedding);
    const [first = [], ...others] = vectors;
    const lines = others.map(
      (other, at) => `${cosine(first, other).toFixed(3)}  "${SENTENCES[0]}" and "${SENTENCES[at + 1]}"`,
    );
    return {
      receipts: [receiptOf(response)],
      artifacts: [textArtifact("embeddings.json", JSON.stringify({ model, sentences: SENTENCES, vectors }))],
      text: `How near sentences are, from 0 to 1:\n${lines.join("\n")}`,
    };
  },
};

function cosine(one: readonly number[], other: readonly number[]): number {
  const dot = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
}

const NOTE =
  "Log of the keeper: the lamp was trimmed at nine, the wind turned north at midnight, and two ships passed.\n";

export const file: Call = {
  name: "file",
  title: "A file, uploaded and asked about",
  model: "sandbox-chat",
  async run({ model, client, tell }): Promise<Outcome> {
    tell("uploading");
    const stored = await client.sdk.files.create({
      file: await toFile(Buffer.from(NOTE), "keepers-log.txt"),
      purpose: "user_data",
    });
    tell("asking about it");
    const { data, response } = await client.sdk.chat.completions
      .create({
        model,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What does this file say?" },
              { type: "file", file: { file_id: stored.id } },
            ],
          },
        ],
      })
      .withResponse();
    const bytes = await client.download(stored.id);
    if (new TextDecoder().decode(bytes) !== NOTE) throw new Error("the stored file is not what was uploaded");
    const text = data.choices[0]?.message.content ?? "";
    return {
      receipts: [receiptOf(response)],
      artifacts: [textArtifact("file-answer.txt", text), { file: "keepers-log.txt", bytes }],
      fileId: stored.id,
      text,
    };
  },
};
