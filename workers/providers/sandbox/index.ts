/**
 * The sandbox's chat models: a provider without network and without a key, whose answers depend on the request alone.
 * See models.ts for what each of them rehearses.
 */
import { loadTokenizer, type Tokenizer } from "#shared/tokens/tokenizer.ts";

import { type ChatCall, type ChatDelta, type ChatProvider, type ChatResult, ProviderError } from "../provider.ts";
import { type Answer, createAnswer } from "./answer.ts";
import {
  answerMs,
  brokenOff,
  type Clock,
  failIfDue,
  interruptedAfter,
  pause,
  stopIfAborted,
  tokensMs,
  waitForAbort,
} from "./faults.ts";
import { type SandboxModel, sandboxModel } from "./models.ts";
import { outputTokens, renderDeltas, renderResult } from "./render.ts";
import { readRequest, type SandboxRequest } from "./request.ts";

interface Prepared {
  readonly model: SandboxModel;
  readonly request: SandboxRequest;
  readonly answer: Answer;
  readonly tokenizer: Tokenizer;
}

/** The provider. `delay` must end when its signal fires, whether by returning or by throwing. */
export function createSandbox(clock: Clock): ChatProvider {
  const callsByModel = new Map<string, number>();

  /** Everything that comes before the first token. @throws ProviderError */
  async function prepare(call: ChatCall): Promise<Prepared> {
    const { sourceModel, outputTokensMax, signal } = call;
    stopIfAborted(signal);
    const model = sandboxModel(sourceModel);
    if (model === undefined) throw new ProviderError("misconfigured", `the sandbox has no model ${sourceModel}`);
    const calls = (callsByModel.get(sourceModel) ?? 0) + 1;
    callsByModel.set(sourceModel, calls);
    const body: Record<string, unknown> = { ...call.request };
    call.adapt(body);
    const request = readRequest(body);
    failIfDue(model, request.givenSeed, calls);
    if (model.hangs === true) await waitForAbort(signal);
    const tokenizer = await loadTokenizer();
    const tokensMax = request.tokensMax ?? (outputTokensMax > 0 ? outputTokensMax : Infinity);
    const answer = createAnswer(body, request, model, tokenizer, tokensMax);
    stopIfAborted(signal);
    return { model, request, answer, tokenizer };
  }

  async function complete(call: ChatCall): Promise<ChatResult> {
    const { model, request, answer, tokenizer } = await prepare(call);
    const tokens = outputTokens(answer);
    await pause(answerMs(model, tokens), clock, call.signal);
    if (model.breaksOff === "cut") throw brokenOff();
    if (model.breaksOff === "stall") await waitForAbort(call.signal);
    return renderResult(answer, model, request.logprobs, tokenizer);
  }

  async function* stream(call: ChatCall): AsyncGenerator<ChatDelta, void, void> {
    const { model, request, answer, tokenizer } = await prepare(call);
    const { signal } = call;
    const interruption = interruptedAfter(outputTokens(answer));
    await pause(model.firstTokenMs ?? 0, clock, signal);
    let start = clock.now();
    let sent = 0;
    let isInterrupted = false;
    for (const { delta, tokens } of renderDeltas(answer, model, request.logprobs, tokenizer)) {
      stopIfAborted(signal);
      if (!isInterrupted && sent >= interruption) {
        isInterrupted = true;
        if (model.breaksOff === "cut") throw brokenOff();
        if (model.breaksOff === "stall") await waitForAbort(signal);
        await pause(model.silenceMs ?? 0, clock, signal);
        start += model.silenceMs ?? 0;
      }
      // Due times are reckoned from the start, so that slow readers do not slow the model down.
      if (tokens > 0 && model.tokensPerSecond !== undefined) {
        await pause(start + tokensMs(model, sent) - clock.now(), clock, signal);
      }
      yield delta;
      sent += tokens;
    }
  }

  return { complete, stream };
}
