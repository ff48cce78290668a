/** Number of output tokens in the hold of a chat call without output limit. */
export const CHAT_DEFAULT_OUTPUT_TOKENS = 8_192;

/** Maximum usage of a call, known before the call runs. The hold is calculated from it. */
export interface CallBound {
  readonly holdNano: bigint;
  /** Maximum number of output tokens; 0 for calls that produce none. */
  readonly outputTokensMax: number;
  /** True for a chat call without its own output limit. The charge of such a call may exceed its hold. */
  readonly mayExceed: boolean;
  /** Output limit that a chat call sets per choice, in tokens, before it is lowered to the model's limit; absent if the call sets none. */
  readonly outputLimit?: number;
  /** Output limit per choice that `max_credits` requires, in tokens; absent if the call sets a limit, or may use the limit of its model. */
  readonly loweredLimit?: number;
  /** Maximum full price of the call with any model, in nano-credits; absent if its caller sets none. */
  readonly maxNano?: bigint;
  /** Maximum number of input and output tokens of the call together. */
  readonly tokensMax: number;
}
