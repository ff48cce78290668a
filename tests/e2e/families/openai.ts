/** A turn as OpenAI's API says it; members and their order as in tests/providers/openai-compatible/fixtures. */
import { BEYOND_TOKENS, joined, pieces, type Report, type Told, type Turn, whole, words } from "./turn.ts";

type Members = Readonly<Record<string, unknown>>;

const HEAD = { id: "chatcmpl-Cx0golden", created: 1_770_933_892, model: "gpt-local-2026-01-01" };
const tailOf = ({ tier = "default" }: Turn): Members => ({ service_tier: tier, system_fingerprint: "fp_de604bd877" });

export function tellOpenAi(turn: Turn, report: Report = "honest"): Told {
  const { text, calls = [], spoken } = turn;
  const toolCalls = calls.map(({ id, name, args }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const finish = calls.length > 0 ? "tool_calls" : "stop";
  const message = {
    role: "assistant",
    content: text ?? null,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(spoken ? { audio: { id: "audio_golden", expires_at: 1_770_937_492, ...spoken } } : {}),
    refusal: null,
    annotations: [],
  };
  const usage = usageMember(turn, report);
  const body = JSON.stringify({
    ...HEAD,
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    ...(usage === undefined ? {} : { usage }),
    ...tailOf(turn),
  });
  const chunk = (choices: readonly Members[], counts: Members | null): string => chunkOf(turn, choices, counts);
  const chunks = deltasOf(turn, report).map((delta, at) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason: null }], report === "growing" ? growing(turn, at) : null),
  );
  chunks.push(chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: finish }], null));
  const silence = report === "late" ? { silenceBefore: chunks.length } : {};
  if (usage !== undefined) chunks.push(chunk([], usage));
  return { body, events: [...chunks, "[DONE]"].map((data) => `data: ${data}\n\n`), ...silence };
}

function chunkOf(turn: Turn, choices: readonly Members[], usage: Members | null): string {
  const tail = { choices, usage, obfuscation: "Qup1BsQ3" };
  return JSON.stringify({ ...HEAD, object: "chat.completion.chunk", ...tailOf(turn), ...tail });
}

function deltasOf({ text, calls = [], spoken }: Turn, report: Report): Members[] {
  return [
    { role: "assistant", content: text === undefined ? null : "", refusal: null },
    ...words(text).map((content) => ({ content })),
    ...(spoken
      ? [
          { audio: { id: "audio_golden", transcript: spoken.transcript } },
          { audio: { id: "audio_golden", data: spoken.data } },
          { audio: { id: "audio_golden", expires_at: 1_770_937_492 } },
        ]
      : []),
    ...joined(
      calls.map(({ id, name, args }, index): Members[] => [
        { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
        ...pieces(JSON.stringify(args)).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      report === "interleaved",
    ),
  ];
}

/** Its prompt count contains everything read and written, its completion count thoughts and sound. */
function usageMember({ took }: Turn, report: Report): Members | undefined {
  const { input, cached, write5m, write1h, image, audio, output, thinking, audioOutput } = whole(took);
  const written = write5m + write1h;
  const prompt = input + cached + written + image + audio;
  const completion = output + audioOutput;
  const of = (prompt_tokens: number, completion_tokens: number): Members => ({
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: {
      cached_tokens: cached,
      audio_tokens: audio,
      ...(written > 0 ? { cache_write_tokens: written } : {}),
      ...(image > 0 ? { image_tokens: image } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: thinking,
      audio_tokens: audioOutput,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  });
  switch (report) {
    case "missing":
      return undefined;
    case "zero":
      return { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    case "negative":
      return of(prompt, -completion);
    case "fractional":
      return of(prompt + 0.5, completion);
    case "huge":
      return of(1e18, 1e18);
    case "beyond":
      return of(prompt, BEYOND_TOKENS);
    default:
      return of(prompt, completion);
  }
}

/** vLLM's continuous_usage_stats. */
function growing({ took }: Turn, at: number): Members {
  const prompt = whole(took).input;
  return { prompt_tokens: prompt, total_tokens: prompt + at, completion_tokens: at };
}
