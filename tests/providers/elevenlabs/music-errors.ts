/** Errors that ElevenLabs sends for music alone. Source: elevenlabs.io/docs/api-reference/music/compose and its SDKs. */
import { jsonReply, type TextReply, VENDOR_MARK } from "../engine/behaviour.ts";

const fault = (member: string): TextReply =>
  jsonReply(422, { detail: [{ loc: ["body", member], msg: `Input should be other (${VENDOR_MARK})`, type: "value" }] });

export const MUSIC_ERRORS = {
  /** It names artists or songs, or breaks the terms; a prompt that would do comes with it. */
  "bad-prompt": jsonReply(400, {
    detail: {
      status: "bad_prompt",
      message: `Your prompt may violate our terms (${VENDOR_MARK})`,
      data: { prompt_suggestion: `Something like it (${VENDOR_MARK})` },
    },
  }),
  "paid-plan": jsonReply(402, {
    detail: { type: "payment_required", code: "paid_plan_required", message: `Not on this plan (${VENDOR_MARK})` },
  }),
  "fault-prompt": fault("prompt"),
  "fault-length": fault("music_length_ms"),
  "fault-lyrics": fault("lyrics_text"),
  "fault-plan": fault("composition_plan"),
  "gateway-timeout": jsonReply(504, `<html>${VENDOR_MARK}</html>`),
  "request-timeout": jsonReply(408, { detail: `Request timeout (${VENDOR_MARK})` }),
} as const satisfies Record<string, TextReply>;
