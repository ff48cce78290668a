/**
 * Chat models of the sandbox, a provider without network and key. Answers depend only on the request. models.ts describes the behaviour of
 * each model.
 */
import { loadTokenizer, type Tokenizer } from "#shared/tokens/tokenizer.ts";

import { type ChatCall, type ChatDelta, type ChatProvider, type ChatResult, ProviderError } from "../provider.ts";
import { type Answer, createAnswer, spoil } from "./answer.ts";
import {
  answerMs,
  breakOff,
  type Clock,
  failIfDue,
  interruptedAfter,
  pause,
  rejectIfDue,
  stopIfAborted,
  tokensMs,
  waitForAbort,
  hugeDelta,
  hugeExtra,
  streamWithoutEnd,
} from "./faults.ts";
import type { SchemaWriter } from "./fill-schema.ts";
import { type SandboxModel, sandboxModel } from "./models.ts";
import { outputTokens, renderDeltas, renderResult } from "./render.ts";
import { readRequest, type SandboxRequest } from "./request.ts";

interface Prepared {
  readonly model: SandboxModel;
  readonly request: SandboxRequest;
  readonly answer: Answer;
  readonly tokenizer: Tokenizer;
}

/** Creates the chat provider. `delay` of the clock must end when its signal fires, by returning or by throwing. */
export function createSandbox(clock: Clock): ChatProvider {
  const callsByModel = new Map<string, number>();
  /** Requests that the sandbox has received. A retry passes the same request object and is recognized by it. */
  const asked = new WeakSet<object>();
  let schemaWriter: Promise<SchemaWriter> | undefined;

  /** Loads Ajv for requests that need it. Other requests skip it, because loading takes 50 ms. */
  function loadSchemaWriter({ tools, format }: SandboxRequest): Promise<SchemaWriter> | undefined {
    if (tools.length === 0 && format.kind === "text") return undefined;
    return (schemaWriter ??= import("./fill-schema.ts").then(({ createSchemaWriter }) => createSchemaWriter()));
  }

  /**
   * Validates the request and generates the complete answer, before the first token is sent.
   * @throws ProviderError for an invalid request, the failure of the test model, or an aborted call
   */
  async function prepare(call: ChatCall): Promise<Prepared> {
    const { sourceModel, outputTokensMax, signal } = call;
    stopIfAborted(signal);
    const model = sandboxModel(sourceModel, "chat");
    const calls = (callsByModel.get(sourceModel) ?? 0) + 1;
    callsByModel.set(sourceModel, calls);
    const body: Record<string, unknown> = { ...call.request };
    call.adapt(body);
    const request = readRequest(body);
    rejectIfDue(model, body);
    const isFirst = !asked.has(call.request);
    asked.add(call.request);
    failIfDue(model, { seed: request.requestedSeed, calls, isFirst });
    if (model.hangs === true) await waitForAbort(signal);
    const tokenizer = await loadTokenizer();
    const tokensMax = request.tokensMax ?? (outputTokensMax > 0 ? outputTokensMax : Infinity);
    const schemas = await loadSchemaWriter(request);
    const written = createAnswer(body, { request, model, tokenizer, tokensMax, schemas });
    stopIfAborted(signal);
    return { model, request, answer: spoil(written, model, tokenizer), tokenizer };
  }

  async function complete(call: ChatCall): Promise<ChatResult> {
    const { model, request, answer, tokenizer } = await prepare(call);
    const tokens = outputTokens(answer);
    await pause(answerMs(model, tokens), clock, call.signal);
    if (model.breaksOff !== undefined) return breakOff(model.breaksOff, call.signal);
    // The error of an adapter for a response that exceeds its size limit.
    if (model.writes === "without end") throw new ProviderError("failed", "the answer is longer than can be read");
    const result = renderResult(answer, model, request.logprobs, tokenizer);
    return model.writes === "in a huge frame" ? { ...result, extra: hugeExtra() } : result;
  }

  async function* stream(call: ChatCall): AsyncGenerator<ChatDelta, void, void> {
    const { model, request, answer, tokenizer } = await prepare(call);
    const { signal } = call;
    await pause(model.delayMs ?? 0, clock, signal);
    if (model.writes === "without end") yield* streamWithoutEnd(answer.choices[0]?.text ?? "", clock, signal);
    const interruption = interruptedAfter(model, outputTokens(answer));
    let start = clock.now();
    let sent = 0;
    let isInterrupted = false;
    for (const { delta, tokens } of renderDeltas(answer, model, request.logprobs, tokenizer)) {
      stopIfAborted(signal);
      // Due times count from the start, so that slow readers do not slow down the model.
      if (tokens > 0 && model.tokensPerSecond !== undefined) {
        await pause(start + tokensMs(model, sent) - clock.now(), clock, signal);
      }
      if (delta.usage !== undefined) await pause(model.usageAfterMs ?? 0, clock, signal);
      yield delta;
      sent += tokens;
      if (isInterrupted || sent < interruption) continue;
      isInterrupted = true;
      if (model.breaksOff !== undefined) await breakOff(model.breaksOff, signal);
      if (model.writes === "in a huge frame") yield hugeDelta();
      await pause(model.silenceMs ?? 0, clock, signal);
      start += model.silenceMs ?? 0;
    }
  }

  return { complete, stream };
}
