/** Cache of results that stay the same until their sources are replaced, and are expensive to create. */

/** @returns a function that creates the result of each pair once, for as long as both members of the pair live */
export function rememberPairs<A extends object, B extends object, T>(
  make: (one: A, other: B) => T,
): (one: A, other: B) => T {
  const results = new WeakMap<A, WeakMap<B, { readonly answer: T }>>();
  return (one, other) => {
    const ofOne = results.get(one) ?? new WeakMap<B, { readonly answer: T }>();
    results.set(one, ofOne);
    const known = ofOne.get(other) ?? { answer: make(one, other) };
    ofOne.set(other, known);
    return known.answer;
  };
}
