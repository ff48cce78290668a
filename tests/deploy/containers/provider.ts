/**
 * A provider in OpenAI's dialect, in a container beside the roles. The last message is a number of milliseconds: a stream takes that long.
 */
const WORDS = ["Exact", " prepaid", " billing", "."];
const usage = { prompt_tokens: 7, completion_tokens: WORDS.length, total_tokens: 7 + WORDS.length };

const server = Bun.serve({
  port: 8000,
  idleTimeout: 0,
  async fetch(request) {
    const body = (await request.json()) as { model: string; stream?: boolean; messages: { content: string }[] };
    const common = { id: "chatcmpl-1", created: 1, model: body.model };
    if (body.stream !== true) {
      const choice = { index: 0, message: { role: "assistant", content: WORDS.join("") }, finish_reason: "stop" };
      return Response.json({ ...common, object: "chat.completion", choices: [choice], usage });
    }
    const pauseMs = (Number(body.messages.at(-1)?.content) || 0) / WORDS.length;
    const chunk = (delta: object, finish_reason: string | null, rest: object = {}): string =>
      `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], ...rest })}\n\n`;
    const stream = async function* (): AsyncGenerator<string> {
      yield chunk({ role: "assistant", content: "" }, null);
      for (const content of WORDS) {
        await Bun.sleep(pauseMs);
        yield chunk({ content }, null);
      }
      yield chunk({}, "stop");
      yield `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices: [], usage })}\n\ndata: [DONE]\n\n`;
    };
    return new Response(stream(), { headers: { "content-type": "text/event-stream" } });
  },
});
// Answers under way are sent to their end: a provider does not stop with the service.
process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
