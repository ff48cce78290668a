/** Faults of paid work in one exchange, at each family: what may be paid for is never begun again. Queues: queued-job.ts. */
import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";
import { createGemini } from "#workers/providers/gemini/index.ts";
import { createOpenAiImages } from "#workers/providers/openai-compatible/images.ts";

import { startElevenLabsServer } from "./elevenlabs/server.ts";
import type { Reply } from "./engine/behaviour.ts";
import { direct, mediaCall, useServers } from "./engine/calls.ts";
import { startGeminiServer } from "./gemini/server.ts";
import { EDIT } from "./image-calls.ts";
import { startOpenAiServer } from "./openai-compatible/server.ts";
import { describePaidStart } from "./queued-job.ts";

const own = useServers();

const openAiImage = (kind: "images" | "imageEdits") => (reply: Reply) => {
  const server = own(startOpenAiServer());
  server.next(reply);
  return direct(createOpenAiImages({ baseUrl: server.url, headers: {} })[kind]).run(mediaCall(EDIT));
};

describePaidStart("an OpenAI-compatible image", openAiImage("images"));
describePaidStart("an OpenAI-compatible edit", openAiImage("imageEdits"));

describePaidStart("a Gemini image", (reply) => {
  const server = own(startGeminiServer());
  server.next(reply);
  const { images } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "key" } });
  return direct(images).run(mediaCall({ prompt: "a sea otter", n: 1 }));
});

describePaidStart("ElevenLabs music", (reply) => {
  const server = own(startElevenLabsServer("key"));
  server.next(reply);
  const { music } = createElevenLabs({ baseUrl: server.url, headers: { "xi-api-key": "key" } });
  return direct(music).run(mediaCall({ prompt: "a waltz", format: "mp3" }, { sourceModel: "music_v2_5" }));
});
