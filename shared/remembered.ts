/** Answers that are the same until what they are made of is replaced, and cost more to write than to send. */

/** @returns a function that makes each pair's answer once, for as long as both of the pair live */
export function rememberPairs<A extends object, B extends object, T>(
  make: (one: A, other: B) => T,
): (one: A, other: B) => T {
  const made = new WeakMap<A, WeakMap<B, { readonly answer: T }>>();
  return (one, other) => {
    const ofOne = made.get(one) ?? new WeakMap<B, { readonly answer: T }>();
    made.set(one, ofOne);
    const known = ofOne.get(other) ?? { answer: make(one, other) };
    ofOne.set(other, known);
    return known.answer;
  };
}
