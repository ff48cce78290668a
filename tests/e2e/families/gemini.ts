/** A turn as the Gemini API says it; members and their order as in tests/providers/gemini/fixtures. */
import { BEYOND_TOKENS, type Report, type Told, type Turn, whole, words } from "./turn.ts";

type Members = Readonly<Record<string, unknown>>;

export const THOUGHT_SIGNATURE = "c2lnbmF0dXJlIG9mIHRob3VnaHRz";
const TAIL = { modelVersion: "gemini-local-001", responseId: "golden-response" };

export function tellGemini(turn: Turn, report: Report = "honest"): Told {
  const { thought, text, calls = [] } = turn;
  const callParts = calls.map(({ name, args }, at) => ({
    functionCall: { name, args },
    // Of calls made together the first one is signed.
    ...(at === 0 ? { thoughtSignature: THOUGHT_SIGNATURE } : {}),
  }));
  const output = whole(turn.took).output - whole(turn.took).thinking;
  const answer = (parts: readonly Members[], candidates: number, isLast: boolean): string => {
    const usage = isLast && report === "late" ? undefined : usageMetadata(turn, report, candidates);
    return JSON.stringify({
      candidates: [{ content: { parts, role: "model" }, ...(isLast ? { finishReason: "STOP" } : {}), index: 0 }],
      ...(usage === undefined ? {} : { usageMetadata: usage }),
      ...TAIL,
    });
  };
  const wholeParts = [
    ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...callParts,
  ];
  const steps = [
    ...words(thought).map((word) => [{ text: word, thought: true }]),
    ...words(text).map((word) => [{ text: word }]),
    ...callParts.map((part) => [part]),
  ];
  const events = [
    ...steps.map((parts, at) => answer(parts, Math.min(at + 1, output), false)),
    answer([{ text: "" }], output, true),
  ];
  const late =
    report === "late" ? [JSON.stringify({ usageMetadata: usageMetadata(turn, report, output), ...TAIL })] : [];
  return {
    body: JSON.stringify({
      ...(JSON.parse(answer(wholeParts, output, true)) as Members),
      ...(report === "late" ? { usageMetadata: usageMetadata(turn, report, output) } : {}),
    }),
    events: [...events, ...late].map((data) => `data: ${data}\r\n\r\n`),
    ...(report === "late" ? { silenceBefore: events.length } : {}),
  };
}

/** Its prompt count contains what was cached, its candidates' count leaves thoughts out; kinds are told apart in lists. */
function usageMetadata({ took }: Turn, report: Report, candidates: number): Members | undefined {
  const { input, cached, cachedImage, image, audio, thinking } = whole(took);
  const prompt = input + cached + image + audio;
  const kinds = (counts: Readonly<Record<string, number>>): Members[] =>
    Object.entries(counts)
      .filter(([, tokenCount]) => tokenCount > 0)
      .map(([modality, tokenCount]) => ({ modality, tokenCount }));
  const honest = {
    promptTokenCount: prompt,
    ...(candidates > 0 ? { candidatesTokenCount: candidates } : {}),
    totalTokenCount: prompt + candidates + thinking,
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    promptTokensDetails: kinds({ TEXT: input + cached - cachedImage, IMAGE: image + cachedImage, AUDIO: audio }),
    ...(cached > 0 ? { cacheTokensDetails: kinds({ TEXT: cached - cachedImage, IMAGE: cachedImage }) } : {}),
    ...(thinking > 0 ? { thoughtsTokenCount: thinking } : {}),
  };
  switch (report) {
    case "missing":
      return undefined;
    case "zero":
      return { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
    case "negative":
      return { ...honest, candidatesTokenCount: -candidates - 1 };
    case "fractional":
      return { ...honest, promptTokenCount: prompt + 0.5 };
    case "huge":
      return { ...honest, promptTokenCount: 1e18, candidatesTokenCount: 1e18, totalTokenCount: 2e18 };
    case "beyond":
      return { ...honest, candidatesTokenCount: BEYOND_TOKENS };
    default:
      return honest;
  }
}
