/** Maximum usage of a call, known before it runs: the basis of its hold. */
export interface CallBound {
  readonly holdNano: bigint;
  /** 0 for calls that write no tokens. */
  readonly outputTokensMax: number;
  /** True for a chat call without its own output limit: its charge may exceed the hold. */
  readonly mayExceed: boolean;
  /** Output limit of a chat call per choice, in tokens, before it is lowered to the model's; absent: none. */
  readonly outputLimit?: number;
  /** Maximum input and output tokens of the call. */
  readonly tokensMax: number;
}
