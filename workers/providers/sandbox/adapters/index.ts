/** All that the sandbox serves: words at once, media through its makers. */
import { sleep as delay } from "#shared/abortable.ts";

import type { ProviderAdapters } from "../../provider.ts";
import { createSandboxEmbeddings } from "../embeddings.ts";
import { createSandbox } from "../index.ts";
import type { SandboxMedia } from "../media/index.ts";
import { createSandboxImages } from "./images.ts";
import { createSandboxMeshes } from "./meshes.ts";
import { createSandboxMusic } from "./music.ts";
import { createSandboxSpeech } from "./speech.ts";
import { createSandboxTranscription } from "./transcription.ts";
import { createSandboxVideos } from "./videos.ts";

/** @param media the makers, which start with the first call that needs them */
export function createSandboxAdapters(media: () => SandboxMedia): ProviderAdapters {
  const tools = { media, delay };
  return {
    chat: createSandbox({ now: Date.now, delay }),
    embeddings: createSandboxEmbeddings(),
    ...createSandboxImages(tools),
    ...createSandboxSpeech(tools),
    ...createSandboxTranscription(tools),
    ...createSandboxVideos(tools),
    ...createSandboxMusic(tools),
    ...createSandboxMeshes(tools),
  };
}
