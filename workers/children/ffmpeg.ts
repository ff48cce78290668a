import type * as Constants from "node-av/constants";
import type * as Library from "node-av/lib";

import { MediaError } from "#shared/children/media-error.ts";

/**
 * Loads FFmpeg's library, whose binary is a separate package per system. For child processes only, since a crash of FFmpeg must not end a
 * server.
 * @throws MediaError failed if no binary is installed
 */
export async function loadFfmpeg(): Promise<{
  lib: typeof Library;
  constants: typeof Constants;
}> {
  try {
    const [lib, constants] = await Promise.all([import("node-av/lib"), import("node-av/constants")]);
    lib.Log.setLevel(constants.AV_LOG_QUIET);
    return { lib, constants };
  } catch (error) {
    throw new MediaError("failed", "FFmpeg is not installed for this system (package node-av)", { cause: error });
  }
}
