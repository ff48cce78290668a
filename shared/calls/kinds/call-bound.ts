/** The most a call can use, known before it runs: what its hold is made of. */
export interface CallBound {
  readonly holdNano: bigint;
  /** 0 for calls that write no tokens. */
  readonly outputTokensMax: number;
  /** True for a chat call that set no output limit of its own: its settle may take more than the hold. */
  readonly mayExceed: boolean;
  /** Output limit that a chat call sets for each choice, in tokens, before it is lowered to the model's; absent: none. */
  readonly outputLimit?: number;
  /** Most tokens the call can use, in and out. */
  readonly tokensMax: number;
}
